/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads struct page: the kind of a page and how often it is mapped. Which pages count, and how,
 * follows smaps_account() in fs/proc/task_mmu.c.
 */
#ifndef ZMEM_PAGE_BPF_H
#define ZMEM_PAGE_BPF_H

#include "walk_room.bpf.h"

#define PAGE_MAPPING_ANON 1

/* bpf/pages.bpf.c tells more kinds of pages apart. For all other programs these do nothing. */
#ifndef ZMEM_EACH_PAGE
#define KEY_BITS			2
#define key_lazy(anon, flags)		0
#define each_key(w, key, entry, pfn)	(key)
#define count_each(w, key, count, part) ((void)0)
#endif

#ifdef ZMEM_SWAP_SLOTS

/* bpf/swap.bpf.c looks at no page. */
#define count_run(walk, key, count) ((void)0)
#define page_at(w, pfn)		    0
#define page_key(w, page)	    0

#else

#include "compound.bpf.h"

/* How often a page is mapped, and its kind (enum zmem_rss), in one number. */
#define PAGE_KEY(maps, kind) ((__u64)(maps) << KEY_BITS | (kind))
#define KEY_MAPS(key)	     ((__u32)((key) >> KEY_BITS))
#define KEY_KIND(key)	     ((__u32)(key)&3)

/* Adds `count` pages with that key to the result. */
__noinline int count_run(walk_ref walk, __u64 key, __u64 count)
{
	struct page_walk *w = walk_get(walk);
	__u32 part, maps = KEY_MAPS(key), kind = KEY_KIND(key);

	if (!w || !count)
		return 0;
	part = 1U << (page_bits(w) + ZMEM_PSS_SHIFT);
	if (!maps) {
		w->pages.flags |= ZMEM_WALK_UNKNOWN;
		return 0;
	}
	if (maps > 1)
		part /= maps;
	else
		w->pages.unique += count;
	w->pages.seen[kind] += count;
	w->pages.pss[kind] += part * count;
	count_each(w, key, count, part);
	return 0;
}

/*
 * Returns the kind of a page from its folio, as mm_counter() does: FILE 0, ANON 1, SHMEM 3. It has
 * no branch: a branch would double the verifier's work for all later code.
 */
static __always_inline __u32 page_kind(const struct page_walk *w, __u64 flags, __u64 mapping)
{
	__u64 swapbacked = flags >> bpf_core_enum_value(enum pageflags, PG_swapbacked) & 1;
	__u64 anon = w->anon_all | (mapping & w->anon_mask);

	return anon | ((anon - 1) & swapbacked * ZMEM_RSS_SHMEM) | key_lazy(anon, flags);
}

/*
 * Returns how often a page of a large folio is mapped, by itself and as part of the whole
 * (folio_precise_page_mapcount()). Returns 0 if the count cannot be right; count_run() then rejects
 * the walk. Kernels with CONFIG_NO_PAGE_MAPCOUNT do not count mappings of single pages.
 */
static __always_inline __u64 large_maps(struct page_walk *w, __u64 page, __u64 head)
{
	__s32 own = (__s32)kread_raw(__u32, page + PAGE_MAPCOUNT) + 1, entire;

	if (has_compound_maps())
		return compound_maps(own, head, kread_raw(__u64, head + FOLIO_MAPPING));
	entire = folio_entire(head);
	if (own < 0 || entire < 0)
		return 0;
	if (w->huge)
		w->huge_maps -= own;
	else if (!own)
		return 0;
	return (__u64)(own + entire);
}

static __always_inline __u64 page_at(const struct page_walk *w, __u64 pfn)
{
	return w->at.vmemmap + pfn * PAGE_STRUCT_SIZE;
}

static __always_inline __u64 page_head(__u64 page)
{
	__u64 info = kread_raw(__u64, page + PAGE_INFO);

	return info & 1 ? tail_head(page, info) : page;
}

/* Returns the key of a page of a large folio; `info` is the PAGE_INFO word of the page. */
__noinline __u64 large_key(walk_ref walk, __u64 page, __u64 info)
{
	struct page_walk *w = walk_get(walk);
	__u64 head = info & 1 ? tail_head(page, info) : page;

	if (!w)
		return 0;
	return PAGE_KEY((__u32)large_maps(w, page, head),
			page_kind(w, kread_raw(__u64, head + PAGE_FLAGS),
				  kread_raw(__u64, head + FOLIO_MAPPING)));
}

/* Returns the key of a page that a present entry maps. */
static __always_inline __u64 page_key(struct page_walk *w, __u64 page)
{
	const volatile void *words = kblock(walk_copy(w, page), page, sizeof(walk_copy(w, page)));
	__u64 flags = kblock_word(words, PAGE_FLAGS), info = kblock_word(words, PAGE_INFO);
	__u64 mapping = kblock_word(words, FOLIO_MAPPING);
	__u32 maps = kblock_word32(words, PAGE_MAPCOUNT) + 1;

	if ((info & 1) | (flags >> bpf_core_enum_value(enum pageflags, PG_head) & 1))
		return large_key(walk_ref_of(w), page, info);
	return PAGE_KEY(maps, page_kind(w, flags, mapping));
}

#endif

#endif
