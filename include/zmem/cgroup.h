/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * /proc/PID/cgroup, and what its paths say about units and containers. The memory cgroup's path is
 * the one we show: that of the v1 memory hierarchy, of the unified one (0::) or of systemd's own
 * (name=systemd), the first of them in whose root the process is not; "/" if it is in all roots.
 */
#ifndef ZMEM_CGROUP_H
#define ZMEM_CGROUP_H

#include <stddef.h>

/* A part of somebody else's text; NULL: none. */
struct text_part {
	const char *s;
	size_t len;
};

struct proc_cgroup {
	struct text_part path; /* begins with '/' */
	struct text_part unit; /* "ssh.service", "session-3.scope"; the innermost one */
	struct text_part
		container; /* 64 hex digits cut to 12, or a name where the runtime uses names */
};

/*
 * Points into text. A last line without '\n' is cut off and does not count. Returns 0, or -ENOENT
 * if none of the hierarchies is named in it, and then *ret is untouched.
 */
int proc_cgroup_parse(const char *text, size_t len, struct proc_cgroup *ret);

#endif
