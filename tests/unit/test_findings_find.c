// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What is found: nothing on a healthy machine, the most urgent first, and which cgroup is named as
 * what. Each row of model/finding.def: test_report_findings.
 */
#include "unit.h"

#include "findings_machine.h"

static struct findings found;

static void find(const struct sample *s)
{
	findings_find(&s->snapshot, &s->result, &found);
}

static uint64_t bit(enum finding_key key)
{
	return UINT64_C(1) << key;
}

/* Page cache fills a cgroup up to its limit, and large files are mapped. */
SAMPLE_TEST(healthy, sample_healthy)
{
	const uint64_t rarely = bit(FINDING_GROWS) | bit(FINDING_CGROUPS_DELETED) |
				bit(FINDING_NODE_FULL) | bit(FINDING_NODE_AWAY) |
				bit(FINDING_MAPS_LIMIT);
	const struct delta delta = {.known = true};
	struct memcg m = memcg_of("/a/build", 300 * MIB, 300 * MIB);
	struct shared_files files = files_of("/dev/shm/postgres", FILE_SYSV, 4 * GIB);
	struct node_shares shares = {1, {{0, GIB}}};
	struct process *p = s->process;

	m.max_known = true;
	m.max = 900000;
	memcg_set_detail(&m, COUNTER_MEM_ANON, 20 * MIB);
	memcg_set_detail(&m, COUNTER_MEM_SHMEM, 0);
	memcg_set_detail(&m, COUNTER_PSI_SOME_10, 12);
	memcg_set_detail(&m, COUNTER_LIMIT_HITS_S, 500);
	memcg_set_detail(&m, COUNTER_REFAULTS_S, 20);
	set_memcgs(s, &m, 1);
	s->snapshot.system.shared = &files;
	find(s);
	assert_int_equal(found.count, 0);
	assert_true(found.known == (bit(FINDING_KEYS) - 1 - rarely));
	/* What needs a series, a census or columns of its own. */
	s->result.delta = &delta;
	sample_census(s);
	s->snapshot.system.nodes = (struct machine_nodes){
		2, {{0, 8 * GIB, 90 * MIB, 20 * MIB}, {1, 8 * GIB, 200 * MIB, 20 * MIB}}};
	p->nodes = &shares;
	p->cpu_nodes = 1;
	process_set(p, COUNTER_MAPS, 4000);
	find(s);
	assert_int_equal(found.count, 0);
	assert_true(found.known == bit(FINDING_KEYS) - 1);
	/* Without /proc nothing is. */
	forget_meminfo(s, MEMINFO_TOTAL);
	find(s);
	assert_int_equal(found.count, 0);
	assert_true(!found.known);
}

/* A recording of old has none of the values that are new. */
SAMPLE_TEST(ordinary, sample_ordinary)
{
	find(s);
	assert_int_equal(found.count, 0);
	sample_bare(s);
	find(s);
	assert_true(!found.count && !found.known);
	findings_find(&s->snapshot, NULL, &found);
	assert_true(!found.count && !found.known);
}

/* ---- order and room ---- */

SAMPLE_TEST(order, sample_healthy)
{
	/* Kills are about no bytes, and not small. */
	static const enum finding_key want[] = {
		FINDING_OOM_KILLS,	FINDING_THRASHING, FINDING_RAM_FULL,
		FINDING_SWAP_FULL,	FINDING_ZRAM_FULL, FINDING_SWAPPING,
		FINDING_SHMEM_UNMAPPED, FINDING_LOCKED,	   FINDING_THP_PARTLY,
	};
	struct system_info *system = &s->snapshot.system;

	set_meminfo(s, MEMINFO_AVAILABLE, GIB / 8);
	set_meminfo(s, MEMINFO_SWAP_FREE, 0);
	set_meminfo(s, MEMINFO_UNEVICTABLE, 4 * GIB);
	system->partly_mapped.bytes = GIB;
	system->recent_kills.count = 1;
	system->pressure.some_avg10 = 9000;
	system->rates.refaulted = GIB;
	system->rates.swapped_in = 3 * GIB;
	system->files.unmapped[FILE_MEMFD] = 2 * GIB - 100 * MIB;
	system->zram[0].size = system->zram[0].stat.stored = 5 * GIB;
	find(s);
	assert_int_equal(found.count, ARRAY_SIZE(want));
	for (size_t i = 0; i < ARRAY_SIZE(want); i++)
		if (found.item[i].key != want[i])
			fail_msg("%zu: %s", i, finding_key_name(found.item[i].key));
	assert_int_equal(findings_down_to(&found, FINDING_CRITICAL), 4);
	assert_int_equal(findings_down_to(&found, FINDING_WARNING), 7);
	assert_int_equal(findings_down_to(&found, FINDING_HINT), 9);
}

/* The largest have room, and all are counted. */
SAMPLE_TEST(room, sample_healthy)
{
	struct memcg m[FINDINGS_MAX + 9];
	char path[ARRAY_SIZE(m)][8];

	for (size_t i = 0; i < ARRAY_SIZE(m); i++) {
		/* Neither the first nor the last ones are the largest. */
		uint64_t bytes = (100 + (i * 7) % ARRAY_SIZE(m)) * MIB;

		snprintf(path[i], sizeof(path[i]), "/%02zu", i);
		m[i] = memcg_of(path[i], bytes, bytes);
		memcg_set_detail(&m[i], COUNTER_MEM_ANON, bytes);
		memcg_set_detail(&m[i], COUNTER_MEM_SHMEM, 0);
	}
	set_memcgs(s, m, ARRAY_SIZE(m));
	set_meminfo(s, MEMINFO_UNEVICTABLE, TOTAL);
	find(s);
	assert_int_equal(found.count, FINDINGS_MAX);
	assert_int_equal(found.subjects[FINDING_CGROUP_FULL][FINDING_WARNING], ARRAY_SIZE(m));
	assert_int_equal(found.subjects[FINDING_LOCKED][FINDING_HINT], 1);
	for (size_t i = 0; i < FINDINGS_MAX; i++)
		assert_int_equal(found.item[i].bytes, (100 + ARRAY_SIZE(m) - 1 - i) * MIB);
	/* One that is more urgent takes the place of the last. */
	s->snapshot.system.recent_kills.count = 1;
	find(s);
	assert_int_equal(found.count, FINDINGS_MAX);
	assert_int_equal(found.item[0].key, FINDING_OOM_KILLS);
	assert_int_equal(found.item[FINDINGS_MAX - 1].bytes,
			 (100 + ARRAY_SIZE(m) + 1 - FINDINGS_MAX) * MIB);
}

/* ---- limits ---- */

/* All of it is anonymous. */
static struct memcg full_memcg(const char *path, uint64_t current, uint64_t limit)
{
	struct memcg m = memcg_of(path, current, limit);

	memcg_set_detail(&m, COUNTER_MEM_ANON, current);
	memcg_set_detail(&m, COUNTER_MEM_SHMEM, 0);
	return m;
}

/* The paths of all that is found, with commas. */
static void assert_full(const struct sample *s, const char *want)
{
	char paths[256] = "";

	find(s);
	for (size_t i = 0; i < found.count; i++) {
		assert_int_equal(found.item[i].key, FINDING_CGROUP_FULL);
		strcat(strcat(paths, i ? "," : ""), found.item[i].cgroup);
	}
	assert_string_equal(paths, want);
}

/* A cgroup below another one has the lowest limit of both: the one with the limit is named. */
SAMPLE_TEST(own_limit, sample_healthy)
{
	struct memcg m[] = {
		full_memcg("/", 400 * MIB, 0),
		full_memcg("/a", 400 * MIB, 400 * MIB),
		full_memcg("/a/b", 390 * MIB, 400 * MIB),
		full_memcg("/a/b/c", 390 * MIB, 400 * MIB),
		full_memcg("/ab", 380 * MIB, 400 * MIB),
	};

	set_memcgs(s, m, ARRAY_SIZE(m));
	assert_full(s, "/a,/ab");
	/* One of its own, and one above which no limit is known. */
	m[3].limit = 400 * MIB - 1;
	assert_full(s, "/a,/a/b/c,/ab");
	m[1].limit_known = false;
	assert_full(s, "/a/b,/a/b/c,/ab");
	/* That of the machine. */
	m[0].limit_known = true;
	m[0].limit = 400 * MIB;
	assert_full(s, "/,/a/b,/a/b/c");
	m[2].limit_known = false;
	assert_full(s, "/,/a/b/c");
}

/* Of the limit of memory and swap (cgroup v1), swap counts, and it is told where it is nearer. */
SAMPLE_TEST(memsw, sample_healthy)
{
	struct memcg m = full_memcg("/a", 100 * MIB, 400 * MIB);

	set_memcgs(s, &m, 1);
	memcg_set_detail(&m, COUNTER_MEM_SWAP, 374 * MIB);
	memcg_set_detail(&m, COUNTER_MEM_MEMSW, 480 * MIB);
	memcg_set_detail(&m, COUNTER_MEM_MEMSW_LIMIT, 500 * MIB);
	assert_full(s, "");
	memcg_set_detail(&m, COUNTER_MEM_SWAP, 375 * MIB);
	assert_full(s, "/a");
	assert_true(found.item[0].memsw && found.item[0].of == 500 * MIB);
	assert_int_equal(found.item[0].bytes, 475 * MIB);
	/* Here memory has less left. */
	m.current = 381 * MIB;
	memcg_set_detail(&m, COUNTER_MEM_ANON, 381 * MIB);
	assert_full(s, "/a");
	assert_true(!found.item[0].memsw && found.item[0].of == 400 * MIB);
	/* It was hit and reads back. */
	m.current = 100 * MIB;
	m.max_known = true;
	m.max = 1;
	memcg_set_detail(&m, COUNTER_REFAULTS_S, 100 * MIB / 4096 / 10);
	find(s);
	assert_int_equal(found.count, 1);
	assert_int_equal(found.item[0].key, FINDING_CGROUP_LIMIT);
	assert_true(found.item[0].memsw && found.item[0].of == 500 * MIB);
	memcg_set_detail(&m, COUNTER_MEM_MEMSW, 437 * MIB);
	memcg_set_detail(&m, COUNTER_MEM_SWAP, 300 * MIB);
	find(s);
	assert_int_equal(found.count, 0);
}

/* A cgroup without PSI and an earlier reading hides no other one that is throttled. */
SAMPLE_TEST(unknown_strain, sample_healthy)
{
	const uint64_t limit = bit(FINDING_CGROUP_LIMIT), high = bit(FINDING_CGROUP_HIGH);
	struct memcg m[] = {memcg_of("/a", 300 * MIB, 0), memcg_of("/b", 390 * MIB, 400 * MIB)};

	memcg_set_detail(&m[0], COUNTER_MEM_HIGH, 300 * MIB);
	memcg_set_detail(&m[0], COUNTER_PSI_SOME_10, 9900);
	memcg_set_detail(&m[0], COUNTER_HIGH_HITS_S, 30);
	set_memcgs(s, m, ARRAY_SIZE(m));
	find(s);
	assert_int_equal(found.count, 1);
	assert_int_equal(found.item[0].key, FINDING_CGROUP_HIGH);
	assert_true((found.known & (limit | high)) == high);
	memcg_set_detail(&m[0], COUNTER_PSI_SOME_10, 0);
	find(s);
	assert_int_equal(found.count, 0);
	assert_true((found.known & (limit | high)) == 0);
	memcg_set_detail(&m[1], COUNTER_PSI_SOME_10, 0);
	find(s);
	assert_true((found.known & (limit | high)) == (limit | high));
}

/* ---- what the cgroup is called ---- */

#define POD	  "/kubepods/pod1"
#define CONTAINER POD "/cri-0123"
#define SERVICE	  "/system.slice/web.service"

static void assert_subject(const struct sample *s, const char *kind, const char *name)
{
	find(s);
	assert_int_equal(found.count, 1);
	assert_string_equal(found.item[0].kind, kind);
	assert_string_equal(found.item[0].name, name);
	assert_string_equal(found.item[0].cgroup, s->snapshot.memcg->path);
}

static void put_process(struct process *p, const char *cgroup, size_t unit, size_t container)
{
	p->cgroup = cgroup;
	p->controlled = true;
	p->unit_path = (uint16_t)unit;
	p->container_path = (uint16_t)container;
	p->unit = p->container = p->pod = NULL;
}

SAMPLE_TEST(units, sample_healthy)
{
	struct memcg m = full_memcg(SERVICE, 300 * MIB, 300 * MIB);
	struct process *p = &s->process[1];

	set_memcgs(s, &m, 1);
	assert_subject(s, "cgroup", SERVICE);
	/* The cgroup of the process ends at the unit, or goes on below it. */
	put_process(p, SERVICE, 0, 0);
	p->unit = "web.service";
	assert_subject(s, "unit", "web.service");
	put_process(p, SERVICE "/worker", strlen(SERVICE), 0);
	p->unit = "web.service";
	assert_subject(s, "unit", "web.service");
	/* In another hierarchy, or one with a longer name: it is not in this one. */
	p->controlled = false;
	assert_subject(s, "cgroup", SERVICE);
	put_process(p, SERVICE "2", 0, 0);
	p->unit = "web.service2";
	assert_subject(s, "cgroup", SERVICE);
	/* A slice has units in it, and a cgroup of a unit is not all of it. */
	m.path = "/system.slice";
	put_process(p, SERVICE, 0, 0);
	p->unit = "web.service";
	assert_subject(s, "cgroup", "/system.slice");
	m.path = SERVICE "/worker";
	put_process(p, SERVICE "/worker", strlen(SERVICE), 0);
	p->unit = "web.service";
	assert_subject(s, "cgroup", SERVICE "/worker");
}

SAMPLE_TEST(containers, sample_healthy)
{
	struct memcg m = full_memcg(CONTAINER, 300 * MIB, 300 * MIB);
	struct process *p = s->process;

	set_memcgs(s, &m, 1);
	put_process(&p[1], CONTAINER "/init", 0, strlen(CONTAINER));
	p[1].container = "0123456789ab";
	p[1].container_status = CONTAINER_UNREAD;
	p[1].pod = "prod/web-0";
	p[1].pod_path = strlen(POD);
	p[1].unit = "kubepods.slice";
	assert_subject(s, "container", "0123456789ab");
	/* Another process of it was asked for its name. */
	put_process(&p[2], CONTAINER, 0, 0);
	p[2].container = "prod/web-0/app";
	p[2].container_status = CONTAINER_NAMED;
	assert_subject(s, "container", "prod/web-0/app");
	p[2].container_status = CONTAINER_NONE;
	assert_subject(s, "container", "prod/web-0/app");
	p[2].cgroup = POD "/cri-4567";
	assert_subject(s, "container", "0123456789ab");
	m.path = POD;
	assert_subject(s, "pod", "prod/web-0");
	m.path = "/kubepods";
	assert_subject(s, "cgroup", "/kubepods");
	m.path = CONTAINER "/init";
	assert_subject(s, "cgroup", CONTAINER "/init");
}

/* ---- names ---- */

TEST(names)
{
	assert_string_equal(finding_key_name(FINDING_CGROUP_LIMIT), "cgroup_limit");
	assert_string_equal(finding_key_name(FINDING_LOCKED), "locked");
	assert_string_equal(finding_level_name(FINDING_CRITICAL), "critical");
	assert_string_equal(finding_level_name(FINDING_HINT), "hint");
	assert_true(finding_can_be(FINDING_SWAP_FULL, FINDING_HINT));
	assert_false(finding_can_be(FINDING_CGROUP_LIMIT, FINDING_WARNING));
	for (int key = 0; key < FINDING_KEYS; key++) {
		bool any = false;

		for (int level = 0; level < FINDING_LEVELS; level++)
			any |= finding_can_be((enum finding_key)key, (enum finding_level)level);
		assert_true(any);
		for (int other = 0; other < key; other++)
			assert_string_not_equal(finding_key_name((enum finding_key)key),
						finding_key_name((enum finding_key)other));
	}
}
