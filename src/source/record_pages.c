// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What the walk of a process's pages is worth: knows struct zmem_pages, trusts it only as proven.
 */

#include "source/record_decode.h"

/* 1 PiB in pages of 4 kB: no machine has them, and no sum of what is below overflows. */
#define PAGES_MAX ((__s64)1 << 38)

static uint64_t distance(__s64 a, __s64 b)
{
	return a > b ? (uint64_t)a - (uint64_t)b : (uint64_t)b - (uint64_t)a;
}

/*
 * The largest step of a counter that should not move. Anonymous memory that nobody can share is not
 * looked at, so it may come and go. Where it is, what was not seen is the difference to the
 * counter, which must be the same.
 */
static uint64_t drift(const __s64 *before, const __s64 *after, bool exclusive)
{
	uint64_t max = 0;

	for (int i = 0; i < ZMEM_RSS_COUNT; i++) {
		uint64_t d = distance(before[i], after[i]);

		if (exclusive && (i == ZMEM_RSS_ANON || i == ZMEM_RSS_SWAP))
			continue;
		max = d > max ? d : max;
	}
	return max;
}

/* How far what was seen is from what the counters say. */
static uint64_t gap(const struct zmem_pss_record *r)
{
	const __s64 *rss = r->record.rss;
	uint64_t file = distance(rss[ZMEM_RSS_FILE], (__s64)r->pages.seen[ZMEM_RSS_FILE]);
	uint64_t shmem = distance(rss[ZMEM_RSS_SHMEM], (__s64)r->pages.seen[ZMEM_RSS_SHMEM]);
	uint64_t anon = distance(rss[ZMEM_RSS_ANON], (__s64)r->pages.seen[ZMEM_RSS_ANON]);

	/* Of anonymous memory only what may be shared is looked at. */
	if ((__s64)r->pages.seen[ZMEM_RSS_ANON] <= rss[ZMEM_RSS_ANON])
		anon = 0;
	return file > shmem ? (file > anon ? file : anon) : shmem > anon ? shmem : anon;
}

static uint64_t resident(const struct zmem_pss_record *r)
{
	const __s64 *rss = r->record.rss;
	/* As unsigned: of absurd counters the sum may overflow. */
	__s64 sum = (__s64)((__u64)rss[ZMEM_RSS_FILE] + (__u64)rss[ZMEM_RSS_SHMEM] +
			    (__u64)rss[ZMEM_RSS_ANON]);

	return sum > 0 ? (uint64_t)sum : 0;
}

static bool is_sane(const struct zmem_pss_record *r)
{
	for (int i = 0; i < ZMEM_RSS_COUNT; i++) {
		if (distance(r->record.rss[i], 0) > PAGES_MAX ||
		    distance(r->pages.rss[i], 0) > PAGES_MAX || r->pages.seen[i] > PAGES_MAX)
			return false;
	}
	return true;
}

/* Whether the walk is whole and nothing was odd or absurd, beside `allowed`. */
static bool is_whole(const struct zmem_pss_record *r, uint32_t allowed)
{
	return (r->record.valid & ZMEM_VALID_RSS) && (r->record.valid & ZMEM_VALID_SHARING) &&
	       !(r->pages.flags & ~allowed) && !r->pages.cursor && is_sane(r);
}

bool pages_consistent(const struct zmem_pss_record *r)
{
	return is_whole(r, ZMEM_WALK_EXCLUSIVE) && !gap(r) &&
	       !drift(r->record.rss, r->pages.rss, r->pages.flags & ZMEM_WALK_EXCLUSIVE);
}

bool pages_within_tolerance(const struct zmem_pss_record *r)
{
	uint64_t room = resident(r) / ZMEM_CLOSE_PART;

	return is_whole(r, ZMEM_WALK_EXCLUSIVE | ZMEM_WALK_DRIFTED | ZMEM_WALK_ACCEPTED) &&
	       resident(r) >= ZMEM_LARGE_PAGES && gap(r) <= room &&
	       drift(r->record.rss, r->pages.rss, r->pages.flags & ZMEM_WALK_EXCLUSIVE) <= room;
}

void pages_add(struct zmem_pss_record *sum, const struct zmem_pss_record *visit)
{
	const struct zmem_pages *from = &visit->pages;
	struct zmem_pages *to = &sum->pages;
	uint64_t moved = drift(sum->record.rss, visit->record.rss, to->flags & ZMEM_WALK_EXCLUSIVE);

	if (visit->record.mm_id != sum->record.mm_id ||
	    visit->record.start_boottime_ns != sum->record.start_boottime_ns ||
	    visit->record.write_protect_seq != sum->record.write_protect_seq ||
	    ((from->flags ^ to->flags) & ZMEM_WALK_EXCLUSIVE) ||
	    moved > resident(sum) / ZMEM_CLOSE_PART)
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
