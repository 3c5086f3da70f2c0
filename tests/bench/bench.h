/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the parts of the bench share. */
#ifndef BENCH_H
#define BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "workloads.h"
#include "source/source.h"

#define ROUNDS_MAX 99

/* ---- bench.c ---- */

extern const char *bench_workload; /* as it was named */
extern int bench_rounds;	   /* BENCH_ROUNDS, 0: as many as each thinks right */

/* A line of BENCH_LINES: {"workload":…, and what is given, }. */
__attribute__((format(printf, 1, 2))) void bench_json(const char *format, ...);
/* Of what stands beside the bench: build/NAME. */
void bench_beside(const char *name, char *ret, size_t size);

/* ---- bench_engine.c: the library, in this process ---- */

struct engine {
	struct procfs proc;
	struct source *source;
	struct snapshot snapshot;
	bool open;
};

/* pss: with PSS, walked by so many readers. Says why on stderr if it fails. */
int engine_open(struct engine *e, bool pss, unsigned readers);
/* Likewise, and it fails where no process's PSS comes of it: nothing else is to be timed as PSS. */
int engine_open_pss(struct engine *e, unsigned readers);
int engine_collect(struct engine *e);
/* Of the last collection: those whose PSS the kernel gave, of so many that have memory. */
size_t engine_pss_count(const struct engine *e, size_t *ret_processes);
void engine_close(struct engine *e);

/* ---- bench_workload.c: the processes to be measured ---- */

/* A program that ends when our end of its standard input does. */
struct helper {
	pid_t pid;
	int in, out;
};

const struct workload *workload_find(const char *name);
void workload_list(void);
int helper_start(struct helper *h, const char *name, const char *const *args);
void helper_stop(struct helper *h);
/* Starts build/workload and returns when all its processes are ready. */
int workload_start(struct helper *h, const char *const *specs);

/* ---- bench_run.c: one measurement ---- */

struct counter {
	double wall_ms, cpu_ms, peak_mib;
	bool failed;
};

double now_ms(void);
/* Of a file of every process. */
struct counter measure_read_all(const char *file);
struct counter measure_collect(struct engine *e);
/* Opening and closing alone. */
struct counter measure_open(bool pss, unsigned readers);

/*
 * Commands are started by a process of their own, forked off while we are small: a program's peak
 * memory begins with that of the one that started it (exec_mmap(), fs/exec.c).
 */
void runner_start(void);
struct counter runner_run(const char *const *argv);

/* Sorted values: the least, the quarters, the most. */
struct spread {
	double least, low, median, high, most;
};

struct spread spread_of(double *values, int count);

/* ---- what there is to run ---- */

int bench_table(const struct workload *w, const char *program);
int bench_marginal(void);
int bench_load(void);
int bench_watch(const char *program);
int bench_render(void);
int bench_stall(const char *kind, const char *program);

#endif
