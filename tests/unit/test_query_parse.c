// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The values that each word of a query accepts, errors for others, and the state after an error. */
#include "unit.h"

#include "base/parse.h"
#include "query/pattern.h"
#include "query/query_parse.h"

/* anna is 1000, bert 1001; other users have only numbers. */
static int find_user(void *arg, const char *name, size_t len, uid_t *ret_uid)
{
	static const char *const names[] = {"anna", "bert", "DOM\\x user", "q,r", "anna bert"};
	uint64_t number;

	++*(int *)arg;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (strlen(names[i]) == len && memcmp(names[i], name, len) == 0) {
			*ret_uid = 1000 + (uid_t)i;
			return 0;
		}
	}
	if (parse_u64(name, len, UINT32_MAX - 1, &number) < 0)
		return -ENOENT;
	*ret_uid = (uid_t)number;
	return 0;
}

static int asked;
static char missing[64];

static void note_missing(void *arg, const char *name, size_t len)
{
	(void)arg;
	snprintf(missing + strlen(missing), sizeof(missing) - strlen(missing), "[%.*s]", (int)len,
		 name);
}

static const struct query_users users = {find_user, note_missing, &asked};

static int set(struct query *q, enum query_word word, const char *text)
{
	struct query_error error;

	return query_set(q, word, text, &users, &error);
}

TEST(good)
{
	struct query q = {};

	assert_int_equal(set(&q, QUERY_GROUP_BY, "unit"), 0);
	assert_string_equal(q.group->key, "unit");
	assert_int_equal(set(&q, QUERY_GROUP_BY, "none"), 0);
	assert_null(q.group);
	assert_int_equal(set(&q, QUERY_SORT, "rss,name"), 0);
	assert_int_equal(q.order.keys.count, 2);
	assert_int_equal(set(&q, QUERY_SORT, "pss"), 0);
	assert_int_equal(q.order.keys.count, 1);
	assert_int_equal(set(&q, QUERY_REVERSE, ""), 0);
	assert_true(q.order.reverse);
	assert_int_equal(set(&q, QUERY_REVERSE, "0"), 0);
	assert_false(q.order.reverse);
	assert_int_equal(set(&q, QUERY_TOP, "7"), 0);
	assert_int_equal(q.top, 7);
	assert_int_equal(set(&q, QUERY_MIN, "2M"), 0);
	assert_int_equal(q.min, 2 << 20);
	assert_int_equal(set(&q, QUERY_PID, "7,3 5"), 0);
	assert_int_equal(q.filter.pid_count, 3);
	assert_int_equal(q.filter.pids[0], 3);
	assert_int_equal(q.filter.pids[2], 7);
	assert_int_equal(set(&q, QUERY_USER, "5,bert,nobody,anna"), 0);
	assert_int_equal(asked, 4);
	assert_int_equal(q.filter.uid_count, 3);
	assert_int_equal(q.filter.uids[0], 5);
	assert_int_equal(q.filter.uids[2], 1001);
	assert_int_equal(set(&q, QUERY_FILTER, "^a+$"), 0);
	assert_int_equal(pattern_match(q.filter.pattern, "aa"), 1);
	assert_int_equal(set(&q, QUERY_CGROUP, "*.slice"), 0);
	assert_string_equal(q.filter.cgroup, "*.slice");
	assert_int_equal(set(&q, QUERY_UNIT, "ssh,cron*"), 0);
	assert_string_equal(q.filter.units, "ssh,cron*");
	query_done(&q);
	assert_null(q.filter.cgroup);
	assert_null(q.filter.units);
}

TEST(several_keys)
{
	struct query q = {};

	assert_int_equal(set(&q, QUERY_GROUP_BY, "user,program"), 0);
	assert_string_equal(q.group->key, "user,name");
	assert_string_equal(q.group->heading, "USER / NAME");
	assert_int_equal(group_key_count(q.group), 2);
	assert_ptr_equal(group_key(q.group, 1), process_field("name"));
	assert_int_equal(q.group->needs, NEEDS_USER | NEEDS_PROGRAM);
	assert_false(group_is_memcg(q.group));
	assert_int_equal(set(&q, QUERY_GROUP_BY, "namespace,pod,container"), 0);
	assert_true(group_is_memcg(q.group));
	assert_int_equal(set(&q, QUERY_GROUP_BY, "unit"), 0);
	assert_ptr_equal(q.group, process_field("unit"));
	assert_int_equal(group_key_count(q.group), 1);
	query_done(&q);
}

#define TEN	  "0123456789"
#define FIFTY	  TEN TEN TEN TEN TEN
#define LONG_NAME FIFTY FIFTY FIFTY FIFTY FIFTY "abcdef" /* 256 bytes */

TEST(bad)
{
	static const struct {
		enum query_word word;
		const char *text, *item, *why;
		int error;
	} bad[] = {
		{QUERY_GROUP_BY, "pid", NULL,
		 "must be one of none, name, app, cmdline, user, unit, container, pod, namespace, cgroup",
		 -EINVAL},
		{QUERY_GROUP_BY, "NAME", NULL,
		 "must be one of none, name, app, cmdline, user, unit, container, pod, namespace, cgroup",
		 -EINVAL},
		{QUERY_GROUP_BY, "user,pid", "pid",
		 "must be one of name, app, cmdline, user, unit, container, pod, namespace, cgroup",
		 -EINVAL},
		{QUERY_GROUP_BY, "user,none", "none",
		 "must be one of name, app, cmdline, user, unit, container, pod, namespace, cgroup",
		 -EINVAL},
		{QUERY_GROUP_BY, "user,", "",
		 "must be one of name, app, cmdline, user, unit, container, pod, namespace, cgroup",
		 -EINVAL},
		{QUERY_GROUP_BY, "name,program", "program", "it is there twice", -EINVAL},
		{QUERY_GROUP_BY, "name,user,unit,pod,cgroup", "cgroup", "there are at most 4 keys",
		 -EINVAL},
		{QUERY_SORT, "rss,tall,pss", "tall", "there is no such column", -EINVAL},
		{QUERY_REVERSE, "yes", NULL, "must be 0 or 1", -EINVAL},
		{QUERY_TOP, "0", NULL, "not a number from 1 to 1000000000", -EINVAL},
		{QUERY_TOP, "1000000001", NULL, "not a number from 1 to 1000000000", -EINVAL},
		{QUERY_MIN, "1.5X", NULL, "not a size, such as 100M or 1.5G", -EINVAL},
		{QUERY_PID, "1,x,3", "x", "not a process number", -EINVAL},
		{QUERY_PID, "0", "0", "not a process number", -EINVAL},
		{QUERY_PID, "2147483648", "2147483648", "not a process number", -EINVAL},
		{QUERY_PID, ",", NULL, "no process number in it", -EINVAL},
		{QUERY_USER, ",", NULL, "no user in it", -EINVAL},
		{QUERY_USER, "nobody,here", NULL, "no process is of any of them", -ENOENT},
		{QUERY_FILTER, "(", "(", NULL, -EINVAL},
		{QUERY_CGROUP, "", NULL, "no pattern in it", -EINVAL},
		{QUERY_UNIT, "", NULL, "no unit in it", -EINVAL},
		{QUERY_UNIT, ",", NULL, "no unit in it", -EINVAL},
		{QUERY_UNIT, "a," LONG_NAME, LONG_NAME, "no unit has a name that long", -EINVAL},
	};

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct query q = {}, untouched = {};
		struct query_error error = {};

		assert_int_equal(query_set(&q, bad[i].word, bad[i].text, &users, &error),
				 bad[i].error);
		assert_memory_equal(&q, &untouched, sizeof(q));
		assert_non_null(error.why);
		if (bad[i].why)
			assert_string_equal(error.why, bad[i].why);
		assert_int_equal(error.item != NULL, bad[i].item != NULL);
		if (bad[i].item) {
			assert_int_equal(error.item_len, strlen(bad[i].item));
			assert_memory_equal(error.item, bad[i].item, error.item_len);
		}
	}
}

/* A prompt sets words repeatedly. */
TEST(again)
{
	struct query q = {};
	const struct pattern *pattern;
	uint64_t key, empty = query_filter_key(&q);

	assert_int_equal(set(&q, QUERY_FILTER, "a"), 0);
	assert_int_equal(set(&q, QUERY_USER, "anna"), 0);
	pattern = q.filter.pattern;
	key = query_filter_key(&q);
	assert_int_not_equal(key, empty);
	assert_int_equal(set(&q, QUERY_FILTER, "a("), -EINVAL);
	assert_int_equal(set(&q, QUERY_USER, "nobody"), -ENOENT);
	assert_ptr_equal(q.filter.pattern, pattern);
	assert_int_equal(q.filter.uid_count, 1);
	assert_int_equal(query_filter_key(&q), key);
	assert_int_equal(set(&q, QUERY_FILTER, "b"), 0);
	assert_int_not_equal(query_filter_key(&q), key);
	assert_int_equal(set(&q, QUERY_FILTER, "a"), 0);
	assert_int_equal(query_filter_key(&q), key);
	/* An order is not a filter. */
	assert_int_equal(set(&q, QUERY_SORT, "rss"), 0);
	assert_int_equal(query_filter_key(&q), key);
	assert_int_equal(set(&q, QUERY_FILTER, ""), 0);
	assert_int_equal(set(&q, QUERY_USER, ""), 0);
	assert_null(q.filter.pattern);
	assert_null(q.filter.uids);
	assert_int_equal(query_filter_key(&q), empty);
	query_done(&q);
}

/* A user is given as it is printed, also in CSV. */
TEST(user_names)
{
	static const struct {
		const char *text, *missing;
		size_t count;
		uid_t uid[2];
	} cases[] = {
		{"DOM\\x user", "", 1, {1002}},
		{" 7 ,DOM\\x user , bert", "", 3, {7, 1001}},
		{"\"DOM\\x user\",anna", "", 2, {1000, 1002}},
		{"\"q,r\"", "", 1, {1003}},
		{"\"q,r\" , \"7\"", "", 2, {7, 1003}},
		{"q,r,7", "[q][r]", 1, {7}},
		/* A list with blanks, unless there is a user of that name. */
		{"7 bert", "", 2, {7, 1001}},
		{"anna bert", "", 1, {1004}},
		{"anna  nobody here\t7", "[nobody][here]", 2, {7, 1000}},
		{"\"anna nobody\",7", "[anna nobody]", 1, {7}},
		{"\"anna,7", "[\"anna]", 1, {7}},
		{"anna\nbert", "", 2, {1000, 1001}},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct query q = {};

		*missing = '\0';
		assert_int_equal(set(&q, QUERY_USER, cases[i].text), 0);
		assert_string_equal(missing, cases[i].missing);
		assert_int_equal(q.filter.uid_count, cases[i].count);
		for (size_t k = 0; k < 2 && k < cases[i].count; k++)
			assert_int_equal(q.filter.uids[k], cases[i].uid[k]);
		query_done(&q);
	}
}
