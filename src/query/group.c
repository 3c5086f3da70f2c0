// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Groups processes that have something in common. */
#include "query/group.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"

/* The names of a process. A group has the names that all its processes have. */
static const size_t names[] = {
	offsetof(struct process, name),	     offsetof(struct process, cmdline),
	offsetof(struct process, user),	     offsetof(struct process, unit),
	offsetof(struct process, container), offsetof(struct process, pod),
	offsetof(struct process, namespace), offsetof(struct process, container_id),
	offsetof(struct process, cgroup),
};

static const char **name_of(struct process *p, size_t i)
{
	return (const char **)((char *)p + names[i]);
}

static int compare_text(const char *a, const char *b)
{
	if (!a || !b)
		return !a - !b;
	return a == b ? 0 : strcmp(a, b);
}

/* The number identifies a user: two users may have no name. */
static int compare_key(const struct field *key, const struct process *a, const struct process *b)
{
	if (key->needs & NEEDS_USER)
		return ORDER_OF(a->uid, b->uid);
	return compare_text(key->group(a), key->group(b));
}

static int compare_grouped(const void *pa, const void *pb, void *arg)
{
	const struct process *a = *(struct process *const *)pa, *b = *(struct process *const *)pb;
	int r = compare_key(arg, a, b);

	return r ? r : ORDER_OF(a->pid, b->pid);
}

/* The length of the group's path in the process's cgroup. 0: none, or no path of the memcg. */
static size_t path_of(const struct field *key, const struct process *p)
{
	size_t len;

	if (!key->part || !p->cgroup || !p->controlled || !key->group(p))
		return 0;
	len = strlen(p->cgroup);
	switch (key->part) {
	case PART_UNIT:
		return p->unit_path && p->unit_path < len ? p->unit_path : len;
	case PART_CONTAINER:
		return p->container_path && p->container_path < len ? p->container_path : len;
	case PART_POD:
		return p->pod_path < len ? p->pod_path : 0;
	case PART_NAMESPACE:
		return 0;
	default:
		return len;
	}
}

/*
 * Sets the cgroup of a group that is a unit, a container or a pod, so that its memcg can be read.
 * Several cgroups may have the same name, as two containers may: then the group has no cgroup.
 */
static int set_path(const struct field *key, struct arena *text, struct process *const *rows,
		    size_t count, struct process *sum)
{
	size_t len = path_of(key, rows[0]);

	sum->controlled = len > 0;
	for (size_t i = 1; i < count && sum->controlled; i++)
		sum->controlled = path_of(key, rows[i]) == len &&
				  memcmp(rows[i]->cgroup, rows[0]->cgroup, len) == 0;
	if (!sum->controlled)
		return 0;
	sum->cgroup = arena_strndup(text, rows[0]->cgroup, len);
	return sum->cgroup ? 0 : -ENOMEM;
}

static void keep_common(struct process *sum, struct process *p)
{
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (compare_text(*name_of(sum, i), *name_of(p, i)) != 0)
			*name_of(sum, i) = NULL;
	}
	if (sum->uid != p->uid)
		sum->uid = UID_NONE;
	if (sum->counters_source != p->counters_source)
		sum->counters_source = FROM_NOWHERE;
}

/* A group has the status of the first process without PSS. */
static void set_status(struct process *sum, const struct process *p)
{
	if (!totals_counts(p))
		return;
	if (sum->pss_status == PSS_OK)
		sum->pss_status = p->pss_status;
	sum->pss_source = pss_source_join(sum->pss_source, p->pss_source);
}

/* A user without a name is shown by number, as ps does. */
static const char *uid_text(struct arena *text, uid_t uid)
{
	char buf[16];
	int len = snprintf(buf, sizeof(buf), "%u", uid);

	return arena_strndup(text, buf, (size_t)len);
}

static int make_group(const struct field *key, struct arena *text, struct process *const *rows,
		      size_t count, struct row *row)
{
	struct process *ret = row->process;
	struct sum sum = SUM_EMPTY;

	*ret = (struct process){.uid = rows[0]->uid,
				.counters_source = rows[0]->counters_source,
				.pss_status = PSS_OK};
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		*name_of(ret, i) = *name_of(rows[0], i);
	for (size_t i = 0; i < count; i++) {
		sum_add(&sum, rows[i]);
		ret->threads += rows[i]->threads;
		keep_common(ret, rows[i]);
		set_status(ret, rows[i]);
	}
	sum_row(&sum, row);
	if (key->needs & NEEDS_USER && !ret->user && !(ret->user = uid_text(text, ret->uid)))
		return -ENOMEM;
	return set_path(key, text, rows, count, ret);
}

struct group_id group_id_of(const struct field *key, const struct process *p)
{
	return (struct group_id){key, key->group(p), p->uid};
}

bool group_has(const struct group_id *group, const struct process *p)
{
	if (!group->key)
		return true;
	if (group->key->needs & NEEDS_USER)
		return p->uid == group->uid;
	return compare_text(group->key->group(p), group->text) == 0;
}

static size_t group_end(const struct field *key, const struct process_list *processes, size_t i)
{
	size_t end = i + 1;

	while (end < processes->count &&
	       compare_key(key, processes->item[i], processes->item[end]) == 0)
		end++;
	return end;
}

int group_rows_and_room(const struct field *key, struct process_list *processes, size_t more,
			struct sums *g)
{
	int r = sums_reserve(g, processes->count + more);

	if (r < 0)
		return r;
	sort_items(processes->item, processes->count, sizeof(*processes->item), compare_grouped,
		   (void *)key);
	for (size_t i = 0, end; i < processes->count; i = end) {
		struct row *row = &g->rows.item[g->rows.count];

		*row = (struct row){.process = &g->item[g->rows.count]};
		end = group_end(key, processes, i);
		r = make_group(key, &g->text, processes->item + i, end - i, row);
		if (r < 0)
			return r;
		row->process->charged = g->charged[g->rows.count];
		g->rows.count++;
	}
	return 0;
}

int group_rows(const struct field *key, struct process_list *processes, struct sums *g)
{
	return group_rows_and_room(key, processes, 0, g);
}
