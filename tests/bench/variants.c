// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * variants [ROUNDS]: the cost of each BPF variant with pages that loads here: opening it, and the
 * processor time of one reader for all processes, in alternating rounds beside smaps_rollup of all.
 * The ratios are medians of those of each round.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "read_all.h"
#include "source/source.h"

#define VARIANTS_MAX 8
#define ROUNDS_MAX   1000

struct variant {
	const char *name;
	struct source *source; /* NULL: smaps_rollup */
	double opened_ms;
	size_t kernel, users;	   /* processes with PSS from the kernel, of all */
	double cpu_ms[ROUNDS_MAX]; /* of each round */
};

static struct variant variant[VARIANTS_MAX];
static size_t count;
static struct snapshot snapshot;

static double now_ms(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void open_all(const struct procfs *proc)
{
	for (size_t i = 0; source_variant(i) && count < VARIANTS_MAX - 1; i++) {
		struct variant *v = &variant[count];
		struct diag diag = {};
		double start = now_ms(CLOCK_MONOTONIC);

		v->name = source_variant_name(source_variant(i));
		if (strstr(v->name, "with pages") && !strstr(v->name, "pinned") &&
		    source_open_variant(source_variant(i), proc, &diag, &v->source) == 0) {
			v->opened_ms = now_ms(CLOCK_MONOTONIC) - start;
			count++;
		}
		diag_clear(&diag);
	}
	variant[count++] = (struct variant){.name = "smaps_rollup"};
}

static void measure(struct variant *v, int round)
{
	double start = now_ms(CLOCK_PROCESS_CPUTIME_ID);

	if (!v->source)
		read_all("smaps_rollup");
	else if (source_collect(v->source, &snapshot) < 0)
		fprintf(stderr, "variants: %s: failed\n", v->name);
	v->cpu_ms[round] = now_ms(CLOCK_PROCESS_CPUTIME_ID) - start;
	v->kernel = v->users = 0;
	for (size_t i = 0; v->source && i < snapshot.count; i++) {
		v->users += snapshot.process[i].kind == PROCESS_USER;
		v->kernel += snapshot.process[i].pss_source == PSS_FROM_KERNEL;
	}
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The median of a / b of each round; b NULL: of a. */
static double median(const double *a, const double *b, int rounds)
{
	double sorted[ROUNDS_MAX];

	for (int i = 0; i < rounds; i++)
		sorted[i] = b ? a[i] / b[i] : a[i];
	qsort(sorted, (size_t)rounds, sizeof(*sorted), compare);
	return sorted[rounds / 2];
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 15;
	struct procfs proc;

	if (rounds < 1 || rounds > ROUNDS_MAX || procfs_open(&proc, "/proc") < 0) {
		fprintf(stderr, "usage: variants [ROUNDS]\n");
		return 2;
	}
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
		const struct variant *v = &variant[i];

		printf("%-32s %9.1f %9.2f %9.2f %12.2f  %zu of %zu\n", v->name, v->opened_ms,
		       median(v->cpu_ms, NULL, rounds),
		       median(v->cpu_ms, variant[0].cpu_ms, rounds),
		       median(variant[count - 1].cpu_ms, v->cpu_ms, rounds), v->kernel, v->users);
		source_close(v->source);
	}
	snapshot_done(&snapshot);
	procfs_close(&proc);
	return count < 2;
}
