/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Decodes records behind each other, as a reader does. */
#ifndef TESTS_DECODE_RECORDS_H
#define TESTS_DECODE_RECORDS_H

#include "source/record_decode.h"

/*
 * Appends the whole records at the beginning of data to the snapshot. Returns the number of bytes
 * used (the rest is an incomplete record), -EBADMSG if data is not a record of this version, or
 * -ENOMEM.
 */
static inline long decode_records(const void *data, size_t len, const struct decode_limits *limits,
				  struct snapshot *snapshot)
{
	size_t used = 0;

	for (;;) {
		const char *at = (const char *)data + used;
		long size = record_size(at, len - used);
		struct zmem_pss_record record;
		int err;

		if (size < 0)
			return size;
		if (size == 0)
			return (long)used;
		record_copy(at, &record);
		err = record_decode_one(&record, limits, snapshot);
		if (err < 0)
			return err;
		used += (size_t)size;
	}
}

#endif
