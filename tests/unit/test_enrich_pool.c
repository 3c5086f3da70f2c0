// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Workers on a /proc made of files. */
#include "unit.h"

#include "pool_tree.h"

FIXTURE_TEST(reads_all)
{
	struct proc_pool *pool = proc_pool_new(&f->tree.proc, 3, 2000);

	for (int round = 0; round < 20; round++) {
		memset(f->result, 0, sizeof(f->result));
		assert_int_equal(
			pool_read(pool, POOL_ROLLUP, round % 2, f->row, PROCESSES, f->result), 0);
		for (int i = 0; i < PROCESSES; i++) {
			assert_int_equal(f->result[i].status, PSS_OK);
			assert_int_equal(f->result[i].counters.value[SMAPS_PSS], i * 1024);
		}
	}
	assert_int_equal(pool_rollups(pool), 20 * PROCESSES);
	proc_pool_free(pool);
}

FIXTURE_TEST(texts)
{
	struct proc_pool *pool = proc_pool_new(&f->tree.proc, 2, 2000);

	/* An empty batch needs no thread, so no missing thread is noted. */
	assert_int_equal(pool_read(pool, POOL_ROLLUP, false, f->row, 0, f->result), 0);
	assert_false(pool_alone(pool));
	assert_int_equal(pool_read(pool, POOL_CGROUP, true, f->row, PROCESSES, f->result), 0);
	for (int i = 0; i < PROCESSES; i++) {
		assert_int_equal(f->result[i].status, PSS_OK);
		assert_string_equal(f->result[i].text, "0::/some/path\n");
		free(f->result[i].text);
	}
	assert_int_equal(pool_rollups(pool), 0);
	proc_pool_free(pool);
}

FIXTURE_TEST(stuck_costs_its_row)
{
	struct proc_pool *pool = proc_pool_new(&f->tree.proc, 2, 100);
	static const int stuck[] = {0, 7, 8, 9, 20, 39};

	for (size_t i = 0; i < ARRAY_SIZE(stuck); i++)
		make_stuck(f, stuck[i]);
	assert_int_equal(pool_read(pool, POOL_ROLLUP, false, f->row, PROCESSES, f->result), 0);
	for (int i = 0; i < PROCESSES; i++) {
		bool is_stuck = false;

		for (size_t k = 0; k < ARRAY_SIZE(stuck); k++)
			is_stuck |= stuck[k] == i;
		assert_int_equal(f->result[i].status, is_stuck ? PSS_TIMEOUT : PSS_OK);
	}
	/* The next batch has workers again; those left behind do no harm when their reads return.
	 */
	for (size_t i = 0; i < ARRAY_SIZE(stuck); i++)
		release(f, stuck[i]);
	assert_int_equal(pool_read(pool, POOL_CGROUP, false, f->row, 2, f->result), 0);
	assert_int_equal(f->result[1].status, PSS_OK);
	free(f->result[0].text);
	free(f->result[1].text);
	proc_pool_free(pool);
}

static void *write_later(void *arg)
{
	const struct fixture *f = arg;

	usleep(300000); /* time itself: longer than a hurried reader waits */
	proc_tree_put_text(&f->tree, "1004/smaps_rollup", "Rss: 8 kB\nPss: 3 kB\n");
	return NULL;
}

/* Deadlines get shorter within a snapshot; the next snapshot resets them. */
FIXTURE_TEST(patience_comes_back)
{
	struct proc_pool *pool = proc_pool_new(&f->tree.proc, 1, 60000);
	pthread_t writer;

	make_stuck(f, 3);
	make_stuck(f, 4);
	pool_hurry(pool, 1);
	assert_int_equal(pool_read(pool, POOL_ROLLUP, false, f->row + 3, 1, f->result), 0);
	assert_int_equal(f->result[0].status, PSS_TIMEOUT);
	pool_patient(pool);
	assert_int_equal(pthread_create(&writer, NULL, write_later, f), 0);
	assert_int_equal(pool_read(pool, POOL_ROLLUP, false, f->row + 4, 1, f->result), 0);
	assert_int_equal(f->result[0].status, PSS_OK);
	pthread_join(writer, NULL);
	release(f, 3);
	proc_pool_free(pool);
}

/* One worker waits for a stuck process and file, however often the file is requested. */
FIXTURE_TEST(stuck_keeps_one_worker)
{
	struct proc_pool *pool = proc_pool_new(&f->tree.proc, 2, 20);
	size_t once;

	make_stuck(f, 3);
	assert_int_equal(read_one(f, pool, POOL_ROLLUP), PSS_TIMEOUT);
	assert_int_equal(read_one(f, pool, POOL_CGROUP), PSS_OK);
	once = threads();
	for (int round = 0; round < 20; round++) {
		assert_int_equal(read_one(f, pool, POOL_ROLLUP), PSS_TIMEOUT);
		assert_int_equal(read_one(f, pool, POOL_CGROUP), PSS_OK);
	}
	assert_true(threads() <= once + 1);
	/* Also among other processes. */
	pool_patient(pool);
	assert_int_equal(pool_read(pool, POOL_ROLLUP, false, f->row, PROCESSES, f->result), 0);
	assert_int_equal(f->result[3].status, PSS_TIMEOUT);
	assert_int_equal(f->result[4].status, PSS_OK);
	/* Another process with this pid is not stuck; nor is this one after it answers. */
	proc_tree_sh(&f->tree, "mv 1003/smaps_rollup 1005/smaps_rollup");
	proc_tree_put_text(&f->tree, "1003/smaps_rollup", "Rss: 8 kB\nPss: 3 kB\n");
	assert_int_equal(read_one(f, pool, POOL_ROLLUP), PSS_TIMEOUT);
	f->process[3].start_ns++;
	assert_int_equal(read_one(f, pool, POOL_ROLLUP), PSS_OK);
	f->process[3].start_ns--;
	release(f, 5);
	for (int i = 0; i < 1000 && read_one(f, pool, POOL_ROLLUP) != PSS_OK; i++)
		usleep(10000);
	assert_int_equal(f->result[0].status, PSS_OK);
	proc_pool_free(pool);
}

FIXTURE_TEST(freed_while_stuck)
{
	struct proc_pool *pool = proc_pool_new(&f->tree.proc, 1, 50);

	make_stuck(f, 3);
	assert_int_equal(pool_read(pool, POOL_ROLLUP, false, f->row + 3, 1, f->result), 0);
	assert_int_equal(f->result[0].status, PSS_TIMEOUT);
	proc_pool_free(pool);
	/* The read of the last worker returns, and the worker frees the pool. */
	release(f, 3);
	usleep(100000);
}

/* The read of a worker left behind returns just when the pool and its other workers end. */
FIXTURE_TEST(freed_as_one_comes_back)
{
	make_stuck(f, 3);
	for (int round = 0; round < 50; round++) {
		struct proc_pool *pool = proc_pool_new(&f->tree.proc, 8, 20);

		assert_int_equal(pool_read(pool, POOL_ROLLUP, false, f->row, PROCESSES, f->result),
				 0);
		assert_int_equal(f->result[3].status, PSS_TIMEOUT);
		release(f, 3);
		proc_pool_free(pool);
	}
}

/* What cannot be read of a process, and then of the /proc of another pid namespace. */
FIXTURE_TEST(others)
{
	static const enum pss_status want[] = {PSS_OK, PSS_GONE, PSS_GONE, PSS_GONE,
					       PSS_UNSUPPORTED};
	struct proc_pool *pool = proc_pool_new(&f->tree.proc, 2, 2000);

	f->process[1].pid = 4000000;
	f->process[2].start_ns += 10000000; /* a reused pid */
	proc_tree_put_text(&f->tree, "1003/smaps_rollup", "");
	proc_tree_put_text(&f->tree, "1004/smaps_rollup", "nonsense\n");
	assert_int_equal(pool_read(pool, POOL_ROLLUP, true, f->row, 5, f->result), 0);
	for (size_t i = 0; i < ARRAY_SIZE(want); i++)
		assert_int_equal(f->result[i].status, want[i]);
	proc_pool_free(pool);
	f->tree.proc.trusted = false;
	pool = proc_pool_new(&f->tree.proc, 2, 2000);
	assert_int_equal(read_one(f, pool, POOL_ROLLUP), PSS_UNSUPPORTED);
	assert_int_equal(read_one(f, pool, POOL_CGROUP), PSS_UNSUPPORTED);
	proc_pool_free(pool);
}

/* Without free files no process can be read. */
FIXTURE_TEST(no_files)
{
	struct proc_pool *pool = proc_pool_new(&f->tree.proc, 1, 2000);
	struct rlimit old, few;
	int r;

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
	few = old;
	for (rlim_t more = 0; more < 2; more++) {
		int next = open("/", O_RDONLY | O_CLOEXEC);

		close(next);
		few.rlim_cur = (rlim_t)next + more;
		setrlimit(RLIMIT_NOFILE, &few);
		r = pool_read(pool, POOL_CGROUP, true, f->row, 3, f->result);
		setrlimit(RLIMIT_NOFILE, &old);
		assert_int_equal(r, -EMFILE);
		assert_int_equal(f->result[0].status, PSS_UNSUPPORTED);
		assert_null(f->result[0].text);
	}
	proc_pool_free(pool);
}

/* The oldest process of a cgroup is read: the others may have ended, as here all have. */
FIXTURE_TEST(cgroup_of_many)
{
	struct proc_pool *pool = proc_pool_new(&f->tree.proc, 2, 2000);
	struct process_list rows = {f->row, 9};
	cleanup(snapshot_done) struct snapshot s = {};

	for (int i = 0; i < 9; i++)
		f->process[i].cgroup_key = 7;
	for (int i = 0; i < 8; i++)
		f->process[i].start_ns = (uint64_t)1 << 40;
	assert_int_equal(enrich_cgroups(pool, &s, &rows), 0);
	for (int i = 0; i < 9; i++)
		assert_string_equal(f->process[i].cgroup, "/some/path");
	proc_pool_free(pool);
}

/* ---- deep cgroups: their paths take CPU time ---- */

static int64_t slow_ns;	  /* what reading a cgroup takes */
static size_t slow_calls; /* of the clock, two for each read; later ones are fast */

int __real_clock_gettime(clockid_t clock, struct timespec *ret);
int __wrap_clock_gettime(clockid_t clock, struct timespec *ret);

int __wrap_clock_gettime(clockid_t clock, struct timespec *ret)
{
	static int64_t now;

	if (clock != CLOCK_THREAD_CPUTIME_ID)
		return __real_clock_gettime(clock, ret);
	if (slow_calls) {
		slow_calls--;
		now += slow_ns;
	}
	*ret = (struct timespec){now / 1000000000, now % 1000000000};
	return 0;
}

/* One worker reads the cgroups in their order. */
static void read_slow(struct fixture *f, struct proc_pool *pool, size_t reads, int64_t ns)
{
	slow_calls = 2 * reads;
	slow_ns = ns;
	assert_int_equal(pool_read(pool, POOL_CGROUP, false, f->row, PROCESSES, f->result), 0);
	for (int i = 0; i < PROCESSES; i++)
		free(f->result[i].text);
}

/* The processes of one user have 1 s of CPU time, and do not delay those of another one. */
FIXTURE_TEST(deep_cgroups_of_one_user)
{
	enum { OF_ONE_USER = 30, READS = 20 };
	struct proc_pool *pool = proc_pool_new(&f->tree.proc, 1, 2000);

	for (int i = 0; i < OF_ONE_USER; i++)
		f->process[i].uid = 1000;
	for (int round = 0; round < 2; round++) {
		pool_patient(pool);
		read_slow(f, pool, READS, 1000000000 / READS);
		for (int i = 0; i < PROCESSES; i++)
			assert_int_equal(f->result[i].status,
					 i >= READS && i < OF_ONE_USER ? PSS_TIMEOUT : PSS_OK);
	}
	/* It is over with the snapshot, and is for cgroups alone. */
	assert_int_equal(pool_read(pool, POOL_ROLLUP, false, f->row, PROCESSES, f->result), 0);
	for (int i = 0; i < PROCESSES; i++)
		assert_int_equal(f->result[i].status, PSS_OK);
	pool_patient(pool);
	read_slow(f, pool, 0, 0);
	for (int i = 0; i < PROCESSES; i++)
		assert_int_equal(f->result[i].status, PSS_OK);
	proc_pool_free(pool);
}

FIXTURE_TEST(deep_cgroups_of_all)
{
	struct proc_pool *pool = proc_pool_new(&f->tree.proc, 1, 2000);

	for (int i = 0; i < PROCESSES; i++)
		f->process[i].uid = (uid_t)i;
	read_slow(f, pool, PROCESSES, 100000000);
	for (int i = 0; i < PROCESSES; i++)
		assert_int_equal(f->result[i].status, i < 20 ? PSS_OK : PSS_TIMEOUT);
	proc_pool_free(pool);
}
