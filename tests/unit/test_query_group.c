// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Groups: each process once, each address space once, missing values stay missing. */
#include "query/group.h"
#include "unit.h"

#include "model/ram.h"
#include "query/memcg_rows.h"
#include "query/query_parse.h"
#include "query/result.h"
#include "rows_machine.h"
#include "heap.h"

static void group(struct machine *m, const char *key, struct sums *ret)
{
	*ret = (struct sums){0};
	assert_int_equal(group_rows(column(key), &m->list, ret), 0);
	order_rows(&m->order, &m->snapshot, &ret->rows);
}

/* ---- groups ---- */

/* 200 workers are 200 processes; three processes with one address space count it once. */
TEST(workers)
{
	cleanup(machine_done) struct machine m = machine_of(204);
	cleanup(sums_done) struct sums g;

	at(&m, 201)->name = at(&m, 202)->name = at(&m, 203)->name = "shared";
	at(&m, 202)->mm_owner = at(&m, 203)->mm_owner = false;
	at(&m, 202)->mm_id = at(&m, 203)->mm_id = 201;
	at(&m, 204)->name = "zz";
	process_set(at(&m, 204), COUNTER_PSS, 50);
	group(&m, "name", &g);
	assert_int_equal(g.rows.count, 3);
	assert_string_equal(g.rows.item[0].process->name, "a");
	assert_int_equal(g.rows.item[0].procs, 200);
	assert_int_equal(g.rows.item[0].process->threads, 200);
	assert_int_equal(g.rows.item[0].process->value[COUNTER_PSS], 2000);
	assert_int_equal(g.rows.item[0].process->value[COUNTER_RSS], 20000);
	assert_int_equal(g.rows.item[0].process->pss_source, PSS_FROM_KERNEL);
	assert_string_equal(g.rows.item[1].process->name, "zz");
	assert_string_equal(g.rows.item[2].process->name, "shared");
	assert_int_equal(g.rows.item[2].procs, 3);
	assert_int_equal(g.rows.item[2].process->value[COUNTER_PSS], 10);
}

/*
 * An address space that two users share counts in the row of the process that owns it. The row of
 * the other one has none of it, which is known; one of kernel threads has their reason.
 */
TEST(shared_by_two)
{
	cleanup(machine_done) struct machine m = machine_of(3);
	cleanup(sums_done) struct sums g;
	struct totals totals;
	const struct process *p;

	for (pid_t pid = 1; pid <= 3; pid++) {
		at(&m, pid)->name = pid == 1 ? "a" : pid == 2 ? "b" : "c";
		process_set(at(&m, pid), COUNTER_RSS, 100);
		process_set(at(&m, pid), COUNTER_FREED, 3);
		at(&m, pid)->pss_status = PSS_OK;
	}
	at(&m, 2)->mm_id = at(&m, 1)->mm_id;
	at(&m, 2)->mm_owner = false;
	at(&m, 2)->have &= ~COUNTER_BIT(COUNTER_LOCKED);
	at(&m, 3)->kind = PROCESS_KTHREAD;
	at(&m, 3)->pss_status = PSS_KERNEL_THREAD;
	at(&m, 3)->have = 0;
	group(&m, "name", &g);
	p = g.rows.item[1].process;
	assert_true(process_has(p, COUNTER_RSS));
	assert_int_equal(p->value[COUNTER_RSS], 0);
	assert_int_equal(p->value[COUNTER_FREED], 3);
	assert_int_equal(p->pss_status, PSS_OK);
	assert_false(process_has(p, COUNTER_LOCKED));
	p = g.rows.item[2].process;
	assert_false(process_has(p, COUNTER_RSS));
	assert_int_equal(p->pss_status, PSS_KERNEL_THREAD);
	assert_int_equal(process_status(p, VALUE_MAPS), PSS_KERNEL_THREAD);
	totals_sum(g.rows.item, g.rows.count, false, &totals);
	assert_int_equal(totals.value[COUNTER_RSS], 100);
	assert_false(totals.partial & COUNTER_BIT(COUNTER_RSS));
}

/* What becomes free adds up within a group, and not over groups. */
TEST(freed)
{
	cleanup(machine_done) struct machine m = machine_of(6);
	cleanup(sums_done) struct sums g;
	struct totals totals;
	uint32_t number[6];

	for (pid_t pid = 1; pid <= 6; pid++) {
		at(&m, pid)->name = pid == 6 ? "lone" : pid % 2 ? "odd" : "even";
		process_set(at(&m, pid), COUNTER_FREED, (uint64_t)pid);
	}
	at(&m, 4)->status[VALUE_FREED] = PSS_RACED;
	at(&m, 4)->have &= ~COUNTER_BIT(COUNTER_FREED);
	group(&m, "name", &g);
	assert_int_equal(g.rows.count, 3);
	for (size_t i = 0; i < 3; i++) {
		const struct process *p = g.rows.item[i].process;
		bool even = strcmp(p->name, "even") == 0;

		assert_int_equal(process_has(p, COUNTER_FREED), !even);
		assert_int_equal(process_status(p, VALUE_FREED), even ? PSS_RACED : PSS_OK);
		if (!even)
			assert_int_equal(p->value[COUNTER_FREED],
					 strcmp(p->name, "odd") == 0 ? 9 : 6);
	}
	totals_sum(g.rows.item, g.rows.count, false, &totals);
	assert_false(totals.have & COUNTER_BIT(COUNTER_FREED));
	totals_sum(m.rows.item, m.rows.count, false, &totals);
	assert_false(totals.have & COUNTER_BIT(COUNTER_FREED));
	totals_sum(m.rows.item, 1, false, &totals);
	assert_true(totals.have & COUNTER_BIT(COUNTER_FREED));
	/* The numbers of groups, in the order that the processes have now. */
	group_number(column("name"), &m.list, number);
	for (size_t i = 0; i < 6; i++)
		for (size_t k = 0; k < 6; k++)
			assert_int_equal(number[i] == number[k],
					 strcmp(m.list.item[i]->name, m.list.item[k]->name) == 0);
	group_number(NULL, &m.list, number);
	for (uint32_t i = 0; i < 6; i++)
		assert_int_equal(number[i], i + 1);
}

/*
 * A value that some processes lack is shown with their number and a reason; one that all lack is
 * not.
 */
TEST(missing)
{
	struct totals totals;
	cleanup(machine_done) struct machine m = machine_of(4);
	cleanup(sums_done) struct sums g;

	for (pid_t pid = 2; pid <= 4; pid++) {
		at(&m, pid)->have &= ~COUNTER_BIT(COUNTER_PSS);
		at(&m, pid)->pss_source = PSS_FROM_NOTHING;
	}
	at(&m, 2)->pss_status = PSS_DENIED;
	at(&m, 3)->pss_status = at(&m, 4)->pss_status = PSS_GONE;
	at(&m, 3)->name = at(&m, 4)->name = "gone";
	group(&m, "name", &g);
	assert_int_equal(g.rows.count, 2);
	assert_string_equal(g.rows.item[0].process->name, "gone"); /* by its upper bound */
	assert_false(process_has(g.rows.item[0].process, COUNTER_PSS));
	assert_int_equal(g.rows.item[0].pss_missing, 2);
	assert_int_equal(g.rows.item[0].process->pss_status, PSS_GONE);
	assert_int_equal(g.rows.item[0].process->pss_source, PSS_FROM_NOTHING);
	assert_int_equal(g.rows.item[1].process->value[COUNTER_PSS], 10);
	assert_int_equal(g.rows.item[1].pss_missing, 1);
	assert_int_equal(g.rows.item[1].process->pss_status, PSS_DENIED);
	assert_int_equal(g.rows.item[0].partial, 0);
	assert_int_equal(g.rows.item[1].partial, COUNTER_BIT(COUNTER_PSS));
	/* The total of groups is partial as they are. */
	g.rows.item[0].process->have |= COUNTER_BIT(COUNTER_PSS);
	totals_sum(g.rows.item, g.rows.count, false, &totals);
	assert_int_equal(totals.partial, COUNTER_BIT(COUNTER_PSS));
}

TEST(mixed)
{
	cleanup(machine_done) struct machine m = machine_of(2);
	cleanup(sums_done) struct sums g;

	at(&m, 2)->pss_source = PSS_FROM_ROLLUP;
	at(&m, 2)->counters_source = FROM_PROC;
	group(&m, "name", &g);
	assert_int_equal(g.rows.item[0].process->pss_source, PSS_FROM_BOTH);
	assert_int_equal(g.rows.item[0].process->counters_source, FROM_NOWHERE);
}

/* A user is a number: two users without a name are two groups. */
TEST(users)
{
	cleanup(machine_done) struct machine m = machine_of(4);
	struct sums g;

	at(&m, 1)->uid = at(&m, 2)->uid = 1000;
	at(&m, 1)->user = at(&m, 2)->user = "alice";
	at(&m, 3)->uid = 4000;
	at(&m, 4)->uid = 5000;
	at(&m, 4)->name = "b";
	group(&m, "user", &g);
	assert_int_equal(g.rows.count, 3);
	assert_string_equal(g.rows.item[0].process->user, "alice");
	assert_string_equal(g.rows.item[0].process->name, "a");
	assert_string_equal(g.rows.item[1].process->user, "4000");
	assert_string_equal(g.rows.item[2].process->user, "5000");
	sums_done(&g);
	group(&m, "name", &g);
	assert_null(g.rows.item[0].process->user);
	assert_int_equal(g.rows.item[0].process->uid, UID_NONE);
	assert_string_equal(g.rows.item[1].process->name, "b");
	assert_int_equal(g.rows.item[1].process->uid, 5000);
	sums_done(&g);
}

static void set_cgroup(struct process *p, const char *path, const char *unit, const char *container)
{
	p->cgroup = path;
	p->controlled = true;
	p->unit = unit;
	p->container = container;
	p->unit_path = unit ? (uint16_t)(strstr(path, unit) + strlen(unit) - path) : 0;
	p->container_path =
		container ? (uint16_t)(strstr(path, container) + strlen(container) - path) : 0;
}

/* The processes of one group, by text or by uid; a group without a text has those without one. */
TEST(members)
{
	static const struct {
		const char *key;
		pid_t pid;
		const char *want;
	} is[] = {{"name", 2, "2 3"}, {"user", 1, "1 3"}, {"unit", 1, "1 4"}, {"unit", 3, "3"}};
	cleanup(machine_done) struct machine m = machine_of(4);

	at(&m, 2)->name = at(&m, 3)->name = "b";
	at(&m, 2)->uid = at(&m, 4)->uid = 7;
	at(&m, 2)->unit = "u";
	at(&m, 3)->unit = "v";
	for (size_t i = 0; i < sizeof(is) / sizeof(*is); i++) {
		struct query q = {};
		struct query all = {};
		struct query_rows rows = {};
		struct query_needs needs;
		char got[32] = "";

		assert_int_equal(group_id_of(column(is[i].key), at(&m, is[i].pid), &q.filter.group),
				 0);
		query_needs(&q, &needs);
		assert_int_equal(needs.filter, column(is[i].key)->needs);
		assert_int_equal(query_select_ids(&m.snapshot, &q, &rows), 0);
		assert_int_equal(query_select_text(&m.snapshot, &q, &rows), 0);
		for (size_t k = 0; k < rows.matched.count; k++)
			sprintf(got + strlen(got), "%s%d", k ? " " : "", rows.matched.item[k]->pid);
		assert_string_equal(got, is[i].want);
		assert_true(query_filter_key(&q) != query_filter_key(&all));
		query_rows_done(&rows);
		group_id_done(&q.filter.group);
	}
}

/* The cgroup that a group is charged to, or none. */
TEST(paths)
{
	cleanup(machine_done) struct machine m = machine_of(6);
	struct sums g;

	set_cgroup(at(&m, 1), "/s/u.service/x", "u.service", NULL);
	set_cgroup(at(&m, 2), "/s/u.service/y", "u.service", NULL);
	set_cgroup(at(&m, 3), "/1/v.service", "v.service", NULL);
	set_cgroup(at(&m, 4), "/2/v.service", "v.service", NULL);
	set_cgroup(at(&m, 5), "/k/c0ffee/in", NULL, "c0ffee");
	at(&m, 6)->cgroup = "/none";
	m.order.keys = (struct field_list){{column("unit")}, 1};
	group(&m, "unit", &g);
	assert_int_equal(g.rows.count, 3);
	assert_string_equal(g.rows.item[0].process->cgroup, "/s/u.service");
	assert_true(g.rows.item[0].process->controlled);
	assert_false(g.rows.item[1].process->controlled);
	assert_null(g.rows.item[1].process->cgroup);
	assert_null(g.rows.item[2].process->unit);
	assert_false(g.rows.item[2].process->controlled);
	sums_done(&g);
	m.order.keys = (struct field_list){{column("container")}, 1};
	group(&m, "container", &g);
	assert_int_equal(g.rows.count, 2);
	assert_string_equal(g.rows.item[0].process->cgroup, "/k/c0ffee");
	sums_done(&g);
	m.order.keys = (struct field_list){{column("cgroup")}, 1};
	group(&m, "cgroup", &g);
	assert_int_equal(g.rows.count, 6);
	assert_string_equal(g.rows.item[0].process->cgroup, "/1/v.service");
	assert_true(g.rows.item[0].process->controlled);
	assert_string_equal(g.rows.item[3].process->cgroup, "/none");
	assert_false(g.rows.item[3].process->controlled);
	sums_done(&g);
}

/* Cgroups without processes follow, and deleted ones that still hold memory. */
TEST(memcgs)
{
	cleanup(machine_done) struct machine m = machine_of(2);
	cleanup(sums_done) struct sums g = {};
	struct memcg memcg[] = {{.path = "/a", .current_known = true},
				{.path = "/a/b", .current_known = true},
				{.path = "/b", .current_known = true},
				{.path = "/off"}};
	static const struct census_cgroup held[] = {
		{"/a/b", true, {[ZMEM_CHARGE_ANON] = 1, [ZMEM_CHARGE_KERNEL] = 2}},
		{"/b", false, {[ZMEM_CHARGE_FILE] = 4}},
		{NULL, true, {[ZMEM_CHARGE_FILE] = 8}},
	};
	const struct ram ram = {.cgroup = held, .cgroups = ARRAY_SIZE(held)};
	static const char *const path[] = {"/a", NULL, "/a/b", "/b", "/a/b (deleted)"};
	struct totals totals;

	set_cgroup(at(&m, 1), "/a", NULL, NULL);
	m.snapshot.memcg = memcg;
	m.snapshot.memcg_count = ARRAY_SIZE(memcg);
	m.snapshot.system.ram = &ram;
	assert_int_equal(memcg_rows(&m.snapshot, NULL, &m.list, &g), 0);
	assert_int_equal(g.rows.count, ARRAY_SIZE(path));
	for (size_t i = 0; i < ARRAY_SIZE(path); i++) {
		const struct process *p = g.rows.item[i].process;

		assert_true(p->cgroup ? path[i] && !strcmp(p->cgroup, path[i]) : !path[i]);
		assert_int_equal(row_processes(&g.rows.item[i]), i < 2);
		assert_non_null(p->charged);
		/* What no process has is 0. */
		assert_true(process_has(p, COUNTER_PSS));
	}
	assert_int_equal(process_value(g.rows.item[4].process, COUNTER_MEM_CURRENT), 3);
	assert_int_equal(process_value(g.rows.item[4].process, COUNTER_MEM_KERNEL), 2);
	assert_false(g.rows.item[4].process->controlled);
	assert_true(g.rows.item[3].process->controlled);
	/* The 0 of a cgroup without processes makes no total of what no process tells. */
	totals_sum(g.rows.item, g.rows.count, false, &totals);
	assert_int_equal(totals.processes, 2);
	assert_false(totals.have & COUNTER_BIT(COUNTER_LAZYFREE));
	assert_int_equal(totals.partial, 0);
	assert_int_equal(memcg_rows(&m.snapshot, "/a/b", &m.list, &g), 0);
	assert_int_equal(g.rows.count, 4);
}

static void group_by_keys(struct machine *m, struct group_keys *keys, const char *words,
			  struct sums *ret)
{
	const struct field *key[GROUP_KEYS_MAX];
	struct query_error error;
	int count = query_read_keys(words, key, &error);

	*ret = (struct sums){0};
	assert_true(count > 0);
	group_keys_set(keys, key, (size_t)count);
	assert_int_equal(group_rows(&keys->joined, &m->list, ret), 0);
}

/* A group has all values in common: the number of a user, not the name. */
TEST(several_keys)
{
	cleanup(machine_done) struct machine m = machine_of(6);
	cleanup(sums_done) struct sums g;
	struct group_keys keys = {};
	static const char *const want[] = {"root / a", "root / b", "1000 / a", "1001 / -"};
	static const unsigned procs[] = {2, 1, 2, 1};
	struct group_id id;

	for (pid_t pid = 1; pid <= 6; pid++) {
		at(&m, pid)->uid = pid < 4 ? 0 : pid < 6 ? 1000 : 1001;
		at(&m, pid)->user = pid < 4 ? "root" : NULL;
	}
	at(&m, 2)->name = "b";
	at(&m, 6)->name = NULL;
	group_by_keys(&m, &keys, "user,name", &g);
	assert_int_equal(g.rows.count, ARRAY_SIZE(want));
	for (size_t i = 0; i < ARRAY_SIZE(want); i++) {
		assert_string_equal(g.rows.item[i].process->joined, want[i]);
		assert_int_equal(g.rows.item[i].procs, procs[i]);
	}
	assert_string_equal(g.rows.item[1].process->user, "root");
	assert_string_equal(g.rows.item[1].process->name, "b");
	assert_string_equal(g.rows.item[2].process->user, "1000");
	/* The processes of one of them. */
	assert_int_equal(group_id_of(&keys.joined, g.rows.item[2].process, &id), 0);
	for (pid_t pid = 1; pid <= 6; pid++)
		assert_int_equal(group_has(&id, at(&m, pid)), pid == 4 || pid == 5);
	group_id_done(&id);
	assert_null(at(&m, 1)->joined);
	assert_int_equal(group_join(&keys.joined, &m.list, &g.text), 0);
	assert_string_equal(at(&m, 2)->joined, "root / b");
}

/* Groups of parts of cgroups are the cgroup of the deepest part; other keys divide it. */
TEST(cgroup_of_keys)
{
	cleanup(machine_done) struct machine m = machine_of(2);
	struct group_keys keys = {};
	struct sums g;

	for (pid_t pid = 1; pid <= 2; pid++) {
		at(&m, pid)->cgroup = "/pods/web/app";
		at(&m, pid)->controlled = true;
		at(&m, pid)->namespace = "prod";
		at(&m, pid)->pod = "prod/web";
		at(&m, pid)->pod_path = 9;
		at(&m, pid)->container = "prod/web/app";
	}
	group_by_keys(&m, &keys, "namespace,pod,container", &g);
	assert_int_equal(g.rows.count, 1);
	assert_string_equal(g.rows.item[0].process->joined, "prod / web / app");
	assert_string_equal(g.rows.item[0].process->cgroup, "/pods/web/app");
	assert_true(g.rows.item[0].process->controlled);
	sums_done(&g);
	group_by_keys(&m, &keys, "namespace,pod", &g);
	assert_string_equal(g.rows.item[0].process->cgroup, "/pods/web");
	sums_done(&g);
	group_by_keys(&m, &keys, "container,name", &g);
	assert_string_equal(g.rows.item[0].process->joined, "prod/web/app / a");
	assert_false(g.rows.item[0].process->controlled);
	sums_done(&g);
}

/* Memory for many groups is released later. */
TEST(peak)
{
	cleanup(sums_done) struct sums g = {};
	cleanup(machine_done) struct machine m = machine_of(30000);
	size_t before = heap_in_use();

	for (int i = 0; i < 100; i++) {
		m.list.count = i < 3 ? 30000 : 100;
		assert_int_equal(group_rows(column("name"), &m.list, &g), 0);
		assert_int_equal(g.rows.count, 1);
	}
	assert_true(heap_in_use() < before + 500000);
}

TEST(at_least)
{
	cleanup(machine_done) struct machine m = machine_of(4), by = machine_of(2);

	process_set(at(&m, 2), COUNTER_PSS, 20);
	at(&m, 3)->have &= ~COUNTER_BIT(COUNTER_PSS); /* RSS 100: PSS may reach the limit */
	at(&m, 4)->have &= ~COUNTER_BIT(COUNTER_PSS);
	process_set(at(&m, 4), COUNTER_RSS, 19);
	order_at_least(&m.order, 20, &m.rows);
	assert_int_equal(m.rows.count, 2);
	assert_ptr_equal(m.rows.item[0].process, at(&m, 2));
	assert_ptr_equal(m.rows.item[1].process, at(&m, 3));
	/* By the first key if it is a size, else by PSS. */
	process_set(at(&by, 1), COUNTER_RSS, 7);
	by.order.keys = (struct field_list){{column("rss")}, 1};
	order_at_least(&by.order, 50, &by.rows);
	assert_int_equal(by.rows.count, 1);
	by.order.keys = (struct field_list){{column("pid")}, 1};
	order_at_least(&by.order, 50, &by.rows);
	assert_int_equal(by.rows.count, 0);
}
