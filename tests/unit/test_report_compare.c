// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Both renderers of a comparison against golden files. */
#include "golden.h"
#include "sample.h"

#include "check/compare.h"
#include "report/report.h"

/*
 * Four processes: one equal, one that moved, one with a hostile name and lagging counters, one
 * hidden.
 */
struct fixture {
	struct sample sample;
	struct process *list[4];
	struct comparison comparison;
	struct compare_report report;
};

#define COUNTERS                                                                                   \
	(COUNTER_BIT(COUNTER_RSS_ANON) | COUNTER_BIT(COUNTER_PSS) | COUNTER_BIT(COUNTER_RSS))

/* Cells are in the order of counters.def: PSS, RSS, RSS_ANON. */
static void set_cell(struct compare_cell *cell, uint64_t bpf, uint64_t before, uint64_t after,
		     enum compare_verdict verdict)
{
	cell->bpf = bpf;
	cell->proc_before = before;
	cell->proc_after = after;
	cell->bpf_known = cell->proc_known = true;
	cell->verdict = (uint8_t)verdict;
	cell->settled = true;
}

static void counter_init(struct fixture *f)
{
	static const char *const name[4] = {"nginx", "postgres", "\x1b[31m\xff", NULL};
	struct compare_row *row;

	*f = (struct fixture){};
	sample_init(&f->sample);
	for (int i = 0; i < 4; i++) {
		f->list[i] = &f->sample.process[i];
		f->list[i]->pid = i == 3 ? 1 : 100 * (i + 1);
		f->list[i]->name = name[i];
		f->list[i]->threads = 1;
	}
	assert_int_equal(comparison_init(&f->comparison, f->list, 4, COUNTERS), 0);
	row = f->comparison.row;
	set_cell(&row[0].cell[0], 5 * MIB + 24, 5 * MIB, 5 * MIB, COMPARE_SAME);
	set_cell(&row[0].cell[1], 8 * MIB, 8 * MIB, 8 * MIB, COMPARE_SAME);
	set_cell(&row[0].cell[2], 3 * MIB, 3 * MIB, 3 * MIB, COMPARE_SAME);
	set_cell(&row[1].cell[0], 40 * MIB, 41 * MIB, 41 * MIB, COMPARE_MOVED);
	set_cell(&row[1].cell[1], GIB, GIB, GIB, COMPARE_SAME);
	set_cell(&row[1].cell[2], 30 * MIB, 28 * MIB, 31 * MIB, COMPARE_MOVED);
	row[2].cell[0].left_out = true;
	set_cell(&row[2].cell[1], MIB, MIB, MIB, COMPARE_SAME);
	set_cell(&row[2].cell[2], 512 * KIB, 496 * KIB, 496 * KIB, COMPARE_APPROXIMATE);
	compare_settle(&row[3], COMPARE_DENIED);
	f->comparison.bound = compare_bound_per_cpu(4, 4096);
	f->comparison.approximate = true;
	f->sample.snapshot.balance.residual_known = true;
	f->sample.snapshot.balance.anon_residual = 10 * MIB;
	f->sample.snapshot.balance.mapped_residual = -4096;
	f->report = (struct compare_report){
		.comparison = &f->comparison,
		.snapshot = &f->sample.snapshot,
		.cost = {.bpf_us = 1234,
			 .proc_us = 45678,
			 .proc_files = 8,
			 .reads_known = true,
			 .bpf_reads = 3,
			 .proc_reads = 16},
	};
}

static void check(const char *json, const char *table, struct fixture *f, struct table_style style)
{
	style.header = true;
	compare_sum(f->report.comparison, &f->report.sums);
	golden_json(json, render_compare_json, &f->report);
	golden_render(table, render_compare_table, &f->report, &style);
}

TEST(reports)
{
	struct comparison none = {};
	struct fixture f;

	counter_init(&f);
	check("compare_ordinary.json", "compare_ordinary.txt", &f, (struct table_style){});
	f.report.all = true;
	check("compare_all.json", "compare_all.txt", &f,
	      (struct table_style){.bytes = true, .color = true});
	/* The balance is unknown, counters lag per thread, and one cell differs. */
	f.report.all = false;
	f.comparison.per_thread = true;
	f.comparison.bound = compare_bound_per_thread(4096);
	f.comparison.row[0].cell[1].verdict = COMPARE_DIFFERENT;
	f.comparison.row[0].cell[1].bpf += 4096;
	f.report.cost.reads_known = false;
	f.sample.snapshot.balance.residual_known = false;
	f.sample.snapshot.balance.swap_unattributed_known = false;
	check("compare_different.json", "compare_different.txt", &f,
	      (struct table_style){.width = 80});
	comparison_done(&f.comparison);
	/* Nothing was compared. */
	counter_init(&f);
	comparison_done(&f.comparison);
	f.report.comparison = &none;
	f.report.all = true;
	check("compare_empty.json", "compare_empty.txt", &f, (struct table_style){});
}
