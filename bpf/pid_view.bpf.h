/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Numbers of processes as the reader sees them, in the reader's pid namespace. */
#ifndef ZMEM_PID_VIEW_BPF_H
#define ZMEM_PID_VIEW_BPF_H

#include "kread.bpf.h"

/*
 * The struct upid of `pid` at `level`, which is at most 32 (MAX_PID_NS_LEVEL). Both masks are for
 * the verifier alone: until Linux 6.9 it does not know the bounds of a product.
 */
static __always_inline const struct upid *pid_upid(const struct pid *pid, __u32 level)
{
	return kcast(struct upid,
		     (__u64)pid + koffset(struct pid, numbers) +
			     ((level & 63) * (__u64)bpf_core_type_size(struct upid) & 0xfff));
}

/* The pid namespace of the reader. */
struct pid_view {
	__u32 level;
	__u64 ns;
};

static __always_inline struct pid_view current_view(void)
{
	const struct task_struct *reader = kcast(struct task_struct, bpf_get_current_task());
	const struct pid *pid = kget(reader, thread_pid);
	struct pid_view view = {.level = kget(pid, level)};

	view.ns = kaddr(pid_upid(pid, view.level), ns);
	return view;
}

#ifdef ZMEM_STORED_VIEW
/* The current task is not the reader: the reader has stored its view. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct pid_view);
} stored_view SEC(".maps");

static __always_inline struct pid_view reader_view(void)
{
	__u32 zero = 0;
	const struct pid_view *stored = bpf_map_lookup_elem(&stored_view, &zero);

	return stored ? *stored : (struct pid_view){};
}
#else
#define reader_view current_view
#endif

/* Returns the number of `pid` in that namespace, 0 if it has none. */
static __always_inline __s32 pid_number(const struct pid *pid, const struct pid_view *view)
{
	const struct upid *upid;

	if (!pid || kget(pid, level) < view->level)
		return 0;
	upid = pid_upid(pid, view->level);
	return kaddr(upid, ns) == view->ns ? kget(upid, nr) : 0;
}

#endif
