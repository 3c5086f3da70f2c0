/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Makes random snapshots and random successors of them, and compares two snapshots member by
 * member, independent of the codec.
 */
#ifndef TESTS_RANDOM_SNAPSHOT_H
#define TESTS_RANDOM_SNAPSHOT_H

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/ram.h"
#include "model/snapshot.h"

struct random {
	uint64_t state;
	bool plain; /* numbers are 0, 1, 2 or many, and texts are names in angle brackets */
};

/* xorshift64*: the same numbers everywhere. */
static inline uint64_t random_u64(struct random *r)
{
	r->state ^= r->state >> 12;
	r->state ^= r->state << 25;
	r->state ^= r->state >> 27;
	return r->state * UINT64_C(0x2545f4914f6cdd1d);
}

static inline uint64_t random_below(struct random *r, uint64_t limit)
{
	return (random_u64(r) >> 8) % limit;
}

static inline bool random_bool(struct random *r)
{
	return random_below(r, 2);
}

/* NULL, or "<ab>", which stays until there are 4,096 more of them. */
static inline const char *random_name(struct random *r)
{
	static char text[4096][8];
	static size_t next;
	char *name = text[next++ % 4096];

	snprintf(name, sizeof(*text), "<%c%c>", (int)('a' + random_below(r, 26)),
		 (int)('a' + random_below(r, 26)));
	return random_bool(r) ? name : NULL;
}

/* 0, 1, 2 or many. */
static inline uint64_t random_few(struct random *r)
{
	if (random_bool(r))
		return random_below(r, 3);
	return 3 + random_below(r, random_bool(r) ? 1000 : UINT64_C(1) << 40);
}

/* A number of any magnitude, often round. */
static inline uint64_t random_value(struct random *r)
{
	uint64_t v;

	if (r->plain)
		return random_few(r);
	v = random_u64(r) >> random_below(r, 64);
	switch (random_below(r, 8)) {
	case 0:
		return 0;
	case 1:
		return random_u64(r);
	case 2:
		return v;
	default:
		return (v & 0xffffff) * 4096;
	}
}

static inline void *random_checked(void *p)
{
	if (!p)
		abort();
	return p;
}

/* NULL, empty, one of a few repeated texts, or random bytes. */
static inline const char *random_text(struct random *r, struct snapshot *s)
{
	char text[64];
	size_t len = random_below(r, sizeof(text));

	if (r->plain)
		return random_name(r);
	switch (random_below(r, 6)) {
	case 0:
		return NULL;
	case 1:
		len = 0;
		break;
	case 2:
		for (size_t i = 0; i < len; i++)
			text[i] = (char)(1 + random_below(r, 255));
		break;
	default:
		len = (size_t)snprintf(text, sizeof(text), "/system.slice/%u.service",
				       (unsigned)random_below(r, 9));
	}
	return random_checked(arena_strndup(&s->arena, text, len));
}

static inline void random_chars(struct random *r, char *chars, size_t size)
{
	const char *name = r->plain ? random_name(r) : NULL;
	size_t len = r->plain ? 0 : random_below(r, size);

	memset(chars, 0, size);
	snprintf(chars, size, "%s", name ? name : "");
	for (size_t i = 0; i < len; i++)
		chars[i] = (char)(1 + random_below(r, 255));
}

static inline void random_values(struct random *r, struct process *p)
{
	p->threads = (uint32_t)random_value(r);
	p->oom_score_adj = (int32_t)random_u64(r);
	p->pss_status = random_below(r, PSS_STATUS_COUNT);
	p->pss_source = random_below(r, PSS_FROM_BOTH + 1);
	p->have = random_below(r, 3) ? 0 : (counter_mask)random_u64(r);
	if (random_below(r, 2))
		p->have = (counter_mask)-1;
	/* Derived, or of cgroups. */
	p->have &= COUNTER_BITS;
	p->have &= ~(COUNTER_BIT(COUNTER_PSS_SWAP) | COUNTER_BIT(COUNTER_SHARED) |
		     COUNTER_BIT(COUNTER_FREED));
	for (int c = 0; c < COUNTERS_OF_PROCESS; c++)
		p->value[c] = process_has(p, c) ? random_value(r) : 0;
}

static inline void random_names(struct random *r, struct snapshot *s, struct process *p)
{
	random_chars(r, p->comm, sizeof(p->comm));
	p->name = random_text(r, s);
	if (!p->name)
		p->name = random_checked(arena_strndup(&s->arena, p->comm, strlen(p->comm)));
	p->app = random_text(r, s);
	p->user = random_text(r, s);
	p->cgroup = random_text(r, s);
	p->unit = random_text(r, s);
	p->container = random_text(r, s);
	p->cmdline = random_text(r, s);
	p->unit_path = (uint16_t)random_u64(r);
	p->container_path = (uint16_t)random_u64(r);
	p->cmdline_truncated = random_below(r, 2);
	p->controlled = random_below(r, 2);
	p->name_cut = random_below(r, 2);
	p->raced = !random_below(r, 9);
}

static inline void random_process(struct random *r, struct snapshot *s, pid_t pid)
{
	struct process *p = random_checked(snapshot_add(s));

	p->pid = pid;
	p->ppid = (pid_t)random_below(r, 4194305);
	p->uid = (uid_t)random_value(r);
	p->start_ns = random_value(r);
	p->kind = random_below(r, 4) ? PROCESS_USER : random_below(r, PROCESS_SUM);
	p->counters_source = random_below(r, FROM_PROC + 1);
	/* Few, so that some are shared; 0 is unknown. */
	p->mm_key = random_below(r, 3) ? random_u64(r) : random_below(r, 5);
	if (p->kind != PROCESS_USER)
		p->mm_key = 0;
	random_values(r, p);
	random_names(r, s, p);
}

static inline void random_machine(struct random *r, struct snapshot *s)
{
	struct system_info *sys = &s->system;

	s->time_ms = (int64_t)random_u64(r);
	s->counters_source = random_below(r, FROM_PROC + 1);
	s->pinned = random_below(r, 2);
	s->fallback_reason = random_text(r, s);
	s->pss_fallback_reason = random_text(r, s);
	s->selection = random_text(r, s);
	s->self = (pid_t)random_below(r, INT_MAX);
	sys->meminfo.have = (uint32_t)random_u64(r) & (UINT32_MAX >> (32 - MEMINFO_COUNTERS));
	for (int f = 0; f < MEMINFO_COUNTERS; f++)
		sys->meminfo.value[f] = meminfo_has(&sys->meminfo, f) ? random_value(r) : 0;
	sys->waits = (enum waits_source)random_below(r, WAITS_WATCHED + 1);
	sys->swaps_known = random_below(r, 2);
	sys->swap_count = random_below(r, 32) ? random_below(r, 3) : SWAP_MAX;
	for (size_t i = 0; i < sys->swap_count; i++) {
		struct swap_device *d = &sys->swap[i];

		random_chars(r, d->name, sizeof(d->name));
		d->kind = random_below(r, SWAP_FILE + 1);
		d->name_cut = random_below(r, 2);
		d->size = random_value(r);
		d->used = random_value(r);
		d->priority = (int)random_u64(r);
	}
	sys->meminfo.unplaced_count = random_below(r, MEMINFO_UNPLACED_MAX + 1);
	for (size_t i = 0; i < sys->meminfo.unplaced_count; i++) {
		struct meminfo_line *l = &sys->meminfo.unplaced[i];

		random_chars(r, l->name, sizeof(l->name));
		l->bytes = random_value(r);
	}
	sys->sockets = (struct socket_memory){random_below(r, 2), random_value(r)};
	sys->zram_count = random_below(r, 32) ? random_below(r, 3) : ZRAM_MAX;
	for (size_t i = 0; i < sys->zram_count; i++) {
		random_chars(r, sys->zram[i].name, sizeof(sys->zram[i].name));
		sys->zram[i].stat =
			(struct zram_stat){random_value(r), random_value(r), random_value(r)};
		sys->zram[i].size = random_value(r);
	}
	sys->pressure =
		(struct memory_pressure){random_below(r, 2), (uint32_t)random_u64(r),
					 (uint32_t)random_u64(r), random_value(r), random_value(r)};
	sys->swapped = (struct swap_activity){random_below(r, 2), random_value(r), random_value(r)};
	sys->rates = (struct machine_rates){random_below(r, 2), random_value(r), random_value(r),
					    random_value(r), random_value(r)};
	sys->hugetlb_unused_known = random_below(r, 2);
	sys->hugetlb_unused = random_value(r);
	sys->overcommit_strict = random_below(r, 2);
	sys->dentries = (struct dentries){random_below(r, 2), random_value(r)};
}

/* A census, or none. */
static inline void random_ram(struct random *r, struct snapshot *s)
{
	struct ram *ram = random_checked(arena_zalloc(&s->arena, 1, sizeof(*ram)));

	s->system.ram = NULL;
	if (!r->plain && random_below(r, 2))
		return;
	*ram = (struct ram){
		.method = random_below(r, 2) ? RAM_EXACT : RAM_SAMPLE,
		.known = true,
		.frames = random_value(r),
		.duration_us = random_value(r),
		.taken_ms = (int64_t)random_u64(r),
		.deleted_known = random_below(r, 2),
		.deleted_cgroups = random_value(r),
		.deleted_bytes = random_value(r),
	};
	for (int i = 0; i < RAM_FIGURES; i++)
		ram->figure[i] = (struct ram_figure){
			.class = (enum ram_class)i,
			.exists = random_below(r, 2),
			.known = random_below(r, 2),
			.sampled = random_below(r, 2),
			.has_counter = random_below(r, 2),
			.bytes = random_value(r),
			.error = random_value(r),
			.counter = random_value(r),
			.reason = random_text(r, s),
		};
	s->system.ram = ram;
}

/* A list of files, or none. */
/* Some parts, in the order of pids, and what follows from them; or a reason. */
static inline void random_gpu(struct random *r, struct snapshot *s)
{
	size_t count = random_below(r, 5), parts = 0;
	struct gpu_part *part = random_checked(arena_zalloc(&s->arena, count + 1, sizeof(*part)));
	struct gpu_regions *sums = random_checked(arena_zalloc(&s->arena, 1, sizeof(*sums)));

	s->gpu = (struct gpu_parts){};
	if (!random_below(r, 3))
		return;
	if (!random_below(r, 3)) {
		s->gpu.reason = random_text(r, s);
		s->gpu.none = s->gpu.reason && random_below(r, 2);
		return;
	}
	for (size_t i = 0; i < count; i++) {
		struct gpu_part *p = &part[parts++];

		p->pid = 1 + (pid_t)random_below(r, 5);
		p->kind = random_below(r, GPU_KINDS);
		p->has_id = random_below(r, 2);
		p->id = random_below(r, 3);
		p->resident_known = random_below(r, 4);
		p->resident = p->resident_known ? random_value(r) % GPU_BYTES_MAX : 0;
		p->shared_known = random_below(r, 2);
		p->shared = p->shared_known ? random_value(r) : 0;
		snprintf(p->device, sizeof(p->device), "0000:%02x:00.0",
			 (unsigned)random_below(r, 2));
		snprintf(p->driver, sizeof(p->driver), "%s", random_below(r, 2) ? "xe" : "");
		snprintf(p->region, sizeof(p->region), "%s", random_below(r, 2) ? "vram0" : "gtt");
	}
	gpu_divide(part, &parts);
	gpu_sum_regions(part, parts, sums);
	sums->unheld_known = random_below(r, 2);
	sums->unheld = sums->unheld_known ? (uint32_t)random_below(r, 9) : 0;
	sums->unheld_bytes = sums->unheld ? random_value(r) : 0;
	s->gpu.item = part;
	s->gpu.count = parts;
	s->gpu.sums = sums;
}

/* Maps of BPF of no process, which a recording does not have. */
static inline void random_maps(struct random *r, struct snapshot *s)
{
	struct kernel_maps *maps = &s->kernel.unheld;
	struct kernel_map *item = random_checked(arena_zalloc(&s->arena, 6, sizeof(*item)));

	*maps = (struct kernel_maps){.known = random_below(r, 2), .item = item};
	maps->reason = maps->known || random_below(r, 2) ? NULL : random_text(r, s);
	maps->count = maps->known ? random_below(r, 6) : 0;
	for (size_t i = 0; i < maps->count; i++) {
		item[i] =
			(struct kernel_map){.id = (uint32_t)random_below(r, 1000),
					    .sized = random_below(r, 2),
					    .path = random_below(r, 2) ? random_text(r, s) : NULL};
		item[i].bytes = item[i].sized ? random_value(r) >> 9 : 0;
		snprintf(item[i].program, sizeof(item[i].program), "%s",
			 random_below(r, 2) ? "<p>" : "");
		maps->bytes += item[i].bytes;
	}
}

/* What descriptors hold: some kinds of each process that has the counter. */
static inline void random_kernel(const struct random *from, struct snapshot *s)
{
	struct random own = *from, *r = &own; /* the numbers behind it stay as they are */

	s->kernel = (struct kernel_held){.known = random_below(r, 2)};
	if (!s->kernel.known && random_below(r, 2))
		s->kernel.reason = random_text(r, s);
	s->kernel.left_out = (uint32_t)random_below(r, 3);
	random_maps(r, s);
	for (size_t i = 0; i < s->count; i++) {
		struct kernel_shares *shares;

		s->process[i].kernel = NULL;
		if (!process_has(&s->process[i], COUNTER_KERNEL))
			continue;
		shares = random_checked(arena_zalloc(&s->arena, 1, sizeof(*shares)));
		kernel_shares_clear(shares);
		for (int k = 0; k < KERNEL_KINDS; k++) {
			if (random_below(r, 4))
				continue;
			shares->kind[k].bytes = random_value(r) >> 9;
			shares->kind[k].mapped = random_value(r) >> 9;
			shares->kind[k].descriptors = (uint32_t)random_below(r, 100);
		}
		s->process[i].kernel = shares;
		kernel_shares_add(&s->kernel.all, shares);
	}
}

static inline bool same_kernel(const struct snapshot *a, const struct snapshot *b)
{
	static const struct kernel_shares none;

	if (a->kernel.known != b->kernel.known || a->kernel.left_out != b->kernel.left_out ||
	    !a->kernel.reason != !b->kernel.reason ||
	    (a->kernel.reason && strcmp(a->kernel.reason, b->kernel.reason) != 0))
		return false;
	for (size_t i = 0; i < a->count && i < b->count; i++) {
		const struct kernel_shares *x = a->process[i].kernel ? a->process[i].kernel : &none;
		const struct kernel_shares *y = b->process[i].kernel ? b->process[i].kernel : &none;

		for (int k = 0; k < KERNEL_KINDS; k++) {
			if (x->kind[k].bytes != y->kind[k].bytes ||
			    x->kind[k].mapped != y->kind[k].mapped ||
			    x->kind[k].descriptors != y->kind[k].descriptors)
				return false;
		}
	}
	for (int k = 0; k < KERNEL_KINDS; k++) {
		const struct kernel_share *x = &a->kernel.all.kind[k], *y = &b->kernel.all.kind[k];

		if (x->bytes != y->bytes || x->mapped != y->mapped ||
		    x->descriptors != y->descriptors)
			return false;
	}
	return true;
}

static inline bool same_gpu(const struct gpu_parts *a, const struct gpu_parts *b)
{
	if (a->count != b->count || a->none != b->none || !a->sums != !b->sums ||
	    !a->reason != !b->reason || (a->reason && strcmp(a->reason, b->reason) != 0))
		return false;
	/* Both were zeroed, with their padding. */
	return (!a->count || memcmp(a->item, b->item, a->count * sizeof(*a->item)) == 0) &&
	       (!a->sums ||
		(a->sums->count == b->sums->count && a->sums->silent == b->sums->silent &&
		 a->sums->buffers == b->sums->buffers &&
		 a->sums->buffer_bytes == b->sums->buffer_bytes &&
		 a->sums->unheld_known == b->sums->unheld_known &&
		 a->sums->unheld == b->sums->unheld &&
		 a->sums->unheld_bytes == b->sums->unheld_bytes));
}

static inline void random_shared(struct random *r, struct snapshot *s)
{
	struct shared_files *files = random_checked(arena_zalloc(&s->arena, 1, sizeof(*files)));

	s->system.shared = NULL;
	if (random_below(r, 2))
		return;
	files->taken_ms = 1 + (int64_t)random_below(r, INT64_MAX);
	files->count = (uint32_t)random_below(r, SHARED_FILES_MAX + 1);
	for (uint32_t i = 0; i < files->count; i++) {
		const char *name = random_text(r, s);

		files->file[i] = (struct shared_file){name ? name : "", random_text(r, s),
						      (enum file_kind)random_below(r, FILE_REGULAR),
						      random_value(r), random_value(r)};
	}
	s->system.shared = files;
}

/* The numbers behind it stay what they were: corpora have differences to a random snapshot. */
static inline void random_ended(const struct random *before, struct snapshot *s)
{
	struct random own = *before, *r = &own;
	struct ended_processes *ended = random_checked(arena_zalloc(&s->arena, 1, sizeof(*ended)));

	s->system.ended = NULL;
	if (random_below(r, 2))
		return;
	ended->over_ms = 1 + random_below(r, 1 << 30);
	ended->others = random_value(r);
	ended->others_peak = random_value(r);
	ended->missed = random_value(r);
	ended->count = (uint32_t)random_below(r, ENDED_MAX + 1);
	for (uint32_t i = 0; i < ended->count; i++) {
		const char *name = random_text(r, s);

		ended->row[i] = (struct ended_row){name ? name : "", random_text(r, s),
						   random_value(r), random_value(r)};
	}
	s->system.ended = ended;
}

static inline void random_host(struct random *r, struct snapshot *s)
{
	random_chars(r, s->host.name, sizeof(s->host.name));
	random_chars(r, s->host.boot_id, sizeof(s->host.boot_id));
	random_chars(r, s->host.kernel_release, sizeof(s->host.kernel_release));
	random_chars(r, s->host.arch, sizeof(s->host.arch));
	s->host.page_size = (uint32_t)random_u64(r);
	s->host.cpus = (uint32_t)random_u64(r);
	s->host.boot_ms = random_u64(r);
}

static inline void random_collection(struct random *r, struct snapshot *s)
{
	struct collection *c = &s->collection;
	uint32_t *const number[] = {&c->seen,
				    &c->reported,
				    &c->filtered,
				    &c->kernel_threads,
				    &c->zombies,
				    &c->gone,
				    &c->denied,
				    &c->timeout,
				    &c->raced,
				    &c->not_seen,
				    &c->shared_mm,
				    &c->cross_check.checked,
				    &c->cross_check.same,
				    &c->cross_check.moved,
				    &c->cross_check.different,
				    &c->cross_check.gone,
				    &c->cross_check.ended,
				    &c->cross_check.denied,
				    &c->cross_check.unread,
				    &c->cross_check.self,
				    &c->cross_check.snapshots_ago,
				    &c->cgroups_left_out[MEMCG_BOUND_DEPTH],
				    &c->cgroups_left_out[MEMCG_BOUND_BYTES],
				    &c->cgroups_left_out[MEMCG_BOUND_TIME]};

	c->duration_us = random_value(r);
	for (size_t i = 0; i < sizeof(number) / sizeof(number[0]); i++)
		*number[i] = (uint32_t)random_value(r);
	c->not_seen_known = random_below(r, 2);
	c->shared_mm_unknown = random_below(r, 2);
	c->hidden = random_below(r, 2);
	c->complete = random_below(r, 2);
	c->cross_check.done = random_below(r, 2);
	c->cross_check.all = random_below(r, 2);
	for (size_t i = 0, count = random_below(r, NOT_SEEN_PIDS + 1); i < count; i++)
		c->not_seen_pid[i] = 1 + (pid_t)random_below(r, INT_MAX - 1);
	s->balance = (struct machine_balance){
		.swap_unattributed_known = random_below(r, 2),
		.swap_unattributed = random_value(r),
		.shmem_not_in_pss_known = random_below(r, 2),
		.shmem_not_in_pss = random_value(r),
		.residual_known = random_below(r, 2),
		.anon_residual = (int64_t)random_u64(r),
		.mapped_residual = (int64_t)random_value(r),
	};
	s->system.free = (struct free_memory){
		.known = random_below(r, 2),
		.listed = random_value(r),
		.reserve = random_value(r),
	};
	s->system.partly_mapped = (struct partly_mapped){
		.known = random_below(r, 2),
		.bytes = random_value(r),
	};
	s->system.files = (struct machine_files){
		.shmem_known = random_below(r, 2),
		.cache_known = random_below(r, 2),
		.shmem = random_value(r),
		.cache = random_value(r),
		.shmem_swapped = random_value(r),
		.swapped_tmpfs = random_value(r),
		.swapped_unmapped = random_value(r),
		.swap_ram_known = random_below(r, 2),
		.swap_ram = random_value(r),
	};
	s->system.swap_cache = (struct swap_cache){random_below(r, 2), random_value(r)};
	for (int kind = 0; kind < FILE_KINDS; kind++) {
		if (kind < FILE_REGULAR || kind == FILE_OTHER)
			s->system.files.unmapped[kind] = random_value(r);
	}
}

/* What happened to it, and all that is recorded of it. */
static inline void random_memcg_details(struct random *r, struct memcg *m)
{
	m->high_known = random_below(r, 2);
	m->high = random_value(r);
	m->max_known = random_below(r, 2);
	m->max = random_value(r);
	m->oom_kills_known = random_below(r, 2);
	m->oom_kills = random_value(r);
	for (int c = COUNTER_MEM_HIGH; c < COUNTER_COUNT; c++) {
		if (counter_table[c].number != NOT_STORED && random_below(r, 2))
			memcg_set_detail(m, (enum counter)c, random_value(r));
	}
}

static inline void random_memcgs(struct random *r, struct snapshot *s)
{
	size_t count = random_below(r, 12);

	s->memcg = random_checked(arena_zalloc(&s->arena, count + 1, sizeof(*s->memcg)));
	s->memcg_count = 0;
	for (size_t i = 0; i < count; i++) {
		char path[64];

		/* In order, some of them the cgroups of processes; now and then one is not there.
		 */
		if (r->plain)
			snprintf(path, sizeof(path), "/<%c>", (int)('a' + i));
		else
			snprintf(path, sizeof(path),
				 i < 9 ? "/system.slice/%zu.service" : "/user\xff%02zu", i);
		if (!random_below(r, 8))
			continue;
		s->memcg[s->memcg_count++] = (struct memcg){
			random_checked(arena_strndup(&s->arena, path, strlen(path))),
			random_below(r, 2), random_below(r, 2), random_value(r), random_value(r)};
		random_memcg_details(r, &s->memcg[s->memcg_count - 1]);
	}
}

/* Fills an empty snapshot with `count` processes. */
static inline void random_snapshot(struct random *r, struct snapshot *s, size_t count)
{
	pid_t pid = 0;

	for (size_t i = 0; i < count; i++)
		random_process(r, s, pid += (pid_t)(1 + random_below(r, 3000)));
	if (snapshot_finish(s) < 0)
		abort();
	random_machine(r, s);
	random_host(r, s);
	random_collection(r, s);
	random_memcgs(r, s);
	random_ram(r, s);
	random_shared(r, s);
	random_ended(r, s);
	random_gpu(r, s);
	random_kernel(r, s);
}

/* Fills the empty `next` with a successor of `s`, most of which is unchanged. */
static inline void random_next(struct random *r, const struct snapshot *s, struct snapshot *next)
{
	pid_t pid = 0;

	for (size_t i = 0; i < s->count; i++) {
		const struct process *p = &s->process[i];
		pid_t last = pid;
		struct process *copy;

		pid = p->pid;
		if (!random_below(r, 12) && last + 1 < pid)
			random_process(r, next, pid - 1);
		switch (random_below(r, 12)) {
		case 0: /* it has ended */
			continue;
		case 1: /* and another process has its pid */
			random_process(r, next, pid);
			continue;
		}
		copy = random_checked(snapshot_add(next));
		*copy = *p;
		if (!random_below(r, 4))
			random_values(r, copy);
		if (!random_below(r, 8))
			random_names(r, next, copy);
	}
	if (snapshot_finish(next) < 0)
		abort();
	next->host = s->host;
	next->system = s->system;
	random_collection(r, next);
	random_memcgs(r, next);
	if (random_below(r, 2))
		random_machine(r, next);
	if (random_below(r, 2))
		random_ram(r, next);
	if (random_below(r, 2))
		random_shared(r, next);
	random_ended(r, next);
	random_gpu(r, next);
	random_kernel(r, next);
	next->time_ms = s->time_ms + 1;
}

/* ---- comparison ---- */

static inline bool same_text_of(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

#define SAME(m)	     (a->m == b->m)
#define SAME_TEXT(m) same_text_of(a->m, b->m)

static inline bool same_process(const struct process *a, const struct process *b)
{
	for (int c = 0; c < COUNTERS_OF_PROCESS; c++) {
		if (process_has(a, c) && !SAME(value[c]))
			return false;
	}
	return SAME(have) && SAME(pid) && SAME(ppid) && SAME(uid) && SAME(threads) &&
	       SAME(oom_score_adj) && SAME(start_ns) && SAME(mm_id) && SAME(mm_owner) &&
	       SAME(kind) && SAME(raced) && SAME(counters_source) && SAME(pss_source) &&
	       SAME(pss_status) && SAME(unit_path) && SAME(container_path) && SAME(controlled) &&
	       SAME(name_cut) && SAME(cmdline_truncated) && SAME_TEXT(comm) && SAME_TEXT(name) &&
	       SAME_TEXT(app) && SAME_TEXT(user) && SAME_TEXT(cgroup) && SAME_TEXT(unit) &&
	       SAME_TEXT(container) && SAME_TEXT(cmdline);
}

static inline bool same_ram(const struct ram *a, const struct ram *b)
{
	if (!a || !b)
		return a == b;
	for (int i = 0; i < RAM_FIGURES; i++) {
		if (!SAME(figure[i].class) || !SAME(figure[i].exists) || !SAME(figure[i].known) ||
		    !SAME(figure[i].sampled) || !SAME(figure[i].has_counter) ||
		    !SAME(figure[i].bytes) || !SAME(figure[i].error) || !SAME(figure[i].counter) ||
		    !SAME_TEXT(figure[i].reason))
			return false;
	}
	return SAME(method) && SAME(known) && SAME(frames) && SAME(duration_us) && SAME(taken_ms) &&
	       SAME(deleted_known) && SAME(deleted_cgroups) && SAME(deleted_bytes);
}

static inline bool same_shared(const struct shared_files *x, const struct shared_files *y)
{
	if (!x || !y)
		return x == y;
	for (uint32_t i = 0; i < x->count && i < y->count; i++) {
		const struct shared_file *a = &x->file[i], *b = &y->file[i];

		if (!SAME_TEXT(name) || !SAME_TEXT(cgroup) || !SAME(kind) || !SAME(resident) ||
		    !SAME(swapped))
			return false;
	}
	return x->count == y->count && x->taken_ms == y->taken_ms;
}

static inline bool same_ended(const struct ended_processes *x, const struct ended_processes *y)
{
	if (!x || !y)
		return x == y;
	for (uint32_t i = 0; i < x->count && i < y->count; i++) {
		const struct ended_row *a = &x->row[i], *b = &y->row[i];

		if (!SAME_TEXT(name) || !SAME_TEXT(cgroup) || !SAME(count) || !SAME(peak))
			return false;
	}
	return x->count == y->count && x->over_ms == y->over_ms && x->others == y->others &&
	       x->others_peak == y->others_peak && x->missed == y->missed;
}

static inline bool same_system(const struct system_info *a, const struct system_info *b)
{
	if (!SAME(free.known) || !SAME(free.listed) || !SAME(free.reserve) ||
	    !SAME(partly_mapped.known) || !SAME(partly_mapped.bytes) || !SAME(waits))
		return false;
	if (!SAME(meminfo.have) || !SAME(swaps_known) || !SAME(swap_count) || !SAME(zram_count))
		return false;
	for (int f = 0; f < MEMINFO_COUNTERS; f++) {
		if (meminfo_has(&a->meminfo, f) && !SAME(meminfo.value[f]))
			return false;
	}
	for (size_t i = 0; i < a->swap_count; i++) {
		if (!SAME_TEXT(swap[i].name) || !SAME(swap[i].kind) || !SAME(swap[i].name_cut) ||
		    !SAME(swap[i].size) || !SAME(swap[i].used) || !SAME(swap[i].priority))
			return false;
	}
	if (!SAME(sockets.known) || !SAME(sockets.bytes) || !SAME(meminfo.unplaced_count))
		return false;
	for (size_t i = 0; i < a->meminfo.unplaced_count; i++) {
		if (!SAME_TEXT(meminfo.unplaced[i].name) || !SAME(meminfo.unplaced[i].bytes))
			return false;
	}
	for (size_t i = 0; i < a->zram_count; i++) {
		if (!SAME_TEXT(zram[i].name) || !SAME(zram[i].stat.stored) ||
		    !SAME(zram[i].stat.compressed) || !SAME(zram[i].stat.used) ||
		    !SAME(zram[i].size))
			return false;
	}
	if (!SAME(rates.known) || !SAME(rates.swapped_in) || !SAME(rates.swapped_out) ||
	    !SAME(rates.refaulted) || !SAME(rates.scanned) || !SAME(hugetlb_unused_known) ||
	    !SAME(hugetlb_unused) || !SAME(overcommit_strict) || !SAME(dentries.known) ||
	    !SAME(dentries.negative))
		return false;
	return SAME(pressure.known) && SAME(pressure.some_avg10) && SAME(pressure.full_avg10) &&
	       SAME(pressure.some_total_us) && SAME(pressure.full_total_us) &&
	       SAME(swapped.known) && SAME(swapped.in) && SAME(swapped.out) &&
	       SAME(files.shmem_known) && SAME(files.cache_known) && SAME(files.shmem) &&
	       SAME(files.cache) && SAME(files.shmem_swapped) && SAME(files.swapped_tmpfs) &&
	       SAME(files.swapped_unmapped) && SAME(files.swap_ram_known) && SAME(files.swap_ram) &&
	       SAME(swap_cache.known) && SAME(swap_cache.bytes) && same_ram(a->ram, b->ram) &&
	       same_shared(a->shared, b->shared) && same_ended(a->ended, b->ended) &&
	       memcmp(a->files.unmapped, b->files.unmapped, sizeof(a->files.unmapped)) == 0;
}

static inline bool same_collection(const struct collection *a, const struct collection *b)
{
	return SAME(duration_us) && SAME(seen) && SAME(reported) && SAME(filtered) &&
	       SAME(kernel_threads) && SAME(zombies) && SAME(gone) && SAME(denied) &&
	       SAME(timeout) && SAME(raced) && SAME(not_seen) && SAME(not_seen_known) &&
	       SAME(shared_mm) && SAME(shared_mm_unknown) && SAME(hidden) && SAME(complete) &&
	       SAME(cross_check.checked) && SAME(cross_check.same) && SAME(cross_check.moved) &&
	       SAME(cross_check.different) && SAME(cross_check.gone) && SAME(cross_check.done) &&
	       SAME(cross_check.all) && SAME(cross_check.ended) && SAME(cross_check.denied) &&
	       SAME(cross_check.unread) && SAME(cross_check.self) &&
	       memcmp(a->not_seen_pid, b->not_seen_pid, sizeof(a->not_seen_pid)) == 0 &&
	       memcmp(a->cgroups_left_out, b->cgroups_left_out, sizeof(a->cgroups_left_out)) == 0;
}

static inline bool same_machine(const struct snapshot *a, const struct snapshot *b)
{
	return SAME(time_ms) && SAME(counters_source) && SAME(pinned) &&
	       SAME_TEXT(fallback_reason) && SAME_TEXT(pss_fallback_reason) &&
	       SAME_TEXT(selection) && SAME(self) && SAME_TEXT(host.name) &&
	       SAME_TEXT(host.boot_id) && SAME_TEXT(host.kernel_release) && SAME_TEXT(host.arch) &&
	       SAME(host.page_size) && SAME(host.cpus) && SAME(host.boot_ms) &&
	       SAME(balance.swap_unattributed_known) && SAME(balance.swap_unattributed) &&
	       SAME(balance.shmem_not_in_pss_known) && SAME(balance.shmem_not_in_pss) &&
	       SAME(balance.residual_known) && SAME(balance.anon_residual) &&
	       SAME(balance.mapped_residual) && same_system(&a->system, &b->system) &&
	       same_gpu(&a->gpu, &b->gpu) && same_kernel(a, b) &&
	       same_collection(&a->collection, &b->collection);
}

static inline bool same_snapshot(const struct snapshot *a, const struct snapshot *b)
{
	if (!same_machine(a, b) || !SAME(count) || !SAME(memcg_count))
		return false;
	for (size_t i = 0; i < a->count; i++) {
		if (!same_process(&a->process[i], &b->process[i]))
			return false;
	}
	for (size_t i = 0; i < a->memcg_count; i++) {
		if (!SAME_TEXT(memcg[i].path) || !SAME(memcg[i].current_known) ||
		    !SAME(memcg[i].limit_known) || !SAME(memcg[i].current) ||
		    !SAME(memcg[i].limit) || !SAME(memcg[i].high_known) || !SAME(memcg[i].high) ||
		    !SAME(memcg[i].max_known) || !SAME(memcg[i].max) ||
		    !SAME(memcg[i].oom_kills_known) || !SAME(memcg[i].oom_kills) ||
		    !SAME(memcg[i].details) ||
		    memcmp(a->memcg[i].detail, b->memcg[i].detail, sizeof(a->memcg[i].detail)) != 0)
			return false;
	}
	return true;
}

#undef SAME
#undef SAME_TEXT

#endif
