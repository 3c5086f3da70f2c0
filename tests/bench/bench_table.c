// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The table of one workload. Each subject runs three times a round and the fastest counts, so that
 * the subject before has no influence. Values are medians of the rounds; ratios are medians of the
 * ratios of each round, with the quartiles.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "bench.h"

#define ROUNDS 15
#define TURNS  3
#define SLOW   3 /* rounds of the slowest subjects */

struct subject {
	const char *name;
	struct engine *engine; /* our library in this process */
	const char *file;      /* a floor: reads this file of every process */
	const char *argv[8];   /* a command */
	int rounds;
	struct reading counter[ROUNDS_MAX];
};

enum {
	COUNTERS,
	PSS_1,
	PSS_2,
	STATM,
	STATUS,
	ROLLUP,
	NO_PSS,
	AUTO,
	BY_ROLLUP,
	TOP20,
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
	[STATUS] = {"C loop over status", .file = "status"},
	[ROLLUP] = {"C loop over smaps_rollup, 1 thread", .file = "smaps_rollup"},
	[NO_PSS] = {"zmem-bpf --json --pss none", .argv = {"", "--json", "--pss", "none"}},
	[AUTO] = {"zmem-bpf --json", .argv = {"", "--json"}},
	[BY_ROLLUP] = {"zmem-bpf --json --pss rollup", .argv = {"", "--json", "--pss", "rollup"}},
	[TOP20] = {"zmem-bpf --json --top 20", .argv = {"", "--json", "--top", "20"}},
	[PS] = {"ps -e -o pid,rss,comm", .argv = {"ps", "-e", "-o", "pid,rss,comm"}},
	[SMEM] = {"smem", .argv = {"smem"}},
	[SMEMSTAT] = {"smemstat", .argv = {"smemstat"}},
};

static const struct {
	int slow, fast;
} claims[] = {{STATM, COUNTERS}, {STATUS, COUNTERS}, {ROLLUP, PSS_1},  {ROLLUP, PSS_2},
	      {PSS_1, PSS_2},	 {PS, NO_PSS},	     {STATUS, NO_PSS}, {ROLLUP, AUTO},
	      {BY_ROLLUP, AUTO}, {ROLLUP, TOP20},    {SMEM, AUTO},     {SMEMSTAT, AUTO}};

static bool installed(const char *program)
{
	char command[64];

	snprintf(command, sizeof(command), "command -v %s >/dev/null 2>&1", program);
	return system(command) == 0;
}

static void choose(const char *program)
{
	int rounds = bench_rounds ? bench_rounds : ROUNDS;

	for (int i = 0; i < SUBJECTS; i++) {
		struct subject *s = &subjects[i];

		s->rounds = rounds;
		if (s->argv[0] && !*s->argv[0])
			s->argv[0] = program;
		else if (s->argv[0] && !installed(s->argv[0]))
			s->rounds = 0;
	}
	if (rounds > SLOW) {
		subjects[SMEM].rounds = subjects[SMEM].rounds ? SLOW : 0;
		subjects[SMEMSTAT].rounds = subjects[SMEMSTAT].rounds ? SLOW : 0;
	}
}

static struct reading measure(const struct subject *s)
{
	if (s->engine)
		return session_collect(s->engine);
	return s->file ? measure_read_all(s->file) : runner_run(s->argv);
}

static void take_turn(struct subject *s, int round)
{
	int turns = s == &subjects[SMEM] || s == &subjects[SMEMSTAT] ? 1 : TURNS;
	struct reading *best = &s->counter[round];

	for (int k = 0; k < turns && s->rounds; k++) {
		struct reading f = measure(s);

		if (f.failed) {
			fprintf(stderr, "bench: %s: failed, and is left out\n", s->name);
			s->rounds = 0;
		}
		if (k == 0 || f.wall_ms < best->wall_ms)
			*best = f;
	}
}

static struct reading medians(const struct subject *s)
{
	double wall[ROUNDS_MAX], cpu[ROUNDS_MAX], peak[ROUNDS_MAX];

	for (int i = 0; i < s->rounds; i++) {
		wall[i] = s->counter[i].wall_ms;
		cpu[i] = s->counter[i].cpu_ms;
		peak[i] = s->counter[i].peak_mib;
	}
	return (struct reading){spread_of(wall, s->rounds).median, spread_of(cpu, s->rounds).median,
				spread_of(peak, s->rounds).median};
}

static struct spread ratios(const struct subject *slow, const struct subject *fast)
{
	int n = slow->rounds < fast->rounds ? slow->rounds : fast->rounds;
	double r[ROUNDS_MAX];

	for (int i = 0; i < n; i++)
		r[i] = slow->counter[i].wall_ms / fast->counter[i].wall_ms;
	return spread_of(r, n);
}

static void report_counters(size_t processes)
{
	printf("%-36s %10s %10s %9s\n", "", "wall ms", "CPU ms", "peak MiB");
	for (int i = 0; i < SUBJECTS; i++) {
		const struct subject *s = &subjects[i];
		struct reading f;

		if (!s->rounds)
			continue;
		f = medians(s);
		printf("%-36s %10.2f %10.2f", s->name, f.wall_ms, f.cpu_ms);
		if (f.peak_mib > 0)
			printf(" %9.1f", f.peak_mib);
		putchar('\n');
		bench_json("\"processes\":%zu,\"subject\":\"%s\",\"rounds\":%d,\"wall_ms\":%.3f,"
			   "\"cpu_ms\":%.3f,\"peak_mib\":%.1f",
			   processes, s->name, s->rounds, f.wall_ms, f.cpu_ms, f.peak_mib);
	}
}

static void report_ratios(void)
{
	printf("ratios of wall time (quarters)\n");
	for (size_t i = 0; i < ARRAY_SIZE(claims); i++) {
		const struct subject *slow = &subjects[claims[i].slow];
		const struct subject *fast = &subjects[claims[i].fast];
		struct spread r;

		if (!slow->rounds || !fast->rounds)
			continue;
		r = ratios(slow, fast);
		printf("%8.2f (%.2f to %.2f)  %s / %s\n", r.median, r.low, r.high, slow->name,
		       fast->name);
		bench_json("\"slow\":\"%s\",\"fast\":\"%s\",\"ratio\":%.3f,\"low\":%.3f,"
			   "\"high\":%.3f",
			   slow->name, fast->name, r.median, r.low, r.high);
	}
}

/* The processes that the values cover: the library alone reads no smaps_rollup. */
static void report_engine(const struct subject *s)
{
	size_t processes, n;

	if (!s->rounds)
		return;
	n = engine_pss_count(s->engine, &processes);
	printf("%s: of %zu of %zu processes with memory\n", s->name, n, processes);
	bench_json("\"subject\":\"%s\",\"pss_processes\":%zu,\"of_processes\":%zu", s->name, n,
		   processes);
}

/* The sources of PSS, and how many smaps_rollup --top had to read. */
static void tell_reads(const char *program)
{
	char command[8192];

	snprintf(
		command, sizeof(command),
		"'%s' --json | sed -n 's/.*\"pss_source\": *\"*\\([a-z_]*\\).*/\\1/p' | sort | uniq -c |\n"
		"	while read -r n from; do echo \"zmem-bpf --json: PSS of $n from $from\"; done\n"
		"'%s' --top 20 --timing 2>&1 >/dev/null |\n"
		"	sed -n 's/^smaps_rollup/zmem-bpf --top 20: &/p'",
		program, program);
	fflush(stdout);
	if (system(command))
		fprintf(stderr, "bench: %s failed\n", program);
}

int bench_table(const struct workload *w, const char *program)
{
	static struct engine engine[3];
	int rounds = bench_rounds ? bench_rounds : ROUNDS;
	struct helper fleet;
	int r;

	choose(program);
	r = workload_start(&fleet, w->spec);
	if (r == 0)
		r = engine_open(&engine[0], false, 1);
	for (int i = 0; r == 0 && i < 3; i++) {
		subjects[COUNTERS + i].engine = &engine[i];
		if (i > 0 && engine_open_pss(&engine[i], (unsigned)i) < 0)
			subjects[COUNTERS + i].rounds = 0;
	}
	for (int round = 0; r == 0 && round < rounds; round++) {
		for (int i = 0; i < SUBJECTS; i++) {
			if (round < subjects[i].rounds)
				take_turn(&subjects[i], round);
		}
	}
	if (r == 0) {
		printf("\n%s (%s): %zu processes\n", w->name, w->text, engine[0].snapshot.count);
		report_counters(engine[0].snapshot.count);
		report_ratios();
		report_engine(&subjects[PSS_1]);
		report_engine(&subjects[PSS_2]);
		tell_reads(program);
	}
	for (int i = 0; i < 3; i++)
		engine_close(&engine[i]);
	helper_stop(&fleet);
	return r < 0;
}
