/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Whether the memory cgroup of a process, or one above it, is near its limit or memory.high: then
 * user space reads the cgroups, and else it need not.
 */
#ifndef ZMEM_NEAR_LIMIT_BPF_H
#define ZMEM_NEAR_LIMIT_BPF_H

#include "cgroup_path.bpf.h"
#include "zmem/record.h"

/* PAGE_COUNTER_MAX (include/linux/page_counter.h), in pages of 4 KiB or more: no limit. */
#define NO_LIMIT      (1ULL << 50)
#define LIMITS_LEVELS 16

static __always_inline bool is_near(__u64 usage, __u64 limit)
{
	return limit < NO_LIMIT && usage >= limit - limit / 8;
}

/* Returns flags. A global function: verified once. */
own_frame_function int near_limit(__u64 css_set)
{
	__u64 css = memory_css(css_set), counter;

	if (!css)
		return 0;
	counter = css - koffset(struct mem_cgroup___limits, css) +
		  koffset(struct mem_cgroup___limits, memory);
	for (int i = 0; i < LIMITS_LEVELS && counter; i++) {
		const struct page_counter *c = kcast(struct page_counter, counter);
		__u64 usage = kget(c, usage.counter);

		if (is_near(usage, kget(c, max)) || is_near(usage, kget(c, high)))
			return ZMEM_NEAR_LIMIT;
		counter = kaddr(c, parent);
	}
	return 0;
}

/* A process in the same cgroups as its parent is not looked at: the parent tells. */
static __always_inline void read_near_limit(const struct task_struct *task, __u64 css_set,
					    struct zmem_record *r)
{
	if (!bpf_core_field_exists(struct page_counter, high) ||
	    !bpf_core_field_exists(struct mem_cgroup___limits, memory) ||
	    !bpf_core_enum_value_exists(enum cgroup_subsys_id, memory_cgrp_id))
		return;
	r->valid |= ZMEM_VALID_LIMIT;
	if (!r->ppid || kaddr(kget(task, real_parent), cgroups) != css_set)
		r->flags |= (__u32)near_limit(css_set);
}

#endif
