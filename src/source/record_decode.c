// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Checks kernel records (struct zmem_record) and their walks, and makes processes of them. */
#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "source/record_decode.h"
#include "zmem/record.h"

/* ---- the walk of pages ---- */

/* 1 PiB in pages of 4 kB: more than any machine has, and sums of smaller values do not overflow. */
#define PAGES_MAX ((__s64)1 << 38)

/* The sum of what may be absurd: it must not overflow. */
static __s64 sum_of(__s64 a, __s64 b)
{
	return (__s64)((__u64)a + (__u64)b);
}

/* A counter with what the threads of the process hold back (until 6.1). */
static __s64 counted(const struct zmem_pss_record *r, enum zmem_rss i)
{
	return sum_of(r->record.rss[i], r->record.rss_delta[i]);
}

/*
 * The largest change of a counter that should not change. In an exclusive walk anonymous memory may
 * change, because the walk does not look at it. In another walk its unseen part is the difference
 * to the counter, so the counter must not change.
 */
static uint64_t drift(const struct zmem_pss_record *before, const __s64 *after)
{
	bool exclusive = before->pages.flags & ZMEM_WALK_EXCLUSIVE;
	uint64_t max = 0;

	for (enum zmem_rss i = 0; i < ZMEM_RSS_COUNT; i++) {
		uint64_t d = pages_apart(counted(before, i), after[i]);

		if (exclusive && (i == ZMEM_RSS_ANON || i == ZMEM_RSS_SWAP))
			continue;
		max = d > max ? d : max;
	}
	return max;
}

/* How much the counters changed during the walk. */
static uint64_t moved_during(const struct zmem_pss_record *r)
{
	return drift(r, r->pages.rss);
}

static const enum zmem_rss resident_kinds[] = {ZMEM_RSS_FILE, ZMEM_RSS_ANON, ZMEM_RSS_SHMEM};

/* The largest difference between pages seen and counters. */
static uint64_t gap(const struct zmem_pss_record *r)
{
	uint64_t max = 0;

	for (size_t k = 0; k < ARRAY_SIZE(resident_kinds); k++) {
		enum zmem_rss i = resident_kinds[k];
		__s64 seen = (__s64)r->pages.seen[i];
		uint64_t d = pages_apart(counted(r, i), seen);

		/* The walk looks only at anonymous memory that may be shared. */
		if (i == ZMEM_RSS_ANON && seen <= counted(r, i))
			continue;
		max = d > max ? d : max;
	}
	return max;
}

uint64_t pages_resident(const struct zmem_pss_record *r)
{
	__s64 sum = 0;

	for (size_t k = 0; k < ARRAY_SIZE(resident_kinds); k++)
		sum = sum_of(sum, counted(r, resident_kinds[k]));
	return sum > 0 ? (uint64_t)sum : 0;
}

static bool is_sane(const struct zmem_pss_record *r)
{
	for (int i = 0; i < ZMEM_RSS_COUNT; i++) {
		if (pages_apart(r->record.rss[i], 0) > PAGES_MAX ||
		    pages_apart(r->record.rss_delta[i], 0) > PAGES_MAX ||
		    pages_apart(r->pages.rss[i], 0) > PAGES_MAX || r->pages.seen[i] > PAGES_MAX)
			return false;
	}
	return true;
}

/*
 * True if the walk is complete and plausible, with no other flags than `allowed`, and the counters
 * are: where others hold back a part of them, no sum shows which anonymous pages were not seen.
 */
static bool is_whole(const struct zmem_pss_record *r, uint32_t allowed)
{
	return !ZMEM_OTHER_USERS(r->record.flags) && (r->record.valid & ZMEM_VALID_RSS) &&
	       (r->record.valid & ZMEM_VALID_SHARING) && !(r->pages.flags & ~allowed) &&
	       !r->pages.cursor && is_sane(r);
}

bool pages_consistent(const struct zmem_pss_record *r)
{
	return is_whole(r, ZMEM_WALK_EXCLUSIVE) && !gap(r) && !moved_during(r);
}

bool pages_within_tolerance(const struct zmem_pss_record *r)
{
	uint64_t room = pages_resident(r) / ZMEM_CLOSE_PART;

	return is_whole(r, ZMEM_WALK_EXCLUSIVE | ZMEM_WALK_DRIFTED | ZMEM_WALK_ACCEPTED) &&
	       pages_resident(r) >= ZMEM_LARGE_PAGES && gap(r) <= room && moved_during(r) <= room;
}

void pages_add(struct zmem_pss_record *sum, const struct zmem_pss_record *visit)
{
	const struct zmem_pages *from = &visit->pages;
	struct zmem_pages *to = &sum->pages;
	__s64 now[ZMEM_RSS_COUNT];
	uint64_t moved;

	for (enum zmem_rss i = 0; i < ZMEM_RSS_COUNT; i++)
		now[i] = counted(visit, i);
	moved = drift(sum, now);
	if (visit->record.mm_id != sum->record.mm_id ||
	    visit->record.start_boottime_ns != sum->record.start_boottime_ns ||
	    visit->record.write_protect_seq != sum->record.write_protect_seq ||
	    ((from->flags ^ to->flags) & ZMEM_WALK_EXCLUSIVE) ||
	    moved > pages_resident(sum) / ZMEM_CLOSE_PART)
		to->flags |= ZMEM_WALK_MOVED;
	else if (moved)
		to->flags |= ZMEM_WALK_DRIFTED;
	to->flags |= from->flags;
	to->cursor = from->cursor;
	for (int i = 0; i < ZMEM_RSS_COUNT; i++) {
		to->rss[i] = from->rss[i];
		to->seen[i] += from->seen[i];
		to->pss[i] += from->pss[i];
	}
	to->unique += from->unique;
	to->huge += from->huge;
}

/* ---- records ---- */

static bool header_ok(const struct zmem_record *r)
{
	if (r->version != ZMEM_RECORD_VERSION || r->size % 8 || r->size > RECORD_MAX)
		return false;
	switch (r->kind) {
	case ZMEM_PROCESS:
		return r->size >=
		       ZMEM_RECORD_FIRST +
			       (r->valid & ZMEM_VALID_PAGES ? sizeof(struct zmem_pages) : 0);
	case ZMEM_KTHREAD:
	case ZMEM_ZOMBIE:
		return r->size >= ZMEM_RECORD_SHORT;
	default:
		return false;
	}
}

/* Sets `units` times `unit` bytes, unless the product is absurd. */
static void set_scaled(struct process *p, enum counter c, uint64_t units, uint64_t unit)
{
	uint64_t bytes;

	if (!__builtin_mul_overflow(units, unit, &bytes) && bytes < (uint64_t)1 << 62)
		process_set(p, c, bytes);
}

/* In pages, 4 TiB: the deltas of threads and negative sums are far smaller. */
#define DELTA_MAX ((int64_t)1 << 30)

static void decode_rss(const struct zmem_record *r, const struct decode_limits *limits,
		       struct process *p)
{
	uint64_t limit = limits->ram_bytes / limits->page_size;

	for (size_t i = 0; i < ZMEM_RSS_COUNT; i++) {
		/* Swap is not bounded by RAM; its entries can address 2 EiB. */
		uint64_t max = i == ZMEM_RSS_SWAP || !limit ? (uint64_t)1 << 49 : limit;

		if (r->rss[i] > (int64_t)max || r->rss[i] < -DELTA_MAX ||
		    r->rss_delta[i] > DELTA_MAX || r->rss_delta[i] < -DELTA_MAX)
			return;
	}
	for (size_t i = 0; i < ZMEM_RSS_COUNT; i++) {
		int64_t pages = r->rss[i], delta = r->rss_delta[i];

		/* Before the threads' deltas are added, a sum may well be below 0. */
		if (pages < 0) {
			delta += pages;
			pages = 0;
		}
		set_scaled(p, rss_counter[i], (uint64_t)pages, limits->page_size);
		p->rss_delta[i] = (int32_t)delta;
	}
}

static void decode_counters(const struct zmem_record *r, const struct decode_limits *limits,
			    struct process *p)
{
	/* If threads were left out, their deltas are missing and the value would be wrong. */
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
	if (r->valid & ZMEM_VALID_MAPS)
		set_scaled(p, COUNTER_MAPS, r->map_count, 1);
	/* process_derive() raises it to the resident set. */
	if (r->valid & ZMEM_VALID_PEAK)
		set_scaled(p, COUNTER_PEAK, r->hiwater_rss, limits->page_size);
	if (r->valid & ZMEM_VALID_FAULTS)
		set_scaled(p, COUNTER_MAJFLT, r->majflt, 1);
	if (r->valid & ZMEM_VALID_SWAPINS)
		set_scaled(p, COUNTER_SWAPINS, r->swapins, 1);
	if (r->valid & ZMEM_VALID_WAIT)
		set_scaled(p, COUNTER_MEM_WAIT, r->mem_wait_ns / 1000, 1);
	if (r->valid & ZMEM_VALID_EXE)
		p->exe = r->flags & ZMEM_EXE_DELETED ? EXE_DELETED : EXE_PRESENT;
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
	p->limit_known = r->valid & ZMEM_VALID_LIMIT;
	p->near_limit = r->flags & ZMEM_NEAR_LIMIT;
	p->in_flux = r->flags & ZMEM_IN_FLUX;
	p->other_users = ZMEM_OTHER_USERS(r->flags);
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

/* A share is never larger than its pages. */
static bool is_plausible(const struct zmem_pages *w, uint64_t page)
{
	uint64_t pages = 0, most;

	for (size_t k = 0; k < ARRAY_SIZE(resident_kinds); k++) {
		enum zmem_rss i = resident_kinds[k];

		if (__builtin_mul_overflow(w->seen[i], page << ZMEM_PSS_SHIFT, &most) ||
		    w->pss[i] > most || __builtin_add_overflow(pages, w->seen[i], &pages))
			return false;
	}
	return w->unique <= pages;
}

/* PSS, USS and swap from a consistent walk. An anonymous page that it did not see is private. */
static void decode_pages(const struct zmem_pss_record *r, const struct decode_limits *limits,
			 struct process *p)
{
	const struct zmem_pages *w = &r->pages;
	__s64 all_anon = counted(r, ZMEM_RSS_ANON), seen = (__s64)w->seen[ZMEM_RSS_ANON];
	uint64_t file = w->pss[ZMEM_RSS_FILE], shmem = w->pss[ZMEM_RSS_SHMEM];
	uint64_t page = limits->page_size, rest, anon;
	__s64 swap;

	p->pages_unknown = w->flags & ZMEM_WALK_UNKNOWN;
	if (!pages_consistent(r) && !((w->flags & ZMEM_WALK_ACCEPTED) && pages_within_tolerance(r)))
		return;
	if (!process_has(p, COUNTER_RSS_ANON))
		return;
	if (!is_plausible(w, page)) {
		p->pages_unknown = true;
		return;
	}
	/* The counter may be just below `seen` in a walk within tolerance. */
	rest = all_anon > seen ? (uint64_t)(all_anon - seen) : 0;
	anon = w->pss[ZMEM_RSS_ANON] + (rest * page << ZMEM_PSS_SHIFT);
	process_set(p, COUNTER_PSS, (anon + file + shmem) >> ZMEM_PSS_SHIFT);
	process_set(p, COUNTER_PSS_ANON, anon >> ZMEM_PSS_SHIFT);
	process_set(p, COUNTER_PSS_FILE, file >> ZMEM_PSS_SHIFT);
	process_set(p, COUNTER_PSS_SHMEM, shmem >> ZMEM_PSS_SHIFT);
	process_set(p, COUNTER_USS, (w->unique + rest) * page);
	set_scaled(p, COUNTER_THP, w->huge, page);
	/* Only smaps_rollup shows how many processes share a swap entry. */
	swap = counted(r, ZMEM_RSS_SWAP);
	if (!w->seen[ZMEM_RSS_SWAP] && process_has(p, COUNTER_SWAP))
		set_scaled(p, COUNTER_SWAP_PSS, swap > 0 ? (uint64_t)swap : 0, page);
	p->pss_source = PSS_FROM_KERNEL;
	p->pss_status = PSS_OK;
}

static int decode_record(const struct zmem_record *r, const struct decode_limits *limits,
			 struct snapshot *s, struct process **ret)
{
	struct process *p = snapshot_add(s);

	if (!p)
		return -ENOMEM;
	p->kind = r->kind == ZMEM_KTHREAD  ? PROCESS_KTHREAD
		  : r->kind == ZMEM_ZOMBIE ? PROCESS_ZOMBIE
					   : PROCESS_USER;
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

/* Copies what is known of a record: of a newer program it is longer, of an older one shorter. */
void record_copy(const void *data, struct zmem_pss_record *ret)
{
	struct zmem_record *r = &ret->record;
	size_t len, pages = 0;

	*ret = (struct zmem_pss_record){};
	memcpy(r, data, ZMEM_RECORD_SHORT);
	if (r->kind != ZMEM_PROCESS) {
		r->size = ZMEM_RECORD_SHORT;
		return;
	}
	if (r->valid & ZMEM_VALID_PAGES)
		pages = sizeof(ret->pages);
	len = r->size - pages;
	memcpy(r, data, len < sizeof(*r) ? len : sizeof(*r));
	memcpy(&ret->pages, (const char *)data + len, pages);
	r->size = (__u16)(sizeof(*r) + pages);
}

int record_decode_one(const struct zmem_pss_record *record, const struct decode_limits *limits,
		      struct snapshot *s)
{
	struct process *p;
	int err = decode_record(&record->record, limits, s, &p);

	if (err < 0)
		return err;
	if (record->record.valid & ZMEM_VALID_PAGES)
		decode_pages(record, limits, p);
	return 0;
}

void record_decode_shared(const struct zmem_pss_record *record, const struct held_back *others,
			  const struct decode_limits *limits, struct process *p)
{
	struct zmem_pss_record r = *record;

	if (!(r.record.valid & ZMEM_VALID_PAGES) || r.record.mm_id != p->mm_key || !is_sane(&r) ||
	    others->users < ZMEM_OTHER_USERS(r.record.flags))
		return;
	r.record.flags &= (1U << ZMEM_OTHER_USERS_SHIFT) - 1;
	for (int i = 0; i < ZMEM_RSS_COUNT; i++) {
		r.record.rss_delta[i] += others->pages[i];
		r.pages.rss[i] += others->pages[i];
	}
	decode_pages(&r, limits, p);
}
