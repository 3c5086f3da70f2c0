// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The columns of mappings: their names, and for which kind of rows each exists. */
#include <errno.h>
#include <string.h>

#include "base/parse.h"
#include "model/maps.h"

/* The keys are the same in lower case. */
static const char *const headers[MAP_COLUMNS] = {
	[MAP_COLUMN_PID] = "PID",
	[MAP_COLUMN_ADDRESS] = "ADDRESS",
	[MAP_COLUMN_PERM] = "PERM",
	[MAP_COLUMN_PROCS] = "PROCS",
	[MAP_COLUMN_MAPS] = "MAPS",
	[MAP_COLUMN_COUNTERS + MAPS_SIZE] = "SIZE",
	[MAP_COLUMN_COUNTERS + MAPS_RSS] = "RSS",
	[MAP_COLUMN_COUNTERS + MAPS_PSS] = "PSS",
	[MAP_COLUMN_COUNTERS + MAPS_PRIVATE] = "PRIVATE",
	[MAP_COLUMN_COUNTERS + MAPS_SHARED] = "SHARED",
	[MAP_COLUMN_COUNTERS + MAPS_SWAP] = "SWAP",
	[MAP_COLUMN_COUNTERS + MAPS_SWAP_PSS] = "SWAP_PSS",
	[MAP_COLUMN_COUNTERS + MAPS_LOCKED] = "LOCKED",
	[MAP_COLUMN_COUNTERS + MAPS_THP] = "THP",
	[MAP_COLUMN_COUNTERS + MAPS_HUGETLB] = "HUGETLB",
	[MAP_COLUMN_NAME] = "NAME",
};

const char *map_column_header(int column)
{
	return headers[column];
}

static bool belongs(int column, bool by_name)
{
	if (column == MAP_COLUMN_PROCS || column == MAP_COLUMN_MAPS)
		return by_name;
	return column >= MAP_COLUMN_COUNTERS || !by_name;
}

static int find_column(const char *key, size_t len, bool by_name)
{
	for (int i = 0; i < MAP_COLUMNS; i++) {
		if (belongs(i, by_name) && parse_same_word(headers[i], key, len))
			return i;
	}
	return -EINVAL;
}

int map_keys_parse(struct map_keys *keys, const char *spec, bool by_name, const char **ret_bad,
		   size_t *ret_bad_len)
{
	struct map_keys read = {.count = 0};
	const char *item, *pos = spec;
	size_t len;

	while ((item = parse_item(&pos, &len))) {
		int column = find_column(item, len, by_name);

		if (column < 0 || read.count == MAP_COLUMNS) {
			*ret_bad = item;
			*ret_bad_len = len;
			return -EINVAL;
		}
		read.column[read.count++] = column;
	}
	if (!read.count) {
		*ret_bad = spec;
		*ret_bad_len = strlen(spec);
		return -EINVAL;
	}
	*keys = read;
	return 0;
}
