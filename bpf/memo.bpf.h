/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Counts what many processes share once: tables of page table entries that map the same pages have
 * the same sums. A memo keeps the sums of a table by a signature of its entries, so that the next
 * table with these entries is counted without a look at a struct page.
 *
 * A signature is made of the address in each entry that is present, in order, with random keys of
 * one collection, which never leave the reader and the kernel. Two tables that differ have the same
 * signature by chance alone, because a user cannot choose entries for keys that are secret:
 *   - Within a group, the difference of the sums is the sum of each difference of frame numbers (of
 *     at most 40 bits) times a random odd key. If a frame number differs by an odd multiple of 2^k,
 *     the sums are equal for one of 2^(63 - k) keys.
 *   - Between groups each step is a bijection of the signature before it, and a random key begins
 * it. So it is less than 2^-32 for tables that differ by one page at a multiple of 2^31 pages, and
 * about 2^-60 for others. A match must also have as many entries, and as many that are present. A
 * memo that matches by chance would have to fit the counters of the process as well, by kind
 * (discard_raced_walk()); else the walk is rejected.
 *
 * Mapcounts change, so a memo belongs to one collection: the keys are new for each, and without
 * keys there is no memo. It belongs to one reader: each has a lane. A program that is pinned has
 * neither, because only the process that loaded it can give keys: sessions never share a memo.
 */
#ifndef ZMEM_MEMO_BPF_H
#define ZMEM_MEMO_BPF_H

#include "walk_room.bpf.h"
#include "page.bpf.h"
#include "page_table.bpf.h"

/* Smaller parts of tables are walked: a signature would cost more than it saves. */
#define MEMO_ENTRIES_LEAST 64
#define MEMO_PRESENT_LEAST 32

/* It has the size of a cache line. */
struct memo {
	__u64 signature;
	__u32 entries; /* and present ones << 16 */
	__u32 unique;
	__u64 pss[3];
	__u32 seen[3];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1); /* the loader decides */
	__type(key, __u32);
	__type(value, struct memo);
} memos SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, ZMEM_MEMO_LANES);
	__type(key, __u32);
	__type(value, struct zmem_memo_lane);
} memo_lanes SEC(".maps");

static __always_inline struct zmem_memo_lane *memo_lane(const struct page_walk *w)
{
	__u32 lane = w->lane - 1U;

	return bpf_map_lookup_elem(&memo_lanes, &lane);
}

/* The memo of the lane's signature. */
static __always_inline struct memo *memo_slot(const struct page_walk *w,
					      const struct zmem_memo_lane *m)
{
	__u32 slot = (w->lane - 1U) * m->slots + ((__u32)(m->signature >> 32) & (m->slots - 1));

	return bpf_map_lookup_elem(&memos, &slot);
}

/* Kinds without ZMEM_RSS_SWAP: a table with a swap entry has no memo. */
static __always_inline __u32 memo_kind(__u32 i)
{
	return i == 2 ? ZMEM_RSS_SHMEM : i;
}

/* The frame number in an entry. Bits above ENTRY_ADDRESS differ between mappings. */
#define SIGN_LEFT  __builtin_clzll(ENTRY_ADDRESS)
#define SIGN_RIGHT (SIGN_LEFT + PAGE_BITS_LEAST)

WALK_STEP_FUNCTION(sign_group)
{
	struct page_walk *w = walk_get(walk);
	__u64 sum = 0, present = 0, absent = 0, bits = 0;
	struct zmem_memo_lane *m;
	const volatile void *table;

	if (walk_is_lost(w))
		return 1;
	m = memo_lane(w);
	if (!m)
		return 1;
	table = kblock(walk_copy(w, entries), w->table, ZMEM_MEMO_KEYS * sizeof(__u64));
	w->table += ZMEM_MEMO_KEYS * sizeof(__u64);
	for (__u32 i = 0; i < ZMEM_MEMO_KEYS; i++) {
		__u64 entry = kblock_word(table, i * sizeof(__u64));
		__u64 there = entry & ENTRY_PRESENT;

		absent |= entry & (there - 1);
		bits |= entry;
		sum += (entry << SIGN_LEFT >> SIGN_RIGHT) * m->key[i];
		present += there;
		/* Entries follow one after the other: all at once would not fit into registers. */
		asm volatile("" : : : "memory");
	}
	m->signature = (m->signature ^ sum) * 0x9e3779b97f4a7c15ULL;
	m->signature ^= m->signature >> 29;
	m->present += present;
	/* No mask of 0 or -1 meets a constant: the verifier of 6.18 would follow both values. */
	m->odd |= absent | (bits & ENTRY_SPECIAL);
	return 0;
}

/* Signs the `count` entries from w->addr on. Returns 1 if they may have a memo. */
static __always_inline bool memo_sign(struct page_walk *w, walk_ref walk, struct zmem_memo_lane *m,
				      __u64 addr, __u64 count)
{
	m->signature = m->key[ZMEM_MEMO_KEYS] ^
		       ((__u64)w->anon_mask | (__u64)w->anon_all << 8 | count << 16);
	m->present = 0;
	m->odd = 0;
	w->table += table_index(w, addr, page_bits(w)) << 3;
	walk_loop(PMD_PAGES_MOST / ZMEM_MEMO_KEYS, count / ZMEM_MEMO_KEYS, sign_group, walk);
	/* Back to the beginning of the table, from behind its last entry, too. */
	w->table = (w->table - sizeof(__u64)) >> page_bits(w) << page_bits(w);
	return !m->odd && m->present >= MEMO_PRESENT_LEAST;
}

/* Adds the sums of a memo. */
static __always_inline void memo_apply(struct page_walk *w, const struct memo *known, __u64 count)
{
	for (__u32 i = 0; i < 3; i++) {
		w->pages.seen[memo_kind(i)] += known->seen[i];
		w->pages.pss[memo_kind(i)] += known->pss[i];
	}
	w->pages.unique += known->unique;
	w->addr += count << page_bits(w);
}

/* Begins a memo: stores the sums so far. */
static __always_inline void memo_begin(const struct page_walk *w, struct zmem_memo_lane *m)
{
	m->found = m->signature;
	for (__u32 i = 0; i < 3; i++) {
		m->seen[i] = w->pages.seen[memo_kind(i)];
		m->pss[i] = w->pages.pss[memo_kind(i)];
	}
	m->unique = w->pages.unique;
}

/* Ends a memo: stores what was added since its beginning. */
static __always_inline void memo_end(const struct page_walk *w, const struct zmem_memo_lane *m,
				     struct memo *known, __u64 count)
{
	known->signature = m->signature;
	known->entries = m->present << 16 | count;
	known->unique = w->pages.unique - m->unique;
	for (__u32 i = 0; i < 3; i++) {
		known->seen[i] = w->pages.seen[memo_kind(i)] - m->seen[i];
		known->pss[i] = w->pages.pss[memo_kind(i)] - m->pss[i];
	}
}

/*
 * Before the walk of the current table (`walked` is 0): adds its sums up to the end of the VMA and
 * returns 1, if they are known. After the walk: signs the table again, and stores the sums if the
 * signature is the same. If the table changed during the walk, the sums are not those of it.
 */
__noinline int memo_use(walk_ref walk, __u32 walked)
{
	struct page_walk *w = walk_get(walk);
	struct zmem_memo_lane *m;
	struct memo *known;
	__u64 count, addr;

	if (!w)
		return 0;
	m = memo_lane(w);
	if (!m)
		return 0;
	count = walked ? m->count : (region_end(w) - w->addr) >> page_bits(w);
	m->count = 0;
	if (!m->slots || count < MEMO_ENTRIES_LEAST || count % ZMEM_MEMO_KEYS ||
	    count > PMD_PAGES_MOST)
		return 0;
	addr = walked ? w->addr - (count << page_bits(w)) : w->addr;
	if (!memo_sign(w, walk, m, addr, count))
		return 0;
	known = memo_slot(w, m);
	if (!known)
		return 0;
	if (!walked) {
		w->pages.work += count / ZMEM_MEMO_KEYS;
		if (known->signature == m->signature &&
		    known->entries == (m->present << 16 | count)) {
			memo_apply(w, known, count);
			return 1;
		}
	}
	/* The pages of the run belong to the walk before this point. */
	count_run(walk, w->run, w->run_count);
	w->run_count = 0;
	if (!walked) {
		memo_begin(w, m);
		m->count = count;
	} else if (m->signature == m->found && !(w->pages.flags & ZMEM_WALK_UNKNOWN)) {
		memo_end(w, m, known, count);
	}
	return 0;
}

/* Counts the entries of the current table, by a memo where that pays. */
static __always_inline void count_table(struct page_walk *w, walk_ref walk)
{
	if (w->may_match) {
		if (!memo_use(walk, 0)) {
			walk_table(walk);
			memo_use(walk, 1);
		}
		return;
	}
	walk_table(walk);
}

#endif
