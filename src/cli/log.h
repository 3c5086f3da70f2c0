/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Everything that goes to stderr, and the exit codes (the contract has their meaning). */
#ifndef ZMEM_CLI_LOG_H
#define ZMEM_CLI_LOG_H

#include <stdbool.h>

#include "base/diag.h"

enum exit_code {
	EXIT_DONE = 0,
	EXIT_FAILED = 1,
	EXIT_USAGE = 2,
	EXIT_NOT_FOUND = 3,
	EXIT_DIFFERENT = 4,
};

/* "zmem-bpf: …". Returns EXIT_FAILED. */
__attribute__((format(printf, 1, 2))) int log_error(const char *fmt, ...);
/* The same with the text of a negative errno, and what to do about a want of files or memory. */
__attribute__((format(printf, 2, 3))) int log_errno(int error, const char *fmt, ...);
/* The same with a hint at --help. Returns EXIT_USAGE. */
__attribute__((format(printf, 1, 2))) int log_usage(const char *fmt, ...);
/* A note; not shown with --quiet. */
__attribute__((format(printf, 2, 3))) void log_notice(bool quiet, const char *fmt, ...);
/*
 * Writes what was printed to stdout. Returns an exit code after a message; a reader that went away
 * or a stdout that never was is no error.
 */
int log_stdout_done(void);
/* The notes of diag, one a line, with logs if `logs`. */
void log_diag(const struct diag *d, bool logs);

#endif
