/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a command that measures needs: a collector and a query, made of the options. A session takes
 * one snapshot, or a series of them, each compared with an earlier one.
 */
#ifndef ZMEM_SESSION_SESSION_H
#define ZMEM_SESSION_SESSION_H

#include "collect/collector.h"
#include "query/delta_tracker.h"
#include "query/query.h"
#include "session/background.h"
#include "session/options.h"
#include "session/replay.h"
#include "watch/oom_watch.h"
#include "write/style.h"

struct session {
	const struct options *options;
	struct query query;
	struct field_list columns;
	struct replay replay;	/* with --replay */
	struct moment range;	/* of session_range(), before which it is all time */
	int64_t at_ms;		/* the moment of --at */
	struct app_rules *apps; /* of --apps */
	struct collector collector;
	unsigned printed; /* enum collect_notice: each is printed once */
	bool missing_printed;
	size_t fallback_columns; /* of the note that counters come from /proc; 0: not printed */
	bool looked_for_match;	 /* at the first snapshot */
	int exit_code;		 /* EXIT_DONE, EXIT_NOT_FOUND or EXIT_DIFFERENT */
	bool filters_only;	 /* COMMAND_FILTERS */
	char nothing[256];	 /* what to say if no process matches */
	/* For a series: */
	struct delta_set deltas;
	bool from_start; /* rows are compared with the first ones, not with the last ones */
	struct background background;
	uint32_t frame;	     /* the last frame that was read of a recording */
	uint32_t last_frame; /* where it ends */
	bool began;	     /* at least one snapshot was taken */
	unsigned failures;   /* since the last one */
};

#define SESSION_CLOSED                                                                             \
	((struct session){.collector = COLLECTOR_CLOSED,                                           \
			  .range = {.first_ms = INT64_MIN, .last_ms = INT64_MAX},                  \
			  .background.own.statm = -1})

/* What the options ask to measure. */
struct collect_spec session_spec(const struct options *o);
/*
 * Reads the query of the options and opens the collector. Capabilities are given up. Returns 0, or
 * an exit code after a message; session_close() in either case.
 */
int session_open(struct session *s, const struct options *o, const struct collect_spec *spec);
/*
 * Chooses the frame of a recording that the next snapshot is, 1 to s->replay.frames. session_open()
 * has chosen the last frame that can be read, or the first one if continuous. 0: session_readable()
 * found none. Returns 0, or an exit code after a message.
 */
int session_turn_to(struct session *s, uint32_t frame);
/*
 * The number of the frame if it is in the range and can be read, or of the next such one in that
 * direction: 1, -1, or 0 for the frame alone. 0: there is none. That some cannot be read is said
 * once, with the reason, but not if all that were tried cannot: s->collector.reason.
 */
uint32_t session_readable(struct session *s, uint32_t frame, int direction);
/*
 * Finds the frame of a moment, as --at takes it; frames are numbered from 0 here. *ret_ms: the
 * moment. Returns 0, or an exit code after a message.
 */
int session_find_frame(const struct session *s, const char *text, size_t *ret, int64_t *ret_ms);
/* Prints which of several frames is shown: session_open() has chosen the one of --at. */
void session_note_frame(const struct session *s);
/*
 * Finds the frames of --since and --until, from 1, that can be read. If the clock was set back,
 * some between them are not in the range (session_readable()). Returns 0, or an exit code after a
 * message: EXIT_NOT_FOUND if there are none.
 */
int session_range(struct session *s, uint32_t *ret_first, uint32_t *ret_last);
/* collector_begin(), _collect() and _requery(), but return an exit code after a message. */
int session_begin(struct session *s);
int session_collect(struct session *s, struct result *ret);
int session_requery(struct session *s, bool filter_changed, struct result *ret);
/* collector_read_memcgs(), with its notice printed. Returns 0 or a negative errno. */
int session_read_memcgs(struct session *s, enum memcgs_asked asked);
/* The same for collector_look_closer(); but it returns an exit code after a message. */
int session_look_closer(struct session *s);
void session_close(struct session *s);

/* ---- snapshot after snapshot ---- */

/*
 * Opens a session for a series. `interactive`: the query, and what rows are compared with, may
 * change between snapshots; names are read when rows become visible. Returns as session_open().
 * Memory may be locked from then on.
 */
int session_open_series(struct session *s, const struct options *o, bool interactive);
/* Whether a recording was read to its end. */
bool session_ended(const struct session *s);
/*
 * Takes the next snapshot; `missed`: ticks that were skipped so far; `fit`: the most rows to show,
 * 0: all. Returns 0, or an exit code after a message: then the next snapshot may succeed. The
 * result is valid until session_finish_tick(), which must be called after the result was shown, and
 * returns likewise.
 */
int session_next(struct session *s, uint64_t missed, size_t fit, struct result *ret);
int session_finish_tick(struct session *s, const struct result *r);
/* A part of session_next(): begins what a tick shows beside its rows. */
void session_begin_delta(struct session *s, uint64_t missed);
/*
 * Counts ticks that failed. After one, a message was printed and the next one is tried: it returns
 * 0. If the first tick failed, one of a recording, or many in a row, it returns `r`.
 */
void session_succeeded(struct session *s);
int session_failed(struct session *s, int r);

/*
 * Watches OOM kills, and for a recorder also signals; to be called before session_open(), which
 * gives up capabilities. Returns NULL after a notice "OOM kills are not <what>" and the reason,
 * which it copies to `ret_reason` unless that is NULL.
 */
#define SESSION_REASON 256
struct oom_watch *session_watch_kills(const struct options *o, enum zmem_oom_scope scope,
				      const char *what, char ret_reason[SESSION_REASON]);

/* The style of a table of its rows. */
struct table_style session_style(const struct session *s, bool color, unsigned width);
/* Why /proc is not usable, NULL if it is. */
const char *session_no_proc(const struct session *s);
/* Why CAP_SYS_PTRACE does not help, and what to do. */
const char *session_no_ptrace(void);

#endif
