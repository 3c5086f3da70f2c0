/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The state of a walk over an mm that is not ours and is not locked: mappings out of the maple tree
 * (area.bpf.h), page tables (page_table.bpf.h), struct page (page.bpf.h).
 *
 * Nothing is held, so anything may be torn or freed under the walk. Loads cannot fault; a physical
 * address is followed only below the end of RAM; what does not fit is marked (ZMEM_WALK_UNKNOWN),
 * and what was overtaken does not add up to the counters, which user space checks. All state is in
 * struct page_walk on the stack of the visit.
 */
#ifndef ZMEM_WALK_STATE_BPF_H
#define ZMEM_WALK_STATE_BPF_H

#include "zmem/record.h"
#include "zmem/setup.h"
#include "entry.bpf.h"

/* Where things are; computed once by calibrate, then only read. */
struct layout {
	__u64 direct;  /* the direct map */
	__u64 vmemmap; /* the array of struct page */
	__u64 pfn_end;
	__u64 phys_mask; /* the bits of an entry that are an address; encryption bits lie above */
	__u32 top_shift; /* of the top table: 39, with 5 levels 48. 0: there is no layout */
	__u32 page_bits;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct layout);
} layout SEC(".maps");

/* Small members: with the frames below it this has to fit into 512 bytes of stack. */
struct page_walk {
	struct layout at;
	__u64 mm;
	__u64 pgd;
	__u8 has_swap; /* the process has swap entries */
	__u8 has_huge; /* it has enough anonymous memory for a huge page */
	__u8 done;     /* the last mapping was taken */
	__u8 find;     /* nothing is walked: `found` is the first mapping */

	/* The mapping under way: */
	__u8 stop;	/* pmd_bits(); pud_bits(): it is only searched for huge pages */
	__u8 may_share; /* its anonymous pages may be others', too */
	/*
	 * Which of its pages are anonymous: those whose folio->mapping has a bit of anon_mask set;
	 * with anon_all 1, all. Numbers, for arithmetic in place of branches.
	 */
	__u8 anon_mask;
	__u8 anon_all;
	__u8 slot;  /* in a leaf of the maple tree, the next one's */
	__u64 addr; /* as far as it is not yet walked */
	__u64 end;

	/* What maps the pmd_pages() of `region`: a table of entries, or a huge page from `huge`. */
	__u64 region;
	__u64 table;
	__u64 huge;
	__s64 huge_maps; /* how often its pages are mapped one by one, as far as not yet seen */

	/* The next mapping: at or behind `next`, under maple node `entry`, which ends at `max`. */
	__u64 next;
	__u64 entry;
	__u64 max;

	/* Pages in a row that are alike (PAGE_KEY) and not yet counted. */
	union {
		__u64 run;
		__u64 found;
	};
	__u64 run_count;

	/* What came of it. */
	union {
		struct zmem_pages pages;
		struct zmem_calibrated calibrated;
	};
};

/* Where there is one size of pages it is a constant. */
static __always_inline __u32 page_bits(const struct page_walk *w)
{
	return PAGE_BITS_LEAST == PAGE_BITS_MOST ? PAGE_BITS_LEAST : w->at.page_bits & 31;
}

/* A table is a page of words. */
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

#define PMD_PAGES_LEAST (1 << (PAGE_BITS_LEAST - 3))

/* Pages of a huge one, and entries of a table. */
static __always_inline __u32 pmd_pages(const struct page_walk *w)
{
	return 1U << table_bits(w);
}

/* Which of its table's entries is that of `addr`. */
static __always_inline __u64 table_index(const struct page_walk *w, __u64 addr, __u32 shift)
{
	return addr >> (shift & 63) & (pmd_pages(w) - 1);
}

enum mm_word {
	MM_PGD,
	MM_ROOT,      /* of the maple tree */
	MM_PROTECTED, /* write_protect_seq */
	MM_MERGING,   /* ksm_merging_pages */
};

/*
 * All that a walk reads of an mm. One function, in front of those that read folios: while a program
 * is loaded, mm_struct and folio push each other out of the kernel's memory of types (kread.bpf.h),
 * so each change between the two costs a search.
 */
__noinline __u64 mm_word(__u64 mm_addr, __u32 which)
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
		return kget(mm, ksm_merging_pages);
	}
}

#endif
