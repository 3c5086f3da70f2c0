/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * /proc/PID/cgroup, and what its paths say about units and containers. The memory cgroup's path is
 * the one we show: that of the v1 memory hierarchy, of the unified one (0::) or of systemd's own
 * (name=systemd), the first of them in whose root the process is not; "/" if it is in all roots.
 */
#ifndef ZMEM_CGROUP_H
#define ZMEM_CGROUP_H

#include <stdbool.h>
#include <stddef.h>

#include "base/parse.h"

struct proc_cgroup {
	struct text_part path; /* begins with '/' */
	struct text_part unit; /* "ssh.service", "session-3.scope"; the innermost one */
	struct text_part
		container; /* 64 hex digits cut to 12, or a name where the runtime uses names */
	/* How many bytes of the path lead to the unit's and to the container's cgroup; 0: none. */
	size_t unit_path, container_path;
	/*
	 * The path is one of the hierarchy that has the memory controller. It is not where memory
	 * is in v1 and the path another hierarchy's, nor that of a cgroup that was removed.
	 */
	bool controlled;
};

/*
 * Points into text. A last line without '\n' is cut off and does not count. Returns 0, or -ENOENT
 * if none of the hierarchies is named in it, and then *ret is untouched.
 */
int proc_cgroup_parse(const char *text, size_t len, struct proc_cgroup *ret);

/* A line of mountinfo that mounts a hierarchy which may have the memory controller. */
struct cgroup_mount {
	bool v2;
	char root[4096];  /* what of the hierarchy is seen there, as /proc/PID/cgroup has it */
	char point[4096]; /* where */
};

/* The next one from *pos on, which moves on; false if there is none. A line cut off is none. */
bool cgroup_mount_next(const char **pos, const char *end, struct cgroup_mount *ret);

/*
 * The path below a mount's root, without a '/' before it: "" is the root itself. NULL if it is not
 * below, as with what is outside our cgroup namespace ("/..").
 */
const char *cgroup_below(const char *root, const char *path);

#endif
