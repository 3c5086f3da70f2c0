/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What is said of a result below its table. */
#ifndef ZMEM_FIELDS_SUMMARY_SAID_H
#define ZMEM_FIELDS_SUMMARY_SAID_H

#include "fields/row.h"
#include "fields/sentence.h"

/* How many values are missing for a reason. */
struct reason_count {
	const char *why;
	size_t count;
};

#define MISSING_REASONS 5

/* A result, and what was looked for in it. */
struct summary {
	const struct result *result;
	struct reason_count missing[MISSING_REASONS]; /* PSS of processes */
	size_t freed_rows;			      /* with memory, and without FREED */
	struct reason_count freed[PSS_STATUS_COUNT];  /* why */
	uint64_t lazyfree, shmem;		      /* that are worth a line; 0: are not */
	bool machine;				      /* swap in use is told, too */
	bool no_swap;				      /* where rows are sorted by it */
	bool by_strain;				      /* cgroups are, as usual */
	const char *unsorted;			      /* the column that no row has a value for */
	enum pss_status unsorted_why;		      /* PSS_OK: not known */
	const char *nothing;			      /* in place of a result without processes */
};

/* Rows are struct summary. */
extern const struct sentences summary_said, summary_line, summary_memcgs, summary_nothing,
	summary_notes;

#endif
