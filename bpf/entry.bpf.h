/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * An entry of a page table: all that the architectures have differently.
 *
 *  PAGE_BITS_LEAST, _MOST  sizes of pages; who calls calibrate says which it is
 *  LEVELS_LEAST, _MOST     of tables; calibrate finds out which it is
 *  ENTRY_PRESENT           the processor follows it
 *  ENTRY_PROTNONE          where PRESENT is clear: a page that nobody may touch, yet resident
 *  ENTRY_SPECIAL           a page that is not counted
 *  ENTRY_FOREIGN           in an entry of calibrate's pages: this is not the format
 *  ENTRY_ADDRESS           bits that can be an address
 *  SWAP_TYPE(entry)        where it maps nothing: which swap file; the last numbers mean other
 *                          things
 *  entry_is_huge(entry)    above the last level: a huge page, may be PROT_NONE or just be split
 *  entry_is_table(entry)   above the last level: a table
 *  entry_address(entry)    what of it can be an address is one
 */
#ifndef ZMEM_ENTRY_BPF_H
#define ZMEM_ENTRY_BPF_H

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

/* Where PRESENT is clear it is inverted (__pte_needs_invert). */
static __always_inline __u64 entry_address(__u64 entry)
{
	return entry ^ ((entry & ENTRY_PRESENT) - 1);
}

#elif defined(__TARGET_ARCH_arm64)

/*
 * arch/arm64/include/asm/pgtable-{hwdef,prot}.h, swap entries: arch/arm64/include/asm/pgtable.h, as
 * they are since 6.10 ("arm64/mm: Move PTE_PRESENT_INVALID to overlay PTE_NG"): before, a swap
 * entry may have the bit that is PROTNONE now. With 52 bits of physical address (LPA2) the two
 * above ENTRY_ADDRESS are bits 8 and 9: where there is so much RAM calibrate refuses.
 */
#define PAGE_BITS_LEAST	 12
#define PAGE_BITS_MOST	 14
#define LEVELS_LEAST	 3
#define LEVELS_MOST	 5
#define ENTRY_PRESENT	 (1ULL << 0)
#define ENTRY_TYPE	 3ULL
#define ENTRY_TABLE	 3ULL
#define ENTRY_PROTNONE	 (1ULL << 11)
#define ENTRY_SPECIAL	 (1ULL << 56)
#define ENTRY_FOREIGN	 (1ULL << 58) /* PTE_PROT_NONE, until 6.9 */
#define ENTRY_ADDRESS	 0x0003fffffffff000ULL
#define SWAP_TYPE(entry) ((entry) >> 6 & 31)

static __always_inline bool entry_is_huge(__u64 entry)
{
	return (entry & (ENTRY_PRESENT | ENTRY_PROTNONE)) && (entry & ENTRY_TYPE) != ENTRY_TABLE;
}

static __always_inline bool entry_is_table(__u64 entry)
{
	return (entry & ENTRY_TYPE) == ENTRY_TABLE;
}

static __always_inline __u64 entry_address(__u64 entry)
{
	return entry;
}

#else
#error "what do entries of page tables look like?"
#endif

#endif
