// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests of what a snapshot computes from all its processes. */
#include "unit.h"

#include "heap.h"
#include "zmem/record.h"
#include "model/snapshot.h"

#define PAGE 4096

static struct process *add(struct snapshot *s, pid_t pid, uint64_t start_ns, uint64_t mm_key)
{
	struct process *p = snapshot_add(s);

	assert_non_null(p);
	p->pid = pid;
	p->start_ns = start_ns;
	p->mm_key = mm_key;
	return p;
}

static struct process *add_kind(struct snapshot *s, pid_t pid, enum process_kind kind)
{
	struct process *p = add(s, pid, 1, 0);

	p->kind = kind;
	return p;
}

static void set_rss(struct process *p, uint64_t anon, uint64_t file, uint64_t shmem, uint64_t swap)
{
	process_set(p, COUNTER_RSS_ANON, anon);
	process_set(p, COUNTER_RSS_FILE, file);
	process_set(p, COUNTER_RSS_SHMEM, shmem);
	process_set(p, COUNTER_SWAP, swap);
}

static void assert_value(const struct process *p, enum counter c, uint64_t bytes)
{
	assert_true(process_has(p, c));
	assert_int_equal(p->value[c], bytes);
}

TEST(find)
{
	cleanup(snapshot_done) struct snapshot s = {};
	struct process before = {.pid = 3, .start_ns = 5};

	for (pid_t pid = 3000; pid > 0; pid -= 3)
		add(&s, pid, 5, (uint64_t)pid % 7 + 1);
	assert_int_equal(snapshot_finish(&s), 0);
	/* It sorts in scratch memory, not in the arena of strings. */
	assert_null(s.arena.block);
	/* mm_ids follow the order of pids: 3, 6, 9, … have the keys 4, 7, 3, 6, 2, 5, 1. */
	for (size_t i = 0; i < s.count; i++)
		assert_int_equal(s.process[i].mm_id, i % 7 + 1);
	for (pid_t pid = 0; pid <= 3001; pid++) {
		const struct process *p = snapshot_find(&s, pid);

		assert_int_equal(p != NULL, pid && pid % 3 == 0);
		assert_true(!p || p->pid == pid);
	}
	for (size_t i = 1; i < s.count; i++)
		assert_true(s.process[i - 1].pid < s.process[i].pid);
	assert_ptr_equal(snapshot_find_again(&s, &before), snapshot_find(&s, 3));
	/* Its pid was given to another process. */
	before.start_ns = 4;
	assert_null(snapshot_find_again(&s, &before));
	before.pid = 4;
	assert_null(snapshot_find_again(&s, &before));
}

static void fill_snapshot(struct snapshot *s, pid_t count)
{
	snapshot_clear(s);
	for (pid_t pid = 1; pid <= count; pid++)
		assert_non_null(add(s, pid, 1, 7)->name = arena_strndup(&s->arena, "name", 4));
	assert_int_equal(snapshot_finish(s), 0);
}

/* The memory of a peak is freed, but not if it is needed again soon. */
TEST(peak)
{
	cleanup(snapshot_done) struct snapshot s = {};
	size_t before = heap_in_use(), capacity;

	fill_snapshot(&s, 50000);
	capacity = s.capacity;
	for (int round = 0; round < 5; round++) {
		for (int i = 0; i < 40; i++)
			fill_snapshot(&s, 100);
		assert_int_equal(s.capacity, capacity);
		fill_snapshot(&s, 10000);
	}
	for (int i = 0; i < 100; i++)
		fill_snapshot(&s, 100);
	assert_true(heap_in_use() - before < 1000000);
	assert_int_equal(s.process[99].pid, 100);
}

TEST(address_spaces)
{
	cleanup(snapshot_done) struct snapshot s = {};
	const struct process *p;

	add(&s, 10, 500, UINT64_MAX);
	add(&s, 11, 400, UINT64_MAX);
	add(&s, 12, 400, UINT64_MAX);
	add(&s, 20, 100, 5);
	add(&s, 30, 100, 0);
	add(&s, 31, 100, 0);
	add_kind(&s, 2, PROCESS_KTHREAD);
	add_kind(&s, 3, PROCESS_KTHREAD);
	add_kind(&s, 40, PROCESS_ZOMBIE);
	assert_int_equal(snapshot_finish(&s), 0);

	p = snapshot_find(&s, 20);
	assert_int_equal(p->mm_id, 2);
	assert_true(p->mm_owner);
	for (pid_t pid = 10; pid <= 12; pid++) {
		p = snapshot_find(&s, pid);
		assert_int_equal(p->mm_id, 1);
		/* The first to start, and of two the lower pid. */
		assert_int_equal(p->mm_owner, pid == 11);
	}
	for (pid_t pid = 30; pid <= 31; pid++) {
		p = snapshot_find(&s, pid);
		assert_int_equal(p->mm_id, 0);
		assert_true(p->mm_owner);
	}
	assert_false(snapshot_find(&s, 2)->mm_owner);
	assert_false(snapshot_find(&s, 40)->mm_owner);
	assert_int_equal(s.collection.seen, 9);
	assert_int_equal(s.collection.kernel_threads, 2);
	assert_int_equal(s.collection.zombies, 1);
	assert_int_equal(s.collection.shared_mm, 2);
}

/* Among fewer rows another process owns the mm; processes outside the rows do not change. */
TEST(owner_among_rows)
{
	cleanup(snapshot_done) struct snapshot s = {};
	struct process *rows[2];

	add(&s, 10, 100, 9);
	add(&s, 11, 200, 9);
	add(&s, 12, 300, 9);
	assert_int_equal(snapshot_finish(&s), 0);
	rows[0] = snapshot_find(&s, 12);
	rows[1] = snapshot_find(&s, 11);
	assert_int_equal(snapshot_own_mm(&s, rows, ARRAY_SIZE(rows)), 0);
	assert_false(rows[0]->mm_owner);
	assert_true(rows[1]->mm_owner);
	assert_true(snapshot_find(&s, 10)->mm_owner);
	assert_int_equal(snapshot_own_mm(&s, rows, 1), 0);
	assert_true(rows[0]->mm_owner);
}

TEST(deltas)
{
	cleanup(snapshot_done) struct snapshot s = {};
	struct process *p;

	s.host.page_size = PAGE;
	/* Two processes with one mm; their threads hold back parts of its counters. */
	p = add(&s, 10, 1, 9);
	set_rss(p, 100 * PAGE, 50 * PAGE, 3 * PAGE, 0);
	p->rss_delta[ZMEM_RSS_ANON] = 20;
	p->rss_delta[ZMEM_RSS_FILE] = -7;
	p->rss_delta[ZMEM_RSS_SHMEM] = -2;
	p = add(&s, 11, 2, 9);
	set_rss(p, 100 * PAGE, 50 * PAGE, 3 * PAGE, 0);
	p->rss_delta[ZMEM_RSS_ANON] = -5;
	p->rss_delta[ZMEM_RSS_FILE] = 7;
	p->rss_delta[ZMEM_RSS_SHMEM] = -2;
	p->rss_delta[ZMEM_RSS_SWAP] = 4;
	/* A process with an unknown mm gets its own deltas. */
	p = add(&s, 12, 3, 0);
	process_set(p, COUNTER_RSS_ANON, PAGE);
	p->rss_delta[ZMEM_RSS_ANON] = 1;
	p->rss_delta[ZMEM_RSS_FILE] = 1;
	assert_int_equal(snapshot_finish(&s), 0);

	for (pid_t pid = 10; pid <= 11; pid++) {
		p = snapshot_find(&s, pid);
		assert_value(p, COUNTER_RSS_ANON, 115 * PAGE);
		assert_value(p, COUNTER_RSS_FILE, 50 * PAGE);
		assert_value(p, COUNTER_RSS_SHMEM, 0);
		assert_value(p, COUNTER_SWAP, 4 * PAGE);
		assert_value(p, COUNTER_RSS, 165 * PAGE);
		/* The process has swap, so its share must be read. */
		assert_false(process_has(p, COUNTER_SWAP_PSS));
	}
	p = snapshot_find(&s, 12);
	assert_value(p, COUNTER_RSS_ANON, 2 * PAGE);
	assert_false(process_has(p, COUNTER_RSS_FILE));
	assert_false(process_has(p, COUNTER_RSS));
}

TEST(derive)
{
	struct process p = {0};

	process_derive(&p);
	assert_int_equal(p.have, 0);
	set_rss(&p, 10, 20, 30, 7);
	process_derive(&p);
	assert_value(&p, COUNTER_RSS, 60);
	assert_int_equal(p.have, COUNTER_BIT(COUNTER_RSS) | COUNTER_BIT(COUNTER_RSS_ANON) |
					 COUNTER_BIT(COUNTER_RSS_FILE) |
					 COUNTER_BIT(COUNTER_RSS_SHMEM) |
					 COUNTER_BIT(COUNTER_SWAP));
	process_set(&p, COUNTER_PSS, 40);
	process_derive(&p);
	assert_false(process_has(&p, COUNTER_PSS_SWAP));
	assert_false(process_has(&p, COUNTER_SHARED));
	process_set(&p, COUNTER_USS, 25);
	process_set(&p, COUNTER_SWAP_PSS, 5);
	for (int i = 0; i < 3; i++) {
		process_derive(&p);
		assert_value(&p, COUNTER_RSS, 60);
		assert_value(&p, COUNTER_PSS, 40);
		assert_value(&p, COUNTER_SWAP_PSS, 5);
		assert_value(&p, COUNTER_PSS_SWAP, 45);
		assert_value(&p, COUNTER_SHARED, 15);
	}
	/* Rounding must not underflow to an enormous value. */
	process_set(&p, COUNTER_USS, 41);
	process_derive(&p);
	assert_value(&p, COUNTER_SHARED, 0);
	/* A sum that overflows is not measured, rather than truncated to 64 bits. */
	p = (struct process){0};
	set_rss(&p, UINT64_MAX, 1, 0, 7);
	process_set(&p, COUNTER_PSS, UINT64_MAX - 1);
	process_set(&p, COUNTER_SWAP_PSS, 2);
	process_derive(&p);
	assert_false(process_has(&p, COUNTER_RSS));
	assert_false(process_has(&p, COUNTER_PSS_SWAP));
	process_set(&p, COUNTER_SWAP_PSS, 1);
	process_derive(&p);
	assert_value(&p, COUNTER_PSS_SWAP, UINT64_MAX);
	/* Without swap there is no share of it, but a value that was read counts. */
	p = (struct process){0};
	process_set(&p, COUNTER_SWAP, 0);
	process_derive(&p);
	assert_value(&p, COUNTER_SWAP_PSS, 0);
	process_set(&p, COUNTER_PSS, 40);
	process_derive(&p);
	assert_value(&p, COUNTER_PSS_SWAP, 40);
	process_set(&p, COUNTER_SWAP_PSS, 3);
	process_derive(&p);
	assert_value(&p, COUNTER_SWAP_PSS, 3);
}

TEST(names)
{
	for (int i = 0; i < PSS_STATUS_COUNT; i++)
		assert_non_null(pss_status_name(i));
	assert_string_equal(pss_status_name(PSS_KERNEL_THREAD), "kernel_thread");
	assert_string_equal(pss_source_name(PSS_FROM_ROLLUP), "smaps_rollup");
	assert_null(pss_source_name(PSS_FROM_NOTHING));
	for (int i = 0; i < MEMCG_BOUNDS; i++)
		assert_non_null(memcg_bound_name(i));
	assert_string_equal(memcg_bound_name(MEMCG_BOUND_TIME), "time");
}

TEST(reach)
{
	assert_int_equal(memcg_reach("/a/bc/d", 2), strlen("/a/bc"));
	assert_int_equal(memcg_reach("/a/bc/d", 3), strlen("/a/bc/d"));
	assert_int_equal(memcg_reach("/a/bc/d", 64), strlen("/a/bc/d"));
	assert_int_equal(memcg_reach("/", 64), 1);
	assert_int_equal(memcg_reach("", 64), 0);
}

/* To whole pages, up from a half; sums are those of the rounded parts. */
TEST(round_pss)
{
	static const struct {
		enum counter counter;
		uint64_t before, after;
	} values[] = {
		{COUNTER_PSS_ANON, 2047, 0},	 {COUNTER_PSS_FILE, PAGE + 2047, PAGE},
		{COUNTER_PSS_SHMEM, 2048, PAGE}, {COUNTER_PSS, 3 * 2047 + 2, 2 * PAGE},
		{COUNTER_USS, PAGE, PAGE},	 {COUNTER_SHARED, 0, PAGE},
		{COUNTER_SWAP, PAGE, PAGE},	 {COUNTER_SWAP_PSS, PAGE - 1, PAGE},
		{COUNTER_PSS_SWAP, 0, 3 * PAGE},
	};
	struct process p = {};

	/* What is not known stays so. */
	process_round_pss(&p);
	assert_false(process_has(&p, COUNTER_PSS));
	process_set(&p, COUNTER_PSS, 3 * PAGE + 2048);
	process_round_pss(&p);
	assert_value(&p, COUNTER_PSS, 4 * PAGE);
	process_set(&p, COUNTER_PSS, UINT64_MAX);
	process_round_pss(&p);
	assert_true(p.value[COUNTER_PSS] == UINT64_MAX);
	for (size_t i = 0; i < ARRAY_SIZE(values); i++) {
		if (values[i].before)
			process_set(&p, values[i].counter, values[i].before);
	}
	process_round_pss(&p);
	for (size_t i = 0; i < ARRAY_SIZE(values); i++)
		assert_value(&p, values[i].counter, values[i].after);
}
