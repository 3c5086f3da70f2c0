/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The memory of a visit to a process: a room, which is a value of a map. The stack has 512 bytes,
 * which is less than a visit needs. And from Linux 7.1 on the verifier follows a pointer to the
 * stack through each path of calls (bpf_compute_subprog_arg_access(), kernel/bpf/liveness.c), which
 * takes longer than all else. It does not follow a pointer to a value of a map.
 *
 * A program defines struct room; its first member is a struct room_head. A visit takes a room
 * and gives it back before it returns. Each CPU has two rooms, one for root and one for others:
 * readers of a pin cannot take the room of root. A visit that was preempted keeps its room. The
 * next visit on that CPU then finds none and is repeated: its program returns ROOM_RETRY, and
 * read(2) returns EAGAIN (bpf_seq_read(), kernel/bpf/bpf_iter.c).
 */
#ifndef ZMEM_ROOM_BPF_H
#define ZMEM_ROOM_BPF_H

#include "zmem/record.h"

#define ROOM_RETRY 1

struct room_head {
	__u32 taken;
	__u32 number;
};

struct room;

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1); /* the loader sets it */
	__type(key, __u32);
	__type(value, struct room);
} rooms SEC(".maps");

#ifdef ZMEM_OLD

/* Atomics came with 5.12. An update with BPF_NOEXIST takes a room. */
#define BPF_NOEXIST 1

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1); /* the loader sets it */
	__type(key, __u32);
	__type(value, __u32);
} rooms_taken SEC(".maps");

static __always_inline bool room_is_free(struct room_head *head, __u32 number)
{
	return bpf_map_update_elem(&rooms_taken, &number, &number, BPF_NOEXIST) == 0;
}

static __always_inline void room_release(struct room *room)
{
	__u32 number = ((struct room_head *)room)->number;

	bpf_map_delete_elem(&rooms_taken, &number);
}

#else

static __always_inline bool room_is_free(struct room_head *head, __u32 number)
{
	return __sync_val_compare_and_swap(&head->taken, 0, 1) == 0;
}

static __always_inline void room_release(struct room *room)
{
	__sync_lock_test_and_set(&((struct room_head *)room)->taken, 0);
}

#endif

/* Returns NULL if the room is not free. Its contents are those of an earlier visit. */
static __always_inline struct room *room_acquire(void)
{
	__u32 number = bpf_get_smp_processor_id() * 2 + !!(__u32)bpf_get_current_uid_gid();
	struct room_head *head = bpf_map_lookup_elem(&rooms, &number);

	if (!head || !room_is_free(head, number))
		return 0;
	head->number = number;
	return (struct room *)head;
}

#endif
