/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What is compared, and the readings of one round, in the order of check/compare.h. */
#ifndef ZMEM_CHECK_COMPARE_READ_H
#define ZMEM_CHECK_COMPARE_READ_H

#include "check/compare.h"
#include "enrich/enrich.h"
#include "query/filter.h"
#include "source/source.h"

/* A process with a PSS from the kernel that differs from smaps_rollup. */
struct check_difference {
	pid_t pid;
	bool execed; /* it executed another program meanwhile; there are no values */
	enum counter counter;
	uint64_t kernel, rollup; /* bytes */
};

/* The kernel's side of a snapshot, which is compared with /proc. Nothing of it is owned. */
struct check {
	struct snapshot *snapshot; /* from BPF; its cross_check is completed */
	struct snapshot *again;	   /* two, of some processes */
	struct process_list *rows; /* the chosen rows of the snapshot */
	const struct procfs *proc;
	struct source *source;
	struct proc_pool *pool;
	pid_t self;
	int verify;    /* the number of rows to compare with smaps_rollup, or VERIFY_ALL */
	bool own_only; /* smaps_rollup of this uid alone may be read */
	uid_t uid;
	/* What --verify found, in memory of the snapshot. */
	struct check_difference *difference;
	size_t difference_count;
	size_t pss_wrong; /* of them: how many show that PSS from the kernel is wrong */
	size_t verify_readable, verify_count; /* processes with PSS from the kernel */
	bool unreadable;		      /* fewer may be read than requested */
};

/* What one round reads of /proc for an unsettled row. */
struct compare_reading {
	struct compare_row *row;
	struct process status_before, status_after, rollup;
	enum pss_status status_result;
	struct pool_result rollup_result;
};

struct compare_reader {
	struct check *check;
	struct comparison *comparison;
	size_t left;	 /* the number of unsettled rows */
	size_t referees; /* processes with a smaps_rollup that was read in the first round */
	unsigned char *with_rollup; /* by row of the comparison: read its smaps_rollup */
	bool verifies;		    /* of --verify: compare_verify() judges the rows */
	/* By unsettled row; the last two are for the pool. */
	struct compare_reading *reading;
	struct process **process;
	struct pool_result *result;
};

/*
 * Prepares to read the first `count` rows. Returns 0 or -ENOMEM; compare_reader_done() in either
 * case.
 */
int compare_reader_init(struct compare_reader *r, struct check *c, struct comparison *comparison,
			size_t count);
void compare_reader_done(struct compare_reader *r);
/* Reads one round. `cost`: the cost of the first round, or NULL. Returns 0 or a negative errno. */
int compare_read_round(struct compare_reader *r, unsigned round, struct compare_cost *cost);

/*
 * Finds processes with memory that are in /proc, that BPF does not see and that the filter accepts.
 * Returns 0 or a negative errno.
 */
int compare_find_hidden(struct check *c, const struct filter *f, struct snapshot *ret);

/* Replaces the counters of the kernel by those of another reading. */
void verify_copy_counters(struct process *p, const struct process *from);

#endif
