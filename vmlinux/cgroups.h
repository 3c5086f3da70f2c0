/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The kernel types of cgroups that bpf/cgroup_path.bpf.h and bpf/limits.bpf.h read, by the rules of
 * vmlinux.h.
 */
#ifndef ZMEM_VMLINUX_CGROUPS_H
#define ZMEM_VMLINUX_CGROUPS_H

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

/* The value is the running kernel's; absent without CONFIG_MEMCG. */
enum cgroup_subsys_id {
	memory_cgrp_id,
};

struct kernfs_node {
	struct kernfs_node *__parent;
	const char *name;
	unsigned long long id; /* since Linux 5.5; its inode number */
};

struct cgroup_root;

struct cgroup {
	struct kernfs_node *kn;
	struct cgroup_root *root;
};

struct cgroup_subsys_state {
	struct cgroup *cgroup;
	struct cgroup_subsys_state *parent;
};

/* In pages; PAGE_COUNTER_MAX: no limit (include/linux/page_counter.h). */
struct page_counter {
	atomic_long_t usage;
	unsigned long max;
};

struct mem_cgroup___limits {
	struct cgroup_subsys_state css;
	struct page_counter memory;
	struct page_counter swap;  /* v2 */
	struct page_counter memsw; /* v1: memory and swap */
	bool oom_group;		   /* v2: memory.oom.group */
};

/* Its values are those of enum zmem_oom_constraint (include/linux/oom.h). */
enum oom_constraint {
	CONSTRAINT_NONE,
};

struct oom_control {
	struct mem_cgroup___limits *memcg;
	int order;
	enum oom_constraint constraint;
};

struct css_set {
	struct cgroup_subsys_state *subsys[1];
	struct cgroup *dfl_cgrp;
};

struct cgroup_namespace {
	struct css_set *root_cset;
};

struct nsproxy {
	struct cgroup_namespace *cgroup_ns;
};

/* Until 6.14. */
struct kernfs_node___pre615 {
	struct kernfs_node___pre615 *parent;
};

#pragma clang attribute pop

#endif
