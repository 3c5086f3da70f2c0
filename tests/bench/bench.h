/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Interface between the parts of the bench. */
#ifndef BENCH_H
#define BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "workloads.h"
#include "source/source.h"

#define ROUNDS_MAX 99

/* ---- bench.c ---- */

extern int bench_rounds; /* BENCH_ROUNDS; 0: the default of each bench */

/* ---- bench_engine.c: the library, in this process ---- */

struct engine {
	struct procfs proc;
	struct source *source;
	struct snapshot snapshot;
	bool open;
};

/* `pss`: with PSS, by so many readers. Prints the reason on stderr if it fails. */
int engine_open(struct engine *e, bool pss, unsigned readers);
/* Likewise, but fails if no process has PSS from the kernel: that would not be a PSS time. */
int engine_open_pss(struct engine *e, unsigned readers);
int engine_collect(struct engine *e);
/* The last collection: processes with PSS from the kernel, of those with memory. */
size_t engine_pss_count(const struct engine *e, size_t *ret_processes);
void engine_close(struct engine *e);

/* ---- bench_workload.c: the processes to be measured ---- */

/* They end when we close the standard input of their program. */
struct workload_run {
	pid_t pid;
	int in, out;
};

const struct workload *workload_find(const char *name);
void workload_list(void);
/* Returns when all its processes are ready. */
int workload_start(struct workload_run *run, const struct workload *w);
void workload_stop(struct workload_run *run);

/* ---- bench_run.c: one measurement ---- */

struct reading {
	double wall_ms, cpu_ms, peak_mib;
	bool failed;
};

double now_ms(void);
/* Reads a file of every process. */
struct reading measure_read_all(const char *file);
struct reading engine_measure(struct engine *e);

/*
 * A helper process, forked while the bench is small, starts the commands: the peak memory of a
 * program includes that of the process that started it (exec_mmap(), fs/exec.c).
 */
void runner_start(void);
struct reading runner_run(const char *const *argv);

/* Of sorted values: minimum, quartiles, maximum. */
struct spread {
	double least, low, median, high, most;
};

struct spread spread_of(double *values, int count);

/* ---- the benches ---- */

int bench_table(const struct workload *w, const char *program);
int bench_watch(const char *program);
int bench_render(void);
int bench_variants(void);

#endif
