/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads smaps_rollup of the rows that need it. */
#ifndef ZMEM_COLLECT_PSS_READ_H
#define ZMEM_COLLECT_PSS_READ_H

#include "collect/collector.h"

/*
 * Reads smaps_rollup of all chosen rows, or of as few as the first rows of the query take. Rows
 * whose values do not agree with their counters are returned in *ret_recheck, in memory of the
 * snapshot. Returns 0 or a negative errno.
 */
int pss_read(struct collector *c, const struct query *q, struct process ***ret_recheck,
	     size_t *ret_count);

/*
 * Reads again which processes exist. A process that BPF shows before and after its /proc/PID was
 * read was the same one all the time: pids are used again, and this check opens no file. The values
 * of other processes are forgotten. A process that lives and is not in /proc is denied (hidepid).
 */
int pss_confirm(struct collector *c);

#endif
