/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* PSS of the chosen rows: from smaps_rollup where the kernel gave none, and checked. */
#ifndef ZMEM_COLLECT_PSS_READ_H
#define ZMEM_COLLECT_PSS_READ_H

#include "collect/collector_state.h"

/*
 * Reads smaps_rollup of all chosen rows that need it, or of as few as the first rows of the query
 * need, and checks PSS of the kernel. If that is wrong, reads smaps_rollup in its place. The phase
 * COLLECT_PHASE_PSS began at *since. Returns 0 or a negative errno.
 */
int pss_read(struct collector *c, const struct query *q, uint64_t *since);
/* Stores why PSS does not come from the kernel. PSS that was lost since the opening is a notice. */
void pss_note_source(struct collector *c);

#endif
