/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Snapshot after snapshot, each with what has changed since an earlier one. Knows nothing of when
 * they are taken and where they go.
 */
#ifndef ZMEM_CLI_WATCH_H
#define ZMEM_CLI_WATCH_H

#include "cli/background.h"
#include "cli/session.h"
#include "query/delta.h"

struct watch {
	struct options options; /* what is asked of the session */
	struct session session;
	struct tracker tracker;
	struct delta delta;
	struct background background;
	uint32_t frame;	   /* of a recording: the last one taken */
	bool began;	   /* a tick succeeded */
	unsigned failures; /* since then, in a row */
};

/*
 * Opens all there is to open. Returns 0, or an exit code after a message; watch_close() in either
 * case. Memory may be locked from then on.
 */
int watch_open(struct watch *w, const struct options *o);
/* Of a recording that has been read to its end: there is no further tick. */
bool watch_ended(const struct watch *w);
/*
 * The next snapshot, with `missed` ticks left out so far; no more rows than `fit` are shown, 0:
 * all. Returns 0, or an exit code after a message: then the next one may succeed. The result is
 * valid until watch_keep(), which has to follow once it was shown, and returns likewise.
 */
int watch_take(struct watch *w, uint64_t missed, size_t fit, struct result *ret);
int watch_keep(struct watch *w, const struct result *r);
/*
 * Whether a tick succeeded. One that failed has said so, and the next one is tried: then it returns
 * 0. The first one, one of a recording, or many in a row are enough: then it returns `r`.
 */
void watch_succeeded(struct watch *w);
int watch_failed(struct watch *w, int r);
void watch_close(struct watch *w);

/* A part of watch_take(): what is said of a tick beside its rows, as the session's past has it. */
void watch_begin_delta(struct watch *w, uint64_t missed);

#endif
