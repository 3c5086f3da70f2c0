// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Limits of sums by quantiles of the gamma distribution. */
#include "model/sample.h"

#include <math.h>
#include <stdbool.h>

/* A block with a larger chance is taken for one that is not missed. */
#define SURE 0.999

double sample_weight(uint64_t size, double mean)
{
	if (mean <= 1 || !size)
		return (double)size;
	return (double)size / -expm1(-(double)size / mean);
}

void sample_sum_block(struct sample_sum *s, uint64_t size, double mean)
{
	double weight = sample_weight(size, mean);

	s->sum += weight;
	s->seen += (double)size;
	s->variance += weight * (weight - (double)size);
	if (weight > s->step && (double)size < SURE * weight)
		s->step = weight;
}

void sample_sum_add(struct sample_sum *to, const struct sample_sum *s)
{
	to->sum += s->sum;
	to->seen += s->seen;
	to->variance += s->variance;
	to->step = s->step > to->step ? s->step : to->step;
}

/* ---- the gamma distribution ---- */

#define TERMS	    4000
#define SHAPE_LARGE 400 /* then the approximation is good to 1e-4 */
#define TAIL	    0.025
#define TAIL_NORMAL 1.959963984540054

/* The part of the distribution below x, for a scale of 1. */
static double part_below(double shape, double x)
{
	int sign;
	double term = 1 / shape, sum = term;

	for (int i = 1; i < TERMS && term > sum * 1e-12; i++) {
		term *= x / (shape + i);
		sum += term;
	}
	return exp(shape * log(x) - x - lgamma_r(shape, &sign)) * sum;
}

/* Wilson and Hilferty: the cube root is nearly normal. `normal`: that quantile. */
static double approximate(double shape, double normal)
{
	double root = 1 - 1 / (9 * shape) + normal / (3 * sqrt(shape));

	return root > 0 ? shape * root * root * root : 0;
}

/* The quantile: TAIL of the distribution is below it, or `above`. */
static double quantile(double shape, bool above)
{
	double least = 0, most, wanted = above ? 1 - TAIL : TAIL;

	if (shape > SHAPE_LARGE)
		return approximate(shape, above ? TAIL_NORMAL : -TAIL_NORMAL);
	most = shape + 20 * sqrt(shape) + 20;
	for (int i = 0; i < 60 && most - least > 1e-9 * most; i++) {
		double middle = (least + most) / 2;

		if (part_below(shape, middle) < wanted)
			least = middle;
		else
			most = middle;
	}
	return (least + most) / 2;
}

void sample_sum_bounds(const struct sample_sum *s, double mean, double *ret_least, double *ret_most)
{
	/* What was not sampled may have been so where samples were coarsest. */
	double step = s->step > mean ? s->step : mean > 1 ? mean : 0;
	double sum = s->sum + step, variance = s->variance + step * step;

	*ret_least = *ret_most = s->sum;
	if (s->variance > 0)
		*ret_least = s->variance / s->sum * quantile(s->sum * s->sum / s->variance, false);
	/* What was seen is there. */
	if (*ret_least < s->seen)
		*ret_least = s->seen;
	if (variance > 0)
		*ret_most = variance / sum * quantile(sum * sum / variance, true);
}
