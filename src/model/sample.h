/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Sums of blocks of which a random sample is known: a block of s bytes is in it with the chance
 * 1 - exp(-s / mean). It does no I/O.
 */
#ifndef ZMEM_MODEL_SAMPLE_H
#define ZMEM_MODEL_SAMPLE_H

#include <stdint.h>

/* Zeroed memory is the sum of nothing. */
struct sample_sum {
	double sum;	 /* for which the sampled blocks stand: right on average */
	double seen;	 /* bytes of the blocks themselves */
	double variance; /* of sum, as the sample tells it */
	double step;	 /* the largest that one block stands for, of those that may be missed */
};

/* What a sampled block stands for: its size by its chance. Mean 1 or less: each is sampled. */
double sample_weight(uint64_t size, double mean);
void sample_sum_block(struct sample_sum *s, uint64_t size, double mean);
void sample_sum_add(struct sample_sum *to, const struct sample_sum *s);
/*
 * What the true sum is between, in 95 of 100 cases: the limits of Fay and Feuer for sums of
 * weighted Poisson counts (Statistics in Medicine 16, 1997). Of 3 equal blocks they are 0.6 and 8.8
 * of them. `mean`: the largest of the sample; it tells what may be there of which no block was
 * sampled.
 */
void sample_sum_bounds(const struct sample_sum *s, double mean, double *ret_least,
		       double *ret_most);

#endif
