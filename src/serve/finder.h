/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What is wrong now, looked for once in each snapshot: which processes grow and swap is seen only
 * from one snapshot to the next. Pure.
 */
#ifndef ZMEM_SERVE_FINDER_H
#define ZMEM_SERVE_FINDER_H

#include "model/finding.h"
#include "query/delta_tracker.h"

struct finder {
	struct delta_set deltas; /* processes of an earlier snapshot */
	int64_t kept_ms;	 /* its time since the epoch; 0: there is none */
	struct findings found;	 /* they borrow from the snapshot */
};

void finder_init(struct finder *f, uint64_t seed);
void finder_done(struct finder *f);
/* Looks for findings. Without memory for rows, no process is among them. */
void finder_update(struct finder *f, struct snapshot *s);

#endif
