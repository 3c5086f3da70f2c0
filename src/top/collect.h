/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads what top shows: snapshots, the rows that the view requests, and the mappings of one
 * process.
 */
#ifndef ZMEM_TOP_COLLECT_H
#define ZMEM_TOP_COLLECT_H

#include "session/session.h"
#include "top/files.h"
#include "top/view.h"

struct collect {
	struct session session;
	struct top_files files;
	struct result result;
	char user[128];	  /* the last valid list of users */
	char filter[128]; /* likewise, pattern */
	bool have_result;
	uint64_t missed;
	struct swap_activity swapped; /* at swapped_ms; what the next snapshot is compared with */
	int64_t swapped_ms;
	struct timeline timeline; /* of a recording */
};

/* Returns what session_open_series() returns. */
int collect_open(struct collect *c, const struct options *o);
void collect_close(struct collect *c);
/* Makes the first settings of the view from the options. */
void collect_settings(struct collect *c, struct view_settings *ret);
/* Makes the query from the settings of the view. */
void collect_apply_settings(struct collect *c, const struct view *v);
/*
 * Applies the filters of the view. An invalid filter causes a message, and the view gets back the
 * one that is in force.
 */
void collect_filter(struct collect *c, struct view *v);
/*
 * Collects the next snapshot, or reads frame `frame` of a recording. Returns 0, or an exit code
 * after a message.
 */
int collect_tick(struct collect *c, uint64_t missed, uint32_t frame, struct view *v);
/* When the next snapshot is due: for a recording that is played at its speed, what that says. */
uint64_t collect_interval_us(const struct collect *c, const struct view *v);
/*
 * Makes the rows of the same snapshot again; `filter`: other processes pass the filters. Returns 0,
 * or an exit code after a message.
 */
int collect_requery(struct collect *c, bool filter, struct view *v);
/*
 * Finds the frame of a recording that the view asks to go to. Returns 0, the current one after a
 * message if there is none, or the frame, from 1.
 */
uint32_t collect_find_frame(const struct collect *c, struct view *v);
/* Looks up the names of the visible rows. */
void collect_name_rows(struct collect *c, struct view *v);
/* Reads what the detail of a row shows beyond its counters: user, cgroup, memory cgroup. */
void collect_detail(struct collect *c, struct view *v);
/* Whether collect_maps() would read something. */
bool collect_has_maps(const struct collect *c, const struct view *v);
/* Reads the mappings of the row of the detail, which may take seconds. */
void collect_maps(struct collect *c, struct view *v);

/* Gives the view where the RAM of the machine is, while it shows that. */
void collect_ram(struct collect *c, struct view *v);

#endif
