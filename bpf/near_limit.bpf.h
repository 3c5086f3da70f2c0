/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Whether the memory cgroup of a process, or one above it, is near its limit or memory.high: then
 * user space reads the cgroups, and else it need not.
 */
#ifndef ZMEM_NEAR_LIMIT_BPF_H
#define ZMEM_NEAR_LIMIT_BPF_H

#include "member.bpf.h"
#include "zmem/record.h"

/* PAGE_COUNTER_MAX (include/linux/page_counter.h), in pages of 4 KiB or more: no limit. */
#define NO_LIMIT      (1ULL << 50)
#define LIMITS_LEVELS 16

/* 1 or 0. Each branch would double what the verifier looks at; no value has the highest bit. */
static __always_inline __u64 is_less(__u64 a, __u64 b)
{
	return (a - b) >> 63;
}

static __always_inline __u64 is_near(__u64 usage, __u64 limit)
{
	return is_less(limit, NO_LIMIT) & ~is_less(usage, limit - (limit >> 3));
}

#define COUNTER(at, member) kread64((at) + member_place(page_counter, member))

struct limit_walk {
	__u64 counter, near;
};

/*
 * One of the two is inline, as a light skeleton has room for 32 functions. With probe reads it is
 * the step, as a stack has room for 8 calls.
 */
#if defined(ZMEM_OLD) || defined(ZMEM_PROBE_READS)
#define STEPS_ARE_INLINE 1
#define step_function	 static __always_inline
#define near_function	 __noinline
#else
#define STEPS_ARE_INLINE 0
#define step_function	 static
#define near_function	 static __always_inline
#endif

step_function long limit_step(__u32 index, struct limit_walk *w)
{
	__u64 usage = COUNTER(w->counter, usage);

	w->near |= is_near(usage, COUNTER(w->counter, max)) |
		   is_near(usage, COUNTER(w->counter, high));
	w->counter = COUNTER(w->counter, parent);
	return !w->counter;
}

/* The step is verified once, where the kernel can. */
static __always_inline void walk_limits(struct limit_walk *w)
{
#if STEPS_ARE_INLINE
	for (__u32 i = 0; i < LIMITS_LEVELS; i++) {
		if (limit_step(i, w))
			return;
	}
#else
	bpf_loop(LIMITS_LEVELS, limit_step, w, 0);
#endif
}

/* Returns flags. */
near_function int near_limit(__u64 css_set)
{
	__u64 css = kread64(css_set + member_place(css_set, subsys) +
			    sizeof(__u64) * member_place(cgroup_subsys_id, memory_cgrp_id));
	struct limit_walk w = {};

	if (!css)
		return 0;
	w.counter = css - member_place(mem_cgroup, css) + member_place(mem_cgroup, memory);
	walk_limits(&w);
	return w.near ? ZMEM_NEAR_LIMIT : 0;
}

/* A process in the same cgroups as its parent is not looked at: the parent tells. */
static __always_inline void read_near_limit(const struct task_struct *task, __u64 css_set,
					    struct zmem_record *r)
{
	/* A kernel with memory cgroups has the others. To remove a branch takes 0.1 ms. */
	if (!found_member(cgroup_subsys_id, memory_cgrp_id))
		return;
	r->valid |= ZMEM_VALID_LIMIT;
	if (!r->ppid || kaddr(kget(task, real_parent), cgroups) != css_set)
		r->flags |= (__u32)near_limit(css_set);
}

#endif
