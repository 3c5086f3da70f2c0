/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * From a snapshot to what is shown of it: which processes, as what rows, in which order, how many.
 */
#ifndef ZMEM_CLI_ROWS_H
#define ZMEM_CLI_ROWS_H

#include "cli/session.h"

/* Sets the session's rows to the processes that pass the filters. Returns 0 or a negative errno. */
int rows_choose(struct session *s);
/* Only so many first rows need their PSS read; 0: all of them do. */
size_t rows_certain(const struct session *s);
/*
 * Makes rows of them as they were asked for, names and sums them. No more than `fit` are shown, 0:
 * any number. Returns 0 or a negative errno.
 */
int rows_shape(struct session *s, size_t fit, struct result *ret);
/* Sets what the memory controller says of groups. Returns 0 or a negative errno. */
int rows_charge(struct session *s, struct rows *groups);
/* Names rows that were shaped without (lazy_names). Returns 0 or a negative errno. */
int rows_name(struct session *s, struct process **rows, size_t count);

#endif
