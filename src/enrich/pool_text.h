/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the texts that workers read mean. */
#ifndef ZMEM_ENRICH_POOL_TEXT_H
#define ZMEM_ENRICH_POOL_TEXT_H

#include "base/parse.h"
#include "enrich/enrich.h"

/* The longest text that is read of a process. */
#define POOL_TEXT_MAX (POOL_CMDLINE_MAX * 2)

/* Below /proc/PID. */
const char *pool_file_name(enum pool_file file);

/* Makes a result of a text, or of a negative errno. */
void pool_understand(enum pool_file file, const char *text, ssize_t len_or_error,
		     struct pool_result *ret);

/* Makes a result of a negative errno. */
void pool_fail(struct pool_result *ret, int error);

/* What a process is called, out of its command line; a part of that, of its name or of comm. */
struct text_part pool_program_name(const struct process *p, const char *cmdline, size_t len);

/* Replaces the command lines that were read for POOL_PROGRAM by the programs' names. */
void pool_make_names(struct process *const *rows, size_t count, struct pool_result *results);

#endif
