// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* NDJSON lines fit PIPE_BUF, and texts are cut no more than that needs. */
#include "golden.h"
#include "harmless.h"
#include "sample.h"

#include "base/utf8.h"
#include "write/text.h"
#include "report/report.h"
#include "query/delta_tracker.h"
#include "write/text.h"
#include "report/report.h"

/* The longest texts, of characters with the longest escapes, and the largest values. */
static void make_longest(struct sample *s, struct strbuf *text, char c)
{
	struct process *p;

	strbuf_fill(text, c, 2000);
	strbuf_puts(text, "\xff");
	sample_init(s);
	p = sample_add(s, 4194304, 4294967294, strbuf_str(text), strbuf_str(text));
	p->ppid = 4194304;
	p->cmdline = p->cgroup = p->unit = p->container = p->name;
	p->start_ns = 0;
	p->threads = UINT32_MAX;
	p->oom_score_adj = -1000;
	p->mm_id = UINT32_MAX;
	p->pss_status = PSS_KERNEL_THREAD;
	p->pss_source = PSS_FROM_ROLLUP;
	for (int i = 0; i < COUNTERS_OF_PROCESS; i++)
		process_set(p, (enum counter)i, UINT64_C(9007199254740991));
	s->snapshot.host.boot_ms = UINT64_C(9007199254740991);
	s->snapshot.time_ms = INT64_C(9007199254740991);
	memset(s->snapshot.host.name, c, sizeof(s->snapshot.host.name) - 1);
	s->snapshot.fallback_reason = s->snapshot.pss_fallback_reason = p->name;
	s->snapshot.collection.cross_check =
		(struct cross_check){~0u, ~0u, ~0u, ~0u, ~0u, .done = true};
	s->snapshot.system.zram_count = ZRAM_MAX;
	for (size_t i = 0; i < ZRAM_MAX; i++) {
		struct zram_device *z = &s->snapshot.system.zram[i];

		memset(z->name, c, sizeof(z->name) - 1);
		z->stat = (struct zram_stat){INT64_C(9007199254740991), INT64_C(9007199254740991),
					     INT64_C(9007199254740991)};
	}
	s->snapshot.system.pressure = (struct memory_pressure){
		true, UINT32_MAX, UINT32_MAX, INT64_C(9007199254740991), INT64_C(9007199254740991)};
	s->snapshot.system.swapped =
		(struct swap_activity){true, INT64_C(9007199254740991), INT64_C(9007199254740991)};
	sample_finish(s, 1);
}

static void assert_short_lines(const char *text)
{
	while (*text) {
		size_t len = strcspn(text, "\n") + 1;

		assert_true(len < 4096);
		text += len;
	}
}

/* A tick of watch with the longest deltas. */
static void make_deltas(struct sample *s)
{
	static struct row_before before;
	static struct delta delta;

	before = (struct row_before){.have = ~(counter_mask)0};
	delta = (struct delta){.known = true,
			       .from_start = true,
			       .since_ms = INT64_MAX,
			       .counts = {SIZE_MAX, SIZE_MAX, SIZE_MAX},
			       .tick = UINT64_MAX,
			       .missed = UINT64_MAX,
			       .cost = {1ull << 53, 1ull << 53, true}};
	delta.before.have = before.have;
	for (int c = 0; c < COUNTERS_OF_PROCESS; c++)
		before.value[c] = delta.before.value[c] = (1ull << 53) - 1;
	for (size_t i = 0; i < s->snapshot.count; i++)
		s->row[i].before = &before;
	s->result.delta = &delta;
}

TEST(ndjson_bound)
{
	static const char worst[] = {'\xff', '\x01', '"', 'a', '\0'};

	for (size_t i = 0; worst[i]; i++) {
		cleanup(strbuf_done) struct strbuf out = {0}, text = {0};
		struct sample s;

		make_longest(&s, &text, worst[i]);
		make_deltas(&s);
		render_ndjson(&out, &s.result);
		assert_harmless(&out, 2);
		assert_short_lines(strbuf_str(&out));
		assert_non_null(strstr(strbuf_str(&out), "\"cmdline_truncated\":true"));
		assert_non_null(strstr(strbuf_str(&out), "\"zram\":null"));
		s.result.group = process_field("cgroup");
		s.snapshot.process[0].memcg_above = UINT16_MAX;
		strbuf_clear(&out);
		render_ndjson(&out, &s.result);
		assert_harmless(&out, 2);
		assert_short_lines(strbuf_str(&out));
	}
}
