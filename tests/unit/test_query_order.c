// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The order of rows, and that pruned reads never change the first rows. */
#include "unit.h"

#include "query/filter.h"
#include "query/order.h"
#include "random_snapshot.h"

static struct random random_state = {88172645463325252};

static uint64_t draw(uint64_t below)
{
	return random_below(&random_state, below);
}

/* A distribution like on real machines: many small, few large. */
static uint64_t draw_size(void)
{
	return (1 + draw(1000)) << draw(20);
}

/* The result of reading a process. */
struct truth {
	enum pss_status status;
	uint64_t pss, uss, swap_pss, swap_shmem;
};

static void read_process(struct process *p, const struct truth *t)
{
	p->pss_status = t->status;
	if (t->status == PSS_OK) {
		p->pss_source = PSS_FROM_ROLLUP;
		process_set(p, COUNTER_PSS, t->pss);
		process_set(p, COUNTER_USS, t->uss);
		process_set(p, COUNTER_SWAP_PSS, t->swap_pss);
		process_set(p, COUNTER_SWAP_SHMEM, t->swap_shmem);
	}
	process_derive(p);
}

static void parse_order(struct order *o, const char *keys, bool reverse)
{
	struct field_error bad;

	*o = (struct order){.reverse = reverse};
	assert_int_equal(field_list_parse(&o->keys, &process_fields, keys, &bad), 0);
}

static void select_all(struct snapshot *s, struct rows *ret_rows)
{
	cleanup(process_list_done) struct process_list list = {};
	const struct filter all = {0};

	*ret_rows = (struct rows){0};
	assert_int_equal(filter_rows(s, &all, filter_matches_id, &list), 0);
	assert_int_equal(rows_of(ret_rows, list.item, list.count), 0);
}

static struct process *add(struct snapshot *s, pid_t pid, const char *name, int64_t rss)
{
	struct process *p = snapshot_add(s);

	assert_non_null(p);
	p->pid = pid;
	p->name = name;
	if (rss >= 0)
		process_set(p, COUNTER_RSS, (uint64_t)rss);
	return p;
}

static void assert_order(struct snapshot *s, const char *keys, bool reverse, const pid_t *want)
{
	struct order o;
	struct rows rows;

	parse_order(&o, keys, reverse);
	select_all(s, &rows);
	order_rows(&o, s, &rows);
	for (size_t i = 0; i < rows.count; i++)
		assert_int_equal(rows.item[i].process->pid, want[i]);
	rows_done(&rows);
}

TEST(order)
{
	struct snapshot s = {0};

	add(&s, 5, "b", 100);
	add(&s, 4, "b", 300);
	add(&s, 3, "a", -1);
	add(&s, 2, NULL, 100);
	add(&s, 1, "c", UINT32_MAX);
	/* Counters descend, other keys ascend, missing values are last in both directions. */
	assert_order(&s, "rss", false, (const pid_t[]){1, 4, 2, 5, 3});
	assert_order(&s, "rss", true, (const pid_t[]){2, 5, 4, 1, 3});
	assert_order(&s, "name", false, (const pid_t[]){3, 4, 5, 1, 2});
	assert_order(&s, "name", true, (const pid_t[]){1, 4, 5, 3, 2});
	assert_order(&s, "name,rss", false, (const pid_t[]){3, 4, 5, 1, 2});
	assert_order(&s, "rss,name", false, (const pid_t[]){1, 4, 5, 2, 3});
	assert_order(&s, "pid", false, (const pid_t[]){1, 2, 3, 4, 5});
	assert_order(&s, "pid", true, (const pid_t[]){5, 4, 3, 2, 1});
	/* Unread rows are ordered by the upper bound of PSS. */
	assert_order(&s, "pss", false, (const pid_t[]){1, 4, 2, 5, 3});
	assert_order(&s, "%pss,start", true, (const pid_t[]){1, 2, 3, 4, 5});
	snapshot_done(&s);
}

/* A cgroup is followed by those within it, also beside names with bytes below the slash. */
TEST(order_of_paths)
{
	static const char *const path[] = {
		"/",	"/a",	"/a/b", "/a/b/c",	"/a/b-x",
		"/a!b", "/a-b", "/a.b", "/long/path/a", "/long/path-a",
	};
	const pid_t count = ARRAY_SIZE(path);
	struct snapshot s = {0};

	for (pid_t pid = count; pid > 0; pid--)
		add(&s, pid, "-/", 0)->cgroup = path[pid - 1];
	assert_order(&s, "cgroup", false, (const pid_t[]){1, 2, 3, 4, 5, 6, 7, 8, 9, 10});
	assert_order(&s, "cgroup", true, (const pid_t[]){10, 9, 8, 7, 6, 5, 4, 3, 2, 1});
	assert_order(&s, "rss,cgroup", false, (const pid_t[]){1, 2, 3, 4, 5, 6, 7, 8, 9, 10});
	snapshot_done(&s);
}

/* What hurts most, then the fullest limit; cgroups that nothing hurts are as those not known. */
TEST(order_of_strain)
{
	static const struct {
		uint64_t refaults, nearest; /* in a second; what is taken of 100 bytes */
		bool known;
		pid_t place;
	} cases[] = {{0, 60, true, 4}, {0, 90, false, 3}, {9, 10, true, 2}, {20, 5, true, 1}};
	static struct charges charged[ARRAY_SIZE(cases)];
	struct snapshot s = {.host.page_size = 4096};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct process *p = add(&s, cases[i].place, NULL, -1);

		p->charged = &charged[i];
		process_set(p, COUNTER_MEM_CURRENT, 100 * 4096);
		process_set(p, COUNTER_NEAREST_LIMIT, 100);
		process_set(p, COUNTER_MEM_LEFT, 100 - cases[i].nearest);
		if (cases[i].known)
			process_set(p, COUNTER_REFAULTS_S, cases[i].refaults);
	}
	assert_order(&s, "strain,%nearest", false, (const pid_t[]){1, 2, 3, 4});
	snapshot_done(&s);
}

/* A share of another value in each row: a small cgroup may be the nearest to its limit. */
TEST(order_of_shares)
{
	static const uint64_t limits[] = {1000, 100, 0, 400};
	static const uint64_t charges[] = {500, 90, 800, 100};
	static struct charges charged[4];
	struct snapshot s = {0};

	for (int i = 0; i < 4; i++) {
		struct process *p = add(&s, i + 1, NULL, -1);

		p->charged = &charged[i];
		process_set(p, COUNTER_MEM_CURRENT, charges[i]);
		if (limits[i])
			process_set(p, COUNTER_MEM_LIMIT, limits[i]);
	}
	assert_order(&s, "%limit", false, (const pid_t[]){2, 1, 4, 3});
	assert_order(&s, "%limit", true, (const pid_t[]){4, 1, 2, 3});
	assert_order(&s, "mem_current", false, (const pid_t[]){3, 1, 4, 2});
	snapshot_done(&s);
}

/* The smallest and the largest value, a late difference, and a missing value. */
TEST(order_of_extremes)
{
	static const char *const names[] = {"abcdefgh\xff", "abcdefgh",	 "a\xff",
					    NULL,	    "abcdefgha", "b"};
	static const uint64_t sizes[] = {0, UINT64_MAX, 1, 0, UINT64_MAX - 1, UINT64_MAX};
	static const int adj[] = {0, -1, INT32_MAX, INT32_MIN, 1, -1};
	struct snapshot s = {0};

	for (int i = 0; i < 6; i++) {
		struct process *p = add(&s, i + 1, names[i], -1);

		if (i != 3)
			process_set(p, COUNTER_RSS, sizes[i]);
		p->oom_score_adj = adj[i];
	}
	assert_order(&s, "name", false, (const pid_t[]){2, 5, 1, 3, 6, 4});
	assert_order(&s, "name", true, (const pid_t[]){6, 3, 1, 5, 2, 4});
	assert_order(&s, "rss", false, (const pid_t[]){2, 6, 5, 3, 1, 4});
	assert_order(&s, "rss", true, (const pid_t[]){1, 3, 5, 2, 6, 4});
	assert_order(&s, "oom_score_adj", false, (const pid_t[]){3, 5, 1, 2, 6, 4});
	assert_order(&s, "oom_score_adj", true, (const pid_t[]){4, 2, 6, 1, 5, 3});
	snapshot_done(&s);
}

/* Reads what order_unread() requests until it requests no more. Returns the number of reads. */
static size_t read_needed(const struct order *o, struct snapshot *s, struct rows *rows, size_t top,
			  const struct truth *truth)
{
	cleanup_free struct process **need = calloc(top + 1, sizeof(struct process *));
	size_t reads = 0, count;

	assert_non_null(need);
	while ((count = order_unread(o, s, rows, top, need))) {
		assert_true(count <= top);
		for (size_t i = 0; i < count; i++) {
			assert_int_equal(need[i]->pss_status, PSS_SKIPPED);
			read_process(need[i], &truth[need[i]->pid]);
		}
		reads += count;
		assert_true(reads <= rows->count);
	}
	return reads;
}

/* A missing bound is no bound. */
TEST(unknown_bound)
{
	struct process *need[1];
	struct snapshot s = {0};
	struct order o;
	struct rows rows;

	add(&s, 1, "", 1000);
	add(&s, 2, "", -1);
	parse_order(&o, "pss", false);
	select_all(&s, &rows);
	assert_int_equal(order_unread(&o, &s, &rows, 1, need), 1);
	assert_int_equal(need[0]->pid, 2);
	/* Nor is a bound that overflows. */
	process_set(&s.process[1], COUNTER_RSS, UINT64_MAX);
	process_set(&s.process[1], COUNTER_SWAP, 10);
	process_set(&s.process[0], COUNTER_SWAP, 0);
	parse_order(&o, "pss_swap", false);
	assert_int_equal(order_unread(&o, &s, &rows, 1, need), 1);
	assert_int_equal(need[0]->pid, 2);
	rows_done(&rows);
	snapshot_done(&s);
}

/* Without an expensive key only the shown rows are read. */
TEST(cheap_keys)
{
	enum { COUNT = 100, TOP = 7 };
	struct truth truth[COUNT + 1] = {0};
	struct snapshot s = {0};
	struct order o;
	struct rows rows;

	for (pid_t pid = 1; pid <= COUNT; pid++) {
		add(&s, pid, "", 1000 + pid);
		truth[pid] = (struct truth){.status = PSS_OK, .pss = 500};
	}
	parse_order(&o, "rss", false);
	select_all(&s, &rows);
	assert_int_equal(read_needed(&o, &s, &rows, TOP, truth), TOP);
	assert_int_equal(rows.item[0].process->pid, COUNT);
	assert_int_equal(read_needed(&o, &s, &rows, 2 * COUNT, truth), COUNT - TOP);
	rows_done(&rows);
	snapshot_done(&s);
}

static void fill(struct snapshot *s, struct truth *truth, pid_t count)
{
	static const char *const names[] = {"sh", "postgres", "java", NULL};

	for (pid_t pid = 1; pid <= count; pid++) {
		struct process *p = add(s, pid, names[draw(4)], -1);
		struct truth *t = &truth[pid];
		uint64_t rss = draw_size();

		*t = (struct truth){.status = draw(10) ? PSS_OK : PSS_GONE + draw(5)};
		/* BPF could not read some of the processes. */
		if (!draw(50))
			continue;
		process_set(p, COUNTER_RSS, rss);
		process_set(p, COUNTER_SWAP, draw(2) ? 0 : draw_size());
		t->pss = draw(4) ? rss / 10 + draw(rss - rss / 10 + 1) : rss;
		t->uss = draw(t->pss + 1);
		t->swap_pss = draw(p->value[COUNTER_SWAP] + 1);
		t->swap_shmem = draw(3) ? 0 : draw_size();
		if (!draw(40))
			p->kind = PROCESS_ZOMBIE;
		/* Some processes were read before. */
		if (!draw(20))
			read_process(p, t);
		process_derive(p);
	}
}

static void copy(struct snapshot *to, const struct snapshot *from)
{
	for (size_t i = 0; i < from->count; i++)
		*snapshot_add(to) = from->process[i];
}

/* One machine: the first rows after pruned reading equal those after reading everything. */
static void check_pruning(const char *keys, bool reverse, pid_t count, size_t top)
{
	cleanup_free struct truth *truth = calloc((size_t)count + 1, sizeof(*truth));
	struct snapshot lazy = {0}, eager = {0};
	struct rows some, all, sorted;
	struct order o;

	assert_non_null(truth);
	fill(&lazy, truth, count);
	copy(&eager, &lazy);
	for (size_t i = 0; i < eager.count; i++) {
		struct process *p = &eager.process[i];

		if (p->pss_status == PSS_SKIPPED && p->kind == PROCESS_USER)
			read_process(p, &truth[p->pid]);
	}
	parse_order(&o, keys, reverse);
	select_all(&eager, &all);
	order_rows(&o, &eager, &all);
	select_all(&lazy, &some);
	read_needed(&o, &lazy, &some, top, truth);
	select_all(&lazy, &sorted);
	order_rows(&o, &lazy, &sorted);
	for (size_t i = 0; i < top && i < all.count; i++) {
		assert_int_equal(some.item[i].process->pid, all.item[i].process->pid);
		assert_int_equal(some.item[i].process->have, all.item[i].process->have);
		assert_int_equal(some.item[i].process->pss_status, all.item[i].process->pss_status);
		/* Rows that stay unread are behind the first rows. */
		assert_int_equal(sorted.item[i].process->pid, all.item[i].process->pid);
	}
	rows_done(&sorted);
	rows_done(&some);
	rows_done(&all);
	snapshot_done(&lazy);
	snapshot_done(&eager);
}

TEST(pruning_is_exact)
{
	static const char *const keys[] = {
		"pss",	      "uss",	    "swap_pss",	 "pss_swap", "shared",	   "swap_shmem",
		"%pss",	      "rss",	    "name,pss",	 "swap,uss", "pss,name",   "pss_status,pss",
		"pss_source", "pss_status", "name,%pss", "pid",	     "shared,pss", "swap_pss,pss",
	};

	for (size_t k = 0; k < ARRAY_SIZE(keys); k++) {
		for (int round = 0; round < 60; round++)
			check_pruning(keys[k], round % 2, (pid_t)(1 + draw(200)), draw(40));
	}
}

/* Pruning pays: few of many are read if sizes differ. */
TEST(pruning_saves)
{
	enum { COUNT = 5000, TOP = 20 };
	static const char *const keys[] = {"pss", "pss_swap", "uss", "swap_pss"};
	struct order o;

	for (size_t k = 0; k < ARRAY_SIZE(keys); k++) {
		cleanup_free struct truth *truth = calloc(COUNT + 1, sizeof(*truth));
		struct snapshot s = {0};
		struct rows rows;

		assert_non_null(truth);
		for (pid_t pid = 1; pid <= COUNT; pid++) {
			uint64_t rss = draw_size(), swap = draw_size();
			struct process *p = add(&s, pid, "", (int64_t)rss);

			process_set(p, COUNTER_SWAP, swap);
			truth[pid] = (struct truth){.status = PSS_OK};
			truth[pid].pss = rss / 2 + draw(rss / 2 + 1);
			truth[pid].uss = truth[pid].pss / 2 + draw(truth[pid].pss / 2 + 1);
			truth[pid].swap_pss = swap / 2 + draw(swap / 2 + 1);
		}
		parse_order(&o, keys[k], false);
		select_all(&s, &rows);
		assert_uint_in_range(read_needed(&o, &s, &rows, TOP, truth), TOP, COUNT / 10);
		rows_done(&rows);
		snapshot_done(&s);
	}
}
