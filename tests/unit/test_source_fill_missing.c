// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Counters that BPF could not read come from /proc/PID/status. fill_missing() is static, so the
 * test includes the file; /proc is a tree of files in a temporary directory.
 */
#include "unit.h"

#include "proc_tree.h"
#include "source/source.c"

#define STATUS_HEAD "Name:\tx\nState:\tS (sleeping)\nPid:\t1\nUid:\t1\t1000\t1\t1\nThreads:\t1\n"
#define STATUS_RSS                                                                                                   \
	"VmSize:\t    9000 kB\nVmLck:\t       1 kB\nVmPin:\t       2 kB\nVmHWM:\t     700 kB\nVmRSS:\t     600 kB\n" \
	"RssAnon:\t     100 kB\nRssFile:\t     200 kB\nRssShmem:\t     300 kB\n"
#define STATUS_ALL                                                                                 \
	STATUS_HEAD STATUS_RSS                                                                     \
		"VmPTE:\t      40 kB\nVmSwap:\t      50 kB\nHugetlbPages:\t    2048 kB\n"
#define STATUS_SWAP STATUS_HEAD STATUS_RSS "VmPTE:\t      40 kB\nVmSwap:\t      50 kB\n"

#define PROCESSES   5

struct fixture {
	struct proc_tree tree;
	struct snapshot snapshot;
};

/* Processes with pids from 1, which BPF could not read. */
static void begin(struct fixture *f)
{
	proc_tree_init(&f->tree);
	for (pid_t pid = 1; pid <= PROCESSES; pid++) {
		struct process *p = snapshot_add(&f->snapshot);
		char path[32];

		assert_non_null(p);
		*p = (struct process){.pid = pid, .raced = true, .counters_source = FROM_BPF};
		proc_tree_add(&f->tree, pid);
		snprintf(path, sizeof(path), "%d/status", pid);
		proc_tree_put_text(&f->tree, path, STATUS_ALL);
	}
}

static void end(struct fixture *f)
{
	proc_tree_done(&f->tree);
	snapshot_done(&f->snapshot);
}

FIXTURE(begin, end)

/* Gives the process every counter but `missing`, each with the value 7. */
static void set_all_but(struct process *p, counter_mask missing)
{
	for (int c = 0; c < COUNTERS_OF_PROCESS; c++) {
		if (!(missing & COUNTER_BIT(c)))
			process_set(p, c, 7);
	}
}

static void check_untouched(const struct process *p)
{
	assert_int_equal(p->have, 0);
	assert_int_equal(p->uid, 0);
	assert_true(p->raced);
	assert_int_equal(p->counters_source, FROM_BPF);
}

FIXTURE_TEST(all_counters)
{
	static const struct {
		enum counter counter;
		uint64_t kib;
	} want[] = {
		{COUNTER_VSIZE, 9000},	 {COUNTER_LOCKED, 1},	  {COUNTER_PINNED, 2},
		{COUNTER_RSS_ANON, 100}, {COUNTER_RSS_FILE, 200}, {COUNTER_RSS_SHMEM, 300},
		{COUNTER_PGTABLES, 40},	 {COUNTER_SWAP, 50},	  {COUNTER_HUGETLB, 2048},
		{COUNTER_PEAK, 700},
	};
	const struct process *p = f->snapshot.process;

	fill_missing(&f->tree.proc, &f->snapshot);
	for (size_t i = 0; i < ARRAY_SIZE(want); i++) {
		assert_true(process_has(p, want[i].counter));
		assert_int_equal(p->value[want[i].counter], want[i].kib * 1024);
	}
	assert_int_equal(p->have, status_counters() | COUNTER_BIT(COUNTER_MAJFLT));
	assert_int_equal(p->uid, 1000);
	assert_false(p->raced);
	assert_false(p->leader_exited);
	assert_int_equal(p->counters_source, FROM_PROC);
}

/* A counter that this kernel's status lacks is looked for once. */
FIXTURE_TEST(counter_absent_in_status)
{
	struct process *p = f->snapshot.process;

	for (int i = 0; i < 2; i++) {
		set_all_but(&p[i], COUNTER_BIT(COUNTER_HUGETLB));
		proc_tree_put_text(&f->tree, i ? "2/status" : "1/status", STATUS_SWAP);
	}
	fill_missing(&f->tree.proc, &f->snapshot);
	assert_false(process_has(&p[0], COUNTER_HUGETLB));
	assert_int_equal(p[0].uid, 1000); /* its status was read */
	assert_int_equal(p[1].uid, 0);	  /* not read */
	/* Other counters are still looked for. */
	assert_int_equal(p[2].value[COUNTER_SWAP], 50 * 1024);
}

/* Kernel threads and zombies have no memory; a pid may be free, or belong to another process. */
FIXTURE_TEST(others)
{
	struct process *p = f->snapshot.process;

	p[0].kind = PROCESS_KTHREAD;
	p[1].kind = PROCESS_ZOMBIE;
	p[2].start_ns = UINT64_C(5000000000);
	p[3].pid = 77;
	fill_missing(&f->tree.proc, &f->snapshot);
	for (int i = 0; i < 4; i++)
		check_untouched(&p[i]);
	assert_int_equal(p[4].have, status_counters() | COUNTER_BIT(COUNTER_MAJFLT));
}

/* The status of an exited leader has no memory; the status of its threads has. */
FIXTURE_TEST(leader_exited)
{
	proc_tree_sh(&f->tree, "mkdir -p 1/task/9 && sed 's/1/9/' 1/stat >1/task/9/stat");
	proc_tree_put_text(&f->tree, "1/status", STATUS_HEAD);
	proc_tree_put_text(&f->tree, "1/task/9/status", STATUS_ALL);
	fill_missing(&f->tree.proc, &f->snapshot);
	assert_true(f->snapshot.process[0].leader_exited);
	assert_int_equal(f->snapshot.process[0].value[COUNTER_RSS_FILE], 200 * 1024);
}

/* /proc of another pid namespace has other processes under these pids. */
FIXTURE_TEST(proc_not_trusted)
{
	f->tree.proc.trusted = false;
	fill_missing(&f->tree.proc, &f->snapshot);
	for (int i = 0; i < PROCESSES; i++)
		check_untouched(&f->snapshot.process[i]);
}
