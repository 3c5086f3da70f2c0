// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Measures the CPU time of watch with 2,000 idle processes and a tick a second: a run of several
 * ticks less a run of one tick, which is the cost of starting.
 */
#include <stdio.h>

#include "base/array.h"
#include "bench.h"

#define ROUNDS	   3
#define TICKS	   "11"
#define MORE_TICKS 10

static const struct {
	const char *name;
	const char *argv[8];
} subjects[] = {
	{"watch -F ndjson --changed", {"-F", "ndjson", "--changed"}},
	{"watch", {}},
	{"watch -F ndjson", {"-F", "ndjson"}},
	{"watch -g name", {"-g", "name"}},
	{"watch -F ndjson --changed --pss none", {"-F", "ndjson", "--changed", "--pss", "none"}},
};

static struct reading run(const char *program, size_t subject, const char *ticks)
{
	const char *argv[16] = {program, "watch", "-i", "1", "-c", ticks};
	size_t count = 6;

	for (size_t i = 0; subjects[subject].argv[i]; i++)
		argv[count++] = subjects[subject].argv[i];
	return runner_run(argv);
}

int bench_watch(const char *program)
{
	const struct workload *w = workload_find("W1");
	int rounds = bench_rounds ? bench_rounds : ROUNDS, failed = 0;
	struct workload_run workload;

	if (workload_start(&workload, w) < 0)
		return 1;
	printf("\nwatch: %s, a tick a second, %d times %d s each\n", w->text, rounds, MORE_TICKS);
	printf("%-40s %9s %18s %9s\n", "", "ms a tick", "% of one CPU", "peak MiB");
	for (size_t i = 0; i < ARRAY_SIZE(subjects) && !failed; i++) {
		double ms[ROUNDS_MAX], peak = 0;
		struct spread s;

		for (int k = 0; k < rounds && !failed; k++) {
			struct reading one = run(program, i, "1"), all = run(program, i, TICKS);

			failed = one.failed || all.failed;
			ms[k] = (all.cpu_ms - one.cpu_ms) / MORE_TICKS;
			peak = all.peak_mib > peak ? all.peak_mib : peak;
		}
		if (failed)
			break;
		s = spread_of(ms, rounds);
		printf("%-40s %9.1f %6.2f (%.2f, %.2f) %9.1f\n", subjects[i].name, s.median,
		       s.median / 10, s.least / 10, s.most / 10, peak);
	}
	if (failed)
		fprintf(stderr, "bench: watch failed\n");
	workload_stop(&workload);
	return failed;
}
