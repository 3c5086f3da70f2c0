/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The files of processes that workers of a pool read. */
#ifndef ZMEM_ENRICH_POOL_FILE_H
#define ZMEM_ENRICH_POOL_FILE_H

#include "base/parse.h"
#include "enrich/enrich.h"
#include "model/app.h"

/* A file of a process. It has no pointer into the snapshot, which a worker may outlive. */
struct target {
	const struct procfs *proc;
	bool has_rollup; /* this /proc has smaps_rollup */
	enum pool_file file;
	pid_t pid;
	uint64_t start_ns;
	bool check_start; /* read only the process that started then */
	bool leader_exited;
	/* Called after each piece of smaps; false ends the read. */
	bool (*go_on)(void *arg);
	void *arg;
};

/* Blocks as long as the process is stuck. The result has any error. */
void target_read(const struct target *t, struct pool_result *ret);

/* Makes a result of a text, or of a negative errno. */
void pool_understand(enum pool_file file, const char *text, ssize_t len_or_error,
		     struct pool_result *ret);

/* The program's name from a command line; a part of it, of p->name or of p->comm. */
struct text_part pool_program_name(const struct process *p, const char *cmdline, size_t len);

/* Writes the app, likewise (model/app.h). Returns its length. */
size_t pool_app(const struct process *p, const char *cmdline, size_t len, char ret[APP_MAX + 1]);

/* Replaces the command lines that were read for POOL_PROGRAM by the programs' names. */
void pool_make_names(struct process *const *rows, size_t count, struct pool_result *results);

#endif
