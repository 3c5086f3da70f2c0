/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* PSS for the rows that need it, and the check of smaps_rollup against the kernel's counters. */
#ifndef ZMEM_CLI_PSS_H
#define ZMEM_CLI_PSS_H

#include "cli/session.h"

/*
 * Reads smaps_rollup of all rows, or with `top` of as few as the first `top` rows take. Rows whose
 * values do not fit their counters are returned in *ret_recheck, memory of the snapshot.
 */
int pss_read(struct session *s, size_t top, struct process ***ret_recheck, size_t *ret_count);

/*
 * Looks again who is there. A process that the kernel shows before and after its /proc/PID was read
 * was the same all the time: pids are used again, and this way to know it opens no file of the
 * process. Of the others what was read is forgotten; one that lives but is not in /proc is denied
 * to us (hidepid).
 */
int pss_confirm(struct session *s);

/*
 * Looks at doubtful rows again, between two readings of the counters, before any is called
 * different: a process that runs is a moving target. Completes collection.cross_check.
 */
int pss_check_again(struct session *s, struct process **recheck, size_t count);

/*
 * Rows whose PSS is the kernel's, to be set against smaps_rollup: `how_many` small ones, from a
 * random one on, so that in time everybody's turn comes; or VERIFY_ALL. Returns how many.
 */
size_t pss_choose(const struct session *s, int how_many, struct process **ret);

/*
 * Reads smaps_rollup of some rows whose PSS is the kernel's (--verify) and compares. A difference
 * that stays while nothing moves is told, and sets the exit code.
 */
int pss_verify(struct session *s);

#endif
