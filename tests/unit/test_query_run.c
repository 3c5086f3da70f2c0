// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* From a snapshot to rows: all steps of a query, and the values that each step needs. */
#include "unit.h"

#include "query/delta_tracker.h"
#include "query/query_parse.h"
#include "query/result.h"

/* The last two steps. */
static int query_run(struct snapshot *s, struct query_rows *rows, const struct query *q,
		     struct result *ret)
{
	int r = query_group(s, q, rows);

	if (r == 0)
		query_show(s, q, rows, false, ret);
	return r;
}

#define MIB UINT64_C(1048576)

struct fixture {
	struct snapshot snapshot;
	struct query query;
	struct query_rows rows;
	struct result result;
};

static void add(struct fixture *f, pid_t pid, const char *name, uint64_t pss)
{
	struct process *p = snapshot_add(&f->snapshot);

	assert_non_null(p);
	p->pid = pid;
	p->name = name;
	p->kind = PROCESS_USER;
	p->pss_source = PSS_FROM_KERNEL;
	p->start_ns = (uint64_t)pid;
	p->threads = 1;
	p->mm_key = (uint64_t)pid;
	process_set(p, COUNTER_PSS, pss);
	process_set(p, COUNTER_RSS, pss);
	process_set(p, COUNTER_SWAP_PSS, 0);
	process_derive(p);
}

/* cat 1 MiB, cat 5 MiB, dog 4 MiB, its parent eel 2 MiB */
static void fill(struct fixture *f, uint64_t grown)
{
	snapshot_clear(&f->snapshot);
	add(f, 1, "cat", MIB);
	add(f, 2, "cat", 5 * MIB);
	add(f, 3, "dog", 4 * MIB);
	add(f, 4, "eel", 2 * MIB + grown);
	f->snapshot.process[2].ppid = 4;
	f->snapshot.process[2].start_ns = 5;
	snapshot_finish(&f->snapshot);
	f->snapshot.collection.seen = 4;
	f->snapshot.collection.complete = true;
}

static void set(struct fixture *f, enum query_word word, const char *text)
{
	struct query_error error;

	assert_int_equal(query_set(&f->query, word, text, NULL, &error), 0);
}

static void run(struct fixture *f)
{
	assert_int_equal(query_select_ids(&f->snapshot, &f->query, &f->rows), 0);
	assert_int_equal(query_select_text(&f->snapshot, &f->query, &f->rows), 0);
	assert_int_equal(query_run(&f->snapshot, &f->rows, &f->query, &f->result), 0);
}

/* The pids of the rows, "2 3"; 0 for a group. */
static void assert_rows(const struct fixture *f, const char *want, size_t others)
{
	char got[64] = "";

	for (size_t i = 0; i < f->result.row_count; i++)
		sprintf(got + strlen(got), "%s%d", i ? " " : "", f->result.rows[i].process->pid);
	assert_string_equal(got, want);
	assert_int_equal(f->result.others_count, others);
}

static void begin(struct fixture *f)
{
	fill(f, 0);
	set(f, QUERY_SORT, "pss");
}

static void end(struct fixture *f)
{
	query_done(&f->query);
	query_rows_done(&f->rows);
	snapshot_done(&f->snapshot);
}

FIXTURE(begin, end)

FIXTURE_TEST(processes)
{
	set(f, QUERY_FILTER, "cat|dog");
	f->query.fit = 2;
	run(f);
	assert_rows(f, "2 3", 1);
	assert_int_equal(f->result.totals.value[COUNTER_PSS], 10 * MIB);
	assert_int_equal(f->snapshot.collection.filtered, 1);
	assert_int_equal(f->snapshot.collection.reported, 2);
	/* --top is used even if more rows fit. */
	f->query.top = 3;
	run(f);
	assert_rows(f, "2 3 1", 0);
	f->query.total = true;
	run(f);
	assert_rows(f, "", 3);
	assert_int_equal(f->result.others.value[COUNTER_PSS], 10 * MIB);
}

FIXTURE_TEST(groups)
{
	set(f, QUERY_GROUP_BY, "name");
	set(f, QUERY_MIN, "3M");
	run(f);
	assert_int_equal(f->rows.all.count, 3);
	assert_int_equal(f->result.row_count, 2);
	assert_string_equal(f->result.rows[0].process->name, "cat");
	assert_int_equal(f->result.rows[0].process->value[COUNTER_PSS], 6 * MIB);
	/* Rows that --min hides are not in the totals. */
	assert_int_equal(f->result.totals.value[COUNTER_PSS], 10 * MIB);
}

FIXTURE_TEST(needs)
{
	struct query_needs n;

	f->query.needs = NEEDS_USER | NEEDS_MEMCG;
	f->query.top = 2;
	query_needs(&f->query, &n);
	assert_int_equal(n.filter | n.group | n.order, 0);
	assert_int_equal(n.shown, NEEDS_USER | NEEDS_MEMCG);
	assert_int_equal(query_certain(&f->query), 2);
	set(f, QUERY_FILTER, "x");
	set(f, QUERY_CGROUP, "y");
	query_needs(&f->query, &n);
	assert_int_equal(n.filter, NEEDS_CMDLINE | NEEDS_PROGRAM | NEEDS_CGROUP);
	set(f, QUERY_GROUP_BY, "unit");
	set(f, QUERY_SORT, "mem_current");
	query_needs(&f->query, &n);
	assert_int_equal(n.group & (NEEDS_CGROUP | NEEDS_USER), NEEDS_CGROUP | NEEDS_USER);
	assert_int_equal(n.order, NEEDS_MEMCG);
	assert_int_equal(n.shown, NEEDS_MEMCG);
	assert_int_equal(query_certain(&f->query), 0);
	set(f, QUERY_GROUP_BY, "none");
	f->query.tree = true;
	query_needs(&f->query, &n);
	assert_int_equal(n.group & NEEDS_USER, NEEDS_USER);
	assert_int_equal(n.shown, 0);
	f->query.tree = false;
	f->query.only_changed = true;
	assert_int_equal(query_certain(&f->query), 0);
}

/* ---- earlier rows ---- */

static void tick(struct fixture *f, struct delta_set *set, uint64_t grown, bool from_start)
{
	fill(f, grown);
	f->snapshot.time_ms = 1000 + (int64_t)grown;
	delta_set_begin(set, &f->query, from_start);
	run(f);
}

static void keep(struct fixture *f, struct delta_set *set)
{
	assert_int_equal(
		delta_set_update(set, &f->query, &f->snapshot, &f->rows, &f->result.totals), 0);
}

FIXTURE_TEST(changed)
{
	struct delta_set deltas;

	delta_set_init(&deltas, 1, false);
	f->query.deltas = &deltas;
	f->query.only_changed = true;
	tick(f, &deltas, 0, false);
	assert_false(f->result.delta->known);
	assert_int_equal(f->result.row_count, 4);
	keep(f, &deltas);
	tick(f, &deltas, 4096, false);
	assert_true(f->result.delta->known && f->result.delta->only_changed);
	assert_rows(f, "4", 3);
	assert_int_equal(f->result.delta->counts.changed, 1);
	assert_int_equal(f->result.delta->before.value[COUNTER_PSS], 12 * MIB);
	keep(f, &deltas);
	/* The row shrinks: --grow hides it. */
	f->query.only_changed = false;
	f->query.only_grown = true;
	tick(f, &deltas, 0, false);
	assert_int_equal(f->result.row_count, 0);
	keep(f, &deltas);
	/* Nor does less than the floor count. */
	f->query.grown_min = 4096;
	tick(f, &deltas, 4096, false);
	assert_int_equal(f->result.row_count, 1);
	assert_int_equal(f->result.rows[0].grew_ticks, 2);
	assert_int_equal(f->result.rows[0].ticks, 3);
	keep(f, &deltas);
	tick(f, &deltas, 4096 - 1, false);
	assert_rows(f, "", 4);
	delta_set_done(&deltas);
}

static void check_pss_delta(const struct fixture *f, int64_t expected)
{
	int64_t by;

	for (size_t i = 0; i < f->result.row_count; i++) {
		const struct process *p = f->result.rows[i].process;

		if (p->pid != 4 && (p->pid || p->name[0] != 'e'))
			continue;
		assert_true(row_change(&f->result.rows[i], COUNTER_PSS, &by));
		assert_int_equal(by, expected);
		return;
	}
	fail_msg("no row of eel");
}

/* top switches between the last and the first snapshot, processes and groups, in one snapshot. */
FIXTURE_TEST(switching)
{
	struct delta_set deltas;

	delta_set_init(&deltas, 1, true);
	f->query.deltas = &deltas;
	for (uint64_t grown = 0; grown <= 2 * 4096; grown += 4096) {
		tick(f, &deltas, grown, grown == 4096);
		keep(f, &deltas);
	}
	tick(f, &deltas, 3 * 4096, false);
	check_pss_delta(f, 4096);
	delta_set_begin(&deltas, &f->query, true);
	run(f);
	check_pss_delta(f, 3 * 4096);
	assert_true(f->result.delta->from_start);
	/* Groups have deltas from the first snapshot in which they are shown. */
	set(f, QUERY_GROUP_BY, "name");
	delta_set_begin(&deltas, &f->query, false);
	run(f);
	assert_false(f->result.delta->known);
	keep(f, &deltas);
	tick(f, &deltas, 5 * 4096, true);
	check_pss_delta(f, 2 * 4096);
	keep(f, &deltas);
	/* Groups by another key are different rows. */
	set(f, QUERY_GROUP_BY, "user");
	tick(f, &deltas, 5 * 4096, false);
	assert_false(f->result.delta->known);
	keep(f, &deltas);
	/* Processes are kept meanwhile, without those below them in a tree. */
	set(f, QUERY_GROUP_BY, "none");
	tick(f, &deltas, 7 * 4096, false);
	check_pss_delta(f, 2 * 4096);
	f->query.tree = true;
	tick(f, &deltas, 6 * 4096, false);
	keep(f, &deltas);
	f->query.tree = false;
	tick(f, &deltas, 7 * 4096, false);
	check_pss_delta(f, 4096);
	delta_set_forget_last(&deltas);
	delta_set_begin(&deltas, &f->query, false);
	run(f);
	assert_false(f->result.delta->known);
	delta_set_begin(&deltas, &f->query, true);
	run(f);
	check_pss_delta(f, 7 * 4096);
	delta_set_done(&deltas);
}

/* The totals of one filter are no baseline for another. */
FIXTURE_TEST(totals_of_another_filter)
{
	struct delta_set deltas;

	delta_set_init(&deltas, 1, true);
	f->query.deltas = &deltas;
	tick(f, &deltas, 0, false);
	keep(f, &deltas);
	set(f, QUERY_FILTER, "eel");
	tick(f, &deltas, 4096, false);
	assert_int_equal(f->result.delta->before.have, 0);
	set(f, QUERY_FILTER, "");
	delta_set_begin(&deltas, &f->query, false);
	run(f);
	assert_int_equal(f->result.delta->before.value[COUNTER_PSS], 12 * MIB);
	delta_set_done(&deltas);
}
