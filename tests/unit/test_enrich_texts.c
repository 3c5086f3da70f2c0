// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Texts of /proc: results of workers, cgroups, command lines, the machine. */
#include "unit.h"

#include <sys/utsname.h>

#include "enrich/enrich.h"
#include "enrich/pool_file.h"
#include "proc_tree.h"

#define ID     "3f9a6b5d1c0e2f7a8b4c6d9e1f0a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c"
#define ROLLUP "Rss: 8 kB\nPss: 7 kB\nSwap: 0 kB\n"

TEST(statuses)
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
	struct pool_result result;

	for (size_t i = 0; i < ARRAY_SIZE(reading); i++) {
		const char *text = reading[i].text;

		pool_understand(POOL_ROLLUP, text, text ? (ssize_t)strlen(text) : reading[i].error,
				&result);
		assert_int_equal(result.status, reading[i].status);
		assert_int_equal(result.error, 0);
		assert_null(result.text);
	}
	assert_int_equal(result.counters.value[SMAPS_PSS], 7 * 1024);
	/* Our own lack of files is an error, not a property of the process. */
	pool_understand(POOL_ROLLUP, NULL, -EMFILE, &result);
	assert_int_equal(result.error, -EMFILE);
}

/* One process is read for all with the same key; key 0 is equal to no other. */
TEST(cgroups)
{
	struct process p[] = {
		{.pid = 1, .cgroup_key = 77}, {.pid = 2, .cgroup_key = 77}, {.pid = 3},
		{.pid = 4, .cgroup_key = 78}, {.pid = 5, .cgroup_key = 77}, {.pid = 6}};
	struct process *row[] = {&p[1], &p[2], &p[3], &p[4], &p[5]};
	cleanup(snapshot_done) struct snapshot s = {};
	cleanup(proc_tree_done) struct proc_tree t;
	struct process_list rows = {row, ARRAY_SIZE(row)};
	struct proc_pool *pool;

	proc_tree_init(&t);
	for (int pid = 2; pid <= 5; pid++)
		proc_tree_add(&t, pid);
	/* 2 cannot be read, so 5 is. 4 cannot be read and is alone, 6 is gone. */
	proc_tree_put_text(&t, "5/cgroup", "0::/a.slice/b.service/" ID "\n");
	proc_tree_put_text(&t, "3/cgroup", "0::/c\n");
	pool = proc_pool_new(&t.proc, 2, 5000);
	assert_int_equal(enrich_cgroups(pool, &s, &rows), 0);
	for (int i = 1; i <= 4; i += 3) {
		assert_string_equal(p[i].cgroup, "/a.slice/b.service/" ID);
		assert_string_equal(p[i].unit, "b.service");
		assert_string_equal(p[i].container, "3f9a6b5d1c0e");
		assert_int_equal(p[i].unit_path, strlen("/a.slice/b.service"));
		assert_int_equal(p[i].container_path, strlen(p[i].cgroup));
		assert_true(p[i].controlled);
	}
	assert_string_equal(p[2].cgroup, "/c");
	assert_false(p[3].controlled);
	assert_null(p[3].cgroup);
	assert_null(p[5].cgroup);
	assert_null(p[0].cgroup);
	proc_pool_free(pool);
}

/* Units and containers have the names that test_proc_cgroup.c has, and lead to their cgroups. */
TEST(managers)
{
	static const char user[] = "/user.slice/user-1000.slice/user@1000.service/app.slice/";
	cleanup(snapshot_done) struct snapshot s = {};
	struct process p = {};
	char path[256];

	snprintf(path, sizeof(path), "%spostgresql.service/lxc.payload.web/x (deleted)", user);
	assert_int_equal(enrich_cgroup_path(&s, &p, path), 0);
	assert_string_equal(p.cgroup, path);
	assert_string_equal(p.unit, "postgresql.service (user 1000)");
	assert_int_equal(p.unit_path, strlen(user) + strlen("postgresql.service"));
	assert_string_equal(p.container, "web (user 1000)");
	assert_int_equal(p.container_status, CONTAINER_NONE);
	/* It may be there: a cgroup can have this name. */
	assert_true(p.controlled);
	assert_int_equal(enrich_cgroup_path(&s, &p, "/machine.slice/machine-a\\x2db.scope"), 0);
	assert_string_equal(p.unit, "machine-a\\x2db.scope");
	assert_string_equal(p.container, "a-b");
	/* The owner of a container with an id is found later, and put behind its name then. */
	snprintf(path, sizeof(path), "%slibpod-" ID ".scope", user);
	assert_int_equal(enrich_cgroup_path(&s, &p, path), 0);
	assert_string_equal(p.unit, "libpod-" ID ".scope (user 1000)");
	assert_string_equal(p.container, "3f9a6b5d1c0e");
	assert_int_equal(p.container_status, CONTAINER_UNREAD);
}

TEST(texts)
{
	char *longer = malloc(100000);
	struct process p = {.pid = 1, .name = "a"}, *row[] = {&p};
	cleanup(snapshot_done) struct snapshot s = {};
	cleanup(proc_tree_done) struct proc_tree t;
	struct process_list rows = {row, 1};
	struct pool_result result;
	struct proc_pool *pool;

	proc_tree_init(&t);
	proc_tree_add(&t, 1);
	memset(longer, 'x', 100000);
	proc_tree_put(&t, "1/cmdline", "a\0b\0", 4);
	proc_tree_put(&t, "1/status", longer, 100000);
	pool = proc_pool_new(&t.proc, 2, 5000);
	assert_int_equal(enrich_cmdlines(pool, &s, &rows), 0);
	assert_string_equal(p.cmdline, "a b");
	assert_false(p.cmdline_truncated);
	p.cmdline = NULL;
	proc_tree_put(&t, "1/cmdline", longer, 100000);
	assert_int_equal(enrich_cmdlines(pool, &s, &rows), 0);
	assert_int_equal(strlen(p.cmdline), POOL_CMDLINE_MAX);
	assert_true(p.cmdline_truncated);
	assert_int_equal(pool_read(pool, POOL_STATUS, false, row, 1, &result), 0);
	assert_true(result.len < 10000 && result.len > 1000);
	assert_int_equal(strlen(result.text), result.len);
	free(result.text);
	free(longer);
	proc_pool_free(pool);
}

/* What no file says is unknown; names and numbers of the host come from system calls. */
TEST(machine)
{
	cleanup(proc_tree_done) struct proc_tree t;
	struct host_info host;
	struct system_info info;
	struct utsname uts;

	proc_tree_init(&t);
	memset(&host, 1, sizeof(host));
	memset(&info, 1, sizeof(info));
	machine_read(&t.proc, &host, &info);
	uname(&uts);
	assert_string_equal(host.name, uts.nodename);
	assert_string_equal(host.kernel_release, uts.release);
	assert_string_equal(host.arch, uts.machine);
	assert_int_equal(host.page_size, sysconf(_SC_PAGESIZE));
	assert_int_equal(host.cpus, sysconf(_SC_NPROCESSORS_ONLN));
	assert_true(host.boot_ms > 0);
	assert_string_equal(host.boot_id, "");
	assert_int_equal(info.meminfo.have, 0);
	assert_true(!info.pressure.known && !info.swapped.known && !info.swaps_known);
	proc_tree_put_text(&t, "swaps", "nonsense\n");
	machine_read(&t.proc, &host, &info);
	assert_false(info.swaps_known);
	proc_tree_put_text(&t, "swaps", "Filename\n/a\\040b file 8 4 -2\n");
	proc_tree_sh(&t, "mkdir -p sys/kernel/random pressure\n"
			 "echo of-this-boot >sys/kernel/random/boot_id\n"
			 "echo 'some avg10=1.50 avg60=0.00 avg300=0.00 total=8\n"
			 "full avg10=0.25 avg60=0.00 avg300=0.00 total=2' >pressure/memory\n"
			 "echo 'nr_free_pages 1\npswpin 3\npswpout 4' >vmstat");
	machine_read(&t.proc, &host, &info);
	assert_string_equal(host.boot_id, "of-this-boot");
	assert_true(info.pressure.known && info.swapped.known);
	assert_int_equal(info.pressure.some_avg10, 150);
	assert_int_equal(info.pressure.full_avg10, 25);
	assert_int_equal(info.swapped.in, 3 * host.page_size);
	assert_int_equal(info.swapped.out, 4 * host.page_size);
	assert_true(info.swaps_known && info.swap_count == 1);
	assert_string_equal(info.swap[0].name, "/a b");
}
