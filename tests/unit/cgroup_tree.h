/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Trees of files that look like cgroup file systems, and the mounts that show them. */
#ifndef ZMEM_TESTS_CGROUP_TREE_H
#define ZMEM_TESTS_CGROUP_TREE_H

#include "unit.h"

#include "proc/procfs.h"

struct tree {
	char dir[64];
	struct procfs proc;
};

__attribute__((format(printf, 2, 3))) static inline void sh(const struct tree *t,
							    const char *format, ...)
{
	char command[4096], script[3500];
	va_list args;

	va_start(args, format);
	vsnprintf(script, sizeof(script), format, args);
	va_end(args);
	snprintf(command, sizeof(command), "cd %s && {\n%s\n}", t->dir, script);
	assert_int_equal(system(command), 0);
}

/* `mounts`: lines of mountinfo, with '@' where the directory of the tree is. */
static inline void tree_make(struct tree *t, const char *mounts)
{
	strcpy(t->dir, "/tmp/zmem-cgroups-XXXXXX");
	assert_non_null(mkdtemp(t->dir));
	sh(t, "mkdir self && sed \"s,@,$PWD,\" >self/mountinfo <<'END'\n%s\nEND", mounts);
	t->proc = (struct procfs){.trusted = true};
	t->proc.fd = open(t->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(t->proc.fd >= 0);
}

static inline void tree_done(struct tree *t)
{
	char command[128];
	close(t->proc.fd);
	snprintf(command, sizeof(command), "rm -rf %s", t->dir);
	assert_int_equal(system(command), 0);
}

static inline void v2(const struct tree *t, const char *path, const char *current, const char *max)
{
	sh(t, "mkdir -p './%s' && echo %s >'./%s/memory.current' && echo %s >'./%s/memory.max'",
	   path, current, path, max, path);
}

/* Its own limit, and the one that the kernel computed. */
static inline void v1(const struct tree *t, const char *path, const char *usage, const char *limit,
		      const char *whole)
{
	sh(t,
	   "mkdir -p ./%s && echo %s >./%s/memory.usage_in_bytes && "
	   "echo %s >./%s/memory.limit_in_bytes",
	   path, usage, path, limit, path);
	if (whole)
		sh(t,
		   "printf 'cache 1\\nrss 2\\nhierarchical_memory_limit %%s\\ntotal_cache 3\\n' "
		   "%s >./%s/memory.stat",
		   whole, path);
}

#endif
