/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A collector and a query, made of the options: for all commands that measure. */
#ifndef ZMEM_CLI_MEASURE_H
#define ZMEM_CLI_MEASURE_H

#include "cli/options.h"
#include "collect/collector.h"
#include "query/query.h"
#include "recording/recording_file.h"
#include "render/render.h"

/* The recording of --replay. */
struct replay {
	const char *path;
	struct recording_reader *reader; /* NULL: there is none */
	uint32_t frames;
	int fd;	    /* the file, -1: a pipe, which is read into memory */
	char *data; /* of a pipe */
};

struct measure {
	const struct options *options;
	struct query query;
	struct column_list columns;
	struct replay replay; /* with --replay */
	struct collector collector;
	unsigned printed; /* enum collect_notice: each is printed once */
	bool missing_printed;
	bool looked_for_match; /* at the first snapshot */
	int exit_code;	       /* EXIT_DONE, EXIT_NOT_FOUND or EXIT_DIFFERENT */
	char nothing[256];     /* what to say if no process matches */
	bool filters_only;     /* the command has its own order and columns (maps) */
};

#define MEASURE_CLOSED ((struct measure){.collector = COLLECTOR_CLOSED})

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
 * has chosen the last frame, or the first one if continuous. Returns 0, or an exit code after a
 * message.
 */
int measure_turn_to(struct measure *m, uint32_t frame);
/* Prints which of several frames is shown. */
void measure_note_frame(const struct measure *m);
/* collector_begin(), _collect() and _requery(), but return an exit code after a message. */
int measure_begin(struct measure *m);
int measure_collect(struct measure *m, struct result *ret);
int measure_requery(struct measure *m, bool filter_changed, struct result *ret);
void measure_close(struct measure *m);

/* The style of a table of its rows. */
struct table_style measure_style(const struct measure *m, bool color, unsigned width);
/* Why /proc is not usable, NULL if it is. */
const char *measure_no_proc(const struct measure *m);

#endif
