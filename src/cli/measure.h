/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A collector and a query, made of the options: for all commands that measure. */
#ifndef ZMEM_CLI_MEASURE_H
#define ZMEM_CLI_MEASURE_H

#include "cli/moment.h"
#include "cli/options.h"
#include "collect/collector.h"
#include "query/query.h"
#include "recording/recording_file.h"
#include "render/render.h"
#include "source/oom_watch.h"

/* The recording of diff and incidents where none is named. */
#define REPLAY_DIR_USUAL "/var/lib/zmem-bpf"

/* The recording of --replay. */
struct replay {
	const char *path;
	struct recording_reader *reader; /* NULL: there is none */
	uint32_t frames;
	uint32_t frame; /* the one that is shown: at first that of --at, or the last one */
	bool noted;	/* that a frame cannot be read */
	int fd;		/* the file or directory, -1: a pipe, which is read into memory */
	char *data;	/* of a pipe */
};

/* Opens it with the rights of the caller. Returns 0, or an exit code after a message. */
int replay_open(struct replay *r, const char *path, bool quiet);
void replay_close(struct replay *r);
/* Reads the moment of an option (cli/moment.h). Returns 0, or an exit code after a message. */
int replay_moment(const struct replay *r, const struct options *o, const char *option,
		  const char *text, struct moment *ret);
/*
 * Reads "event:N", where 1 is the newest event: *ret_event from 0. Returns 0; -EINVAL if it is no
 * such text; or an exit code after a message.
 */
int replay_event(const struct replay *r, const char *text, size_t *ret_event);
/* Says once, and why, that some frames cannot be read. */
void replay_note_lost(struct replay *r, bool quiet, const char *why);
/* The frame of the moment of an event, or the one before it, from 0. False: there is none. */
bool replay_event_frame(const struct replay *r, size_t event, size_t *ret);

struct measure {
	const struct options *options;
	struct query query;
	struct column_list columns;
	struct replay replay; /* with --replay */
	struct moment range;  /* of measure_range(), before which it is all time */
	struct collector collector;
	unsigned printed; /* enum collect_notice: each is printed once */
	bool missing_printed;
	bool looked_for_match; /* at the first snapshot */
	int exit_code;	       /* EXIT_DONE, EXIT_NOT_FOUND or EXIT_DIFFERENT */
	char nothing[256];     /* what to say if no process matches */
	bool filters_only;     /* the command has its own order and columns (maps) */
};

#define MEASURE_CLOSED                                                                             \
	((struct measure){.collector = COLLECTOR_CLOSED, .range = {INT64_MIN, INT64_MAX}})

/* What the options ask to measure. */
struct collect_spec measure_spec(const struct options *o);
/*
 * Reads the query of the options and opens the collector. Capabilities are given up. Returns 0, or
 * an exit code after a message; measure_close() in either case.
 */
int measure_open(struct measure *m, const struct options *o, const struct collect_spec *spec);
/* The same, but only with the filters. The order is by RSS. */
int measure_open_filters(struct measure *m, const struct options *o,
			 const struct collect_spec *spec);
/*
 * Chooses the frame of a recording that the next snapshot is, 1 to m->replay.frames. measure_open()
 * has chosen the last frame that can be read, or the first one if continuous. 0: measure_readable()
 * found none. Returns 0, or an exit code after a message.
 */
int measure_turn_to(struct measure *m, uint32_t frame);
/*
 * The number of the frame if it is in the range and can be read, or of the next such one in that
 * direction: 1, -1, or 0 for the frame alone. 0: there is none. That some cannot be read is said
 * once, with the reason, but not if all that were tried cannot: m->collector.reason.
 */
uint32_t measure_readable(struct measure *m, uint32_t frame, int direction);
/*
 * Finds the frame of a moment, as --at takes it; frames are numbered from 0 here. *ret_ms: the
 * moment. Returns 0, or an exit code after a message.
 */
int measure_find_frame(const struct measure *m, const char *text, size_t *ret, int64_t *ret_ms);
/* Prints which of several frames is shown: measure_open() has chosen the one of --at. */
void measure_note_frame(const struct measure *m);
/*
 * Finds the frames of --since and --until, from 1, that can be read. If the clock was set back,
 * some between them are not in the range (measure_readable()). Returns 0, or an exit code after a
 * message: EXIT_NOT_FOUND if there are none.
 */
int measure_range(struct measure *m, uint32_t *ret_first, uint32_t *ret_last);
/* collector_begin(), _collect() and _requery(), but return an exit code after a message. */
int measure_begin(struct measure *m);
int measure_collect(struct measure *m, struct result *ret);
int measure_requery(struct measure *m, bool filter_changed, struct result *ret);
/* collector_read_memcgs(), whose notice is printed. Returns 0 or a negative errno. */
int measure_read_memcgs(struct measure *m, bool details);
void measure_close(struct measure *m);

/*
 * Watches OOM kills; to be called before measure_open(), which gives up capabilities. Returns NULL
 * after a notice "OOM kills are not <what>" and the reason, which it copies to `ret_reason` unless
 * that is NULL.
 */
#define MEASURE_REASON 256
struct oom_watch *measure_watch_kills(const struct options *o, enum oom_watch_scope scope,
				      const char *what, char ret_reason[MEASURE_REASON]);

/* The style of a table of its rows. */
struct table_style measure_style(const struct measure *m, bool color, unsigned width);
/* Why /proc is not usable, NULL if it is. */
const char *measure_no_proc(const struct measure *m);
/* Why CAP_SYS_PTRACE does not help, and what to do. */
const char *measure_no_ptrace(void);

#endif
