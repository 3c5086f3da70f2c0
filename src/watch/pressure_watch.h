/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Whether memory is short. The kernel tells when tasks wait for memory (a PSI trigger,
 * Documentation/accounting/psi.rst); the rest is looked at about each second.
 */
#ifndef ZMEM_WATCH_PRESSURE_WATCH_H
#define ZMEM_WATCH_PRESSURE_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "model/event.h"
#include "proc/procfs.h"

#define PRESSURE_FILE "/proc/pressure/memory"

struct pressure_limits {
	unsigned left;	/* %: less of the RAM is available, or of the swap free */
	unsigned stall; /* %: tasks wait for memory in so much of the time; 0: not looked at */
};

/* What was seen. */
struct pressure_look {
	unsigned causes; /* enum pressure_cause; 0: memory is not short */
	bool available_known, swap_free_known, stalled_known, refaulted_known;
	uint64_t available, swap_free; /* bytes */
	uint64_t total;		       /* MemTotal, with `available` */
	uint64_t stalled_us;	       /* since boot */
	uint64_t refaulted; /* bytes since boot; read in a shortage, without PSI, or if asked for */
};

struct pressure_watch {
	struct pressure_limits limits;
	int fd;	   /* of the trigger: poll() returns POLLPRI when tasks waited; -1: none */
	int error; /* why there is none, a negative errno */
	struct pressure_look last;
	uint64_t last_us; /* 0: nothing was seen yet */
};

/*
 * Opens `path` (PRESSURE_FILE) and sets the trigger on it. Without a trigger the stalled time is
 * looked at; without PSI, what is read again.
 */
void pressure_watch_open(struct pressure_watch *w, const char *path,
			 const struct pressure_limits *limits);
/*
 * Looks at the machine. `stalled`: the trigger has told of a stall. `refaults`: they are read in
 * any case. `now_us`: CLOCK_MONOTONIC.
 */
void pressure_watch_look(struct pressure_watch *w, const struct procfs *proc, uint64_t now_us,
			 bool stalled, bool refaults, struct pressure_look *ret);
/* The trigger is broken: from now on the stalled time is looked at. */
void pressure_watch_lost(struct pressure_watch *w);
void pressure_watch_close(struct pressure_watch *w);

#endif
