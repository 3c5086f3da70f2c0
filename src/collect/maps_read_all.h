/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The mappings of the chosen processes, read in batches so that memory stays bounded. */
#ifndef ZMEM_COLLECT_MAPS_READ_ALL_H
#define ZMEM_COLLECT_MAPS_READ_ALL_H

#include "collect/collector_state.h"
#include "model/maps.h"
#include "query/pattern.h"

struct map_file_systems;

struct maps_read {
	struct maps_process *process;	       /* of each chosen process */
	struct map_set **set;		       /* of each; NULL: it has none */
	struct map_set *sums;		       /* of all, by name or by group and kind */
	struct map_file_systems *file_systems; /* private: types by device */
	struct mapping **rows;
	size_t row_count;
	struct map_counters total;
	size_t mappings;
	uint32_t nodes; /* bits of the NUMA nodes with RAM; 0: not asked for, or not known */
	bool rest;	/* the rest of huge pages was read */
	size_t changed; /* processes that changed each time their pages were read */
};

/* What is read. */
struct maps_request {
	enum map_rows rows;
	const struct field *group; /* of MAP_ROWS_KINDS; the processes must have its names */
	struct pattern *mapping;   /* only mappings with a name that matches; NULL: all */
};

/*
 * After collector_begin(). Returns 0, -E2BIG if the pattern takes too many steps, or another
 * negative errno; maps_read_done() in any case.
 */
int maps_read_all(struct collector *c, const struct maps_request *request, struct maps_read *ret);
/*
 * Then sets what the pages say of rows that are mappings one by one: NEEDS_NODES and NEEDS_THP_REST
 * of the collector's spec. A process that changed each time has none. Returns 0, or a negative
 * errno and c->pages_reason.
 */
int maps_read_pages(struct collector *c, struct maps_read *m);
void maps_read_done(struct maps_read *m, size_t processes);

#endif
