// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* iter/task: one struct zmem_record for each process, its exact memory counters in it. */
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
#include "cipher.bpf.h"
#include "task_read.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

SEC("iter/task")
int task_counters(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct zmem_record r = {};
	__u64 leader;

	if (!task)
		return 0;
	/* Every thread comes by; a process is reported once, at its leader. */
	leader = kread_raw(__u64, &task->group_leader);
	if (leader != (__u64)task)
		return 0;
	if (!read_task(leader, &r))
		return 0;
	hide_addresses(&r);
	bpf_seq_write(ctx->meta->seq, &r, r.size == sizeof(r) ? sizeof(r) : ZMEM_RECORD_SHORT);
	return 0;
}
