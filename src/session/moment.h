/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A moment of a recording as people type it and read it, in local time. */
#ifndef ZMEM_SESSION_MOMENT_H
#define ZMEM_SESSION_MOMENT_H

#include <stdint.h>

/* A time, or a whole second, minute or day, as it was typed. Times are ms since the epoch. */
struct moment {
	int64_t first_ms, last_ms; /* both are in the moment; they are equal for a time */
	/* When summer time ends, clocks show an hour twice. The moment is in the second one; the
	 * clocks showed the same time so much earlier. 0: they showed it once. */
	int64_t twin_ms;
};

/* Which of all times a text without a date means. */
struct moment_near {
	int64_t end_ms;	   /* of the recording: "-10m" is a time before it */
	int64_t latest_ms; /* a time of day is the latest one that begins up to then */
	/* But behind the beginning of a range, the first one that is not over then; may be later
	 * than all that was recorded. MOMENT_LATEST: there is none. */
	int64_t after_ms;
};

#define MOMENT_LATEST INT64_MIN

/*
 * Parses "-10m", "-1.5h", "03:14", "03:14:15", "2026-11-22", "2026-11-22T03:14", "2026-11-22
 * 03:14:15", each of the last three also with a final Z for UTC. Returns 0 or -EINVAL.
 */
int moment_parse(const char *text, const struct moment_near *near, struct moment *ret);

/* Moves a moment that clocks show twice to the first of the two hours. */
void moment_to_twin(struct moment *m);

/* Parses "7d", "10m", "1.5h", "30" (seconds) at the beginning. Returns the length or -EINVAL. */
int moment_duration(const char *text, uint64_t *ret_ms);

#endif
