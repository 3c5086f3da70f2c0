// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A snapshot of a series: the line of the tick, columns of changes, the keys of NDJSON. */
#include "golden.h"
#include "sample.h"

#include "report/report.h"
#include "query/delta_tracker.h"
#include "report/report.h"

struct scene {
	struct sample sample;
	struct row_before before[3];
	struct delta delta;
	struct field_list columns;
};

/*
 * The first process grew, the second shrank and had no PSS before, the third is new; the deltas of
 * the others are unknown.
 */
static void scene_init(struct scene *s)
{
	struct snapshot *snap = &s->sample.snapshot;

	*s = (struct scene){0};
	sample_ordinary(&s->sample);
	for (size_t i = 0; i < 3; i++) {
		struct process *p = &snap->process[i];

		s->before[i].have = p->have;
		for (int c = 0; i < 2 && c < COUNTERS_OF_PROCESS; c++)
			s->before[i].value[c] = i ? p->value[c] * 2 + 4096 : p->value[c] / 4;
		s->sample.row[i].before = &s->before[i];
	}
	s->before[1].have &= ~COUNTER_BIT(COUNTER_PSS);
	s->delta = (struct delta){
		.known = true,
		.since_ms = snap->time_ms - 500,
		.before = s->sample.result.totals,
		.counts = {1, 2, 3},
		.tick = 7,
		.missed = 1,
		.cost = {12345, 3 << 20, true},
	};
	s->delta.before.value[COUNTER_PSS] += 123456;
	snap->change_us = 500000;
	s->sample.result.delta = &s->delta;
	process_list_columns(&s->columns, &columns_watch, NULL);
}

static void check(const char *name, struct scene *s, struct table_style style)
{
	cleanup(strbuf_done) struct strbuf out = {0};
	char path[64];

	style.columns = &s->columns;
	render_tick(&out, &s->sample.result, &style);
	render_table(&out, &s->sample.result, &style);
	snprintf(path, sizeof(path), "watch_%s.txt", name);
	golden_check(path, &out);
}

TEST(ticks)
{
	struct scene s;

	scene_init(&s);
	check("last", &s, (struct table_style){.header = true});
	check("bytes", &s, (struct table_style){.header = true, .bytes = true});
	check("color", &s, (struct table_style){.header = true, .color = true, .width = 60});
	check("narrow", &s, (struct table_style){.header = true, .width = 60});
	s.delta.from_start = true;
	s.delta.missed = 2;
	s.sample.snapshot.change_us = 0;
	check("start", &s, (struct table_style){.header = true});
	scene_init(&s);
	s.delta = (struct delta){.tick = 1};
	for (size_t i = 0; i < s.sample.snapshot.count; i++)
		s.sample.row[i].before = NULL;
	check("first", &s, (struct table_style){.header = true});
}

TEST(ndjson)
{
	cleanup(strbuf_done) struct strbuf out = {0};
	struct scene s;

	scene_init(&s);
	golden_render("ndjson_watch.txt", render_ndjson, &s.sample.result);
	/* No process is left: the total shrank to 0. */
	s.sample.result.row_count = s.sample.result.others_count = 0;
	s.sample.result.totals = (struct totals){0};
	s.sample.snapshot.change_us = 0;
	render_ndjson(&out, &s.sample.result);
	assert_non_null(strstr(strbuf_str(&out), "\"rss_change_bytes\":-"));
}
