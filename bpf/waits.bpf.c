// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Counts the time that processes lose to reclaim, and the folios that they read from swap, where
 * the kernel does not account delays (kernel.task_delayacct is 0).
 *
 * The tracepoints are around try_to_free_pages() and try_to_free_mem_cgroup_pages() (mm/vmscan.c):
 * a task that is in them frees memory in place of its own work. A folio is read by
 * swap_read_folio(), until Linux 6.7 swap_readpage() (mm/page_io.c): the kernel's delay accounting
 * counts there, too.
 *
 * One variant serves all kernels, so it reads by probe reads; there are two in an event.
 */
#define ZMEM_PROBE_READS
#define ZMEM_OLD
#define ZMEM_STORED_VIEW
#include "vmlinux.h"
#include "flavors.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include "zmem/waits.h"
#include "pid_view.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, ZMEM_WAITS);
	__type(key, __u32);
	__type(value, struct zmem_wait);
} waits SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, ZMEM_WAITS_BEGUN);
	__type(key, __u32);
	__type(value, struct zmem_wait_begun);
} begun SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct zmem_waits_lost);
} lost SEC(".maps");

static __always_inline void lose(void)
{
	__u32 zero = 0;
	struct zmem_waits_lost *l = bpf_map_lookup_elem(&lost, &zero);

	if (l)
		__sync_fetch_and_add(&l->events, 1);
}

/* The entry of the current process, NULL if it is not in the namespace of the reader. */
static __always_inline struct zmem_wait *find_wait(void)
{
	__u32 tgid = bpf_get_current_pid_tgid() >> 32;
	const struct task_struct *task = kcast(struct task_struct, bpf_get_current_task());
	const struct task_struct *leader = kget(task, group_leader);
	struct zmem_wait *w = bpf_map_lookup_elem(&waits, &tgid);
	struct zmem_wait made = {.start_boottime_ns = kget(leader, start_boottime)};
	struct pid_view view;

	if (w && w->start_boottime_ns == made.start_boottime_ns)
		return w;
	view = reader_view();
	made.pid = pid_number(kget(leader, thread_pid), &view);
	if (!made.pid)
		return NULL;
	if (bpf_map_update_elem(&waits, &tgid, &made, 0)) {
		lose();
		return NULL;
	}
	return bpf_map_lookup_elem(&waits, &tgid);
}

SEC("raw_tp")
int reclaim_begin(void *ctx)
{
	__u64 pid_tgid = bpf_get_current_pid_tgid();
	__u32 tid = (__u32)pid_tgid;
	struct zmem_wait_begun b = {.ns = bpf_ktime_get_ns(), .tgid = pid_tgid >> 32};

	/* The time of a thread that is still in reclaim is added by the reader. */
	if (find_wait() && bpf_map_update_elem(&begun, &tid, &b, 0))
		lose();
	return 0;
}

SEC("raw_tp")
int reclaim_end(void *ctx)
{
	__u32 tid = (__u32)bpf_get_current_pid_tgid();
	const struct zmem_wait_begun *begin = bpf_map_lookup_elem(&begun, &tid);
	struct zmem_wait *w;
	__u64 took;

	if (!begin)
		return 0;
	took = bpf_ktime_get_ns() - begin->ns;
	bpf_map_delete_elem(&begun, &tid);
	w = find_wait();
	if (w)
		__sync_fetch_and_add(&w->reclaim_ns, took);
	return 0;
}

static __always_inline int count_swapin(void)
{
	struct zmem_wait *w = find_wait();

	if (w)
		__sync_fetch_and_add(&w->swapins, 1);
	return 0;
}

SEC("fentry/swap_read_folio")
int swap_in(void *ctx)
{
	return count_swapin();
}

SEC("fentry/swap_readpage")
int swap_in_old(void *ctx)
{
	return count_swapin();
}

/* Stores the namespace of the caller, which names pids. */
SEC("raw_tp")
int waits_setup(void *ctx)
{
	__u32 zero = 0;
	struct pid_view *view = bpf_map_lookup_elem(&stored_view, &zero);

	if (!view)
		return 1;
	*view = current_view();
	return 0;
}
