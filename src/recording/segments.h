/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The segments of a recording without an end (recording_ring.h), which are files of a directory. */
#ifndef ZMEM_RECORDING_SEGMENTS_H
#define ZMEM_RECORDING_SEGMENTS_H

#include <stddef.h>
#include <stdint.h>

struct segment_name {
	char text[16]; /* 10 digits and ".zmem" */
};

struct segment_name segment_name(uint32_t number);
/* The numbers of the segments in a directory, ascending. Returns 0 or a negative errno. */
int segment_list(int dir, uint32_t **ret, size_t *ret_count);
/* Opens it to read, or returns a negative errno: -ELOOP for a link, -EINVAL if it is not a file. */
int segment_open(int dir, const struct segment_name *name);

#endif
