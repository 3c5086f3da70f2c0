/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads charges and limits of memory cgroups (mm/memcontrol.c), and which is below which. */
#ifndef ZMEM_LIMITS_BPF_H
#define ZMEM_LIMITS_BPF_H

#include "cgroups.h"
#include "zmem/oom.h"

static __always_inline __u64 parent_css(__u64 css)
{
	return kaddr(kcast(struct cgroup_subsys_state, css), parent);
}

/* A mem_cgroup begins with its css. */
static __always_inline void read_level(__u64 css, bool v2, struct zmem_oom_level *ret)
{
	const struct mem_cgroup___limits *memcg =
		kcast(struct mem_cgroup___limits, css - koffset(struct mem_cgroup___limits, css));
	const struct page_counter *swap = v2 ? &memcg->swap : &memcg->memsw;

	ret->usage = kget(&memcg->memory, usage.counter);
	ret->max = kget(&memcg->memory, max);
	ret->swap_usage = kget(swap, usage.counter);
	ret->swap_max = kget(swap, max);
}

/* memory.oom.group (Linux 4.19) */
static __always_inline bool kills_group(__u64 css)
{
	const struct mem_cgroup___limits *memcg =
		kcast(struct mem_cgroup___limits, css - koffset(struct mem_cgroup___limits, css));

	return bpf_core_field_exists(struct mem_cgroup___limits, oom_group) &&
	       kget(memcg, oom_group);
}

/* Whether a cgroup is the one of `above`, or below it. A global function is verified once. */
__noinline int css_is_below(__u64 css, __u64 above)
{
	for (int i = 0; i <= ZMEM_OOM_LEVELS && css; i++) {
		if (css == above)
			return 1;
		css = parent_css(css);
	}
	return 0;
}

#endif
