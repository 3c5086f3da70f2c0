/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* struct zmem_record → struct process. Pure; checks every value. */
#ifndef ZMEM_SOURCE_RECORD_DECODE_H
#define ZMEM_SOURCE_RECORD_DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/snapshot.h"
#include "zmem/record.h"

struct decode_limits {
	uint32_t page_size;
	uint64_t ram_bytes; /* a larger resident set is a layout error; 0: no limit */
};

#define RECORD_MAX 4096 /* bytes; a record of a newer program is longer than ours */

/* Copies a whole record that record_size() has measured; its size becomes that of our struct. */
void record_copy(const void *data, struct zmem_pss_record *ret);

/* The size of the record at the beginning of data; 0 if it is incomplete; or -EBADMSG. */
long record_size(const void *data, size_t len);
/* Decodes a record of record_copy(). Returns 0 or -ENOMEM. */
int record_decode_one(const struct zmem_pss_record *record, const struct decode_limits *limits,
		      struct snapshot *snapshot);

/* What other processes with the same mm hold back of its counters. */
struct held_back {
	int64_t pages[ZMEM_RSS_COUNT];
	uint64_t users; /* their threads */
};

/*
 * Sets the PSS of the process if its walk adds up with what the others hold back, and they are all
 * the users of its mm. The record may be newer than p.
 */
void record_decode_shared(const struct zmem_pss_record *record, const struct held_back *others,
			  const struct decode_limits *limits, struct process *p);

/* ---- the pages of a record ---- */

/* The distance of two counters, whatever they are. */
static inline uint64_t pages_apart(int64_t a, int64_t b)
{
	return a > b ? (uint64_t)a - (uint64_t)b : (uint64_t)b - (uint64_t)a;
}

/* The resident set by the counters; 0 if they add up to less. */
uint64_t pages_resident(const struct zmem_pss_record *r);
/*
 * True if the walk is complete, the counters did not change during it, and the pages seen equal the
 * counters. Only then PSS comes from the walk.
 */
bool pages_consistent(const struct zmem_pss_record *r);
/*
 * True if the counters of a large process changed during the walk by at most a thousandth of its
 * resident set. A smaps_rollup of the same length may be as far off, and it stalls the target.
 * False for small processes, where smaps_rollup is fast.
 */
bool pages_within_tolerance(const struct zmem_pss_record *r);
/* Adds a further visit to the sum; marks the sum as moved if the visit does not fit. */
void pages_add(struct zmem_pss_record *sum, const struct zmem_pss_record *visit);

#endif
