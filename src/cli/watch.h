/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Snapshot after snapshot, each compared with an earlier one: for watch and top. */
#ifndef ZMEM_CLI_WATCH_H
#define ZMEM_CLI_WATCH_H

#include "cli/background.h"
#include "cli/measure.h"
#include "query/delta_tracker.h"

struct watch {
	struct measure measure;
	struct delta_set deltas;
	bool from_start; /* rows are compared with the first ones, not with the last ones */
	struct background background;
	uint32_t frame;	     /* the last frame that was read of a recording */
	uint32_t last_frame; /* where watch ends */
	bool began;	     /* at least one tick succeeded */
	unsigned failures;   /* ticks that failed since the last one that succeeded */
};

#define WATCH_CLOSED ((struct watch){.measure = MEASURE_CLOSED, .background.own.statm = -1})

/*
 * Opens the collector. `interactive`: the query, and what rows are compared with, may change
 * between snapshots; names are read when rows become visible. Returns 0, or an exit code after a
 * message; watch_close() in either case. Memory may be locked from then on.
 */
int watch_open(struct watch *w, const struct options *o, bool interactive);
/* Whether a recording was read to its end. */
bool watch_ended(const struct watch *w);
/*
 * Takes the next snapshot; `missed`: ticks that were skipped so far; `fit`: the most rows to show,
 * 0: all. Returns 0, or an exit code after a message: then the next snapshot may succeed. The
 * result is valid until watch_keep(), which must be called after the result was shown, and returns
 * likewise.
 */
int watch_collect(struct watch *w, uint64_t missed, size_t fit, struct result *ret);
int watch_keep(struct watch *w, const struct result *r);
/*
 * Counts ticks that failed. After one, a message was printed and the next one is tried: it returns
 * 0. If the first tick failed, one of a recording, or many in a row, it returns `r`.
 */
void watch_succeeded(struct watch *w);
int watch_failed(struct watch *w, int r);
void watch_close(struct watch *w);

/* A part of watch_collect(): begins what a tick shows beside its rows. */
void watch_begin_delta(struct watch *w, uint64_t missed);

#endif
