// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Untrusted input of serve: addresses, hosts, tokens, queries. And which connection is closed. */
#include "golden.h"
#include "sample.h"

#include "query/pattern.h"
#include "serve/listen.h"
#include "serve/request_headers.h"
#include "serve/selection.h"
#include "serve/connections.h"

TEST(addresses)
{
	static const struct {
		const char *text, *host, *port, *path;
	} good[] = {
		{"127.0.0.1:9", "127.0.0.1", "9", ""}, {":19647", "", "19647", ""},
		{"[::1]:65535", "::1", "65535", ""},   {"host.example:0", "host.example", "0", ""},
		{"unix:/run/z:1", "", "", "/run/z:1"}, {"[127.0.0.1]:9", "127.0.0.1", "9", ""},
	};
	static const char *const bad[] = {
		"",	"localhost", "1.2.3.4:",     "1.2.3.4:65536", "::1:80",
		"[]:1", "x:-1",	     "x:1x",	     "unix:",	      "unix:relative",
		"x: 1", "[::1]",     "x:0000000001",
	};
	struct listen_address a;
	char longest[512];

	for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
		assert_null(listen_address_parse(good[i].text, strlen(good[i].text), &a));
		assert_string_equal(a.host, good[i].host);
		assert_string_equal(a.port, good[i].port);
		assert_string_equal(a.path, good[i].path);
	}
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		if (!listen_address_parse(bad[i], strlen(bad[i]), &a))
			fail_msg("taken: %s", bad[i]);
	}
	memset(longest, 'a', sizeof(longest));
	memcpy(longest, "unix:/", 6);
	assert_null(listen_address_parse(longest, 5 + 107, &a));
	assert_non_null(listen_address_parse(longest, 5 + 108, &a));
	memcpy(longest, "aaaaaa", 6);
	memcpy(longest + 255, ":1", 2);
	assert_null(listen_address_parse(longest, 257, &a));
	memcpy(longest + 255, "a:1", 3);
	assert_non_null(listen_address_parse(longest, 258, &a));
}

TEST(hosts)
{
	static const char *const good[] = {"localhost", "LOCALHOST:80", "127.0.0.1:19647",
					   "[::1]:1",	"10.0.0.1",	"[::1]"};
	static const char *const bad[] = {"evil.example",
					  "evil.example:19647",
					  "",
					  "localhost.evil.example",
					  "127.0.0.1.evil.example",
					  "box.example.evil.example",
					  "box",
					  "evil.box.example",
					  "[evil]",
					  "127.1"};

	static const char *const named[] = {"box.example", "BOX.example:80", "box.example:"};

	assert_true(host_is_own(NULL, NULL));
	for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
		assert_true(host_is_own(good[i], NULL));
		assert_true(host_is_own(good[i], "box.example"));
	}
	for (size_t i = 0; i < ARRAY_SIZE(named); i++) {
		assert_false(host_is_own(named[i], NULL));
		assert_true(host_is_own(named[i], "Box.Example"));
	}
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		if (host_is_own(bad[i], NULL) || host_is_own(bad[i], "box.example"))
			fail_msg("taken: %s", bad[i]);
	}
}

TEST(foreign)
{
	static const struct {
		const char *host, *origin, *site;
		bool foreign;
	} asks[] = {
		{"localhost:1", NULL, NULL, false},
		{"localhost:1", NULL, "none", false},
		{"localhost:1", NULL, "same-origin", false},
		{"localhost:1", "http://localhost:1", "same-origin", false},
		{"localhost:1", "http://localhost:1", NULL, false},
		{"localhost", "https://localhost", NULL, false},
		{"localhost:1", NULL, "same-site", true},
		{"localhost:1", NULL, "cross-site", true},
		{"localhost:1", NULL, "", true},
		{"localhost:1", NULL, "of-the-future", true},
		{"localhost:1", "http://localhost:1", "cross-site", true},
		{"localhost:1", "http://localhost:2", NULL, true},
		{"localhost:1", "http://localhost:12", "none", true},
		{"localhost:1", "http://evil.example", "same-origin", true},
		{"localhost:1", "null", NULL, true},
		{"localhost:1", "", NULL, true},
		{"null", "ftp://null", NULL, true},
		{NULL, "http://", NULL, true},
	};

	for (size_t i = 0; i < ARRAY_SIZE(asks); i++) {
		if (host_is_foreign(asks[i].host, asks[i].origin, asks[i].site) != asks[i].foreign)
			fail_msg("%zu: %s", i, asks[i].foreign ? "is ours" : "is foreign");
	}
}

TEST(tokens)
{
	static const char *const good[] = {"Bearer secret", "bearer  secret", "Bearer secret \t"};
	static const char *const bad[] = {NULL,
					  "",
					  "Bearer ",
					  "Bearer secre",
					  "Bearer secrets",
					  "Bearer secre t",
					  "Bearer secretsecret",
					  "Basic secret",
					  "Bearersecret"};
	const struct token t = {"secret", 6}, none = {};

	assert_true(token_fits(&none, NULL));
	assert_true(token_fits(&none, "Bearer x"));
	for (size_t i = 0; i < ARRAY_SIZE(good); i++)
		assert_true(token_fits(&t, good[i]));
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_false(token_fits(&t, bad[i]));
}

/* ---- queries ---- */

TEST(good_queries)
{
	struct http_query q;

	assert_int_equal(http_query_parse(&q, "", false), 0);
	assert_string_equal(q.query.order.keys.item[0]->key, "pss");
	assert_null(q.query.group);
	assert_true(!q.query.filter.pids && !q.query.filter.pattern && !q.query.filter.cgroup);
	http_query_done(&q);
	assert_int_equal(http_query_parse(&q, "top=5&min=1.5X&&pid=7,3", false), -EINVAL);
	assert_string_equal(q.error, "min: not a size, such as 100M or 1.5G");
	http_query_done(&q);
	assert_int_equal(
		http_query_parse(&q,
				 "group_by=unit&sort=rss%2Cname&reverse&top=5&min=1.5M&&pid=7,3"
				 "&filter=^a%2Bb+c$&cgroup=*.slice&unit=ssh,x*&user=root",
				 false),
		0);
	assert_string_equal(q.query.group->key, "unit");
	assert_int_equal(q.query.order.keys.count, 2);
	assert_true(q.query.order.reverse);
	assert_int_equal(q.query.top, 5);
	assert_int_equal(q.query.min, 3 << 19);
	assert_int_equal(q.query.filter.pid_count, 2);
	assert_int_equal(q.query.filter.pids[0], 3);
	assert_string_equal(q.query.filter.cgroup, "*.slice");
	assert_string_equal(q.query.filter.units, "ssh,x*");
	assert_int_equal(pattern_match(q.query.filter.pattern, "aab c"), 1);
	assert_int_equal(pattern_match(q.query.filter.pattern, "xaab c"), 0);
	http_query_done(&q);
	assert_int_equal(http_query_parse(&q, "sort=%25limit&group_by=unit", true), 0);
	http_query_done(&q);
	assert_int_equal(http_query_parse(&q, "unit=a%5cx2db.scope&cgroup=a\\x2db.scope", false),
			 0);
	assert_true(filter_matches_unit(q.query.filter.units, "a\\x2db.scope"));
	assert_true(filter_matches_cgroup(q.query.filter.cgroup, "/m.slice/a\\x2db.scope"));
	http_query_done(&q);
	assert_int_equal(http_query_parse(&q, "group_by=cmdline&sort=cmdline", true), 0);
	http_query_done(&q);
}

/* Words, escapes and one value of each word; test_query_parse.c has the other values. */
TEST(bad_queries)
{
	static const char *const bad[] = {
		"x",
		"top=0",
		"top=1&top=2",
		"pid=0",
		"sort=%2Bpss",
		"group_by=cmdline",
		"sort=cmdline",
		"reverse=yes",
		"filter=(",
		"filter=%00",
		"filter=%0",
		"filter=%zz",
		"%74op=1&top=1",
		"sort=mem_current",
		"sort=%25limit&group_by=name",
	};

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct http_query q;

		if (http_query_parse(&q, bad[i], false) != -EINVAL)
			fail_msg("taken: %s", bad[i]);
		if (!*q.error || strchr(q.error, '\n'))
			fail_msg("%s: not a line: %s", bad[i], q.error);
		http_query_done(&q);
	}
}

SAMPLE_TEST(resolving, sample_init)
{
	static const struct {
		const char *query;
		int error;
		size_t uids;
	} is[] = {{"user=anna,1001,nobody-there", 0, 2},
		  {"user=7", -ENOENT, 0},
		  {"pid=6,99", 0, 0},
		  {"pid=99", -ESRCH, 0}};

	sample_add(s, 5, 1000, "anna", "a");
	sample_add(s, 6, 1001, NULL, "b");
	for (size_t i = 0; i < ARRAY_SIZE(is); i++) {
		struct http_query q;

		assert_int_equal(http_query_parse(&q, is[i].query, false), 0);
		assert_int_equal(http_query_resolve(&q, &s->snapshot), is[i].error);
		assert_int_equal(q.query.filter.uid_count, is[i].uids);
		http_query_done(&q);
	}
}

/* ---- connections ---- */

#define SECOND 1000000

TEST(room)
{
	static struct connections s;

	/* One source has nearly all connections, another two. */
	for (int i = 0; i < CONNECTIONS_MAX; i++)
		assert_non_null(connections_add(&s, i, i < 2 ? 1 : 2, (uint64_t)i + 1));
	assert_true(connections_full(&s));
	assert_null(connections_add(&s, 999, 3, 1));
	assert_int_equal(connections_victim(&s)->fd, 2);
	/* A connection that waits for a snapshot stays. */
	slot_set(connections_find(&s, 2), SLOT_WAIT, 1);
	assert_int_equal(connections_victim(&s)->fd, 3);
	slot_set(connections_find(&s, 3), SLOT_LEAVING, 1);
	slot_set(connections_find(&s, 3), SLOT_ANSWER, 1);
	assert_int_equal(connections_find(&s, 3)->state, SLOT_LEAVING);
	/* Its slot will be free: no other connection has to go. */
	assert_null(connections_victim(&s));
	slot_set(connections_find(&s, 3), SLOT_FREE, 1);
	assert_int_equal(connections_used(&s), CONNECTIONS_MAX - 1);
	assert_false(connections_full(&s));
	assert_non_null(connections_add(&s, 999, 3, 500));
	for (int i = 0; i < CONNECTIONS_MAX; i++)
		s.slot[i].state = SLOT_WAIT;
	assert_null(connections_victim(&s));
	/* The descriptors do not suffice for all slots. */
	s = (struct connections){.closed = CONNECTIONS_MAX - 1};
	assert_non_null(connections_add(&s, 1, 1, 1));
	assert_null(connections_add(&s, 2, 2, 2));
	assert_int_equal(connections_victim(&s)->fd, 1);
}

TEST(time)
{
	static struct connections s;
	struct slot *slot = connections_add(&s, 4, 1, 5 * SECOND);

	assert_null(connections_overdue(&s, 15 * SECOND));
	assert_ptr_equal(connections_overdue(&s, 15 * SECOND + 1), slot);
	slot_set(slot, SLOT_IDLE, 16 * SECOND);
	assert_null(connections_overdue(&s, 76 * SECOND));
	assert_ptr_equal(connections_overdue(&s, 92 * SECOND), slot);
	slot_set(slot, SLOT_WAIT, 16 * SECOND);
	assert_null(connections_overdue(&s, 1000 * (uint64_t)SECOND));
}

TEST(accept)
{
	static const struct {
		const char *header;
		bool open_metrics;
	} is[] = {
		{NULL, false},
		{"application/openmetrics-text", true},
		{"APPLICATION/OpenMetrics-Text", true},
		{"application/openmetrics-text; version=1.0.0; charset=utf-8", true},
		{"application/openmetrics-text;version=1.0.0,text/plain;q=0.5", true},
		{"application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.4,*/*;q=0.1",
		 true},
		{"text/plain;q=0.5 , application/openmetrics-text;q=0.5", true},
		{"text/plain;q=0.299, application/openmetrics-text ;q=0.3", true},
		{",, application/openmetrics-text;q=1.0", true},
		{"", false},
		{",", false},
		{";", false},
		{"*/*", false},
		{"text/plain", false},
		{"application/openmetrics-text;q=0", false},
		{"application/openmetrics-text;q=0.000", false},
		{"application/openmetrics-texture", false},
		{"x-application/openmetrics-text", false},
		{"text/html;profile=application/openmetrics-text", false},
		{"text/plain;version=0.0.4;q=0.9, application/openmetrics-text;version=1.0.0;q=0.1",
		 false},
		{"text/plain, application/openmetrics-text;q=0.999", false},
	};

	for (size_t i = 0; i < ARRAY_SIZE(is); i++) {
		if (accept_open_metrics(is[i].header) != is[i].open_metrics)
			fail_msg("'%s'", is[i].header);
	}
}
