/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The readings of a comparison, in the order that zmem/compare.h wants them. */
#ifndef ZMEM_CLI_COMPARE_READ_H
#define ZMEM_CLI_COMPARE_READ_H

#include "cli/session.h"
#include "compare/compare.h"

struct compare_reader {
	struct session *session;
	struct compare_row **row; /* not settled */
	size_t left;
	size_t referees;       /* processes whose smaps_rollup was read */
	unsigned char *chosen; /* by row of the comparison: its smaps_rollup is to be read */
	struct comparison *comparison;
	/* By unsettled row: */
	struct process **process;
	struct process *status_before, *status_after, *rollup;
	enum pss_status *status_result, *rollup_result;
	struct pool_result *result;
};

/* For the first `count` rows. Returns 0 or -ENOMEM; compare_reader_done() in either case. */
int compare_reader_init(struct compare_reader *r, struct session *s, struct comparison *c,
			size_t count);
void compare_reader_done(struct compare_reader *r);
/* One round. Returns 0 or a negative errno. */
int compare_read_round(struct compare_reader *r, unsigned round, struct compare_cost *cost);

/*
 * Processes with memory that are in /proc and that the kernel does not show to BPF, as far as the
 * filter has them. Returns 0 or a negative errno.
 */
int compare_find_hidden(struct session *s, struct snapshot *ret);

#endif
