/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* struct zmem_record → struct process. Pure; believes nothing it is given. */
#ifndef ZMEM_SOURCE_RECORD_DECODE_H
#define ZMEM_SOURCE_RECORD_DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "zmem/record.h"
#include "model/snapshot.h"

struct decode_limits {
	uint32_t page_size;
	uint64_t ram_bytes; /* a resident set above it is a layout error, never data; 0: no limit */
};

/*
 * Decodes the whole records at the beginning of data and appends them to the snapshot.
 * Returns how many bytes were used (the rest is a record that is not complete), or -EBADMSG for
 * something that is no record of this version, or -ENOMEM.
 */
long record_decode(const void *data, size_t len, const struct decode_limits *limits,
		   struct snapshot *snapshot);

/* The size of the record at the beginning of data; 0: not all of it is there yet, or -EBADMSG. */
long record_size(const void *data, size_t len);
/* Decodes one whole record that record_size() has measured. Returns 0 or -ENOMEM. */
int record_decode_one(const void *data, const struct decode_limits *limits,
		      struct snapshot *snapshot);

/* ---- the pages of a record ---- */

/*
 * True if the walk is whole and adds up: the counters are the same before and after it, and what
 * was seen is what they say. Only then PSS is taken from it.
 */
bool pages_consistent(const struct zmem_pss_record *r);
/*
 * True if it does not add up only because a large process never stands still, and is off by no more
 * than a thousandth of its resident set: what a smaps_rollup that takes as long may be off by, too,
 * but nobody has to wait. For small ones smaps_rollup is quick, and false is returned.
 */
bool pages_within_tolerance(const struct zmem_pss_record *r);
/* Adds a further visit to the sum of those before; marks it as moved if it does not belong. */
void pages_add(struct zmem_pss_record *sum, const struct zmem_pss_record *visit);

#endif
