/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Messages on stderr, and the exit codes. */
#ifndef ZMEM_SESSION_LOG_H
#define ZMEM_SESSION_LOG_H

#include <stdbool.h>

#include "base/diag.h"

struct options;

enum exit_code {
	EXIT_DONE = 0,
	EXIT_FAILED = 1,
	EXIT_USAGE = 2,
	EXIT_NOT_FOUND = 3,
	EXIT_DIFFERENT = 4,
	/* Exit codes of own failures of peak and grow (env(1)); others are the command's. */
	EXIT_UNMEASURED = 125,
	EXIT_NOT_EXECUTED = 126,
	EXIT_NO_COMMAND = 127,
};

/* "zmem-bpf: …". Returns EXIT_FAILED. */
__attribute__((format(printf, 1, 2))) int log_error(const char *fmt, ...);
/* The same with the text of a negative errno, and a hint if files or memory are exhausted. */
__attribute__((format(printf, 2, 3))) int log_errno(int error, const char *fmt, ...);
/* The same with a hint to the --help of the command, or of the program if none is named. Returns
 * EXIT_USAGE. */
__attribute__((format(printf, 2, 3))) int log_usage(const struct options *o, const char *fmt, ...);
/* A note; not shown with --quiet. */
__attribute__((format(printf, 2, 3))) void log_notice(bool quiet, const char *fmt, ...);
/*
 * Flushes stdout. Returns an exit code, after a message if that failed. A closed pipe or a closed
 * stdout is no error.
 */
int log_stdout_done(void);
/* "zmem-bpf: reason (hint)" of a note that may be NULL, or the text of the errno. Returns
 * EXIT_FAILED. */
int log_refusal(const struct diag_note *n, int error);
/* Prints the notes of diag, one per line, with their logs if `logs`. */
void log_diag(const struct diag *d, bool logs);

#endif
