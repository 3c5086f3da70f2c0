/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Page table entries: everything that differs between architectures.
 *
 *   PAGE_BITS_LEAST, _MOST  page sizes; the caller of calibrate() says which one is in use
 *   LEVELS_LEAST, _MOST     levels of tables; calibrate() finds out which number is in use
 *   ENTRY_PRESENT           the processor follows the entry
 *   ENTRY_PROTNONE          if PRESENT is clear: a resident page that cannot be accessed
 *   ENTRY_SPECIAL           a page that is not counted
 *   ENTRY_DIRTY             the bits that entry_is_dirty() looks at
 *   ENTRY_FOREIGN           in an entry of a calibration page: the kernel uses another format
 *   ENTRY_ADDRESS           the bits that can be an address
 *   SWAP_TYPE(entry)        of an entry that maps nothing: the number of the swap file; the
 *                           highest numbers have other meanings
 *   entry_is_huge(entry)    above the last level: a huge page, which may be PROT_NONE or is
 *                           being split
 *   entry_is_table(entry)   above the last level: a table
 *   entry_address(entry)    the entry with its address bits as the address
 */
#ifndef ZMEM_ENTRY_BPF_H
#define ZMEM_ENTRY_BPF_H

/* The entries of a table, which is one page, by the page sizes of the architecture. */
#define PMD_PAGES_LEAST (1 << (PAGE_BITS_LEAST - 3))
#define PMD_PAGES_MOST	(1 << (PAGE_BITS_MOST - 3))

#if defined(__TARGET_ARCH_x86)

/* arch/x86/include/asm/pgtable_types.h, swap entries: arch/x86/include/asm/pgtable_64.h. */
#define PAGE_BITS_LEAST	 12
#define PAGE_BITS_MOST	 12
#define LEVELS_LEAST	 4
#define LEVELS_MOST	 5
#define ENTRY_PRESENT	 (1ULL << 0)
#define ENTRY_HUGE	 (1ULL << 7)
#define ENTRY_PROTNONE	 (1ULL << 8)
#define ENTRY_SPECIAL	 (1ULL << 9)
#define ENTRY_DIRTY	 (1ULL << 6 | 1ULL << 58) /* and _PAGE_SAVED_DIRTY, since 6.6 */
#define ENTRY_FOREIGN	 0ULL
#define ENTRY_ADDRESS	 0x000ffffffffff000ULL
#define SWAP_TYPE(entry) ((entry) >> 59)

static __always_inline bool entry_is_huge(__u64 entry)
{
	return entry & ENTRY_HUGE;
}

static __always_inline bool entry_is_table(__u64 entry)
{
	return (entry & (ENTRY_PRESENT | ENTRY_HUGE)) == ENTRY_PRESENT;
}

static __always_inline bool entry_is_dirty(__u64 entry)
{
	return entry & ENTRY_DIRTY;
}

/* If PRESENT is clear, the kernel inverts the address bits (__pte_needs_invert). */
static __always_inline __u64 entry_address(__u64 entry)
{
	return entry ^ ((entry & ENTRY_PRESENT) - 1);
}

#elif defined(__TARGET_ARCH_arm64)

/*
 * arch/arm64/include/asm/pgtable-{hwdef,prot}.h, swap entries: arch/arm64/include/asm/pgtable.h.
 * The format changed in 6.10 ("arm64/mm: Move PTE_PRESENT_INVALID to overlay PTE_NG"); before, a
 * swap entry may have the bit that is now PROTNONE. Each variant knows one, and calibrate() finds
 * out whether it is the kernel's. With 52 bits of physical address (LPA2), bits 8
 * and 9 hold the two bits above ENTRY_ADDRESS; calibrate() refuses machines with that much RAM.
 */
#define PAGE_BITS_LEAST 12
#define PAGE_BITS_MOST	14
#define LEVELS_LEAST	3
#define LEVELS_MOST	5
#define ENTRY_PRESENT	(1ULL << 0)
#define ENTRY_TYPE	3ULL
#define ENTRY_TABLE	3ULL
#define ENTRY_SPECIAL	(1ULL << 56)
#define ENTRY_DIRTY	(1ULL << 55 | 1ULL << 51 | 1ULL << 7) /* software's; write, read-only */
#define ENTRY_ADDRESS	0x0003fffffffff000ULL
#if defined(ZMEM_PROBE_READS) && !defined(ZMEM_OLD)
/* From 5.19 to 6.9; bit 59 is a huge page that is being split (PMD_PRESENT_INVALID). */
#define ENTRY_PROTNONE	 (1ULL << 58 | 1ULL << 59)
#define ENTRY_FOREIGN	 0ULL
#define SWAP_TYPE(entry) ((entry) >> 3 & 31)
#else
#define ENTRY_PROTNONE	 (1ULL << 11)
#define ENTRY_FOREIGN	 (1ULL << 58) /* PTE_PROT_NONE, until 6.9 */
#define SWAP_TYPE(entry) ((entry) >> 6 & 31)
#endif

static __always_inline bool entry_is_huge(__u64 entry)
{
	return (entry & (ENTRY_PRESENT | ENTRY_PROTNONE)) && (entry & ENTRY_TYPE) != ENTRY_TABLE;
}

static __always_inline bool entry_is_table(__u64 entry)
{
	return (entry & ENTRY_TYPE) == ENTRY_TABLE;
}

static __always_inline bool entry_is_dirty(__u64 entry)
{
	return (entry & 1ULL << 55) || (entry & ENTRY_DIRTY) == 1ULL << 51;
}

static __always_inline __u64 entry_address(__u64 entry)
{
	return entry;
}

#else
#error "the page table format of this architecture is not known"
#endif

#endif
