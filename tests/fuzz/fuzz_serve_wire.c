// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What the collector hands over: whatever the bytes are, what is taken writes itself again as it
 * was, and every view of it can be shown.
 */
#include <errno.h>

#include "fuzz.h"
#include "serve/hour.h"
#include "serve/choice.h"
#include "zmem/render.h"

static void show(struct shot *shot, const char *words)
{
	struct http_query q;
	struct choice v = {};
	struct strbuf out = {0};

	FUZZ_CHECK(http_query_parse(&q, words, true) == 0);
	FUZZ_CHECK(choice_query(&v, shot, &q) == 0);
	FUZZ_CHECK(v.result.row_count + v.result.others_count <= shot->snapshot.count);
	render_json(&out, &v.result);
	FUZZ_CHECK(strbuf_error(&out) == 0);
	strbuf_done(&out);
	choice_done(&v);
	http_query_done(&q);
}

static void show_metrics(struct shot *shot)
{
	struct hour *h = calloc(1, sizeof(*h));
	struct strbuf out = {0};
	struct tracked t;
	struct choice v = {};

	FUZZ_CHECK(h && tracked_init(&t, 3, 1) == 0);
	for (uint64_t now = 1; now < 3; now++) {
		FUZZ_CHECK(choice_metrics(&v, shot, NULL, &t, now) == 0);
		FUZZ_CHECK(v.result.row_count <= 3 && t.heavy.count <= t.heavy.size);
		hour_add(h, &v.result);
		render_metrics(&out, &v.result, false, true, NULL);
		choice_done(&v);
	}
	hour_json(h, &out);
	FUZZ_CHECK(strbuf_error(&out) == 0);
	strbuf_done(&out);
	tracked_done(&t);
	free(h);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct strbuf again = {0};
	struct shot shot;
	int r = wire_decode((const char *)data, size, &shot);

	if (r < 0) {
		FUZZ_CHECK(r == -EBADMSG);
		return 0;
	}
	wire_encode(&shot, &again);
	FUZZ_CHECK(strbuf_error(&again) == 0);
	FUZZ_CHECK(again.len == size && memcmp(again.data, data, size) == 0);
	strbuf_done(&again);
	show(&shot, "");
	show(&shot, "group_by=unit&sort=%25limit,name");
	show(&shot, "group_by=cgroup&top=1&min=1");
	show_metrics(&shot);
	shot_done(&shot);
	return 0;
}
