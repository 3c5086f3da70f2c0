/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Interface of check_counters: parses the program's snapshot, reads /proc as the reference and runs
 * programs. It shares no code with the program under test.
 */
#ifndef TESTS_CHECK_H
#define TESTS_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* ---- check_json.c: a document with one process a line, by exact key ---- */

struct row {
	pid_t pid;
	char *line;
};

struct document {
	char *text;
	struct row *row; /* by pid */
	size_t count;
	const char *totals, *collection, *source; /* their lines, NULL if there are none */
};

/* Compares structures that begin with a pid, for qsort() and bsearch(). */
int by_pid(const void *a, const void *b);
/* Takes over text (malloc). Returns false if it is no snapshot. */
bool document_parse(char *text, struct document *ret);
void document_done(struct document *d);
const char *document_find(const struct document *d, pid_t pid);

/* False for null and for a key that is not there. */
bool json_number(const char *line, const char *key, long long *ret);
bool json_is_true(const char *line, const char *key);
/* Decodes a string. Returns its length, -1 for null or a key that is not there. */
ssize_t json_text(const char *line, const char *key, char *buf, size_t size);
/*
 * True if the string at `key` is `bytes`: itself where it is UTF-8; else with U+FFFD for each bad
 * byte, and `key`_hex has the bytes.
 */
bool json_text_is(const char *line, const char *key, const char *bytes, size_t len);

/* ---- check_proc.c ---- */

struct reading {
	pid_t pid;
	bool alive; /* has memory: not a kernel thread, and not a zombie without live threads */
	bool kthread;
	pid_t ppid;
	long threads, uid, oom_score_adj;
	long long majflt, maps; /* maps: -1 without permission */
	int exe_deleted;	/* likewise */
	unsigned long long start_ticks;
	char comm[64];
	size_t comm_len;
	char name[512]; /* base name of the executable, empty if unknown */
	size_t name_len;
	char cgroup[1024];
	char *status, *rollup; /* texts; rollup NULL with rollup_error */
	int rollup_error;
};

struct readings {
	struct reading *item; /* by pid */
	size_t count;
};

/* Reads all processes of the machine, or only those of `only`. */
void readings_take(struct readings *r, const pid_t *only, size_t only_count);
void readings_done(struct readings *r);
const struct reading *readings_find(const struct readings *r, pid_t pid);
/* Sum of "Key: N kB" lines; keys are joined by '+'. -1 if one of them is not there. */
long long kib_sum(const char *text, const char *keys);
/* Realtime of the machine's boot, ms. */
long long boot_ms(void);

/* ---- check_run.c ---- */

struct child {
	pid_t pid;
	int out;
};

/* Runs argv with its output kept; child_wait returns it (malloc, terminated) and the exit status.
 */
bool child_start(struct child *c, const char *const *argv);
char *child_wait(struct child *c, int *ret_status);

#define TARGETS_MAX 400

struct target {
	char label[64]; /* shape/role */
	pid_t pid;
};

struct mkmem {
	pid_t pid;
	int in;
	struct target target[TARGETS_MAX];
	size_t count;
};

/*
 * Starts mkmem and waits until it is ready. Prints the shapes that were skipped. Returns false if
 * it failed.
 */
bool mkmem_start(struct mkmem *m, const char *program, const char *const *shapes, bool want_all);
void mkmem_stop(struct mkmem *m);
/* Starts endless forks and execs of a copy of mkmem, so that the PSS of mkmem's text stays. */
bool churn_start(struct mkmem *m, const char *program);

/* ---- check_compare.c ---- */

struct mode {
	const char *label;
	const char *args[5];
	bool pss;	  /* PSS is requested */
	bool by_proc;	  /* the counters come from /proc/PID/status and are as exact as it is */
	const char *from; /* expected pss_source; NULL: any */
	bool twice;	  /* also compare two programs that run at once */
};

enum verdict {
	SAME,
	MOVED, /* /proc contradicted itself */
	DIFFERENT,
};

/*
 * Compares a process of a snapshot with readings of /proc before and after it; `why` gets the first
 * difference. `label` names mkmem's process, which is idle; NULL for others. `status_exact`:
 * /proc/PID/status is exact on this kernel.
 */
enum verdict compare_process(const struct mode *mode, const char *label, const char *line,
			     const struct reading *before, const struct reading *after,
			     bool status_exact, char *why, size_t why_size);

/* ---- check_counters.c ---- */

struct test {
	const char *program;
	bool all_shapes, churn, only_mkmem, quick, some_shapes; /* options */
	bool status_exact;					/* /proc/PID/status is exact here */
	char when[64];						/* for result() */
	struct mkmem mkmem;
	bool failed;
};

extern struct test test;

/* Prints "ok mode what" or "not ok mode what: why". */
void result(bool good, const char *mode, const char *what, const char *why);
/* Runs the program with these arguments. Returns false after a message if it failed. */
bool snapshot(const char *const *args, struct document *ret);
/* The pid of shape/role; 0 if there is none. */
pid_t target_pid(const char *label);

/* ---- check_whole.c ---- */

void check_snapshot(const struct mode *mode);
void check_zombie(void);
void check_two(const struct mode *mode);

#endif
