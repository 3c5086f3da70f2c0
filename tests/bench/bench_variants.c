// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The cost of each BPF variant with pages that loads here: opening it, and the processor time of
 * one reader for all processes, in alternating rounds beside smaps_rollup of all. The ratios are
 * medians of those of each round.
 */
#include <stdio.h>
#include <string.h>

#include "bench.h"

#define VARIANTS_MAX 8
#define ROUNDS	     15

struct variant {
	const char *name; /* without a source: smaps_rollup */
	struct engine engine;
	double opened_ms, cpu_ms[ROUNDS_MAX]; /* of each round */
};

static struct variant variant[VARIANTS_MAX];
static size_t count;

static void open_all(const struct procfs *proc)
{
	for (size_t i = 0; source_variant(i) && count < VARIANTS_MAX - 1; i++) {
		struct variant *v = &variant[count];
		struct diag diag = {};
		double start = now_ms();

		v->name = source_variant_name(source_variant(i));
		if (strstr(v->name, "with pages") && !strstr(v->name, "pinned") &&
		    source_open_variant(source_variant(i), proc, &diag, &v->engine.source) == 0) {
			v->opened_ms = now_ms() - start;
			count++;
		}
		diag_clear(&diag);
	}
	variant[count++] = (struct variant){.name = "smaps_rollup"};
}

static void measure(struct variant *v, int round)
{
	struct reading r =
		v->engine.source ? engine_measure(&v->engine) : measure_read_all("smaps_rollup");

	if (r.failed)
		fprintf(stderr, "bench: %s: failed\n", v->name);
	v->cpu_ms[round] = r.cpu_ms;
}

/* The median of a / b of each round; b NULL: of a. */
static double median(const double *a, const double *b, int rounds)
{
	double each[ROUNDS_MAX];

	for (int i = 0; i < rounds; i++)
		each[i] = b ? a[i] / b[i] : a[i];
	return spread_of(each, rounds).median;
}

int bench_variants(void)
{
	int rounds = bench_rounds ? bench_rounds : ROUNDS;
	struct procfs proc;

	if (procfs_open(&proc, "/proc") < 0)
		return 1;
	open_all(&proc);
	for (size_t i = 0; i < count; i++)
		measure(&variant[i], 0);
	for (int round = 0; round < rounds; round++) {
		for (size_t i = 0; i < count; i++)
			measure(&variant[i], round);
	}
	printf("%-32s %9s %9s %9s %12s  %s\n", "variant", "opened ms", "CPU ms", "x first",
	       "rollup x this", "from the kernel");
	for (size_t i = 0; i < count; i++) {
		struct variant *v = &variant[i];
		double first = median(v->cpu_ms, variant[0].cpu_ms, rounds);
		double rollup = median(variant[count - 1].cpu_ms, v->cpu_ms, rounds);
		size_t users, kernel = engine_pss_count(&v->engine, &users);

		printf("%-32s %9.1f %9.2f %9.2f %12.2f  %zu of %zu\n", v->name, v->opened_ms,
		       median(v->cpu_ms, NULL, rounds), first, rollup, kernel, users);
	}
	for (size_t i = 0; i < count; i++) {
		snapshot_done(&variant[i].engine.snapshot);
		source_close(variant[i].engine.source);
	}
	procfs_close(&proc);
	return count < 2;
}
