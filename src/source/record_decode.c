// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Makes processes of kernel records (struct zmem_record), whatever they were read from.
 */
#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "source/record_decode.h"
#include "zmem/record.h"

static bool header_ok(const struct zmem_record *r)
{
	if (r->version != ZMEM_RECORD_VERSION)
		return false;
	switch (r->kind) {
	case ZMEM_PROCESS:
		return r->size ==
		       (r->valid & ZMEM_VALID_PAGES ? sizeof(struct zmem_pss_record) : sizeof(*r));
	case ZMEM_KTHREAD:
	case ZMEM_ZOMBIE:
		return r->size == ZMEM_RECORD_SHORT;
	default:
		return false;
	}
}

static enum process_kind kind_of(const struct zmem_record *r)
{
	switch (r->kind) {
	case ZMEM_KTHREAD:
		return PROCESS_KTHREAD;
	case ZMEM_ZOMBIE:
		return PROCESS_ZOMBIE;
	default:
		return PROCESS_USER;
	}
}

/* Sets a value of `units` units of `unit` bytes, unless it is absurd. */
static void set_scaled(struct process *p, enum counter c, uint64_t units, uint64_t unit)
{
	uint64_t bytes;

	if (!__builtin_mul_overflow(units, unit, &bytes) && bytes < (uint64_t)1 << 62)
		process_set(p, c, bytes);
}

/* In pages, 4 TiB: threads hold back, and a sum is below 0, by far less. */
#define DELTA_MAX ((int64_t)1 << 30)

static void decode_rss(const struct zmem_record *r, const struct decode_limits *limits,
		       struct process *p)
{
	static const struct {
		enum zmem_rss index;
		enum counter counter;
	} map[] = {
		{ZMEM_RSS_FILE, COUNTER_RSS_FILE},
		{ZMEM_RSS_ANON, COUNTER_RSS_ANON},
		{ZMEM_RSS_SWAP, COUNTER_SWAP},
		{ZMEM_RSS_SHMEM, COUNTER_RSS_SHMEM},
	};
	uint64_t limit = limits->ram_bytes / limits->page_size;

	for (size_t i = 0; i < ZMEM_RSS_COUNT; i++) {
		/* Swap has no such bound; its entries name no more than 2 EiB. */
		uint64_t max = i == ZMEM_RSS_SWAP || !limit ? (uint64_t)1 << 49 : limit;

		if (r->rss[i] > (int64_t)max || r->rss[i] < -DELTA_MAX ||
		    r->rss_delta[i] > DELTA_MAX || r->rss_delta[i] < -DELTA_MAX)
			return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(map); i++) {
		int64_t pages = r->rss[map[i].index], delta = r->rss_delta[map[i].index];

		/* Before the threads' deltas are added, a sum may well be below 0. */
		if (pages < 0) {
			delta += pages;
			pages = 0;
		}
		set_scaled(p, map[i].counter, (uint64_t)pages, limits->page_size);
		p->rss_delta[map[i].index] = (int32_t)delta;
	}
}

static void decode_counters(const struct zmem_record *r, const struct decode_limits *limits,
			    struct process *p)
{
	/* With threads left out, their deltas are too: better no value than a wrong one. */
	if ((r->valid & ZMEM_VALID_RSS) && !(r->flags & ZMEM_CUT_THREADS))
		decode_rss(r, limits, p);
	if (r->valid & ZMEM_VALID_VM) {
		set_scaled(p, COUNTER_VSIZE, r->total_vm, limits->page_size);
		set_scaled(p, COUNTER_LOCKED, r->locked_vm, limits->page_size);
	}
	if (r->valid & ZMEM_VALID_PINNED)
		set_scaled(p, COUNTER_PINNED, r->pinned_vm, limits->page_size);
	if (r->valid & ZMEM_VALID_PGTABLE)
		set_scaled(p, COUNTER_PGTABLES, r->pgtables_bytes, 1);
	if (r->valid & ZMEM_VALID_HUGETLB)
		set_scaled(p, COUNTER_HUGETLB, r->hugetlb_pages, limits->page_size);
	if (r->valid & ZMEM_VALID_CGROUP)
		p->cgroup_key = r->cgroup_key;
	if (r->valid & ZMEM_VALID_SHARING) {
		p->sharing_known = true;
		p->write_protect_seq = r->write_protect_seq;
		p->ksm_pages = r->ksm_pages;
	}
	p->forked = r->flags & ZMEM_FORKED;
	p->raced = r->flags & ZMEM_RACED;
	p->leader_exited = r->flags & ZMEM_LEADER_EXITED;
	p->starting = r->flags & ZMEM_STARTING;
	p->mm_key = r->mm_id;
}

static int decode_name(const struct zmem_record *r, struct snapshot *s, struct process *p)
{
	const char *name = p->comm;
	size_t len = strlen(p->comm);

	if (r->kind == ZMEM_PROCESS && (r->valid & ZMEM_VALID_EXE) && r->exe_len) {
		name = r->exe;
		len = strnlen(r->exe, sizeof(r->exe));
		p->name_cut = r->exe_len > sizeof(r->exe);
	}
	p->name = arena_strndup(&s->arena, name, len);
	return p->name ? 0 : -ENOMEM;
}

/* No share is larger than the pages it is a share of, whoever wrote the record. */
static bool is_plausible(const struct zmem_pages *w, uint64_t page)
{
	static const enum zmem_rss kind[] = {ZMEM_RSS_FILE, ZMEM_RSS_ANON, ZMEM_RSS_SHMEM};
	uint64_t pages = 0, most;

	for (size_t i = 0; i < ARRAY_SIZE(kind); i++) {
		if (__builtin_mul_overflow(w->seen[kind[i]], page << ZMEM_PSS_SHIFT, &most) ||
		    w->pss[kind[i]] > most ||
		    __builtin_add_overflow(pages, w->seen[kind[i]], &pages))
			return false;
	}
	return w->unique <= pages;
}

/* PSS, USS and swap from a walk that adds up. An anonymous page it did not see is private. */
static void decode_pages(const struct zmem_pss_record *r, const struct decode_limits *limits,
			 struct process *p)
{
	const struct zmem_pages *w = &r->pages;
	__s64 counted = r->record.rss[ZMEM_RSS_ANON], seen = (__s64)w->seen[ZMEM_RSS_ANON];
	uint64_t file = w->pss[ZMEM_RSS_FILE], shmem = w->pss[ZMEM_RSS_SHMEM];
	uint64_t page = limits->page_size, rest, anon;

	p->pages_unknown = w->flags & ZMEM_WALK_UNKNOWN;
	if (!pages_consistent(r) && !((w->flags & ZMEM_WALK_ACCEPTED) && pages_within_tolerance(r)))
		return;
	if (!process_has(p, COUNTER_RSS_ANON))
		return;
	if (!is_plausible(w, page)) {
		p->pages_unknown = true;
		return;
	}
	/* The counter may be just below 0 where it is accepted though it moves. */
	rest = counted > seen ? (uint64_t)(counted - seen) : 0;
	anon = w->pss[ZMEM_RSS_ANON] + (rest * page << ZMEM_PSS_SHIFT);
	process_set(p, COUNTER_PSS, (anon + file + shmem) >> ZMEM_PSS_SHIFT);
	process_set(p, COUNTER_PSS_ANON, anon >> ZMEM_PSS_SHIFT);
	process_set(p, COUNTER_PSS_FILE, file >> ZMEM_PSS_SHIFT);
	process_set(p, COUNTER_PSS_SHMEM, shmem >> ZMEM_PSS_SHIFT);
	process_set(p, COUNTER_USS, (w->unique + rest) * page);
	set_scaled(p, COUNTER_THP, w->huge, page);
	/* A swap entry that may be shared: how many share it only smaps_rollup tells. */
	if (!w->seen[ZMEM_RSS_SWAP] && process_has(p, COUNTER_SWAP))
		process_set(p, COUNTER_SWAP_PSS, p->value[COUNTER_SWAP]);
	p->pss_source = PSS_FROM_KERNEL;
	p->pss_status = PSS_OK;
}

static int decode_record(const struct zmem_record *r, const struct decode_limits *limits,
			 struct snapshot *s, struct process **ret)
{
	struct process *p = snapshot_add(s);

	if (!p)
		return -ENOMEM;
	p->kind = kind_of(r);
	p->pid = r->pid;
	p->ppid = r->ppid;
	p->uid = r->uid;
	p->threads = r->threads;
	p->oom_score_adj = r->oom_score_adj;
	p->start_ns = r->start_boottime_ns;
	memcpy(p->comm, r->comm, sizeof(p->comm));
	p->comm[sizeof(p->comm) - 1] = '\0';
	p->counters_source = FROM_BPF;
	if (r->kind == ZMEM_PROCESS)
		decode_counters(r, limits, p);
	if (p->kind == PROCESS_KTHREAD)
		p->pss_status = PSS_KERNEL_THREAD;
	else if (p->kind == PROCESS_ZOMBIE)
		p->pss_status = PSS_GONE;
	*ret = p;
	return decode_name(r, s, p);
}

long record_size(const void *data, size_t len)
{
	struct zmem_record r = {};

	if (len < ZMEM_RECORD_SHORT)
		return 0;
	memcpy(&r, data, ZMEM_RECORD_SHORT);
	if (!header_ok(&r))
		return -EBADMSG;
	return r.size <= len ? r.size : 0;
}

int record_decode_one(const void *data, const struct decode_limits *limits, struct snapshot *s)
{
	struct zmem_pss_record r = {};
	struct process *p;
	int err;

	memcpy(&r, data, ZMEM_RECORD_SHORT);
	memcpy(&r, data, r.record.size);
	err = decode_record(&r.record, limits, s, &p);
	if (err < 0)
		return err;
	if (r.record.valid & ZMEM_VALID_PAGES)
		decode_pages(&r, limits, p);
	return 0;
}

long record_decode(const void *data, size_t len, const struct decode_limits *limits,
		   struct snapshot *snapshot)
{
	size_t used = 0;

	for (;;) {
		const char *at = (const char *)data + used;
		long size = record_size(at, len - used);
		int err;

		if (size < 0)
			return size;
		if (size == 0)
			return (long)used;
		err = record_decode_one(at, limits, snapshot);
		if (err < 0)
			return err;
		used += (size_t)size;
	}
}
