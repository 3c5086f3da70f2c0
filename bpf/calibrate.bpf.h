/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds the direct map and the array of struct page by content, without kernel symbols.
 *
 * The caller's top page table lies in the direct map. The base of the direct map is a multiple of 1
 * GiB: KASLR moves it by PUDs (arch/x86/mm/kaslr.c) or by ARM64_MEMSTART_ALIGN
 * (arch/arm64/mm/init.c), which is 1 GiB for pages of 4 and 16 KiB. So there is one candidate base
 * for each GiB below the end of RAM. With the right base, our own page tables lead from the address
 * of a page to the content of that page.
 *
 * The test page is the only page of a file, so the file's page cache holds its struct page. The
 * address of that struct page, less the page's frame number times the size of struct page, is the
 * base of the array. A second page confirms that size and how we read struct page.
 */
#ifndef ZMEM_CALIBRATE_BPF_H
#define ZMEM_CALIBRATE_BPF_H

#include "zmem/setup.h"
#include "page_walk.bpf.h"

#define GIB_BITS 30
/* 128 TiB; RAM of an arm64's second socket may begin at 64. Old verifiers take less. */
#ifdef ZMEM_OLD
#define DIRECT_TRIES (1 << 14)
#else
#define DIRECT_TRIES (1 << 17)
#endif
#define LEVEL_TRIES (LEVELS_MOST - LEVELS_LEAST + 1)

/*
 * The request. User space writes it once, before any other process can read the iterator. It is
 * answered once.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct zmem_calibrate);
} calibration SEC(".maps");

static __always_inline struct zmem_calibrate *calibration_request(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&calibration, &zero);
}

/* Returns the entry of `addr` in w->table. */
static __always_inline __u64 last_entry(struct page_walk *w, __u64 addr)
{
	return kread64(w->table + (table_index(w, addr, page_bits(w)) << 3));
}

/* Returns the frame number of the page that w->pgd maps at `addr`, 0 if there is none. */
static __always_inline __u64 find_pfn(struct page_walk *w, __u64 addr)
{
	__u64 entry, pfn;

	w->addr = addr;
	w->end = ~0ULL;
	find_region(walk_ref_of(w));
	if (!w->table)
		return 0;
	entry = last_entry(w, addr);
	if (!(entry & (ENTRY_PRESENT | ENTRY_PROTNONE)) || (entry & ENTRY_FOREIGN))
		return 0;
	pfn = entry_phys(w, entry) >> page_bits(w);
	return pfn < w->at.pfn_end ? pfn : 0;
}

static __always_inline __u64 ram_gib(const struct page_walk *w)
{
	return (w->at.pfn_end >> (GIB_BITS - page_bits(w))) + 1;
}

static __always_inline __u64 tries_max(const struct page_walk *w)
{
	__u64 gib = ram_gib(w);

	return LEVEL_TRIES * (gib < DIRECT_TRIES ? gib + 1 : DIRECT_TRIES);
}

/*
 * Tries one base with one number of table levels. Bases are tried from the lowest upwards: a base
 * that is too low leads only below or into the direct map, never to what is mapped above it
 * (devices).
 */
WALK_STEP_FUNCTION(try_base)
{
	struct page_walk *w = walk_get(walk);
	__u32 level;

	if (walk_is_lost(w) || w->tries >= tries_max(w))
		return 1;
	level = w->tries++ % LEVEL_TRIES;
	w->at.top_shift = page_bits(w) + (LEVELS_LEAST - 1 + level) * table_bits(w);
	w->try_pfn = find_pfn(w, w->try_addr);
	if (w->try_pfn && kread64(w->at.direct + (w->try_pfn << page_bits(w))) == w->try_content)
		return 1;
	if (level == LEVEL_TRIES - 1)
		w->at.direct += 1ULL << GIB_BITS;
	w->try_pfn = 0;
	return 0;
}
WALK_STEP_LONG(try_base)

/*
 * Returns the struct page of the only page of the file that is mapped at `addr`, and the file's
 * mapping. It finds the VMA as a walk does, not by file descriptor, which would need two more
 * kernel types (kread.bpf.h).
 */
static __always_inline __u64 file_folio(struct page_walk *w, __u64 addr, __u64 *ret_mapping)
{
	w->addr = w->end = 0;
	w->next = addr;
	w->find = 1;
	walk_pages(walk_ref_of(w));
	*ret_mapping = kread64(w->found + koffset(struct file, f_mapping));
	return kread64(*ret_mapping + koffset(struct address_space, i_pages.xa_head));
}

/* True if the struct page of `pfn` says that the page is of this kind and mapped once. */
static __always_inline bool page_is(struct page_walk *w, __u64 pfn, __u32 kind)
{
	return page_key(w, page_at(w, pfn)) == PAGE_KEY(1, kind);
}

/* Fills w->calibrated, and the layout if every check passed. w must be all 0. */
__noinline int calibrate(walk_ref walk)
{
	struct page_walk *w = walk_get(walk);
	__u64 folio, mapping, pfn;
	const struct zmem_calibrate *ask;
	struct zmem_layout *at;
	__u32 zero = 0;

	at = bpf_map_lookup_elem(&layout, &zero);
	ask = calibration_request();
	if (!w || !at || !ask)
		return 0;
	at->top_shift = 0;
	w->calibrated.result = ZMEM_UNKNOWN_SIZE;
	w->at.page_bits = ask->page_bits;
	if (w->at.page_bits < PAGE_BITS_LEAST || w->at.page_bits > PAGE_BITS_MOST ||
	    (ask->phys_mask & ~ENTRY_ADDRESS))
		return 0;
	w->anon_mask = PAGE_MAPPING_ANON;
	w->stop = pmd_bits(w);
	w->at.pfn_end = ask->pfn_end;
	w->at.phys_mask = ask->phys_mask;
	w->mm = kaddr(kcast(struct task_struct, bpf_get_current_task()), mm);
	w->pgd = mm_word(w->mm, MM_PGD);
	w->at.direct = ((w->pgd >> GIB_BITS) - ram_gib(w)) << GIB_BITS;
	w->try_addr = ask->file_addr;
	w->try_content = ask->content;
	w->calibrated.result = ZMEM_NO_DIRECT_MAP;
	walk_loop_long(LEVEL_TRIES * DIRECT_TRIES, tries_max(w), try_base, walk);
	pfn = w->try_pfn;
	w->run = w->run_count = w->entry = 0;
	if (!pfn)
		return 0;
	/*
	 * The content proves the address of this page, so higher bits of its entry are no part of
	 * an address: an encryption bit (sme_me_mask), which all pages of processes have.
	 */
	w->at.phys_mask =
		ENTRY_ADDRESS & ~(entry_address(last_entry(w, ask->file_addr)) & ~ask->phys_mask);

	w->calibrated.result = ZMEM_NO_FOLIO;
	folio = file_folio(w, ask->file_addr, &mapping);
	if (!folio || (folio & 3))
		return 0;
	w->at.vmemmap = folio - pfn * PAGE_STRUCT_SIZE;
	w->calibrated.result = ZMEM_BAD_MEMMAP;
	if (kread64(folio + FOLIO_MAPPING) != mapping || !page_is(w, pfn, ZMEM_RSS_SHMEM))
		return 0;
	w->calibrated.result = ZMEM_BAD_ANON;
	pfn = find_pfn(w, ask->anon_addr);
	if (!pfn || !page_is(w, pfn, ZMEM_RSS_ANON))
		return 0;
	*at = w->at;
	w->calibrated.result = ZMEM_CALIBRATED;
	return 0;
}

#endif
