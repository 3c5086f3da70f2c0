// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Counts OOM kills by group and keeps the newest. */
#include "serve/kill_log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "fields/incident_fields.h"
#include "write/field_text.h"

int kill_log_init(struct kill_log *l, const struct field *key, size_t shown_max)
{
	/* With so many, a group that is not shown is always among them. */
	size_t groups_max = 2 * shown_max;

	*l = (struct kill_log){
		.key = key,
		.group = calloc(groups_max, sizeof(*l->group)),
		.groups_max = groups_max,
		.row = calloc(shown_max + groups_max, sizeof(*l->row)),
		.newest = calloc(KILL_LOG_NEWEST, sizeof(*l->newest)),
	};
	return l->group && l->row && l->newest ? 0 : -ENOMEM;
}

void kill_log_done(struct kill_log *l)
{
	for (size_t i = 0; i < l->groups; i++)
		free(l->group[i].text);
	free(l->group);
	free(l->row);
	free(l->newest);
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

/* Copies the names. Returns what holds them, or NULL: no memory. */
static char *own_names(struct process *p)
{
	size_t size = 1;
	char *text, *at;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		const char *name = *name_at(p, names[i].offset);

		size += name ? strlen(name) + 1 : 0;
	}
	text = at = malloc(size);
	for (size_t i = 0; text && i < ARRAY_SIZE(names); i++) {
		const char **name = name_at(p, names[i].offset);

		if (!*name)
			continue;
		size = strlen(*name) + 1;
		*name = memcpy(at, *name, size);
		at += size;
	}
	return text;
}

static bool same_group(const struct kill_log *l, const struct process *a, const struct process *b)
{
	for (size_t i = 0; i < group_key_count(l->key); i++) {
		const struct field *key = group_key(l->key, i);
		const char *x = key->group(a), *y = key->group(b);

		if (key->needs & NEEDS_USER && a->uid != b->uid)
			return false;
		if (strcmp(x ? x : "", y ? y : "") != 0)
			return false;
	}
	return true;
}

static struct kill_group *find_group(const struct kill_log *l, const struct process *p)
{
	for (size_t i = 0; i < l->groups; i++) {
		if (same_group(l, &l->group[i].process, p))
			return &l->group[i];
	}
	return NULL;
}

/*
 * The names of a group that is shown are those of the result, with and without kills: others would
 * be another series. Returns the number of rows.
 */
static size_t place_rows(struct kill_log *l, const struct result *shown)
{
	size_t rows = 0;

	for (size_t i = 0; i < l->groups; i++)
		l->group[i].shown = false;
	for (size_t i = 0; i < shown->row_count; i++) {
		struct process *p = shown->rows[i].process;
		struct kill_group *g = find_group(l, p);

		l->row[rows++] = (struct row){.process = p, .procs = g ? g->kills : 0};
		if (g)
			g->shown = true;
	}
	for (size_t i = 0; i < l->groups; i++) {
		struct kill_group *g = &l->group[i];

		if (!g->shown)
			l->row[rows++] = (struct row){.process = &g->process, .procs = g->kills};
	}
	return rows;
}

static struct kill_group *forget_oldest(struct kill_log *l, const struct result *shown)
{
	struct kill_group *oldest = NULL;

	place_rows(l, shown);
	for (size_t i = 0; i < l->groups; i++) {
		struct kill_group *g = &l->group[i];

		if (!g->shown && (!oldest || g->last < oldest->last))
			oldest = g;
	}
	l->others += oldest->kills;
	free(oldest->text);
	return oldest;
}

/* Returns NULL without memory. */
static struct kill_group *add_group(struct kill_log *l, struct process p,
				    const struct result *shown)
{
	char *text = own_names(&p);
	struct kill_group *g;

	if (!text)
		return NULL;
	g = l->groups < l->groups_max ? &l->group[l->groups++] : forget_oldest(l, shown);
	*g = (struct kill_group){.process = p, .text = text};
	return g;
}

void kill_log_add(struct kill_log *l, const struct event_record *kill, const struct result *shown)
{
	struct process p = process_of(kill);
	struct kill_group *group = NULL;

	if (event_has(kill, EVENT_MISSED))
		l->others += kill->number[EVENT_MISSED];
	if (event_has(kill, EVENT_PID))
		group = find_group(l, &p);
	if (event_has(kill, EVENT_PID) && !group)
		group = add_group(l, p, shown);
	if (group) {
		group->kills++;
		group->last = l->kills;
	} else {
		l->others++;
	}
	l->newest[l->kills++ % KILL_LOG_NEWEST] = *kill;
}

void kill_log_result(struct kill_log *l, const struct result *shown, struct result *ret)
{
	*ret = (struct result){
		.group = l->key,
		.rows = l->row,
		.row_count = place_rows(l, shown),
		/* The series of the others is there from the start. */
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
