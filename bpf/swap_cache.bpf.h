/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Folios of the swap cache: pages in RAM that have slots of swap. The entries of the slots and the
 * mappings of the folio hold both: the kernel frees them with the last one
 * (__try_to_reclaim_swap(), mm/swapfile.c).
 *
 * The folio of a slot is, until 6.17, in a tree for each 64 MiB of the device (swapper_spaces).
 * Then it is in the table of the cluster, as an address; since 7.1 as the number of its frame
 * (mm/swap_table.h).
 */
#ifndef ZMEM_SWAP_CACHE_BPF_H
#define ZMEM_SWAP_CACHE_BPF_H

#include "folio.bpf.h"
#include "slots.bpf.h"

/* In the table of a cluster since 7.1: the mark of a frame, and the frame below the count. */
#define CACHE_FRAME  2
#define CACHE_PFN(e) ((e) << 5 >> 7)

/* swp_entry_t (include/linux/swapops.h) */
#define CACHED_TYPE(val) ((val) >> 58)
#define CACHED_SLOT(val) ((val) << 6 >> 6)

static __always_inline bool is_cached(__u64 page)
{
	return kread_raw(__u64, page + PAGE_FLAGS) >>
		       bpf_core_enum_value(enum pageflags___swap, PG_swapcache___swap) &
	       1;
}

/* The swp_entry_t of its first page. */
static __always_inline __u64 cached_as(__u64 head)
{
	return kread_raw(__u64, head + member_offset(folio, private));
}

struct slots_sum {
	__u64 type, slot;
	__u32 entries;
};

/* More sharers than a byte of the map can say are never met all. */
#define MANY_SHARERS (1 << 20)

static long add_entries(__u32 turn, struct slots_sum *sum)
{
	__u64 slot = sum->slot + turn, entry;
	const struct zmem_swap_device *d = device_of(sum->type, slot);

	if (!d)
		return 1;
	if (!has_swap_map()) {
		if (cluster_slots())
			sum->entries += table_count(d, slot, table_entry(d, slot));
		return 0;
	}
	entry = kread8(d->map + slot);
	sum->entries += entry & MAP_CONTINUED ? MANY_SHARERS : entry & MAP_COUNT;
	return 0;
}

/* The entries of all slots of a large folio. */
static __always_inline __u32 folio_entries(__u64 head, __u64 pages)
{
	__u64 val = cached_as(head);
	struct slots_sum sum = {.type = CACHED_TYPE(val), .slot = CACHED_SLOT(val)};

	bpf_loop((__u32)pages, add_entries, &sum, 0);
	return sum.entries;
}

/* The folio, if the swap cache has it for this slot; else 0. */
static __always_inline __u64 if_cached_as(__u64 head, __u64 type, __u64 slot)
{
	__u64 val, pages;

	if (head >> 56 != 0xff || (head & 3) || !is_cached(head))
		return 0;
	val = cached_as(head);
	pages = is_large(head) ? 1ULL << (compound_order(head) & 31) : 1;
	return CACHED_TYPE(val) == type && slot - CACHED_SLOT(val) < pages ? head : 0;
}

/* The kernel does not say where the folio of a slot is. */
#define NOT_FOUND 1

/* The folio that the swap cache has of a slot; 0: none. */
__noinline __u64 cached_folio(__u64 type, __u64 slot, __u64 vmemmap)
{
	const struct zmem_swap_device *d = device_of(type, slot);
	__u64 entry, tree, head;

	if (!d)
		return 0;
	if (cluster_slots()) {
		entry = table_entry(d, slot);
		if ((entry & 3) == CACHE_FRAME)
			entry = vmemmap + CACHE_PFN(entry) * PAGE_STRUCT_SIZE;
		return if_cached_as(entry, type, slot);
	}
	if (!d->cache)
		return kread8(d->map + slot) & MAP_CACHED ? NOT_FOUND : 0;
	tree = d->cache +
	       (slot >> SWAP_TREE_BITS) * bpf_core_type_size(struct address_space___files) +
	       koffset(struct address_space___files, i_pages);
	/* Since 6.11 by the number within the tree, before by that of the slot. */
	head = if_cached_as(slot_in_tree(tree, slot & ((1 << SWAP_TREE_BITS) - 1)), type, slot);
	return head ?: if_cached_as(slot_in_tree(tree, slot), type, slot);
}

#endif
