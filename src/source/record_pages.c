// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What the walk of a process's pages is worth: knows struct zmem_pages, trusts it only as proven.
 */
#include <string.h>

#include "source/record_decode.h"

/* True if the counters that must not move did so between two records. */
static bool moved(const __s64 *before, const __s64 *after, bool exclusive)
{
	if (before[ZMEM_RSS_FILE] != after[ZMEM_RSS_FILE] ||
	    before[ZMEM_RSS_SHMEM] != after[ZMEM_RSS_SHMEM])
		return true;
	/*
	 * Anonymous memory that nobody can share is not looked at, so it may come and go. Where it
	 * is, what was not seen is the difference to the counter, which must be the same.
	 */
	return !exclusive && (before[ZMEM_RSS_ANON] != after[ZMEM_RSS_ANON] ||
			      before[ZMEM_RSS_SWAP] != after[ZMEM_RSS_SWAP]);
}

bool pages_vouched(const struct zmem_pss_record *r)
{
	const struct zmem_pages *p = &r->pages;
	const __s64 *rss = r->record.rss;

	if (!(r->record.valid & ZMEM_VALID_RSS) || !(r->record.valid & ZMEM_VALID_SHARING) ||
	    (p->flags & ~ZMEM_WALK_EXCLUSIVE) || p->cursor)
		return false;
	return !moved(rss, p->rss, p->flags & ZMEM_WALK_EXCLUSIVE) &&
	       p->seen[ZMEM_RSS_FILE] == (uint64_t)rss[ZMEM_RSS_FILE] &&
	       p->seen[ZMEM_RSS_SHMEM] == (uint64_t)rss[ZMEM_RSS_SHMEM] &&
	       p->seen[ZMEM_RSS_ANON] <= (uint64_t)rss[ZMEM_RSS_ANON];
}

void pages_add(struct zmem_pss_record *sum, const struct zmem_pss_record *visit)
{
	const struct zmem_pages *from = &visit->pages;
	struct zmem_pages *to = &sum->pages;

	if (visit->record.mm_id != sum->record.mm_id ||
	    visit->record.start_boottime_ns != sum->record.start_boottime_ns ||
	    visit->record.write_protect_seq != sum->record.write_protect_seq ||
	    moved(sum->record.rss, visit->record.rss, to->flags & ZMEM_WALK_EXCLUSIVE) ||
	    ((from->flags ^ to->flags) & ZMEM_WALK_EXCLUSIVE))
		to->flags |= ZMEM_WALK_MOVED;
	to->flags |= from->flags;
	to->cursor = from->cursor;
	for (int i = 0; i < ZMEM_RSS_COUNT; i++) {
		to->rss[i] = from->rss[i];
		to->seen[i] += from->seen[i];
		to->pss[i] += from->pss[i];
	}
	to->unique += from->unique;
	to->huge += from->huge;
	to->work += from->work;
}
