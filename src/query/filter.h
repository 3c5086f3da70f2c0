/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which processes are rows: by pid, user, cgroup, unit, group, name and command line. Pure. */
#ifndef ZMEM_QUERY_FILTER_H
#define ZMEM_QUERY_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "query/group.h"
#include "model/process_list.h"

struct pattern;

struct filter {
	const pid_t *pids; /* sorted; NULL: any */
	size_t pid_count;
	const uid_t *uids; /* sorted; NULL: any */
	size_t uid_count;
	struct pattern *pattern; /* matched with name, then with cmdline; NULL: any */
	pid_t self; /* the process with the pattern in its cmdline, which is not matched; 0: none */
	pid_t without;	    /* a process that is left out, unless pids are asked for; 0: none */
	const char *cgroup; /* NULL: any; see filter_matches_cgroup() */
	struct cgroups_seen *seen; /* filter_rows() sets it */
	const char *units;	   /* NULL: any; see filter_matches_unit() */
	struct group_id group;
};

#define FILTER_UNIT_MAX 255 /* bytes of a unit's name (UNIT_NAME_MAX of systemd) */

/* Sorts in the order that a filter needs. */
void filter_sort_pids(pid_t *pids, size_t count);
void filter_sort_uids(uid_t *uids, size_t count);

/*
 * By pid and uid alone: for rows without names and command lines, which were not read yet. Both
 * return 1, 0, or -E2BIG if the pattern has spent its budget of steps.
 */
int filter_matches_id(const struct filter *f, const struct process *p);
/* By all filters. Kernel threads and zombies match only if their pid was asked for. */
int filter_matches(const struct filter *f, const struct process *p);

/*
 * Whether the path is a cgroup that the glob matches, or lies in one. A glob with a '/' matches
 * whole paths, and its '*' matches slashes; a glob without matches any one name of the path. Only
 * '*', '?' and brackets are special, here and in units: a name matches itself.
 */
bool filter_matches_cgroup(const char *glob, const char *path);

/*
 * Whether one of the globs of a list matches the whole name of the unit, which has blanks if its
 * manager is not that of the system: "ssh.service (user 1000)". As in systemctl, a name without a
 * suffix means the service: "ssh" is ssh.service.
 */
bool filter_matches_unit(const char *globs, const char *unit);
/* Walks such a list as parse_item() does, but a blank in an item belongs to it. */
const char *filter_next_unit(const char **pos, size_t *ret_len);

/*
 * Sets the rows to the processes that matches() accepts. Each call restores the budget of the
 * pattern, and matches each cgroup once. Returns 0, -ENOMEM, or -E2BIG as above.
 */
int filter_rows(struct snapshot *s, const struct filter *f,
		int (*matches)(const struct filter *, const struct process *),
		struct process_list *processes);

#endif
