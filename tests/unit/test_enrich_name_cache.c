// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Cached names belong to the same process without exec or move, and to no other. */
#include "unit.h"

#include <malloc.h>

#include "enrich/enrich.h"

#define NOW 1000000

static struct process *add(struct snapshot *s, pid_t pid)
{
	struct process *p = snapshot_add(s);

	assert_non_null(p);
	p->pid = pid;
	p->start_ns = 5;
	p->mm_key = 50 + (uint64_t)pid;
	p->cgroup_key = 7;
	p->counters_source = FROM_BPF;
	p->name = "python3";
	strcpy(p->comm, "python3");
	return p;
}

static void read_names(struct process *p)
{
	p->name = "program.py";
	p->program_known = true;
	p->cgroup = "/a/b.service";
	p->unit = "b.service";
	p->unit_path = 12;
	p->controlled = true;
}

/* The next snapshot of the process that was read at NOW, after a change. */
static struct process next(void (*happen)(struct process *p), int64_t now)
{
	struct name_cache *k = name_cache_new();
	struct snapshot s = {.time_ms = NOW};
	static char name[32], cgroup[32];
	struct process p;

	assert_non_null(k);
	read_names(add(&s, 1));
	assert_int_equal(name_cache_update(k, &s), 0);
	snapshot_clear(&s);
	add(&s, 1);
	if (happen)
		happen(&s.process[0]);
	name_cache_apply(k, &s, now);
	p = s.process[0];
	snprintf(name, sizeof(name), "%s", p.name);
	snprintf(cgroup, sizeof(cgroup), "%s", p.cgroup ? p.cgroup : "");
	p.name = name;
	p.cgroup = cgroup;
	name_cache_free(k);
	snapshot_done(&s);
	return p;
}

static void begins_anew(struct process *p)
{
	p->start_ns++;
}

static void execs(struct process *p)
{
	p->mm_key++;
}

static void is_renamed(struct process *p)
{
	strcpy(p->comm, "other");
}

static void moves(struct process *p)
{
	p->cgroup_key++;
}

static void is_read_from_proc(struct process *p)
{
	p->counters_source = FROM_PROC;
}

static void ends(struct process *p)
{
	p->kind = PROCESS_ZOMBIE;
}

static void has_no_key(struct process *p)
{
	p->mm_key = 0;
}

TEST(same)
{
	struct process p = next(NULL, NOW + 1000);

	assert_string_equal(p.name, "program.py");
	assert_true(p.program_known);
	assert_string_equal(p.cgroup, "/a/b.service");
	assert_true(p.controlled);
	assert_int_equal(p.unit_path, 12);
	assert_int_equal(p.names_ms, NOW);
}

TEST(another)
{
	static void (*const happen[])(struct process *) = {begins_anew, execs, is_read_from_proc,
							   ends, has_no_key};

	for (size_t i = 0; i < sizeof(happen) / sizeof(happen[0]); i++) {
		struct process p = next(happen[i], NOW + 1000);

		assert_string_equal(p.name, "python3");
		assert_false(p.program_known);
		assert_string_equal(p.cgroup, "");
		assert_int_equal(p.names_ms, 0);
	}
}

TEST(half)
{
	struct process p = next(is_renamed, NOW + 1000);

	assert_string_equal(p.name, "python3");
	assert_string_equal(p.cgroup, "/a/b.service");
	p = next(moves, NOW + 1000);
	assert_string_equal(p.name, "program.py");
	assert_string_equal(p.cgroup, "");
}

TEST(age)
{
	struct process p = next(NULL, NOW + 60000);

	assert_true(p.program_known);
	p = next(NULL, NOW + 60001);
	assert_false(p.program_known);
	/* The clock was set back: the age is unknown. */
	p = next(NULL, NOW - 1);
	assert_false(p.program_known);
}

/* An entry keeps its age over snapshots, and the memory does not grow. */
TEST(handed_on)
{
	struct name_cache *k = name_cache_new();
	struct mallinfo2 before = {}, after;
	struct snapshot s = {};

	assert_non_null(k);
	for (int round = 0; round < 59; round++) {
		s.time_ms = NOW + round * 1000;
		snapshot_clear(&s);
		for (pid_t pid = 1; pid <= 500; pid++)
			add(&s, pid * 3);
		name_cache_apply(k, &s, s.time_ms);
		for (size_t i = 0; i < s.count; i++) {
			assert_int_equal(s.process[i].program_known, round > 0);
			if (!round)
				read_names(&s.process[i]);
		}
		assert_int_equal(name_cache_update(k, &s), 0);
		assert_string_equal(s.process[499].name, "program.py");
		if (round == 5)
			before = mallinfo2();
	}
	after = mallinfo2();
	assert_int_equal(after.uordblks + after.hblkhd, before.uordblks + before.hblkhd);
	/* Entries of ended processes are dropped. */
	snapshot_clear(&s);
	assert_int_equal(name_cache_update(k, &s), 0);
	add(&s, 3);
	name_cache_apply(k, &s, s.time_ms);
	assert_false(s.process[0].program_known);
	name_cache_free(k);
	name_cache_free(NULL);
	snapshot_done(&s);
}
