// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Which mappings come first. Knows keys, not what is shown of them. */
#include <stdlib.h>
#include <string.h>

#include "model/maps.h"
#include "query/query.h"

static int compare_u64(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

/* What was not measured stands last. */
static int compare_counter(const struct mapping *a, const struct mapping *b, int counter)
{
	bool has_a = map_has(&a->counters, counter), has_b = map_has(&b->counters, counter);

	if (!has_a || !has_b)
		return has_b - has_a;
	return compare_u64(b->counters.value[counter], a->counters.value[counter]);
}

static int compare_column(const struct mapping *a, const struct mapping *b, int column)
{
	switch (column) {
	case MAP_COLUMN_PID:
		return compare_u64((uint64_t)a->pid, (uint64_t)b->pid);
	case MAP_COLUMN_ADDRESS:
		return compare_u64(a->start, b->start);
	case MAP_COLUMN_PERM:
		return strcmp(a->perm, b->perm);
	case MAP_COLUMN_PROCS:
		return compare_u64(b->processes, a->processes);
	case MAP_COLUMN_MAPS:
		return compare_u64(b->mappings, a->mappings);
	case MAP_COLUMN_NAME:
		return strcmp(a->name, b->name);
	default:
		return compare_counter(a, b, column - MAP_COLUMN_COUNTERS);
	}
}

struct maps_sort {
	const struct map_keys *keys;
	bool reverse;
};

static int compare_rows(const void *pa, const void *pb, void *arg)
{
	const struct mapping *a = *(struct mapping *const *)pa, *b = *(struct mapping *const *)pb;
	const struct maps_sort *sort = arg;
	int r = 0;

	for (size_t i = 0; r == 0 && i < sort->keys->count; i++)
		r = compare_column(a, b, sort->keys->column[i]);
	if (sort->reverse)
		r = -r;
	/* Never 0 for two rows. */
	if (r == 0)
		r = compare_column(a, b, MAP_COLUMN_PID);
	if (r == 0)
		r = compare_column(a, b, MAP_COLUMN_ADDRESS);
	return r ? r : strcmp(a->name, b->name);
}

void order_maps(const struct map_keys *keys, bool reverse, struct mapping **rows, size_t count)
{
	struct maps_sort sort = {keys, reverse};

	if (count)
		qsort_r(rows, count, sizeof(*rows), compare_rows, &sort);
}
