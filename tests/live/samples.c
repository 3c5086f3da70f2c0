// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * samples ROUNDS
 *
 * Takes samples of the page frames of this machine between two whole censuses: the error that a
 * sample states must hold in most of them, and each frame of a whole census is counted once. With
 * "samples -v ROUNDS" it prints what each kind of frame is, and how long the runs took. Links the
 * library, because the program itself takes a sample only of more than 64 GiB.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "source/census_source.h"
#include "source/source.h"

/* Kinds with a smaller part of all frames are in few pieces of a sample, and not judged. */
#define JUDGED 0.005

static bool failed;

/* Of bpf_program_run(), since they were set to 0. */
static unsigned long long runs, longest_us;

int __real_bpf_program_run(int prog_fd);

int __wrap_bpf_program_run(int prog_fd)
{
	const uint64_t start = clock_us(CLOCK_MONOTONIC);
	const int r = __real_bpf_program_run(prog_fd);
	const uint64_t us = clock_us(CLOCK_MONOTONIC) - start;

	runs++;
	longest_us = us > longest_us ? us : longest_us;
	return r;
}

static void result(bool good, const char *what, const char *why)
{
	printf(good ? "ok %s\n" : "not ok %s: %s\n", what, why);
	failed |= !good;
}

static uint64_t all_of(const struct census *c)
{
	uint64_t sum = 0;

	for (int i = 0; i < ZMEM_FRAMES; i++)
		sum += c->all.kind[i];
	return sum;
}

static double cpu_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

struct tally {
	unsigned judged, held;
	double error, stated; /* sums, as parts of all frames */
};

int main(int argc, char **argv)
{
	const struct source_request request = {
		.choice = SOURCE_BPF, .pin = PIN_NOT, .pss = true, .readers = 1};
	bool verbose = argc > 2 && strcmp(argv[1], "-v") == 0;
	int rounds = argc > 1 ? atoi(argv[argc - 1]) : 10;
	cleanup(diag_clear) struct diag diag = {};
	struct procfs proc = {.fd = -1};
	struct source *source = NULL;
	struct census_source *census = NULL;
	static struct zones zones;
	struct frame_span span[ZONES_MAX];
	struct census before, after, sample;
	struct tally tally[ZMEM_FRAMES] = {};
	unsigned judged = 0, held = 0;
	uint64_t spanned = 0;
	unsigned long long longest;
	double cpu = 0;
	bool mixed;
	char why[160];

	if (procfs_open(&proc, "/proc") < 0 || source_open(&request, &proc, &diag, &source) < 0 ||
	    census_source_open(source, &diag, &census) < 0) {
		result(false, "the census opens",
		       diag.count ? diag.note[diag.count - 1].reason : "unknown");
		return 1;
	}
	zones_read(proc.fd, &zones);
	for (size_t i = 0, n = zones_spans(&zones, span, &mixed); i < n; i++)
		spanned += span[i].end - span[i].first;
	cpu = cpu_ms();
	if (census_source_read(census, &zones, CENSUS_EXACT, &before) < 0)
		result(false, "a whole census", "it cannot be read");
	if (verbose)
		printf("whole: %.1f ms of CPU, %.1f ms, %llu runs, the longest %llu us\n",
		       cpu_ms() - cpu, (double)before.duration_us / 1e3, runs, longest_us);
	longest_us = 0;
	result(all_of(&before) == spanned, "each frame is counted once", "another sum");
	cpu = cpu_ms();
	for (int r = 0; r < rounds; r++) {
		double all = (double)all_of(&before), looked;

		if (census_source_read(census, &zones, CENSUS_SAMPLE, &sample) < 0) {
			result(false, "a sample", "it cannot be read");
			break;
		}
		looked = (double)all_of(&sample);
		for (int i = 0; i < ZMEM_FRAMES; i++) {
			double is = (double)before.all.kind[i] / all;
			double found = (double)sample.all.kind[i] / looked;
			double stated = (double)sample.error.kind[i] / looked;

			if (is < JUDGED)
				continue;
			tally[i].judged++;
			tally[i].held += fabs(found - is) <= stated;
			tally[i].error += fabs(found - is);
			tally[i].stated += stated;
		}
	}
	cpu = (cpu_ms() - cpu) / (rounds ? rounds : 1);
	longest = longest_us;
	census_source_read(census, &zones, CENSUS_EXACT, &after);
	for (int i = 0; i < ZMEM_FRAMES; i++) {
		double all = (double)all_of(&before);
		double moved = fabs((double)after.all.kind[i] - (double)before.all.kind[i]) / all;
		const struct tally *t = &tally[i];

		if (!t->judged)
			continue;
		if (verbose)
			printf("kind %2d: %6.2f %% of all; error %.3f %% on average, stated %.3f %%; "
			       "held in %u of %u; moved %.3f %%\n",
			       i, (double)before.all.kind[i] * 100 / all,
			       t->error * 100 / t->judged, t->stated * 100 / t->judged, t->held,
			       t->judged, moved * 100);
		/* What the machine changed meanwhile is not the sample's error. */
		if (moved > t->stated / t->judged / 4)
			continue;
		judged += t->judged;
		held += t->held;
	}
	if (verbose)
		printf("sample: %.1f ms of CPU each, the longest run %llu us\n", cpu, longest);
	snprintf(why, sizeof(why), "only in %u of %u", held, judged);
	/* 95 % are stated. */
	result(judged && held * 10 >= judged * 8, "the stated error of a sample holds", why);
	census_source_close(census);
	source_close(source);
	procfs_close(&proc);
	return failed;
}
