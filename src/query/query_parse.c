// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Reads each word of a query, or says what is wrong with it. */
#include "query/query_parse.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/hash.h"
#include "base/parse.h"
#include "query/group.h"
#include "query/pattern.h"

#define TOP_MAX 1000000000

static int refuse(struct query_error *ret, const char *item, size_t len, const char *why)
{
	*ret = (struct query_error){item, len, why};
	return -EINVAL;
}

static int refuse_text(struct query_error *ret, const char *why)
{
	return refuse(ret, NULL, 0, why);
}

static size_t count_items(const char *list)
{
	size_t len, count = 0;

	while (parse_item(&list, &len))
		count++;
	return count;
}

const char *query_group_key(const char *word)
{
	static const struct {
		const char *word, *key;
	} alias[] = {{"program", "name"}, {"command", "cmdline"}, {"service", "unit"}};

	for (size_t i = 0; i < ARRAY_SIZE(alias); i++) {
		if (strcmp(alias[i].word, word) == 0)
			return alias[i].key;
	}
	return word;
}

static const struct field *find_key(const char *word, size_t len)
{
	char text[16];
	const struct field *c;

	if (len >= sizeof(text))
		return NULL;
	memcpy(text, word, len);
	text[len] = '\0';
	c = process_field(query_group_key(text));
	return c && c->group && c->type == FIELD_TEXT && strcmp(c->key, query_group_key(text)) == 0
		       ? c
		       : NULL;
}

int query_read_keys(const char *words, const struct field *ret[GROUP_KEYS_MAX],
		    struct query_error *ret_error)
{
	int count = 0;

	if (strcmp(words, "none") == 0)
		return 0;
	for (const char *at = words;; at++) {
		size_t len = strcspn(at, ",");
		const struct field *c = find_key(at, len);

		if (!c)
			return count || at[len]
				       ? refuse(ret_error, at, len, "must be one of " KEY_WORDS)
				       : refuse_text(ret_error, "must be one of " GROUP_WORDS);
		for (int i = 0; i < count; i++) {
			if (ret[i] == c)
				return refuse(ret_error, at, len, "it is there twice");
		}
		if (count == GROUP_KEYS_MAX)
			return refuse(ret_error, at, len, "there are at most 4 keys");
		ret[count++] = c;
		at += len;
		if (!*at)
			return count;
	}
}

static int set_group(struct query *q, const char *word, struct query_error *ret_error)
{
	const struct field *key[GROUP_KEYS_MAX];
	struct group_keys *keys = NULL;
	int count = query_read_keys(word, key, ret_error);

	if (count < 0)
		return count;
	if (count > 1 && !(keys = malloc(sizeof(*keys))))
		return -ENOMEM;
	if (keys)
		group_keys_set(keys, key, (size_t)count);
	free(q->keys);
	q->keys = keys;
	q->group = keys ? &keys->joined : count ? key[0] : NULL;
	return 0;
}

static int set_sort(struct query *q, const char *text, struct query_error *ret_error)
{
	struct field_list keys = {};
	struct field_error bad;

	if (field_list_parse_keys(&keys, &process_fields, text, &bad) < 0)
		return refuse(ret_error, bad.name, bad.len, "there is no such column");
	q->order.keys = keys;
	return 0;
}

static int set_reverse(struct query *q, const char *text, struct query_error *ret_error)
{
	if (*text && strcmp(text, "0") != 0 && strcmp(text, "1") != 0)
		return refuse_text(ret_error, "must be 0 or 1");
	q->order.reverse = strcmp(text, "0") != 0;
	return 0;
}

static int set_top(struct query *q, const char *text, struct query_error *ret_error)
{
	uint64_t n;

	if (parse_u64(text, strlen(text), TOP_MAX, &n) < 0 || !n)
		return refuse_text(ret_error, "not a number from 1 to 1000000000");
	q->top = n;
	return 0;
}

static int set_min(struct query *q, const char *text, struct query_error *ret_error)
{
	uint64_t bytes;

	if (parse_size(text, strlen(text), &bytes) < 0)
		return refuse_text(ret_error, "not a size, such as 100M or 1.5G");
	q->min = bytes;
	return 0;
}

static int set_pids(struct query *q, const char *text, struct query_error *ret_error)
{
	cleanup_free pid_t *pids = calloc(count_items(text) + 1, sizeof(*pids));
	const char *item;
	size_t len, count = 0;

	if (!pids)
		return -ENOMEM;
	while ((item = parse_item(&text, &len))) {
		uint64_t pid;

		if (parse_u64(item, len, INT32_MAX, &pid) < 0 || !pid)
			return refuse(ret_error, item, len, "not a process number");
		pids[count++] = (pid_t)pid;
	}
	if (!count)
		return refuse_text(ret_error, "no process number in it");
	filter_sort_pids(pids, count);
	free(q->pids);
	q->filter.pids = q->pids = TAKE_PTR(pids);
	q->filter.pid_count = count;
	return 0;
}

/* The next user of a list with commas; quotes around one, as in CSV, do not belong to it. */
static const char *next_user(const char **pos, size_t *ret_len, bool *ret_quoted)
{
	static const char blanks[] = " \t";
	const char *item = *pos + strspn(*pos, ", \t\n"), *quote;
	size_t len;

	quote = *item == '"' ? strchr(item + 1, '"') : NULL;
	if (quote && strchr(",\n", quote[1 + strspn(quote + 1, blanks)])) {
		*pos = quote + 1;
		*ret_len = (size_t)(quote - item - 1);
		*ret_quoted = true;
		return item + 1;
	}
	len = strcspn(item, ",\n");
	*pos = item + len;
	while (len && strchr(blanks, item[len - 1]))
		len--;
	*ret_len = len;
	*ret_quoted = false;
	return len ? item : NULL;
}

/* Adds the users of an item: one with a name that may have blanks, else those of a list with
 * blanks. */
static int add_users(const struct query_users *users, const char *item, size_t len, bool quoted,
		     uid_t *uids, size_t *count)
{
	const char *word, *end = item + len;
	int r = users->find(users->arg, item, len, &uids[*count]);

	word = r == -ENOENT && !quoted ? memchr(item, ' ', len) : NULL;
	if (r == -ENOENT && !word && users->missing)
		users->missing(users->arg, item, len);
	*count += r == 0;
	while (word && item < end) {
		len = strcspn(item, " \t");
		len = len < (size_t)(end - item) ? len : (size_t)(end - item);
		r = len ? add_users(users, item, len, true, uids, count) : 0;
		if (r < 0 && r != -ENOENT)
			return r;
		item += len + 1;
	}
	return r;
}

static int set_users(struct query *q, const char *text, const struct query_users *users,
		     struct query_error *ret_error)
{
	cleanup_free uid_t *uids = calloc(count_items(text) + 1, sizeof(*uids));
	bool any = *text, quoted;
	const char *item;
	size_t len, asked = 0, count = 0;

	if (!uids)
		return -ENOMEM;
	for (; (item = next_user(&text, &len, &quoted)); asked++) {
		int r = add_users(users, item, len, quoted, uids, &count);

		if (r < 0 && r != -ENOENT)
			return r;
	}
	if (any && !asked)
		return refuse_text(ret_error, "no user in it");
	if (any && !count) {
		refuse_text(ret_error, "no process is of any of them");
		return -ENOENT;
	}
	filter_sort_uids(uids, count);
	free(q->uids);
	q->uids = TAKE_PTR(uids);
	q->filter.uids = any ? q->uids : NULL;
	q->filter.uid_count = count;
	return 0;
}

static int set_pattern(struct query *q, const char *text, struct query_error *ret_error)
{
	struct pattern *pattern = NULL;
	const char *why;
	int r = *text ? pattern_compile(text, &pattern, &why) : 0;

	if (r < 0)
		return r == -EINVAL ? refuse(ret_error, text, strlen(text), why) : r;
	pattern_free(q->filter.pattern);
	q->filter.pattern = pattern;
	return 0;
}

static int set_cgroup(struct query *q, const char *text, struct query_error *ret_error)
{
	char *copy;

	if (!*text)
		return refuse_text(ret_error, "no pattern in it");
	copy = strdup(text);
	if (!copy)
		return -ENOMEM;
	free(q->cgroup);
	q->filter.cgroup = q->cgroup = copy;
	return 0;
}

static int set_units(struct query *q, const char *text, struct query_error *ret_error)
{
	const char *list = text, *item;
	bool any = false;
	size_t len;
	char *copy;

	for (; (item = filter_next_unit(&list, &len)); any = true) {
		if (len > FILTER_UNIT_MAX)
			return refuse(ret_error, item, len, "no unit has a name that long");
	}
	if (!any)
		return refuse_text(ret_error, "no unit in it");
	copy = strdup(text);
	if (!copy)
		return -ENOMEM;
	free(q->units);
	q->filter.units = q->units = copy;
	return 0;
}

static int set_word(struct query *q, enum query_word word, const char *text,
		    const struct query_users *users, struct query_error *ret_error)
{
	switch (word) {
	case QUERY_GROUP_BY:
		return set_group(q, text, ret_error);
	case QUERY_SORT:
		return set_sort(q, text, ret_error);
	case QUERY_REVERSE:
		return set_reverse(q, text, ret_error);
	case QUERY_TOP:
		return set_top(q, text, ret_error);
	case QUERY_MIN:
		return set_min(q, text, ret_error);
	case QUERY_PID:
		return set_pids(q, text, ret_error);
	case QUERY_USER:
		return set_users(q, text, users, ret_error);
	case QUERY_FILTER:
		return set_pattern(q, text, ret_error);
	case QUERY_CGROUP:
		return set_cgroup(q, text, ret_error);
	case QUERY_UNIT:
		return set_units(q, text, ret_error);
	case QUERY_WORDS:
		break;
	}
	return -EINVAL;
}

int query_set(struct query *q, enum query_word word, const char *text,
	      const struct query_users *users, struct query_error *ret_error)
{
	int r = set_word(q, word, text, users, ret_error);

	if (r == 0)
		q->text_hash[word] = *text ? hash_text(HASH_START, text) : 0;
	return r;
}

int query_check(const struct query *q, struct query_error *ret_error)
{
	const struct field *c = process_list_misplaced(&q->order.keys, q->group);

	return c ? refuse(ret_error, c->key, strlen(c->key),
			  "one of its columns is of groups (group_by=cgroup, unit, container or pod)")
		 : 0;
}
