// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Query strings, addresses and hosts of serve: accepted, or refused with one line. */
#include <errno.h>

#include "base/clock.h"
#include "fuzz.h"
#include "query/pattern.h"
#include "serve/listen.h"
#include "serve/request_headers.h"
#include "serve/selection.h"

#define CPU_MAX_NS 5000000000 /* with sanitizers, and far less without */

/* Matching costs at most one step for each byte of the text and part of the pattern. */
static void check_cost(struct pattern *p)
{
	char name[255] = "";
	uint64_t steps = 0;

	for (unsigned kind = 1; kind <= 3; kind++) {
		for (size_t i = 0; i < sizeof(name) - 1; i++)
			name[i] = "ab"[kind == 3 ? i * i / 7 % 2 : kind - 1];
		pattern_begin(p);
		FUZZ_CHECK(pattern_match(p, name) >= 0);
		steps = pattern_steps(p);
		FUZZ_CHECK(steps && steps <= (uint64_t)sizeof(name) * (PATTERN_PARTS_MAX + 1));
	}
}

static void check_query(const char *text, bool cmdlines)
{
	struct http_query q;
	uint64_t start = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	int r = http_query_parse(&q, text, cmdlines);

	FUZZ_CHECK(r == 0 || r == -EINVAL);
	if (r < 0) {
		FUZZ_CHECK(*q.error && strlen(q.error) < sizeof(q.error));
		FUZZ_CHECK(!strpbrk(q.error, "\r\n"));
	} else {
		struct snapshot s = {};

		FUZZ_CHECK(q.query.order.keys.count && q.query.filter.pid_count <= QUERY_IDS_MAX);
		FUZZ_CHECK(!q.query.group || q.query.group->group);
		FUZZ_CHECK(cmdlines || !(field_list_needs(&q.query.order.keys) & NEEDS_CMDLINE));
		for (size_t i = 1; i < q.query.filter.pid_count; i++)
			FUZZ_CHECK(q.query.filter.pids[i - 1] <= q.query.filter.pids[i]);
		if (q.query.filter.pattern)
			check_cost(q.query.filter.pattern);
		/* A snapshot without processes. */
		r = http_query_resolve(&q, &s);
		FUZZ_CHECK(r == (q.query.filter.pids ? -ESRCH : q.users ? -ENOENT : 0));
	}
	http_query_done(&q);
	FUZZ_CHECK(clock_ns(CLOCK_PROCESS_CPUTIME_ID) - start < CPU_MAX_NS);
}

static void check_address(const char *text, size_t len)
{
	struct listen_address a;

	if (listen_address_parse(text, len, &a))
		return;
	FUZZ_CHECK(!*a.path == (*a.port != 0));
	FUZZ_CHECK(strlen(a.host) < sizeof(a.host) && strlen(a.path) < sizeof(a.path));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_string(data, size);

	/* The maximum length of a request. */
	if (size <= 2048) {
		check_query(text, false);
		check_query(text, true);
	}
	check_address(text, strlen(text));
	host_is_own(text, NULL);
	FUZZ_CHECK(!host_is_own(text, NULL) || host_is_own(text, "a.example"));
	free(text);
	return 0;
}
