/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * /proc/PID/cgroup and the units and containers in its paths; cgroup mounts in /proc/PID/mountinfo.
 * The path shown is that of the v1 memory hierarchy, of the unified one (0::) or of systemd's own
 * (name=systemd): the first one where the process is not in the root; "/" if it is in all roots.
 */
#ifndef ZMEM_PROC_CGROUP_H
#define ZMEM_PROC_CGROUP_H

#include <stdbool.h>
#include <stddef.h>

#include "base/parse.h"

/* What makes cgroups of its own below its cgroup. */
struct cgroup_manager {
	enum cgroup_manager_kind {
		MANAGER_NONE,
		MANAGER_USER,	   /* the service manager of a user, and what the user runs */
		MANAGER_CONTAINER, /* what runs in a container */
		MANAGER_OTHER,	   /* a unit, or a cgroup that the system's manager did not make */
	} kind;
	struct text_part name; /* the uid, or the name as in struct proc_cgroup */
};

/*
 * The managers above a cgroup; none above one of the system's manager, which makes slices, and
 * units directly in them. What is below the outermost manager is only what that manager says.
 */
struct cgroup_managers {
	struct cgroup_manager inner; /* the innermost user or container; without one: the outer */
	struct cgroup_manager outer;
};

struct proc_cgroup {
	struct text_part path; /* begins with '/' */
	struct text_part unit; /* "ssh.service", "session-3.scope"; the innermost one */
	struct cgroup_managers unit_managers;
	struct text_part
		container; /* 64 hex digits cut to 12, or a name where the runtime uses names */
	struct text_part container_id; /* all 64 of them; s NULL where the runtime uses names */
	struct cgroup_managers container_managers;
	/*
	 * What the container is a part of, where the path has its name: a job of Slurm, of which
	 * the container is a step, or an allocation of Nomad, of which it is a task. It has the
	 * managers of the container.
	 */
	struct text_part pod;
	/* The length of the path to the cgroup of the unit and of the container; 0: none. */
	size_t unit_path, container_path;
	/*
	 * The same for the cgroup of the container's pod, which directly holds the container's. An
	 * allocation has none.
	 */
	size_t pod_path;
	/*
	 * The path is in the hierarchy with the memory controller. It may be that of a removed
	 * cgroup, and then ends with " (deleted)"; but so may the name of a cgroup that is there.
	 */
	bool controlled;
};

/*
 * Points into text. Ignores a last line without '\n'. Returns 0, or -ENOENT if the text has none of
 * these hierarchies; then *ret is untouched.
 */
int proc_cgroup_parse(const char *text, size_t len, struct proc_cgroup *ret);

#define CGROUP_NAME_MAX 1024 /* bytes of a name with its managers: three names of NAME_MAX */

/*
 * Writes the name of a unit or container: "ssh.service" of the system's manager, else with its
 * managers, such as "ssh.service (user 1000)", "ssh.service (in 3f9a6b5d1c0e)" and
 * "ssh.service (in 3f9a6b5d1c0e of user 1000)". The outermost manager comes last. Returns the
 * length, without a terminator, or 0 if it is longer than cap.
 */
size_t cgroup_name(struct text_part name, const struct cgroup_managers *managers, char *buf,
		   size_t cap);

/* True if a cgroup of the path is that of a container. */
bool cgroup_in_container(struct text_part path);

/*
 * The uid of a pod in the name of its cgroup: "kubepods-burstable-pod<uid>.slice", where systemd
 * has '_' for '-', or "pod<uid>". False if it is no such name.
 */
bool cgroup_pod_uid(struct text_part component, struct text_part *ret_uid);

/*
 * Resolves the escapes (\xNN) in the name of a systemd unit. Returns the length, or 0 if the result
 * is empty, longer than cap or has a NUL or a '/'.
 */
size_t cgroup_unescape(struct text_part name, char *buf, size_t cap);

/* A mount of a hierarchy that may have the memory controller. */
struct cgroup_mount {
	bool v2;
	char root[4096];  /* the visible part of the hierarchy, as in /proc/PID/cgroup */
	char point[4096]; /* the directory */
};

/* Finds the next mount; *rest becomes what follows. False at the end. Ignores a cut line. */
bool cgroup_mount_next(struct text_part *rest, struct cgroup_mount *ret);

/*
 * The path below a mount's root, without a leading '/': "" is the root itself. NULL if the path is
 * not below the root, such as a path outside our cgroup namespace ("/..").
 */
const char *cgroup_below(const char *root, const char *path);

/*
 * Writes the path of a cgroup as it is seen from another one, as /proc/PID/cgroup does in a cgroup
 * namespace: "/b" of "/a/b" from "/a", and "/../c" of "/c". Both are paths from the root of the
 * hierarchy. Returns the length, or 0 if it is longer than cap - 1.
 */
size_t cgroup_seen_from(const char *root, const char *path, char *buf, size_t cap);

#endif
