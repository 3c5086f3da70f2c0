/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The mappings of the chosen processes, read in batches so that memory stays bounded. */
#ifndef ZMEM_COLLECT_MAPS_READ_ALL_H
#define ZMEM_COLLECT_MAPS_READ_ALL_H

#include "collect/collector.h"
#include "model/maps.h"

struct maps_read {
	struct maps_process *process; /* of each chosen process */
	struct map_set **set;	      /* of each; NULL: it has none */
	struct map_set *files;	      /* of all, by name */
	struct mapping **rows;
	size_t row_count;
	struct map_counters total;
	size_t mappings;
};

/* After collector_begin(). Returns 0 or a negative errno; maps_read_done() in either case. */
int maps_read_all(struct collector *c, bool by_file, struct maps_read *ret);
void maps_read_done(struct maps_read *m, size_t processes);

#endif
