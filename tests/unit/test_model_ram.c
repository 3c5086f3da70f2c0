// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* ram_from_census(), ram_from_counters(): the classes add up, for any census and any counters. */
#include "unit.h"

#include "model/ram.h"
#include "model/snapshot.h"

#define MIB  ((uint64_t)1 << 20)
#define PAGE 4096
/* Frames of a MiB. */
#define F (MIB / PAGE)

/* A machine of 1,000 MiB with a hole of 24 MiB, and what was counted on it. */
struct fixture {
	struct system_info system;
	struct meminfo after;
	struct zones zones;
	struct census census;
	struct ram_sources from;
	struct ram ram;
};

static void set_meminfo(struct meminfo *m, enum meminfo_counter f, uint64_t bytes)
{
	m->have |= 1u << f;
	m->value[f] = bytes;
}

static void set_frames(struct fixture *m, enum zmem_frame kind, uint64_t mib)
{
	m->census.all.kind[kind] = mib * F;
}

/* Each class has another size. */
static void begin(struct fixture *m)
{
	struct meminfo *info = &m->system.meminfo;

	*m = (struct fixture){};
	m->zones = (struct zones){.count = 2,
				  .listed = 2 * F,
				  .zone = {{0, 24 * F, 16 * F, 10 * F, .node = 0},
					   {24 * F, 1000 * F, 984 * F, 950 * F, .node = 0}}};
	m->census = (struct census){
		.zsmalloc_marked = true, .kmalloc_marked = true, .percpu_marked = true};
	set_frames(m, ZMEM_FRAME_HOLE, 20);
	set_frames(m, ZMEM_FRAME_RESERVED, 4 + 39); /* 4 are no RAM, either */
	set_frames(m, ZMEM_FRAME_POISONED, 1);
	set_frames(m, ZMEM_FRAME_BUDDY, 400);
	set_frames(m, ZMEM_FRAME_LISTED, 2);
	set_frames(m, ZMEM_FRAME_ANON, 150);
	set_frames(m, ZMEM_FRAME_ANON_CACHED, 5);
	set_frames(m, ZMEM_FRAME_ANON_UNMAPPED, 3);
	set_frames(m, ZMEM_FRAME_SWAP_CACHE, 7);
	set_frames(m, ZMEM_FRAME_FILE, 60);
	set_frames(m, ZMEM_FRAME_FILE_UNMAPPED, 90);
	set_frames(m, ZMEM_FRAME_SHMEM, 20);
	set_frames(m, ZMEM_FRAME_SHMEM_UNMAPPED, 9);
	set_frames(m, ZMEM_FRAME_TRUNCATED, 1);
	set_frames(m, ZMEM_FRAME_MOVABLE, 1);
	set_frames(m, ZMEM_FRAME_RING, 8);
	set_frames(m, ZMEM_FRAME_MAPPED, 6);
	set_frames(m, ZMEM_FRAME_KERNEL, 69);
	set_frames(m, ZMEM_FRAME_PERCPU, 4);
	set_frames(m, ZMEM_FRAME_SLAB, 50);
	set_frames(m, ZMEM_FRAME_TABLE, 11);
	set_frames(m, ZMEM_FRAME_OFFLINE, 2);
	set_frames(m, ZMEM_FRAME_HUGETLB, 16);
	set_frames(m, ZMEM_FRAME_HUGETLB_FREE, 4);
	set_frames(m, ZMEM_FRAME_ZSMALLOC, 30);
	set_frames(m, ZMEM_FRAME_LARGE_KMALLOC, 10);
	set_frames(m, ZMEM_FRAME_TYPED, 2);
	m->census.all.block[0] = 60 * F;
	m->census.all.block[3] = 9 * F;
	m->census.all.charged = 12 * F;
	set_meminfo(info, MEMINFO_TOTAL, (1000 - 39 - 2) * MIB);
	set_meminfo(info, MEMINFO_FREE, 400 * MIB);
	set_meminfo(info, MEMINFO_ANON, 155 * MIB);
	set_meminfo(info, MEMINFO_CACHED, (150 + 29 - 20) * MIB);
	set_meminfo(info, MEMINFO_BUFFERS, 20 * MIB);
	set_meminfo(info, MEMINFO_SHMEM, 29 * MIB);
	set_meminfo(info, MEMINFO_SLAB_RECLAIMABLE, 25 * MIB);
	set_meminfo(info, MEMINFO_KERNEL_RECLAIMABLE, 25 * MIB);
	set_meminfo(info, MEMINFO_SLAB_UNRECLAIMABLE, 35 * MIB);
	set_meminfo(info, MEMINFO_PAGE_TABLES, 11 * MIB);
	set_meminfo(info, MEMINFO_SEC_PAGE_TABLES, 1 * MIB);
	set_meminfo(info, MEMINFO_KERNEL_STACK, 13 * MIB);
	set_meminfo(info, MEMINFO_VMALLOC_USED, (13 + 17) * MIB);
	set_meminfo(info, MEMINFO_PERCPU, 7 * MIB);
	set_meminfo(info, MEMINFO_HUGETLB, 20 * MIB);
	m->system.zram_count = 1;
	m->system.zram[0] = (struct zram_device){"zram0", {90 * MIB, 28 * MIB, 30 * MIB}};
	m->system.sockets = (struct socket_memory){true, 2 * MIB};
	m->after = *info;
	m->from = (struct ram_sources){&m->system, &m->after, &m->zones, PAGE, 4, 2 * MIB};
}

FIXTURE(begin, no_end)

static bool split(struct fixture *m)
{
	return ram_from_census(&m->census, &m->from, &m->ram);
}

static void assert_class(const struct ram *r, enum ram_class class, uint64_t mib)
{
	assert_true(r->figure[class].known);
	assert_int_equal(r->figure[class].bytes, mib * MIB);
}

static uint64_t sum(const struct ram *r)
{
	uint64_t sum = 0;

	for (int i = 0; i < RAM_CLASSES; i++)
		sum += r->figure[i].known ? r->figure[i].bytes : 0;
	return sum;
}

static uint64_t part_of_class(const struct ram *r, enum ram_class class, const char *name)
{
	const struct ram_figure *f = &r->figure[class];

	for (unsigned i = 0; i < f->parts; i++)
		if (strcmp(r->part[f->part + i].name, name) == 0)
			return r->part[f->part + i].bytes;
	return 0;
}

FIXTURE_TEST(classes)
{
	assert_true(split(f));
	assert_int_equal(f->ram.method, RAM_EXACT);
	assert_int_equal(f->ram.frames, 1000 * MIB);
	assert_int_equal(sum(&f->ram), 1000 * MIB);
	assert_class(&f->ram, RAM_FREE, 402);
	assert_class(&f->ram, RAM_ANON, 155);
	assert_class(&f->ram, RAM_ANON_UNMAPPED, 11);
	assert_class(&f->ram, RAM_PAGE_CACHE, 150);
	assert_class(&f->ram, RAM_SHMEM, 29);
	assert_class(&f->ram, RAM_SLAB, 50);
	assert_class(&f->ram, RAM_LARGE_KMALLOC, 10);
	assert_class(&f->ram, RAM_PAGE_TABLES, 12);
	assert_class(&f->ram, RAM_KERNEL_STACKS, 13);
	assert_class(&f->ram, RAM_VMALLOC, 15);
	assert_class(&f->ram, RAM_PERCPU, 4);
	assert_class(&f->ram, RAM_HUGETLB, 20);
	assert_class(&f->ram, RAM_ZRAM_ZSWAP, 30);
	assert_class(&f->ram, RAM_NET_RINGS, 8);
	assert_class(&f->ram, RAM_BALLOON, 2);
	assert_class(&f->ram, RAM_DRIVER_MAPPED, 6);
	assert_class(&f->ram, RAM_RESERVED, 40);
	assert_class(&f->ram, RAM_UNNAMED, 69 + 2 + 1 - 1 - 13 - 15);
	assert_class(&f->ram, RAM_SOCKETS, 2);
	assert_class(&f->ram, RAM_CGROUP_KERNEL, 12);
	assert_false(f->ram.figure[RAM_GPU].exists);
	assert_int_equal(f->ram.figure[RAM_SLAB].counter, 50 * MIB);
	assert_int_equal(f->ram.figure[RAM_RESERVED].counter, 39 * MIB);
	assert_int_equal(f->ram.figure[RAM_PERCPU].counter, 7 * MIB);
	assert_int_equal(part_of_class(&f->ram, RAM_ANON_UNMAPPED, "swap cache"), 7 * MIB);
	assert_int_equal(part_of_class(&f->ram, RAM_UNNAMED, "blocks of 32 KiB"), 9 * MIB);
	assert_int_equal(part_of_class(&f->ram, RAM_ZRAM_ZSWAP, "zram0"), 30 * MIB);
	assert_int_equal(part_of_class(&f->ram, RAM_PAGE_TABLES, "of KVM and IOMMUs"), MIB);
}

/* What processes map of vmalloc is no more than they map, and than can be mapped. */
FIXTURE_TEST(mapped_vmalloc)
{
	f->from.vmalloc_mappable = 16 * MIB;
	assert_true(split(f));
	assert_class(&f->ram, RAM_VMALLOC, 17 - 6);
	assert_class(&f->ram, RAM_DRIVER_MAPPED, 6);
	assert_int_equal(sum(&f->ram), 1000 * MIB);
}

/* Counters of what has no mark never take more than there is. */
FIXTURE_TEST(few_unmarked)
{
	set_meminfo(&f->after, MEMINFO_VMALLOC_USED, 500 * MIB);
	assert_true(split(f));
	assert_int_equal(sum(&f->ram), 1000 * MIB);
	assert_class(&f->ram, RAM_UNNAMED, 0);
	assert_class(&f->ram, RAM_VMALLOC, 72 - 13);
	assert_non_null(f->ram.figure[RAM_VMALLOC].reason);
}

static void set_held(struct fixture *f, uint64_t mib)
{
	f->from.descriptors_known = true;
	f->from.descriptors = mib * MIB;
}

/* What processes hold by descriptors is taken from what has no name: the sum stays. */
FIXTURE_TEST(descriptors)
{
	uint64_t unnamed;

	assert_true(split(f));
	unnamed = f->ram.figure[RAM_UNNAMED].bytes;
	assert_false(f->ram.figure[RAM_DESCRIPTORS].known);
	assert_null(f->ram.figure[RAM_DESCRIPTORS].reason);
	set_held(f, 30);
	assert_true(split(f));
	assert_class(&f->ram, RAM_DESCRIPTORS, 30);
	assert_int_equal(f->ram.figure[RAM_UNNAMED].bytes, unnamed - 30 * MIB);
	assert_int_equal(sum(&f->ram), 1000 * MIB);
	/* Nothing is held, which is known. */
	set_held(f, 0);
	assert_true(split(f));
	assert_class(&f->ram, RAM_DESCRIPTORS, 0);
	assert_true(f->ram.figure[RAM_DESCRIPTORS].exists);
	/* More than has no name: it changed meanwhile. */
	set_held(f, 5000);
	assert_true(split(f));
	assert_class(&f->ram, RAM_UNNAMED, 0);
	assert_true(f->ram.figure[RAM_DESCRIPTORS].bytes <= unnamed);
	assert_int_equal(sum(&f->ram), 1000 * MIB);
	assert_non_null(strstr(f->ram.figure[RAM_DESCRIPTORS].reason, "less than"));
	/* Some processes were not read; nothing was. */
	set_held(f, 30);
	f->from.descriptors_reason = "without 2 processes";
	assert_true(split(f));
	assert_class(&f->ram, RAM_DESCRIPTORS, 30);
	assert_string_equal(f->ram.figure[RAM_DESCRIPTORS].reason, "without 2 processes");
	f->from.descriptors_known = false;
	f->from.descriptors_reason = "why";
	assert_true(split(f));
	assert_false(f->ram.figure[RAM_DESCRIPTORS].known);
	assert_string_equal(f->ram.figure[RAM_DESCRIPTORS].reason, "why");
	assert_int_equal(f->ram.figure[RAM_UNNAMED].bytes, unnamed);
}

/* Likewise of counters. */
FIXTURE_TEST(descriptors_of_counters)
{
	uint64_t unnamed;

	ram_from_counters(&f->from, "why", &f->ram);
	unnamed = f->ram.figure[RAM_UNNAMED].bytes;
	assert_false(f->ram.figure[RAM_DESCRIPTORS].known);
	set_held(f, 3);
	ram_from_counters(&f->from, "why", &f->ram);
	assert_class(&f->ram, RAM_DESCRIPTORS, 3);
	assert_int_equal(f->ram.figure[RAM_UNNAMED].bytes, unnamed - 3 * MIB);
	set_held(f, 5000);
	ram_from_counters(&f->from, "why", &f->ram);
	assert_class(&f->ram, RAM_UNNAMED, 0);
	assert_int_equal(f->ram.figure[RAM_DESCRIPTORS].bytes, unnamed);
	assert_int_equal(sum(&f->ram), 1000 * MIB);
	f->from.descriptors_known = false;
	f->from.descriptors_reason = "this needs BPF";
	ram_from_counters(&f->from, "why", &f->ram);
	assert_false(f->ram.figure[RAM_DESCRIPTORS].known);
	assert_string_equal(f->ram.figure[RAM_DESCRIPTORS].reason, "this needs BPF");
}

/* A class that its counter contradicts: no census, and the reason names it. */
TEST(contradictions)
{
	static const struct {
		enum zmem_frame from, to;
		uint64_t mib;
		const char *class;
	} cases[] = {
		{ZMEM_FRAME_BUDDY, ZMEM_FRAME_KERNEL, 20, "free"},
		{ZMEM_FRAME_ANON, ZMEM_FRAME_KERNEL, 14, "anon"},
		{ZMEM_FRAME_FILE_UNMAPPED, ZMEM_FRAME_SHMEM_UNMAPPED, 14, "page_cache"},
		{ZMEM_FRAME_SLAB, ZMEM_FRAME_TYPED, 14, "slab"},
		{ZMEM_FRAME_HUGETLB, ZMEM_FRAME_KERNEL, 14, "hugetlb"},
	};
	struct fixture m;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char what[64];

		begin(&m);
		m.census.all.kind[cases[i].from] -= cases[i].mib * F;
		m.census.all.kind[cases[i].to] += cases[i].mib * F;
		assert_false(split(&m));
		snprintf(what, sizeof(what), "counters: %s has ", cases[i].class);
		assert_non_null(strstr(m.ram.reason, what));
	}
	/* What moved between the two readings is no contradiction. */
	begin(&m);
	m.census.all.kind[ZMEM_FRAME_BUDDY] -= 30 * F;
	m.census.all.kind[ZMEM_FRAME_KERNEL] += 30 * F;
	set_meminfo(&m.after, MEMINFO_FREE, 360 * MIB);
	assert_true(split(&m));
	/* A frame too many, or too few of what is no RAM. */
	begin(&m);
	m.census.all.kind[ZMEM_FRAME_BUDDY]++;
	assert_false(split(&m));
	assert_non_null(strstr(m.ram.reason, "add up"));
	begin(&m);
	set_frames(&m, ZMEM_FRAME_HOLE, 0);
	set_frames(&m, ZMEM_FRAME_RESERVED, 23);
	set_frames(&m, ZMEM_FRAME_KERNEL, 69 + 40);
	assert_false(split(&m));
}

/* Frames that the kernel sets up when it needs them are free. */
FIXTURE_TEST(not_set_up)
{
	set_frames(f, ZMEM_FRAME_BUDDY, 100);
	set_frames(f, ZMEM_FRAME_HOLE, 20 + 300);
	f->zones.zone[1].managed = 650 * F;
	assert_true(split(f));
	assert_int_equal(sum(&f->ram), 1000 * MIB);
	assert_class(&f->ram, RAM_FREE, 402 - 2);
	assert_int_equal(part_of_class(&f->ram, RAM_FREE, "not yet set up"), 298 * MIB);
}

/* Until 6.11: types are bits that are known by what their counters say. */
FIXTURE_TEST(old_types)
{
	uint64_t *type = f->census.all.type;

	f->census.old_types = true;
	f->census.zsmalloc_marked = f->census.kmalloc_marked = f->census.percpu_marked = false;
	set_frames(f, ZMEM_FRAME_TABLE, 0);
	set_frames(f, ZMEM_FRAME_SLAB, 0);
	set_frames(f, ZMEM_FRAME_OFFLINE, 0);
	set_frames(f, ZMEM_FRAME_ZSMALLOC, 0);
	set_frames(f, ZMEM_FRAME_LARGE_KMALLOC, 0);
	set_frames(f, ZMEM_FRAME_PERCPU, 0);
	set_frames(f, ZMEM_FRAME_MOVABLE, 31);
	set_frames(f, ZMEM_FRAME_KERNEL, 69 + 10 + 4);
	set_frames(f, ZMEM_FRAME_TYPED, 2 + 11 + 59 + 2 - 9);
	type[0] = 400 * F;
	type[1] = 2 * F;
	type[3] = 11 * F;
	type[5] = 50 * F;
	set_meminfo(&f->system.meminfo, MEMINFO_SLAB_UNRECLAIMABLE, 26 * MIB);
	f->after = f->system.meminfo;
	assert_true(split(f));
	assert_int_equal(sum(&f->ram), 1000 * MIB);
	assert_int_equal(f->ram.types.table, 3);
	assert_int_equal(f->ram.types.slab, 5);
	assert_class(&f->ram, RAM_PAGE_TABLES, 12);
	assert_class(&f->ram, RAM_SLAB, 50);
	assert_class(&f->ram, RAM_BALLOON, 2);
	assert_class(&f->ram, RAM_ZRAM_ZSWAP, 31);
	/* What has no mark is what its counter says. */
	assert_class(&f->ram, RAM_LARGE_KMALLOC, 1);
	assert_class(&f->ram, RAM_PERCPU, 7);
	/* No bit agrees with the page tables. */
	type[3] = 200 * F;
	assert_false(split(f));
	assert_non_null(strstr(f->ram.reason, "page_tables"));
}

/* A sample stands for all that is not reserved. */
FIXTURE_TEST(sample)
{
	for (int i = 0; i < ZMEM_FRAMES; i++)
		f->census.all.kind[i] /= 8;
	f->census.sampled = true;
	f->census.error.kind[ZMEM_FRAME_FILE] = F;
	f->zones.zone[1].managed = 949 * F;
	assert_true(split(f));
	assert_int_equal(f->ram.method, RAM_SAMPLE);
	assert_true(sum(&f->ram) <= 1000 * MIB && sum(&f->ram) > 999 * MIB);
	assert_true(f->ram.figure[RAM_FREE].bytes / MIB >= 400 &&
		    f->ram.figure[RAM_FREE].bytes / MIB <= 404);
	assert_true(f->ram.figure[RAM_PAGE_CACHE].sampled);
	assert_true(f->ram.figure[RAM_PAGE_CACHE].error / MIB >= 7 &&
		    f->ram.figure[RAM_PAGE_CACHE].error / MIB <= 8);
	/* Nothing was looked at. */
	f->census.all = (struct census_frames){};
	assert_false(split(f));
}

static void check_node(struct fixture *m)
{
	const struct census_node node = {0, m->census.all};
	uint64_t total = 0;
	struct ram_node n;

	assert_true(split(m));
	ram_from_node(&m->census, &node, &m->from, &m->ram, &n);
	assert_int_equal(n.frames, 1000 * MIB);
	for (size_t i = 0; i < n.classes; i++) {
		const struct ram_figure *f = &m->ram.figure[n.class[i].class];

		total += n.class[i].bytes;
		/* What has no mark is of no node. */
		if (f->class != RAM_UNNAMED && f->class != RAM_PAGE_TABLES)
			assert_int_equal(n.class[i].bytes, f->bytes);
	}
	assert_int_equal(total, 1000 * MIB);
}

/* The only node has what the machine has. */
FIXTURE_TEST(node)
{
	check_node(f);
	/* Some of its frames are not set up, and some of these are reserved. */
	set_frames(f, ZMEM_FRAME_BUDDY, 100);
	set_frames(f, ZMEM_FRAME_HOLE, 20 + 310);
	set_frames(f, ZMEM_FRAME_RESERVED, 43 - 10);
	f->zones.zone[1].managed = 650 * F;
	check_node(f);
}

FIXTURE_TEST(counters)
{
	ram_from_counters(&f->from, "why", &f->ram);
	assert_int_equal(f->ram.method, RAM_COUNTERS);
	assert_string_equal(f->ram.reason, "why");
	assert_int_equal(f->ram.frames, 1000 * MIB);
	assert_int_equal(sum(&f->ram), 1000 * MIB);
	assert_false(f->ram.figure[RAM_NET_RINGS].known);
	/* Mapped also counts pages of drivers: no class is made of it. */
	set_meminfo(&f->after, MEMINFO_MAPPED, 5000 * MIB);
	ram_from_counters(&f->from, "why", &f->ram);
	assert_class(&f->ram, RAM_PAGE_CACHE, 150);
	/* Without a counter that can be large the rest has no name. */
	f->after.have &= ~(1u << MEMINFO_CACHED);
	ram_from_counters(&f->from, "why", &f->ram);
	assert_false(f->ram.figure[RAM_UNNAMED].known);
	/* The counters lag: never below 0. */
	set_meminfo(&f->after, MEMINFO_CACHED, 900 * MIB);
	ram_from_counters(&f->from, "why", &f->ram);
	assert_class(&f->ram, RAM_UNNAMED, 0);
	/* Nothing is known. */
	f->after.have = 0;
	ram_from_counters(&f->from, "why", &f->ram);
	assert_false(f->ram.known);
}

/* Any numbers: never more than there is, no overflow. */
FIXTURE_TEST(lies)
{
	for (unsigned i = 0; i < MEMINFO_COUNTERS; i++)
		set_meminfo(&f->after, (enum meminfo_counter)i, ((uint64_t)1 << 53) - 1024);
	split(f);
	ram_from_counters(&f->from, "why", &f->ram);
	for (unsigned i = 0; i < MEMINFO_COUNTERS; i++)
		set_meminfo(&f->after, (enum meminfo_counter)i, UINT64_MAX);
	assert_false(split(f));
	ram_from_counters(&f->from, "why", &f->ram);
	assert_false(f->ram.known);
	f->zones = (struct zones){};
	assert_false(split(f));
}

/* Parts of a class come in a row, and there is room for some. */
TEST(parts)
{
	struct ram ram = {};

	for (int i = 0; i < RAM_PARTS_MAX + 5; i++)
		ram_add_part(&ram, i < 3 ? RAM_SLAB : RAM_VMALLOC, "name", 1);
	assert_int_equal(ram.parts, RAM_PARTS_MAX);
	assert_int_equal(ram.figure[RAM_SLAB].parts, 3);
	assert_int_equal(ram.figure[RAM_VMALLOC].parts, RAM_PARTS_MAX - 3);
	ram.parts--;
	ram_add_part(&ram, RAM_SLAB, "late", 1);
	assert_int_equal(ram.figure[RAM_SLAB].parts, 3);
}
