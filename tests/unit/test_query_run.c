// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* From a snapshot to rows: all steps of a query, and the values that each step needs. */
#include "unit.h"

#include "query/delta.h"
#include "query/query_parse.h"
#include "query/result.h"

#define MIB UINT64_C(1048576)

struct scene {
	struct snapshot snapshot;
	struct query query;
	struct query_rows rows;
	struct result result;
};

static void add(struct scene *s, pid_t pid, const char *name, uint64_t pss)
{
	struct process *p = snapshot_add(&s->snapshot);

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

/* cat 1 MiB, cat 5 MiB, dog 4 MiB, eel 2 MiB */
static void fill(struct scene *s, uint64_t grown)
{
	snapshot_clear(&s->snapshot);
	add(s, 1, "cat", MIB);
	add(s, 2, "cat", 5 * MIB);
	add(s, 3, "dog", 4 * MIB);
	add(s, 4, "eel", 2 * MIB + grown);
	snapshot_finish(&s->snapshot);
	s->snapshot.collection.seen = 4;
}

static void set(struct scene *s, enum query_word word, const char *text)
{
	struct query_error error;

	assert_int_equal(query_set(&s->query, word, text, NULL, &error), 0);
}

static void run(struct scene *s)
{
	assert_int_equal(query_select_ids(&s->snapshot, &s->query, &s->rows), 0);
	assert_int_equal(query_select_text(&s->snapshot, &s->query, &s->rows), 0);
	assert_int_equal(query_run(&s->snapshot, &s->rows, &s->query, &s->result), 0);
}

static int setup(void **state)
{
	static struct scene s;

	s = (struct scene){};
	fill(&s, 0);
	set(&s, QUERY_SORT, "pss");
	*state = &s;
	return 0;
}

static int teardown(void **state)
{
	struct scene *s = *state;

	query_done(&s->query);
	query_rows_done(&s->rows);
	snapshot_done(&s->snapshot);
	return 0;
}

TEST_WITH(processes, setup, teardown)
{
	struct scene *s = *state;

	set(s, QUERY_FILTER, "cat|dog");
	s->query.fit = 2;
	run(s);
	assert_int_equal(s->result.row_count, 2);
	assert_int_equal(s->result.rows[0]->pid, 2);
	assert_int_equal(s->result.rows[1]->pid, 3);
	assert_int_equal(s->result.others_count, 1);
	assert_int_equal(s->result.totals.value[COUNTER_PSS], 10 * MIB);
	assert_int_equal(s->snapshot.collection.filtered, 1);
	assert_int_equal(s->snapshot.collection.reported, 2);
	/* --top is used even if more rows fit. */
	s->query.top = 3;
	run(s);
	assert_int_equal(s->result.row_count, 3);
	s->query.total = true;
	run(s);
	assert_int_equal(s->result.row_count, 0);
	assert_int_equal(s->result.others.value[COUNTER_PSS], 10 * MIB);
}

TEST_WITH(groups, setup, teardown)
{
	struct scene *s = *state;

	set(s, QUERY_GROUP_BY, "name");
	set(s, QUERY_MIN, "3M");
	run(s);
	assert_int_equal(s->rows.made.count, 3);
	assert_int_equal(s->result.row_count, 2);
	assert_string_equal(s->result.rows[0]->name, "cat");
	assert_int_equal(s->result.rows[0]->value[COUNTER_PSS], 6 * MIB);
	/* Rows that --min hides are not in the totals. */
	assert_int_equal(s->result.totals.value[COUNTER_PSS], 10 * MIB);
}

TEST_WITH(tree, setup, teardown)
{
	struct scene *s = *state;

	s->query.tree = true;
	s->query.fit = 1;
	run(s);
	assert_int_equal(s->result.row_count, 4);
	assert_int_equal(s->result.totals.value[COUNTER_PSS], 12 * MIB);
}

TEST_WITH(needs, setup, teardown)
{
	struct scene *s = *state;
	struct query_needs n;

	s->query.needs = NEEDS_USER | NEEDS_MEMCG;
	s->query.top = 2;
	query_needs(&s->query, &n);
	assert_int_equal(n.filter | n.group | n.order, 0);
	assert_int_equal(n.shown, NEEDS_USER | NEEDS_MEMCG);
	assert_int_equal(query_certain(&s->query), 2);
	set(s, QUERY_FILTER, "x");
	set(s, QUERY_CGROUP, "y");
	query_needs(&s->query, &n);
	assert_int_equal(n.filter, NEEDS_CMDLINE | NEEDS_PROGRAM | NEEDS_CGROUP);
	set(s, QUERY_GROUP_BY, "unit");
	set(s, QUERY_SORT, "mem_current");
	query_needs(&s->query, &n);
	assert_int_equal(n.group & (NEEDS_CGROUP | NEEDS_USER), NEEDS_CGROUP | NEEDS_USER);
	assert_int_equal(n.order, NEEDS_MEMCG);
	assert_int_equal(n.shown, NEEDS_MEMCG);
	assert_int_equal(query_certain(&s->query), 0);
	set(s, QUERY_GROUP_BY, "none");
	s->query.tree = true;
	query_needs(&s->query, &n);
	assert_int_equal(n.group & NEEDS_USER, NEEDS_USER);
	assert_int_equal(n.shown, 0);
	s->query.tree = false;
	s->query.only_changed = true;
	assert_int_equal(query_certain(&s->query), 0);
}

/* ---- earlier rows ---- */

static void tick(struct scene *s, struct delta_set *set, uint64_t grown, bool from_start)
{
	fill(s, grown);
	s->snapshot.time_ms = 1000 + (int64_t)grown;
	delta_set_begin(set, &s->query, from_start);
	run(s);
}

static void keep(struct scene *s, struct delta_set *set)
{
	assert_int_equal(delta_set_update(set, &s->query, &s->snapshot, &s->rows, &s->result), 0);
}

TEST_WITH(changed, setup, teardown)
{
	struct scene *s = *state;
	struct delta_set deltas;

	delta_set_init(&deltas, 1, false);
	s->query.deltas = &deltas;
	s->query.only_changed = true;
	tick(s, &deltas, 0, false);
	assert_false(s->result.delta->known);
	assert_int_equal(s->result.row_count, 4);
	keep(s, &deltas);
	tick(s, &deltas, 4096, false);
	assert_true(s->result.delta->known && s->result.delta->only_changed);
	assert_int_equal(s->result.row_count, 1);
	assert_int_equal(s->result.rows[0]->pid, 4);
	assert_int_equal(s->result.others_count, 3);
	assert_int_equal(s->result.delta->counts.changed, 1);
	assert_int_equal(s->result.delta->before.value[COUNTER_PSS], 12 * MIB);
	keep(s, &deltas);
	/* The row shrinks: --grow hides it. */
	s->query.only_changed = false;
	s->query.only_grown = true;
	tick(s, &deltas, 0, false);
	assert_int_equal(s->result.row_count, 0);
	keep(s, &deltas);
	/* Nor does less than the floor count. */
	s->query.grown_min = 4096;
	tick(s, &deltas, 4096, false);
	assert_int_equal(s->result.row_count, 1);
	assert_int_equal(s->result.rows[0]->grew_ticks, 2);
	assert_int_equal(s->result.rows[0]->ticks, 3);
	keep(s, &deltas);
	tick(s, &deltas, 2 * 4096 - 1, false);
	assert_int_equal(s->result.row_count, 0);
	assert_int_equal(s->result.others_count, 4);
	delta_set_done(&deltas);
}

static void check_pss_delta(const struct scene *s, int64_t expected)
{
	int64_t by;

	for (size_t i = 0; i < s->result.row_count; i++) {
		const struct process *p = s->result.rows[i];

		if (p->pid != 4 && (p->pid || p->name[0] != 'e'))
			continue;
		assert_true(delta_of_row(p, COUNTER_PSS, &by));
		assert_int_equal(by, expected);
		return;
	}
	fail_msg("no row of eel");
}

/* top switches between the last and the first snapshot, processes and groups, in one snapshot. */
TEST_WITH(switching, setup, teardown)
{
	struct scene *s = *state;
	struct delta_set deltas;

	delta_set_init(&deltas, 1, true);
	s->query.deltas = &deltas;
	for (uint64_t grown = 0; grown <= 2 * 4096; grown += 4096) {
		tick(s, &deltas, grown, grown == 4096);
		keep(s, &deltas);
	}
	tick(s, &deltas, 3 * 4096, false);
	check_pss_delta(s, 4096);
	delta_set_begin(&deltas, &s->query, true);
	run(s);
	check_pss_delta(s, 3 * 4096);
	assert_true(s->result.delta->from_start);
	/* Groups have deltas from the first snapshot in which they are shown. */
	set(s, QUERY_GROUP_BY, "name");
	delta_set_begin(&deltas, &s->query, false);
	run(s);
	assert_false(s->result.delta->known);
	keep(s, &deltas);
	tick(s, &deltas, 5 * 4096, true);
	check_pss_delta(s, 2 * 4096);
	keep(s, &deltas);
	/* Groups by another key are different rows. */
	set(s, QUERY_GROUP_BY, "user");
	tick(s, &deltas, 5 * 4096, false);
	assert_false(s->result.delta->known);
	keep(s, &deltas);
	/* Processes are kept meanwhile. */
	set(s, QUERY_GROUP_BY, "none");
	tick(s, &deltas, 7 * 4096, false);
	check_pss_delta(s, 2 * 4096);
	delta_set_forget_last(&deltas);
	delta_set_begin(&deltas, &s->query, false);
	run(s);
	assert_false(s->result.delta->known);
	delta_set_begin(&deltas, &s->query, true);
	run(s);
	check_pss_delta(s, 7 * 4096);
	delta_set_done(&deltas);
}

/* The totals of one filter are no baseline for another. */
TEST_WITH(totals_of_another_filter, setup, teardown)
{
	struct scene *s = *state;
	struct delta_set deltas;

	delta_set_init(&deltas, 1, true);
	s->query.deltas = &deltas;
	tick(s, &deltas, 0, false);
	keep(s, &deltas);
	set(s, QUERY_FILTER, "eel");
	tick(s, &deltas, 4096, false);
	assert_int_equal(s->result.delta->before.have, 0);
	set(s, QUERY_FILTER, "");
	delta_set_begin(&deltas, &s->query, false);
	run(s);
	assert_int_equal(s->result.delta->before.value[COUNTER_PSS], 12 * MIB);
	delta_set_done(&deltas);
}
