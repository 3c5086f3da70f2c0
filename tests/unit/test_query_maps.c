// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The columns of mappings, and their order: every column, both directions, total order. */
#include "unit.h"

#include "fields/map_fields.h"
#include "query/order.h"

#define COUNT 4

static struct mapping mapping[COUNT];
static struct mapping *rows[COUNT];

static void set_mapping(int i, pid_t pid, uint64_t start, const char *name, uint64_t rss)
{
	mapping[i] = (struct mapping){.pid = pid,
				      .start = start,
				      .end = start + 1,
				      .name = name,
				      .mappings = (uint32_t)i,
				      .processes = 1,
				      .counters = MAPS_COUNTERS_ZERO};
	mapping[i].counters.value[MAPS_RSS] = rss;
	memcpy(mapping[i].perm, i % 2 ? "rw-p" : "r--p", 5);
}

/* The rows in that order, as digits. */
static void check(const char *spec, enum map_rows kind, bool reverse, const char *want)
{
	char got[COUNT + 1] = "";
	struct order o = {.reverse = reverse};
	struct field_error bad;

	assert_int_equal(field_list_parse_keys(&o.keys, map_columns[kind], spec, &bad), 0);
	for (int turn = 0; turn < COUNT; turn++) {
		/* In any initial order. */
		for (int i = 0; i < COUNT; i++)
			rows[i] = &mapping[(i * 3 + turn) % COUNT];
		order_maps(&o, rows, COUNT);
		for (int i = 0; i < COUNT; i++)
			got[i] = (char)('0' + (rows[i] - mapping));
		assert_string_equal(got, want);
	}
}

TEST(order)
{
	set_mapping(0, 20, 100, "b", 5);
	set_mapping(1, 10, 300, "c", 5);
	set_mapping(2, 20, 50, "a", 9);
	set_mapping(3, 10, 200, "d", 7);
	check("rss", MAP_ROWS_EACH, false, "2310");
	check("rss", MAP_ROWS_EACH, true, "1032");
	check("address", MAP_ROWS_EACH, false, "2031");
	check("pid", MAP_ROWS_EACH, false, "3120");
	check("pid", MAP_ROWS_EACH, true, "2031");
	check("name", MAP_ROWS_EACH, false, "2013");
	check("perm,rss", MAP_ROWS_EACH, false, "2031");
	check("pss", MAP_ROWS_EACH, false, "3120");
	check("maps", MAP_ROWS_FILES, false, "3210");
	check("procs,name", MAP_ROWS_FILES, false, "2013");
	/* Missing values are last. */
	mapping[2].counters.have = 0;
	check("rss", MAP_ROWS_EACH, false, "3102");
	mapping[1].counters.have = 0;
	check("rss", MAP_ROWS_EACH, false, "3012");
	order_maps(NULL, rows, 0);
}

TEST(order_of_kinds)
{
	static const char *const group[COUNT] = {"b", NULL, "a", NULL};

	set_mapping(0, 0, 0, "heap", 5);
	set_mapping(1, 0, 0, "heap", 5);
	set_mapping(2, 0, 0, "anon", 5);
	set_mapping(3, 0, 0, "file", 5);
	for (int i = 0; i < COUNT; i++)
		mapping[i].group = group[i];
	/* The name is that of the group; no group is last. */
	check("name", MAP_ROWS_KINDS, false, "2031");
	check("kind", MAP_ROWS_KINDS, false, "2301");
	check("rss", MAP_ROWS_KINDS, true, "2031");
}
