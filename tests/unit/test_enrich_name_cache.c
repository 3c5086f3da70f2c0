// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Cached names belong to the same process without exec or move, and to no other. */
#include "unit.h"

#include "enrich/enrich.h"
#include "heap.h"

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
	p->app = "shop/program.py";
	p->program_known = true;
	p->cgroup = "/a/b.service";
	p->unit = "b.service";
	p->unit_path = 12;
	p->controlled = true;
}

enum change { NONE, BEGINS_ANEW, EXECS, IS_RENAMED, MOVES, IS_READ_FROM_PROC, ENDS, HAS_NO_KEY };

/* The next snapshot of the process that was read at NOW, after a change. */
static struct process next(enum change change, int64_t now)
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
	s.process[0].start_ns += change == BEGINS_ANEW;
	s.process[0].mm_key += change == EXECS;
	s.process[0].cgroup_key += change == MOVES;
	if (change == IS_RENAMED)
		strcpy(s.process[0].comm, "other");
	if (change == IS_READ_FROM_PROC)
		s.process[0].counters_source = FROM_PROC;
	if (change == ENDS)
		s.process[0].kind = PROCESS_ZOMBIE;
	if (change == HAS_NO_KEY)
		s.process[0].mm_key = 0;
	name_cache_apply(k, &s, now);
	p = s.process[0];
	assert_int_equal(p.app && strcmp(p.app, "shop/program.py") == 0, p.program_known);
	snprintf(name, sizeof(name), "%s", p.name);
	snprintf(cgroup, sizeof(cgroup), "%s", p.cgroup ? p.cgroup : "");
	p.name = name;
	p.cgroup = cgroup;
	name_cache_free(k);
	snapshot_done(&s);
	return p;
}

TEST(same)
{
	struct process p = next(NONE, NOW + 1000);

	assert_true(p.controlled);
	assert_int_equal(p.unit_path, 12);
	assert_int_equal(p.names_ms, NOW);
}

/* What stays known after a change, or at another time. */
TEST(changes)
{
	static const struct {
		enum change change;
		int64_t later;
		bool program, cgroup;
	} cases[] = {
		{NONE, 1000, true, true},
		{BEGINS_ANEW, 1000, false, false},
		{EXECS, 1000, false, false},
		{IS_READ_FROM_PROC, 1000, false, false},
		{ENDS, 1000, false, false},
		{HAS_NO_KEY, 1000, false, false},
		{IS_RENAMED, 1000, false, true},
		{MOVES, 1000, true, false},
		{NONE, 60000, true, true},
		{NONE, 60001, false, false},
		/* The clock was set back: the age is unknown. */
		{NONE, -1, false, false},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct process p = next(cases[i].change, NOW + cases[i].later);

		assert_string_equal(p.name, cases[i].program ? "program.py" : "python3");
		assert_int_equal(p.program_known, cases[i].program);
		assert_string_equal(p.cgroup, cases[i].cgroup ? "/a/b.service" : "");
		assert_int_equal(p.names_ms != 0, cases[i].program || cases[i].cgroup);
	}
}

/* An entry keeps its age over snapshots, and the memory does not grow. */
TEST(handed_on)
{
	struct name_cache *k = name_cache_new();
	cleanup(snapshot_done) struct snapshot s = {};
	size_t before = 0;

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
			before = heap_in_use();
	}
	assert_int_equal(heap_in_use(), before);
	/* Entries of ended processes are dropped. */
	snapshot_clear(&s);
	assert_int_equal(name_cache_update(k, &s), 0);
	add(&s, 3);
	name_cache_apply(k, &s, s.time_ms);
	assert_false(s.process[0].program_known);
	name_cache_free(k);
	name_cache_free(NULL);
}
