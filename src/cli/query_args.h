/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The words of the options that name columns, users, pids and patterns, made into a query. */
#ifndef ZMEM_CLI_REQUEST_H
#define ZMEM_CLI_REQUEST_H

#include "cli/session.h"

/* Fills columns, order and filter of the session. Returns 0, or an exit code after a message. */
int request_read(struct session *s);
/* What is shown beyond the counters: of the columns, or of the format (enum column_needs). */
unsigned request_needs(const struct session *s);
/* What a page (-F html) groups by at first; NULL: nothing, or it is another format. */
const struct column *request_page_group(const struct options *o);
/* Says which of the pids that were asked for are not there, and sets the exit code. */
void request_report_missing(struct session *s);
/*
 * Another filter by users, or by name and command line, "": none. Returns 0, or an exit code after
 * a message: then the one before stays.
 */
int request_users(struct session *s, const char *list);
int request_pattern(struct session *s, const char *text);
/* A message about a negative errno of rows_choose(). Returns an exit code. */
int request_failed(int error, const char *what);
void request_done(struct session *s);

#endif
