// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* iter/task: writes one struct zmem_record with exact memory counters for each process. */
#include "vmlinux.h"
#include "flavors.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#ifndef ZMEM_PROBE_READS
#include "kfuncs.h"
#endif
#include "zmem/record.h"
#include "zmem/setup.h"
#include "kread.bpf.h"
#ifndef ZMEM_OLD
#include "percpu.bpf.h"
#endif
#include "scramble.bpf.h"
#include "task_read.bpf.h"
#include "room.bpf.h"
#ifndef ZMEM_PROBE_READS
#include "reader.bpf.h"
#endif

struct room {
	struct room_head head;
	struct zmem_record record;
};

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/*
 * Sets ZMEM_IN_FLUX if a thread of the process is in flux, and only if the reader requests
 * that one process. `regs`: see struct visit in task_pss.bpf.c. Kernels without casts may lack
 * bpf_task_pt_regs() (before 5.15).
 */
static __noinline int flag_flux(__u64 leader, __u64 regs, struct zmem_record *r)
{
#ifndef ZMEM_PROBE_READS
	if (reader_question().what.pid && find_thread_in_flux(leader, leader + regs))
		r->flags |= ZMEM_IN_FLUX;
#endif
	return 0;
}

SEC("iter/task")
int task_counters(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct room *room;
	struct zmem_record *r;
	__u64 leader, own, regs = 0;

	if (!task)
		return 0;
#ifndef ZMEM_PROBE_READS
	/* To the verifier the difference of two pointers is a number. */
	regs = (__u64)bpf_task_pt_regs(task) - (__u64)task;
#endif
	/* The iterator visits every thread; a process is reported once, at its leader. */
	own = leader = kread_raw(__u64, &task->group_leader);
	/* Prevents the compiler from using the pointer in place of the equal number. */
	barrier_var(own);
	if (own != (__u64)task)
		return 0;
	room = room_acquire();
	if (!room)
		return ROOM_RETRY;
	r = &room->record;
	__builtin_memset(r, 0, sizeof(*r));
	if (read_task(leader, r)) {
		flag_flux(leader, regs, r);
		scramble_addresses(r);
		bpf_seq_write(ctx->meta->seq, r,
			      r->kind == ZMEM_PROCESS ? sizeof(*r) : ZMEM_RECORD_SHORT);
	}
	room_release(room);
	return 0;
}
