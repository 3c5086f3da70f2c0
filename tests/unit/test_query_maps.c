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

/* A name that these rows do not have. */
static void check_none(const char *spec, enum map_rows kind, const char *want)
{
	struct field_list keys = {.count = 77};
	struct field_error bad;

	assert_int_equal(field_list_parse_keys(&keys, map_columns[kind], spec, &bad), -EINVAL);
	assert_int_equal(bad.len, strlen(want));
	assert_memory_equal(bad.name, want, bad.len);
	assert_int_equal(keys.count, 77);
}

TEST(columns)
{
	size_t found[MAP_ROWS_KINDS + 1] = {};

	for (size_t i = 0; i < map_fields.count; i++) {
		const struct field *f = map_fields.item[i];

		assert_non_null(f->help);
		for (int kind = MAP_ROWS_EACH; kind <= MAP_ROWS_KINDS; kind++)
			found[kind] +=
				fields_find(map_columns[kind], f->key, strlen(f->key)) != NULL;
	}
	for (int kind = MAP_ROWS_EACH; kind <= MAP_ROWS_KINDS; kind++)
		assert_int_equal(found[kind], map_columns[kind]->count);
	assert_ptr_equal(fields_find(map_columns[MAP_ROWS_FILES], "Swap_Pss", 8),
			 fields_find(&map_fields, "swap_pss", 8));
	check_none("pss,procs", MAP_ROWS_EACH, "procs");
	check_none("-address", MAP_ROWS_EACH, "-address");
	check_none("address", MAP_ROWS_FILES, "address");
	check_none("kind", MAP_ROWS_FILES, "kind");
	check_none("pid", MAP_ROWS_KINDS, "pid");
	check_none("", MAP_ROWS_EACH, "");
	check_none(",", MAP_ROWS_EACH, ",");
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
