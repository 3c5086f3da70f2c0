// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Measures the cost of one more GiB of private, unshared anonymous memory in a process. */
#include <errno.h>
#include <stdio.h>

#include "bench.h"

#define ROUNDS	 10
#define COLLECTS 50 /* a value is the median of so many runs */

enum {
	COUNTERS,
	PSS_1,
	PSS_2,
	ROLLUP,
	SUBJECTS,
};

static const char *const names[SUBJECTS] = {
	[COUNTERS] = "in process: counters alone",
	[PSS_1] = "in process: PSS, 1 reader",
	[PSS_2] = "in process: PSS, 2 readers",
	[ROLLUP] = "C loop over smaps_rollup, 1 thread",
};

static const struct {
	double gib;
	const char *spec[2];
} sizes[2] = {{1, {"exec:1x1048576"}}, {4, {"exec:1x4194304"}}};

/* Subjects are interleaved, so that noise affects all alike. */
static int measure_size(int size, struct engine *engine, double ret[SUBJECTS])
{
	double wall[SUBJECTS][COLLECTS];
	struct helper fleet;
	int r;

	r = workload_start(&fleet, sizes[size].spec);
	if (r < 0)
		return r;
	for (int k = 0; k < COLLECTS && r == 0; k++) {
		for (int i = 0; i < SUBJECTS; i++) {
			struct reading f = {};

			if (i == ROLLUP)
				f = measure_read_all("smaps_rollup");
			else if (engine[i].open)
				f = session_collect(&engine[i]);
			wall[i][k] = f.wall_ms;
			if (f.failed)
				r = -EIO;
		}
	}
	for (int i = 0; i < SUBJECTS; i++)
		ret[i] = spread_of(wall[i], COLLECTS).median;
	helper_stop(&fleet);
	return r;
}

static void report_marginal(double wall[2][SUBJECTS][ROUNDS_MAX], int rounds,
			    const struct engine *engine)
{
	printf("\nmarginal: a machine with one exec'ed process of 1 GiB, then of 4 GiB, %d times\n",
	       rounds);
	printf("%-36s %10s %10s   %s\n", "", "1 GiB ms", "4 GiB ms",
	       "ms per further GiB (quarters; least, most)");
	for (int i = 0; i < SUBJECTS; i++) {
		double more[ROUNDS_MAX];
		struct spread s;

		if (i != ROLLUP && !engine[i].open)
			continue;
		for (int k = 0; k < rounds; k++)
			more[k] = (wall[1][i][k] - wall[0][i][k]) / (sizes[1].gib - sizes[0].gib);
		s = spread_of(more, rounds);
		printf("%-36s %10.3f %10.3f   %.4f (%.4f to %.4f; %.4f, %.4f)\n", names[i],
		       spread_of(wall[0][i], rounds).median, spread_of(wall[1][i], rounds).median,
		       s.median, s.low, s.high, s.least, s.most);
		bench_json("\"subject\":\"%s\",\"rounds\":%d,\"ms_per_gib\":%.5f,\"low\":%.5f,"
			   "\"high\":%.5f,\"least\":%.5f,\"most\":%.5f",
			   names[i], rounds, s.median, s.low, s.high, s.least, s.most);
	}
}

int bench_marginal(void)
{
	static double wall[2][SUBJECTS][ROUNDS_MAX];
	static struct engine engine[SUBJECTS];
	int rounds = bench_rounds ? bench_rounds : ROUNDS;
	int r = engine_open(&engine[COUNTERS], false, 1);

	if (r < 0)
		return 1;
	engine_open_pss(&engine[PSS_1], 1);
	engine_open_pss(&engine[PSS_2], 2);
	for (int k = 0; k < rounds && r == 0; k++) {
		for (int size = 0; size < 2 && r == 0; size++) {
			double one[SUBJECTS];

			/* Alternates which of the two comes first. */
			r = measure_size(size ^ (k & 1), engine, one);
			for (int i = 0; i < SUBJECTS; i++)
				wall[size ^ (k & 1)][i][k] = one[i];
		}
	}
	if (r == 0)
		report_marginal(wall, rounds, engine);
	for (int i = 0; i < SUBJECTS; i++)
		engine_close(&engine[i]);
	return r < 0;
}
