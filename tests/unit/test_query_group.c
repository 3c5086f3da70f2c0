// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Groups and trees: each process once, an address space once, nothing that was not measured. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/cleanup.h"
#include "base/strbuf.h"
#include "zmem/query.h"

struct machine {
	struct snapshot snapshot;
	struct rows rows;
	struct order order;
};

static const struct column *column(const char *key)
{
	return column_find(key, strlen(key));
}

static void machine_init(struct machine *m, size_t count)
{
	*m = (struct machine){.order.keys = {{column("pss")}, 1}};
	for (size_t i = 0; i < count; i++) {
		struct process *p = snapshot_add(&m->snapshot);

		assert_non_null(p);
		p->pid = (pid_t)i + 1;
		p->start_ns = i;
		p->name = "a";
		p->threads = 1;
		p->mm_owner = true;
		p->mm_id = (uint32_t)i + 1;
		p->pss_status = PSS_OK;
		p->pss_source = PSS_FROM_KERNEL;
		p->counters_source = FROM_BPF;
		process_set(p, COUNTER_RSS, 100);
		process_set(p, COUNTER_PSS, 10);
	}
	m->rows.item = calloc(count + 1, sizeof(*m->rows.item));
	assert_non_null(m->rows.item);
	for (size_t i = 0; i < count; i++)
		m->rows.item[i] = &m->snapshot.process[i];
	m->rows.count = count;
}

static void machine_done(struct machine *m)
{
	rows_done(&m->rows);
	snapshot_done(&m->snapshot);
}

static struct process *at(struct machine *m, pid_t pid)
{
	return &m->snapshot.process[pid - 1];
}

static void group(struct machine *m, const char *key, struct sums *ret)
{
	assert_int_equal(group_rows(column(key), &m->snapshot, &m->rows, ret), 0);
	order_rows(&m->order, &m->snapshot, &ret->rows);
}

/* ---- groups ---- */

static void test_possible(void **state)
{
	static const char *const keys[] = {"name", "cmdline",	"user",
					   "unit", "container", "cgroup"};
	size_t possible = 0;

	(void)state;
	for (size_t i = 0; i < column_count; i++)
		possible += group_possible(column_table[i]);
	assert_int_equal(possible, ARRAY_SIZE(keys));
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		assert_true(group_possible(column(keys[i])));
}

static void test_nothing(void **state)
{
	struct machine m;
	struct sums g;

	(void)state;
	machine_init(&m, 0);
	group(&m, "name", &g);
	assert_int_equal(g.rows.count, 0);
	sums_done(&g);
	sums_done(&g);
	machine_done(&m);
}

/* 200 workers are 200 workers; three threads of one address space are three processes, once. */
static void test_workers(void **state)
{
	struct machine m;
	struct sums g;

	(void)state;
	machine_init(&m, 204);
	at(&m, 201)->name = at(&m, 202)->name = at(&m, 203)->name = "shared";
	at(&m, 202)->mm_owner = at(&m, 203)->mm_owner = false;
	at(&m, 202)->mm_id = at(&m, 203)->mm_id = 201;
	at(&m, 204)->name = "zz";
	process_set(at(&m, 204), COUNTER_PSS, 50);
	group(&m, "name", &g);
	assert_int_equal(g.rows.count, 3);
	assert_string_equal(g.rows.item[0]->name, "a");
	assert_int_equal(g.rows.item[0]->procs, 200);
	assert_int_equal(g.rows.item[0]->threads, 200);
	assert_int_equal(g.rows.item[0]->value[COUNTER_PSS], 2000);
	assert_int_equal(g.rows.item[0]->value[COUNTER_RSS], 20000);
	assert_int_equal(g.rows.item[0]->pss_source, PSS_FROM_KERNEL);
	assert_string_equal(g.rows.item[1]->name, "zz");
	assert_string_equal(g.rows.item[2]->name, "shared");
	assert_int_equal(g.rows.item[2]->procs, 3);
	assert_int_equal(g.rows.item[2]->value[COUNTER_PSS], 10);
	sums_done(&g);
	machine_done(&m);
}

static void test_totals(void **state)
{
	struct machine m;
	struct sums g;
	struct totals of_rows, of_groups;

	(void)state;
	machine_init(&m, 9);
	for (pid_t pid = 1; pid <= 9; pid++) {
		at(&m, pid)->name = pid % 2 ? "odd" : "even";
		process_set(at(&m, pid), COUNTER_RSS, (uint64_t)pid);
	}
	at(&m, 4)->mm_owner = false;
	at(&m, 5)->have &= ~COUNTER_BIT(COUNTER_PSS);
	totals_sum(m.rows.item, m.rows.count, false, &of_rows);
	group(&m, "name", &g);
	totals_sum(g.rows.item, g.rows.count, false, &of_groups);
	assert_int_equal(of_groups.processes, 9);
	assert_int_equal(of_groups.pss_missing, 1);
	assert_int_equal(of_groups.have, of_rows.have);
	assert_memory_equal(of_groups.value, of_rows.value, sizeof(of_rows.value));
	sums_done(&g);
	machine_done(&m);
}

/* What only some have is told, with how many lack it and why; what nobody has is not. */
static void test_missing(void **state)
{
	struct machine m;
	struct sums g;

	(void)state;
	machine_init(&m, 4);
	for (pid_t pid = 2; pid <= 4; pid++) {
		at(&m, pid)->have &= ~COUNTER_BIT(COUNTER_PSS);
		at(&m, pid)->pss_source = PSS_FROM_NOTHING;
	}
	at(&m, 2)->pss_status = PSS_DENIED;
	at(&m, 3)->pss_status = at(&m, 4)->pss_status = PSS_GONE;
	at(&m, 3)->name = at(&m, 4)->name = "gone";
	group(&m, "name", &g);
	assert_int_equal(g.rows.count, 2);
	assert_string_equal(g.rows.item[0]->name, "gone"); /* by what it can be at most */
	assert_false(process_has(g.rows.item[0], COUNTER_PSS));
	assert_int_equal(g.rows.item[0]->pss_missing, 2);
	assert_int_equal(g.rows.item[0]->pss_status, PSS_GONE);
	assert_int_equal(g.rows.item[0]->pss_source, PSS_FROM_NOTHING);
	assert_int_equal(g.rows.item[1]->value[COUNTER_PSS], 10);
	assert_int_equal(g.rows.item[1]->pss_missing, 1);
	assert_int_equal(g.rows.item[1]->pss_status, PSS_DENIED);
	sums_done(&g);
	machine_done(&m);
}

static void test_mixed(void **state)
{
	struct machine m;
	struct sums g;

	(void)state;
	machine_init(&m, 2);
	at(&m, 2)->pss_source = PSS_FROM_ROLLUP;
	at(&m, 2)->counters_source = FROM_PROC;
	group(&m, "name", &g);
	assert_int_equal(g.rows.item[0]->pss_source, PSS_FROM_BOTH);
	assert_int_equal(g.rows.item[0]->counters_source, FROM_NOWHERE);
	sums_done(&g);
	machine_done(&m);
}

/* A user is a number: two without a name are two. */
static void test_users(void **state)
{
	struct machine m;
	struct sums g;

	(void)state;
	machine_init(&m, 4);
	at(&m, 1)->uid = at(&m, 2)->uid = 1000;
	at(&m, 1)->user = at(&m, 2)->user = "alice";
	at(&m, 3)->uid = 4000;
	at(&m, 4)->uid = 5000;
	at(&m, 4)->name = "b";
	group(&m, "user", &g);
	assert_int_equal(g.rows.count, 3);
	assert_string_equal(g.rows.item[0]->user, "alice");
	assert_string_equal(g.rows.item[0]->name, "a");
	assert_string_equal(g.rows.item[1]->user, "4000");
	assert_string_equal(g.rows.item[2]->user, "5000");
	sums_done(&g);
	group(&m, "name", &g);
	assert_null(g.rows.item[0]->user);
	assert_int_equal(g.rows.item[0]->uid, UID_NONE);
	assert_string_equal(g.rows.item[1]->name, "b");
	assert_int_equal(g.rows.item[1]->uid, 5000);
	sums_done(&g);
	machine_done(&m);
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

/* The cgroup that can be asked what a group is charged, or none. */
static void test_paths(void **state)
{
	struct machine m;
	struct sums g;

	(void)state;
	machine_init(&m, 6);
	set_cgroup(at(&m, 1), "/s/u.service/x", "u.service", NULL);
	set_cgroup(at(&m, 2), "/s/u.service/y", "u.service", NULL);
	set_cgroup(at(&m, 3), "/1/v.service", "v.service", NULL);
	set_cgroup(at(&m, 4), "/2/v.service", "v.service", NULL);
	set_cgroup(at(&m, 5), "/k/c0ffee/in", NULL, "c0ffee");
	at(&m, 6)->cgroup = "/none";
	m.order.keys = (struct column_list){{column("unit")}, 1};
	group(&m, "unit", &g);
	assert_int_equal(g.rows.count, 3);
	assert_string_equal(g.rows.item[0]->cgroup, "/s/u.service");
	assert_true(g.rows.item[0]->controlled);
	assert_false(g.rows.item[1]->controlled);
	assert_null(g.rows.item[1]->cgroup);
	assert_null(g.rows.item[2]->unit);
	assert_false(g.rows.item[2]->controlled);
	sums_done(&g);
	m.order.keys = (struct column_list){{column("container")}, 1};
	group(&m, "container", &g);
	assert_int_equal(g.rows.count, 2);
	assert_string_equal(g.rows.item[0]->cgroup, "/k/c0ffee");
	sums_done(&g);
	m.order.keys = (struct column_list){{column("cgroup")}, 1};
	group(&m, "cgroup", &g);
	assert_int_equal(g.rows.count, 6);
	assert_string_equal(g.rows.item[0]->cgroup, "/1/v.service");
	assert_true(g.rows.item[0]->controlled);
	assert_string_equal(g.rows.item[3]->cgroup, "/none");
	assert_false(g.rows.item[3]->controlled);
	sums_done(&g);
	machine_done(&m);
}

static void test_at_least(void **state)
{
	struct machine m;

	(void)state;
	machine_init(&m, 4);
	process_set(at(&m, 2), COUNTER_PSS, 20);
	at(&m, 3)->have &= ~COUNTER_BIT(COUNTER_PSS); /* RSS 100: it may be */
	at(&m, 4)->have &= ~COUNTER_BIT(COUNTER_PSS);
	process_set(at(&m, 4), COUNTER_RSS, 19);
	order_at_least(&m.order, 20, &m.rows);
	assert_int_equal(m.rows.count, 2);
	assert_ptr_equal(m.rows.item[0], at(&m, 2));
	assert_ptr_equal(m.rows.item[1], at(&m, 3));
	machine_done(&m);
	/* By the first key if that is a size, else by PSS. */
	machine_init(&m, 2);
	process_set(at(&m, 1), COUNTER_RSS, 7);
	m.order.keys = (struct column_list){{column("rss")}, 1};
	order_at_least(&m.order, 50, &m.rows);
	assert_int_equal(m.rows.count, 1);
	m.order.keys = (struct column_list){{column("pid")}, 1};
	order_at_least(&m.order, 50, &m.rows);
	assert_int_equal(m.rows.count, 0);
	machine_done(&m);
}

/* ---- trees ---- */

/* "pid:procs:pss name" of each row. */
static void assert_tree(struct machine *m, uint64_t min, const char *want)
{
	cleanup(strbuf_done) struct strbuf b = {};
	struct sums t;

	assert_int_equal(tree_rows(&m->order, min, &m->snapshot, &m->rows, &t), 0);
	for (size_t i = 0; i < t.rows.count; i++) {
		const struct process *p = t.rows.item[i];

		strbuf_printf(&b, "%d:%u:", p->pid, p->procs);
		if (process_has(p, COUNTER_PSS))
			strbuf_putu(&b, p->value[COUNTER_PSS]);
		strbuf_printf(&b, " %s\n", p->name);
	}
	assert_string_equal(strbuf_str(&b), want);
	sums_done(&t);
}

static void test_tree(void **state)
{
	struct machine m;

	(void)state;
	machine_init(&m, 7);
	for (pid_t pid = 2; pid <= 7; pid++)
		at(&m, pid)->ppid = pid < 5 ? 1 : pid == 7 ? 99 : 3;
	process_set(at(&m, 4), COUNTER_PSS, 15);
	assert_tree(&m, 0,
		    "1:6:65 a\n"
		    "3:3:30 ├─ a\n"
		    "5:1:10 │  ├─ a\n"
		    "6:1:10 │  └─ a\n"
		    "4:1:15 ├─ a\n"
		    "2:1:10 └─ a\n"
		    "7:1:10 a\n");
	/* Small subtrees are left out and stay in the sums above. */
	assert_tree(&m, 15,
		    "1:6:65 a\n"
		    "3:3:30 ├─ a\n"
		    "4:1:15 └─ a\n");
	/* The rows themselves are as they were. */
	assert_string_equal(at(&m, 3)->name, "a");
	assert_int_equal(at(&m, 3)->value[COUNTER_PSS], 10);
	machine_done(&m);
}

/* Whoever is filtered out leaves its children to the next one above. */
static void test_tree_gaps(void **state)
{
	struct machine m;

	(void)state;
	machine_init(&m, 4);
	for (pid_t pid = 2; pid <= 4; pid++)
		at(&m, pid)->ppid = pid - 1;
	m.rows.item[1] = m.rows.item[3];
	m.rows.item[2] = NULL;
	m.rows.count = 2;
	assert_tree(&m, 0, "1:2:20 a\n4:1:10 └─ a\n");
	machine_done(&m);
	/* One that may be large hangs below one that is known to be small. */
	machine_init(&m, 3);
	at(&m, 2)->ppid = 1;
	at(&m, 3)->ppid = 2;
	at(&m, 3)->have &= ~COUNTER_BIT(COUNTER_PSS);
	assert_tree(&m, 50, "3:1: a\n");
	machine_done(&m);
}

/* No machine says so, a recording may: everybody is shown once. */
static void test_tree_circle(void **state)
{
	struct machine m;

	(void)state;
	machine_init(&m, 3);
	at(&m, 1)->ppid = 2;
	at(&m, 2)->ppid = 1;
	at(&m, 3)->ppid = 3;
	assert_tree(&m, 0, "1:2:20 a\n2:1:10 └─ a\n3:1:10 a\n");
	machine_done(&m);
}

static void test_tree_shared(void **state)
{
	struct machine m;

	(void)state;
	machine_init(&m, 3);
	at(&m, 2)->ppid = at(&m, 3)->ppid = 1;
	at(&m, 3)->mm_owner = false;
	at(&m, 3)->mm_id = 2;
	assert_tree(&m, 0, "1:3:20 a\n2:1:10 ├─ a\n3:1: └─ a\n");
	machine_done(&m);
}

static void test_tree_deep(void **state)
{
	const size_t count = 20000;
	struct machine m;
	struct sums t;

	(void)state;
	machine_init(&m, count);
	for (size_t i = 1; i < count; i++)
		m.snapshot.process[i].ppid = (pid_t)i;
	assert_int_equal(tree_rows(&m.order, 0, &m.snapshot, &m.rows, &t), 0);
	assert_int_equal(t.rows.count, count);
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(t.rows.item[i]->procs, count - i);
		assert_true(strlen(t.rows.item[i]->name) < 65 * 6);
	}
	sums_done(&t);
	machine_done(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_possible),    cmocka_unit_test(test_nothing),
		cmocka_unit_test(test_workers),	    cmocka_unit_test(test_totals),
		cmocka_unit_test(test_missing),	    cmocka_unit_test(test_mixed),
		cmocka_unit_test(test_users),	    cmocka_unit_test(test_paths),
		cmocka_unit_test(test_at_least),    cmocka_unit_test(test_tree),
		cmocka_unit_test(test_tree_gaps),   cmocka_unit_test(test_tree_circle),
		cmocka_unit_test(test_tree_shared), cmocka_unit_test(test_tree_deep),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
