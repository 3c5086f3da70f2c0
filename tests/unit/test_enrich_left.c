// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* More processes hang than workers may be left behind. */
#include "unit.h"

#include "pool_tree.h"

#define STUCK_OF_A_UID 30

static void make_crowd(struct fixture *f)
{
	for (int i = 0; i < PROCESSES; i++)
		f->process[i].uid = (uid_t)(i < STUCK_OF_A_UID ? 1000 : 2000);
	for (int i = 0; i < STUCK_OF_A_UID; i++)
		make_stuck(f, i);
}

/* Many processes of one user hang: they block a bounded number of threads and no other user. */
FIXTURE_TEST(stuck_of_one_user)
{
	size_t threads_before = threads(), files_before = own("/proc/self/fd");
	struct proc_pool *pool = proc_pool_new(&f->tree.proc, 4, 20);

	make_crowd(f);
	for (int round = 0; round < 3; round++) {
		pool_patient(pool);
		assert_int_equal(pool_read(pool, POOL_ROLLUP, false, f->row, PROCESSES, f->result),
				 0);
		for (int i = 0; i < PROCESSES; i++)
			assert_int_equal(f->result[i].status,
					 i < STUCK_OF_A_UID ? PSS_TIMEOUT : PSS_OK);
	}
	/* 16 of them, 4 running, and those that ran when the bound was reached. */
	assert_true(threads() <= threads_before + 16 + 4 + 3);
	assert_true(own("/proc/self/fd") <= files_before + 2 * (16 + 4 + 3));
	proc_pool_free(pool);
	for (int i = 0; i < STUCK_OF_A_UID; i++)
		release(f, i);
	for (int i = 0; i < 1000 && threads() > threads_before; i++)
		usleep(10000);
	assert_int_equal(threads(), threads_before);
}

/* Processes of many users hang: the bound holds, and the read ends. */
FIXTURE_TEST(stuck_of_all)
{
	static const struct {
		enum pool_file file;
		const char *name;
	} files[] = {
		{POOL_ROLLUP, "smaps_rollup"}, {POOL_CGROUP, "cgroup"}, {POOL_CMDLINE, "cmdline"}};
	size_t threads_before = threads();
	struct proc_pool *pool = proc_pool_new(&f->tree.proc, 4, 20);

	for (int i = 0; i < PROCESSES; i++) {
		f->process[i].uid = (uid_t)(1000 + i);
		for (size_t n = 0; n < ARRAY_SIZE(files); n++)
			make_stuck_at(f, i, files[n].name);
	}
	for (size_t n = 0; n < 2 * ARRAY_SIZE(files); n++) {
		pool_patient(pool);
		assert_int_equal(pool_read(pool, files[n % ARRAY_SIZE(files)].file, false, f->row,
					   PROCESSES, f->result),
				 0);
		for (int i = 0; i < PROCESSES; i++)
			assert_int_equal(f->result[i].status, PSS_TIMEOUT);
	}
	/* 64 of 120, and those that ran when the bound was reached. */
	assert_true(threads() <= threads_before + 64 + 4);
	assert_false(pool_alone(pool));
	for (int i = 0; i < PROCESSES; i++) {
		for (size_t n = 0; n < ARRAY_SIZE(files); n++)
			release_at(f, i, files[n].name);
	}
	/* After the processes answer there are workers again. */
	proc_tree_sh(&f->tree, "for p in 1*; do rm $p/smaps_rollup; echo 'Rss: 8 kB\nPss: 3 kB' "
			       ">$p/smaps_rollup; done");
	for (int i = 0; i < 1000 && read_one(f, pool, POOL_ROLLUP) != PSS_OK; i++)
		usleep(10000);
	assert_int_equal(f->result[0].status, PSS_OK);
	proc_pool_free(pool);
}
