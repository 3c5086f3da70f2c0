/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Snapshot after snapshot, each compared with an earlier one: what watch and top have in common. */
#ifndef ZMEM_CLI_WATCH_H
#define ZMEM_CLI_WATCH_H

#include "cli/background.h"
#include "cli/measure.h"
#include "query/delta.h"

struct watch {
	struct measure measure;
	struct delta_set deltas;
	bool from_start; /* rows are compared with the first ones, not with the last ones */
	struct background background;
	uint32_t frame;	   /* of a recording: the last one read */
	bool began;	   /* a tick succeeded */
	unsigned failures; /* since then, in a row */
};

#define WATCH_CLOSED ((struct watch){.measure = MEASURE_CLOSED, .background.own.statm = -1})

/*
 * Opens all there is to open. `interactive`: the query and what rows are compared with may change
 * between snapshots, and rows of a machine are named when they come in sight. Returns 0, or an exit
 * code after a message; watch_close() in either case. Memory may be locked from then on.
 */
int watch_open(struct watch *w, const struct options *o, bool interactive);
/* Whether a recording has been read to its end: there is no further tick. */
bool watch_ended(const struct watch *w);
/*
 * The next snapshot, with `missed` ticks skipped so far; no more rows than `fit` are shown, 0: all.
 * Returns 0, or an exit code after a message: then the next one may succeed. The result is valid
 * until watch_keep(), which has to follow once it was shown, and returns likewise.
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

/* A part of watch_collect(): begins what is said of a tick beside its rows. */
void watch_begin_delta(struct watch *w, uint64_t missed);

#endif
