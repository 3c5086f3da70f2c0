/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Words behind a count: "1 process", "2 processes". */
#ifndef ZMEM_BASE_COUNT_H
#define ZMEM_BASE_COUNT_H

#include <stdint.h>

/* `one` if the count is 1, else `many`: also 0 takes it. */
static inline const char *count_word(uint64_t count, const char *one, const char *many)
{
	return count == 1 ? one : many;
}

#endif
