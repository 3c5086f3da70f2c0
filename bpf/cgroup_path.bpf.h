/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The path of the cgroup that a set of cgroups (css_set) has in the hierarchy with the memory
 * controller: the names of its directories (kernfs nodes) from the lowest one up, as whole words.
 */
#ifndef ZMEM_CGROUP_PATH_BPF_H
#define ZMEM_CGROUP_PATH_BPF_H

#include "cgroups.h"
#include "zmem/oom.h"

/* Each step but the last one, at the root, writes a word. */
#define PATH_STEPS (ZMEM_OOM_PATH_WORDS + 1)

struct path_walk {
	__u64 node;   /* the kernfs_node that is next */
	__u64 memory; /* that of the lowest cgroup with the memory controller */
	__u64 name;   /* of the node; 0: it has not begun */
	__u64 at;     /* bytes of the name that were written */
	struct zmem_oom_path path;
};

/* Until 6.14 the member has another name. */
static __always_inline __u64 parent_of(__u64 node)
{
	if (bpf_core_field_exists(struct kernfs_node, __parent))
		return kaddr(kcast(struct kernfs_node, node), __parent);
	return kaddr(kcast(struct kernfs_node___pre615, node), parent);
}

/* 0 if this kernel has no memory cgroups. */
static __always_inline __u64 memory_css(__u64 css_set)
{
	if (!bpf_core_enum_value_exists(enum cgroup_subsys_id, memory_cgrp_id))
		return 0;
	return kread64(css_set + koffset(struct css_set, subsys) +
		       sizeof(__u64) * bpf_core_enum_value(enum cgroup_subsys_id, memory_cgrp_id));
}

/* Returns false if this kernel has no memory cgroups. */
static __always_inline bool path_begin(__u64 css_set, struct path_walk *w)
{
	__u64 cgroup, leaf;

	*w = (struct path_walk){};
	if (!css_set || !bpf_core_field_exists(struct css_set, dfl_cgrp) ||
	    !bpf_core_enum_value_exists(enum cgroup_subsys_id, memory_cgrp_id))
		return false;
	cgroup = kaddr(kcast(struct cgroup_subsys_state, memory_css(css_set)), cgroup);
	leaf = kaddr(kcast(struct css_set, css_set), dfl_cgrp);
	/* In v1 each cgroup of the hierarchy has the controller; in v2 maybe only one above. */
	if (kaddr(kcast(struct cgroup, cgroup), root) != kaddr(kcast(struct cgroup, leaf), root))
		leaf = cgroup;
	w->memory = kaddr(kcast(struct cgroup, cgroup), kn);
	w->node = kaddr(kcast(struct cgroup, leaf), kn);
	return w->node;
}

/*
 * Goes to the next word. Returns false at the end: at the root: its name is no part of the path,
 * or beyond the bounds.
 */
static __always_inline bool path_next(struct path_walk *w)
{
	if (!w->name) {
		if (w->node == w->memory)
			w->path.memory_up = w->path.levels;
		if (!parent_of(w->node)) {
			w->path.status = ZMEM_OOM_PATH_KNOWN;
			return false;
		}
		w->name = kaddr(kcast(struct kernfs_node, w->node), name);
	}
	if (w->path.levels < ZMEM_OOM_LEVELS && w->path.words < ZMEM_OOM_PATH_WORDS)
		return true;
	w->path.status = ZMEM_OOM_PATH_LONG;
	return false;
}

/* Reads the word. Returns false if a rename in v1 freed the name meanwhile. */
static __always_inline bool path_word(struct path_walk *w, __u64 *ret)
{
	__u64 word = kread64(w->name + w->at);

	text_terminate(&word, 1);
	*ret = word;
	w->path.words++;
	w->at += sizeof(word);
	if (word >> 56)
		return true;
	if (kaddr(kcast(struct kernfs_node, w->node), name) != w->name) {
		w->path.status = ZMEM_OOM_PATH_RACED;
		return false;
	}
	w->node = parent_of(w->node);
	w->name = w->at = 0;
	w->path.levels++;
	return true;
}

#endif
