/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Trees of files that look like cgroup file systems, and the mounts that show them. */
#ifndef ZMEM_TESTS_CGROUP_TREE_H
#define ZMEM_TESTS_CGROUP_TREE_H

#include "unit.h"

#include "proc_tree.h"

#define sh proc_tree_sh

/* `mounts`: lines of mountinfo, with '@' where the directory of the tree is. */
static inline void tree_make(struct proc_tree *t, const char *mounts)
{
	proc_tree_init(t);
	sh(t, "mkdir self && sed \"s,@,$PWD,\" >self/mountinfo <<'END'\n%s\nEND", mounts);
}

static inline void v2(const struct proc_tree *t, const char *path, const char *current,
		      const char *max)
{
	sh(t, "mkdir -p './%s' && echo %s >'./%s/memory.current' && echo %s >'./%s/memory.max'",
	   path, current, path, max, path);
}

/* Its own limit, and the one that the kernel computed. */
static inline void v1(const struct proc_tree *t, const char *path, const char *usage,
		      const char *limit, const char *whole)
{
	sh(t, "mkdir -p %s; cd %s; echo %s >memory.usage_in_bytes; echo %s >memory.limit_in_bytes",
	   path, path, usage, limit);
	if (whole)
		sh(t,
		   "printf 'cache 1\\nrss 2\\nhierarchical_memory_limit %s\\ntotal_cache 3\\n' "
		   ">%s/memory.stat",
		   whole, path);
}

#endif
