// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Measures how much a reader stalls the process that it reads: the time of the victim's own mmap,
 * touch and munmap of 64 KiB while each disturbance runs in turn, several times over. A busy CPU
 * alone slows the victim, so that is one of the disturbances. A program with as many threads as
 * there are CPUs also uses the victim's CPU.
 */
#include <poll.h>
#include <stdio.h>
#include <unistd.h>

#include "bench.h"
#include "latency.h"
#include "read_all.h"

#define ROUNDS	    5
#define PHASE_MS    3000
#define VICTIM_MIB  "2048"
#define WATCH_TICKS "10" /* so that it ends not long after the victim */

enum {
	ALONE,
	BUSY,
	ENGINE,
	PROGRAM,
	WATCH,
	ROLLUP,
	PHASES,
};

static const char *const names[PHASES] = {
	[ALONE] = "alone",
	[BUSY] = "the other CPU is busy",
	[ENGINE] = "PSS of the machine, 1 reader, in a loop",
	[PROGRAM] = "zmem-bpf --json in a loop",
	[WATCH] = "zmem-bpf watch -i 0.1",
	[ROLLUP] = "its smaps_rollup in a loop",
};

struct stall {
	struct helper victim;
	struct engine engine;
	const char *program;
	struct latency all[PHASES];
	double p999_us[PHASES][ROUNDS_MAX];
	uint64_t reads[PHASES];
	uint64_t from_kernel; /* collections that had the victim's PSS */
};

static bool read_latency(int fd, struct latency *l)
{
	char *p = (char *)l;
	size_t left = sizeof(*l);

	while (left) {
		ssize_t n = read(fd, p, left);

		if (n <= 0)
			return false;
		p += n;
		left -= (size_t)n;
	}
	return true;
}

static bool finished(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};

	return poll(&p, 1, 0) != 0;
}

static bool read_once(struct stall *s, int phase)
{
	const char *argv[] = {s->program, "--json", NULL};
	const char *watch[] = {s->program, "watch",	"-i",	     "0.1",
			       "-c",	   WATCH_TICKS, "--changed", NULL};
	const struct process *p;
	char path[64];

	switch (phase) {
	case ENGINE:
		if (engine_collect(&s->engine) < 0)
			return false;
		p = snapshot_find(&s->engine.snapshot, s->victim.pid);
		s->from_kernel += p && p->pss_source == PSS_FROM_KERNEL;
		return true;
	case PROGRAM:
		return !runner_run(argv).failed;
	case WATCH:
		return !runner_run(watch).failed;
	case ROLLUP:
		snprintf(path, sizeof(path), "/proc/%d/smaps_rollup", s->victim.pid);
		read_file(path);
		return true;
	default:
		return true;
	}
}

static bool run_phase(struct stall *s, int phase, int round)
{
	uint32_t ms = PHASE_MS;
	struct latency l;

	if (write(s->victim.in, &ms, sizeof(ms)) != sizeof(ms))
		return false;
	while (phase != ALONE && !finished(s->victim.out)) {
		if (!read_once(s, phase))
			return false;
		s->reads[phase]++;
	}
	if (!read_latency(s->victim.out, &l))
		return false;
	latency_merge(&s->all[phase], &l);
	s->p999_us[phase][round] = (double)latency_percentile(&l, 0.999) / 1e3;
	return true;
}

static void report(struct stall *s, const char *kind, int rounds)
{
	double seconds = (double)rounds * PHASE_MS / 1e3, ratio[ROUNDS_MAX];

	printf("\n%s: a victim of " VICTIM_MIB " MiB (%s), %d times %d s each\n", bench_workload,
	       kind, rounds, PHASE_MS / 1000);
	printf("%-40s %8s %9s %9s %9s %9s  %s\n", "latency in microseconds", "p50", "p99", "p99.9",
	       "max", "reads/s", "p99.9 to alone (least, most)");
	for (int i = 0; i < PHASES; i++) {
		const struct latency *l = &s->all[i];
		double p50 = (double)latency_percentile(l, 0.5) / 1e3;
		double p99 = (double)latency_percentile(l, 0.99) / 1e3;
		double p999 = (double)latency_percentile(l, 0.999) / 1e3;
		double rate = i > BUSY ? (double)s->reads[i] / seconds : 0;
		struct spread r;

		if (!l->count)
			continue;
		for (int k = 0; k < rounds; k++)
			ratio[k] = s->p999_us[i][k] / s->p999_us[ALONE][k];
		r = spread_of(ratio, rounds);
		printf("%-40s %8.1f %9.1f %9.1f %9.1f %9.0f  %.2f (%.2f, %.2f)\n", names[i], p50,
		       p99, p999, (double)l->max_ns / 1e3, rate, r.median, r.least, r.most);
		bench_json("\"subject\":\"%s\",\"rounds\":%d,\"samples\":%lu,\"p50_us\":%.1f,"
			   "\"p99_us\":%.1f,\"p999_us\":%.1f,\"max_us\":%.1f,\"reads_per_s\":%.1f,"
			   "\"p999_to_alone\":%.3f,\"least\":%.3f,\"most\":%.3f",
			   names[i], rounds, (unsigned long)l->count, p50, p99, p999,
			   (double)l->max_ns / 1e3, rate, r.median, r.least, r.most);
	}
	if (s->engine.open)
		printf("the victim's PSS came from the kernel in %lu of %lu collections\n",
		       (unsigned long)s->from_kernel, (unsigned long)s->reads[ENGINE]);
}

int bench_stall(const char *kind, const char *program)
{
	static struct stall s;
	const char *const args[] = {kind, VICTIM_MIB, NULL};
	int rounds = bench_rounds ? bench_rounds : ROUNDS;
	bool ok;

	s.program = program;
	engine_open_pss(&s.engine, 1);
	ok = helper_start(&s.victim, "victim", args) == 0 &&
	     read_latency(s.victim.out, &s.all[ALONE]);
	for (int round = 0; ok && round < rounds; round++) {
		for (int i = 0; ok && i < PHASES; i++) {
			if (i == ENGINE && !s.engine.open)
				continue;
			usleep(100000);
			ok = run_phase(&s, i, round);
		}
	}
	if (ok)
		report(&s, kind, rounds);
	else
		fprintf(stderr, "bench: %s: the victim or its reader failed\n", bench_workload);
	engine_close(&s.engine);
	helper_stop(&s.victim);
	return !ok;
}
