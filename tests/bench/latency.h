/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A histogram of latencies: 64 buckets for each power of two, so that a percentile is off by less
 * than 1.6 percent. The victim fills histograms, the bench adds them up.
 */
#ifndef BENCH_LATENCY_H
#define BENCH_LATENCY_H

#include <stdint.h>

#define LATENCY_BITS 6
#define LATENCY_STEP (1u << LATENCY_BITS)
#define LATENCY_LOGS 36 /* up to 2^41 ns, half an hour */

struct latency {
	uint64_t count;
	uint64_t max_ns;
	uint32_t bucket[LATENCY_LOGS * LATENCY_STEP];
};

static inline void latency_add(struct latency *l, uint64_t ns)
{
	unsigned shift = ns < LATENCY_STEP ? 0 : 63 - __builtin_clzll(ns) - LATENCY_BITS;
	unsigned i = shift * LATENCY_STEP + (unsigned)(ns >> shift);

	l->count++;
	l->max_ns = ns > l->max_ns ? ns : l->max_ns;
	l->bucket[i < LATENCY_LOGS * LATENCY_STEP ? i : LATENCY_LOGS * LATENCY_STEP - 1]++;
}

static inline void latency_merge(struct latency *to, const struct latency *l)
{
	to->count += l->count;
	to->max_ns = l->max_ns > to->max_ns ? l->max_ns : to->max_ns;
	for (unsigned i = 0; i < LATENCY_LOGS * LATENCY_STEP; i++)
		to->bucket[i] += l->bucket[i];
}

/* The smallest value that `share` of all do not exceed; 1 is the largest of all. */
static inline uint64_t latency_percentile(const struct latency *l, double share)
{
	double left = share * (double)l->count;

	for (unsigned i = 0; i < LATENCY_LOGS * LATENCY_STEP; i++) {
		unsigned shift = i < 2 * LATENCY_STEP ? 0 : i / LATENCY_STEP - 1;
		uint64_t top = ((uint64_t)(i - shift * LATENCY_STEP + 1) << shift) - 1;

		left -= l->bucket[i];
		if (l->bucket[i] && left <= 0)
			return top < l->max_ns ? top : l->max_ns;
	}
	return l->max_ns;
}

#endif
