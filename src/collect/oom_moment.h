/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The moment of an OOM kill: what the kernel handed over (source/oom_watch.h), with the machine and
 * with names, and the kill as an event. Names come from the last snapshot of the collector; at this
 * moment /proc is read for processes that it did not have.
 */
#ifndef ZMEM_COLLECT_OOM_MOMENT_H
#define ZMEM_COLLECT_OOM_MOMENT_H

#include "collect/collector_state.h"
#include "model/event.h"
#include "source/oom_watch.h"

struct oom_moment {
	struct snapshot snapshot; /* filled by oom_watch_next() */
	bool log_read;		  /* the kernel's log can be read */
	const char *selection;	  /* of a recorder: the filters; NULL: every process is kept */
};

/* Adds the machine, names and memory cgroups to the snapshot. Returns 0 or a negative errno. */
int oom_moment_complete(struct oom_moment *m, struct collector *c, const struct oom_kill *kill);
/* The kill as an event, with the names of the moment. */
void oom_moment_describe(const struct oom_moment *m, const struct collector *c,
			 const struct oom_kill *kill, struct event_record *ret);

#endif
