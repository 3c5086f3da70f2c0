/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The engine: opens the sources of a collect_spec once and answers many queries from them. It
 * prints nothing and knows no option. Notices, missing pids and differences are data, which
 * src/session/notices.c puts into words. What a collection is: collect/collector_state.h.
 */
#ifndef ZMEM_COLLECT_COLLECTOR_H
#define ZMEM_COLLECT_COLLECTOR_H

#include "collect/collect_rows.h"

/*
 * Returns 0 or a negative errno, with c->step and the reason in c->diag: -ENOTSUP if PSS_KERNEL
 * is not possible (source_pss_refusal()). collector_close() in either case. With a recording,
 * collector_turn_to() comes first.
 */
int collector_open(struct collector *c, const struct collect_spec *spec);
/*
 * Takes a snapshot and answers the query. The result borrows from both until the next call.
 * Returns 0 or a negative errno: -ESTALE if the pin was removed, -E2BIG if the pattern is too
 * expensive.
 */
int collector_collect(struct collector *c, const struct query *q, struct result *ret);
/* The first part: reads the counters and filters; does not read PSS. Returns the same. */
int collector_begin(struct collector *c, const struct query *q);
/* Answers another query from the same snapshot. Returns the same. */
int collector_requery(struct collector *c, const struct query *q, bool filter_changed,
		      struct result *ret);
void collector_close(struct collector *c);

/*
 * Selects the frame of the recording, from 1 on, for the next snapshot. Call it before each
 * collector_begin() and collector_collect(). Returns 0, or a negative errno and c->reason: the
 * snapshot is then as before.
 */
int collector_turn_to(struct collector *c, uint32_t frame);
/*
 * The number of a user. A recording has the users of its processes: those of the newest snapshot
 * and of the last frame. Can be called before collector_open(). Returns 0, -ENOENT, or -ENOMEM.
 */
int collector_find_user(struct collector *c, const char *name, uid_t *ret_uid);

/*
 * Reads where the RAM is into the snapshot, as spec.ram says, which may be set since the opening if
 * the process may still load programs. Returns 0 or a negative errno.
 */
int collector_read_ram(struct collector *c);

#endif
