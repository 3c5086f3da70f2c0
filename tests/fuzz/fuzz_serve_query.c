// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What stands behind the '?', addresses and hosts: taken, or one line that says why not. */
#include <errno.h>

#include "fuzz.h"
#include "serve/address.h"
#include "serve/host.h"
#include "serve/http_query.h"

static void check_query(const char *text, bool cmdlines)
{
	struct http_query q;
	int r = http_query_parse(&q, text, cmdlines);

	FUZZ_CHECK(r == 0 || r == -EINVAL);
	if (r < 0) {
		FUZZ_CHECK(*q.error && strlen(q.error) < sizeof(q.error));
		FUZZ_CHECK(!strpbrk(q.error, "\r\n"));
	} else {
		struct snapshot s = {};

		FUZZ_CHECK(q.order.keys.count && q.filter.pid_count <= QUERY_IDS_MAX);
		FUZZ_CHECK(!q.group || group_possible(q.group));
		FUZZ_CHECK(cmdlines || !(column_list_needs(&q.order.keys) & NEEDS_CMDLINE));
		for (size_t i = 1; i < q.filter.pid_count; i++)
			FUZZ_CHECK(q.filter.pids[i - 1] <= q.filter.pids[i]);
		/* Nobody is there. */
		r = http_query_resolve(&q, &s);
		FUZZ_CHECK(r == (q.filter.pids || q.users ? -ENOENT : 0));
	}
	http_query_done(&q);
}

static void check_address(const char *text, size_t len)
{
	struct address a;

	if (address_parse(text, len, &a))
		return;
	FUZZ_CHECK(!*a.path == (*a.port != 0));
	FUZZ_CHECK(strlen(a.host) < sizeof(a.host) && strlen(a.path) < sizeof(a.path));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_string(data, size);

	/* As long as a request may be. */
	if (size <= 2048) {
		check_query(text, false);
		check_query(text, true);
	}
	check_address(text, strlen(text));
	host_is_local(text);
	free(text);
	return 0;
}
