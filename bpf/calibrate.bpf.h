/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds the direct map and the array of struct page without symbols, by content.
 *
 * The caller's top table lies in the direct map, whose base is a multiple of 1 GiB (KASLR moves it
 * by PUDs, arch/x86/mm/kaslr.c): so the base is one of as many as the machine has GiB. Under the
 * right one our own page tables lead from a page of the caller to its content. The page is the only
 * one of a file, so the file's page cache holds its struct page, and the address of that less its
 * number is the base of the array. A second page proves the number's size and our reading of it.
 */
#ifndef ZMEM_CALIBRATE_BPF_H
#define ZMEM_CALIBRATE_BPF_H

#define GIB_BITS     30
#define DIRECT_TRIES 65536 /* 64 TiB of RAM */

struct calibration {
	struct page_walk w; /* to look up an address with */
	__u64 file_addr;
	__u64 content; /* of its first word */
	__u64 pfn;     /* of the file's page */
	__u32 tries;
};

/* The number of the page at `addr` in the tables of w->pgd, 0 if there is none. */
static __always_inline __u64 find_pfn(struct page_walk *w, __u64 addr)
{
	__u64 pfn;

	w->addr = addr;
	w->end = ~0ULL;
	find_region(w);
	if (!w->table)
		return 0;
	pfn = entry_phys(w, kread64(w->table + ((addr >> PAGE_BITS & TABLE_MASK) << 3))) >>
	      PAGE_BITS;
	return pfn < w->at.pfn_end ? pfn : 0;
}

/*
 * From the lowest possible base upwards: a base that is too low only leads below or into the direct
 * map, never into what is mapped behind it (devices). Each is tried with 4 and with 5 levels.
 */
static long try_base(__u32 index, struct calibration **calibration)
{
	struct calibration *c = *calibration;

	c->w.at.top_shift = index & 1 ? 48 : 39;
	c->tries++;
	c->pfn = find_pfn(&c->w, c->file_addr);
	if (c->pfn && kread64(c->w.at.direct + (c->pfn << PAGE_BITS)) == c->content)
		return 1;
	if (index & 1)
		c->w.at.direct += 1ULL << GIB_BITS;
	c->pfn = 0;
	return 0;
}

/* Leaves c->pfn 0 if no base is right. */
__noinline int find_direct_map(struct calibration *c)
{
	__u64 gib;

	if (!c)
		return 0;
	gib = (c->w.at.pfn_end >> (GIB_BITS - PAGE_BITS)) + 1;
	c->w.at.direct = (c->w.pgd >> GIB_BITS << GIB_BITS) - (gib << GIB_BITS);
	bpf_loop(2 * (gib < DIRECT_TRIES ? gib + 1 : DIRECT_TRIES), try_base, &c, 0);
	return 0;
}

/* The struct page of the only page of the file that is open as `fd`, and the file's mapping. */
static __always_inline __u64 file_folio(__u32 fd, __u64 *ret_mapping)
{
	const struct task_struct *task = kcast(struct task_struct, bpf_get_current_task());
	const struct file *file;

	file = kcast(struct file, kread64((__u64)kget(task, files->fdt->fd) + fd * sizeof(__u64)));
	*ret_mapping = kaddr(file, f_mapping);
	return kaddr(kcast(struct address_space, *ret_mapping), i_pages.xa_head);
}

/* True if `pfn`'s struct page says it is mapped once, swap-backed, small and has this mapping. */
static __always_inline bool page_is(struct page_walk *w, __u64 pfn, __u32 kind)
{
	return page_key(w, page_at(w, pfn)) == PAGE_KEY(1, kind);
}

SEC("syscall")
int calibrate(struct zmem_calibrate *args)
{
	struct calibration c = {};
	__u64 folio, mapping, pfn;
	struct layout *at;
	__u32 zero = 0;

	at = bpf_map_lookup_elem(&layout, &zero);
	if (!at)
		return 1;
	at->top_shift = 0;
	c.file_addr = args->file_addr;
	c.content = args->content;
	c.w.anon_mask = PAGE_MAPPING_ANON;
	c.w.stop = PMD_BITS;
	c.w.at.pfn_end = args->pfn_end;
	c.w.at.phys_mask = args->phys_mask;
	c.w.mm = kaddr(kcast(struct task_struct, bpf_get_current_task()), mm);
	c.w.pgd = kaddr(kcast(struct mm_struct, c.w.mm), pgd);
	find_direct_map(&c);
	args->tries = c.tries;
	args->result = ZMEM_NO_DIRECT_MAP;
	if (!c.pfn)
		return 0;
	args->levels = c.w.at.top_shift == 48 ? 5 : 4;

	args->result = ZMEM_NO_FOLIO;
	folio = file_folio(args->fd, &mapping);
	if (!folio || (folio & 3))
		return 0;
	c.w.at.vmemmap = folio - c.pfn * PAGE_STRUCT_SIZE;
	args->result = ZMEM_BAD_MEMMAP;
	if (kaddr(kcast(struct folio, folio), mapping) != mapping ||
	    !page_is(&c.w, c.pfn, ZMEM_RSS_SHMEM))
		return 0;
	args->result = ZMEM_BAD_ANON;
	pfn = find_pfn(&c.w, args->anon_addr);
	if (!pfn || !page_is(&c.w, pfn, ZMEM_RSS_ANON))
		return 0;
	*at = c.w.at;
	args->result = ZMEM_CALIBRATED;
	return 0;
}

#endif
