/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* struct zmem_record → struct process. Pure; believes nothing it is given. */
#ifndef ZMEM_SOURCE_RECORD_DECODE_H
#define ZMEM_SOURCE_RECORD_DECODE_H

#include <stddef.h>
#include <stdint.h>

#include "zmem/snapshot.h"

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

#endif
