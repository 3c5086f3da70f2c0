/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Counts the mappings of a large folio, by its head page. For kernels with struct folio (6.2 and
 * later).
 */
#ifndef ZMEM_FOLIO_BPF_H
#define ZMEM_FOLIO_BPF_H

#include "compound.bpf.h"

static __always_inline bool is_large(__u64 page)
{
	return (kread_raw(__u64, page + PAGE_INFO) & 1) |
	       (kread_raw(__u64, page + PAGE_FLAGS) >>
			bpf_core_enum_value(enum pageflags, PG_head) &
		1);
}

struct folio_sum {
	__u64 page;
	__u32 maps;
};

static long folio_add_page(__u32 turn, struct folio_sum *s)
{
	s->maps += kread_raw(__u32, s->page + PAGE_MAPCOUNT) + 1;
	s->page += PAGE_STRUCT_SIZE;
	return 0;
}

/* Counts mappings of the folio as a whole and of each of its pages. */
static __always_inline __u32 folio_mappings(__u64 head, __u64 pages)
{
	struct folio_sum s = {.page = head};

	if (has_folio_maps())
		return folio_maps(head);
	bpf_loop((__u32)pages, folio_add_page, &s, 0);
	return s.maps + folio_entire(head);
}

#endif
