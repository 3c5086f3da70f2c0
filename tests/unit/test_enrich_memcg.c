// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Charges and limits of memory cgroups, from trees that look like cgroup file systems. */
#include "unit.h"

#include <sys/resource.h>
#include "cgroup_tree.h"
#include "enrich/enrich.h"

#define ID	  "3f9a6b5d1c0e2f7a8b4c6d9e1f0a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c"
#define MIB	  ((uint64_t)1 << 20)
#define NONE	  UINT64_MAX
#define UNLIMITED "9223372036854771712"

static void assert_counter(const struct process *p, enum counter c, uint64_t want)
{
	uint64_t is = process_has(p, c) ? process_value(p, c) : NONE;

	if (is != want)
		fail_msg("%s: %s is %lld and not %lld", p->cgroup, counter_table[c].key,
			 (long long)is, (long long)want);
}

static void assert_counters(const struct process *p, uint64_t current, uint64_t limit)
{
	assert_counter(p, COUNTER_MEM_CURRENT, current);
	assert_counter(p, COUNTER_MEM_LIMIT, limit);
}

static struct snapshot memory;

/* Time for all cgroups. */
static uint64_t enough(void)
{
	return UINT32_MAX;
}

/* As groups have it. */
static void give_room(const struct process_list *rows)
{
	static struct charges room[1 << 14];
	static size_t used;

	for (size_t i = 0; i < rows->count; i++) {
		if (!rows->item[i]->charged)
			rows->item[i]->charged = &room[used++ % ARRAY_SIZE(room)];
		rows->item[i]->charged->have = 0;
	}
}

static void apply(const struct snapshot *s, struct process_list *rows)
{
	give_room(rows);
	memcgs_apply(s, rows);
}

static int enrich(const struct proc_tree *t, struct process_list *rows, bool details)
{
	uint64_t left_us = enough();

	give_room(rows);
	memory.collection = (struct collection){};
	return enrich_memcgs(&t->proc, &memory, rows, details, NULL, &left_us);
}

static void read_snapshot(const struct proc_tree *t, struct snapshot *s, struct process_list *rows,
			  bool details, uint64_t left_us)
{
	enum memcgs_asked asked = details ? MEMCGS_DETAILS : MEMCGS_FIGURES;

	assert_int_equal(memcgs_read(&t->proc, s, rows, asked, NULL, NULL, &left_us), 0);
}

static void read_details(const struct proc_tree *t, struct process *p, bool details)
{
	struct process_list rows = {&p, 1};

	assert_int_equal(enrich(t, &rows, details), 0);
}

static void assert_read(const struct proc_tree *t, const char *path, uint64_t current,
			uint64_t limit)
{
	struct process p = {.cgroup = path, .controlled = true};

	read_details(t, &p, false);
	assert_counters(&p, current, limit);
}

TEST(v2)
{
	cleanup(proc_tree_done) struct proc_tree t;

	tree_make(&t, "1 2 0:3 / / rw - ext4 /dev/sda1 rw\n41 31 0:38 / @/cg rw - cgroup2 none rw");
	/* The root has neither file. */
	sh(&t, "mkdir cg");
	v2(&t, "cg/a.slice", "3000000", "max");
	v2(&t, "cg/a.slice/b.service", "2000000", "104857600");
	v2(&t, "cg/a.slice/b.service/x y", "1000000", "max");
	v2(&t, "cg/a.slice/b.service/tight", "0", "0");
	v2(&t, "cg/kubepods/burstable/pod1", "4000", "65536");
	v2(&t, "cg/kubepods/burstable/pod1/" ID, "3000", "max");
	v2(&t, "cg/kubepods/burstable/pod1/" ID "/x", "2000", "4096");
	assert_read(&t, "/", NONE, NONE);
	assert_read(&t, "/a.slice", 3000000, NONE);
	assert_read(&t, "/a.slice/b.service", 2000000, 100 * MIB);
	assert_read(&t, "/a.slice/b.service/x y", 1000000, 100 * MIB);
	assert_read(&t, "/a.slice/b.service/tight", 0, 0);
	assert_read(&t, "/kubepods/burstable/pod1/" ID, 3000, 65536);
	assert_read(&t, "/kubepods/burstable/pod1/" ID "/x", 2000, 4096);
	/* A cgroup that is removed, outside, or not a cgroup. */
	assert_read(&t, "/a.slice/gone.service", NONE, NONE);
	assert_read(&t, "/a.slice/gone.service/x", NONE, NONE);
	assert_read(&t, "/../a.slice", NONE, NONE);
	assert_read(&t, "/a.slice/../a.slice", NONE, NONE);
	/* A cgroup without the memory controller. */
	sh(&t, "mkdir cg/a.slice/off");
	assert_read(&t, "/a.slice/off", NONE, NONE);
}

/* Any text in the files gives a whole number or no value. */
TEST(garbage)
{
	static const char *const garbage[] = {
		"''", "max", "-1", "1x", "0x10", "' 1'", "18446744073709551616", UNLIMITED,
	};
	cleanup(proc_tree_done) struct proc_tree t;

	tree_make(&t, "41 31 0:38 / @/cg rw - cgroup2 none rw");
	for (size_t i = 0; i < ARRAY_SIZE(garbage); i++) {
		v2(&t, "cg/a", garbage[i], "1000");
		assert_read(&t, "/a", NONE, NONE);
		v2(&t, "cg/a", "1000", garbage[i]);
		assert_read(&t, "/a", 1000, NONE);
	}
	sh(&t, "printf 12 >cg/a/memory.current");
	assert_read(&t, "/a", NONE, NONE);
	/* A link does not lead out. */
	v2(&t, "elsewhere", "1000", "1000");
	sh(&t, "ln -s ../elsewhere cg/link");
	assert_read(&t, "/link", NONE, NONE);
}

TEST(v1)
{
	cleanup(proc_tree_done) struct proc_tree t;

	tree_make(&t, "31 30 0:31 / @/cpu rw - cgroup cgroup rw,cpu\n"
		      "35 31 0:32 / @/m rw - cgroup cgroup rw,memory");
	v1(&t, "m", "9999", UNLIMITED, UNLIMITED);
	sh(&t, "touch m/release_agent");
	v1(&t, "m/docker", "3000000", "104857600", "104857600");
	v1(&t, "m/docker/" ID, "2000000", UNLIMITED, "104857600");
	/* Without use_hierarchy each cgroup counts alone. */
	v1(&t, "m/docker/alone", "5", "1073741824", "1073741824");
	assert_read(&t, "/docker/alone", 5, 1024 * MIB);
	v1(&t, "m/docker/nostat", "6", "1073741824", NULL);
	assert_read(&t, "/", NONE, NONE);
	assert_read(&t, "/docker", 3000000, 100 * MIB);
	assert_read(&t, "/docker/" ID, 2000000, 100 * MIB);
	assert_read(&t, "/docker/nostat", 6, 100 * MIB);
}

/* Memory is in v1 if v1 is mounted, in any order of mounts. */
TEST(hybrid)
{
	cleanup(proc_tree_done) struct proc_tree t;

	tree_make(&t, "41 31 0:38 / @/unified rw - cgroup2 none rw\n"
		      "35 31 0:32 / @/m rw - cgroup cgroup rw,memory\n"
		      "42 31 0:38 / @/unified rw - cgroup2 none rw");
	v1(&t, "m/a", "5", "6", NULL);
	v2(&t, "unified/a", "7", "8");
	assert_read(&t, "/a", 5, 6);
}

/* In a container: its own cgroup is the root of the mount, or of its namespace. */
TEST(below)
{
	cleanup(proc_tree_done) struct proc_tree t;

	tree_make(&t, "1 2 0:3 /docker/other @/other rw - cgroup none rw,memory\n"
		      "2 2 0:3 /docker/1 @/m rw - cgroup none rw,memory");
	v1(&t, "m", "5", UNLIMITED, "1000");
	v1(&t, "m/x", "4", UNLIMITED, "1000");
	sh(&t, "mkdir other");
	assert_read(&t, "/docker/1", 5, 1000);
	assert_read(&t, "/docker/1/x", 4, 1000);
	assert_read(&t, "/docker/10", NONE, NONE);
	assert_read(&t, "/docker", NONE, NONE);
	assert_read(&t, "/", NONE, NONE);
}

TEST(namespace)
{
	cleanup(proc_tree_done) struct proc_tree t;

	tree_make(&t,
		  "1 2 0:3 / @/cg rw - cgroup2 none rw\n2 2 0:3 /.. @/above rw - cgroup2 none rw");
	/* The root of the namespace is not the kernel's root. */
	v2(&t, "cg", "5", "1000");
	v2(&t, "cg/x", "4", "max");
	v2(&t, "above/sibling", "3", "2000");
	assert_read(&t, "/", 5, 1000);
	assert_read(&t, "/x", 4, 1000);
	assert_read(&t, "/../sibling", 3, 2000);
	assert_read(&t, "/../../x", NONE, NONE);
}

TEST(nowhere)
{
	static const struct proc_tree none = {.proc = {.fd = -1}};
	cleanup(proc_tree_done) struct proc_tree t;
	struct process p[] = {{.cgroup = "/a"}, {.controlled = true}};
	struct process *row[] = {&p[0], &p[1]};
	struct process_list rows = {row, 2};

	tree_make(&t, "1 2 0:3 / @/gone rw - cgroup2 none rw");
	assert_read(&none, "/a", NONE, NONE);
	assert_read(&t, "/a", NONE, NONE);
	v2(&t, "gone/a", "1", "2");
	assert_read(&t, "/a", 1, 2);
	/* The cgroup is of another hierarchy, or not known. */
	assert_int_equal(enrich(&t, &rows, false), 0);
	assert_int_equal(p[0].have | p[1].have, 0);
	sh(&t, "rm self/mountinfo");
	assert_read(&t, "/a", NONE, NONE);
}

/* On a host of containers the mount comes after hundreds of others. */
TEST(many_mounts)
{
	cleanup(proc_tree_done) struct proc_tree t;

	tree_make(&t, "1 2 0:3 / @/cg rw - cgroup2 none rw");
	v2(&t, "cg/a", "1", "2");
	for (int size = 8; size <= 512; size *= 2) {
		sh(&t,
		   "yes '9 2 0:4 / /var/lib/containers/1 rw - overlay none rw' | head -c %dK >many && "
		   "echo >>many && tail -n1 self/mountinfo >>many && mv many self/mountinfo",
		   size);
		assert_read(&t, "/a", 1, 2);
	}
}

/* Without free files the read fails. */
TEST(no_files)
{
	struct process p = {.cgroup = "/a", .controlled = true}, *row = &p;
	struct process_list rows = {&row, 1};
	cleanup(proc_tree_done) struct proc_tree t;
	struct rlimit before, few;
	int r;

	tree_make(&t, "1 2 0:3 / @/cg rw - cgroup2 none rw");
	v2(&t, "cg/a", "1", "2");
	getrlimit(RLIMIT_NOFILE, &before);
	for (int more = 1; more <= 3; more++) {
		few = (struct rlimit){(rlim_t)(t.proc.fd + more), before.rlim_max};
		setrlimit(RLIMIT_NOFILE, &few);
		r = enrich(&t, &rows, true);
		setrlimit(RLIMIT_NOFILE, &before);
		assert_int_equal(r, -EMFILE);
		assert_int_equal(p.have, 0);
	}
	assert_read(&t, "/a", 1, 2);
}

static void assert_applied(const struct snapshot *s, const char *path, uint64_t current,
			   uint64_t limit)
{
	struct process p = {.cgroup = path, .controlled = true}, *row = &p;
	struct process_list rows = {&row, 1};

	apply(s, &rows);
	assert_counters(&p, current, limit);
}

/* For a snapshot that is grouped later: all cgroups, units and containers of its processes. */
TEST(of_snapshot)
{
	static const char path[] = "/a.slice/b.service/docker/" ID "/x y";
	struct process p[] = {
		{.cgroup = path,
		 .unit = "b.service",
		 .container = "3f9a6b5d1c0e",
		 .unit_path = 18,
		 .container_path = 26 + 64,
		 .controlled = true},
		{.cgroup = "/a.slice", .unit = "a.slice", .unit_path = 8, .controlled = true},
		{.cgroup = "/b"},
		{.cgroup = "/", .controlled = true},
		{.controlled = true},
		{}, /* as the first */
	};
	struct process *row[ARRAY_SIZE(p)];
	struct process_list rows = {row, ARRAY_SIZE(p)};
	cleanup(snapshot_done) struct snapshot s = {};
	cleanup(proc_tree_done) struct proc_tree t;
	struct process uncontrolled = {.cgroup = "/a.slice"}, *one = &uncontrolled;
	struct process_list others = {&one, 1};

	p[ARRAY_SIZE(p) - 1] = p[0];
	for (size_t i = 0; i < ARRAY_SIZE(p); i++)
		row[i] = &p[i];
	tree_make(&t, "1 2 0:3 / @/cg rw - cgroup2 none rw");
	v2(&t, "cg/a.slice", "4000", "max");
	v2(&t, "cg/a.slice/b.service", "3000", "1048576");
	v2(&t, "cg/a.slice/b.service/docker", "2500", "max");
	v2(&t, "cg/a.slice/b.service/docker/" ID, "2000", "max");
	v2(&t, "cg/a.slice/b.service/docker/" ID "/x y", "1000", "4096");
	v2(&t, "cg/b", "5", "6");
	read_snapshot(&t, &s, &rows, false, enough());
	for (size_t i = 1; i < s.memcg_count; i++)
		assert_true(strcmp(s.memcg[i - 1].path, s.memcg[i].path) < 0);
	assert_applied(&s, path, 1000, 4096);
	assert_applied(&s, "/a.slice/b.service/docker/" ID, 2000, 1 * MIB);
	assert_applied(&s, "/a.slice/b.service", 3000, 1 * MIB);
	assert_applied(&s, "/a.slice", 4000, NONE);
	/* No group has it, but it is above one. */
	assert_applied(&s, "/a.slice/b.service/docker", 2500, 1 * MIB);
	/* No group has these cgroups. */
	assert_applied(&s, "/b", NONE, NONE);
	assert_applied(&s, "/", NONE, NONE);
	assert_applied(&s, "/a.slice/b.service/", NONE, NONE);
	apply(&s, &others);
	assert_int_equal(uncontrolled.have, 0);
}

static void assert_nearest(const struct proc_tree *t, const struct snapshot *s, const char *path,
			   uint64_t limit, uint64_t left, uint64_t up)
{
	struct charges room[2] = {};
	struct process p[] = {{.cgroup = path, .controlled = true, .charged = &room[0]},
			      {.cgroup = path, .controlled = true, .charged = &room[1]}};
	struct process *row[] = {&p[0], &p[1]};
	struct process_list read = {row, 1, 0}, applied = {row + 1, 1, 0};

	assert_int_equal(enrich(t, &read, true), 0);
	apply(s, &applied);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(process_has(&p[i], COUNTER_NEAREST_LIMIT), limit != NONE);
		if (limit == NONE)
			continue;
		assert_int_equal(process_value(&p[i], COUNTER_NEAREST_LIMIT), limit);
		assert_int_equal(process_value(&p[i], COUNTER_MEM_LEFT), left);
		assert_int_equal(process_value(&p[i], COUNTER_LIMIT_UP), up);
	}
}

/* Of the limits of a cgroup and those above it, the one with the least left. */
TEST(nearest)
{
	cleanup(snapshot_done) struct snapshot s = {};
	cleanup(proc_tree_done) struct proc_tree t;
	struct process_list none = {};
	uint64_t left_us = enough();

	tree_make(&t, "1 2 0:3 / @/cg rw - cgroup2 none rw");
	v2(&t, "cg/free", "500", "max");
	v2(&t, "cg/pod", "900", "1000");
	v2(&t, "cg/pod/a", "300", "500");
	v2(&t, "cg/pod/a/in", "300", "max");
	v2(&t, "cg/pod/b", "390", "400");
	/* Its limit is above that of the pod, so it never matters. */
	v2(&t, "cg/pod/c", "10", "2000");
	/* Page cache that was not used lately is free: 600 of 1000 are left. */
	v2(&t, "cg/cache", "900", "1000");
	sh(&t, "echo inactive_file 500 >cg/cache/memory.stat");
	v2(&t, "cg/over", "1200", "1000");
	sh(&t, "mkdir cg/notmemory; echo >cg/file");
	assert_int_equal(memcgs_read(&t.proc, &s, &none, MEMCGS_ALL, NULL, NULL, &left_us), 0);
	assert_int_equal(s.memcg_count, 9);
	assert_false(snapshot_find_memcg(&s, "/notmemory")->current_known);
	assert_nearest(&t, &s, "/free", NONE, 0, 0);
	assert_nearest(&t, &s, "/pod", 1000, 100, 0);
	assert_nearest(&t, &s, "/pod/a", 1000, 100, 1);
	assert_nearest(&t, &s, "/pod/a/in", 1000, 100, 2);
	assert_nearest(&t, &s, "/pod/b", 400, 10, 0);
	assert_nearest(&t, &s, "/pod/c", 1000, 100, 1);
	assert_nearest(&t, &s, "/cache", 1000, 600, 0);
	assert_nearest(&t, &s, "/over", 1000, 0, 0);
}

/* The events of a cgroup; NONE is not known. */
static void assert_events(const struct snapshot *s, const char *path, uint64_t high, uint64_t max,
			  uint64_t oom, uint64_t kills)
{
	const struct memcg *m = snapshot_find_memcg(s, path);

	assert_non_null(m);
	assert_true((m->high_known ? m->high : NONE) == high);
	assert_true((m->max_known ? m->max : NONE) == max);
	assert_true((m->oom_known ? m->oom : NONE) == oom);
	assert_true((m->oom_kills_known ? m->oom_kills : NONE) == kills);
}

TEST(events)
{
	struct process p[] = {{.cgroup = "/a/b", .controlled = true},
			      {.cgroup = "/a/c", .controlled = true}};
	struct process *row[] = {&p[0], &p[1]};
	struct process_list rows = {row, 2};
	cleanup(snapshot_done) struct snapshot s = {}, old = {};
	cleanup(proc_tree_done) struct proc_tree t, t1;

	tree_make(&t, "1 2 0:3 / @/cg rw - cgroup2 none rw");
	v2(&t, "cg/a", "1", "max");
	v2(&t, "cg/a/b", "1", "max");
	v2(&t, "cg/a/c", "1", "max");
	sh(&t, "echo 'nr_descendants 3\nnr_dying_descendants 2' >cg/cgroup.stat");
	sh(&t, "echo 'low 0\nhigh 7\nmax 123\noom 5\noom_kill 4\noom_group_kill 0' "
	       ">cg/a/memory.events");
	/* The last line may be incomplete, a number is whole or absent. */
	sh(&t, "printf 'high -1\nmax 12x\noom 18446744073709551614\noom_kill 4' "
	       ">cg/a/b/memory.events");
	read_snapshot(&t, &s, &rows, false, enough());
	assert_int_equal(s.collection.cgroups_dying, 2);
	assert_events(&s, "/a", 7, 123, 5, 4);
	assert_events(&s, "/a/b", NONE, NONE, UINT64_MAX - 1, NONE);
	assert_events(&s, "/a/c", NONE, NONE, NONE, NONE);
	/* v1 has other files. */
	tree_make(&t1, "35 31 0:32 / @/m rw - cgroup cgroup rw,memory");
	v1(&t1, "m/a", "5", "100", "100");
	v1(&t1, "m/a/b", "5", "100", "100");
	sh(&t1, "echo 'oom_kill_disable 0\nunder_oom 0\noom_kill 3' >m/a/memory.oom_control");
	sh(&t1, "echo 88 >m/a/memory.failcnt");
	read_snapshot(&t1, &old, &rows, false, enough());
	assert_int_equal(old.collection.cgroups_dying, 0);
	assert_events(&old, "/a", NONE, 88, NONE, 3);
	assert_events(&old, "/a/b", NONE, NONE, NONE, NONE);
}

/* The counters of a cgroup of v2, of one with damaged files, and of one of v1, which has fewer. */
TEST(details)
{
	static const struct {
		enum counter counter;
		uint64_t whole, damaged, v1;
	} want[] = {
		{COUNTER_MEM_CURRENT, 5000, 5000, 5000},
		{COUNTER_MEM_LIMIT, NONE, NONE, 90},
		{COUNTER_MEM_HIGH, 7000, 7000, NONE},
		/* Never below 0. */
		{COUNTER_MEM_WORKING_SET, 4400, 0, 4950},
		{COUNTER_MEM_ANON, 1000, NONE, 20},
		{COUNTER_MEM_FILE, 2500, NONE, 200},
		{COUNTER_MEM_SHMEM, 500, NONE, 100},
		{COUNTER_MEM_SLAB, 400, NONE, NONE},
		{COUNTER_MEM_SWAP, 70, NONE, 9},
		{COUNTER_MEM_SWAP_LIMIT, 800, 800, NONE},
		{COUNTER_MEM_ZSWAP, 7, NONE, NONE},
		{COUNTER_OOM_KILLS, 3, 3, NONE},
		{COUNTER_PSI_SOME_10, 125, NONE, NONE},
		{COUNTER_PSI_FULL_10, 10000, NONE, NONE},
		{COUNTER_MEM_KERNEL, 900, NONE, 30},
		{COUNTER_MEM_PAGETABLES, 120, NONE, NONE},
		{COUNTER_MEM_PERCPU, 40, NONE, NONE},
		{COUNTER_MEM_SOCK, 60, NONE, 8},
		{COUNTER_REFAULTS, 33, NONE, 44},
		{COUNTER_RECLAIMED, 500, NONE, NONE},
		{COUNTER_LIMIT_HITS, 12, 12, 88},
		{COUNTER_HIGH_HITS, 5, 5, NONE},
		{COUNTER_MEM_PEAK, 6000, NONE, 7000},
		/* There is one reading. */
		{COUNTER_REFAULTS_S, NONE, NONE, NONE},
		/* The limit is that of the cgroup above; v2 has none. */
		{COUNTER_MEM_MEMSW, NONE, NONE, 5009},
		{COUNTER_MEM_MEMSW_LIMIT, NONE, NONE, 6000},
	};
	struct process p[3];
	cleanup(proc_tree_done) struct proc_tree t, t1;

	for (int i = 0; i < 3; i++)
		p[i] = (struct process){.cgroup = "/a/b", .controlled = true};
	tree_make(&t, "1 2 0:3 / @/cg rw - cgroup2 none rw");
	v2(&t, "cg/a", "9000", "max");
	v2(&t, "cg/a/b", "5000", "max");
	sh(&t, "echo 7000 >cg/a/memory.high; echo max >cg/a/memory.swap.max; cd cg/a/b\n"
	       "echo max >memory.high; echo 800 >memory.swap.max; echo 70 >memory.swap.current\n"
	       "echo 7 >memory.zswap.current; echo 6000 >memory.peak\n"
	       "echo 'high 5\nmax 12\noom_kill 3' >memory.events\n"
	       "echo 'anon 1000\nfile 3000\nkernel 900\nshmem 500\ninactive_file 600\nslab 400\n"
	       "pagetables 120\npercpu 40\nsock 60\nworkingset_refault_anon 3\n"
	       "workingset_refault_file 30\npgscan 700\npgsteal 500' "
	       ">memory.stat\n"
	       "echo 'some avg10=1.25 avg60=0.00 avg300=0.00 total=5\n"
	       "full avg10=100.00 avg60=0.00 avg300=0.00 total=5' >memory.pressure");
	read_details(&t, &p[0], false);
	assert_false(process_has(&p[0], COUNTER_MEM_ANON));
	read_details(&t, &p[0], true);
	sh(&t, "cd cg/a/b; echo -1 >memory.swap.current; rm memory.zswap.current memory.peak\n"
	       "printf 'file 30\ninactive_file 6000\nslab 4x\nanon 5' >memory.stat\n"
	       "printf 'some avg10=1 avg60=0.00\nfull avg10=1.5 avg60' >memory.pressure");
	read_details(&t, &p[1], true);
	tree_make(&t1, "35 31 0:32 / @/m rw - cgroup cgroup rw,memory");
	v1(&t1, "m/a", "5", "100", "100");
	v1(&t1, "m/a/b", "5000", "100", "100");
	sh(&t1,
	   "echo 'rss 1\ntotal_cache 300\ntotal_rss 20\ntotal_shmem 100\ntotal_swap 9\n"
	   "total_inactive_file 50\nhierarchical_memory_limit 90\nworkingset_refault 9\n"
	   "total_workingset_refault 44' >m/a/b/memory.stat\n"
	   "echo 80 >m/a/b/memory.failcnt; echo 8 >m/a/b/memory.memsw.failcnt; echo 7000 >m/a/b/memory.max_usage_in_bytes\n"
	   "echo 30 >m/a/b/memory.kmem.usage_in_bytes; echo 8 >m/a/b/memory.kmem.tcp.usage_in_bytes\n"
	   "echo 6000 >m/a/memory.memsw.limit_in_bytes; echo 5009 >m/a/b/memory.memsw.usage_in_bytes\n"
	   "echo 9223372036854771712 >m/a/b/memory.memsw.limit_in_bytes");
	read_details(&t1, &p[2], true);
	for (size_t i = 0; i < ARRAY_SIZE(want); i++) {
		assert_counter(&p[0], want[i].counter, want[i].whole);
		assert_counter(&p[1], want[i].counter, want[i].damaged);
		assert_counter(&p[2], want[i].counter, want[i].v1);
	}
}

/* ---- bounds: any user may make cgroups ---- */

static size_t opens;

int __real_openat(int dirfd, const char *path, int flags, ...);
int __wrap_openat(int dirfd, const char *path, int flags, ...);

/* No caller creates a file. */
int __wrap_openat(int dirfd, const char *path, int flags, ...)
{
	opens++;
	return __real_openat(dirfd, path, flags);
}

/* What is opened of a cgroup of v2: itself and its files, with all details. */
#define OPENS_OF_ONE (1 + 10)
/* The mounts, and the limits of the root. */
#define OPENS_AT_FIRST 8

/* Makes a cgroup with this charge in a directory, and returns it. */
static int make_cgroup(int dirfd, const char *name, const char *current)
{
	int fd, file;

	assert_int_equal(mkdirat(dirfd, name, 0755), 0);
	fd = openat(dirfd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(fd >= 0);
	file = __real_openat(fd, "memory.current", O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	assert_true(file >= 0);
	assert_int_equal(write(file, current, strlen(current)), strlen(current));
	close(file);
	return fd;
}

struct cgroups {
	struct proc_tree t;
	char dir[32]; /* the mount: thousands of directories, where they cost little */
	int top;
	struct process *item;
	struct process **row;
	size_t count;
};

static void cgroups_make(struct cgroups *c, size_t count)
{
	char mount[80];

	strcpy(c->dir, "/dev/shm/zmem-cgroups-XXXXXX");
	assert_non_null(mkdtemp(c->dir));
	snprintf(mount, sizeof(mount), "41 31 0:38 / %s rw - cgroup2 none rw", c->dir);
	tree_make(&c->t, mount);
	c->top = open(c->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	c->item = calloc(count, sizeof(*c->item));
	c->row = calloc(count, sizeof(struct process *));
	c->count = 0;
	assert_true(c->top >= 0 && c->item && c->row);
}

static void cgroups_done(struct cgroups *c)
{
	for (size_t i = 0; i < c->count; i++)
		free((char *)c->item[i].cgroup);
	free(c->item);
	free(c->row);
	close(c->top);
	sh(&c->t, "rm -rf %s", c->dir);
	proc_tree_done(&c->t);
}

/* A process in a cgroup. */
__attribute__((format(printf, 2, 3))) static struct process *cgroups_add(struct cgroups *c,
									 const char *format, ...)
{
	struct process *p = &c->item[c->count];
	va_list args;
	char *path;

	va_start(args, format);
	assert_true(vasprintf(&path, format, args) > 0);
	va_end(args);
	*p = (struct process){.cgroup = path, .controlled = true};
	c->row[c->count++] = p;
	return p;
}

static struct process_list rows_of(struct cgroups *c)
{
	return (struct process_list){c->row, c->count, 0};
}

/* Makes `levels` cgroups, one in the other; their charges are 1, 2, … Returns the last one. */
static int make_levels(const struct cgroups *c, unsigned levels, const char *name, char *ret_path)
{
	int fd = dup(c->top);

	for (unsigned i = 1; i <= levels; i++) {
		char current[16];
		int below;

		snprintf(current, sizeof(current), "%u\n", i);
		below = make_cgroup(fd, name, current);
		close(fd);
		fd = below;
		ret_path += sprintf(ret_path, "/%s", name);
	}
	return fd;
}

/* Each cgroup is opened once, with each of its files. */
TEST(siblings)
{
	enum { CGROUPS = 5000 };
	static const char *const end[] = {"", "-x", "/x"};
	cleanup(snapshot_done) struct snapshot s = {};
	cleanup(cgroups_done) struct cgroups c;
	struct process_list rows;
	int slice;

	cgroups_make(&c, CGROUPS);
	slice = make_cgroup(c.top, "a.slice", "9\n");
	for (int i = 0; i < CGROUPS; i++) {
		char name[16], current[16];

		/* Byte by byte, "1-" comes before "1/", and "10" after it. */
		snprintf(name, sizeof(name), "%d%s", i / 3, end[i % 3]);
		snprintf(current, sizeof(current), "%d\n", i);
		close(make_cgroup(slice, name, current));
		cgroups_add(&c, "/a.slice/%s", name);
	}
	close(slice);
	rows = rows_of(&c);
	opens = 0;
	read_snapshot(&c.t, &s, &rows, true, enough());
	assert_uint_in_range(opens, CGROUPS, (CGROUPS + 2) * OPENS_OF_ONE + OPENS_AT_FIRST);
	assert_int_equal(s.memcg_count, CGROUPS + 1);
	assert_false(memcgs_left_out(&s.collection));
	apply(&s, &rows);
	for (int i = 0; i < CGROUPS; i++) {
		assert_counters(&c.item[i], (uint64_t)i, NONE);
		c.item[i].have = 0;
	}
	opens = 0;
	assert_int_equal(enrich(&c.t, &rows, true), 0);
	assert_uint_in_range(opens, CGROUPS, (CGROUPS + 2) * OPENS_OF_ONE + OPENS_AT_FIRST);
	for (int i = 0; i < CGROUPS; i++) {
		assert_counters(&c.item[i], (uint64_t)i, NONE);
		assert_int_equal(c.item[i].memcg_above, 0);
	}
}

/* Below MEMCG_DEPTH_MAX levels no cgroup is read: a group there has the values of the last one. */
TEST(levels)
{
	enum { LEVELS = 2000, PROCESSES = 1000, ABOVE = 2 * MEMCG_DEPTH_MAX };
	cleanup(snapshot_done) struct snapshot s = {};
	cleanup(cgroups_done) struct cgroups c;
	struct process group = {.controlled = true}, *one = &group;
	struct process_list rows, groups = {&one, 1, 0};
	char path[2 * LEVELS + 1];

	cgroups_make(&c, PROCESSES + 2);
	close(make_levels(&c, LEVELS, "d", path));
	cgroups_add(&c, "%s", path);
	cgroups_add(&c, "%.*s", ABOVE, path);
	/* Different cgroups, that have the same one above. */
	for (int i = 0; i < PROCESSES; i++)
		cgroups_add(&c, "%.*s/%d", ABOVE + 2, path, i);
	rows = rows_of(&c);
	opens = 0;
	read_snapshot(&c.t, &s, &rows, true, enough());
	assert_uint_in_range(opens, MEMCG_DEPTH_MAX,
			     (MEMCG_DEPTH_MAX + 1) * OPENS_OF_ONE + OPENS_AT_FIRST);
	assert_int_equal(s.memcg_count, MEMCG_DEPTH_MAX);
	assert_int_equal(s.collection.cgroups_left_out[MEMCG_BOUND_DEPTH], PROCESSES + 1);
	assert_int_equal(s.collection.cgroups_left_out[MEMCG_BOUND_TIME], 0);
	group.cgroup = path;
	apply(&s, &groups);
	assert_counters(&group, MEMCG_DEPTH_MAX, NONE);
	assert_int_equal(group.memcg_above, ABOVE);
	path[ABOVE] = '\0';
	apply(&s, &groups);
	assert_counters(&group, MEMCG_DEPTH_MAX, NONE);
	assert_int_equal(group.memcg_above, 0);
	path[ABOVE - 2] = '\0';
	apply(&s, &groups);
	assert_counters(&group, MEMCG_DEPTH_MAX - 1, NONE);
	/* Of groups alone. */
	opens = 0;
	assert_int_equal(enrich(&c.t, &rows, true), 0);
	assert_uint_in_range(opens, MEMCG_DEPTH_MAX,
			     (MEMCG_DEPTH_MAX + 1) * OPENS_OF_ONE + OPENS_AT_FIRST);
	assert_int_equal(memory.collection.cgroups_left_out[MEMCG_BOUND_DEPTH], PROCESSES + 1);
	for (size_t i = 0; i < c.count; i++) {
		assert_counters(&c.item[i], MEMCG_DEPTH_MAX, NONE);
		assert_int_equal(c.item[i].memcg_above,
				 strlen(c.item[i].cgroup) == ABOVE ? 0 : ABOVE);
	}
}

/* All cgroups below the mounts, each once, within the bounds. */
TEST(all)
{
	enum { LEVELS = 100 };
	cleanup(snapshot_done) struct snapshot s = {}, deep = {}, late = {};
	cleanup(cgroups_done) struct cgroups c;
	cleanup(proc_tree_done) struct proc_tree t;
	struct process_list none = {};
	uint64_t left_us = enough(), no_time = 0;
	char path[2 * LEVELS + 1];

	/* Two mounts show the same cgroup; in a container the mount is its cgroup. */
	tree_make(&t, "1 2 0:3 /docker/1 @/m rw - cgroup none rw,memory\n"
		      "2 2 0:3 /docker/1/x @/x rw - cgroup none rw,memory");
	v1(&t, "m", "5", UNLIMITED, "1000");
	v1(&t, "m/x", "4", UNLIMITED, "1000");
	v1(&t, "x", "4", UNLIMITED, "1000");
	v1(&t, "x/y", "3", UNLIMITED, "1000");
	assert_int_equal(memcgs_read(&t.proc, &s, &none, MEMCGS_ALL, NULL, NULL, &left_us), 0);
	assert_int_equal(s.memcg_count, 3);
	assert_string_equal(s.memcg[0].path, "/docker/1");
	assert_string_equal(s.memcg[1].path, "/docker/1/x");
	assert_string_equal(s.memcg[2].path, "/docker/1/x/y");
	/* In /docker/1 it is known, that there is no limit of its own in x. */
	assert_nearest(&t, &s, "/docker/1/x/y", 1000, 995, 2);
	cgroups_make(&c, 1);
	close(make_levels(&c, LEVELS, "d", path));
	assert_int_equal(memcgs_read(&c.t.proc, &deep, &none, MEMCGS_ALL, NULL, NULL, &left_us), 0);
	assert_int_equal(deep.memcg_count, MEMCG_DEPTH_MAX);
	assert_int_equal(deep.collection.cgroups_left_out[MEMCG_BOUND_DEPTH], 1);
	assert_int_equal(memcgs_read(&c.t.proc, &late, &none, MEMCGS_ALL, NULL, NULL, &no_time), 0);
	assert_int_equal(late.memcg_count, 0);
	assert_int_equal(late.collection.cgroups_left_out[MEMCG_BOUND_TIME], 1);
}

/* Users can make any number of cgroups with long names: some are left out, and it is counted. */
TEST(too_many)
{
	enum { CGROUPS = 40000, NAME = 250 };
	cleanup(snapshot_done) struct snapshot s = {};
	cleanup(cgroups_done) struct cgroups c;
	struct process_list none = {};
	uint64_t left_us = enough();
	char name[NAME + 1];

	cgroups_make(&c, 1);
	for (int i = 0; i < CGROUPS; i++) {
		snprintf(name, sizeof(name), "%0*d", NAME, i);
		assert_int_equal(mkdirat(c.top, name, 0700), 0);
	}
	assert_int_equal(memcgs_read(&c.t.proc, &s, &none, MEMCGS_ALL, NULL, NULL, &left_us), 0);
	assert_uint_in_range(s.memcg_count, CGROUPS / 2, CGROUPS - 1);
	assert_int_equal(s.collection.cgroups_left_out[MEMCG_BOUND_BYTES] > 0, true);
	assert_int_equal(s.collection.cgroups_left_out[MEMCG_BOUND_TIME], 0);
}

/* Without time no cgroup is read but that of an OOM victim and those above it. */
TEST(time)
{
	cleanup(snapshot_done) struct snapshot s = {}, victim = {};
	cleanup(cgroups_done) struct cgroups c;
	struct process *other, *first;
	struct process_list rows;
	uint64_t left_us = 0;
	char path[8];

	cgroups_make(&c, 2);
	close(make_levels(&c, 3, "a", path));
	other = cgroups_add(&c, "/a/b");
	first = cgroups_add(&c, "%s", path);
	rows = rows_of(&c);
	read_snapshot(&c.t, &s, &rows, true, 0);
	assert_int_equal(s.memcg_count, 0);
	assert_int_equal(s.collection.cgroups_left_out[MEMCG_BOUND_TIME], 2);
	apply(&s, &rows);
	assert_counters(first, NONE, NONE);
	assert_int_equal(memcgs_read(&c.t.proc, &victim, &rows, MEMCGS_FIGURES, first->cgroup, NULL,
				     &left_us),
			 0);
	assert_int_equal(left_us, 0);
	assert_int_equal(victim.memcg_count, 3);
	assert_int_equal(victim.collection.cgroups_left_out[MEMCG_BOUND_TIME], 1);
	apply(&victim, &rows);
	assert_counters(first, 3, NONE);
	assert_int_equal(first->memcg_above, 0);
	assert_counters(other, 1, NONE);
	assert_int_equal(other->memcg_above, strlen("/a"));
	/* What is read once has its values, whatever was left out before. */
	read_snapshot(&c.t, &s, &rows, true, enough());
	assert_false(memcgs_left_out(&s.collection));
}

/* Long paths take memory: those of deep cgroups, which come last. */
TEST(bytes)
{
	enum { LEVELS = 60, LEAVES = 1500 };
	cleanup(snapshot_done) struct snapshot s = {};
	cleanup(cgroups_done) struct cgroups c;
	char name[250] = "", path[LEVELS * sizeof(name) + 1];
	struct process_list rows;
	size_t bytes = 0;
	int last;

	memset(name, 'a', sizeof(name) - 1);
	cgroups_make(&c, LEAVES + 1);
	last = make_levels(&c, LEVELS, name, path);
	for (int i = 0; i < LEAVES; i++) {
		char leaf[16];

		snprintf(leaf, sizeof(leaf), "%d", i);
		close(make_cgroup(last, leaf, "7\n"));
		cgroups_add(&c, "%s/%d", path, i);
	}
	close(last);
	cgroups_add(&c, "/z.slice");
	close(make_cgroup(c.top, "z.slice", "5\n"));
	rows = rows_of(&c);
	read_snapshot(&c.t, &s, &rows, false, enough());
	for (size_t i = 0; i < s.memcg_count; i++)
		bytes += sizeof(s.memcg[i]) + strlen(s.memcg[i].path) + 1;
	assert_uint_in_range(bytes, 15 << 20, 17 << 20);
	assert_int_equal(s.memcg_count + s.collection.cgroups_left_out[MEMCG_BOUND_BYTES],
			 LEVELS + LEAVES + 1);
	assert_applied(&s, "/z.slice", 5, NONE);
}
