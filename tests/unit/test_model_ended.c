// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Sums of processes that ended. */
#include "unit.h"

#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "model/ended.h"

#define MIB ((uint64_t)1 << 20)

static void check_row(const struct ended_row *row, const char *name, const char *cgroup,
		      uint64_t count, uint64_t peak)
{
	assert_string_equal(row->name, name);
	if (cgroup)
		assert_string_equal(row->cgroup, cgroup);
	else
		assert_null(row->cgroup);
	assert_true(row->count == count && row->peak == peak);
}

/* Rows of one name and cgroup are one: their counts are added, and the highest peak stays. */
TEST(merge)
{
	cleanup(ended_sum_done) struct ended_sum sum = {};
	struct ended_processes one = {.over_ms = 10000,
				      .others = 3,
				      .others_peak = 2 * MIB,
				      .count = 3,
				      .row = {{"cc1", "/a", 2, 300 * MIB},
					      {"cc1", NULL, 1, 200 * MIB},
					      {"ld", "/a", 1, 100 * MIB}}};
	struct ended_processes two = {.over_ms = 10000,
				      .others = 4,
				      .others_peak = MIB,
				      .missed = 1,
				      .count = 3,
				      .row = {{"ld", "/a", 1, 500 * MIB},
					      {"cc1", "/b", 1, 300 * MIB},
					      {"cc1", "/a", 5, 200 * MIB}}};
	struct ended_processes all;

	assert_int_equal(ended_sum_add(&sum, &one), 0);
	assert_int_equal(ended_sum_add(&sum, &two), 0);
	ended_sum_end(&sum, &all);
	assert_int_equal(all.count, 4);
	check_row(&all.row[0], "ld", "/a", 2, 500 * MIB);
	check_row(&all.row[1], "cc1", "/a", 7, 300 * MIB);
	check_row(&all.row[2], "cc1", "/b", 1, 300 * MIB);
	check_row(&all.row[3], "cc1", NULL, 1, 200 * MIB);
	assert_true(all.over_ms == 20000 && all.missed == 1);
	assert_true(all.others == 7 && all.others_peak == 2 * MIB);
	assert_true(ended_count(&all) == 18);
	/* It goes on. */
	assert_int_equal(ended_sum_add(&sum, &one), 0);
	ended_sum_end(&sum, &all);
	assert_int_equal(all.count, 4);
	check_row(&all.row[1], "cc1", "/a", 9, 300 * MIB);
	assert_true(all.over_ms == 30000 && all.others == 10);
	ended_sum_clear(&sum);
	ended_sum_end(&sum, &all);
	assert_true(all.count == 0 && all.over_ms == 0 && ended_count(&all) == 0);
}

/* The rows with the highest peaks stay, and no process is lost. The texts may change meanwhile. */
TEST(most)
{
	cleanup(ended_sum_done) struct ended_sum sum = {};
	struct ended_processes all;
	char name[16];

	for (unsigned i = 0; i < 1000; i++) {
		const struct ended_row row = {name, NULL, 1, (i * 7 % 1000 + 1) * MIB};

		snprintf(name, sizeof(name), "job%u", i * 7 % 1000);
		assert_int_equal(ended_sum_row(&sum, &row), 0);
	}
	ended_sum_end(&sum, &all);
	assert_int_equal(all.count, ENDED_MAX);
	check_row(&all.row[0], "job999", NULL, 1, 1000 * MIB);
	check_row(&all.row[ENDED_MAX - 1], "job968", NULL, 1, 969 * MIB);
	assert_true(all.others == 1000 - ENDED_MAX && all.others_peak == 968 * MIB);
	assert_true(ended_count(&all) == 1000);
}
