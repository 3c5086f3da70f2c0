/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Chooses the groups that have their own series on /metrics: those that are the heaviest now or
 * were over the last minutes. The series then stay the same from scrape to scrape. Values are
 * always those of the newest snapshot. Pure.
 */
#ifndef ZMEM_SERVE_GROUP_TRACKER_H
#define ZMEM_SERVE_GROUP_TRACKER_H

#include "query/query.h"
#include "model/process_list.h"
#include "query/space_saving.h"

struct group_tracker {
	struct space_saving groups; /* bytes, as a mean over the last minutes */
	uint64_t seed;
	uint64_t last_us; /* time of the last update; 0: never */
	size_t shown_max;
};

/* PSS and swap of a group in bytes; RSS and swap where PSS is unknown. */
uint64_t group_weight(const struct process *p);

/* At most `shown` groups are shown. Returns 0 or -ENOMEM. */
int group_tracker_init(struct group_tracker *t, size_t shown, uint64_t seed);
void group_tracker_done(struct group_tracker *t);
/*
 * Adds the groups of a collection. `text` returns the name of a group. Moves the groups to show to
 * the front of `groups`, in their order, and stores their number in *ret_shown. Returns 0 or
 * -ENOMEM.
 */
int group_tracker_update(struct group_tracker *t, uint64_t now_us,
			 const char *(*text)(const struct process *), struct rows *groups,
			 size_t *ret_shown);
#endif
