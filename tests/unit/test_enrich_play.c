// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What /proc adds, from a tape: the same results, whatever is asked and however often. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "pool_of_tape.h"
#include "enrich/enrich.h"

#define ID     "3f9a6b5d1c0e2f7a8b4c6d9e1f0a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c"
#define ROLLUP "Rss: 8 kB\nPss: 7 kB\nSwap: 0 kB\n"

static void test_statuses(void **state)
{
	static const struct {
		int error;
		const char *text;
		enum pss_status status;
	} reading[] = {{-ESRCH, NULL, PSS_GONE},
		       {-ENOENT, NULL, PSS_GONE},
		       {-EACCES, NULL, PSS_DENIED},
		       {-EPERM, NULL, PSS_DENIED},
		       {-ETIMEDOUT, NULL, PSS_TIMEOUT},
		       {-EIO, NULL, PSS_UNSUPPORTED},
		       {0, "", PSS_GONE},
		       {0, "nonsense", PSS_UNSUPPORTED},
		       {0, ROLLUP, PSS_OK}};
	struct process p = {.pid = 812}, q = {.pid = 813}, *row[] = {&p, &q};
	cleanup(round_done) struct round r = {};
	cleanup(pool_free) struct proc_pool *pool = NULL;
	struct pool_result result[2];
	struct tape *t = tape_blank();

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(reading); i++)
		tape_put(t, "812/smaps_rollup", reading[i].error, reading[i].text,
			 reading[i].text ? strlen(reading[i].text) : 0);
	round_play(&r, t);
	pool = pool_of(&r);
	for (size_t i = 0; i < ARRAY_SIZE(reading); i++) {
		assert_true(pool_has_next(pool, POOL_ROLLUP, &p));
		assert_int_equal(pool_read(pool, POOL_ROLLUP, true, row, 2, result), 0);
		assert_int_equal(result[0].status, reading[i].status);
		assert_false(result[0].again);
		assert_null(result[0].text);
		/* Of whom nothing was read nothing is known. */
		assert_int_equal(result[1].status, PSS_UNSUPPORTED);
		assert_true(result[1].again);
	}
	assert_int_equal(result[0].counters.value[ROLLUP_PSS], 7 * 1024);
	assert_false(pool_has_next(pool, POOL_ROLLUP, &p));
	assert_int_equal(pool_read(pool, POOL_ROLLUP, false, row, 2, result), 0);
	assert_int_equal(result[0].status, PSS_OK);
	assert_true(result[0].again);
	assert_int_equal(pool_rollups(pool), ARRAY_SIZE(reading));
}

static void test_cgroups(void **state)
{
	struct process p[] = {{.pid = 1, .cgroup_key = 77},
			      {.pid = 2, .cgroup_key = 77},
			      {.pid = 3},
			      {.pid = 4, .cgroup_key = 78},
			      {.pid = 5, .cgroup_key = 77}};
	struct process *row[] = {&p[1], &p[2], &p[3], &p[4]};
	cleanup(snapshot_done) struct snapshot s = {};
	cleanup(round_done) struct round r = {};
	cleanup(pool_free) struct proc_pool *pool = NULL;
	struct rows rows = {row, 4};
	struct tape *t = tape_blank();

	(void)state;
	tape_put_string(t, "cgroup/4d", "0::/a.slice/b.service/" ID "\n");
	tape_put_string(t, "3/cgroup", "0::/c\n");
	round_play(&r, t);
	pool = pool_of(&r);
	/* Process 1 was the one that was read, and is not asked for now. */
	assert_int_equal(enrich_cgroups(pool, &s, &rows), 0);
	for (int i = 1; i <= 4; i += 3) {
		assert_string_equal(p[i].cgroup, "/a.slice/b.service/" ID);
		assert_string_equal(p[i].unit, "b.service");
		assert_string_equal(p[i].container, "3f9a6b5d1c0e");
		assert_int_equal(p[i].unit_path, strlen("/a.slice/b.service"));
		assert_int_equal(p[i].container_path, strlen(p[i].cgroup));
		assert_true(p[i].controlled);
	}
	assert_false(p[3].controlled);
	assert_string_equal(p[2].cgroup, "/c");
	assert_null(p[3].cgroup);
}

static void test_texts(void **state)
{
	char *longer = calloc(1, 100000);
	struct process p = {.pid = 1, .name = "a"}, *row[] = {&p};
	cleanup(snapshot_done) struct snapshot s = {};
	cleanup(round_done) struct round r = {};
	cleanup(pool_free) struct proc_pool *pool = NULL;
	struct rows rows = {row, 1};
	struct pool_result result;
	struct tape *t = tape_blank();

	(void)state;
	memset(longer, 'x', 100000);
	tape_put(t, "1/cmdline", 0, "a\0b\0", 4);
	/* Nobody who reads files gets so much. */
	tape_put(t, "1/status", 0, longer, 100000);
	round_play(&r, t);
	pool = pool_of(&r);
	assert_int_equal(enrich_cmdlines(pool, &s, &rows), 0);
	assert_string_equal(p.cmdline, "a b");
	assert_int_equal(pool_read(pool, POOL_STATUS, false, row, 1, &result), 0);
	assert_true(result.len < 10000 && result.len > 1000);
	assert_int_equal(strlen(result.text), result.len);
	free(result.text);
	free(longer);
}

/* Read of a tree, with a process that is stuck, and played: the same. */
static void test_recorded(void **state)
{
	char dir[] = "/tmp/zmem-play-XXXXXX", path[128], command[256];
	struct process p[3] = {{.pid = 1000}, {.pid = 1001}, {.pid = 1002}};
	struct process *row[] = {&p[0], &p[1], &p[2]};
	struct pool_result live[3], played[3];
	cleanup(round_done) struct round r = {};
	cleanup(pool_free) struct proc_pool *pool = NULL;
	struct procfs proc = {.trusted = true, .tape = tape_blank()};
	int fd;

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(command, sizeof(command),
		 "cd %s && mkdir 1000 1002 && printf '%s' >1000/smaps_rollup && "
		 "mkfifo 1002/smaps_rollup && ln -s 1000 self",
		 dir, "Rss: 8 kB\\nPss: 7 kB\\n");
	assert_int_equal(system(command), 0);
	proc.fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	pool = proc_pool_new(&proc, 1, 50);
	assert_int_equal(pool_read(pool, POOL_ROLLUP, false, row, 3, live), 0);
	assert_int_equal(live[2].status, PSS_TIMEOUT);
	proc_pool_free(pool);
	round_play(&r, proc.tape);
	/* The one that was left behind comes back, and finds no tape to write on. */
	snprintf(path, sizeof(path), "%s/1002/smaps_rollup", dir);
	fd = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
	assert_true(fd >= 0);
	close(fd);
	pool = pool_of(&r);
	assert_int_equal(pool_read(pool, POOL_ROLLUP, false, row, 3, played), 0);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(played[i].status, live[i].status);
		assert_null(live[i].text);
		assert_memory_equal(&played[i].counters, &live[i].counters,
				    sizeof(live[i].counters));
	}
	assert_int_equal(played[0].status, PSS_OK);
	usleep(50000);
	close(proc.fd);
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	assert_int_equal(system(command), 0);
}

static void test_users(void **state)
{
	struct process p[] = {{.uid = 0}, {.uid = 4000000}, {.uid = 0}};
	struct process *row[] = {&p[0], &p[1], &p[2]};
	struct rows rows = {row, 3};
	cleanup(round_done) struct round r = {};
	struct user_table *live = user_table_new(), *played = user_table_blank();
	struct tape *t = tape_blank();
	uid_t uid = 7;

	(void)state;
	user_table_keep(live, &rows, t);
	tape_put_string(t, "user/7", "seven");
	tape_put_string(t, "user/x", "no number");
	tape_put_string(t, "user/99999999999", "no uid");
	round_play(&r, t);
	assert_int_equal(r.recording.readings, 5);
	user_table_play(played, r.tape);
	assert_string_equal(user_name(played, 0), "root");
	assert_string_equal(user_name(played, 7), "seven");
	assert_null(user_name(played, 4000000));
	/* This machine's users are no business of a recording's. */
	assert_null(user_name(played, 1));
	assert_int_equal(user_find(played, "daemon", &uid), -ENOENT);
	assert_int_equal(user_find(played, "root", &uid), 0);
	assert_int_equal(uid, 0);
	user_table_free(live);
	user_table_free(played);
}

static void test_machine(void **state)
{
	struct procfs proc;
	struct host_info host, played_host;
	struct system_info system, played_system;
	cleanup(round_done) struct round r = {};
	struct tape *t = tape_blank();

	(void)state;
	assert_int_equal(procfs_open(&proc, "/proc"), 0);
	proc.tape = t;
	machine_read(&proc, &host, &system);
	procfs_close(&proc);
	round_play(&r, t);
	procfs_replay(&proc, r.tape);
	memset(&played_host, 1, sizeof(played_host));
	machine_read(&proc, &played_host, &played_system);
	assert_string_equal(played_host.name, host.name);
	assert_string_equal(played_host.boot_id, host.boot_id);
	assert_string_equal(played_host.kernel_release, host.kernel_release);
	assert_string_equal(played_host.arch, host.arch);
	assert_int_equal(played_host.page_size, host.page_size);
	assert_int_equal(played_host.cpus, host.cpus);
	assert_true(played_host.boot_ms == host.boot_ms);
	assert_memory_equal(&played_system, &system, sizeof(system));
}

/* What an older recording does not have was not read; what is damaged in another is not believed.
 */
static void test_swaps(void **state)
{
	static const struct {
		const char *text;
		bool known;
		size_t count;
	} is[] = {
		{NULL, false, 0},
		{"", false, 0},
		{"nonsense\n", false, 0},
		{"Filename\n", true, 0},
		{"Filename\n/a\\040b file 8 4 -2\n/c file 1 1\n/d partition 2 1 0\n", true, 2},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(is); i++) {
		struct procfs proc;
		struct host_info host;
		struct system_info system;
		cleanup(round_done) struct round r = {};
		struct tape *t = tape_blank();

		tape_put_string(t, "meminfo", "MemTotal: 8 kB\n");
		if (is[i].text)
			tape_put_string(t, "swaps", is[i].text);
		round_play(&r, t);
		procfs_replay(&proc, r.tape);
		memset(&system, 1, sizeof(system));
		machine_read(&proc, &host, &system);
		assert_int_equal(system.meminfo.value[MEMINFO_TOTAL], 8192);
		assert_int_equal(system.swaps_known, is[i].known);
		assert_int_equal(system.swap_count, is[i].count);
		if (!is[i].count)
			continue;
		assert_string_equal(system.swap[0].name, "/a b");
		assert_int_equal(system.swap[0].used, 4096);
		assert_string_equal(system.swap[1].name, "/d");
	}
}

static void test_machine_of_lies(void **state)
{
	static const char zram[] = "zram0 1 2 3\nzram10 4 5 6\nzram2\nzram3 7 8\n\n"
				   "a-name-that-is-much-longer-than-names-are 1 1 1\nzram4 9 9 9";
	struct procfs proc;
	struct host_info host;
	struct system_info system;
	cleanup(round_done) struct round r = {};
	struct tape *t = tape_blank();
	char *longer = calloc(1, 5001);

	(void)state;
	memset(longer, 'n', 5000);
	tape_put_string(t, "zram", zram);
	tape_put_string(t, "host/name", longer);
	tape_put_string(t, "host/cpus", "99999999999");
	tape_put_string(t, "host/boot_ms", "18446744073709551615");
	round_play(&r, t);
	procfs_replay(&proc, r.tape);
	machine_read(&proc, &host, &system);
	assert_int_equal(system.zram_count, 3);
	assert_string_equal(system.zram[1].name, "zram10");
	assert_int_equal(system.zram[1].stat.used, 6);
	assert_string_equal(system.zram[2].name, "a-name-that-is-");
	assert_int_equal(strlen(host.name), sizeof(host.name) - 1);
	assert_int_equal(host.cpus, 0);
	assert_int_equal(host.boot_ms, 0);
	assert_string_equal(host.boot_id, "");
	assert_int_equal(system.meminfo.have, 0);
	free(longer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_statuses),	cmocka_unit_test(test_cgroups),
		cmocka_unit_test(test_texts),		cmocka_unit_test(test_recorded),
		cmocka_unit_test(test_users),		cmocka_unit_test(test_machine),
		cmocka_unit_test(test_machine_of_lies), cmocka_unit_test(test_swaps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
