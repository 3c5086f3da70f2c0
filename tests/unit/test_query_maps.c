// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The order of mappings: every column, both directions, total order. */
#include "unit.h"

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
static void check(const char *spec, bool by_name, bool reverse, const char *want)
{
	char got[COUNT + 1] = "";
	struct map_keys keys;
	const char *bad;
	size_t len;

	assert_int_equal(map_keys_parse(&keys, spec, by_name, &bad, &len), 0);
	for (int turn = 0; turn < COUNT; turn++) {
		/* In any initial order. */
		for (int i = 0; i < COUNT; i++)
			rows[i] = &mapping[(i * 3 + turn) % COUNT];
		order_maps(&keys, reverse, rows, COUNT);
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
	check("rss", false, false, "2310");
	check("rss", false, true, "1032");
	check("address", false, false, "2031");
	check("pid", false, false, "3120");
	check("pid", false, true, "2031");
	check("name", false, false, "2013");
	check("perm,rss", false, false, "2031");
	check("pss", false, false, "3120");
	check("maps", true, false, "3210");
	check("procs,name", true, false, "2013");
	/* Missing values are last. */
	mapping[2].counters.have = 0;
	check("rss", false, false, "3102");
	mapping[1].counters.have = 0;
	check("rss", false, false, "3012");
	order_maps(NULL, false, rows, 0);
}
