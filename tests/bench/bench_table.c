// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The library beside loops in C over /proc, for one workload, and the peak memory of programs. Each
 * subject runs three times a round and the fastest counts, so that the subject before has no
 * influence. Values are medians of the rounds; ratios are medians of the ratios of each round, with
 * the quartiles.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "bench.h"

#define ROUNDS 15
#define TURNS  3

struct subject {
	const char *name;
	struct engine *engine; /* our library in this process */
	const char *file;      /* a floor: reads this file of every process */
	const char *argv[8];   /* a command */
	bool left_out;
	struct reading reading[ROUNDS_MAX];
};

enum {
	COUNTERS,
	PSS_1,
	PSS_2,
	STATM,
	ROLLUP,
	AUTO,
	PS,
	SMEM,
	SMEMSTAT,
	SUBJECTS,
};

static struct subject subjects[SUBJECTS] = {
	[COUNTERS] = {"in process: counters alone"},
	[PSS_1] = {"in process: PSS, 1 reader"},
	[PSS_2] = {"in process: PSS, 2 readers"},
	[STATM] = {"C loop over statm", .file = "statm"},
	[ROLLUP] = {"C loop over smaps_rollup, 1 thread", .file = "smaps_rollup"},
	[AUTO] = {"zmem-bpf --json", .argv = {"", "--json"}},
	[PS] = {"ps -e -o pid,rss,comm", .argv = {"ps", "-e", "-o", "pid,rss,comm"}},
	[SMEM] = {"smem", .argv = {"smem"}},
	[SMEMSTAT] = {"smemstat", .argv = {"smemstat"}},
};

static const struct {
	int slow, fast;
} claims[] = {{STATM, COUNTERS}, {ROLLUP, PSS_1}, {ROLLUP, PSS_2}, {PSS_1, PSS_2}};

static struct reading measure(const struct subject *s)
{
	if (s->engine)
		return engine_measure(s->engine);
	return s->file ? measure_read_all(s->file) : runner_run(s->argv);
}

/* What is not installed fails at once. */
static void take_turn(struct subject *s, int round)
{
	struct reading *best = &s->reading[round];

	for (int k = 0; k < TURNS && !s->left_out; k++) {
		struct reading f = measure(s);

		if (f.failed) {
			fprintf(stderr, "bench: %s: failed, and is left out\n", s->name);
			s->left_out = true;
		}
		if (k == 0 || f.wall_ms < best->wall_ms)
			*best = f;
	}
}

static void report_readings(int rounds)
{
	printf("%-36s %10s %10s %9s\n", "", "wall ms", "CPU ms", "peak MiB");
	for (int i = 0; i < SUBJECTS; i++) {
		const struct subject *s = &subjects[i];
		double wall[ROUNDS_MAX], cpu[ROUNDS_MAX], peak[ROUNDS_MAX];

		if (s->left_out)
			continue;
		for (int k = 0; k < rounds; k++) {
			wall[k] = s->reading[k].wall_ms;
			cpu[k] = s->reading[k].cpu_ms;
			peak[k] = s->reading[k].peak_mib;
		}
		printf("%-36s %10.2f %10.2f %9.1f\n", s->name, spread_of(wall, rounds).median,
		       spread_of(cpu, rounds).median, spread_of(peak, rounds).median);
	}
}

static void report_ratios(int rounds)
{
	printf("ratios of wall time (quarters)\n");
	for (size_t i = 0; i < ARRAY_SIZE(claims); i++) {
		const struct subject *slow = &subjects[claims[i].slow];
		const struct subject *fast = &subjects[claims[i].fast];
		double ratio[ROUNDS_MAX];
		struct spread r;

		if (slow->left_out || fast->left_out)
			continue;
		for (int k = 0; k < rounds; k++)
			ratio[k] = slow->reading[k].wall_ms / fast->reading[k].wall_ms;
		r = spread_of(ratio, rounds);
		printf("%8.2f (%.2f to %.2f)  %s / %s\n", r.median, r.low, r.high, slow->name,
		       fast->name);
	}
}

/* The processes that the values cover: the library alone reads no smaps_rollup. */
static void report_engine(const struct subject *s)
{
	size_t processes, n;

	if (s->left_out)
		return;
	n = engine_pss_count(s->engine, &processes);
	printf("%s: of %zu of %zu processes with memory\n", s->name, n, processes);
}

int bench_table(const struct workload *w, const char *program)
{
	static struct engine engine[3];
	int rounds = bench_rounds ? bench_rounds : ROUNDS;
	struct workload_run run;
	int r;

	subjects[AUTO].argv[0] = program;
	r = workload_start(&run, w);
	if (r == 0)
		r = engine_open(&engine[0], false, 1);
	for (int i = 0; r == 0 && i < 3; i++) {
		subjects[COUNTERS + i].engine = &engine[i];
		subjects[COUNTERS + i].left_out =
			i > 0 && engine_open_pss(&engine[i], (unsigned)i) < 0;
	}
	for (int round = 0; r == 0 && round < rounds; round++) {
		for (int i = 0; i < SUBJECTS; i++)
			take_turn(&subjects[i], round);
	}
	if (r == 0) {
		printf("\n%s (%s): %zu processes\n", w->name, w->text, engine[0].snapshot.count);
		report_readings(rounds);
		report_ratios(rounds);
		report_engine(&subjects[PSS_1]);
		report_engine(&subjects[PSS_2]);
	}
	for (int i = 0; i < 3; i++)
		engine_close(&engine[i]);
	workload_stop(&run);
	return r < 0;
}
