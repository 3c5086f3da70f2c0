// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The JSON renderer: golden files, hostile strings, limits of strings, large numbers. */
#include "golden.h"
#include "sample.h"

#include "write/json_writer.h"
#include "report/report.h"

/* No process passes the filters; all counts of the collection are set. */
static void make_counts(struct sample *s)
{
	sample_init(s);
	s->result.pss = PSS_FROM_KERNEL;
	s->snapshot.balance.residual_known = true;
	s->snapshot.balance.anon_residual = -4096;
	s->snapshot.balance.mapped_residual = 12288;
	s->snapshot.collection.timeout = 2;
	s->snapshot.collection.raced = 3;
	s->snapshot.collection.not_seen = 2;
	s->snapshot.collection.gone = 4;
	s->snapshot.collection.filtered = 5;
	s->snapshot.collection.cgroups_left_out[MEMCG_BOUND_DEPTH] = 6;
	s->snapshot.collection.cgroups_left_out[MEMCG_BOUND_TIME] = 7;
	s->snapshot.collection.cross_check = (struct cross_check){
		.done = true, .checked = 5, .same = 2, .moved = 1, .different = 1, .gone = 1};
	sample_finish(s, 0);
}

static void make_census(struct sample *s)
{
	make_counts(s);
	sample_census(s);
}

/* The first process has a client in two regions, one that tells nothing, and a buffer. */
static void make_gpus(struct sample *s)
{
	static struct gpu_part part[] = {{.kind = GPU_CLIENT, .driver = "xe", .region = "vram0"},
					 {.kind = GPU_CLIENT, .driver = "xe", .region = "gtt"},
					 {.kind = GPU_CLIENT, .holders = 1},
					 {.kind = GPU_DMABUF, .driver = "system", .has_id = true}};
	static struct gpu_regions sums;

	sample_ordinary(s);
	for (size_t i = 0; i < ARRAY_SIZE(part); i++)
		part[i].pid = s->snapshot.process[0].pid;
	for (size_t i = 0; i < 2; i++) {
		part[i].id = UINT64_C(1) << 53;
		part[i].has_id = part[i].resident_known = part[i].shared_known = true;
		part[i].holders = 2;
		part[i].resident = 3 << i;
		part[i].share = 2 << i;
		part[i].shared = i;
	}
	strcpy(part[0].device, "0000:03:00.0");
	part[3].holders = 1;
	part[3].id = 77;
	part[3].resident_known = true;
	part[3].resident = part[3].share = 4096;
	gpu_sum_regions(part, 0, &sums);
	s->snapshot.gpu = (struct gpu_parts){part, ARRAY_SIZE(part), NULL, &sums};
}

TEST(documents)
{
	static const struct {
		const char *golden;
		void (*make)(struct sample *s);
	} is[] = {
		{"snapshot_ordinary.json", sample_ordinary},
		{"snapshot_groups.json", sample_groups},
		{"snapshot_hostile.json", sample_hostile},
		{"snapshot_bare.json", sample_bare},
		{"snapshot_empty.json", make_counts},
		{"snapshot_census.json", make_census},
		{"snapshot_gpus.json", make_gpus},
	};

	for (size_t i = 0; i < ARRAY_SIZE(is); i++) {
		struct sample s;

		is[i].make(&s);
		golden_json(is[i].golden, render_json, &s.result);
	}
}

/* Renders one process and returns the document. */
static const char *render_one(struct strbuf *out, struct sample *s)
{
	sample_finish(s, s->snapshot.count);
	strbuf_clear(out);
	render_json(out, &s->result);
	return strbuf_str(out);
}

/* A command line of `plain` bytes and `tail`. */
TEST(cmdline_cap)
{
	static const struct {
		size_t plain;
		const char *tail, *want_tail;
		bool cut;
	} is[] = {
		{1024, "", "", false},
		{1024, "b", "", true},
		{1023, "b", "b", false},
		{1023, "bb", "b", true},
		/* Escapes and characters are never split. */
		{1022, "\"", "\\\"", false},
		{1023, "\"", "", true},
		{1018, "\n", "\\u000a", false},
		{1019, "\n", "", true},
		{1021, "\xe6\xbc\xa2", "\xe6\xbc\xa2", false},
		{1022, "\xe6\xbc\xa2", "", true},
		/* Nothing is written after the first character that does not fit. */
		{1022, "\xe6\xbc\xa2z", "", true},
		{1023, "\xff", "", true},
	};

	for (size_t i = 0; i < ARRAY_SIZE(is); i++) {
		cleanup(strbuf_done) struct strbuf out = {0}, line = {0}, want = {0};
		struct sample s;

		strbuf_fill(&line, 'a', is[i].plain);
		strbuf_puts(&line, is[i].tail);
		strbuf_puts(&want, "\"cmdline\":\"");
		strbuf_fill(&want, 'a', is[i].plain);
		strbuf_printf(&want, "%s\",\"cmdline_truncated\":%s,", is[i].want_tail,
			      is[i].cut ? "true" : "false");
		sample_init(&s);
		sample_add(&s, 1, 0, "root", "x")->cmdline = strbuf_str(&line);
		assert_non_null(strstr(render_one(&out, &s), strbuf_str(&want)));
	}
}
