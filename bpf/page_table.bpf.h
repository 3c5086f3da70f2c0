/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Walks page tables and counts the pages that they map. */
#ifndef ZMEM_PAGE_TABLE_BPF_H
#define ZMEM_PAGE_TABLE_BPF_H

#include "walk_room.bpf.h"
#include "page.bpf.h"

/* Swap types: the meaning of an entry that maps nothing. */
#define SWAP_TYPE_FILES	 16 /* never more swap files; higher types may be migration */
#define SWAP_TYPE_MARKER 31 /* guard, userfaultfd: there is no page */
/* Kernels without bpf_rdonly_cast() may have no markers, but migration under that type. */
#define has_markers() (!OLD_LAYOUTS)

/*
 * The mask keeps every bit that can be an address. So an entry of RAM that was added since
 * calibration, or of a device, lies above pfn_end and is never taken for another page.
 */
static __always_inline __u64 entry_phys(const struct page_walk *w, __u64 entry)
{
	return entry_address(entry) & w->at.phys_mask;
}

/* For a program that counts swap entries alone and looks at no page (bpf/swap.bpf.c). */
#ifdef ZMEM_SWAP_SLOTS
#define SWAP_SLOTS_ALONE      true
#define absent_function	      static __always_inline
#define walk_huge(walk, phys) 0
#define walk_huge_page(w)     ((void)0)
#define scan_entry(w, entry)  ((void)0)
#else
#define SWAP_SLOTS_ALONE false
#define absent_function	 once_function
#ifndef ZMEM_FREED
#define SWAP_OFFSET(entry)	      (entry)
#define count_slot(type, slot, shmem) ((void)0)
#endif
#endif

/* The bits of the entry of a huge page that are those of each of its pages (bpf/pages.bpf.c). */
#ifndef ZMEM_EACH_PAGE
#define keep_huge_entry(entry) ((void)0)
#define huge_entry_bits()      0
#endif

/*
 * Counts an entry that maps nothing. It matters only if anonymous pages may be shared, or if each
 * swap slot is looked at.
 */
absent_function int count_absent_entry(struct page_walk *w, __u64 entry)
{
	__u64 type = SWAP_TYPE(entry);

	if (!w || !walks_swap(w) || !entry)
		return 0;
	if (SWAP_SLOTS_ALONE && type < SWAP_TYPE_FILES) {
		w->pages.work += SWAP_SLOT_WORK;
		count_slot(type, SWAP_OFFSET(entry), 0);
	} else if (type < SWAP_TYPE_FILES) {
		w->pages.seen[ZMEM_RSS_SWAP]++;
		meet_slot(w, entry);
	} else if (w->may_share && (type != SWAP_TYPE_MARKER || !has_markers())) {
		w->pages.flags |= ZMEM_WALK_UNKNOWN;
	}
	return 0;
}

static __always_inline __u64 region_end(const struct page_walk *w)
{
	__u64 end = ((w->addr >> pmd_bits(w)) + 1) << pmd_bits(w);

	return end < w->end ? end : w->end;
}

#ifndef ZMEM_SWAP_SLOTS

/* Counts a huge page that is mapped as one; `phys` is its physical address. */
__noinline int walk_huge(walk_ref walk, __u64 phys)
{
	struct page_walk *w = walk_get(walk);
	__s32 entire, all = 0;
	__u64 head, mapping, count, flags, key;

	if (!w)
		return 0;
	head = page_head(page_at(w, phys >> page_bits(w)));
	/* The huge zero page is not resident memory; it has no mapping. */
	mapping = kread64(head + FOLIO_MAPPING);
	if (!mapping) {
		w->addr = region_end(w);
		return 0;
	}
	w->pages.huge += pmd_pages(w);
	if (has_compound_maps()) {
		entire = compound_entire(head);
		all = compound_all(head, mapping, entire);
	} else {
		entire = folio_entire(head);
		if (has_folio_maps())
			all = folio_maps(head);
	}
	if (entire > 0 && entire == all) {
		count = (region_end(w) - w->addr) >> page_bits(w);
		flags = kread64(head + PAGE_FLAGS);
		key = each_key(w, PAGE_KEY(entire, page_kind(w, flags, mapping)), huge_entry_bits(),
			       phys >> page_bits(w));
		count_run(walk, key, count);
		meet_page(walk, head, key, count);
		w->addr = region_end(w);
		return 0;
	}
	/* Some of its pages are also mapped one by one: look at each page. */
	w->huge = phys;
	w->huge_maps = all - entire;
	w->region = w->addr >> pmd_bits(w);
	return 0;
}

/* Counts an entry of a PMD table, in a VMA that is only searched for huge pages. */
static __always_inline void scan_entry(struct page_walk *w, __u64 entry)
{
	__u64 pfn = entry_phys(w, entry) >> page_bits(w);

	if (!entry_is_huge(entry))
		return;
	if (pfn >= w->at.pfn_end)
		w->pages.flags |= ZMEM_WALK_UNKNOWN;
	else if (kread_raw(__u64, page_head(page_at(w, pfn)) + FOLIO_MAPPING))
		w->pages.huge += pmd_pages(w);
}

#endif

/*
 * Newer verifiers follow a group of entries with probe reads on every path (1,000,000 instructions
 * on Linux 7.3), so there it is a function that is verified once. With casts it is inlined, since
 * the frames have no room.
 */
#if defined(ZMEM_PROBE_READS) && !defined(ZMEM_OLD)
#define entry_function __noinline
#else
#define entry_function static __always_inline
#endif

/* Counts one entry of the current VMA. */
entry_function int walk_entry(struct page_walk *w, __u64 entry)
{
	__u64 pfn, key;

	if (!w)
		return 0;
	if (!(entry & (ENTRY_PRESENT | ENTRY_PROTNONE))) {
		count_absent_entry(w, entry);
		return 0;
	}
	if (SWAP_SLOTS_ALONE || (entry & ENTRY_SPECIAL))
		return 0;
	pfn = entry_phys(w, entry) >> page_bits(w);
	if (pfn >= w->at.pfn_end) {
		w->pages.flags |= ZMEM_WALK_UNKNOWN;
		return 0;
	}
	key = each_key(w, page_key(w, page_at(w, pfn)), entry, pfn);
	meet_page(walk_ref_of(w), page_at(w, pfn), key, 1);
	/* Neighbours often have the same key: one division serves all of them. */
	if (key != w->run) {
		count_run(walk_ref_of(w), w->run, w->run_count);
		w->run = key;
		w->run_count = 0;
	}
	w->run_count++;
	return 0;
}

/*
 * Counts the entry at w->table: of a PMD table where only huge pages are searched. One step for
 * both: the loader of a light skeleton has room for 32 functions.
 */
WALK_STEP_FUNCTION(walk_single)
{
	struct page_walk *w = walk_get(walk);
	__u64 entry;

	if (walk_is_lost(w))
		return 1;
	entry = kread_raw(__u64, w->table);
	w->table += sizeof(__u64);
	if (SWAP_SLOTS_ALONE || w->stop == pmd_bits(w))
		walk_entry(w, entry);
	else
		scan_entry(w, entry);
	return 0;
}

/* Counts the huge pages that the table at `phys` maps in the current VMA. */
static __always_inline void scan_huge(struct page_walk *w, walk_ref walk, __u64 phys)
{
	__u64 count, left, index;

	index = table_index(w, w->addr, pmd_bits(w));
	count = pmd_pages(w) - index;
	left = ((w->end - 1) >> pmd_bits(w)) - (w->addr >> pmd_bits(w)) + 1;
	if (left < count)
		count = left;
	w->table = w->at.direct + phys + (index << 3);
	walk_loop(PMD_PAGES_MOST, count, walk_single, walk);
	w->table = 0;
	w->pages.work += count / 8;
}

/*
 * Finds what maps w->addr: a table of entries (w->table) or a huge page that has to be read page by
 * page (w->huge). If it is neither, w->addr has moved on.
 */
__noinline int find_region(walk_ref walk)
{
	struct page_walk *w = walk_get(walk);
	__u64 table, entry, shift, phys;

	if (!w)
		return 0;
	table = w->pgd;
	shift = w->at.top_shift;
	w->region = ~0ULL;
	w->table = 0;
	w->huge = 0;
	for (int level = 0; level < 4; level++) {
		entry = kread64(table + (table_index(w, w->addr, shift) << 3));
		if (!entry_is_table(entry) || shift <= w->stop)
			break;
		phys = entry_phys(w, entry);
		if (phys >> page_bits(w) >= w->at.pfn_end)
			break;
		table = w->at.direct + phys;
		shift -= table_bits(w);
	}
	phys = entry_phys(w, entry);
	if (entry && phys >> page_bits(w) < w->at.pfn_end && shift == w->stop) {
		keep_huge_entry(entry);
		if (shift == pmd_bits(w) && entry_is_huge(entry) && !SWAP_SLOTS_ALONE)
			return walk_huge(walk, phys >> pmd_bits(w) << pmd_bits(w));
		if (shift == pmd_bits(w) && entry_is_table(entry)) {
			w->table = w->at.direct + phys;
			w->region = w->addr >> pmd_bits(w);
			return 0;
		}
		if (!SWAP_SLOTS_ALONE && shift == pud_bits(w) && entry_is_table(entry)) {
			scan_huge(w, walk, phys);
			entry = 0;
		}
	}
	if (entry && !(SWAP_SLOTS_ALONE && entry_is_huge(entry)) &&
	    (w->may_share || (entry & ENTRY_PRESENT)))
		w->pages.flags |= ZMEM_WALK_UNKNOWN; /* a huge page under migration */
	w->addr = ((w->addr >> (shift & 63)) + 1) << (shift & 63);
	if (w->addr > w->end)
		w->addr = w->end;
	return 0;
}

WALK_STEP_FUNCTION(walk_group)
{
	struct page_walk *w = walk_get(walk);
	const volatile void *table;
	__u64 entry[WALK_GROUP], any = 0;

	if (walk_is_lost(w))
		return 1;
	table = kblock(walk_copy(w, entries), w->table, sizeof(entry));
	for (__u32 i = 0; i < WALK_GROUP; i++) {
		entry[i] = kblock_word(table, i * sizeof(__u64));
		any |= entry[i];
	}
	w->table += WALK_GROUP * sizeof(__u64);
	if (!any)
		return 0;
		/*
		 * Without this, the compiler keeps the first entry and enters the loop behind its
		 * load. Until Linux 6.7 the verifier lets only jumps lead back into a loop
		 * (check_cfg()).
		 */
#ifndef ZMEM_OLD
	asm volatile("" : : "r"(entry) : "memory");
#endif
	for (__u32 i = 0; i < WALK_GROUP; i++)
		walk_entry(w, entry[i]);
	return 0;
}

/* Counts the entries of w->table up to the end of the VMA. */
__noinline int walk_table(walk_ref walk)
{
	struct page_walk *w = walk_get(walk);
	__u64 count, table;

	if (!w)
		return 0;
	count = (region_end(w) - w->addr) >> page_bits(w);
	table = w->table;
	w->table += table_index(w, w->addr, page_bits(w)) << 3;
	walk_loop(PMD_PAGES_MOST / WALK_GROUP, count / WALK_GROUP, walk_group, walk);
	walk_loop(WALK_GROUP, count % WALK_GROUP, walk_single, walk);
	w->table = table;
	w->addr += count << page_bits(w);
	w->pages.work += count;
	return 0;
}

#ifndef ZMEM_SWAP_SLOTS

/* Counts one page of a huge page. */
once_function int walk_huge_page(struct page_walk *w)
{
	if (!w)
		return 0;
	walk_entry(w, (w->huge + (w->addr & ((1ULL << pmd_bits(w)) - 1))) | ENTRY_PRESENT |
			      huge_entry_bits());
	w->addr += 1ULL << page_bits(w);
	if (w->addr < w->end && w->addr & ((1ULL << pmd_bits(w)) - 1))
		return 0;
	/* All single mappings of its pages must have been found. */
	if (w->huge_maps && has_folio_maps())
		w->pages.flags |= ZMEM_WALK_UNKNOWN;
	w->huge = 0;
	w->region = ~0ULL;
	return 0;
}

#endif

#endif
