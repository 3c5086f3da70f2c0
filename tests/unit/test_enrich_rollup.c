// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* rollup_apply(): from smaps_rollup to the values of a process. */
#include "unit.h"

#include "enrich/enrich.h"

TEST(apply)
{
	struct process p = {.pid = 1};
	struct pool_result r = {.status = PSS_OK};

	process_set(&p, COUNTER_RSS_ANON, 8192);
	process_set(&p, COUNTER_RSS_FILE, 4096);
	process_set(&p, COUNTER_RSS_SHMEM, 0);
	process_set(&p, COUNTER_SWAP, 4096);
	process_derive(&p);
	r.counters.have = 1u << SMAPS_RSS | 1u << SMAPS_PSS | 1u << SMAPS_PRIVATE_CLEAN |
			  1u << SMAPS_PRIVATE_DIRTY | 1u << SMAPS_SWAP | 1u << SMAPS_SWAP_PSS;
	r.counters.value[SMAPS_RSS] = 12288;
	r.counters.value[SMAPS_PSS] = 10000;
	r.counters.value[SMAPS_PRIVATE_CLEAN] = 1000;
	r.counters.value[SMAPS_PRIVATE_DIRTY] = 8000;
	r.counters.value[SMAPS_SWAP] = 12288;
	r.counters.value[SMAPS_SWAP_PSS] = 2048;
	rollup_apply(&p, &r);
	assert_int_equal(p.value[COUNTER_USS], 9000);
	assert_int_equal(p.value[COUNTER_SHARED], 1000);
	assert_int_equal(p.value[COUNTER_SWAP_SHMEM], 8192);
	assert_int_equal(p.value[COUNTER_PSS_SWAP], 12048);
	/* This kernel has no split of PSS: not measured, not 0. */
	assert_false(process_has(&p, COUNTER_PSS_ANON));
	assert_false(process_has(&p, COUNTER_THP));
}

/* A missing value is absent and not 0, and the status says so. */
TEST(apply_in_part)
{
	struct process p = {.pid = 1};
	struct pool_result r = {.status = PSS_OK};

	r.counters.have = 1u << SMAPS_RSS | 1u << SMAPS_PRIVATE_CLEAN;
	rollup_apply(&p, &r);
	assert_int_equal(p.pss_status, PSS_UNSUPPORTED);
	assert_int_equal(p.pss_source, PSS_FROM_NOTHING);
	assert_int_equal(p.have, 0);
	r.counters.have |= 1u << SMAPS_PSS;
	r.counters.value[SMAPS_PSS] = 1ull << 54;
	rollup_apply(&p, &r);
	assert_int_equal(p.pss_status, PSS_OK);
	assert_int_equal(p.value[COUNTER_PSS], 1ull << 54);
	assert_false(process_has(&p, COUNTER_USS));
	r.counters.have |= 1u << SMAPS_PRIVATE_DIRTY;
	r.counters.value[SMAPS_PRIVATE_CLEAN] = UINT64_MAX;
	r.counters.value[SMAPS_PRIVATE_DIRTY] = 1024;
	rollup_apply(&p, &r);
	assert_false(process_has(&p, COUNTER_USS));
}
