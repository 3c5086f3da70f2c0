/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads a clock in nanoseconds or microseconds; 0: it cannot be read. */
#ifndef ZMEM_BASE_CLOCK_H
#define ZMEM_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline uint64_t clock_ns(clockid_t clock)
{
	struct timespec t = {};

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static inline uint64_t clock_us(clockid_t clock)
{
	return clock_ns(clock) / 1000;
}

#endif
