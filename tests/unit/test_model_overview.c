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
		.shmem_unmapped_known = true,
		.shmem_unmapped = (1024 - 256) * MIB,
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
	if (o->available_known)
		assert_int_equal(o->used + o->freeable + o->free, o->total);
}

/* Without PSS nothing is known of what processes map: anonymous memory is theirs. */
TEST(counters)
{
	struct snapshot s;
	struct overview o;

	machine(&s);
	overview_make(&s, NULL, &o);
	assert_true(o.known && !o.counted && !o.split && o.available_known);
	assert_adds_up(&o);
	assert_int_equal(o.total, 100000 * MIB);
	assert_part(&o, OVERVIEW_PROCESSES, 4096);
	assert_part(&o, OVERVIEW_SHMEM, 1024);
	assert_part(&o, OVERVIEW_CACHE, 8193);
	assert_part(&o, OVERVIEW_KERNEL, 192);
	assert_part(&o, OVERVIEW_COMPRESSED, 32);
	assert_part(&o, OVERVIEW_HUGE, 32768);
	assert_part(&o, OVERVIEW_FREE, 16384);
	assert_int_equal(o.order[0], OVERVIEW_OTHER);
	assert_int_equal(o.order[1], OVERVIEW_HUGE);
	assert_int_equal(o.parts, 8);
	assert_int_equal(o.freeable, 8192 * MIB);
	assert_int_equal(o.used, (100000 - 24576) * MIB);
}

/* What processes map is in their part, and in no other. */
TEST(mapped)
{
	struct snapshot s;
	struct overview before, o;

	machine(&s);
	overview_make(&s, NULL, &before);
	measure(&s);
	overview_make(&s, NULL, &o);
	assert_true(o.split);
	assert_adds_up(&o);
	assert_part(&o, OVERVIEW_PROCESSES, 3996 + 502 + 256);
	assert_part(&o, OVERVIEW_SHMEM, 1024 - 256);
	assert_part(&o, OVERVIEW_CACHE, 8193 - 502);
	assert_int_equal(o.bytes[OVERVIEW_OTHER], before.bytes[OVERVIEW_OTHER] + 100 * MIB);
}

static void set_class(struct ram *ram, enum ram_class class, uint64_t mib)
{
	ram->figure[class] = (struct ram_figure){
		.class = class, .exists = true, .known = true, .bytes = mib * MIB};
	ram->frames += mib * MIB;
}

TEST(census)
{
	struct ram ram = {.method = RAM_EXACT, .known = true};
	struct snapshot s;
	struct overview o;

	machine(&s);
	measure(&s);
	set_class(&ram, RAM_FREE, 16400);
	set_class(&ram, RAM_ANON, 4096);
	set_class(&ram, RAM_ANON_UNMAPPED, 3);
	set_class(&ram, RAM_PAGE_CACHE, 8192);
	set_class(&ram, RAM_SHMEM, 1024);
	set_class(&ram, RAM_SLAB, 128);
	set_class(&ram, RAM_VMALLOC, 16);
	set_class(&ram, RAM_HUGETLB, 32768);
	set_class(&ram, RAM_BALLOON, 2048);
	set_class(&ram, RAM_RESERVED, 1500);
	/* A packet ring: a process maps it, so that its 502 MiB of files have it. */
	set_class(&ram, RAM_DRIVER_MAPPED, 60);
	set_class(&ram, RAM_UNNAMED, 7);
	overview_make(&s, &ram, &o);
	assert_true(o.counted && o.split);
	assert_adds_up(&o);
	assert_int_equal(o.total, ram.frames);
	assert_part(&o, OVERVIEW_FREE, 16400);
	assert_part(&o, OVERVIEW_PROCESSES, 3996 + 502 + 256);
	assert_part(&o, OVERVIEW_CACHE, 8192 + 60 - 502);
	assert_part(&o, OVERVIEW_KERNEL, 144);
	assert_part(&o, OVERVIEW_BALLOON, 2048);
	assert_part(&o, OVERVIEW_RESERVED, 1500);
	assert_part(&o, OVERVIEW_OTHER, 3 + 7 + 100);
	/* Counters are no census. */
	ram.method = RAM_COUNTERS;
	overview_make(&s, &ram, &o);
	assert_false(o.counted);
	assert_int_equal(o.total, 100000 * MIB);
}

/* Without the processes of other pid namespaces the sum is not that of all. */
TEST(unseen)
{
	struct snapshot s;
	struct overview o;

	machine(&s);
	measure(&s);
	overview_make(&s, NULL, &o);
	assert_true(o.split);
	s.balance.anon_residual = 2000 * (int64_t)MIB;
	overview_make(&s, NULL, &o);
	assert_true(o.known && !o.split);
	assert_part(&o, OVERVIEW_PROCESSES, 4096);
	assert_adds_up(&o);
	measure(&s);
	s.balance.mapped_residual = 2000 * (int64_t)MIB;
	overview_make(&s, NULL, &o);
	assert_false(o.split);
}

TEST(unknown)
{
	struct snapshot s;
	struct overview o;

	machine(&s);
	s.system.meminfo.have &= ~(1u << MEMINFO_AVAILABLE);
	overview_make(&s, NULL, &o);
	assert_true(o.known && !o.available_known);
	s.system.meminfo.have &= ~(1u << MEMINFO_ANON);
	overview_make(&s, NULL, &o);
	assert_false(o.known || o.available_known);
	assert_int_equal(o.parts, 0);
	/* The sums need no parts. */
	set_meminfo(&s, MEMINFO_AVAILABLE, 24576);
	overview_make(&s, NULL, &o);
	assert_true(!o.known && o.available_known);
	assert_int_equal(o.total, 100000 * MIB);
	assert_int_equal(o.free, 16384 * MIB);
	assert_int_equal(o.freeable, 8192 * MIB);
	assert_int_equal(o.used, (100000 - 24576) * MIB);
}

/* Counters are read one after the other, and may say anything. */
TEST(any)
{
	srand(1);
	for (int i = 0; i < 100000; i++) {
		struct snapshot s;
		struct overview o;

		machine(&s);
		measure(&s);
		for (int f = 0; f < MEMINFO_COUNTERS; f++)
			if (rand() % 3 == 0)
				set_meminfo(&s, (enum meminfo_counter)f, (uint64_t)rand() % 100000);
		s.balance.anon_residual = (rand() % 20000 - 10000) * (int64_t)MIB;
		s.balance.mapped_residual = (rand() % 20000 - 10000) * (int64_t)MIB;
		s.balance.shmem_unmapped = (uint64_t)rand() % 20000 * MIB;
		s.balance.residual_known = rand() % 4;
		overview_make(&s, NULL, &o);
		if (o.known)
			assert_adds_up(&o);
	}
}
