/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * mm → PSS: walks the mappings and page tables of an mm that is not ours and is not locked.
 *
 * Nothing is held, so anything may be torn or freed under the walk. Loads cannot fault; a physical
 * address is followed only below the end of RAM; what does not fit is marked (ZMEM_WALK_ODD), and
 * what was overtaken does not add up to the counters, which user space checks. All state is in
 * struct page_walk on the stack of the visit.
 *
 * x86-64 only. The bits of entries: arch/x86/include/asm/pgtable_types.h; the shape of maple nodes:
 * include/linux/maple_tree.h; which pages count, and how: smaps_account() in fs/proc/task_mmu.c.
 */
#ifndef ZMEM_PAGE_WALK_BPF_H
#define ZMEM_PAGE_WALK_BPF_H

#define ENTRY_PRESENT  (1ULL << 0)
#define ENTRY_HUGE     (1ULL << 7)
#define ENTRY_PROTNONE (1ULL << 8) /* where PRESENT is clear */
#define ENTRY_SPECIAL  (1ULL << 9)

/* Entries of swap files say which in the top 5 bits; the last numbers mean other things. */
#define SWAP_TYPE(entry) ((entry) >> 59)
#define SWAP_TYPE_FILES	 16 /* there are never more swap files; above may be migration */
#define SWAP_TYPE_MARKER 31 /* guard, userfaultfd: nothing is there */

#define PAGE_BITS  12
#define TABLE_BITS 9
#define TABLE_MASK 511
#define PMD_BITS   21
#define PMD_PAGES  512

/* include/linux/mm.h */
#define VM_PFNMAP    0x00000400
#define VM_IO	     0x00004000
#define VM_HUGETLB   0x00400000
#define VM_MERGEABLE 0x80000000ULL

#define PAGE_MAPPING_ANON 1

/* Table entries a visit may look at: well below a millisecond. */
#define WALK_BUDGET (32 * 1024)
#define WALK_STEP   2  /* what a step costs beside them */

/* Where things are; computed once by calibrate, then only read. */
struct layout {
	__u64 direct;  /* the direct map */
	__u64 vmemmap; /* the array of struct page */
	__u64 pfn_end;
	__u64 phys_mask; /* the bits of an entry that are an address; encryption bits lie above */
	__u64 top_shift; /* of the top table: 39, with 5 levels 48. 0: there is no layout */
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct layout);
} layout SEC(".maps");

/* What is to know of a page: its kind (enum zmem_rss), and how often it is mapped. */
struct page_use {
	__u32 kind;
	__u32 maps;
};

struct page_walk {
	struct layout at;
	__u64 mm;
	__u64 pgd;

	/* The mapping under way, as far as it is not yet walked. */
	__u64 addr;
	__u64 end;
	__u64 may_share; /* its anonymous pages may be others', too */

	/* What maps the 2 MiB at `region`: a table of entries, or one huge page from `huge` on. */
	__u64 region;
	__u64 table;
	__u64 huge;
	__s64 huge_maps; /* how often its pages are mapped one by one, as far as not yet seen */

	/* The next mapping: at or behind `next`, under maple node `entry`, which ends at `max`. */
	__u64 next;
	__u64 entry;
	__u64 max;
	__u64 slot;
	__u64 done;

	/* Pages in a row that are alike and not yet counted. */
	struct page_use run;
	__u64 run_count;

	struct zmem_pages pages; /* what came of it */
};

/* ---- pages ---- */

/* The head of the folio of a page whose compound_head has bit 0 set. */
static __always_inline __u64 tail_head(__u64 page, __u64 info)
{
	/*
	 * Since Linux 7.1 (compound_info) it may be a mask for the page's own address. Nothing in
	 * the array of struct page is that high up.
	 */
	return info >= 0xffffffff00000000ULL ? page & info & ~1ULL : info - 1;
}

/* Word 1 of struct page: compound_head, from 7.1 on compound_info. */
static __always_inline __u64 page_info(__u64 page)
{
	return kread64(page + sizeof(__u64));
}

/* Word 0 of struct page; how it is declared has changed (memdesc_flags_t, 6.18). */
static __always_inline __u64 page_flags(__u64 page)
{
	return kread64(page);
}

/* Counts the pages of the run, and ends it. */
__noinline int count_run(struct page_walk *w)
{
	__u32 part = 4096U << ZMEM_PSS_SHIFT, kind;
	__u64 count;

	if (!w)
		return 0;
	count = w->run_count;
	if (!count)
		return 0;
	w->run_count = 0;
	kind = w->run.kind & (ZMEM_RSS_COUNT - 1);
	if (!w->run.maps) {
		w->pages.flags |= ZMEM_WALK_ODD;
		return 0;
	}
	if (w->run.maps > 1)
		part /= w->run.maps;
	else
		w->pages.unique += count;
	w->pages.seen[kind] += count;
	w->pages.pss[kind] += part * count;
	return 0;
}

/* enum zmem_rss of a page from its folio, as mm_counter() decides. */
static __always_inline __u32 page_kind(__u64 mapping, __u64 flags)
{
	__u32 anon = mapping & PAGE_MAPPING_ANON;
	__u32 swapbacked = flags >> bpf_core_enum_value(enum pageflags, PG_swapbacked) & 1;

	return anon | (swapbacked & ~anon) * ZMEM_RSS_SHMEM;
}

/*
 * How often a page of a large folio is mapped (folio_precise_page_mapcount()): by itself and with
 * the whole. 0 is an impossible answer: kernels with CONFIG_NO_PAGE_MAPCOUNT do not count the
 * former.
 */
__noinline __u64 large_maps(struct page_walk *w, __u64 page, __u64 head)
{
	__s32 own = (__s32)kread32(page + koffset(struct page, _mapcount)) + 1;
	__s32 entire = (__s32)kread32(head + koffset(struct folio, _entire_mapcount)) + 1;

	if (!w || own < 0 || entire < 0)
		return 0;
	if (w->huge)
		w->huge_maps -= own;
	else if (!own)
		return 0;
	return (__u64)(own + entire);
}

static __always_inline void page_use(struct page_walk *w, __u64 pfn, struct page_use *ret)
{
	__u64 page = w->at.vmemmap + pfn * bpf_core_type_size(struct page);
	__u64 info = page_info(page);
	__u64 head = info & 1 ? tail_head(page, info) : page;
	const struct folio *folio = kcast(struct folio, head);
	__u64 flags = page_flags(head);

	ret->kind = page_kind(kaddr(folio, mapping), flags);
	if ((info & 1) || (flags >> bpf_core_enum_value(enum pageflags, PG_head) & 1))
		ret->maps = large_maps(w, page, head);
	else
		ret->maps = kread32(page + koffset(struct page, _mapcount)) + 1;
}

/* ---- page tables ---- */

/* The address in an entry. Where PRESENT is clear it is inverted (__pte_needs_invert). */
static __always_inline __u64 entry_phys(const struct page_walk *w, __u64 entry)
{
	return (entry & ENTRY_PRESENT ? entry : ~entry) & w->at.phys_mask;
}

/* An entry that maps nothing, in a mapping whose anonymous pages may be shared. */
static __always_inline void absent_entry(struct page_walk *w, __u64 entry)
{
	__u64 type = SWAP_TYPE(entry);

	if (type < SWAP_TYPE_FILES)
		w->pages.seen[ZMEM_RSS_SWAP]++;
	else if (type != SWAP_TYPE_MARKER)
		w->pages.flags |= ZMEM_WALK_ODD;
}

static __always_inline __u64 region_end(const struct page_walk *w)
{
	__u64 end = ((w->addr >> PMD_BITS) + 1) << PMD_BITS;

	return end < w->end ? end : w->end;
}

/* A huge page that is mapped as one; `phys` is its address. */
__noinline int walk_huge(struct page_walk *w, __u64 phys)
{
	__u64 pfn = phys >> PAGE_BITS, page, info, head;
	const struct folio *folio;
	__s32 entire, all;

	if (!w)
		return 0;
	page = w->at.vmemmap + pfn * bpf_core_type_size(struct page);
	info = page_info(page);
	head = info & 1 ? tail_head(page, info) : page;
	folio = kcast(struct folio, head);
	/* The huge zero page is not resident memory; it has no mapping. */
	if (!kaddr(folio, mapping)) {
		w->addr = region_end(w);
		return 0;
	}
	entire = (__s32)kread32(head + koffset(struct folio, _entire_mapcount)) + 1;
	all = 0; /* unknown: each page is looked at */
	if (bpf_core_field_exists(struct folio, _large_mapcount))
		all = (__s32)kread32(head + koffset(struct folio, _large_mapcount)) + 1;
	if (entire > 0 && entire == all) {
		count_run(w);
		w->run.kind = page_kind(kaddr(folio, mapping), page_flags(head));
		w->run.maps = entire;
		w->run_count = (region_end(w) - w->addr) >> PAGE_BITS;
		w->addr = region_end(w);
		return 0;
	}
	w->huge = phys;
	w->huge_maps = all - entire;
	w->region = w->addr >> PMD_BITS;
	return 0;
}

/*
 * Finds what maps w->addr: a table of entries (w->table), a huge page that has to be looked at page
 * by page (w->huge), or neither: then w->addr has moved on.
 */
__noinline int find_region(struct page_walk *w)
{
	__u64 table, entry, shift;

	if (!w)
		return 0;
	table = w->pgd;
	shift = w->at.top_shift;
	w->region = ~0ULL;
	w->table = 0;
	w->huge = 0;
	for (int level = 0; level < 4; level++) {
		__u64 phys;

		entry = kread64(table + ((w->addr >> (shift & 63) & TABLE_MASK) << 3));
		if (!(entry & ENTRY_PRESENT) || (entry & ENTRY_HUGE) || shift <= PMD_BITS)
			break;
		phys = entry_phys(w, entry);
		if (phys >> PAGE_BITS >= w->at.pfn_end)
			break;
		table = w->at.direct + phys;
		shift -= TABLE_BITS;
	}
	if (entry && entry_phys(w, entry) >> PAGE_BITS < w->at.pfn_end && shift == PMD_BITS) {
		/* While a huge page is split or is PROT_NONE only HUGE says what it is. */
		if (entry & ENTRY_HUGE)
			return walk_huge(w, entry_phys(w, entry));
		if (entry & ENTRY_PRESENT) {
			w->table = w->at.direct + entry_phys(w, entry);
			w->region = w->addr >> PMD_BITS;
			return 0;
		}
	}
	if (entry && (w->may_share || (entry & ENTRY_PRESENT)))
		w->pages.flags |= ZMEM_WALK_ODD; /* a huge page on its way to somewhere else */
	w->addr = ((w->addr >> (shift & 63)) + 1) << (shift & 63);
	if (w->addr > w->end)
		w->addr = w->end;
	return 0;
}

/* What an entry that is not empty maps. */
static __always_inline void walk_entry(struct page_walk *w, __u64 entry)
{
	struct page_use use;
	__u64 pfn;

	if (!(entry & (ENTRY_PRESENT | ENTRY_PROTNONE))) {
		if (w->may_share)
			absent_entry(w, entry);
		return;
	}
	if (entry & ENTRY_SPECIAL)
		return;
	pfn = entry_phys(w, entry) >> PAGE_BITS;
	if (pfn >= w->at.pfn_end) {
		w->pages.flags |= ZMEM_WALK_ODD;
		return;
	}
	page_use(w, pfn, &use);
	/* Neighbours are often alike: a division for all of them. */
	if (use.kind != w->run.kind || use.maps != w->run.maps) {
		count_run(w);
		w->run = use;
	}
	w->run_count++;
}

static long walk_table_entry(__u32 index, struct page_walk **walk)
{
	struct page_walk *w = *walk;
	__u64 entry = kread64(w->table);

	w->table += sizeof(entry);
	if (entry)
		walk_entry(w, entry);
	return 0;
}

/* The entries of the table at hand, as far as the mapping goes. */
__noinline int walk_table(struct page_walk *w)
{
	__u64 count, table;

	if (!w)
		return 0;
	count = (region_end(w) - w->addr) >> PAGE_BITS;
	table = w->table;
	w->table += (w->addr >> PAGE_BITS & TABLE_MASK) << 3;
	bpf_loop((__u32)count, walk_table_entry, &w, 0);
	w->table = table;
	w->addr += count << PAGE_BITS;
	w->pages.work += count;
	return 0;
}

/* One page of a huge page. */
__noinline int walk_huge_page(struct page_walk *w)
{
	if (!w)
		return 0;
	walk_entry(w, (w->huge + (w->addr & ((1 << PMD_BITS) - 1))) | ENTRY_PRESENT);
	w->addr += 1 << PAGE_BITS;
	if (w->addr < region_end(w))
		return 0;
	/* Those that are mapped one by one must have been found, all of them. */
	if (w->huge_maps && bpf_core_field_exists(struct folio, _large_mapcount))
		w->pages.flags |= ZMEM_WALK_ODD;
	w->huge = 0;
	w->region = ~0ULL;
	return 0;
}

/* ---- mappings ---- */

/*
 * True if no anonymous page of the mapping can be mapped elsewhere: its anon_vma is its own, was
 * not copied by a fork that still lives (mm/rmap.c, anon_vma_fork()), and KSM may not merge in it.
 */
static __always_inline bool area_is_private(const struct vm_area_struct *vma, __u64 anon_vma_addr,
					    __u64 flags)
{
	__u64 next = kaddr(vma, anon_vma_chain.next), prev = kaddr(vma, anon_vma_chain.prev);
	const struct anon_vma *anon_vma = kcast(struct anon_vma, anon_vma_addr);

	return next == prev && (__u64)kget(anon_vma, root) == anon_vma_addr &&
	       kget(anon_vma, num_children) == 1 && !(flags & VM_MERGEABLE);
}

/* Decides whether the mapping, which the tree says ends before `last` + 1, has to be walked. */
__noinline int take_area(struct page_walk *w, __u64 vma_addr, __u64 last)
{
	const struct vm_area_struct *vma = kcast(struct vm_area_struct, vma_addr);
	__u64 start, anon_vma, flags, ops, from;

	if (!w)
		return 0;
	start = kget(vma, vm_start);
	flags = kget(vma, vm_flags);
	ops = kaddr(vma, vm_ops);
	if (kaddr(vma, vm_mm) != w->mm || kget(vma, vm_end) != last + 1 || start > last) {
		w->pages.flags |= ZMEM_WALK_ODD;
		return 0;
	}
	if (flags & (VM_HUGETLB | VM_PFNMAP | VM_IO))
		return 0;
	w->may_share = 0;
	if (!(w->pages.flags & ZMEM_WALK_EXCLUSIVE)) {
		anon_vma = kaddr(vma, anon_vma);
		if (anon_vma && !area_is_private(vma, anon_vma, flags))
			w->may_share = 1;
	}
	/* Without vm_ops it is anonymous. */
	if (!ops && !w->may_share)
		return 0;
	from = w->next > start ? w->next : start;
	w->addr = from;
	w->end = last + 1;
	return 0;
}

/* enum maple_type */
#define MAPLE_TYPE(entry) ((entry) >> 3 & 15)
#define MAPLE_NODE(entry) ((entry) & ~0xffULL)
#define MAPLE_LEAF_64	  1
#define MAPLE_ARANGE_64	  3
/* Words of a node: its parent, the pivots, one slot more than pivots. */
#define MAPLE_ARANGE_PIVOTS 9
#define MAPLE_RANGE_PIVOTS  15

static __always_inline __u64 maple_word(__u64 entry, __u64 index)
{
	return kread64(MAPLE_NODE(entry) + index * sizeof(__u64));
}

struct descent {
	__u64 entry, next, pivots;
	__u64 slot; /* in: 0; out: the first whose pivot is not below `next` */
};

static long descend_pivot(__u32 index, struct descent *d)
{
	__u64 pivot = maple_word(d->entry, 1 + index);

	/* A zero ends what is in use; the last slot goes on to the end of the node. */
	if ((index && !pivot) || pivot >= d->next)
		return 1;
	d->slot = index + 1;
	return 0;
}

/* One node down in the maple tree, towards w->next. */
__noinline int descend(struct page_walk *w)
{
	struct descent d = {};
	__u64 pivot;

	if (!w)
		return 0;
	d.entry = w->entry;
	d.next = w->next;
	d.pivots = MAPLE_TYPE(d.entry) == MAPLE_ARANGE_64 ? MAPLE_ARANGE_PIVOTS : MAPLE_RANGE_PIVOTS;
	bpf_loop(d.pivots, descend_pivot, &d, 0);
	pivot = maple_word(d.entry, 1 + d.slot);
	if (d.slot < d.pivots && pivot && pivot < w->max)
		w->max = pivot;
	w->entry = maple_word(d.entry, 1 + d.pivots + d.slot);
	w->slot = 0;
	return 0;
}

/* The next slot of the leaf: a mapping or a gap. Behind the last one the descent starts anew. */
__noinline int next_slot(struct page_walk *w)
{
	__u64 i, last, vma;

	if (!w)
		return 0;
	i = w->slot++;
	last = i < MAPLE_RANGE_PIVOTS ? maple_word(w->entry, 1 + i) : w->max;
	if (i >= MAPLE_RANGE_PIVOTS || (i && !last) || last >= w->max) {
		last = w->max;
		w->slot = 0;
	}
	if (last >= w->next) {
		vma = maple_word(w->entry, 1 + MAPLE_RANGE_PIVOTS + i);
		if (vma)
			take_area(w, vma, last);
		w->next = last + 1;
		if (!w->next)
			w->done = 1;
	}
	if (!w->slot)
		w->entry = 0;
	return 0;
}

/* ---- the whole ---- */

static long walk_step(__u32 index, struct page_walk *w)
{
	if (w->done && w->addr >= w->end)
		return 1;
	/* A huge page has to add up, so it is done in one visit. */
	if (w->pages.work >= WALK_BUDGET && !w->huge)
		return 1;
	w->pages.work += WALK_STEP;
	if (w->addr < w->end) {
		if (w->addr >> PMD_BITS != w->region)
			find_region(w);
		if (w->huge)
			walk_huge_page(w);
		else if (w->addr >> PMD_BITS == w->region)
			walk_table(w);
		return 0;
	}
	if (!w->entry) {
		w->entry = kaddr(kcast(struct mm_struct, w->mm), mm_mt.ma_root);
		w->max = ~0ULL;
		/* A root that is no node (xa_is_node()): there is at most one mapping. */
		if ((w->entry & 3) != 2)
			w->entry = 0;
	}
	if (!(w->entry >> 63)) {
		w->pages.flags |= ZMEM_WALK_ODD;
		return 1;
	}
	if (MAPLE_TYPE(w->entry) > MAPLE_LEAF_64)
		descend(w);
	else
		next_slot(w);
	return 0;
}

/* Walks w->mm from w->next on, within the budget. w->at, mm and next are set, all else is 0. */
static __always_inline void walk_pages(struct page_walk *w)
{
	w->pgd = kaddr(kcast(struct mm_struct, w->mm), pgd);
	w->region = ~0ULL;
	bpf_loop(WALK_BUDGET, walk_step, w, 0);
	count_run(w);
	w->pages.cursor = w->addr < w->end ? w->addr : w->next;
}

#endif
