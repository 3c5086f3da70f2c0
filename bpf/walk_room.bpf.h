/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where the state of a walk is: on the stack, or in a room of a map, because with copies of kernel
 * memory it is larger than the 512 bytes of stack.
 *
 *   WALK_TAKE(w)     declares `w`, the walk of this visit: all 0, or without room (walk_has_room())
 *   walk_give(w)     ends the visit
 *   walk_ref_of(w)   what functions are passed, walk_get(walk) what they get from it: NULL only to
 *                    the verifier; walk_is_lost(w) is that check, for steps
 *   walk_copy(w, name)  the memory for kblock()
 */
#ifndef ZMEM_WALK_ROOM_BPF_H
#define ZMEM_WALK_ROOM_BPF_H

#include "walk_state.bpf.h"

#ifdef ZMEM_PROBE_READS

/*
 * A visit takes a room and gives it back before it returns. A visit may be preempted, so there may
 * be as many as threads that read. Half of the rooms are for root: readers of a pin cannot take
 * them. An update with BPF_NOEXIST takes a room, because atomics came with 5.12.
 */
#define ROOMS_EACH  32
#define ROOMS	    (2 * ROOMS_EACH)
#define ROOM_TRIES  8
#define BPF_NOEXIST 1

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, ROOMS + 1); /* the last one is for visits without a room */
	__type(key, __u32);
	__type(value, struct page_walk);
} walk_rooms SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, ROOMS);
	__type(key, __u32);
	__type(value, __u32);
} walk_taken SEC(".maps");

static __always_inline struct page_walk *walk_take(void)
{
	__u32 first = (__u32)bpf_get_current_uid_gid() ? ROOMS_EACH : 0;
	__u32 cpu = bpf_get_smp_processor_id(), room = ROOMS;
	struct page_walk *w;

	for (__u32 i = 0; i < ROOM_TRIES; i++) {
		room = first + (cpu + i) % ROOMS_EACH;
		if (bpf_map_update_elem(&walk_taken, &room, &room, BPF_NOEXIST) == 0)
			break;
		room = ROOMS;
	}
	w = bpf_map_lookup_elem(&walk_rooms, &room);
	if (!w)
		return 0;
	if (room < ROOMS)
		__builtin_memset(w, 0, __builtin_offsetof(struct page_walk, room.entries));
	else
		w->pages.flags = ZMEM_WALK_MOVED; /* user space tries again */
	w->room.number = room;
	return w;
}

static __always_inline bool walk_has_room(const struct page_walk *w)
{
	return w->room.number < ROOMS;
}

static __always_inline void walk_give(struct page_walk *w)
{
	__u32 room = w->room.number;

	if (room < ROOMS)
		bpf_map_delete_elem(&walk_taken, &room);
}

#define WALK_TAKE(w)	   struct page_walk *w = walk_take()
#define walk_copy(w, name) (w)->room.name

#else

#define WALK_TAKE(w)                                                                               \
	struct page_walk room_ = {};                                                               \
	struct page_walk *w = &room_
#define walk_copy(w, name) 0

static __always_inline bool walk_has_room(const struct page_walk *w)
{
	return true;
}

static __always_inline void walk_give(struct page_walk *w)
{
}

#endif

#ifdef ZMEM_OLD

#define walk_is_lost(w) (!(w))

static __always_inline struct page_walk *walk_get(walk_ref walk)
{
	return bpf_map_lookup_elem(&walk_rooms, &walk);
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
