/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A program that walks the processes of a map, each for less than a millisecond a visit, until
 * user space has what it wants of them. The program defines WANT, the value of the map, which
 * begins with a struct zmem_visit_want, and these:
 *
 *   before_walk(w, leader, want)  sets in the walk what is asked for
 *   after_walk(w, leader, want)   takes the sums; it may set ZMEM_WALK_MOVED
 *
 * It is loaded by the process that reads it, and is never pinned. The position of the direct map is
 * that of the program that walks pages, which calibrated it.
 */
#ifndef ZMEM_VISIT_BPF_H
#define ZMEM_VISIT_BPF_H

struct room {
	struct room_head head;
	struct page_walk walk;
};

#include "page_walk.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

static __always_inline void before_walk(struct page_walk *w, __u64 leader, WANT *want);
static __always_inline void after_walk(struct page_walk *w, __u64 leader, WANT *want);

/* The processes to walk, by their number in the reader's namespace. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 65536);
	__type(key, __s32);
	__type(value, WANT);
} wanted SEC(".maps");

/* NULL: the process is not wanted. */
static __always_inline WANT *want_of(__u64 leader, __s32 *ret_pid)
{
	struct pid_view view = reader_view();

	*ret_pid = pid_number(kget(kcast(struct task_struct, leader), thread_pid), &view);
	return bpf_map_lookup_elem(&wanted, ret_pid);
}

/* The start time as struct zmem_record has it. */
static __always_inline __u64 start_of(__u64 leader)
{
	return kget(kcast(struct task_struct, leader), start_boottime) / NS_PER_TICK * NS_PER_TICK;
}

static __always_inline __u64 memory_of(__u64 task)
{
	const struct task_struct *t = kcast(struct task_struct, task);
	__u64 mm = kaddr(t, mm);

	return mm ? mm_identity(mm, kget(t, self_exec_id)) : 0;
}

/* A process with an exited leader lives on in other threads. */
static __always_inline __u64 task_with_mm(__u64 leader)
{
	return kaddr(kcast(struct task_struct, leader), mm) ? leader : find_mm_thread(leader, 0);
}

static __always_inline void visit(const struct zmem_layout *at, __u64 leader, WANT *want,
				  struct zmem_visit *ret)
{
	struct zmem_visit_want *what = (struct zmem_visit_want *)want;
	struct page_walk *w;
	struct room *room;
	__u64 task, mm;

	task = task_with_mm(leader);
	mm = task ? memory_of(task) : 0;
	ret->flags = ZMEM_WALK_MOVED;
	if (!mm || (what->mm && what->mm != mm))
		return;
	room = room_acquire();
	if (!room) {
		ret->flags |= ZMEM_WALK_OFF;
		return;
	}
	what->mm = mm;
	w = walk_begin(room);
	w->mm = kaddr(kcast(struct task_struct, task), mm);
	if (w->mm) {
		w->at = *at;
		w->next = what->cursor;
		before_walk(w, leader, want);
		walk_pages(w);
		after_walk(w, leader, want);
		ret->cursor = w->pages.cursor;
		ret->flags = w->pages.flags & ~ZMEM_WALK_EXCLUSIVE;
		if (memory_of(task) != mm)
			ret->flags |= ZMEM_WALK_MOVED;
	}
	room_release(room);
}

/* Visits the process if the task is its leader, and writes the record, which `ret` begins. */
static __always_inline int write_visit(struct bpf_iter__task *ctx, const struct zmem_layout *at,
				       struct zmem_visit *ret, __u32 size)
{
	struct task_struct *task = ctx->task;
	__u64 leader;
	WANT *want;
	__s32 pid;

	if (!task)
		return 0;
	leader = kread_raw(__u64, &task->group_leader);
	barrier_var(leader);
	if (leader != (__u64)task)
		return 0;
	want = want_of(leader, &pid);
	if (!want)
		return 0;
	__builtin_memset(ret, 0, size);
	ret->pid = pid;
	ret->start_boottime_ns = start_of(leader);
	visit(at, leader, want, ret);
	bpf_seq_write(ctx->meta->seq, ret, size);
	return 0;
}

#endif
