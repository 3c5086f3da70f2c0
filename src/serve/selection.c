// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Decodes the query of a URL, bounds its words before they are parsed, and runs queries. Memory
 * cgroups come with the snapshot.
 */
#include "serve/selection.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/parse.h"
#include "enrich/enrich.h"
#include "query/query_parse.h"

#define PATTERN_MAX 200
#define STARS_MAX   4

static const char *const word_name[QUERY_WORDS] = {
	[QUERY_GROUP_BY] = "group_by", [QUERY_SORT] = "sort",	  [QUERY_REVERSE] = "reverse",
	[QUERY_TOP] = "top",	       [QUERY_MIN] = "min",	  [QUERY_PID] = "pid",
	[QUERY_USER] = "user",	       [QUERY_FILTER] = "filter", [QUERY_CGROUP] = "cgroup",
	[QUERY_UNIT] = "unit",
};

static int wrong(struct http_query *q, const char *word, const char *why)
{
	snprintf(q->error, sizeof(q->error), "%s: %s", word, why);
	return -EINVAL;
}

static int hex(char c)
{
	return hex_value(to_lower(c));
}

/* Decodes in place. Returns -EINVAL for a bad encoding, and for NUL, which no name holds. */
static int decode(char *s)
{
	char *to = s;

	for (; *s; s++) {
		int c = (unsigned char)*s;

		if (c == '+') {
			c = ' ';
		} else if (c == '%') {
			int high = hex(s[1]), low = high < 0 ? -1 : hex(s[2]);

			if (low < 0 || !(high | low))
				return -EINVAL;
			c = high << 4 | low;
			s += 2;
		}
		*to++ = (char)c;
	}
	*to = '\0';
	return 0;
}

/* ---- the words ---- */

static size_t count_items(const char *list)
{
	size_t len, count = 0;

	while (parse_item(&list, &len))
		count++;
	return count;
}

static int check_glob(struct http_query *q, const char *word, const char *value)
{
	size_t stars = 0;

	for (const char *c = value; *c; c++)
		stars += *c == '*';
	if (!*value || strlen(value) > PATTERN_MAX || stars > STARS_MAX)
		return wrong(q, word, "empty, too long, or more than four '*'");
	return 0;
}

/* Refuses what a query may contain and a request may not. */
static int check_bounds(struct http_query *q, enum query_word word, const char *value)
{
	switch (word) {
	case QUERY_SORT:
		return *value == '+' ? wrong(q, "sort", "there is no such column") : 0;
	case QUERY_PID:
		return count_items(value) > QUERY_IDS_MAX ? wrong(q, "pid", "too many") : 0;
	case QUERY_USER:
		return count_items(value) ? 0 : wrong(q, "user", "no user in it");
	case QUERY_FILTER:
		return strlen(value) > PATTERN_MAX ? wrong(q, "filter", "too long") : 0;
	case QUERY_CGROUP:
	case QUERY_UNIT:
		return check_glob(q, word_name[word], value);
	default:
		return 0;
	}
}

static int check_cmdlines(struct http_query *q, enum query_word word)
{
	unsigned needs = word == QUERY_SORT ? field_list_needs(&q->query.order.keys)
			 : q->query.group   ? q->query.group->needs
					    : 0;

	if (needs & NEEDS_CMDLINE)
		return wrong(q, word_name[word], "there are no command lines (-o +cmdline)");
	return 0;
}

static int set_word(struct http_query *q, enum query_word word, const char *value, bool cmdlines)
{
	struct query_error error;
	int r = check_bounds(q, word, value);

	if (r < 0)
		return r;
	/* Users are looked up in a snapshot, which may be newer than the request. */
	if (word == QUERY_USER) {
		q->users = value;
		return 0;
	}
	r = query_set(&q->query, word, value, NULL, &error);
	if (r == -EINVAL)
		return wrong(q, word_name[word], error.why);
	if (r == 0 && word == QUERY_SORT && !q->query.order.keys.count)
		return wrong(q, "sort", "no column in it");
	if (r == 0 && !cmdlines && (word == QUERY_SORT || word == QUERY_GROUP_BY))
		return check_cmdlines(q, word);
	return r;
}

static int read_pair(struct http_query *q, char *pair, bool cmdlines, unsigned *given)
{
	char *value = strchr(pair, '=');

	if (value)
		*value++ = '\0';
	if (decode(pair) < 0 || (value && decode(value) < 0))
		return wrong(q, "query", "a bad % or a NUL in it");
	for (int i = 0; i < QUERY_WORDS; i++) {
		if (strcmp(pair, word_name[i]) != 0)
			continue;
		if (*given >> i & 1)
			return wrong(q, word_name[i], "given twice");
		*given |= 1u << i;
		return set_word(q, i, value ? value : "", cmdlines);
	}
	return wrong(
		q, "query",
		"its words are group_by, sort, reverse, top, min, pid, user, filter, cgroup, unit");
}

int http_query_parse(struct http_query *q, const char *text, bool cmdlines)
{
	struct query_error error;
	unsigned given = 0;
	char *pair, *rest;
	int r = 0;

	*q = (struct http_query){.text = strdup(text)};
	if (!q->text)
		return -ENOMEM;
	rest = q->text;
	while (r == 0 && (pair = strsep(&rest, "&")))
		r = *pair ? read_pair(q, pair, cmdlines, &given) : 0;
	if (r == 0 && !q->query.order.keys.count)
		r = query_set(&q->query, QUERY_SORT, "pss", NULL, &error);
	if (r == 0 && query_check(&q->query, &error) < 0)
		r = wrong(q, "sort", error.why);
	return r;
}

/* ---- users and pids ---- */

static bool is_user(const struct process *p, const char *name, size_t len)
{
	uint64_t uid;

	if (p->user && part_is((struct text_part){name, len}, p->user))
		return true;
	return parse_u64(name, len, UINT32_MAX - 1, &uid) == 0 && p->uid == uid;
}

struct lookup {
	const struct snapshot *snapshot;
	size_t found;
};

static int find_user(void *arg, const char *name, size_t len, uid_t *ret_uid)
{
	struct lookup *l = arg;

	for (size_t i = 0; l->found < QUERY_IDS_MAX && i < l->snapshot->count; i++) {
		if (!is_user(&l->snapshot->process[i], name, len))
			continue;
		*ret_uid = l->snapshot->process[i].uid;
		l->found++;
		return 0;
	}
	return -ENOENT;
}

int http_query_resolve(struct http_query *q, const struct snapshot *s)
{
	struct lookup lookup = {.snapshot = s};
	const struct query_users users = {.find = find_user, .arg = &lookup};
	const struct filter *f = &q->query.filter;
	bool found = !f->pids;
	struct query_error error;
	int r;

	for (size_t i = 0; i < f->pid_count && !found; i++)
		found = snapshot_find(s, f->pids[i]);
	if (!found) {
		wrong(q, "pid", "there is no such process");
		return -ESRCH;
	}
	r = q->users ? query_set(&q->query, QUERY_USER, q->users, &users, &error) : 0;
	if (r == -ENOENT)
		wrong(q, "user", error.why);
	return r;
}

void http_query_done(struct http_query *q)
{
	query_done(&q->query);
	free(q->text);
	*q = (struct http_query){};
}

/* ---- rows ---- */

static const char *unit_or_name_of(const struct process *p)
{
	return p->unit ? p->unit : p->name;
}

/* The group column "unit, then name". */
static const struct field unit_or_name = {
	.key = "unit",
	.type = FIELD_TEXT,
	.needs = NEEDS_CGROUP,
	.counter = -1,
	.group = unit_or_name_of,
	.part = PART_UNIT,
};

const struct field *selection_group(const struct field *key)
{
	return key ? key : &unit_or_name;
}

/* The processes that the filter accepts, in groups if the query has them. */
static int make_rows(struct selection *v, struct snapshot *snapshot, const struct query *q)
{
	int r;

	*v = (struct selection){.snapshot = *snapshot};
	/* What the selection allocates is in its own arenas. */
	v->snapshot.arena = v->snapshot.scratch = (struct arena){};
	r = query_select_ids(&v->snapshot, q, &v->rows);
	if (r == 0)
		r = query_select_text(&v->snapshot, q, &v->rows);
	if (r == 0)
		r = query_group(&v->snapshot, q, &v->rows);
	return r;
}

/* Groups get the memory counters of their cgroups. */
static int apply_memcgs(struct selection *v, const struct snapshot *snapshot)
{
	int r = rows_processes(v->rows.all.item, v->rows.all.count, &v->rows.shown);

	if (r == 0)
		memcgs_apply(snapshot, &v->rows.shown);
	return r;
}

int selection_query(struct selection *v, struct snapshot *snapshot, const struct query *q)
{
	int r = make_rows(v, snapshot, q);

	if (r < 0)
		return r;
	if (q->group)
		r = apply_memcgs(v, snapshot);
	if (r < 0)
		return r;
	query_show(&v->snapshot, q, &v->rows, false, &v->result);
	return 0;
}

/* A group without a unit is not a cgroup, even if all its processes are in one. */
static void forget_cgroups(struct rows *groups)
{
	for (size_t i = 0; i < groups->count; i++)
		groups->item[i].process->controlled &= groups->item[i].process->unit != NULL;
}

int selection_metrics(struct selection *v, struct snapshot *snapshot, const struct field *key,
		      struct group_tracker *tracker, uint64_t now_us)
{
	const struct field *pss = process_field("pss");
	const struct query query = {.group = selection_group(key), .order = {.keys = {{pss}, 1}}};
	struct rows *groups = &v->rows.all;
	size_t shown = 0;
	int r = make_rows(v, snapshot, &query);

	if (r < 0)
		return r;
	if (!key)
		forget_cgroups(groups);
	r = apply_memcgs(v, snapshot);
	if (r < 0)
		return r;
	query_show(&v->snapshot, &query, &v->rows, false, &v->result);
	r = group_tracker_update(tracker, now_us, query.group->group, groups, &shown);
	if (r == 0)
		result_cut(&v->result, &v->snapshot.collection, groups, shown, false);
	return r;
}

void selection_done(struct selection *v)
{
	query_rows_done(&v->rows);
	arena_done(&v->snapshot.arena);
	arena_done(&v->snapshot.scratch);
	*v = (struct selection){};
}
