/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The layout of struct page, and how kernels until 6.2 count the mappings of a compound page, which
 * is a large folio today.
 */
#ifndef ZMEM_COMPOUND_BPF_H
#define ZMEM_COMPOUND_BPF_H

#include "kread.bpf.h"
#include "member.bpf.h"

/* Offsets in struct page. Its declaration has changed (memdesc_flags_t in 6.18). */
#define PAGE_FLAGS 0
#define PAGE_INFO  8 /* compound_head, from 7.1 on compound_info */

/*
 * A folio overlays its first struct pages: its per-page members are those of each page. Before 5.16
 * there is only struct page.
 */
#define has_folio() (!OLD_LAYOUTS || found_member(folio, mapping))
#define FOLIO_MAPPING                                                                              \
	(has_folio() ? member_offset(folio, mapping) : koffset(struct page___old, mapping))
#define PAGE_MAPCOUNT                                                                              \
	(has_folio() ? member_offset(folio, _mapcount) : koffset(struct page___old, _mapcount))
#define PAGE_STRUCT_SIZE                                                                           \
	(OLD_LAYOUTS ? (__u64)bpf_core_type_size(struct page___old)                                \
		     : member_offset(folio, _flags_1))

/* Returns the head page of the folio, for a page with bit 0 of its compound_head set. */
static __always_inline __u64 tail_head(__u64 page, __u64 info)
{
	/*
	 * Since Linux 7.1 (compound_info) `info` may be a mask for the page's own address. No
	 * struct page has an address that high (arm64: VMEMMAP_END).
	 */
	return info >= 0xffffffffc0000000ULL ? page & info & ~1ULL : info - 1;
}

/* True if the second struct page of a compound page counts the mappings of the whole. */
#define has_compound_maps()                                                                        \
	(OLD_LAYOUTS && bpf_core_field_exists(struct page___old, compound_mapcount))

static __always_inline __s32 compound_entire(__u64 head)
{
	return (__s32)kread_raw(__u32, head + PAGE_STRUCT_SIZE +
					       koffset(struct page___old, compound_mapcount)) +
	       1;
}

/*
 * True if anonymous pages of it are also mapped by themselves; each page is then counted once more
 * (PageDoubleMap(), until 6.1).
 */
static __always_inline __u32 compound_double(__u64 head)
{
	if (!bpf_core_enum_value_exists(enum pageflags___old, PG_double_map___old))
		return 0;
	return kread_raw(__u64, head + PAGE_STRUCT_SIZE + PAGE_FLAGS) >>
		       bpf_core_enum_value(enum pageflags___old, PG_double_map___old) &
	       1;
}

/*
 * Returns how often a page is mapped; `own` is its own count (__page_mapcount()). 0 is an
 * impossible answer. Until 6.1 the pages of a file count the mappings of the whole themselves.
 */
static __always_inline __u64 compound_maps(__s32 own, __u64 head, __u64 mapping)
{
	__s32 maps = own;

	if ((mapping & 1) || !bpf_core_enum_value_exists(enum pageflags___old, PG_double_map___old))
		maps += compound_entire(head) - (__s32)compound_double(head);
	return own < 0 || maps < 0 ? 0 : maps;
}

/*
 * Returns how often a huge page is mapped, by the whole and by its pages, if that is known without
 * a look at each page: an anonymous one with no more references than mappings of the whole, because
 * each mapping of one of its pages has a reference as well. Else 0. PageDoubleMap() alone does not
 * tell: a page that was moved has lost it (remove_migration_pte(), mm/migrate.c).
 */
static __always_inline __s32 compound_all(__u64 head, __u64 mapping, __s32 entire)
{
	if (!(mapping & 1) ||
	    !bpf_core_enum_value_exists(enum pageflags___old, PG_double_map___old))
		return 0;
	if (compound_double(head) ||
	    (__s32)kread_raw(__u32, head + koffset(struct page___old, _refcount)) != entire)
		return 0;
	return entire;
}

/* How often a folio is mapped as a whole; for kernels with struct folio. */
static __always_inline __s32 folio_entire(__u64 head)
{
	return (__s32)kread_raw(__u32, head + member_offset(folio, _entire_mapcount)) + 1;
}

/*
 * How often it is mapped, by the whole and by its pages. Since 6.10 (05c5323b2a34, "mm: track
 * mapcount of large folios in single value").
 */
#define has_folio_maps() found_member(folio, _large_mapcount)
static __always_inline __s32 folio_maps(__u64 head)
{
	return (__s32)kread_raw(__u32, head + member_offset(folio, _large_mapcount)) + 1;
}

/* In _nr_pages_mapped: the folio is mapped as a whole; else the number (mm/internal.h). */
#define ENTIRELY_MAPPED 0x800000

/*
 * How many pages of a large folio are mapped by themselves, if none maps the whole; 0: the kernel
 * does not keep that (before 6.2; CONFIG_NO_PAGE_MAPCOUNT).
 */
static __always_inline __u64 pages_mapped(__u64 head)
{
	__s32 pages;

	if (!found_member(folio, _nr_pages_mapped))
		return 0;
	pages = (__s32)kread_raw(__u32, head + member_offset(folio, _nr_pages_mapped));
	return pages > 0 && !(pages & ENTIRELY_MAPPED) ? (__u64)pages : 0;
}

/* The order of a compound page, from its second struct page. */
static __always_inline __u32 compound_order(__u64 head)
{
	__u64 order = PAGE_STRUCT_SIZE;

	if (OLD_LAYOUTS && bpf_core_field_exists(struct page___old, compound_order))
		order += koffset(struct page___old, compound_order);
	else if (found_member(folio, _folio_order))
		order = member_offset(folio, _folio_order);
	return kread_raw(__u64, head + (order & ~7ULL)) >> (order & 7) * 8 & 0xff;
}

#endif
