// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* More processes hang than workers may be left behind. */
#include "unit.h"

#include "pool_tree.h"

static size_t files(void)
{
	cleanup_closedir DIR *dir = opendir("/proc/self/fd");
	size_t count = 0;

	assert_non_null(dir);
	while (readdir(dir))
		count++;
	return count;
}

#define STUCK_OF_A_UID 30

static void make_crowd(struct fixture *f)
{
	for (int i = 0; i < PROCESSES; i++)
		f->process[i].uid = (uid_t)(i < STUCK_OF_A_UID ? 1000 : 2000);
	for (int i = 0; i < STUCK_OF_A_UID; i++)
		make_stuck(f, i);
}

/* Many processes of one user hang: they block a bounded number of threads and no other user. */
TEST_WITH(stuck_of_one_user, setup, teardown)
{
	struct fixture *f = *state;
	size_t threads_before = threads(), files_before = files();
	struct proc_pool *pool = proc_pool_new(&f->proc, 4, 20);

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
	assert_true(files() <= files_before + 2 * (16 + 4 + 3));
	proc_pool_free(pool);
	for (int i = 0; i < STUCK_OF_A_UID; i++)
		release(f, i);
	for (int i = 0; i < 1000 && threads() > threads_before; i++)
		usleep(10000);
	assert_int_equal(threads(), threads_before);
}

/* Processes of many users hang: the bound holds, and the read ends. */
TEST_WITH(stuck_of_all, setup, teardown)
{
	const int names[] = {POOL_ROLLUP, POOL_CGROUP, POOL_CMDLINE};
	struct fixture *f = *state;
	size_t threads_before = threads();
	struct proc_pool *pool = proc_pool_new(&f->proc, 4, 20);
	char path[128];

	for (int i = 0; i < PROCESSES; i++) {
		f->process[i].uid = (uid_t)(1000 + i);
		make_stuck(f, i);
		snprintf(path, sizeof(path), "%s/%d/cgroup", f->dir, 1000 + i);
		assert_int_equal(unlink(path), 0);
		assert_int_equal(mkfifo(path, 0644), 0);
		snprintf(path, sizeof(path), "%s/%d/cmdline", f->dir, 1000 + i);
		assert_int_equal(mkfifo(path, 0644), 0);
	}
	for (int round = 0; round < 2; round++) {
		for (size_t n = 0; n < ARRAY_SIZE(names); n++) {
			pool_patient(pool);
			assert_int_equal(pool_read(pool, (enum pool_file)names[n], false, f->row,
						   PROCESSES, f->result),
					 0);
			for (int i = 0; i < PROCESSES; i++)
				assert_int_equal(f->result[i].status, PSS_TIMEOUT);
		}
	}
	/* 64 of 120, and those that ran when the bound was reached. */
	assert_true(threads() <= threads_before + 64 + 4);
	assert_false(pool_alone(pool));
	for (int i = 0; i < PROCESSES; i++) {
		static const char *const file[] = {"smaps_rollup", "cgroup", "cmdline"};

		for (size_t n = 0; n < ARRAY_SIZE(file); n++) {
			int fd;

			snprintf(path, sizeof(path), "%s/%d/%s", f->dir, 1000 + i, file[n]);
			fd = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
			if (fd >= 0)
				close(fd);
			unlink(path);
		}
		write_text(f, 1000 + i, "smaps_rollup", "Rss: 8 kB\nPss: 3 kB\n");
	}
	/* After the processes answer there are workers again. */
	for (int i = 0; i < 1000 && read_one(f, pool, POOL_ROLLUP) != PSS_OK; i++)
		usleep(10000);
	assert_int_equal(f->result[0].status, PSS_OK);
	proc_pool_free(pool);
}
