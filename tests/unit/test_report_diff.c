// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The changes between two snapshots in each format. */
#include "golden.h"
#include "sample.h"

#include "query/group.h"
#include "report/diff.h"

#define COUNTERS COUNTER_BIT(COUNTER_PSS_SWAP)

struct fixture {
	struct group_keys keys;
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

/* The column of that name, or two of them. */
static const struct field *group_of(struct fixture *f, const char *key)
{
	const struct field *const several[] = {process_field("user"), process_field("name")};

	if (!key || strcmp(key, "user,name") != 0)
		return key ? process_field(key) : NULL;
	group_keys_set(&f->keys, several, 2);
	return &f->keys.joined;
}

static void join(struct fixture *f, struct sample *s)
{
	cleanup(process_list_done) struct process_list all = {};

	assert_int_equal(process_list_reserve(&all, s->snapshot.count), 0);
	for (size_t i = 0; i < s->snapshot.count; i++)
		all.item[all.count++] = &s->snapshot.process[i];
	assert_int_equal(group_join(f->report.group, &all, &s->snapshot.arena), 0);
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
		.group = group_of(f, key),
		.key = "pss_swap",
		.what = "PSS and swap",
		.changes = &f->changes,
	};
	if (f->keys.count) {
		f->after.snapshot.process[1].user = NULL;
		f->after.snapshot.process[1].uid = 4711;
	}
	join(f, &f->before);
	join(f, &f->after);
	assert_int_equal(
		group_changes_make(&sides[0], &sides[1], f->report.group, COUNTERS, &f->changes),
		0);
	group_changes_by_amount(&f->changes);
	f->report.shown = f->changes.count;
	if (!key)
		return;
	sample_census(&f->before);
	sample_census(&f->after);
	f->after.ram.figure[RAM_SLAB].bytes += 3 * GIB;
	f->after.ram.figure[RAM_FREE].bytes -= 3 * GIB - MIB;
	f->after.ram.figure[RAM_UNNAMED].bytes -= MIB;
	ram_changes_make(&f->before.ram, &f->after.ram, &f->report.ram);
}

TEST(formats)
{
	static const struct {
		const char *key, *json, *ndjson, *csv, *table;
	} is[] = {{NULL, "diff_processes.json", "diff_processes.ndjson.txt",
		   "diff_processes.csv.txt", "diff_processes.txt"},
		  {"unit", "diff_groups.json", "diff_groups.ndjson.txt", "diff_groups.csv.txt",
		   "diff_groups.txt"},
		  {"user,name", "diff_keys.json", "diff_keys.ndjson.txt", "diff_keys.csv.txt",
		   "diff_keys.txt"}};
	const struct table_style style = {.header = true};

	for (size_t i = 0; i < ARRAY_SIZE(is); i++) {
		struct fixture f = {};

		fixture_open(&f, is[i].key);
		golden_json(is[i].json, render_diff_json, &f.report);
		golden_render(is[i].ndjson, render_diff_ndjson, &f.report);
		golden_render(is[i].csv, render_diff_csv, &f.report, &style);
		/* The rows that did not change, and those that are not known, are summed. */
		f.report.shown = 3 < f.changes.count ? 3 : f.changes.count;
		f.report.small = f.changes.count > 3;
		golden_render(is[i].table, render_diff_table, &f.report, &style);
		group_changes_done(&f.changes);
		arena_done(&f.before.snapshot.arena);
		arena_done(&f.after.snapshot.arena);
	}
}
