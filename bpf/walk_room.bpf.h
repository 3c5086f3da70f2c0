/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How functions find the walk, which is in struct room (room.bpf.h):
 *
 *   walk_begin(room)    returns the walk of this visit, all 0
 *   walk_ref_of(w)      returns the argument by which functions find the walk
 *   walk_get(walk)      returns the walk of that argument; only to the verifier it may be NULL
 *   walk_is_lost(w)     is true if it is NULL, for steps
 *   walk_copy(w, name)  is the memory for kblock()
 */
#ifndef ZMEM_WALK_ROOM_BPF_H
#define ZMEM_WALK_ROOM_BPF_H

#include "walk_state.bpf.h"

static __always_inline struct page_walk *walk_begin(struct room *room)
{
	struct page_walk *w = &room->walk;

#ifdef ZMEM_PROBE_READS
	__builtin_memset(w, 0, __builtin_offsetof(struct page_walk, room.entries));
	w->room.number = room->head.number;
#else
	__builtin_memset(w, 0, sizeof(*w));
#endif
	return w;
}

#ifdef ZMEM_PROBE_READS
#define walk_copy(w, name) (w)->room.name
#else
#define walk_copy(w, name) 0
#endif

#ifdef ZMEM_OLD

#define walk_is_lost(w) (!(w))

static __always_inline struct page_walk *walk_get(walk_ref walk)
{
	struct room *room = bpf_map_lookup_elem(&rooms, &walk);

	if (!room)
		return 0;
	/* Else clang 19 adds the offset before the comparison. */
	barrier_var(room);
	return &room->walk;
}

static __always_inline walk_ref walk_ref_of(const struct page_walk *w)
{
	return w->room.number;
}

#else

#define walk_is_lost(w) false

static __always_inline struct page_walk *walk_get(walk_ref walk)
{
	return walk;
}

static __always_inline walk_ref walk_ref_of(struct page_walk *w)
{
	return w;
}

#endif

#endif
