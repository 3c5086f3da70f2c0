// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * From chosen rows to a result: the number of hidden rows, the shown rows, the sum of the others.
 */
#include "unit.h"

#include "rows_machine.h"
#include "query/result.h"

TEST(filtered)
{
	struct collection c = {.seen = 9, .kernel_threads = 2, .zombies = 1, .filtered = 99};
	cleanup(machine_done) struct machine m = machine_of(4);

	rows_count_filtered(&m.list, &c);
	assert_int_equal(c.filtered, 2);
	/* A requested kernel thread is not a process that passed. */
	at(&m, 1)->kind = PROCESS_KTHREAD;
	rows_count_filtered(&m.list, &c);
	assert_int_equal(c.filtered, 3);
}

TEST(source)
{
	cleanup(machine_done) struct machine m = machine_of(3);

	assert_int_equal(rows_pss_source(&m.list), PSS_FROM_KERNEL);
	at(&m, 1)->pss_source = PSS_FROM_NOTHING;
	assert_int_equal(rows_pss_source(&m.list), PSS_FROM_KERNEL);
	at(&m, 2)->pss_source = PSS_FROM_ROLLUP;
	assert_int_equal(rows_pss_source(&m.list), PSS_FROM_BOTH);
	at(&m, 3)->pss_source = PSS_FROM_NOTHING;
	assert_int_equal(rows_pss_source(&m.list), PSS_FROM_ROLLUP);
	at(&m, 2)->pss_source = PSS_FROM_NOTHING;
	assert_int_equal(rows_pss_source(&m.list), PSS_FROM_NOTHING);
	m.list.count = 0;
	assert_int_equal(rows_pss_source(&m.list), PSS_FROM_NOTHING);
}

TEST(cut)
{
	struct collection c = {.reported = 99};
	struct result r = {};
	cleanup(machine_done) struct machine m = machine_of(5);

	/* A row that stands for three processes. */
	at(&m, 1)->kind = PROCESS_SUM;
	row_at(&m, 1)->procs = 3;
	result_cut(&r, &c, &m.rows, 2, false);
	assert_ptr_equal(r.rows, m.rows.item);
	assert_int_equal(r.row_count, 2);
	assert_int_equal(c.reported, 4);
	assert_int_equal(r.others_count, 3);
	assert_int_equal(r.others.value[COUNTER_PSS], 30);
	assert_int_equal(r.totals.value[COUNTER_PSS], 50);
	assert_int_equal(r.totals.processes, 7);
	/* A value that only some processes have has no sum. */
	at(&m, 5)->have &= ~COUNTER_BIT(COUNTER_PSS);
	result_cut(&r, &c, &m.rows, 5, true);
	assert_int_equal(c.reported, 7);
	assert_int_equal(r.others_count, 0);
	assert_false(r.totals.have & COUNTER_BIT(COUNTER_PSS));
}
