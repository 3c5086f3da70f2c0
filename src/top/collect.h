/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What top reads: snapshots, the rows that the view asks for, and the mappings of one process.
 * Does not know how anything is shown.
 */
#ifndef ZMEM_TOP_COLLECT_H
#define ZMEM_TOP_COLLECT_H

#include "cli/watch.h"
#include "top/view.h"

struct collect {
	struct watch watch;
	struct result result;
	char filter[128], user[128]; /* the last filters that could be read */
	bool have;		     /* there is a result */
	uint64_t missed;
};

/* As watch_open(). */
int collect_open(struct collect *c, const struct options *o);
void collect_close(struct collect *c);
/* What the options want to see at first. */
void collect_settings(struct collect *c, struct view_settings *ret);
/* Makes the view's settings the query. */
void collect_apply(struct collect *c, const struct view *v);
/* The filters. If the text of one is wrong, a message says so and the filter stays as it was. */
void collect_filter(struct collect *c, struct view *v);
/*
 * The next snapshot, or frame `frame` of a recording. Returns 0, or an exit code after a message.
 */
int collect_tick(struct collect *c, uint64_t missed, uint32_t frame, struct view *v);
/* Other rows of the same snapshot; `filter`: of other processes. Returns likewise. */
int collect_reshape(struct collect *c, bool filter, struct view *v);
/* Names the rows that are in sight. */
void collect_name(struct collect *c, struct view *v);
/* What the detail of a row shows beyond its values. */
void collect_detail(struct collect *c, struct view *v);
/* Whether collect_maps() would read something. */
bool collect_has_maps(const struct collect *c, const struct view *v);
/* The mappings of that row, which may take seconds. */
void collect_maps(struct collect *c, struct view *v);

#endif
