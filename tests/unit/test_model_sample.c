// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Limits of sums of sampled blocks, beside sums that are known. */
#include "unit.h"

#include <math.h>
#include <stdlib.h>

#include "model/sample.h"

#define MEAN 65536.0

static struct sample_sum of_equal(int blocks, uint64_t size, double mean)
{
	struct sample_sum s = {};

	for (int i = 0; i < blocks; i++)
		sample_sum_block(&s, size, mean);
	return s;
}

static void expect_bounds(const struct sample_sum *s, double mean, double least, double most)
{
	double low, high;

	sample_sum_bounds(s, mean, &low, &high);
	if (fabs(low - least) > 0.001 * mean || fabs(high - most) > 0.001 * mean)
		fail_msg("%f to %f, not %f to %f", low / mean, high / mean, least / mean,
			 most / mean);
}

/* Those of Poisson, for counts of small blocks. */
TEST(counts)
{
	static const struct {
		int n;
		double least, most;
	} known[] = {{0, 0, 3.689},	  {1, 0.0253, 5.5716},	 {2, 0.2422, 7.2247},
		     {3, 0.6187, 8.7673}, {10, 4.7954, 18.3904}, {100, 81.3640, 121.6275}};

	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		struct sample_sum s = of_equal(known[i].n, 1, 1e9);

		expect_bounds(&s, 1e9, known[i].least * 1e9, known[i].most * 1e9);
	}
}

/* What is certain has no error, and what was seen is there. */
TEST(certain)
{
	struct sample_sum s = of_equal(7, 100, 1);
	double least, most;

	expect_bounds(&s, 1, 700, 700);
	assert_true(s.variance == 0 && s.sum == 700 && s.step == 0);
	s = of_equal(1, 1 << 26, MEAN);
	sample_sum_bounds(&s, MEAN, &least, &most);
	assert_true(least == 1 << 26 && most < (1 << 26) + 6 * MEAN);
	/* One block of three times the mean. */
	s = of_equal(1, 3 * 65536, MEAN);
	sample_sum_bounds(&s, MEAN, &least, &most);
	assert_true(least >= 3 * 65536 && most > s.sum + MEAN);
}

static double random_part(void)
{
	return (double)random() / 2147483648.0;
}

/* Blocks of these sizes, one after the other, up to a sum; with means that change on the way. */
static struct sample_sum sample(const uint64_t *size, size_t sizes, double total, double *ret_true)
{
	struct sample_sum s = {};

	*ret_true = 0;
	for (size_t i = 0; *ret_true < total; i++) {
		double mean = i / 100 % 2 ? MEAN : 4 * MEAN;

		if (random_part() * sample_weight(size[i % sizes], mean) < (double)size[i % sizes])
			sample_sum_block(&s, size[i % sizes], mean);
		*ret_true += (double)size[i % sizes];
	}
	return s;
}

/* In at least 95 of 100 cases, whatever the sizes are. */
TEST(coverage)
{
	static const uint64_t small[] = {32}, mixed[] = {16, 4000, 100, 70000, 24, 300000, 64},
			      large[] = {1 << 20, 50000};
	static const struct {
		const uint64_t *size;
		size_t sizes;
		double total;
	} of[] = {{small, 1, 2 * MEAN},	  {small, 1, 20 * MEAN}, {mixed, 7, 5 * MEAN},
		  {mixed, 7, 100 * MEAN}, {large, 2, 50 * MEAN}, {large, 2, 1000 * MEAN}};

	srandom(1);
	for (size_t i = 0; i < ARRAY_SIZE(of); i++) {
		int below = 0, above = 0, runs = 1000;
		double mean = 0, all = 0;

		for (int k = 0; k < runs; k++) {
			double whole, least, most;
			struct sample_sum s = sample(of[i].size, of[i].sizes, of[i].total, &whole);

			sample_sum_bounds(&s, 4 * MEAN, &least, &most);
			below += whole < least;
			above += whole > most;
			mean += s.sum / runs;
			all = whole;
		}
		if (below > runs * 0.04 || above > runs * 0.04 || fabs(mean / all - 1) > 0.12)
			fail_msg("%zu: %d below, %d above, on average %f of %f", i, below, above,
				 mean, all);
	}
}
