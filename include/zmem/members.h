/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Members of the kernel's types. User space finds their offsets before it loads a program
 * (src/load/kernel_members.c).
 *
 * The kernel finds all others by CO-RE. It keeps the types that it found in a cache of 31 places;
 * the hash of a type's name gives the place (check_cand_cache(), kernel/bpf/btf.c). If two types of
 * a program have the same place, each drives out the other at every load, and the kernel then
 * searches its 130,000 types, for 0.4 ms. The types below have the place of one that many programs
 * need: folio that of mm_struct, anon_vma of vm_area_struct, task_delay_info of pid, super_block of
 * address_space. Those of cgroups are here because each further type takes as long, once.
 */
#ifndef ZMEM_MEMBERS_H
#define ZMEM_MEMBERS_H

#ifndef __bpf__
#include <linux/types.h>
#endif

/* Members of one type stand together. */
#define ZMEM_MEMBERS(M)                                                                            \
	M(anon_vma, root)                                                                          \
	M(anon_vma, num_children) /* backported to 5.10 and 5.15 */                                \
	M(css_set, subsys)                                                                         \
	M(folio, mapping) /* there is no struct folio before 5.16 */                               \
	M(folio, lru)                                                                              \
	M(folio, private) /* of a page of the swap cache: its swp_entry_t */                       \
	M(folio, _mapcount)                                                                        \
	M(folio, _flags_1) /* the first member of the second page */                               \
	M(folio, _large_mapcount)                                                                  \
	M(folio, _entire_mapcount)                                                                 \
	M(folio, _nr_pages_mapped) /* since 6.2 */                                                 \
	M(folio, _folio_order)	   /* until 6.5; then in _flags_1 */                               \
	M(folio, _folio_dtor)	   /* until 6.5 */                                                 \
	M(mem_cgroup, css)                                                                         \
	M(mem_cgroup, memory)                                                                      \
	M(page_counter, usage)                                                                     \
	M(page_counter, high) /* since 5.8 */                                                      \
	M(page_counter, max)                                                                       \
	M(page_counter, parent)                                                                    \
	M(super_block, s_list)                                                                     \
	M(super_block, s_dev)                                                                      \
	M(super_block, s_type)                                                                     \
	M(super_block, s_op)                                                                       \
	M(super_block, s_magic)                                                                    \
	M(super_block, s_root)                                                                     \
	M(super_block, s_inodes)                                                                   \
	M(super_block, s_mounts) /* the first mount, since 6.18; before, the head of a list */     \
	M(task_delay_info, swapin_start)                                                           \
	M(task_delay_info, swapin_count)                                                           \
	M(task_delay_info, swapin_delay)                                                           \
	M(task_delay_info, freepages_delay)                                                        \
	M(task_delay_info, thrashing_delay)                                                        \
	M(task_delay_info, compact_delay) /* since 5.17, like swapin_start */

/* Values of enumerators. A kernel without memory cgroups has not got this one. */
#define ZMEM_ENUMERATORS(M)	  M(cgroup_subsys_id, memory_cgrp_id)

#define ZMEM_MEMBER(type, member) ZMEM_MEMBER_##type##_##member,
enum zmem_member { ZMEM_MEMBERS(ZMEM_MEMBER) ZMEM_ENUMERATORS(ZMEM_MEMBER) ZMEM_MEMBERS_COUNT };
#undef ZMEM_MEMBER

struct zmem_members {
	/* Never set. A valid offset is an index of this array (member.bpf.h). */
	__u8 bytes[2048];
	/* In bytes, plus 1, or the value of an enumerator, plus 1; 0: the kernel has no such
	 * member. */
	__u32 offset[ZMEM_MEMBERS_COUNT];
};

#endif
