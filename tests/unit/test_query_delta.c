// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Earlier states of rows: the same row, new rows, unknown values, deltas. */
#include "unit.h"

#include "heap.h"
#include "rows_machine.h"
#include "query/delta_tracker.h"

#define BOOT_MS 1000000

/* A machine this many ms after boot. */
static void at_time(struct machine *m, int64_t ms)
{
	m->snapshot.host.boot_ms = BOOT_MS;
	m->snapshot.time_ms = BOOT_MS + ms;
}

static struct tracker tracker_of(bool from_start)
{
	struct tracker t;

	delta_tracker_init(&t, 1, from_start);
	return t;
}

static struct delta_counts join(const struct tracker *tracker, struct machine *m)
{
	struct delta_counts counts = {99, 99, 99};

	delta_tracker_join(tracker, NULL, &m->snapshot, &m->rows, &counts);
	return counts;
}

static void take_tick(struct tracker *tracker, struct machine *m)
{
	struct totals totals;

	totals_sum(m->rows.item, m->rows.count, false, &totals);
	assert_int_equal(delta_tracker_update(tracker, NULL, &m->snapshot, &m->rows, &totals), 0);
}

static void keep(struct tracker *tracker, struct machine *m)
{
	join(tracker, m);
	take_tick(tracker, m);
}

static int64_t delta(const struct row *r, enum counter c)
{
	int64_t by = 12345;

	assert_true(row_change(r, c, &by));
	return by;
}

static bool known(const struct row *r, enum counter c)
{
	int64_t by;

	return row_change(r, c, &by);
}

static void assert_counts(struct delta_counts is, size_t started, size_t ended, size_t changed)
{
	assert_int_equal(is.started, started);
	assert_int_equal(is.ended, ended);
	assert_int_equal(is.changed, changed);
}

/*
 * Two snapshots, in any order of rows: one row grew, one shrank, one is unchanged, one ended, one
 * started.
 */
TEST(last)
{
	cleanup(delta_tracker_done) struct tracker tracker = tracker_of(false);
	cleanup(machine_done) struct machine a = machine_of(4), b = machine_of(5);
	struct row row;

	at_time(&a, 5000);
	row = a.rows.item[0];
	a.rows.item[0] = a.rows.item[3];
	a.rows.item[3] = row;
	keep(&tracker, &a);
	at_time(&b, 5500);
	process_set(at(&b, 1), COUNTER_PSS, 25);
	process_set(at(&b, 2), COUNTER_PSS, 3);
	at(&b, 4)->start_ns = 5400000000;
	at(&b, 5)->start_ns = 5300000000;
	assert_counts(join(&tracker, &b), 2, 1, 2);
	assert_int_equal(delta(row_at(&b, 1), COUNTER_PSS), 15);
	assert_int_equal(delta(row_at(&b, 2), COUNTER_PSS), -7);
	assert_int_equal(delta(row_at(&b, 3), COUNTER_PSS), 0);
	assert_true(row_at(&b, 1)->changed && row_at(&b, 2)->changed && !row_at(&b, 3)->changed);
	/* The pid was reused: another process, which had nothing before. */
	assert_int_equal(delta(row_at(&b, 4), COUNTER_PSS), 10);
	assert_true(row_at(&b, 4)->changed);
	assert_int_equal(delta(row_at(&b, 5), COUNTER_RSS), 100);
	assert_int_equal(b.snapshot.change_us, 500000);
	assert_int_equal(tracker.totals.value[COUNTER_PSS], 40);
}

/* The process existed but was not among the rows: its earlier value is unknown, not 0. */
TEST(not_seen_before)
{
	cleanup(delta_tracker_done) struct tracker tracker = tracker_of(false);
	cleanup(machine_done) struct machine m = machine_of(3);

	at_time(&m, 5000);
	m.rows.count = 2;
	keep(&tracker, &m);
	m.rows.count = 3;
	at_time(&m, 6000);
	assert_counts(join(&tracker, &m), 1, 0, 0);
	assert_null(row_at(&m, 3)->before);
	assert_false(known(row_at(&m, 3), COUNTER_PSS));
	/*
	 * /proc has start times in whole ticks, so a process may seem to start before the last
	 * snapshot.
	 */
	at(&m, 3)->start_ns = 4990000000;
	join(&tracker, &m);
	assert_int_equal(delta(row_at(&m, 3), COUNTER_PSS), 10);
	at(&m, 3)->start_ns = 4900000000;
	join(&tracker, &m);
	assert_false(known(row_at(&m, 3), COUNTER_PSS));
}

/* At an OOM kill not all processes were read: nothing ended, and the next tick skips it. */
TEST(cut)
{
	for (int from_start = 0; from_start < 2; from_start++) {
		cleanup(delta_tracker_done) struct tracker tracker = tracker_of(from_start);
		cleanup(machine_done) struct machine m = machine_of(3), kill = machine_of(1);

		at_time(&m, 5000);
		at_time(&kill, 6000);
		process_set(at(&m, 2), COUNTER_RSS, 1000);
		keep(&tracker, &m);
		kill.snapshot.collection.seen = 1;
		assert_counts(join(&tracker, &kill), 0, 0, 0);
		assert_null(row_at(&kill, 1)->before);
		assert_int_equal(kill.snapshot.change_us, 0);
		take_tick(&tracker, &kill);
		at_time(&m, 7000);
		process_set(at(&m, 2), COUNTER_RSS, 1200);
		assert_counts(join(&tracker, &m), 0, 0, 1);
		assert_int_equal(delta(row_at(&m, 2), COUNTER_RSS), 200);
		assert_int_equal(m.snapshot.change_us, from_start ? 0 : 2000000);
	}
}

TEST(from_start)
{
	cleanup(delta_tracker_done) struct tracker tracker = tracker_of(true);
	cleanup(machine_done) struct machine m = machine_of(3);

	at_time(&m, 5000);
	m.rows.count = 2;
	at(&m, 2)->have &= ~COUNTER_BIT(COUNTER_PSS);
	keep(&tracker, &m);
	m.rows.count = 3;
	at(&m, 3)->start_ns = 5100000000;
	for (int i = 1; i <= 5; i++) {
		struct delta_counts counts;

		at_time(&m, 5000 + i * 1000);
		process_set(at(&m, 1), COUNTER_PSS, 10 + (uint64_t)i);
		process_set(at(&m, 2), COUNTER_PSS, 20 + (uint64_t)i);
		process_set(at(&m, 3), COUNTER_PSS, 30);
		counts = join(&tracker, &m);
		assert_counts(counts, i == 1, 0, 2);
		assert_int_equal(delta(row_at(&m, 1), COUNTER_PSS), i);
		/* Relative to the first measurement. */
		if (i == 1)
			assert_false(known(row_at(&m, 2), COUNTER_PSS));
		else
			assert_int_equal(delta(row_at(&m, 2), COUNTER_PSS), i - 1);
		assert_int_equal(delta(row_at(&m, 3), COUNTER_PSS), 30);
		/* `changed` is still relative to the last snapshot. */
		assert_int_equal(row_at(&m, 3)->changed, i == 1);
		assert_int_equal(m.snapshot.change_us, 0);
		take_tick(&tracker, &m);
		assert_int_equal(tracker.since_ms, BOOT_MS + 5000);
		assert_int_equal(tracker.totals.value[COUNTER_PSS], 10);
	}
	/* Ended rows are removed. */
	m.rows.count = 1;
	keep(&tracker, &m);
	assert_int_equal(tracker.rows.count, 1);
}

/* In how many ticks a row grew: compared with the tick before, also where values are the first. */
TEST(growth)
{
	static const uint64_t size[] = {100, 200, 150, 160, 160, 300};
	static const uint32_t grew[] = {0, 1, 1, 2, 2, 3};

	for (int from_start = 0; from_start < 2; from_start++) {
		cleanup(delta_tracker_done) struct tracker tracker = tracker_of(from_start);

		for (uint32_t i = 0; i < ARRAY_SIZE(size); i++) {
			cleanup(machine_done) struct machine m = machine_of(3);

			at_time(&m, 5000 + 1000 * i);
			process_set(at(&m, 1), COUNTER_RSS_ANON, size[i]);
			process_set(at(&m, 1), COUNTER_RSS_SHMEM, 0);
			/* It is measured in some ticks alone. */
			at(&m, 2)->have = 0;
			/* Of the second half one part is shared memory, the other in swap. */
			at(&m, 3)->have = 0;
			process_set(at(&m, 3), COUNTER_RSS_ANON, size[i] - size[i] / 2);
			process_set(at(&m, 3), COUNTER_RSS_SHMEM, size[i] / 2 - size[i] / 4);
			process_set(at(&m, 3), COUNTER_SWAP, size[i] / 4);
			/* Another process ends: PSS and USS change. */
			process_set(at(&m, 1), COUNTER_PSS_SWAP, 1000 - size[i]);
			process_set(at(&m, 1), COUNTER_USS, 1000 - size[i]);
			if (i > 2)
				process_set(at(&m, 2), COUNTER_RSS, size[i]);
			join(&tracker, &m);
			assert_int_equal(row_at(&m, 1)->grew_ticks, grew[i]);
			assert_int_equal(row_at(&m, 1)->ticks, i);
			assert_int_equal(row_at(&m, 2)->grew_ticks, i == 5);
			assert_int_equal(row_at(&m, 2)->ticks, i > 3 ? i - 3 : 0);
			assert_int_equal(row_at(&m, 3)->grew_ticks, grew[i]);
			assert_int_equal(row_at(&m, 3)->ticks, i);
			take_tick(&tracker, &m);
		}
	}
}

/*
 * Growth in an hour, by all ticks that have the same counter; not known in less than 10 s, nor
 * where it does not stand out.
 */
TEST(growth_in_an_hour)
{
	static const struct {
		int64_t ms;
		uint64_t size;
		bool known;
		int64_t by;
	} is[] = {{0, 1000, false, 0},
		  {3000, 1400, false, 0},
		  {6000, 1800, false, 0}, /* too short a time */
		  {10000, 2200, true, 1200 * 360},
		  /* It has lost more in between than half of the growth. */
		  {20000, 1300, false, 0},
		  {30000, 3000, false, 0}, /* a step that is more than half of it */
		  {40000, 4500, true, 3500 * 90},
		  {50000, 1000, false, 0},
		  /* It shrinks. */
		  {3600000, 0, false, 0}};

	for (int from_start = 0; from_start < 2; from_start++) {
		cleanup(delta_tracker_done) struct tracker tracker = tracker_of(from_start);

		for (size_t i = 0; i < ARRAY_SIZE(is); i++) {
			cleanup(machine_done) struct machine m = machine_of(2);
			int64_t by = 0;

			at_time(&m, 5000 + is[i].ms);
			process_set(at(&m, 1), COUNTER_RSS, is[i].size);
			/* Another counter begins anew. */
			at(&m, 2)->have = 0;
			process_set(at(&m, 2), i < 6 ? COUNTER_RSS : COUNTER_RSS_ANON, is[i].size);
			if (i >= 6)
				process_set(at(&m, 2), COUNTER_RSS_SHMEM, 0);
			join(&tracker, &m);
			assert_int_equal(row_growth(row_at(&m, 1), &by), is[i].known);
			assert_int_equal(by, is[i].by);
			assert_int_equal(row_at(&m, 1)->watched_ms, is[i].ms);
			assert_int_equal(row_growth(row_at(&m, 2), &by), is[i].known && i < 6);
			take_tick(&tracker, &m);
		}
	}
}

/* The rule of what stands out, at its edges. */
TEST(stands_out)
{
	struct row_steps s = {.ticks = 9, .up = 3, .down = 1};

	assert_true(row_stands_out(&(struct row_steps){.ticks = 9}, 0));
	s.gained = 150;
	s.most_gained = 50;
	s.lost = 50;
	assert_true(row_stands_out(&s, 100));
	s.lost = 51;
	assert_false(row_stands_out(&s, 99));
	s.lost = 0;
	s.most_gained = 75;
	assert_true(row_stands_out(&s, 150));
	s.most_gained = 76;
	assert_false(row_stands_out(&s, 150));
	s.most_gained = 75;
	s.up = 2;
	assert_false(row_stands_out(&s, 150));
	/* Up and down to where it began. */
	assert_false(row_stands_out(&s, 0));
	s = (struct row_steps){.down = 3, .lost = 150, .most_lost = 75, .gained = 0};
	assert_true(row_stands_out(&s, -150));
	s.down = 2;
	assert_false(row_stands_out(&s, -150));
	s = (struct row_steps){.down = 3, .lost = UINT64_MAX / 2, .most_lost = UINT64_MAX / 8};
	assert_true(row_stands_out(&s, INT64_MIN));
}

/*
 * Swap-ins are per second, and never 0 if there was one. A thread that ends takes its own away. The
 * time that is lost is in milliseconds a second, likewise.
 */
TEST(swapping)
{
	static const struct {
		int64_t ms;
		uint64_t swap, swapins;
		bool swaps, known;
		uint32_t rate;
		uint64_t wait_us;
		uint32_t wait;
	} is[] = {{0, 0, 5, false, false, 0, 7, 0},
		  {2000, 4096, 5, true, true, 0, 7, 0},
		  {4000, 4096, 25, false, true, 10, 5000007, 2500},
		  {64000, 4096, 26, false, true, 1, 5000008, 1},
		  {65000, 0, 20, true, false, 0, 5000000, 0},
		  {65000, 0, 21, false, false, 0, 5000001, 0}};

	for (int from_start = 0; from_start < 2; from_start++) {
		cleanup(delta_tracker_done) struct tracker tracker = tracker_of(from_start);

		for (size_t i = 0; i < ARRAY_SIZE(is); i++) {
			cleanup(machine_done) struct machine m = machine_of(2);
			const struct row *r = row_at(&m, 1);

			at_time(&m, 5000 + is[i].ms);
			process_set(at(&m, 1), COUNTER_SWAP, is[i].swap);
			process_set(at(&m, 1), COUNTER_SWAPINS, is[i].swapins);
			process_set(at(&m, 1), COUNTER_MEM_WAIT, is[i].wait_us);
			at(&m, 2)->have &=
				~(COUNTER_BIT(COUNTER_SWAPINS) | COUNTER_BIT(COUNTER_MEM_WAIT));
			join(&tracker, &m);
			assert_int_equal(r->swaps, is[i].swaps);
			assert_int_equal(r->swapin_known, is[i].known);
			assert_int_equal(is[i].known ? r->swapin : 0, is[i].rate);
			assert_int_equal(r->wait_known, is[i].known);
			assert_int_equal(r->wait, is[i].wait);
			assert_false(row_at(&m, 2)->swapin_known || row_at(&m, 2)->wait_known);
			take_tick(&tracker, &m);
		}
	}
}

/* exec keeps pid and start time: memory and name change. */
TEST(exec)
{
	cleanup(delta_tracker_done) struct tracker tracker = tracker_of(false);
	cleanup(machine_done) struct machine m = machine_of(1);

	at_time(&m, 5000);
	keep(&tracker, &m);
	assert_counts(join(&tracker, &m), 0, 0, 0);
	/* The start time may be more or less exact. */
	at(&m, 1)->name = "b";
	assert_counts(join(&tracker, &m), 0, 0, 0);
	strcpy(at(&m, 1)->comm, "b");
	assert_counts(join(&tracker, &m), 0, 0, 1);
	assert_true(row_at(&m, 1)->changed);
	assert_int_equal(delta(row_at(&m, 1), COUNTER_PSS), 0);
}

/* Users are matched by their number, and a new group had nothing before. */
TEST(users)
{
	cleanup(delta_tracker_done) struct tracker tracker = tracker_of(false);
	struct process item[2] = {{.kind = PROCESS_SUM, .uid = 1, .user = "u"},
				  {.kind = PROCESS_SUM, .uid = 2, .user = "u"}};
	struct row row[] = {{&item[0], .procs = 1}, {&item[1], .procs = 2}};
	struct rows rows = {row, 2};
	struct snapshot s = {.time_ms = 1000};
	const struct totals none = {0};
	struct delta_counts counts;

	for (size_t i = 0; i < 2; i++)
		process_set(&item[i], COUNTER_PSS, 100 * (i + 1));
	delta_tracker_join(&tracker, column("user"), &s, &rows, &counts);
	assert_int_equal(delta_tracker_update(&tracker, column("user"), &s, &rows, &none), 0);
	process_set(&item[1], COUNTER_PSS, 207);
	item[0].uid = 77;
	s.time_ms += 1000;
	delta_tracker_join(&tracker, column("user"), &s, &rows, &counts);
	assert_counts(counts, 1, 1, 1);
	assert_int_equal(delta(&row[0], COUNTER_PSS), 100);
	assert_int_equal(delta(&row[1], COUNTER_PSS), 7);
}

/* Groups of several keys that have one text are compared each with itself. */
TEST(keys)
{
	cleanup(delta_tracker_done) struct tracker tracker = tracker_of(false);
	const struct field *const two[] = {column("unit"), column("name")};
	struct process item[] = {
		{.kind = PROCESS_SUM, .unit = "a / b", .name = "c", .joined = "a / b / c"},
		{.kind = PROCESS_SUM, .unit = "a", .name = "b / c", .joined = "a / b / c"}};
	struct row row[] = {{&item[0], .procs = 1}, {&item[1], .procs = 1}};
	struct rows rows = {row, 2};
	struct snapshot s = {.time_ms = 1000};
	const struct totals none = {0};
	struct delta_counts counts;
	struct group_keys keys = {};

	group_keys_set(&keys, two, 2);
	for (size_t i = 0; i < 2; i++)
		process_set(&item[i], COUNTER_PSS, 100 * (i + 1));
	delta_tracker_join(&tracker, &keys.joined, &s, &rows, &counts);
	assert_int_equal(delta_tracker_update(&tracker, &keys.joined, &s, &rows, &none), 0);
	for (size_t i = 0; i < 2; i++)
		process_set(&item[i], COUNTER_PSS, 100 * (i + 1) + i + 5);
	s.time_ms += 1000;
	delta_tracker_join(&tracker, &keys.joined, &s, &rows, &counts);
	assert_counts(counts, 0, 0, 2);
	for (int i = 0; i < 2; i++)
		assert_int_equal(delta(&row[i], COUNTER_PSS), i + 5);
}

TEST(change)
{
	uint64_t now[COUNTER_COUNT] = {UINT64_MAX, 0, 1ull << 63, INT64_MAX, 7};
	uint64_t then[COUNTER_COUNT] = {0, UINT64_MAX, 0, 0, 9};
	counter_mask all = ~(counter_mask)0;
	int64_t by = 1;

	assert_false(counter_change(0, all, now, all, then, &by));
	assert_false(counter_change(1, all, now, all, then, &by));
	assert_false(counter_change(2, all, now, all, then, &by));
	assert_int_equal(by, 1);
	assert_true(counter_change(3, all, now, all, then, &by));
	assert_true(by == INT64_MAX);
	assert_true(counter_change(4, all, now, all, then, &by));
	assert_int_equal(by, -2);
	assert_false(counter_change(4, 0, now, all, then, &by));
	assert_false(counter_change(4, all, now, 0, then, &by));
	assert_int_equal(delta_rate(10, 0), 10);
	assert_int_equal(delta_rate(10, 2000000), 5);
	assert_int_equal(delta_rate(-11, 2000000), -6);
	assert_int_equal(delta_rate(1, 100000), 10);
	assert_true(delta_rate(INT64_MAX, 1) == INT64_MAX);
	assert_true(delta_rate(INT64_MIN, 1) == INT64_MIN);
}

/* A clock that was set back, and a process that a corrupt recording has twice. */
TEST(odd)
{
	cleanup(delta_tracker_done) struct tracker tracker = tracker_of(false);
	cleanup(machine_done) struct machine m = machine_of(2);

	at(&m, 2)->pid = 1;
	at(&m, 2)->start_ns = at(&m, 1)->start_ns;
	at_time(&m, 5000);
	m.rows.count = 1;
	keep(&tracker, &m);
	m.rows.count = 2;
	at_time(&m, 4000);
	assert_counts(join(&tracker, &m), 0, 0, 0);
	assert_int_equal(m.snapshot.change_us, 0);
}

/* No more memory than for the largest number of processes. */
TEST(memory)
{
	cleanup(delta_tracker_done) struct tracker tracker = tracker_of(false);
	cleanup(machine_done) struct machine m = machine_of(3000);
	size_t before = 0;

	at_time(&m, 5000);
	for (int i = 0; i < 100; i++) {
		m.rows.count = 3000 - (size_t)(i % 7) * 400;
		keep(&tracker, &m);
		if (i == 10)
			before = heap_in_use();
	}
	assert_int_equal(heap_in_use(), before);
}

/* Memory of a peak is released later. */
TEST(peak)
{
	cleanup(delta_tracker_done) struct tracker tracker = tracker_of(false);
	cleanup(machine_done) struct machine m = machine_of(30000);
	size_t before = heap_in_use();

	at_time(&m, 5000);
	for (int i = 0; i < 200; i++) {
		m.rows.count = i < 3 ? 30000 : 100;
		keep(&tracker, &m);
	}
	assert_true(heap_in_use() < before + 1000000);
	assert_counts(join(&tracker, &m), 0, 0, 0);
	assert_true(known(row_at(&m, 100), COUNTER_PSS));
}
