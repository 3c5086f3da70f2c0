// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * From chosen rows to a result: the number of hidden rows, the shown rows, the sum of the others.
 */
#include "unit.h"

#include "rows_machine.h"
#include "query/result.h"

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
