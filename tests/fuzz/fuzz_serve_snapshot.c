// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Random bytes in place of the collector's snapshot: if they decode, every view can be shown. */
#include <errno.h>

#include "fuzz.h"
#include "model/snapshot_codec.h"
#include "serve/selection.h"
#include "serve/history_ring.h"
#include "report/report.h"

static void show(struct snapshot *snapshot, const char *words)
{
	struct http_query q;
	struct selection v = {};
	struct strbuf out = {0};

	FUZZ_CHECK(http_query_parse(&q, words, true) == 0);
	FUZZ_CHECK(selection_query(&v, snapshot, &q.query) == 0);
	FUZZ_CHECK(v.result.row_count + v.result.others_count <= snapshot->count);
	render_json(&out, &v.result);
	FUZZ_CHECK(strbuf_error(&out) == 0);
	strbuf_done(&out);
	selection_done(&v);
	http_query_done(&q);
}

static void show_metrics(struct snapshot *snapshot)
{
	struct history_ring *h = calloc(1, sizeof(*h));
	struct strbuf out = {0};
	struct group_tracker t;
	struct kill_log kills;
	struct selection v = {};

	FUZZ_CHECK(h && group_tracker_init(&t, 3, 1) == 0);
	FUZZ_CHECK(kill_log_init(&kills, selection_group(NULL), 3) == 0);
	for (uint64_t now = 1; now < 3; now++) {
		FUZZ_CHECK(selection_metrics(&v, snapshot, NULL, &t, now) == 0);
		FUZZ_CHECK(v.result.row_count <= 3 && t.groups.count <= t.groups.size);
		history_ring_add(h, &v.result);
		render_metrics(&out, &v.result, false, true, NULL);
		selection_done(&v);
	}
	history_ring_json(h, &kills, "", false, &out);
	FUZZ_CHECK(strbuf_error(&out) == 0);
	strbuf_done(&out);
	group_tracker_done(&t);
	kill_log_done(&kills);
	free(h);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct snapshot snapshot = {};
	int r = snapshot_decode(data, size, NULL, NULL, &snapshot);

	if (r < 0) {
		FUZZ_CHECK(r == -EBADMSG || r == -ENOTSUP);
	} else {
		show(&snapshot, "");
		show(&snapshot, "group_by=unit&sort=%25limit,name");
		show(&snapshot, "group_by=cgroup&top=1&min=1");
		show_metrics(&snapshot);
	}
	snapshot_done(&snapshot);
	return 0;
}
