// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * bench WHAT PROGRAM: compares zmem-bpf with the minimum cost of any /proc tool and with installed
 * tools. All run interleaved, so that noise of the machine affects all alike. It never asserts
 * times.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"

int bench_rounds;

static int usage(void)
{
	fprintf(stderr, "usage: bench WHAT PROGRAM\n");
	workload_list();
	fprintf(stderr, "  watch          what watch takes of a CPU, with 2,000 processes\n"
			"  render         showing 5,000 processes, in each format\n"
			"  variants       each BPF object with pages\n"
			"  loop           the library, again and again for PROGRAM milliseconds\n"
			"BENCH_ROUNDS=N makes it so many rounds.\n");
	return 2;
}

/* What stall.py runs beside the victim. */
static int bench_loop(double ms)
{
	double end = now_ms() + ms;
	unsigned long count = 0;
	struct engine e;

	if (engine_open_pss(&e, 1) < 0)
		return 1;
	for (; now_ms() < end; count++) {
		if (engine_collect(&e) < 0)
			return 1;
	}
	engine_close(&e);
	printf("%lu collections\n", count);
	return 0;
}

int main(int argc, char **argv)
{
	const char *rounds = getenv("BENCH_ROUNDS");
	const struct workload *w;

	if (argc != 3)
		return usage();
	bench_rounds = rounds ? atoi(rounds) : 0;
	if (bench_rounds < 0 || bench_rounds > ROUNDS_MAX) {
		fprintf(stderr, "bench: BENCH_ROUNDS is 1 to %d\n", ROUNDS_MAX);
		return 2;
	}
	if (strcmp(argv[1], "loop") == 0)
		return bench_loop(strtod(argv[2], NULL));
	if (strcmp(argv[1], "variants") == 0)
		return bench_variants();
	runner_start();
	if (strcmp(argv[1], "watch") == 0)
		return bench_watch(argv[2]);
	if (strcmp(argv[1], "render") == 0)
		return bench_render();
	w = workload_find(argv[1]);
	return w ? bench_table(w, argv[2]) : usage();
}
