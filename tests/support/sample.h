/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Snapshots built by hand, for tests of renderers. Sums are made here and not by src/query, so that
 * a renderer test fails only for faults of the renderer.
 */
#ifndef TESTS_SAMPLE_H
#define TESTS_SAMPLE_H

#include <stdio.h>

#include "fields/process_fields.h"
#include "model/ram.h"
#include "query/result.h"

#define SAMPLE_MAX 32
#define KIB	   UINT64_C(1024)
#define MIB	   (KIB * 1024)
#define GIB	   (MIB * 1024)

struct sample {
	struct process process[SAMPLE_MAX];
	struct charges charged[SAMPLE_MAX];
	struct row row[SAMPLE_MAX];
	struct snapshot snapshot;
	struct result result;
	struct ram ram;
};

static inline void sample_meminfo(struct meminfo *m, enum meminfo_counter f, uint64_t bytes)
{
	m->have |= 1U << f;
	m->value[f] = bytes;
}

static inline void sample_figure(struct ram *ram, enum ram_class class, uint64_t bytes)
{
	ram->figure[class] = (struct ram_figure){.class = class,
						 .exists = true,
						 .known = true,
						 .has_counter = ram_class_table[class].counter,
						 .bytes = bytes,
						 .counter = bytes + 4096};
}

/* A census of its RAM, half a second before the snapshot. */
static inline void sample_census(struct sample *s)
{
	s->ram = (struct ram){.method = RAM_EXACT,
			      .known = true,
			      .frames = 16 * GIB,
			      .duration_us = 61234,
			      .taken_ms = s->snapshot.time_ms - 500,
			      .deleted_known = true,
			      .deleted_cgroups = 2,
			      .deleted_bytes = 48 * MIB};
	for (int i = 0; i < RAM_FIGURES; i++)
		s->ram.figure[i].class = (enum ram_class)i;
	sample_figure(&s->ram, RAM_FREE, 8 * GIB);
	sample_figure(&s->ram, RAM_ANON, 4 * GIB);
	sample_figure(&s->ram, RAM_PAGE_CACHE, 3 * GIB);
	sample_figure(&s->ram, RAM_SLAB, GIB - 600 * MIB);
	sample_figure(&s->ram, RAM_NET_RINGS, 0);
	sample_figure(&s->ram, RAM_UNNAMED, 600 * MIB);
	sample_figure(&s->ram, RAM_SOCKETS, MIB);
	s->ram.figure[RAM_VMALLOC].reason = "the kernel does not tell";
	s->snapshot.system.ram = &s->ram;
}

/* A machine with swap, zram and zswap, read from the kernel, and no processes yet. */
static inline void sample_init(struct sample *s)
{
	struct snapshot *snap = &s->snapshot;
	struct meminfo *m = &snap->system.meminfo;

	*s = (struct sample){0};
	s->result.snapshot = snap;
	s->result.rows = s->row;
	s->result.pss = PSS_FROM_ROLLUP;
	s->snapshot.balance.swap_unattributed_known = true;
	s->snapshot.balance.swap_unattributed = 3 * MIB;
	snap->process = s->process;
	snap->time_ms = 1767225599987; /* 2025-12-31T23:59:59.987Z */
	snap->counters_source = FROM_BPF;
	snap->pss_fallback_reason = "this kernel has no bpf_rdonly_cast()";
	snap->host = (struct host_info){.name = "box",
					.boot_id = "0f4cdd1a-6c2e-4d4b-9f0e-0123456789ab",
					.kernel_release = "6.18.5",
					.arch = "x86_64",
					.page_size = 4096,
					.cpus = 4,
					.boot_ms = 1767139200000};
	sample_meminfo(m, MEMINFO_TOTAL, 16 * GIB);
	sample_meminfo(m, MEMINFO_AVAILABLE, 9 * GIB);
	sample_meminfo(m, MEMINFO_ANON, 4 * GIB);
	sample_meminfo(m, MEMINFO_MAPPED, GIB);
	sample_meminfo(m, MEMINFO_SHMEM, 128 * MIB);
	sample_meminfo(m, MEMINFO_SWAP_TOTAL, 2 * GIB);
	sample_meminfo(m, MEMINFO_SWAP_FREE, GIB);
	sample_meminfo(m, MEMINFO_ZSWAP_POOL, 64 * MIB);
	sample_meminfo(m, MEMINFO_ZSWAP_STORED, 200 * MIB);
	snap->system.zram_count = 1;
	snap->system.zram[0] =
		(struct zram_device){.name = "zram0", .stat = {300 * MIB, 90 * MIB, 95 * MIB}};
	snap->system.pressure = (struct memory_pressure){true, 123, 45, 1283393, 86051};
	snap->system.swapped = (struct swap_activity){true, 7 * MIB, 2 * GIB};
}

/* A process without any value. */
static inline struct process *sample_add(struct sample *s, pid_t pid, uid_t uid, const char *user,
					 const char *name)
{
	size_t i = s->snapshot.count++;
	struct process *p = &s->process[i];

	s->row[i].process = p;
	s->result.row_count = s->snapshot.count;
	p->pid = pid;
	p->ppid = pid == 1 ? 0 : 1;
	p->uid = uid;
	p->user = user;
	p->name = name;
	snprintf(p->comm, sizeof(p->comm), "%s", name);
	p->threads = 1;
	p->start_ns = (uint64_t)pid * 1500000000;
	p->mm_id = (uint32_t)i + 1;
	p->mm_owner = true;
	p->counters_source = s->snapshot.counters_source;
	return p;
}

/* Counters of the kernel, all in proportion to rss. */
static inline void sample_counters(struct process *p, uint64_t rss, uint64_t swap)
{
	process_set(p, COUNTER_SWAP, swap);
	process_set(p, COUNTER_RSS, rss);
	process_set(p, COUNTER_RSS_ANON, rss / 2);
	process_set(p, COUNTER_RSS_FILE, rss / 4);
	process_set(p, COUNTER_RSS_SHMEM, rss / 4);
	process_set(p, COUNTER_VSIZE, rss * 3);
	process_set(p, COUNTER_LOCKED, 0);
	process_set(p, COUNTER_PINNED, 0);
	process_set(p, COUNTER_PGTABLES, 48 * KIB);
	process_set(p, COUNTER_HUGETLB, 0);
}

/* What smaps_rollup adds, after the counters. */
static inline void sample_pss(struct process *p, enum pss_source source)
{
	uint64_t rss = p->value[COUNTER_RSS], swap_pss = p->value[COUNTER_SWAP] / 2;

	p->pss_status = PSS_OK;
	p->pss_source = source;
	process_set(p, COUNTER_USS, rss / 2);
	process_set(p, COUNTER_PSS, rss / 4 * 3);
	process_set(p, COUNTER_PSS_ANON, rss / 2);
	process_set(p, COUNTER_PSS_FILE, rss / 8);
	process_set(p, COUNTER_PSS_SHMEM, rss / 8);
	process_set(p, COUNTER_SWAP_PSS, swap_pss);
	process_set(p, COUNTER_SWAP_SHMEM, 0);
	process_set(p, COUNTER_SWAP_RAM, swap_pss / 4);
	process_set(p, COUNTER_PSS_SWAP, rss / 4 * 3 + swap_pss);
	process_set(p, COUNTER_SHARED, rss / 4);
	process_set(p, COUNTER_THP, 0);
}

static inline void sample_sum(const struct row *rows, size_t count, struct totals *ret)
{
	counter_mask all = ~(counter_mask)0;

	*ret = (struct totals){0};
	for (size_t i = 0; i < count; i++) {
		const struct process *p = rows[i].process;
		bool sum = p->kind == PROCESS_SUM;

		all &= p->mm_owner ? p->have & ~rows[i].partial : all;

		ret->processes += sum ? rows[i].procs : 1;
		ret->pss_missing += sum ? rows[i].pss_missing : !process_has(p, COUNTER_PSS);
		ret->have |= p->have;
		for (int c = 0; c < COUNTERS_OF_PROCESS; c++)
			ret->value[c] += p->mm_owner ? p->value[c] : 0;
	}
	ret->partial = ret->have & ~all & COUNTER_BITS;
}

/* To be called at the end: only the first `shown` rows are shown, the collection fits them all. */
static inline void sample_finish(struct sample *s, size_t shown)
{
	size_t count = s->snapshot.count;
	struct collection *c = &s->snapshot.collection;

	s->result.row_count = shown;
	s->result.others_count = count - shown;
	sample_sum(s->row + shown, count - shown, &s->result.others);
	sample_sum(s->row, count, &s->result.totals);
	c->duration_us = 4321;
	c->seen = (uint32_t)count + 70 + c->gone;
	c->kernel_threads = 68;
	c->zombies = 2;
	c->reported = (uint32_t)count;
	c->not_seen_known = s->snapshot.counters_source == FROM_BPF;
	c->complete = !c->denied && !c->timeout && !c->raced && !c->not_seen;
}

/* An ordinary machine: a denied process, a shared address space, a container. */
static inline void sample_ordinary(struct sample *s)
{
	struct process *p;

	sample_init(s);
	s->snapshot.system.files = (struct machine_files){
		.shmem_known = true,
		.shmem = 127 * MIB,
		.shmem_swapped = 3 * MIB,
		.unmapped[FILE_TMPFS] = 20 * MIB,
		.unmapped[FILE_MEMFD] = 5 * MIB,
		.swapped_tmpfs = 2 * MIB,
		.swapped_unmapped = MIB / 2,
	};
	s->snapshot.balance.shmem_not_in_pss_known = true;
	s->snapshot.balance.shmem_not_in_pss = 26 * MIB;
	p = sample_add(s, 812, 1000, "alice", "firefox");
	sample_counters(p, 1300 * MIB + 4 * KIB, 300 * MIB);
	sample_pss(p, PSS_FROM_ROLLUP);
	p->threads = 87;
	p->oom_score_adj = 100;
	p->cgroup = "/user.slice/user-1000.slice/session-3.scope";
	p->unit = "session-3.scope";
	p = sample_add(s, 4194304, 4294967294, NULL, "postgres");
	sample_counters(p, 96 * MIB, 0);
	sample_pss(p, PSS_FROM_ROLLUP);
	p->oom_score_adj = -1000;
	p->cgroup = "/system.slice/docker-0123456789ab.scope";
	p->unit = "docker-0123456789ab.scope";
	p->container = "0123456789ab";
	p = sample_add(s, 813, 1000, "alice", "vfork-child");
	sample_counters(p, 1300 * MIB + 4 * KIB, 300 * MIB);
	sample_pss(p, PSS_FROM_ROLLUP);
	p->mm_id = 1;
	p->mm_owner = false;
	p = sample_add(s, 1, 0, "root", "systemd");
	sample_counters(p, 12 * MIB, 1234 * KIB);
	p->pss_status = PSS_DENIED;
	p->cgroup = "/init.scope";
	p->unit = "init.scope";
	s->snapshot.collection.denied = 1;
	s->snapshot.collection.shared_mm = 1;
	s->snapshot.collection.cross_check = (struct cross_check){
		.done = true, .checked = 3, .same = 2, .moved = 1, .different = 0, .gone = 0};
	sample_finish(s, 4);
}

/* The row of a process that was added. */
static inline struct row *sample_row(struct sample *s, const struct process *p)
{
	return &s->row[p - s->process];
}

/* A group of the result's column, which `name` sets. */
static inline struct process *sample_group(struct sample *s, const char *name, uint32_t procs)
{
	struct process *p = sample_add(s, 0, UID_NONE, NULL, "");

	p->kind = PROCESS_SUM;
	p->charged = &s->charged[p - s->process];
	p->start_ns = p->mm_id = 0;
	p->name = NULL;
	p->unit = name;
	sample_row(s, p)->procs = p->threads = procs;
	return p;
}

/*
 * Groups by unit: one with a limit, one without PSS of some and with the memory counters of a
 * cgroup above, one with a hostile name, none.
 */
static inline void sample_groups(struct sample *s)
{
	struct process *p;

	sample_init(s);
	s->result.group = process_field("unit");
	p = sample_group(s, "postgresql@15-main.service", 200);
	sample_counters(p, 900 * MIB, 40 * MIB);
	sample_pss(p, PSS_FROM_KERNEL);
	process_set(p, COUNTER_MEM_CURRENT, 1800 * MIB);
	process_set(p, COUNTER_MEM_LIMIT, 2 * GIB);
	process_set(p, COUNTER_NEAREST_LIMIT, 4 * GIB);
	process_set(p, COUNTER_MEM_LEFT, 256 * MIB);
	process_set(p, COUNTER_LIMIT_UP, 1);
	process_set(p, COUNTER_MEM_WORKING_SET, 1200 * MIB);
	process_set(p, COUNTER_MEM_ANON, 700 * MIB);
	process_set(p, COUNTER_MEM_FILE, 900 * MIB);
	process_set(p, COUNTER_MEM_SHMEM, 150 * MIB);
	process_set(p, COUNTER_MEM_SLAB, 20 * MIB);
	process_set(p, COUNTER_MEM_KERNEL, 30 * MIB);
	process_set(p, COUNTER_MEM_SOCK, 3 * MIB);
	process_set(p, COUNTER_MEM_SWAP, 40 * MIB);
	process_set(p, COUNTER_OOM_KILLS, 2);
	process_set(p, COUNTER_PSI_SOME_10, 1203);
	process_set(p, COUNTER_PSI_FULL_10, 7);
	p = sample_group(s, "session-3.scope", 7);
	sample_counters(p, 80 * MIB, 0);
	sample_pss(p, PSS_FROM_BOTH);
	p->pss_status = PSS_DENIED;
	sample_row(s, p)->pss_missing = 2;
	sample_row(s, p)->partial = COUNTER_BIT(COUNTER_PSS) | COUNTER_BIT(COUNTER_USS);
	process_set(p, COUNTER_MEM_CURRENT, 300 * MIB);
	p->cgroup = "/user.slice/user-1000.slice/session-3.scope";
	p->memcg_above = sizeof("/user.slice") - 1;
	p = sample_group(s, "odd\xff\"name\n,;\\.service", 1);
	sample_counters(p, 4 * MIB, 0);
	p->pss_status = PSS_TIMEOUT;
	sample_row(s, p)->pss_missing = 1;
	p = sample_group(s, NULL, 3);
	sample_counters(p, 2 * MIB, 0);
	sample_pss(p, PSS_FROM_KERNEL);
	s->result.pss = PSS_FROM_BOTH;
	sample_finish(s, 4);
}

/*
 * Names that try to break a renderer. The last one is cut inside a UTF-8 character, as the kernel
 * cuts it.
 */
static const char *const hostile_names[] = {
	"two\nlines",
	"esc\033[31mred\033[0m",
	"quote\"back\\slash'",
	"bad\xff\xfe utf8 \xc0\xaf \xed\xa0\x80",
	"c1\xc2\x9b"
	"2J del\x7f",
	"bidi\xe2\x80\xaegpj.exe\xe2\x81\xa6x",
	"sep\xe2\x80\xa8line\xe2\x80\xa9par",
	"\xe6\xbc\xa2\xe5\xad\x97\xe5\xad\x97\xe6\xbc\xa2",
	"party\xf0\x9f\x8e\x89\xf0\x9f\x8e\x89",
	"e\xcc\x81"
	"clair \xe2\x80\x8b.",
	"abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ+-",
	"",
	" ",
	"tab\there\r\b",
	"<script>&amp;</script>",
	"\xe6\xbc\xa2\xe5\xad\x97\xe6",
};

static inline void sample_hostile(struct sample *s)
{
	sample_init(s);
	for (size_t i = 0; i < sizeof(hostile_names) / sizeof(hostile_names[0]); i++) {
		const char *name = hostile_names[i];
		struct process *p = sample_add(s, (pid_t)(100 + i), 1000, name, name);

		sample_counters(p, (i + 1) * 4 * KIB, 0);
		sample_pss(p, i % 2 ? PSS_FROM_ROLLUP : PSS_FROM_KERNEL);
		p->cgroup = name;
		p->unit = name;
		p->container = name;
		p->cmdline = name;
	}
	s->result.pss = PSS_FROM_BOTH;
	sample_finish(s, s->snapshot.count);
}

/*
 * A machine with few values: /proc only, no swap, a kernel thread and a zombie that were asked for.
 */
static inline void sample_bare(struct sample *s)
{
	struct process *p;

	sample_init(s);
	s->snapshot.counters_source = FROM_PROC;
	s->snapshot.fallback_reason = "bpf: Operation not permitted\033[2J";
	s->snapshot.system = (struct system_info){0};
	s->snapshot.host.boot_id[0] = '\0';
	s->result.pss = PSS_FROM_NOTHING;
	s->snapshot.balance.swap_unattributed_known = false;
	p = sample_add(s, 2, 0, NULL, "kthreadd");
	p->kind = PROCESS_KTHREAD;
	p->pss_status = PSS_KERNEL_THREAD;
	p->mm_id = 0;
	p->mm_owner = false;
	p = sample_add(s, 700, 33, NULL, "defunct");
	p->kind = PROCESS_ZOMBIE;
	p->pss_status = PSS_GONE;
	p->mm_id = 0;
	p->mm_owner = false;
	sample_finish(s, 2);
}

/* No process. */
static inline void sample_empty(struct sample *s)
{
	sample_init(s);
	sample_finish(s, 0);
}

/* Two of four rows are shown. */
static inline void sample_others(struct sample *s)
{
	sample_ordinary(s);
	sample_finish(s, 2);
}

/* One of four groups is shown. */
static inline void sample_group_others(struct sample *s)
{
	sample_groups(s);
	s->result.row_count = 1;
	s->result.others_count = 3;
	sample_sum(s->row + 1, 3, &s->result.others);
}

/* The first rows again and again, `count` of them in `rows`. */
static inline void sample_repeat(struct sample *s, struct row *rows, size_t count)
{
	sample_ordinary(s);
	for (size_t i = 0; i < count; i++)
		rows[i] = s->row[i % 4];
	s->result.rows = rows;
	s->result.row_count = count;
}

/* A test of this sample, with unit.h. */
#define SAMPLE_TEST(name, make)                                                                    \
	static void with_##name(struct sample *s);                                                 \
	TEST(name)                                                                                 \
	{                                                                                          \
		struct sample s;                                                                   \
                                                                                                   \
		make(&s);                                                                          \
		with_##name(&s);                                                                   \
	}                                                                                          \
	static void with_##name(struct sample *s)

/* What all parts of RAM need: processes map all anonymous memory but 10 MiB, and all files but 3.
 */
static inline void sample_parts(struct sample *s)
{
	struct meminfo *m = &s->snapshot.system.meminfo;
	struct machine_balance *b = &s->snapshot.balance;

	sample_meminfo(m, MEMINFO_FREE, 8 * GIB);
	sample_meminfo(m, MEMINFO_CACHED, 3 * GIB);
	sample_meminfo(m, MEMINFO_SLAB_RECLAIMABLE, 200 * MIB);
	sample_meminfo(m, MEMINFO_PAGE_TABLES, 30 * MIB);
	b->shmem_not_in_pss_known = b->residual_known = true;
	b->shmem_not_in_pss = m->value[MEMINFO_SHMEM];
	b->anon_residual = 10 * (int64_t)MIB;
	b->mapped_residual = 3 * (int64_t)MIB;
}

#endif
