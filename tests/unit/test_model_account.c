// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* account_split(): parts do not overlap and add up, for any values of the machine. */
#include "unit.h"

#include "model/account.h"

#define MIB ((uint64_t)1 << 20)

static void set_meminfo(struct system_info *s, enum meminfo_counter f, uint64_t bytes)
{
	s->meminfo.have |= 1u << f;
	s->meminfo.value[f] = bytes;
}

/* Each value has another bit, so that no sum is right by chance. */
static struct system_info machine(void)
{
	struct system_info s = {.zram_count = 2};

	set_meminfo(&s, MEMINFO_TOTAL, 100000 * MIB);
	set_meminfo(&s, MEMINFO_FREE, 16384 * MIB);
	set_meminfo(&s, MEMINFO_CACHED, 8192 * MIB);
	set_meminfo(&s, MEMINFO_BUFFERS, 1 * MIB);
	set_meminfo(&s, MEMINFO_MAPPED, 4096 * MIB);
	set_meminfo(&s, MEMINFO_ANON, 2048 * MIB);
	set_meminfo(&s, MEMINFO_SHMEM, 1000 * MIB);
	set_meminfo(&s, MEMINFO_SWAP_CACHED, 300 * MIB);
	set_meminfo(&s, MEMINFO_SLAB_RECLAIMABLE, 1024 * MIB);
	set_meminfo(&s, MEMINFO_KERNEL_RECLAIMABLE, 1026 * MIB);
	set_meminfo(&s, MEMINFO_SLAB_UNRECLAIMABLE, 512 * MIB);
	set_meminfo(&s, MEMINFO_PAGE_TABLES, 256 * MIB);
	set_meminfo(&s, MEMINFO_SEC_PAGE_TABLES, 128 * MIB);
	set_meminfo(&s, MEMINFO_KERNEL_STACK, 64 * MIB);
	set_meminfo(&s, MEMINFO_VMALLOC_USED, 96 * MIB);
	set_meminfo(&s, MEMINFO_PERCPU, 16 * MIB);
	set_meminfo(&s, MEMINFO_BOUNCE, 4 * MIB);
	set_meminfo(&s, MEMINFO_WRITEBACK_TMP, 8 * MIB);
	set_meminfo(&s, MEMINFO_HARDWARE_CORRUPTED, 32 * MIB);
	set_meminfo(&s, MEMINFO_HUGETLB, 32768 * MIB);
	set_meminfo(&s, MEMINFO_GPU_ACTIVE, 5 * MIB);
	set_meminfo(&s, MEMINFO_GPU_RECLAIM, 6 * MIB);
	set_meminfo(&s, MEMINFO_ZSWAP_POOL, 7 * MIB);
	set_meminfo(&s, MEMINFO_ZSWAP_STORED, 70 * MIB);
	s.zram[0].stat = (struct zram_stat){900 * MIB, 90 * MIB, 91 * MIB};
	s.zram[1].stat = (struct zram_stat){30 * MIB, 1 * MIB, 2 * MIB};
	return s;
}

static void assert_part(const struct account *a, enum account_part part, int64_t mib)
{
	assert_true(account_has(a, part));
	assert_int_equal(a->value[part], mib * (int64_t)MIB);
}

static int64_t value(const struct account *a, enum account_part part)
{
	return account_has(a, part) ? a->value[part] : 0;
}

static void assert_adds_up(const struct account *a)
{
	int64_t kernel = 0;

	for (int i = ACCOUNT_KERNEL + 1; i <= ACCOUNT_OTHER; i++)
		kernel += value(a, (enum account_part)i);
	assert_int_equal(value(a, ACCOUNT_KERNEL), kernel);
	assert_int_equal(value(a, ACCOUNT_USER), value(a, ACCOUNT_ANON) + value(a, ACCOUNT_SHMEM));
	if (account_has(a, ACCOUNT_UNACCOUNTED))
		assert_int_equal(value(a, ACCOUNT_TOTAL),
				 kernel + value(a, ACCOUNT_USER) + value(a, ACCOUNT_CACHE) +
					 value(a, ACCOUNT_HUGETLB) + value(a, ACCOUNT_FREE) +
					 value(a, ACCOUNT_UNACCOUNTED));
}

/*
 * A driver's pages that processes map are in Mapped, and in no other counter: they make no part
 * smaller, and are not accounted for.
 */
TEST(mapped_by_drivers)
{
	struct system_info s = machine();
	struct account before, after;

	account_split(&s, &before);
	set_meminfo(&s, MEMINFO_MAPPED, (4096 + 1000) * MIB);
	set_meminfo(&s, MEMINFO_FREE, (16384 - 1000) * MIB);
	account_split(&s, &after);
	assert_int_equal(after.value[ACCOUNT_CACHE], before.value[ACCOUNT_CACHE]);
	assert_int_equal(after.value[ACCOUNT_USER], before.value[ACCOUNT_USER]);
	assert_int_equal(after.value[ACCOUNT_UNACCOUNTED],
			 before.value[ACCOUNT_UNACCOUNTED] + 1000 * (int64_t)MIB);
	assert_adds_up(&after);
}

/* Without one value: its part is unknown, and its memory is not accounted for. */
TEST(missing)
{
	static const uint32_t needed = 1u << MEMINFO_TOTAL | 1u << MEMINFO_FREE |
				       1u << MEMINFO_CACHED | 1u << MEMINFO_ANON;

	for (unsigned f = 0; f < MEMINFO_COUNTERS; f++) {
		struct system_info s = machine();
		struct account a;

		s.meminfo.have &= ~(1u << f);
		s.meminfo.value[f] = 0;
		account_split(&s, &a);
		assert_adds_up(&a);
		assert_int_equal(account_has(&a, ACCOUNT_UNACCOUNTED), !(needed >> f & 1));
		/* Some of "other" and "compressed swap" are left. */
		assert_true(account_has(&a, ACCOUNT_OTHER));
		assert_true(account_has(&a, ACCOUNT_COMPRESSED_SWAP));
	}
}

/* Never below 0 if two values were not read at one moment, nor above the maximum. */
TEST(lies)
{
	struct system_info s = machine();
	struct account a;

	set_meminfo(&s, MEMINFO_VMALLOC_USED, 0);
	set_meminfo(&s, MEMINFO_SHMEM, 9000 * MIB);
	set_meminfo(&s, MEMINFO_KERNEL_RECLAIMABLE, 1 * MIB);
	account_split(&s, &a);
	assert_part(&a, ACCOUNT_VMALLOC, 0);
	assert_part(&a, ACCOUNT_CACHE, 1);
	assert_part(&a, ACCOUNT_OTHER, 44);
	assert_adds_up(&a);
	for (unsigned f = 0; f < MEMINFO_COUNTERS; f++)
		set_meminfo(&s, (enum meminfo_counter)f, ((uint64_t)1 << 53) - 1024);
	s.zram[0].stat.used = UINT64_MAX;
	account_split(&s, &a);
	assert_adds_up(&a);
	for (unsigned f = 0; f < MEMINFO_COUNTERS; f++)
		set_meminfo(&s, (enum meminfo_counter)f, (uint64_t)1 << 61);
	s.zram[1].stat.used = (uint64_t)1 << 53;
	account_split(&s, &a);
	assert_int_equal(a.have, 0);
}

TEST(ratio)
{
	uint64_t percent = 7;

	assert_false(account_ratio(1, 0, &percent));
	assert_false(account_ratio(UINT64_MAX / 100 + 1, 1, &percent));
	assert_int_equal(percent, 7);
	assert_true(account_ratio(333, 100, &percent));
	assert_int_equal(percent, 333);
	assert_true(account_ratio(0, 5, &percent));
	assert_int_equal(percent, 0);
}
