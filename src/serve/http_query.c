// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Knows percent signs, the words and their bounds. */
#include "serve/http_query.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ascii.h"
#include "base/parse.h"

#define PATTERN_MAX 200
#define STARS_MAX   4

enum word {
	WORD_GROUP_BY,
	WORD_SORT,
	WORD_REVERSE,
	WORD_TOP,
	WORD_MIN,
	WORD_PID,
	WORD_USER,
	WORD_FILTER,
	WORD_CGROUP,
	WORDS,
};

static const char *const word_name[WORDS] = {
	[WORD_GROUP_BY] = "group_by", [WORD_SORT] = "sort",	[WORD_REVERSE] = "reverse",
	[WORD_TOP] = "top",	      [WORD_MIN] = "min",	[WORD_PID] = "pid",
	[WORD_USER] = "user",	      [WORD_FILTER] = "filter", [WORD_CGROUP] = "cgroup",
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

/* In place. -EINVAL for what is no encoding, and for NUL, which nothing we look for holds. */
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

static int set_group(struct http_query *q, const char *value, bool cmdlines)
{
	const struct column *c = column_find(value, strlen(value));

	if (strcmp(value, "none") == 0)
		return 0;
	if (!c || !group_possible(c) || strcmp(c->key, value) != 0)
		return wrong(q, "group_by",
			     "it is one of none, name, cmdline, user, unit, container, cgroup");
	if (c->needs & NEEDS_CMDLINE && !cmdlines)
		return wrong(q, "group_by", "there are no command lines (-o +cmdline)");
	q->group = c;
	return 0;
}

static int set_sort(struct http_query *q, const char *value, bool cmdlines)
{
	const char *bad;
	size_t len;

	if (*value == '+' || column_list_parse(&q->order.keys, value, &bad, &len) < 0)
		return wrong(q, "sort", "there is no such column");
	if (!q->order.keys.count)
		return wrong(q, "sort", "no column in it");
	if (column_list_needs(&q->order.keys) & NEEDS_CMDLINE && !cmdlines)
		return wrong(q, "sort", "there are no command lines (-o +cmdline)");
	return 0;
}

static int set_top(struct http_query *q, const char *value)
{
	uint64_t n;

	if (parse_u64(value, strlen(value), 1000000000, &n) < 0 || !n)
		return wrong(q, "top", "not a number from 1 to 1000000000");
	q->top = n;
	return 0;
}

static int set_pids(struct http_query *q, const char *value)
{
	const char *item;
	size_t len;

	q->pids = calloc(QUERY_IDS_MAX, sizeof(*q->pids));
	if (!q->pids)
		return -ENOMEM;
	while ((item = parse_item(&value, &len))) {
		uint64_t pid;

		if (parse_u64(item, len, PID_MAX, &pid) < 0 || !pid)
			return wrong(q, "pid", "not a process number");
		if (q->filter.pid_count == QUERY_IDS_MAX)
			return wrong(q, "pid", "too many");
		q->pids[q->filter.pid_count++] = (pid_t)pid;
	}
	if (!q->filter.pid_count)
		return wrong(q, "pid", "no process number in it");
	filter_sort_pids(q->pids, q->filter.pid_count);
	q->filter.pids = q->pids;
	return 0;
}

static int set_users(struct http_query *q, const char *value)
{
	const char *at = value;
	size_t len;

	if (!parse_item(&at, &len))
		return wrong(q, "user", "no user in it");
	q->users = value;
	return 0;
}

static int set_pattern(struct http_query *q, const char *value)
{
	const char *why;
	int r;

	if (strlen(value) > PATTERN_MAX)
		return wrong(q, "filter", "too long");
	r = pattern_compile(value, &q->pattern, &why);
	if (r < 0)
		return r == -EINVAL ? wrong(q, "filter", why) : r;
	q->filter.pattern = q->pattern;
	return 0;
}

static int set_cgroup(struct http_query *q, const char *value)
{
	size_t stars = 0;

	for (const char *c = value; *c; c++)
		stars += *c == '*';
	if (!*value || strlen(value) > PATTERN_MAX || stars > STARS_MAX)
		return wrong(q, "cgroup", "empty, too long, or more than four '*'");
	q->filter.cgroup = value;
	return 0;
}

static int set_word(struct http_query *q, enum word word, const char *value, bool cmdlines)
{
	switch (word) {
	case WORD_GROUP_BY:
		return set_group(q, value, cmdlines);
	case WORD_SORT:
		return set_sort(q, value, cmdlines);
	case WORD_REVERSE:
		q->order.reverse = strcmp(value, "0") != 0;
		return *value && strcmp(value, "0") && strcmp(value, "1")
			       ? wrong(q, "reverse", "it is 0 or 1")
			       : 0;
	case WORD_TOP:
		return set_top(q, value);
	case WORD_MIN:
		return parse_size(value, strlen(value), &q->min) < 0
			       ? wrong(q, "min", "not a size (100M)")
			       : 0;
	case WORD_PID:
		return set_pids(q, value);
	case WORD_USER:
		return set_users(q, value);
	case WORD_FILTER:
		return set_pattern(q, value);
	case WORD_CGROUP:
		return set_cgroup(q, value);
	case WORDS:
		break;
	}
	return -EINVAL;
}

static int read_pair(struct http_query *q, char *pair, bool cmdlines, unsigned *given)
{
	char *value = strchr(pair, '=');

	if (value)
		*value++ = '\0';
	if (decode(pair) < 0 || (value && decode(value) < 0))
		return wrong(q, "query", "a bad % or a NUL in it");
	for (int i = 0; i < WORDS; i++) {
		if (strcmp(pair, word_name[i]) != 0)
			continue;
		if (*given >> i & 1)
			return wrong(q, word_name[i], "given twice");
		*given |= 1u << i;
		return set_word(q, i, value ? value : "", cmdlines);
	}
	return wrong(q, "query",
		     "its words are group_by, sort, reverse, top, min, pid, user, filter, cgroup");
}

static int refuse_memcg(struct http_query *q)
{
	if (column_list_misplaced(&q->order.keys, q->group))
		return wrong(
			q, "sort",
			"one of its columns is of groups (group_by=cgroup, unit or container)");
	return 0;
}

int http_query_parse(struct http_query *q, const char *text, bool cmdlines)
{
	unsigned given = 0;
	char *pair, *rest;
	const char *bad;
	size_t len;
	int r = 0;

	*q = (struct http_query){.text = strdup(text)};
	if (!q->text)
		return -ENOMEM;
	rest = q->text;
	while (r == 0 && (pair = strsep(&rest, "&")))
		r = *pair ? read_pair(q, pair, cmdlines, &given) : 0;
	if (r == 0 && !q->order.keys.count)
		r = column_list_parse(&q->order.keys, "pss", &bad, &len);
	return r ? r : refuse_memcg(q);
}

/* ---- whom it means ---- */

static bool is_user(const struct process *p, const char *name, size_t len)
{
	uint64_t uid;

	if (p->user && strlen(p->user) == len && memcmp(p->user, name, len) == 0)
		return true;
	return parse_u64(name, len, UINT32_MAX - 1, &uid) == 0 && p->uid == uid;
}

static const struct process *find_user(const struct snapshot *s, const char *name, size_t len)
{
	for (size_t i = 0; i < s->count; i++) {
		if (is_user(&s->process[i], name, len))
			return &s->process[i];
	}
	return NULL;
}

static int resolve_users(struct http_query *q, const struct snapshot *s)
{
	const char *item, *at = q->users;
	size_t len;

	q->uids = calloc(QUERY_IDS_MAX, sizeof(*q->uids));
	if (!q->uids)
		return -ENOMEM;
	while ((item = parse_item(&at, &len)) && q->filter.uid_count < QUERY_IDS_MAX) {
		const struct process *p = find_user(s, item, len);

		if (p)
			q->uids[q->filter.uid_count++] = p->uid;
	}
	if (!q->filter.uid_count) {
		wrong(q, "user", "no process is of any of them");
		return -ENOENT;
	}
	filter_sort_uids(q->uids, q->filter.uid_count);
	q->filter.uids = q->uids;
	return 0;
}

int http_query_resolve(struct http_query *q, const struct snapshot *s)
{
	bool found = !q->filter.pids;

	for (size_t i = 0; i < q->filter.pid_count && !found; i++)
		found = snapshot_find(s, q->pids[i]);
	if (!found) {
		wrong(q, "pid", "there is no such process");
		return -ENOENT;
	}
	return q->users ? resolve_users(q, s) : 0;
}

void http_query_done(struct http_query *q)
{
	pattern_free(q->pattern);
	free(q->pids);
	free(q->uids);
	free(q->text);
	*q = (struct http_query){};
}
