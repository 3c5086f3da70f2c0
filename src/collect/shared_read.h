/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The largest files of shared memory and tmpfs, which are gone after an OOM kill: a tmpfs goes with
 * its last mount. They are listed while memory is short, at most every ten seconds, and for at most
 * a hundredth of the time.
 */
#ifndef ZMEM_COLLECT_SHARED_READ_H
#define ZMEM_COLLECT_SHARED_READ_H

#include "collect/collector_state.h"

/* Zeroed memory has no list. */
struct shared_reader {
	struct shared_files files; /* of the last walk; its texts are in the arena */
	struct arena arena;
	uint64_t walked_us, due_us; /* CLOCK_MONOTONIC: of the last walk, and of the next one */
};

void shared_reader_done(struct shared_reader *r);

/* Whether files may be listed again. */
bool shared_is_due(const struct shared_reader *r);
/*
 * Whether shared memory is a part worth naming of what is short: of the machine, if `is_short`, or
 * of a memory cgroup near its limit. The collector's snapshot has its memory cgroups.
 */
bool shared_is_worth(struct collector *c, bool is_short);
/* Whether shared memory of so many bytes is a part of a limit that counts. */
static inline bool shared_is_part(uint64_t bytes, uint64_t limit)
{
	return bytes && bytes >= limit / 16;
}

/*
 * Sets system->shared to the last list, which is valid until the next call, or to NULL if that one
 * is old. `wanted`: lists the files before, unless it did so a short time ago; those charged to
 * `cgroup` or below it come first (NULL: none). What cannot be listed is left out.
 */
void shared_read(struct shared_reader *r, struct collector *c, bool wanted, const char *cgroup,
		 struct system_info *system);

#endif
