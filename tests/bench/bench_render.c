// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Measures the renderers alone on a fixed snapshot of 5,000 processes: CPU time of this thread,
 * with the renderers interleaved.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "bench.h"
#include "query/group.h"
#include "query/order.h"
#include "query/tree.h"
#include "report/report.h"

#define PROCESSES 5000
#define ROUNDS	  99
#define KIB	  UINT64_C(1024)

struct scene {
	struct snapshot snapshot;
	struct process_list list;     /* as they were collected */
	struct rows rows;	      /* likewise */
	struct process_list grouped;  /* scratch space for sorting */
	struct rows ordered;	      /* likewise */
	struct field_list columns[2]; /* the default columns, and all columns of CSV */
	struct result result;
};

static uint64_t seed;

/* 0 to n - 1, the same each run. */
static uint32_t any(uint32_t n)
{
	seed = seed * 6364136223846793005 + 1442695040888963407;
	return (uint32_t)(seed >> 33) % n;
}

static const char *pick(const char *const *list, size_t count)
{
	return list[any((uint32_t)count)];
}

/* Most are small, a few are large, and all share some files. */
static void fill_counters(struct process *p)
{
	uint64_t anon = (4 + any(1 << any(20))) * 4 * KIB, file = (200 + any(2000)) * 4 * KIB;
	uint64_t shmem = any(8) ? 0 : any(5000) * 4 * KIB,
		 swap = any(4) ? 0 : anon / 3 / 4096 * 4096;

	process_set(p, COUNTER_RSS_ANON, anon);
	process_set(p, COUNTER_RSS_FILE, file);
	process_set(p, COUNTER_RSS_SHMEM, shmem);
	process_set(p, COUNTER_SWAP, swap);
	process_set(p, COUNTER_VSIZE, (anon + file) * 7);
	process_set(p, COUNTER_LOCKED, 0);
	process_set(p, COUNTER_PINNED, 0);
	process_set(p, COUNTER_PGTABLES, 48 * KIB + (anon + file) / 512);
	process_set(p, COUNTER_HUGETLB, 0);
	process_set(p, COUNTER_PSS_ANON, anon - anon / 7);
	process_set(p, COUNTER_PSS_FILE, file / 3 + any(4096));
	process_set(p, COUNTER_PSS_SHMEM, shmem / 5);
	process_set(p, COUNTER_SWAP_PSS, swap / 2);
	process_set(p, COUNTER_SWAP_SHMEM, 0);
	process_set(p, COUNTER_PSS,
		    p->value[COUNTER_PSS_ANON] + p->value[COUNTER_PSS_FILE] +
			    p->value[COUNTER_PSS_SHMEM]);
	process_set(p, COUNTER_USS, (anon / 2 + file / 8) / 4096 * 4096);
	process_set(p, COUNTER_THP, anon / (2048 * KIB) * 2048 * KIB);
}

static void fill_process(struct process *p, pid_t pid)
{
	static const char *const user[] = {"root", "www-data", "postgres", "alice",
					   "systemd-network"};
	static const char *const name[] = {
		"nginx",   "postgres", "chrome",       "java",
		"bash",	   "sshd",     "python3.11",   "systemd-journald",
		"kubelet", "node",     "code\xcc\xa7", "containerd-shim-runc-v2"};
	static const char *const unit[] = {"nginx.service", "postgresql@15-main.service", NULL,
					   "session-3.scope", "user@1000.service"};

	p->pid = pid;
	p->ppid = 1 + (pid_t)any((uint32_t)pid);
	p->uid = any(5) * 1000;
	p->threads = 1 + any(40);
	p->start_ns = (uint64_t)pid * 12345678901;
	p->mm_key = (uint64_t)pid;
	p->counters_source = FROM_BPF;
	p->pss_source = any(100) ? PSS_FROM_KERNEL : PSS_FROM_ROLLUP;
	p->pss_status = PSS_OK;
	p->user = pick(user, ARRAY_SIZE(user));
	p->name = pick(name, ARRAY_SIZE(name));
	snprintf(p->comm, sizeof(p->comm), "%s", p->name);
	p->unit = pick(unit, ARRAY_SIZE(unit));
	p->cgroup = p->unit ? "/system.slice/system-some.slice/nginx.service" : "/";
	fill_counters(p);
}

static void fill_machine(struct snapshot *s)
{
	s->time_ms = 1767225599987;
	s->counters_source = FROM_BPF;
	s->host = (struct host_info){.name = "box",
				     .boot_id = "0f4cdd1a-6c2e-4d4b-9f0e-0123456789ab",
				     .kernel_release = "6.18.5",
				     .arch = "x86_64",
				     .page_size = 4096,
				     .cpus = 64,
				     .boot_ms = 1767139200000};
	for (int f = 0; f < MEMINFO_COUNTERS; f++)
		s->system.meminfo.value[f] = (uint64_t)(f + 1) << 30;
	s->system.meminfo.have = (UINT32_C(1) << MEMINFO_COUNTERS) - 1;
}

static int scene_init(struct scene *c)
{
	struct snapshot *s = &c->snapshot;

	seed = 1;
	fill_machine(s);
	for (int i = 0; i < PROCESSES; i++) {
		struct process *p = snapshot_add(s);

		if (!p)
			return -1;
		fill_process(p, 1 + i * 7);
	}
	if (process_list_reserve(&c->list, PROCESSES) < 0 || snapshot_finish(s) < 0)
		return -1;
	for (int i = 0; i < PROCESSES; i++)
		c->list.item[c->list.count++] = &s->process[i];
	if (snapshot_own_mm(s, c->list.item, PROCESSES) < 0 ||
	    rows_of(&c->rows, c->list.item, PROCESSES) < 0 ||
	    rows_of(&c->ordered, c->list.item, PROCESSES) < 0)
		return -1;
	c->result = (struct result){.snapshot = s,
				    .pss = PSS_FROM_BOTH,
				    .rows = c->ordered.item,
				    .row_count = PROCESSES};
	totals_sum(c->rows.item, PROCESSES, false, &c->result.totals);
	process_list_columns(&c->columns[0], &columns_usual, NULL);
	process_list_whole(&c->columns[1], NULL);
	return 0;
}

static void scene_done(struct scene *c)
{
	process_list_done(&c->list);
	process_list_done(&c->grouped);
	rows_done(&c->rows);
	rows_done(&c->ordered);
	snapshot_done(&c->snapshot);
}

/* ---- what is measured ---- */

static void order_by(struct scene *c, const char *key)
{
	struct order order = {};
	struct field_error bad;

	memcpy(c->ordered.item, c->rows.item, PROCESSES * sizeof(*c->rows.item));
	if (field_list_parse(&order.keys, &process_fields, key, &bad) == 0)
		order_rows(&order, &c->snapshot, &c->ordered);
}

/* Groups of programs, as metrics have them, and the metrics of them. */
static void put_groups(struct strbuf *out, struct scene *c, bool show)
{
	const struct field *name = process_field("name");
	struct table_style style = {.columns = &c->columns[0]};
	struct result result = c->result;
	struct sums groups = {};

	if (rows_processes(c->rows.item, PROCESSES, &c->grouped) == 0 &&
	    group_rows(name, &c->grouped, &groups) == 0) {
		result.group = name;
		result.rows = groups.rows.item;
		result.row_count = groups.rows.count;
		if (show)
			render_openmetrics(out, &result, &style);
	}
	sums_done(&groups);
}

static void make_tree(struct scene *c)
{
	struct order order = {.keys = {.item = {process_field("pss")}, .count = 1}};
	struct sums tree = {};

	tree_rows(&order, 0, NULL, &c->snapshot, &c->list, &tree);
	sums_done(&tree);
}

typedef void renderer(struct strbuf *out, const struct result *r, const struct table_style *style);

static void as_json(struct strbuf *out, const struct result *r, const struct table_style *style)
{
	(void)style;
	render_json(out, r);
}

static void as_ndjson(struct strbuf *out, const struct result *r, const struct table_style *style)
{
	(void)style;
	render_ndjson(out, r);
}

static struct subject {
	const char *name;
	enum { RENDER, GROUPS, METRICS, TREE, ORDER, TOTALS } what;
	const char *key; /* of an order */
	renderer *render;
	struct table_style style;
	bool whole; /* all columns */
	size_t bytes;
	double ms[ROUNDS_MAX];
} subjects[] = {
	{"groups by name", GROUPS},
	{"tree", TREE},
	{"groups by name, openmetrics", METRICS},
	{"order by name", ORDER, "name"},
	/* Last of these: in this order they are shown. */
	{"order by pss", ORDER, "pss"},
	{"totals", TOTALS},
	{"table", RENDER, .render = render_table, .style = {.header = true}},
	{"table, color, cut to 100 columns", RENDER, .render = render_table,
	 .style = {.header = true, .color = true, .width = 100}},
	{"table, 38 columns", RENDER, .render = render_table, .style = {.header = true},
	 .whole = true},
	{"json", RENDER, .render = as_json},
	{"ndjson", RENDER, .render = as_ndjson},
	{"csv, 38 columns", RENDER, .render = render_csv, .style = {.header = true}, .whole = true},
	{"folded", RENDER, .render = render_folded},
	{"html", RENDER, .render = render_html},
};

static void run(struct subject *s, struct strbuf *out, struct scene *c)
{
	switch (s->what) {
	case RENDER:
		s->style.columns = &c->columns[s->whole];
		s->render(out, &c->result, &s->style);
		break;
	case GROUPS:
	case METRICS:
		put_groups(out, c, s->what == METRICS);
		break;
	case TREE:
		make_tree(c);
		break;
	case ORDER:
		order_by(c, s->key);
		break;
	case TOTALS:
		totals_sum(c->rows.item, PROCESSES, false, &c->result.totals);
	}
}

static double thread_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static int count_bytes(void *arg, const char *data, size_t len)
{
	(void)data;
	*(size_t *)arg += len;
	return 0;
}

static void take_turn(struct subject *s, struct scene *c, int round)
{
	cleanup(strbuf_done) struct strbuf out = {.sink = count_bytes, .sink_arg = &s->bytes};
	double start = thread_ms();

	s->bytes = 0;
	run(s, &out, c);
	strbuf_flush(&out);
	s->ms[round] = thread_ms() - start;
}

int bench_render(void)
{
	int rounds = bench_rounds ? bench_rounds : ROUNDS;
	struct scene scene = {};

	if (scene_init(&scene) < 0) {
		scene_done(&scene);
		return 1;
	}
	for (int round = 0; round < rounds; round++) {
		for (size_t i = 0; i < ARRAY_SIZE(subjects); i++)
			take_turn(&subjects[i], &scene, round);
	}
	printf("\nrender: %d processes, CPU ms, %d rounds\n%-36s %10s %10s %10s\n", PROCESSES,
	       rounds, "", "least", "median", "KiB");
	for (size_t i = 0; i < ARRAY_SIZE(subjects); i++) {
		struct spread f = spread_of(subjects[i].ms, rounds);

		printf("%-36s %10.2f %10.2f %10zu\n", subjects[i].name, f.least, f.median,
		       subjects[i].bytes / 1024);
	}
	scene_done(&scene);
	return 0;
}
