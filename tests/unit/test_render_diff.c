// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The changes between two snapshots in each format. */
#include "golden.h"
#include "sample.h"

#include "render/diff.h"

#define COUNTERS COUNTER_BIT(COUNTER_PSS_SWAP)

struct fixture {
	struct sample before, after;
	struct group_changes changes;
	struct diff_report report;
};

static void add(struct sample *s, pid_t pid, const char *name, uint64_t bytes)
{
	struct process *p = sample_add(s, pid, 0, "root", name);

	sample_counters(p, bytes, 0);
	p->unit = pid < 300 ? "a.service" : NULL;
	if (bytes)
		process_set(p, COUNTER_PSS_SWAP, bytes);
}

static void fixture_open(struct fixture *f, const char *key)
{
	struct change_side sides[2];

	sample_init(&f->before);
	sample_init(&f->after);
	f->before.snapshot.time_ms -= 194000;
	add(&f->before, 100, "grows", 10 * MIB);
	add(&f->before, 200, "ends", 3 * MIB + 5);
	add(&f->before, 300, "same", MIB);
	add(&f->before, 400, "-\x1b[31m\xff", 0);
	add(&f->after, 100, "grows", 4 * GIB);
	add(&f->after, 250, "=begins", 7 * MIB);
	add(&f->after, 300, "same", MIB);
	add(&f->after, 400, "-\x1b[31m\xff", MIB);
	sides[0] = (struct change_side){&f->before.snapshot};
	sides[1] = (struct change_side){&f->after.snapshot};
	f->report = (struct diff_report){
		.before = sides[0].snapshot,
		.after = sides[1].snapshot,
		.group = key ? column_find(key, strlen(key)) : NULL,
		.key = "pss_swap",
		.what = "PSS and swap",
		.changes = &f->changes,
	};
	assert_int_equal(
		group_changes_make(&sides[0], &sides[1], f->report.group, COUNTERS, &f->changes),
		0);
	group_changes_by_amount(&f->changes);
	f->report.shown = f->changes.count;
}

static void check_all(const char *key, const char *name)
{
	static struct fixture f;
	cleanup(strbuf_done) struct strbuf raw = {}, out = {};
	struct table_style style = {.header = true};
	char file[64];

	fixture_open(&f, key);
	render_diff_json(&raw, &f.report);
	golden_neutral(&raw, &out);
	snprintf(file, sizeof(file), "diff_%s.json", name);
	golden_check(file, &out);
	strbuf_clear(&out);
	render_diff_ndjson(&out, &f.report);
	snprintf(file, sizeof(file), "diff_%s.ndjson.txt", name);
	golden_check(file, &out);
	strbuf_clear(&out);
	render_diff_csv(&out, &f.report, &style);
	snprintf(file, sizeof(file), "diff_%s.csv.txt", name);
	golden_check(file, &out);
	strbuf_clear(&out);
	/* The rows that did not change, and those that are not known, are summed. */
	f.report.shown = 3 < f.changes.count ? 3 : f.changes.count;
	f.report.small = f.changes.count > 3;
	render_diff_table(&out, &f.report, &style);
	snprintf(file, sizeof(file), "diff_%s.txt", name);
	golden_check(file, &out);
	group_changes_done(&f.changes);
}

TEST(processes)
{
	check_all(NULL, "processes");
}

TEST(groups)
{
	check_all("unit", "groups");
}
