/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What top reads: snapshots, rows as the view wants them, what they were before, the mappings of
 * one. Knows a session; refuses to know how anything is shown.
 */
#ifndef ZMEM_TOP_COLLECT_H
#define ZMEM_TOP_COLLECT_H

#include "cli/watch.h"
#include "top/view.h"

enum tracker_kind {
	TRACKER_PROCESSES, /* as they were last */
	TRACKER_FIRST,	   /* and at first */
	TRACKER_GROUPS,
	TRACKER_GROUPS_FIRST,
	TRACKER_KINDS,
};

/* Whose rows there are, as the view has it. */
struct chosen {
	char filter[128], user[128];
};

struct collect {
	struct watch watch; /* its options and its session; its past is not used */
	struct tracker tracker[TRACKER_KINDS];
	struct result result;
	struct chosen now;		 /* the last filters that could be read */
	struct chosen of[TRACKER_KINDS]; /* those of the totals that are kept */
	bool have;			 /* there is one */
	uint64_t missed;
};

/* As watch_open(). */
int collect_open(struct collect *c, const struct options *o);
void collect_close(struct collect *c);
/* What the options want to see at first. */
void collect_settings(struct collect *c, struct view_settings *ret);
/* Takes over what the rows are made by. */
void collect_apply(struct collect *c, const struct view *v);
/* The filters: one whose text is wrong is told by a message, and stays as it was. */
void collect_filter(struct collect *c, struct view *v);
/* The next snapshot, or in a recording frame `frame`. Returns 0 or an exit code after a message. */
int collect_take(struct collect *c, uint64_t missed, uint32_t frame, struct view *v);
/* Rows of the same snapshot as they are wanted now; `filter`: also other ones. Likewise. */
int collect_reshape(struct collect *c, bool filter, struct view *v);
/* Names those that are in sight. */
void collect_name(struct collect *c, struct view *v);
/* What the detail of a row shows beyond its values. */
void collect_detail(struct collect *c, struct view *v);
/* Whether collect_maps() would read something. */
bool collect_has_maps(const struct collect *c, const struct view *v);
/* And its mappings, which may take seconds. */
void collect_maps(struct collect *c, struct view *v);

#endif
