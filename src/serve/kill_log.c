// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Counts OOM kills by group and keeps the newest. */
#include "serve/kill_log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "fields/incident_fields.h"
#include "write/field_text.h"

int kill_log_init(struct kill_log *l, const struct field *group, size_t groups_max)
{
	*l = (struct kill_log){
		.group = group,
		.groups_max = groups_max,
		.sum = calloc(groups_max, sizeof(*l->sum)),
		.row = calloc(groups_max, sizeof(*l->row)),
		.newest = calloc(KILL_LOG_NEWEST, sizeof(*l->newest)),
	};
	return l->sum && l->row && l->newest ? 0 : -ENOMEM;
}

void kill_log_done(struct kill_log *l)
{
	free(l->sum);
	free(l->row);
	free(l->newest);
	arena_done(&l->names);
	*l = (struct kill_log){};
}

/* ---- groups ---- */

/* The members of a process that make its group, and the names that stand beside it. */
static const struct {
	enum event_member member;
	size_t offset; /* of a const char * in struct process */
} names[] = {
	{EVENT_NAME, offsetof(struct process, name)},
	{EVENT_USER, offsetof(struct process, user)},
	{EVENT_CGROUP, offsetof(struct process, cgroup)},
	{EVENT_UNIT, offsetof(struct process, unit)},
	{EVENT_CONTAINER, offsetof(struct process, container)},
	{EVENT_CONTAINER_ID, offsetof(struct process, container_id)},
	{EVENT_POD, offsetof(struct process, pod)},
	{EVENT_NAMESPACE, offsetof(struct process, namespace)},
};

static const char **name_at(struct process *p, size_t offset)
{
	return (const char **)((char *)p + offset);
}

/* Borrows the names of the event. */
static struct process process_of(const struct event_record *e)
{
	struct process p = {.kind = PROCESS_SUM, .uid = UID_NONE};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		*name_at(&p, names[i].offset) = event_text(e, names[i].member);
	if (event_has(e, EVENT_UID))
		p.uid = (uid_t)e->number[EVENT_UID];
	return p;
}

static bool same_group(const struct kill_log *l, const struct process *a, const struct process *b)
{
	const char *x = l->group->group(a), *y = l->group->group(b);

	if (l->group->needs & NEEDS_USER && a->uid != b->uid)
		return false;
	return strcmp(x ? x : "", y ? y : "") == 0;
}

static struct row *find_group(const struct kill_log *l, const struct process *p)
{
	for (size_t i = 0; i < l->groups; i++) {
		if (same_group(l, &l->sum[i], p))
			return &l->row[i];
	}
	return NULL;
}

/* Returns NULL if no group is left, or no memory. */
static struct row *add_group(struct kill_log *l, const struct process *p)
{
	struct process *sum;

	if (l->groups == l->groups_max)
		return NULL;
	sum = &l->sum[l->groups];
	*sum = *p;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		const char **name = name_at(sum, names[i].offset);

		if (!*name)
			continue;
		*name = arena_strndup(&l->names, *name, strlen(*name));
		if (!*name)
			return NULL;
	}
	l->row[l->groups] = (struct row){.process = sum};
	return &l->row[l->groups++];
}

void kill_log_add(struct kill_log *l, const struct event_record *kill)
{
	struct process p = process_of(kill);
	struct row *group = NULL;

	if (event_has(kill, EVENT_MISSED))
		l->others += kill->number[EVENT_MISSED];
	if (event_has(kill, EVENT_PID))
		group = find_group(l, &p);
	if (event_has(kill, EVENT_PID) && !group)
		group = add_group(l, &p);
	if (group)
		group->procs++;
	else
		l->others++;
	l->newest[l->kills++ % KILL_LOG_NEWEST] = *kill;
}

void kill_log_result(const struct kill_log *l, struct result *ret)
{
	*ret = (struct result){
		.group = l->group,
		.rows = l->row,
		.row_count = l->groups,
		/* Their series is there from the start. */
		.others_count = 1,
		.others = {.processes = l->others},
	};
}

void kill_log_json(const struct kill_log *l, struct json_writer *w)
{
	size_t first = l->kills > KILL_LOG_NEWEST ? l->kills - KILL_LOG_NEWEST : 0;

	json_begin(w, '[');
	for (size_t i = first; i < l->kills; i++) {
		json_begin_line(w, '{');
		json_all(w, &kill_fields, &l->newest[i % KILL_LOG_NEWEST], NULL, false);
		json_end(w, '}');
	}
	json_end(w, ']');
}
