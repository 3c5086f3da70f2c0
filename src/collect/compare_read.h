/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The readings of one round of a comparison, in the order that compare/compare.h describes. */
#ifndef ZMEM_COLLECT_COMPARE_READ_H
#define ZMEM_COLLECT_COMPARE_READ_H

#include "collect/collector.h"
#include "compare/verify.h"

struct compare_reader {
	struct collector *collector;
	struct compare_row **row; /* not settled */
	size_t left;
	size_t referees;       /* processes whose smaps_rollup was read */
	unsigned char *chosen; /* by row of the comparison: its smaps_rollup is to be read */
	bool verifies;	       /* rows are those of --verify: compare_verify() judges them */
	struct comparison *comparison;
	/* By unsettled row: */
	bool *stale; /* from a tape, and there are no further readings of it */
	struct process **process;
	struct process *status_before, *status_after, *rollup;
	enum pss_status *status_result;
	struct pool_result *result, *rollup_result;
};

/* For the first `count` rows. Returns 0 or -ENOMEM; compare_reader_done() in either case. */
int compare_reader_init(struct compare_reader *r, struct collector *c,
			struct comparison *comparison, size_t count);
void compare_reader_done(struct compare_reader *r);
/* One round. `cost`: what the first one took; NULL: not wanted. Returns 0 or a negative errno. */
int compare_read_round(struct compare_reader *r, unsigned round, struct compare_cost *cost);

/*
 * Processes with memory that are in /proc and that the kernel does not show to BPF, as far as the
 * filter accepts them. Returns 0 or a negative errno.
 */
int compare_find_hidden(struct collector *c, const struct filter *f, struct snapshot *ret);

/* Between smaps_rollup and the values that were made of it. */
struct verify_rollup verify_rollup_of(const struct process *values,
				      const struct pool_result *result);

#endif
