/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The moment of an OOM kill: what the kernel handed over (watch/oom_watch.h), with the machine and
 * with names, and the kill as an event. Names come from the last snapshot of the collector; at this
 * moment /proc is read for processes that it did not have.
 */
#ifndef ZMEM_COLLECT_OOM_MOMENT_H
#define ZMEM_COLLECT_OOM_MOMENT_H

#include "collect/collector_state.h"
#include "model/event.h"
#include "watch/oom_watch.h"

/* Which limit was reached. */
struct oom_reason {
	bool known;
	char constraint[16]; /* "none" (the machine), "memcg", "cpuset", "memory_policy" */
	enum event_source source;
	char cgroup[OOM_CGROUP_MAX + 3 * ZMEM_OOM_LEVELS]; /* as we see it; "": not known */
	int at; /* its level in oom_kill.limits; -1: none of these, or not known */
	/* What was charged to it right after the kill, if its path is known. */
	struct memcg parts;
	int64_t parts_ms;
};

struct oom_moment {
	struct snapshot snapshot; /* filled by oom_watch_next() */
	struct oom_reason reason;
	uint32_t filled;       /* processes with the values of the last snapshot */
	bool log_read;	       /* the kernel's log can be read */
	const char *selection; /* of a recorder: the filters; NULL: every process is kept */
};

/* Adds names to the snapshot; of a signal it is all. Returns 0 or a negative errno. */
int oom_moment_name(struct oom_moment *m, struct collector *c, const struct oom_kill *kill);
/* Finds which limit was reached, as far as the kernel told. */
void oom_moment_find_reason(struct oom_moment *m, const struct oom_kill *kill);
/*
 * Without that: by the counts of the victim's cgroups, in both snapshots. Returns 0 or a negative
 * errno.
 */
int oom_moment_infer_reason(struct oom_moment *m, struct collector *c, const struct oom_kill *kill);
/*
 * Adds the machine, names, memory cgroups and, as they were in the last snapshot, processes that
 * were not read. Finds the reason of the kill. Returns 0 or a negative errno.
 */
int oom_moment_complete(struct oom_moment *m, struct collector *c, const struct oom_kill *kill);
/* The kill as an event, with the names of the moment. */
void oom_moment_describe(const struct oom_moment *m, const struct oom_kill *kill,
			 struct event_record *ret);
/* Likewise of a signal; the snapshot has its time and names. */
void oom_moment_describe_signal(const struct oom_moment *m, const struct oom_kill *kill,
				struct event_record *ret);

#endif
