/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What is known of a large folio as a whole, by its head page: its mappings. For kernels with
 * struct folio (6.2 and later).
 */
#ifndef ZMEM_FOLIO_BPF_H
#define ZMEM_FOLIO_BPF_H

#include "compound.bpf.h"

static __always_inline __s32 folio_entire(__u64 head)
{
	return (__s32)kread_raw(__u32, head + koffset(struct folio, _entire_mapcount)) + 1;
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

/*
 * All mappings of the folio as one, and of each of its pages. Since 6.10 the kernel keeps the sum
 * (05c5323b2a34, "mm: track mapcount of large folios in single value").
 */
static __always_inline __u32 folio_maps(__u64 head, __u64 pages)
{
	struct folio_sum s = {.page = head};

	if (bpf_core_field_exists(struct folio, _large_mapcount))
		return kread_raw(__u32, head + koffset(struct folio, _large_mapcount)) + 1;
	bpf_loop((__u32)pages, folio_add_page, &s, 0);
	return s.maps + folio_entire(head);
}

#endif
