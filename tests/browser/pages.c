// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * pages DIRECTORY: writes pages of hand-made snapshots, for tests/browser and for manual viewing.
 * Prints how long the renderer took for the large one: 5,000 processes of 12 users in 150 units.
 */
#include <stdlib.h>
#include <time.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "sample.h"
#include "report/report.h"

#define LARGE 5000

static int write_page(const char *directory, const char *name, const struct strbuf *page)
{
	char path[4096];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s.html", directory, name);
	f = fopen(path, "wb");
	if (!f || page->error || fwrite(page->data, 1, page->len, f) != page->len || fclose(f)) {
		fprintf(stderr, "%s: cannot write\n", path);
		return 1;
	}
	return 0;
}

static int make_as(const char *directory, const char *name, const struct result *r,
		   struct table_style style)
{
	cleanup(strbuf_done) struct strbuf page = {0};
	struct field_list columns;

	process_list_columns(&columns, &columns_usual, NULL);
	style.columns = &columns;
	render_html(&page, r, &style);
	return write_page(directory, name, &page);
}

static int make(const char *directory, const char *name, const struct result *r)
{
	return make_as(directory, name, r, (struct table_style){});
}

/* Sets the values of a machine of 16 GiB. */
static void make_machine(struct sample *s)
{
	struct meminfo *m = &s->snapshot.system.meminfo;

	sample_meminfo(m, MEMINFO_FREE, 3 * GIB);
	sample_meminfo(m, MEMINFO_CACHED, 6 * GIB);
	sample_meminfo(m, MEMINFO_BUFFERS, 200 * MIB);
	sample_meminfo(m, MEMINFO_SLAB_RECLAIMABLE, 700 * MIB);
	sample_meminfo(m, MEMINFO_SLAB_UNRECLAIMABLE, 300 * MIB);
	sample_meminfo(m, MEMINFO_PAGE_TABLES, 90 * MIB);
	sample_meminfo(m, MEMINFO_KERNEL_STACK, 40 * MIB);
	sample_meminfo(m, MEMINFO_PERCPU, 20 * MIB);
	sample_meminfo(m, MEMINFO_HUGETLB, 512 * MIB);
}

/* Page frames with parts: some that are not all of their class, and some that overlap. */
static void make_census(struct sample *s)
{
	sample_census(s);
	ram_add_part(&s->ram, RAM_PAGE_CACHE, "mapped", GIB);
	ram_add_part(&s->ram, RAM_PAGE_CACHE, "not mapped", 2 * GIB);
	ram_add_part(&s->ram, RAM_SLAB, "dentry", 200 * MIB);
	ram_add_part(&s->ram, RAM_SLAB, "<b>\xe2\x80\xaetwisted", 100 * MIB);
	ram_add_part(&s->ram, RAM_UNNAMED, "reclaimable", 500 * MIB);
	ram_add_part(&s->ram, RAM_UNNAMED, "blocks of 1 MiB", 400 * MIB);
}

struct large {
	struct process process[LARGE];
	struct row row[LARGE];
	char text[LARGE][64];
};

static uint64_t random_next(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return *state >> 33;
}

static int by_pss(const void *pa, const void *pb)
{
	const struct process *a = ((const struct row *)pa)->process;
	const struct process *b = ((const struct row *)pb)->process;
	uint64_t x = a->value[COUNTER_PSS], y = b->value[COUNTER_PSS];

	return x != y ? (x < y) - (x > y) : (a->pid > b->pid) - (a->pid < b->pid);
}

static void make_process(struct large *l, size_t i, uint64_t *seed)
{
	static const char *const user[] = {"root",    "www-data", "postgres", "alice",
					   "bob",     "carol",	  "nobody",   "redis",
					   "_chrony", "builder",  "gitlab",   "systemd-network"};
	static const char *const program[] = {
		"nginx",   "postgres", "python3.11",   "node",	  "java",
		"bash",	   "sshd",     "redis-server", "cc1",	  "make",
		"systemd", "cron",     "dockerd",      "kubelet", "containerd-shim-runc-v2",
		"chrome",  "clangd",   "vim",	       "tmux",	  "git"};
	struct process *p = &l->process[i];
	uint64_t rss = (4 + random_next(seed) % 64) * KIB * (1 + random_next(seed) % 200);
	size_t unit = random_next(seed) % 150;

	p->pid = (pid_t)(300 + i * 3);
	p->ppid = 1;
	p->uid = (uid_t)(1000 + unit % ARRAY_SIZE(user));
	p->user = user[unit % ARRAY_SIZE(user)];
	p->name = program[(unit + random_next(seed) % 3) % ARRAY_SIZE(program)];
	snprintf(p->comm, sizeof(p->comm), "%.15s", p->name);
	snprintf(l->text[i], sizeof(l->text[i]),
		 unit % 4 ? "service-%zu.service" : "docker-%zu.scope", unit);
	p->unit = p->cgroup = l->text[i];
	p->container = unit % 4 ? NULL : p->name;
	p->threads = 1 + (uint32_t)(random_next(seed) % 40);
	p->start_ns = i * UINT64_C(1000000000);
	p->mm_id = (uint32_t)i + 1;
	p->mm_owner = true;
	p->counters_source = FROM_BPF;
	sample_counters(p, rss & ~UINT64_C(4095),
			random_next(seed) % 5 ? 0 : (rss / 8) & ~UINT64_C(4095));
	if (i % 500 == 7)
		p->pss_status = PSS_DENIED;
	else
		sample_pss(p, PSS_FROM_KERNEL);
	process_set(p, COUNTER_FREED, p->value[COUNTER_USS]);
	process_set(p, COUNTER_HUGETLB, i == 0 ? MIB : 0);
	l->row[i].process = p;
}

static void sum_up(const struct large *l, struct totals *ret)
{
	*ret = (struct totals){.processes = LARGE};
	for (size_t i = 0; i < LARGE; i++) {
		ret->have |= l->process[i].have;
		ret->pss_missing += !process_has(&l->process[i], COUNTER_PSS);
		for (int c = 0; c < COUNTERS_OF_PROCESS; c++)
			ret->value[c] += l->process[i].value[c];
	}
}

static int64_t now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * INT64_C(1000000) + t.tv_nsec / 1000;
}

static int make_large(const char *directory)
{
	cleanup(strbuf_done) struct strbuf page = {0};
	static struct large large;
	static struct sample s;
	struct field_list columns;
	uint64_t seed = 4711;
	int64_t best = INT64_MAX;

	sample_init(&s);
	make_machine(&s);
	for (size_t i = 0; i < LARGE; i++)
		make_process(&large, i, &seed);
	qsort(large.row, LARGE, sizeof(*large.row), by_pss);
	s.snapshot.collection =
		(struct collection){.complete = false,
				    .duration_us = 54321,
				    .seen = LARGE + 300,
				    .reported = LARGE,
				    .kernel_threads = 300,
				    .denied = 10,
				    .cross_check = {.done = true, .checked = 3, .same = 3}};
	s.result.pss = PSS_FROM_KERNEL;
	s.result.rows = large.row;
	s.result.row_count = LARGE;
	sum_up(&large, &s.result.totals);
	process_list_columns(&columns, &columns_usual, NULL);
	for (int i = 0; i < 20; i++) {
		int64_t start = now_us(), took;

		strbuf_clear(&page);
		render_html(&page, &s.result, &(struct table_style){.columns = &columns});
		took = now_us() - start;
		best = took < best ? took : best;
	}
	printf("%d processes: %.1f ms to render, %zu bytes\n", LARGE, (double)best / 1000,
	       page.len);
	return write_page(directory, "large", &page);
}

/* ---- findings ---- */

/* A cgroup at its own limit that reads back what the kernel took a moment ago. */
static void make_held(struct sample *s, const char *path)
{
	static struct memcg memcg;

	memcg = (struct memcg){.path = path,
			       .current_known = true,
			       .limit_known = true,
			       .max_known = true,
			       .current = 300 * MIB,
			       .limit = 300 * MIB,
			       .max = 1234};
	memcg_set_detail(&memcg, COUNTER_REFAULTS_S, 7000);
	memcg_set_detail(&memcg, COUNTER_PSI_SOME_10, 8800);
	s->snapshot.memcg = &memcg;
	s->snapshot.memcg_count = 1;
}

/* One of each level: a cgroup at its limit, swapping, much locked memory. */
static void make_levels(struct sample *s)
{
	sample_ordinary(s);
	make_machine(s);
	make_held(s, "/system.slice/web.service");
	s->snapshot.system.rates = (struct machine_rates){
		.known = true, .swapped_in = 4 * MIB, .swapped_out = MIB, .scanned = MIB};
	sample_meminfo(&s->snapshot.system.meminfo, MEMINFO_UNEVICTABLE, 5 * GIB);
}

/* More than a page shows at first. */
static void make_many(struct sample *s)
{
	struct meminfo *m = &s->snapshot.system.meminfo;

	make_levels(s);
	sample_meminfo(m, MEMINFO_AVAILABLE, 300 * MIB);
	sample_meminfo(m, MEMINFO_SWAP_FREE, 100 * MIB);
	sample_meminfo(m, MEMINFO_SLAB_UNRECLAIMABLE, 2 * GIB);
	sample_meminfo(m, MEMINFO_COMMIT_LIMIT, 10 * GIB);
	sample_meminfo(m, MEMINFO_COMMITTED, 10 * GIB);
	s->snapshot.system.overcommit_strict = true;
}

/* Names of findings that are markup: of a cgroup, a process, a zram disk. */
static void make_hostile_findings(struct sample *s)
{
	struct process *p;

	make_levels(s);
	make_held(s, "/</script><img src=x onerror=document.title='broken'>");
	p = sample_add(s, 4000, 0, "root", "<b>\xe2\x80\xaetwisted\xff&amp;");
	sample_counters(p, 4 * MIB, 0);
	sample_pss(p, PSS_FROM_KERNEL);
	process_set(p, COUNTER_MAPS, 85);
	s->snapshot.system.max_map_count = 100;
	snprintf(s->snapshot.system.zram[0].name, sizeof(s->snapshot.system.zram[0].name),
		 "</li><script>");
	s->snapshot.system.zram[0].size = 300 * MIB;
	sample_finish(s, s->snapshot.count);
}

/* The longest names, and names that contain the end of a script element. */
static void make_hostile(struct sample *s, struct strbuf *longest)
{
	static const char *const names[] = {
		"</script><script>document.title='broken'</script>",
		"<!--<script>",
		"--><img src=x onerror=document.title='broken'>",
		"]]>&lt;&#60;",
		"\"'`${document.title='broken'}",
		"__proto__",
		"constructor",
	};

	sample_hostile(s);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		struct process *p = sample_add(s, (pid_t)(1000 + i), 1000, names[i], names[i]);

		sample_counters(p, (40 + i) * KIB * 4, 4 * KIB);
		sample_pss(p, PSS_FROM_KERNEL);
		p->unit = p->cgroup = p->container = names[i];
	}
	strbuf_fill(longest, 'x', 64 * 1024 - 1);
	s->process[0].name = s->process[0].unit = strbuf_str(longest);
	process_set(&s->process[1], COUNTER_VSIZE, UINT64_C(9007199254740991));
	snprintf(s->snapshot.host.name, sizeof(s->snapshot.host.name),
		 "</title><script>\xff\xe2\x80\xaex");
	s->snapshot.fallback_reason = "</noscript><script>document.title='broken'</script>";
	s->snapshot.counters_source = FROM_PROC;
	sample_finish(s, s->snapshot.count);
}

int main(int argc, char **argv)
{
	cleanup(strbuf_done) struct strbuf longest = {0};
	static struct sample s;
	int r;

	if (argc != 2) {
		fprintf(stderr, "usage: pages DIRECTORY\n");
		return 2;
	}
	r = make_large(argv[1]);
	sample_ordinary(&s);
	make_machine(&s);
	r |= make(argv[1], "ordinary", &s.result);
	r |= make_as(argv[1], "total", &s.result, (struct table_style){.only_total = true});
	make_census(&s);
	r |= make(argv[1], "census", &s.result);
	sample_ordinary(&s);
	make_machine(&s);
	sample_finish(&s, 2);
	r |= make(argv[1], "others", &s.result);
	sample_bare(&s);
	r |= make(argv[1], "bare", &s.result);
	sample_init(&s);
	sample_finish(&s, 0);
	r |= make(argv[1], "empty", &s.result);
	make_hostile(&s, &longest);
	r |= make(argv[1], "hostile", &s.result);
	make_levels(&s);
	r |= make(argv[1], "levels", &s.result);
	r |= make_as(argv[1], "recorded", &s.result, (struct table_style){.recorded = true});
	make_many(&s);
	r |= make(argv[1], "many", &s.result);
	make_hostile_findings(&s);
	r |= make(argv[1], "wrong", &s.result);
	return r;
}
