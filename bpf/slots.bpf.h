/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Swap slots: how many processes share one, and what it takes in RAM.
 *
 * Sharers, until 7.0: a byte of swap_map for each slot (include/linux/swap.h). Its lowest six bits
 * are the count; 0x40 says that the swap cache has a page of it; 0x80 that the count goes on in
 * further pages, in a list that begins at the page of swap_map. Since 7.1 the table of the cluster
 * has a word for each slot (mm/swap_table.h): the highest four bits are the count; 15 says that it
 * is in extend_table.
 */
#ifndef ZMEM_SLOTS_BPF_H
#define ZMEM_SLOTS_BPF_H

#include "zmem/swap.h"
#include "entry.bpf.h"
#include "member.bpf.h"

#define MAP_COUNT      0x3fULL
#define MAP_CACHED     0x40ULL
#define MAP_CONTINUED  0x80ULL
#define MAP_MORE       0x7fULL /* the count in a further page */
#define MAP_PAGES      4       /* further pages: 63 · 128^3 sharers */

#define TABLE_COUNT(e) ((e) >> 60)
#define TABLE_ZERO     (1ULL << 59) /* since 7.2, which has no zeromap */
#define TABLE_EXTENDED 15
#define TABLE_BAD      (~7ULL)

#define SWAP_TREE_BITS 14 /* SWAP_ADDRESS_SPACE_SHIFT */
#define XA_LEVELS      8

/* The offset in a swap entry; its type is SWAP_TYPE(). */
#if defined(__TARGET_ARCH_x86)
#define SWAP_OFFSET(entry) (~(entry) << 5 >> 14)
#else
#define SWAP_OFFSET(entry) ((entry) >> 12 & ((1ULL << 50) - 1))
#endif

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct zmem_swap);
} swap SEC(".maps");

static __always_inline struct zmem_swap *swap_get(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&swap, &zero);
}

/* The device of a slot; NULL: it is not known, as where swap slots cannot be read. */
static __always_inline const struct zmem_swap_device *device_of(__u64 type, __u64 slot)
{
	const struct zmem_swap *s = swap_get();
	const struct zmem_swap_device *d;

	if (!s)
		return NULL;
	barrier_var(type);
	d = &s->dev[type & (ZMEM_SWAP_DEVICES - 1)];
	return type < ZMEM_SWAP_DEVICES && slot < d->slots ? d : NULL;
}

static __always_inline bool has_swap_map(void)
{
	return bpf_core_field_exists(struct swap_info_struct, swap_map);
}

static __always_inline __u8 kread8(__u64 addr)
{
	return kread_raw(__u8, addr);
}

/* ---- sharers ---- */

/* Returns the struct page of an address of the kernel, by the kernel's page tables; 0: none. */
static __always_inline __u64 kernel_page(const struct zmem_swap *s, __u64 addr)
{
#if defined(__TARGET_ARCH_x86)
	__u64 table = s->kernel_table, shift = s->at.top_shift, entry, pfn;

	for (int level = 0; level < 5; level++) {
		entry = kread64(table + (addr >> (shift & 63) & 511) * 8);
		if (!(entry & ENTRY_PRESENT))
			return 0;
		if (shift <= PAGE_BITS_LEAST || !entry_is_table(entry))
			break;
		table = s->at.direct + (entry & s->at.phys_mask);
		shift -= 9;
	}
	pfn = ((entry & s->at.phys_mask) >> PAGE_BITS_LEAST) +
	      ((addr & ((1ULL << (shift & 63)) - 1)) >> PAGE_BITS_LEAST);
	if (pfn >= s->at.pfn_end)
		return 0;
	return s->at.vmemmap + pfn * member_offset(folio, _flags_1);
#else
	/* arm64: processes do not have the kernel's tables. */
	return 0;
#endif
}

/* A count that goes on in further pages, as swp_swapcount() (mm/swapfile.c). Returns 0 if lost. */
__noinline __u64 continued_count(__u64 addr, __u64 count)
{
	const __u64 lru = member_offset(folio, lru);
	const __u64 size = member_offset(folio, _flags_1);
	struct zmem_swap *s = swap_get();
	__u64 page, weight = MAP_COUNT, pfn;

	if (!s)
		return 0;
	page = kernel_page(s, addr);
	if (!page)
		return 0;
	for (int i = 0; i < MAP_PAGES; i++) {
		__u8 more;

		page = kread64(page + lru) - lru;
		pfn = (page - s->at.vmemmap) / size;
		if (pfn >= s->at.pfn_end)
			return 0;
		more = kread8(s->at.direct + (pfn << PAGE_BITS_LEAST) +
			      (addr & ((1 << PAGE_BITS_LEAST) - 1)));
		count += (more & MAP_MORE) * weight;
		if (!(more & MAP_CONTINUED))
			return count;
		weight *= MAP_MORE + 1;
	}
	return 0;
}

/*
 * The slots of a cluster, SWAPFILE_CLUSTER (mm/swap.h): HPAGE_PMD_NR with CONFIG_THP_SWAP, else
 * 256, thus also with PREEMPT_RT. 0: the kernel's types do not tell.
 */
static __always_inline __u64 cluster_slots(void)
{
	return bpf_core_type_exists(struct swap_table)
		       ? bpf_core_type_size(struct swap_table) / sizeof(__u64)
		       : 0;
}

static __always_inline __u64 cluster_of(const struct zmem_swap_device *d, __u64 slot)
{
	return d->clusters + slot / cluster_slots() * bpf_core_type_size(struct swap_cluster_info);
}

static __always_inline __u64 table_entry(const struct zmem_swap_device *d, __u64 slot)
{
	__u64 table = kread64(cluster_of(d, slot) + koffset(struct swap_cluster_info, table));

	return table ? kread64(table + slot % cluster_slots() * 8) : 0;
}

/* The sharers of a slot of a table; an extended count is 0 in the entry's other words. */
static __always_inline __u64 table_count(const struct zmem_swap_device *d, __u64 slot, __u64 entry)
{
	if (TABLE_COUNT(entry) != TABLE_EXTENDED)
		return TABLE_COUNT(entry);
	return kread32(
		kread64(cluster_of(d, slot) + koffset(struct swap_cluster_info, extend_table)) +
		slot % cluster_slots() * 4);
}

/* ---- what a slot takes in RAM ---- */

/* The entry of a slot in a tree (lib/xarray.c). */
static __always_inline __u64 slot_in_tree(__u64 tree, __u64 slot)
{
	__u64 entry = kread64(tree + koffset(struct address_space, i_pages.xa_head) -
			      koffset(struct address_space, i_pages));

	for (int i = 0; i < XA_LEVELS && (entry & 3) == 2 && entry > 4096; i++) {
		__u64 node = entry - 2;
		__u32 shift = kread8(node + koffset(struct xa_node, shift));

		entry = kread64(node + koffset(struct xa_node, slots) +
				(slot >> (shift & 63) & 63) * 8);
	}
	return entry;
}

/* Returns true if zswap has the slot, and what it takes. */
static __always_inline bool zswap_bytes(const struct zmem_swap_device *d, __u64 slot, __u64 *ret)
{
	__u64 entry;

	/* Before 6.8 a device had one tree, of another kind. */
	if (!d->trees || bpf_core_field_exists(struct zswap_entry, rbnode) ||
	    slot >> SWAP_TREE_BITS >= d->tree_count ||
	    !bpf_core_field_exists(struct zswap_entry, length))
		return false;
	entry = slot_in_tree(d->trees + (slot >> SWAP_TREE_BITS) *
						bpf_core_field_size(struct address_space, i_pages),
			     slot);
	if (!entry || (entry & 3))
		return false;
	*ret = kread32(entry + koffset(struct zswap_entry, length));
	return true;
}

static __always_inline __u64 zram_flags(__u64 entry)
{
	if (bpf_core_field_exists(struct zram_table_entry, flags))
		return kread64(entry + koffset(struct zram_table_entry, flags));
	if (bpf_core_field_exists(struct zram_table_entry___new, attr))
		return kread32(entry + koffset(struct zram_table_entry___new, attr.flags));
	return 0;
}

#define ZRAM_FLAG(name) (1ULL << (bpf_core_enum_value(enum zram_pageflags, name) & 63))

static __always_inline void add_bytes(__u64 *sum, __u64 bytes, __u32 sharers)
{
	*sum += (bytes << ZMEM_PSS_SHIFT) / sharers;
}

/* In a zram device the size is below the flags (ZRAM_FLAG_SHIFT is PAGE_SHIFT + 1). */
static __always_inline void add_zram(struct zmem_swap_sum *sum, const struct zmem_swap_device *d,
				     __u64 slot, __u64 page, __u32 sharers)
{
	__u64 flags = zram_flags(d->table + slot * bpf_core_type_size(struct zram_table_entry));
	__u64 bytes = flags & (2 * page - 1);

	/* A page that is one word repeated has no other memory than its entry in the table. */
	if (flags & ZRAM_FLAG(ZRAM_SAME)) {
		add_bytes(&sum->filled, page, sharers);
		return;
	}
	/* Written to the disk behind the device. */
	if (bpf_core_enum_value_exists(enum zram_pageflags, ZRAM_WB) &&
	    (flags & ZRAM_FLAG(ZRAM_WB))) {
		add_bytes(&sum->disk, page, sharers);
		return;
	}
	add_bytes(&sum->zram, bytes, sharers);
	if (bytes == page)
		add_bytes(&sum->incompressible, page, sharers);
}

static __always_inline void add_cost(struct zmem_swap *s, const struct zmem_swap_device *d,
				     __u64 slot, __u32 sharers, bool zero)
{
	struct zmem_swap_sum *sum = &s->record.sum;
	__u64 page = 1ULL << (s->at.page_bits & 31), bytes = 0;

	if (!zero && d->zeroes)
		zero = kread64(d->zeroes + (slot >> 6) * 8) >> (slot & 63) & 1;
	if (zero) {
		add_bytes(&sum->filled, page, sharers);
	} else if (zswap_bytes(d, slot, &bytes)) {
		/* Until 6.11 zswap has the word of a page that repeats it, and no memory. */
		add_bytes(bytes ? &sum->zswap : &sum->filled, bytes ?: page, sharers);
		if (bytes == page)
			add_bytes(&sum->incompressible, page, sharers);
	} else if (bpf_core_enum_value_exists(enum zram_pageflags, ZRAM_SAME) &&
		   slot < d->table_slots) {
		add_zram(sum, d, slot, page, sharers);
	} else {
		add_bytes(&sum->disk, page, sharers);
	}
}

/* ---- */

/* In bpf/freed.bpf.c a part of what calls it: calls may be 8 deep. */
#ifdef ZMEM_FREED
#define slot_function static __always_inline
#else
#define slot_function __noinline
#endif

/*
 * Counts the slot of one swap entry. `shmem`: the entry belongs to a file, which shares it with
 * no process. Returns its sharers; 0: not known. A global function: the verifier checks it once.
 */
slot_function int count_slot(__u64 type, __u64 slot, __u32 shmem)
{
	struct zmem_swap *s = swap_get();
	const struct zmem_swap_device *d;
	__u64 count = 1, entry;
	bool zero = false;

	if (!s)
		return 0;
	s->record.sum.entries++;
	d = device_of(type, slot);
	if (!d) {
		s->record.sum.unknown++;
		return 0;
	}
	if (has_swap_map()) {
		if (!shmem) {
			entry = kread8(d->map + slot);
			count = entry & MAP_COUNT;
			if (entry & MAP_CONTINUED)
				count = continued_count(d->map + slot, count);
		}
	} else if (!cluster_slots()) {
		s->record.sum.unknown++;
		return 0;
	} else {
		entry = table_entry(d, slot);
		zero = !bpf_core_field_exists(struct swap_info_struct, zeromap) &&
		       (entry & TABLE_ZERO);
		if (!shmem)
			count = table_count(d, slot, entry);
	}
	if (!count || count >> 32) {
		s->record.sum.unknown++;
		return 0;
	}
	s->record.sum.share += (1ULL << ((s->at.page_bits & 31) + ZMEM_PSS_SHIFT)) / (__u32)count;
	if (s->costs)
		add_cost(s, d, slot, (__u32)count, zero);
	return (int)count;
}

#endif
