/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads whole paths of cgroups (cgroup_path.bpf.h) into a room for each use. The program that
 * includes it defines PATH_USES: paths of other uses may be read on one CPU at once.
 */
#ifndef ZMEM_CGROUP_NAMES_BPF_H
#define ZMEM_CGROUP_NAMES_BPF_H

#include "cgroup_path.bpf.h"

/* The root of the caller's view of cgroups. */
static __always_inline __u64 current_root(void)
{
	const struct task_struct *reader = kcast(struct task_struct, bpf_get_current_task());

	if (!bpf_core_field_exists(struct task_struct, nsproxy) ||
	    !bpf_core_field_exists(struct cgroup_namespace, root_cset))
		return 0;
	return kaddr(kget(kget(reader, nsproxy), cgroup_ns), root_cset);
}

struct path_scratch {
	struct path_walk walk;
	__u32 words; /* of the names */
	__u64 names[2 * ZMEM_OOM_PATH_WORDS];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, PATH_USES);
	__type(key, __u32);
	__type(value, struct path_scratch);
} path_scratch SEC(".maps");

/* Reads one word of a path. Returns 1 at its end. */
static __always_inline long next_path_word(__u32 use)
{
	struct path_scratch *p = bpf_map_lookup_elem(&path_scratch, &use);
	__u32 at;

	if (!p || !path_next(&p->walk))
		return 1;
	at = p->words + p->walk.path.words;
	if (at >= 2 * ZMEM_OOM_PATH_WORDS)
		return 1;
	return !path_word(&p->walk, &p->names[at]);
}

#ifdef ZMEM_OLD
#define PATH_INNER 4

/* Global: verified once. */
__noinline int some_path_steps(__u32 use)
{
	for (__u32 i = 0; i < PATH_INNER; i++) {
		if (next_path_word(use))
			return 1;
	}
	return 0;
}

static __always_inline void walk_path(__u32 use)
{
	for (__u32 i = 0; i < PATH_STEPS / PATH_INNER + 1; i++) {
		if (some_path_steps(use))
			return;
	}
}
#else
static long path_step(__u32 index, void *use)
{
	return next_path_word(*(__u32 *)use);
}

static __always_inline void walk_path(__u32 use)
{
	bpf_loop(PATH_STEPS, path_step, &use, 0);
}
#endif

/* Appends the path of a css_set to the names; walk.path has its status and length. Verified once.
 */
__noinline int read_path(__u64 css_set, __u32 use)
{
	struct path_scratch *p = bpf_map_lookup_elem(&path_scratch, &use);

	if (!p || !path_begin(css_set, &p->walk))
		return 0;
	walk_path(use);
	if (p->walk.path.status == ZMEM_OOM_PATH_KNOWN)
		p->words += p->walk.path.words;
	else
		p->walk.path.words = 0;
	return 0;
}

/* Global: verified once. */
__noinline __u64 cgroup_number(__u64 css_set)
{
	struct path_walk w;

	if (!bpf_core_field_exists(struct task_struct, cgroups) ||
	    !bpf_core_field_exists(struct kernfs_node, id) || !path_begin(css_set, &w))
		return 0;
	return kget(kcast(struct kernfs_node, w.node), id);
}

#endif
