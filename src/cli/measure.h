/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the commands that measure have in common: a collector and a query, made of the options. */
#ifndef ZMEM_CLI_MEASURE_H
#define ZMEM_CLI_MEASURE_H

#include "cli/notices.h"
#include "cli/options.h"
#include "cli/replay.h"
#include "collect/collector.h"
#include "query/query.h"

struct measure {
	const struct options *options;
	struct query query;
	struct column_list columns;
	struct replay replay; /* with --replay */
	struct collector collector;
	struct notices notices;
	bool filters_only; /* order and columns are the command's own (maps) */
	const char *pids;  /* of --pid */
};

#define MEASURE_CLOSED ((struct measure){.collector = COLLECTOR_CLOSED})

/* What the options ask to be measured. */
struct collect_spec measure_spec(const struct options *o);
/*
 * Reads the query of the options and opens the collector. Capabilities are given up. Returns 0, or
 * an exit code after a message; measure_close() in either case.
 */
int measure_open(struct measure *m, const struct options *o, const struct collect_spec *spec);
/* The same with the filters of the options alone, `pids` for --pid. The order is by RSS. */
int measure_open_filters(struct measure *m, const struct options *o,
			 const struct collect_spec *spec, const char *pids);
/*
 * The next snapshot reads that frame of a recording, 1 to m->replay.recording.frames. Returns 0, or
 * an exit code after a message.
 */
int measure_turn_to(struct measure *m, uint32_t frame);
/* The newest frame; nothing where a machine is measured. */
int measure_turn_to_last(struct measure *m);
/* collector_begin(), _collect() and _requery(), but return an exit code after a message. */
int measure_begin(struct measure *m);
int measure_collect(struct measure *m, struct result *ret);
int measure_requery(struct measure *m, bool filter_changed, struct result *ret);
void measure_close(struct measure *m);

#endif
