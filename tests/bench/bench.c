// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * bench WHAT PROGRAM: compares zmem-bpf with the minimum cost of any /proc tool and with installed
 * tools. All run interleaved, so that noise of the machine affects all alike. It never asserts
 * times.
 */
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "bench.h"

const char *bench_workload;
int bench_rounds;

void bench_json(const char *format, ...)
{
	const char *path = getenv("BENCH_LINES");
	cleanup_fclose FILE *file = path ? fopen(path, "a") : NULL;
	va_list args;

	if (!file)
		return;
	fprintf(file, "{\"workload\":\"%s\",", bench_workload);
	va_start(args, format);
	vfprintf(file, format, args);
	va_end(args);
	fprintf(file, "}\n");
}

void bench_beside(const char *name, char *ret, size_t size)
{
	char self[PATH_MAX] = "";
	char *slash;

	if (readlink("/proc/self/exe", self, sizeof(self) - 1) < 0)
		self[0] = '\0';
	slash = strrchr(self, '/');
	if (slash)
		*slash = '\0';
	snprintf(ret, size, "%s/%s", self, name);
}

static int usage(void)
{
	fprintf(stderr, "usage: bench WHAT PROGRAM\n");
	workload_list();
	fprintf(stderr,
		"  marginal       what a further GiB of private anonymous memory costs\n"
		"  watch          what watch takes of a CPU, with 2,000 processes\n"
		"  render         showing 5,000 processes, in each format\n"
		"  stall          what readers do to a process of 2 GiB\n"
		"  stall-forked   to one that shares its memory with a child\n"
		"BENCH_ROUNDS=N makes it so many rounds, BENCH_LINES=FILE gets a line a value.\n");
	return 2;
}

int main(int argc, char **argv)
{
	const char *rounds = getenv("BENCH_ROUNDS");
	const struct workload *w;

	if (argc != 3)
		return usage();
	bench_workload = argv[1];
	bench_rounds = rounds ? atoi(rounds) : 0;
	if (bench_rounds < 0 || bench_rounds > ROUNDS_MAX) {
		fprintf(stderr, "bench: BENCH_ROUNDS is 1 to %d\n", ROUNDS_MAX);
		return 2;
	}
	runner_start();
	if (strcmp(argv[1], "marginal") == 0)
		return bench_marginal();
	if (strcmp(argv[1], "watch") == 0)
		return bench_watch(argv[2]);
	if (strcmp(argv[1], "render") == 0)
		return bench_render();
	if (strcmp(argv[1], "stall") == 0)
		return bench_stall("fresh", argv[2]);
	if (strcmp(argv[1], "stall-forked") == 0)
		return bench_stall("forked", argv[2]);
	w = workload_find(argv[1]);
	return w ? bench_table(w, argv[2]) : usage();
}
