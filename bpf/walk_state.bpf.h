/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The state of a walk over an mm that is not locked: VMAs from the maple tree (vma.bpf.h), page
 * tables (page_table.bpf.h), struct page (page.bpf.h).
 *
 * The walk holds no lock and no reference, so anything may be torn or freed under it. Loads cannot
 * fault. A physical address is followed only below the end of RAM. What the walk does not
 * understand sets ZMEM_WALK_UNKNOWN. The sums of a raced walk differ from the counters, which user
 * space checks. All state is in struct page_walk, which belongs to the visit (room.bpf.h).
 */
#ifndef ZMEM_WALK_STATE_BPF_H
#define ZMEM_WALK_STATE_BPF_H

#include "zmem/record.h"
#include "zmem/setup.h"
#include "entry.bpf.h"
#include "room.bpf.h"
#include "walk_variant.bpf.h"

#define BPF_F_NO_PREALLOC 1
#define BPF_F_MMAPABLE	  1024

/* calibrate() writes it once; then it is only read. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct zmem_layout);
} layout SEC(".maps");

#ifdef ZMEM_PROBE_READS

/*
 * In struct page_walk, at its end. The longest copy is the last: the map's value ends behind it, so
 * the verifier refuses a program that reads a member of a VMA which is not copied.
 */
struct walk_room {
	__u64 vma;	  /* between VMAs: the next one, of vma_list.bpf.h */
	__u32 tree_begun; /* 1: the descent of vma_list.bpf.h has begun */
	__u32 number;	  /* of the room */
	/* Copies of kernel memory, made by one call each. */
	__u64 entries[WALK_GROUP];
	__u64 page[7];	     /* of a struct page, without its count */
	__u64 vma_words[19]; /* the members of a struct vm_area_struct that are read, and others */
};

#define WALK_ROOM struct walk_room room;

#else

#define WALK_ROOM

#endif

struct page_walk {
	struct zmem_layout at;
	__u64 mm;
	__u64 pgd;
	__u8 has_swap; /* the process has swap entries */
	__u8 has_huge; /* it has enough anonymous memory for a huge page */
	__u8 done;     /* the last VMA was reached */
	__u8 find;     /* do not walk: `found` is the file of the first VMA */

	/* The current VMA: */
	__u8 stop;	/* pmd_bits(); with pud_bits() it is only searched for huge pages */
	__u8 may_share; /* other processes may map its anonymous pages */
	/*
	 * Which of its pages are anonymous: those with a bit of anon_mask set in folio->mapping; if
	 * anon_all is 1, all. Numbers, for arithmetic instead of branches.
	 */
	__u8 anon_mask;
	__u8 anon_all;
	__u8 slot;	/* the next slot in a leaf of the maple tree */
	__u8 lane;	/* of memos, from 1 on; 0: none */
	__u8 may_match; /* other processes may map the same tables: look for memos */
#ifdef ZMEM_SWAP_SLOTS
	__u8 all_private; /* as in struct zmem_swap */
#endif
#ifdef ZMEM_FREED
	/* See struct zmem_freed_want and struct zmem_freed_record. */
	__u32 group;
	__u32 alone;
	__u32 every;
	/* The large folio of the last mappings, how many, and their pages. */
	__u32 folio_maps;
	__u64 folio;
	__u64 folio_pages;
	__u64 shared;
	__u64 complete;
	__u64 slots;
	__u64 slots_complete;
	/* The large folio of the last swap entry, and all that holds it. */
	__u64 slot_folio;
	__u32 slot_all;
#endif
#ifdef ZMEM_EACH_PAGE
	__u8 hugetlb;	  /* the VMA is one of hugetlb */
	__u64 huge_entry; /* of the huge page that is walked */
	/* The span of the last page: its first frame, how many, and the node in place. */
	__u64 span_first, span_count, span_key;
	/* The last large folio: its pages that no process maps, and those that one maps. */
	__u64 rest_head, rest, rest_mapped;
#endif
	struct zmem_calibrated calibrated;
	__u64 addr; /* the first address that is not walked yet */
	__u64 end;

	/* The next VMA: at or behind `next`, under maple node `entry`, which ends at `max`. */
	union {
		__u64 next;
		__u64 try_addr; /* while calibrating: the address of the page in the file */
	};
	union {
		__u64 entry;
		__u64 try_content; /* while calibrating: the first word of that page */
	};
	__u64 max;

	union {
		__u64 run;     /* in a table: the PAGE_KEY of adjacent pages not counted yet */
		__u64 found;   /* between tables: a file, a task or a sum, just read */
		__u64 try_pfn; /* while calibrating: the frame that is tried */
	};
	union {
		__u64 run_count; /* with `run`: how many pages */
		__u64 tries;	 /* while calibrating */
	};

	union {
		struct zmem_pages pages; /* the result; without `rss` until the walk is over */
		/*
		 * During the walk, in the place of pages.rss, which is read behind it. What maps
		 * the pmd_pages() of `region`: a table of entries, or a huge page at `huge`.
		 */
		struct {
			__u64 region;
			__u64 table;
			__u64 huge;
			__s64 huge_maps; /* single mappings of its pages that were not seen yet */
		};
	};
	WALK_ROOM
};

/* A constant if the architecture has one page size. */
static __always_inline __u32 page_bits(const struct page_walk *w)
{
	return PAGE_BITS_LEAST == PAGE_BITS_MOST ? PAGE_BITS_LEAST : w->at.page_bits & 31;
}

/* A table is one page of 8-byte words. */
static __always_inline __u32 table_bits(const struct page_walk *w)
{
	return page_bits(w) - 3;
}

static __always_inline __u32 pmd_bits(const struct page_walk *w)
{
	return page_bits(w) + table_bits(w);
}

static __always_inline __u32 pud_bits(const struct page_walk *w)
{
	return pmd_bits(w) + table_bits(w);
}

/* The number of pages of a huge page, and of entries of a table. */
static __always_inline __u32 pmd_pages(const struct page_walk *w)
{
	return 1U << table_bits(w);
}

/* The index of the entry of `addr` in its table. */
static __always_inline __u64 table_index(const struct page_walk *w, __u64 addr, __u32 shift)
{
	return addr >> (shift & 63) & (pmd_pages(w) - 1);
}

/*
 * What a program that finds out what a group frees (bpf/freed.bpf.c) does with each VMA of the
 * walk, with each page of memory that may be shared, and with each swap entry.
 */
#ifdef ZMEM_FREED
static __always_inline void meet_vma(struct page_walk *w, __u64 vma);
static __always_inline void meet_slot(struct page_walk *w, __u64 entry);
#else
#define meet_slot(w, entry) ((void)0)
#define meet_vma(w, vma)    ((void)0)
#endif
#if defined(ZMEM_FREED) || defined(ZMEM_EACH_PAGE)
static __always_inline void meet_page(walk_ref walk, __u64 page, __u64 key, __u64 count);
#else
#define meet_page(walk, page, key, count) ((void)0)
#endif

/* Only anonymous memory that other processes may share is walked, unless all is asked for. */
#if defined(ZMEM_FREED)
#define SHARED_ALONE	      true
#define walks_private(w, ops) (((w)->every & ZMEM_FREED_CACHED) | ((w)->every && !(ops)))
#define walks_swap(w)	      ((w)->may_share | ((w)->every & ZMEM_FREED_CACHED))
#elif defined(ZMEM_SWAP_SLOTS)
#define SHARED_ALONE	      true
#define walks_private(w, ops) false
#else
#define walks_private(w, ops) false
#define SHARED_ALONE	      false
#endif
#ifndef walks_swap
#define walks_swap(w) ((w)->may_share)
#endif

enum mm_word {
	MM_PGD,
	MM_ROOT,      /* of the maple tree */
	MM_PROTECTED, /* write_protect_seq */
	MM_MERGING,   /* ksm_merging_pages, or mm_is_mergeable() */
};

/*
 * Everything that a walk reads of an mm, in one function before those that read folios. While a
 * program loads, mm_struct and folio evict each other from the kernel's type cache (kread.bpf.h),
 * so each alternation between the two costs a lookup.
 */
once_function __u64 mm_word(__u64 mm_addr, __u32 which)
{
	const struct mm_struct *mm = kcast(struct mm_struct, mm_addr);

	switch (which) {
	case MM_PGD:
		return kaddr(mm, pgd);
	case MM_ROOT:
		return kaddr(mm, mm_mt.ma_root);
	case MM_PROTECTED:
		return kget(mm, write_protect_seq.sequence);
	default:
		return counts_merged() ? kget(mm, ksm_merging_pages) : mm_is_mergeable(mm_addr);
	}
}

#endif
