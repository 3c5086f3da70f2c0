// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Groups processes that have something in common. */
#include "query/group.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/hash.h"
#include "base/strbuf.h"

/* The names of a process. A group has the names that all its processes have. */
static const size_t names[] = {
	offsetof(struct process, name),		offsetof(struct process, cmdline),
	offsetof(struct process, app),		offsetof(struct process, user),
	offsetof(struct process, unit),		offsetof(struct process, container),
	offsetof(struct process, pod),		offsetof(struct process, namespace),
	offsetof(struct process, container_id), offsetof(struct process, cgroup),
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

/* The first `count` keys, one after the other. */
static int compare_keys(const struct field *key, size_t count, const struct process *a,
			const struct process *b)
{
	int r = 0;

	for (size_t i = 0; i < count && !r; i++)
		r = compare_key(group_key(key, i), a, b);
	return r;
}

static int compare_grouped(const void *pa, const void *pb, void *arg)
{
	const struct process *a = *(struct process *const *)pa, *b = *(struct process *const *)pb;
	int r = compare_keys(arg, group_key_count(arg), a, b);

	return r ? r : ORDER_OF(a->pid, b->pid);
}

/* The length of a key's path in the process's cgroup. 0: none, or no path of the memcg. */
static size_t path_of_key(const struct field *key, const struct process *p)
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

/* With several keys, the deepest path is that of the group, if each key is a part of the cgroup. */
static size_t path_of(const struct field *key, size_t keys, const struct process *p)
{
	size_t most = 0;

	for (size_t i = 0; group_is_memcg(key) && i < keys; i++) {
		size_t len = path_of_key(group_key(key, i), p);

		/* Others of the same group of keys may lie deeper in the cgroup. */
		if (!group_key(key, i)->group(p))
			return 0;
		most = len > most ? len : most;
	}
	return most;
}

/*
 * Sets the cgroup of a group that is a unit, a container or a pod, so that its memcg can be read.
 * Several cgroups may have the same name, as two containers may: then the group has no cgroup.
 */
static int set_path(const struct field *key, size_t keys, struct arena *text,
		    struct process *const *rows, size_t count, struct process *sum)
{
	size_t len = path_of(key, keys, rows[0]);

	sum->controlled = len > 0;
	for (size_t i = 1; i < count && sum->controlled; i++)
		sum->controlled = path_of(key, keys, rows[i]) == len &&
				  memcmp(rows[i]->cgroup, rows[0]->cgroup, len) == 0;
	if (!sum->controlled)
		return 0;
	sum->cgroup = arena_strndup(text, rows[0]->cgroup, len);
	return sum->cgroup ? 0 : -ENOMEM;
}

static void clear_differing(struct process *sum, struct process *p)
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

/* A user without a name is shown by number, as ps does. */
static const char *uid_text(struct arena *text, uid_t uid)
{
	char buf[16];
	int len = snprintf(buf, sizeof(buf), "%u", uid);

	return arena_strndup(text, buf, (size_t)len);
}

/* A dash for one that the process does not have. A user without a name has a number. */
static bool put_value(struct strbuf *to, const struct field *key, size_t i, const struct process *p)
{
	const char *value = group_key_text(key, i, p);

	if (!value && group_key(key, i)->needs & NEEDS_USER && p->uid != UID_NONE) {
		strbuf_putu(to, p->uid);
		return true;
	}
	strbuf_puts(to, value ? value : "-");
	return value;
}

#define NO_VALUE (UINT32_C(1) << 31)

/* The values of the keys, and where each ends, with NO_VALUE for one that it does not have. */
static void put_joined(struct strbuf *to, const struct field *key, size_t keys,
		       const struct process *p, uint32_t ret_end[GROUP_KEYS_MAX])
{
	for (size_t i = 0; i < keys; i++) {
		bool has;

		strbuf_puts(to, i ? GROUP_JOINT : "");
		has = put_value(to, key, i, p);
		ret_end[i] = (uint32_t)to->len | (has ? 0 : NO_VALUE);
	}
}

static const char *copy_text(struct arena *arena, struct strbuf *s)
{
	return strbuf_error(s) ? NULL : arena_strndup(arena, strbuf_str(s), s->len);
}

static int set_joined(const struct field *key, size_t keys, struct arena *text, struct process *p)
{
	cleanup(strbuf_done) struct strbuf joined = {};
	uint32_t end[GROUP_KEYS_MAX];

	put_joined(&joined, key, keys, p, end);
	p->joined = copy_text(text, &joined);
	return p->joined ? 0 : -ENOMEM;
}

const char *group_value(const struct field *key, size_t i, struct arena *text,
			const struct process *p)
{
	cleanup(strbuf_done) struct strbuf value = {};

	put_value(&value, key, i, p);
	return copy_text(text, &value);
}

static bool is_of_user(const struct field *key, size_t keys)
{
	for (size_t i = 0; i < keys; i++) {
		if (group_key(key, i)->needs & NEEDS_USER)
			return true;
	}
	return false;
}

int group_join(const struct field *key, const struct process_list *processes, struct arena *text)
{
	const bool joins = key && key->flags & FIELD_JOINED;
	const bool users = joins && is_of_user(key, group_key_count(key));
	int r = 0;

	for (size_t i = 0; joins && i < processes->count && r == 0; i++) {
		struct process *p = processes->item[i];

		if (users && !p->user && p->uid != UID_NONE && !(p->user = uid_text(text, p->uid)))
			return -ENOMEM;
		r = set_joined(key, group_key_count(key), text, p);
	}
	return r;
}

int group_row(const struct field *key, size_t keys, struct sums *g, struct process *const *rows,
	      size_t count, struct row *row)
{
	struct process *ret = row->process;
	struct arena *text = &g->text;
	struct sum sum = SUM_EMPTY;

	sum.is_group = keys == group_key_count(key); /* FREED is of whole groups */

	*ret = (struct process){.uid = rows[0]->uid,
				.counters_source = rows[0]->counters_source,
				.group_keys = (uint8_t)keys};
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		*name_of(ret, i) = *name_of(rows[0], i);
	for (size_t i = 0; i < count; i++) {
		sum_add(&sum, rows[i]);
		ret->threads += rows[i]->threads;
		clear_differing(ret, rows[i]);
		if (totals_counts(rows[i]))
			ret->pss_source = pss_source_join(ret->pss_source, rows[i]->pss_source);
	}
	sum_row(&sum, &g->parts[ret - g->item], row);
	if (is_of_user(key, keys) && !ret->user && !(ret->user = uid_text(text, ret->uid)))
		return -ENOMEM;
	if (key->flags & FIELD_JOINED && set_joined(key, keys, text, ret) < 0)
		return -ENOMEM;
	return set_path(key, keys, text, rows, count, ret);
}

int group_id_of(const struct field *key, const struct process *p, struct group_id *ret)
{
	cleanup(strbuf_done) struct strbuf joined = {};
	const char *text = key->group(p);

	*ret = (struct group_id){.key = key, .uid = p->uid, .keys = group_keys_of(key, p)};
	if (key->flags & FIELD_JOINED) {
		put_joined(&joined, key, ret->keys, p, ret->end);
		text = strbuf_error(&joined) ? NULL : strbuf_str(&joined);
	}
	if (strbuf_error(&joined) || (text && !(ret->text = strdup(text))))
		return -ENOMEM;
	return 0;
}

void group_id_done(struct group_id *group)
{
	free((char *)group->text);
	*group = (struct group_id){};
}

uint64_t group_hash(uint64_t hash, const struct field *key, const struct process *p)
{
	const size_t keys = group_keys_of(key, p);

	for (size_t i = 0; i < keys; i++) {
		const char *text = group_key(key, i)->group(p);

		hash = hash_number(hash_text(hash, text), text ? strlen(text) : UINT64_MAX);
	}
	return hash_number(hash, keys);
}

static bool has_joined(const struct group_id *group, const struct process *p)
{
	cleanup(strbuf_done) struct strbuf joined = {};
	uint32_t end[GROUP_KEYS_MAX];

	put_joined(&joined, group->key, group->keys, p, end);
	return (!is_of_user(group->key, group->keys) || p->uid == group->uid) &&
	       memcmp(end, group->end, group->keys * sizeof(*end)) == 0 &&
	       compare_text(strbuf_str(&joined), group->text) == 0;
}

bool group_has(const struct group_id *group, const struct process *p)
{
	if (!group->key)
		return true;
	if (group->key->flags & FIELD_JOINED)
		return has_joined(group, p);
	if (group->key->needs & NEEDS_USER)
		return p->uid == group->uid;
	return compare_text(group->key->group(p), group->text) == 0;
}

size_t group_end(const struct field *key, size_t keys, const struct process_list *processes,
		 size_t i)
{
	size_t end = i + 1;

	while (end < processes->count &&
	       compare_keys(key, keys, processes->item[i], processes->item[end]) == 0)
		end++;
	return end;
}

void group_sort(const struct field *key, struct process_list *processes)
{
	sort_items(processes->item, processes->count, sizeof(*processes->item), compare_grouped,
		   (void *)key);
}

void group_number(const struct field *key, struct process_list *processes, uint32_t *ret)
{
	uint32_t number = 0;

	if (key)
		group_sort(key, processes);
	for (size_t i = 0, end; i < processes->count; i = end) {
		end = key ? group_end(key, group_key_count(key), processes, i) : i + 1;
		number++;
		for (size_t j = i; j < end; j++)
			ret[j] = number;
	}
}

int group_rows_and_room(const struct field *key, struct process_list *processes, size_t more,
			struct sums *g)
{
	size_t keys = group_key_count(key);
	int r = sums_reserve(g, processes->count + more);

	if (r < 0)
		return r;
	group_sort(key, processes);
	for (size_t i = 0, end; i < processes->count; i = end) {
		struct row *row = &g->rows.item[g->rows.count];

		*row = (struct row){.process = &g->item[g->rows.count]};
		end = group_end(key, keys, processes, i);
		r = group_row(key, keys, g, processes->item + i, end - i, row);
		if (r < 0)
			return r;
		row->process->charged = &g->charged[g->rows.count];
		row->process->charged->have = 0;
		g->rows.count++;
	}
	return 0;
}

int group_rows(const struct field *key, struct process_list *processes, struct sums *g)
{
	return group_rows_and_room(key, processes, 0, g);
}
