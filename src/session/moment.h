/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A moment of a recording as people type it and read it, in local time. */
#ifndef ZMEM_SESSION_MOMENT_H
#define ZMEM_SESSION_MOMENT_H

#include <stdint.h>

/* A minute or a day is as long as it lasts. Times are ms since the epoch. */
struct moment {
	int64_t first_ms, last_ms; /* both are in it */
};

/*
 * Parses "-10m", "-1.5h" (before `last_ms`), "03:14", "03:14:15" (the latest such moment up to
 * `last_ms`), "2026-11-22", "2026-11-22T03:14", "2026-11-22 03:14:15", each of the last three also
 * with a final Z for UTC. Returns 0 or -EINVAL.
 */
int moment_parse(const char *text, int64_t last_ms, struct moment *ret);

/* Parses "7d", "10m", "1.5h", "30" (seconds) at the beginning. Returns the length or -EINVAL. */
int moment_duration(const char *text, uint64_t *ret_ms);

struct moment_text {
	char text[40];
};

/* "2026-11-22 03:14:15+01:00", with Z where that is UTC; nothing outside the years 1 to 9999. */
struct moment_text moment_text(int64_t time_ms);

#endif
