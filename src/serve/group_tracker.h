/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which groups have series of their own on /metrics, for however long it runs: those that are the
 * heaviest now, or have been over the last minutes, so that a series does not come and go with each
 * scrape. Values are always those of now. Pure.
 */
#ifndef ZMEM_SERVE_GROUP_TRACKER_H
#define ZMEM_SERVE_GROUP_TRACKER_H

#include "query/space_saving.h"
#include "query/query.h"

struct group_tracker {
	struct space_saving groups; /* bytes, as a mean over the last minutes */
	uint64_t seed;
	uint64_t last_us; /* when it was fed; 0: never */
	size_t shown_max;
};

/* At most `shown` groups are shown. Returns 0 or -ENOMEM. */
int group_tracker_init(struct group_tracker *t, size_t shown, uint64_t seed);
void group_tracker_done(struct group_tracker *t);
/*
 * Feeds it the groups of a collection. `text`: what a group is called. Puts those that are to be
 * shown first, in the order that they have; returns how many. -ENOMEM.
 */
int group_tracker_feed(struct group_tracker *t, uint64_t now_us,
		       const char *(*text)(const struct process *), struct rows *groups,
		       size_t *ret_shown);
#endif
