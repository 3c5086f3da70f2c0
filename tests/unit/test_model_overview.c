// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* overview_make(): parts do not overlap and add up, for any values of the machine. */
#include "unit.h"

#include "model/overview.h"

#define MIB ((uint64_t)1 << 20)

static void set_meminfo(struct snapshot *s, enum meminfo_counter f, uint64_t mib)
{
	s->system.meminfo.have |= 1u << f;
	s->system.meminfo.value[f] = mib * MIB;
}

/* Each value has another bit, so that no sum is right by chance. */
static void machine(struct snapshot *s)
{
	*s = (struct snapshot){};
	set_meminfo(s, MEMINFO_TOTAL, 100000);
	set_meminfo(s, MEMINFO_FREE, 16384);
	set_meminfo(s, MEMINFO_AVAILABLE, 24576);
	set_meminfo(s, MEMINFO_CACHED, 8192 + 1024);
	set_meminfo(s, MEMINFO_BUFFERS, 1);
	set_meminfo(s, MEMINFO_SHMEM, 1024);
	set_meminfo(s, MEMINFO_MAPPED, 512 + 256);
	set_meminfo(s, MEMINFO_ANON, 4096);
	set_meminfo(s, MEMINFO_SLAB_UNRECLAIMABLE, 128);
	set_meminfo(s, MEMINFO_PAGE_TABLES, 64);
	set_meminfo(s, MEMINFO_HUGETLB, 32768);
	set_meminfo(s, MEMINFO_ZSWAP_POOL, 32);
}

/* All processes map 3,996 MiB of anonymous memory, 502 of files and 256 of shared memory. */
static void measure(struct snapshot *s)
{
	s->balance = (struct machine_balance){
		.shmem_not_in_pss_known = true,
		.shmem_not_in_pss = (1024 - 256) * MIB,
		.residual_known = true,
		.anon_residual = 100 * (int64_t)MIB,
		.mapped_residual = 10 * (int64_t)MIB,
	};
}

static void assert_part(const struct overview *o, enum overview_part part, uint64_t mib)
{
	assert_int_equal(o->bytes[part], mib * MIB);
}

static void assert_adds_up(const struct overview *o)
{
	uint64_t sum = 0, last = UINT64_MAX;

	for (int i = 0; i < OVERVIEW_PARTS; i++)
		sum += o->bytes[i];
	assert_int_equal(sum, o->total);
	sum = 0;
	for (size_t i = 0; i < o->parts; i++) {
		assert_true(o->bytes[o->order[i]] && o->bytes[o->order[i]] <= last);
		last = o->bytes[o->order[i]];
		sum += last;
	}
	assert_int_equal(sum, o->total);
	if (o->sums_known)
		assert_int_equal(o->sums.used + o->sums.freeable + o->sums.free, o->total);
}

static void set_class(struct ram *ram, enum ram_class class, uint64_t mib)
{
	ram->figure[class] = (struct ram_figure){
		.class = class, .exists = true, .known = true, .bytes = mib * MIB};
	ram->frames += mib * MIB;
}

/*
 * Memory of processes that no PSS has is in a part of its own, and not with drivers: all that they
 * map where a census says it, else what is anonymous.
 */
TEST(rest)
{
	struct ram ram = {.method = RAM_EXACT, .known = true};
	struct snapshot s;
	struct overview o;

	machine(&s);
	measure(&s);
	s.balance.anon_residual = 2000 * (int64_t)MIB;
	s.balance.mapped_residual = 300 * (int64_t)MIB;
	s.balance.shmem_not_in_pss = 1000 * MIB;
	overview_make(&s, NULL, &o);
	assert_true(o.known && o.split);
	assert_adds_up(&o);
	assert_part(&o, OVERVIEW_PROCESSES, 2096 + 24 + 444);
	assert_part(&o, OVERVIEW_REST, 2000);
	assert_part(&o, OVERVIEW_SHMEM, 1000);
	set_class(&ram, RAM_FREE, 16400);
	set_class(&ram, RAM_ANON, 4096);
	set_class(&ram, RAM_PAGE_CACHE, 8192);
	ram_add_part(&ram, RAM_PAGE_CACHE, RAM_IN_TABLES, 500 * MIB);
	ram_add_part(&ram, RAM_PAGE_CACHE, RAM_IN_NO_TABLE, 7692 * MIB);
	set_class(&ram, RAM_SHMEM, 1024);
	ram_add_part(&ram, RAM_SHMEM, RAM_IN_TABLES, 268 * MIB);
	ram_add_part(&ram, RAM_SHMEM, RAM_IN_NO_TABLE, 756 * MIB);
	overview_make(&s, &ram, &o);
	assert_adds_up(&o);
	assert_part(&o, OVERVIEW_REST, 2000 + 244 + (500 - 444));
	assert_part(&o, OVERVIEW_SHMEM, 756);
	assert_part(&o, OVERVIEW_CACHE, 7692);
	/* Two CPUs may hold back 125 pages each. */
	s.host.cpus = 2;
	s.host.page_size = 4096;
	s.balance.anon_residual = MIB + 250 * 4096;
	s.balance.mapped_residual = MIB;
	overview_make(&s, &ram, &o);
	assert_int_equal(o.bytes[OVERVIEW_REST], 0);
	s.balance.anon_residual++;
	overview_make(&s, &ram, &o);
	assert_int_equal(o.bytes[OVERVIEW_REST], s.balance.anon_residual);
	/* Absurd. */
	s.balance.anon_residual = INT64_MIN;
	overview_make(&s, &ram, &o);
	assert_false(o.split);
}

/* Free pages on lists of CPUs are free, and the reserve is no page that can be freed. */
TEST(free_pages)
{
	struct snapshot s;
	struct overview before, o;

	machine(&s);
	overview_make(&s, NULL, &before);
	s.system.free = (struct free_memory){true, 1500 * MIB, 300 * MIB};
	overview_make(&s, NULL, &o);
	assert_adds_up(&o);
	assert_part(&o, OVERVIEW_FREE, 16384 + 1500);
	assert_int_equal(o.bytes[OVERVIEW_OTHER], before.bytes[OVERVIEW_OTHER] - 1500 * MIB);
	assert_int_equal(o.sums.free, (16384 + 1500) * MIB);
	assert_int_equal(o.sums.freeable, (8192 + 300) * MIB);
	/* Right after drop_caches: less is available than is free. */
	set_meminfo(&s, MEMINFO_AVAILABLE, 16384 - 200);
	overview_make(&s, NULL, &o);
	assert_int_equal(o.sums.freeable, 100 * MIB);
	set_meminfo(&s, MEMINFO_AVAILABLE, 0);
	overview_make(&s, NULL, &o);
	assert_int_equal(o.sums.freeable, 0);
	/* No more is free than there is. */
	s.system.free.listed = UINT64_MAX;
	overview_make(&s, NULL, &o);
	assert_adds_up(&o);
	assert_int_equal(o.sums.free, 100000 * MIB);
	s.system.free.known = false;
	overview_make(&s, NULL, &o);
	assert_int_equal(o.sums.free, 16384 * MIB);
}

TEST(unknown)
{
	struct snapshot s;
	struct overview o;

	machine(&s);
	s.system.meminfo.have &= ~(1u << MEMINFO_AVAILABLE);
	overview_make(&s, NULL, &o);
	assert_true(o.known && !o.sums_known);
	s.system.meminfo.have &= ~(1u << MEMINFO_ANON);
	overview_make(&s, NULL, &o);
	assert_false(o.known || o.sums_known);
	assert_int_equal(o.parts, 0);
	/* The sums need no parts. */
	set_meminfo(&s, MEMINFO_AVAILABLE, 24576);
	overview_make(&s, NULL, &o);
	assert_true(!o.known && o.sums_known);
	assert_int_equal(o.total, 100000 * MIB);
	assert_int_equal(o.sums.free, 16384 * MIB);
	assert_int_equal(o.sums.freeable, 8192 * MIB);
	assert_int_equal(o.sums.used, (100000 - 24576) * MIB);
}

/* The largest processes, each memory once; of equal ones the first. */
TEST(holders)
{
	static const uint64_t pss[] = {1, 5, 3, 0, 9, 5, 7};
	struct process p[ARRAY_SIZE(pss) + 2] = {};
	struct snapshot s = {.process = p};
	size_t found[OVERVIEW_HOLDERS];

	for (size_t i = 0; i < ARRAY_SIZE(p); i++) {
		p[i].mm_owner = true;
		process_set(&p[i], COUNTER_PSS, i < ARRAY_SIZE(pss) ? pss[i] : 100);
	}
	p[ARRAY_SIZE(pss)].mm_owner = false;
	p[ARRAY_SIZE(pss) + 1].kind = PROCESS_KTHREAD;
	s.count = ARRAY_SIZE(p);
	assert_int_equal(overview_holders(&s, COUNTER_PSS, found), 3);
	assert_int_equal(found[0], 4);
	assert_int_equal(found[1], 6);
	assert_int_equal(found[2], 1);
	assert_int_equal(overview_holders(&s, COUNTER_RSS, found), 0);
	s.count = 4;
	assert_int_equal(overview_holders(&s, COUNTER_PSS, found), 3);
	assert_int_equal(found[2], 0);
	s.count = 1;
	assert_int_equal(overview_holders(&s, COUNTER_PSS, found), 1);
}
