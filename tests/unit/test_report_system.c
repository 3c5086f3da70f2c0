// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Both renderers of the machine against golden files. */
#include "golden.h"
#include "sample.h"

#include "report/report.h"

static struct swap_device device(const char *name, enum swap_kind kind, uint64_t size,
				 uint64_t used, int priority)
{
	struct swap_device d = {.kind = kind, .size = size, .used = used, .priority = priority};

	snprintf(d.name, sizeof(d.name), "%s", name);
	return d;
}

/* A machine with zones of 128 MiB more than MemTotal. */
static void by_counters(const struct sample *s, struct system_report *r)
{
	const struct system_info *m = &s->snapshot.system;
	const struct zones zones = {
		.count = 1,
		.zone = {{.present = (m->meminfo.value[MEMINFO_TOTAL] + 128 * MIB) / 4096}}};

	ram_from_counters(
		&(struct ram_sources){
			.system = m, .after = &m->meminfo, .zones = &zones, .page_size = 4096},
		"a recording has no page frames", &r->counters);
	r->ram = &r->counters;
}

/* The ordinary sample with a complete meminfo and one denied process. */
static void ordinary(struct sample *s, struct system_report *r)
{
	struct system_info *m = &s->snapshot.system;

	sample_ordinary(s);
	sample_meminfo(&m->meminfo, MEMINFO_FREE, 8 * GIB);
	sample_meminfo(&m->meminfo, MEMINFO_CACHED, 3 * GIB);
	sample_meminfo(&m->meminfo, MEMINFO_BUFFERS, 20 * MIB);
	sample_meminfo(&m->meminfo, MEMINFO_SWAP_CACHED, 5 * MIB);
	sample_meminfo(&m->meminfo, MEMINFO_UNEVICTABLE, 96 * MIB);
	sample_meminfo(&m->meminfo, MEMINFO_MLOCKED, 64 * MIB);
	sample_meminfo(&m->meminfo, MEMINFO_SLAB_RECLAIMABLE, 400 * MIB);
	sample_meminfo(&m->meminfo, MEMINFO_KERNEL_RECLAIMABLE, 401 * MIB);
	sample_meminfo(&m->meminfo, MEMINFO_SLAB_UNRECLAIMABLE, 150 * MIB);
	sample_meminfo(&m->meminfo, MEMINFO_PAGE_TABLES, 30 * MIB);
	sample_meminfo(&m->meminfo, MEMINFO_SEC_PAGE_TABLES, 0);
	sample_meminfo(&m->meminfo, MEMINFO_KERNEL_STACK, 9 * MIB);
	sample_meminfo(&m->meminfo, MEMINFO_VMALLOC_USED, 60 * MIB);
	sample_meminfo(&m->meminfo, MEMINFO_PERCPU, 8 * MIB);
	sample_meminfo(&m->meminfo, MEMINFO_HUGETLB, 64 * MIB);
	sample_meminfo(&m->meminfo, MEMINFO_GPU_ACTIVE, 12 * MIB);
	sample_meminfo(&m->meminfo, MEMINFO_GPU_RECLAIM, 0);
	m->meminfo.unplaced_count = 2;
	m->meminfo.unplaced[0] = (struct meminfo_line){"Balloon", 64 * MIB};
	m->meminfo.unplaced[1] = (struct meminfo_line){"New\033Line", 3 * MIB};
	m->sockets = (struct socket_memory){true, 2 * MIB};
	m->files.cache_known = true;
	m->files.cache = 2900 * MIB;
	m->swaps_known = true;
	m->swap[m->swap_count++] = device("/dev/zram0", SWAP_PARTITION, GIB - 4096, 700 * MIB, 100);
	m->swap[m->swap_count++] = device("/var/a b\n\xff", SWAP_FILE, GIB, 324 * MIB, -2);
	m->swap[m->swap_count] = device("", SWAP_OTHER, 4096, 0, -3);
	memset(m->swap[m->swap_count].name, 'n', SWAP_NAME_MAX);
	m->swap[m->swap_count++].name_cut = true;
	*r = (struct system_report){
		.snapshot = &s->snapshot,
		.balance = &s->result,
		.processes = 3,
		.pss_missing = 1,
		.swap_used_known = true,
		.swap_used = GIB,
		.unattributed_known = true,
		.unattributed = 3 * MIB,
		.swap_pss_known = true,
		.swap_pss = GIB - 3 * MIB,
		.pss_anon_known = true,
		.pss_anon = 4 * GIB - 10 * MIB,
		.pss_mapped_known = true,
		.pss_mapped = GIB + 4096,
	};
	account_split(m, &r->account);
	r->all = true;
	by_counters(s, r);
}

static void check(const char *json, const char *table, const struct system_report *r,
		  struct table_style style)
{
	golden_json(json, render_system_json, r);
	golden_render(table, render_system_table, r, &style);
}

TEST(reports)
{
	struct system_report r;
	struct sample s;

	ordinary(&s, &r);
	check("system_ordinary.json", "system_ordinary.txt", &r,
	      (struct table_style){.header = true});
	/* The parts exceed the total; exact bytes, colors, narrow. */
	sample_meminfo(&s.snapshot.system.meminfo, MEMINFO_FREE, 9 * GIB);
	r.swap_shmem_known = true;
	r.swap_shmem = 2 * MIB;
	r.pss_anon_known = false;
	s.snapshot.collection.hidden = true;
	account_split(&s.snapshot.system, &r.account);
	by_counters(&s, &r);
	check("system_negative.json", "system_negative.txt", &r,
	      (struct table_style){.header = true, .bytes = true, .color = true, .width = 84});
	/* No value of the machine is known. */
	sample_bare(&s);
	r = (struct system_report){.snapshot = &s.snapshot, .balance = &s.result, .all = true};
	by_counters(&s, &r);
	account_split(&s.snapshot.system, &r.account);
	check("system_bare.json", "system_bare.txt", &r, (struct table_style){.header = true});
}

/* Clients of two GPUs, one of which is silent, and buffers; JSON of them: test_report_json. */
TEST(gpus)
{
	struct gpu_regions sums = {
		.count = 3,
		.silent = 2,
		.buffers = 5,
		.buffer_bytes = 40 * MIB,
		.unheld_known = true,
		.unheld = 3,
		.unheld_bytes = 12 * MIB,
		.item = {{7, 900 * MIB, 700 * MIB, false, "xe", "0000:03:00.0", "vram0"},
			 {7, 300 * MIB, 300 * MIB, true, "xe", "0000:03:00.0", "gtt"},
			 {1, 4096, 4096, true, "panfrost", "", "memory"}}};
	struct system_report r;
	struct sample s;

	ordinary(&s, &r);
	s.snapshot.gpu.sums = &sums;
	check("system_gpus.json", "system_gpus.txt", &r,
	      (struct table_style){.header = true, .width = 80});
	r.all = false;
	golden_render("system_gpus_short.txt", render_system_table, &r,
		      &(struct table_style){.header = true, .width = 80});
	/* Nothing is open, or there is no driver: no line. */
	sums = (struct gpu_regions){};
	s.snapshot.gpu = (struct gpu_parts){.reason = "no driver"};
	golden_render("system_gpus_none.txt", render_system_table, &r,
		      &(struct table_style){.header = true, .width = 80});
}

/* Swap slots were read. */
TEST(slots)
{
	struct system_report r;
	struct sample s;
	int64_t rest;

	ordinary(&s, &r);
	assert_false(swap_rest(&r, &rest));
	r.unattributed = 5 * MIB;
	r.swap_ram_known = true;
	r.swap_ram = 260 * MIB;
	s.snapshot.system.files.swap_ram_known = true;
	s.snapshot.system.files.swap_ram = MIB;
	s.snapshot.system.swap_cache = (struct swap_cache){true, 2 * MIB - 4096};
	assert_true(swap_rest(&r, &rest));
	assert_int_equal(rest, 4096);
	check("system_slots.json", "system_slots.txt", &r, (struct table_style){.header = true});
	/* More was found than is in use: it changed meanwhile. */
	r.unattributed = 4 * MIB;
	assert_true(swap_rest(&r, &rest));
	assert_int_equal(rest, 4096 - (int64_t)MIB);
	s.snapshot.system.files.shmem_known = false;
	assert_false(swap_rest(&r, &rest));
}

static void figure(struct ram *ram, enum ram_class class, uint64_t bytes, int64_t difference)
{
	struct ram_figure *f = &ram->figure[class];

	f->exists = f->known = true;
	f->bytes = bytes;
	f->has_counter = ram_class_table[class].counter;
	f->counter = bytes - (uint64_t)difference;
}

/* The frames were counted. */
static void census(struct ram *ram)
{
	static const struct census_cgroup cgroups[] = {
		{"/system.slice/web.service", false, {3 * GIB, 900 * MIB, 0, 20 * MIB}},
		{"/", false, {GIB, 200 * MIB, 100 * MIB, 0}},
		{"/zz\033dead", true, {0, 48 * MIB, 0, 0}},
		{NULL, true, {0, 4096, 8192, 0}},
	};
	static const struct ram_node nodes[] = {
		{0, 10 * GIB, {{RAM_FREE, 7 * GIB}, {RAM_ANON, 3 * GIB}}, 2},
		{3, 6 * GIB, {{RAM_FREE, 5 * GIB}, {RAM_ANON, GIB}}, 2},
	};

	*ram = (struct ram){.method = RAM_EXACT,
			    .known = true,
			    .frames = 16 * GIB + 200 * MIB,
			    .duration_us = 61234,
			    .taken_ms = 1767225600100, /* the snapshot began before it */
			    .deleted_known = true,
			    .deleted_cgroups = 2,
			    .deleted_bytes = 48 * MIB + 12 * KIB,
			    .cgroup = cgroups,
			    .cgroups = ARRAY_SIZE(cgroups),
			    .node = nodes,
			    .nodes = ARRAY_SIZE(nodes)};
	for (int i = 0; i < RAM_FIGURES; i++)
		ram->figure[i].class = (enum ram_class)i;
	figure(ram, RAM_FREE, 8 * GIB + 200 * MIB, MIB);
	figure(ram, RAM_ANON, 4 * GIB, -4096);
	figure(ram, RAM_ANON_UNMAPPED, 12 * MIB, 0);
	ram_add_part(ram, RAM_ANON_UNMAPPED, "swap cache", 10 * MIB);
	figure(ram, RAM_PAGE_CACHE, 2 * GIB, 0);
	figure(ram, RAM_SHMEM, GIB, 0);
	figure(ram, RAM_SLAB, 500 * MIB, 0);
	ram_add_part(ram, RAM_SLAB, "dentry", 300 * MIB);
	ram_add_part(ram, RAM_SLAB, "a\033name", 100 * MIB);
	figure(ram, RAM_LARGE_KMALLOC, MIB, 0);
	figure(ram, RAM_PAGE_TABLES, 30 * MIB, 0);
	figure(ram, RAM_KERNEL_STACKS, 9 * MIB, 0);
	figure(ram, RAM_VMALLOC, 40 * MIB, -11 * MIB);
	ram->figure[RAM_VMALLOC].reason = "less than its counter: no more pages were left";
	figure(ram, RAM_PERCPU, 8 * MIB, 0);
	figure(ram, RAM_HUGETLB, 64 * MIB, 0);
	ram_add_part(ram, RAM_HUGETLB, "free", 64 * MIB);
	figure(ram, RAM_RESERVED, 200 * MIB, 0);
	figure(ram, RAM_UNNAMED, 160 * MIB, 0);
	figure(ram, RAM_SOCKETS, 2 * MIB, 0);
	figure(ram, RAM_CGROUP_KERNEL, 20 * MIB, 0);
}

/* More than have a row: the others, and the others that are deleted. */
TEST(cgroups)
{
	struct census_cgroup many[30];
	struct system_report r;
	struct sample s;
	struct ram ram;

	ordinary(&s, &r);
	census(&ram);
	for (size_t i = 0; i < ARRAY_SIZE(many); i++)
		many[i] = (struct census_cgroup){"/many", i % 3 == 0, {(64 - i) * MIB, i * 4096}};
	ram.cgroup = many;
	ram.cgroups = ARRAY_SIZE(many);
	r.ram = &ram;
	r.all = false;
	r.cgroups = true;
	golden_render("system_cgroups_many.txt", render_system_table, &r,
		      &(struct table_style){.header = true, .width = 80});
}

static void hold(struct kernel_held *held, enum zmem_descriptor_kind kind, uint64_t bytes)
{
	held->all.kind[kind].bytes = bytes;
	held->all.kind[kind].descriptors = 3;
}

/* What descriptors hold, all of it and in part; maps of BPF of no process; why it is not known. */
TEST(descriptors)
{
	static const struct table_style terminal = {.header = true, .width = 80};
	static const struct kernel_map maps[] = {
		{7, true, 64 * MIB, "tc_\033map", "", "/sys/fs/bpf/tc/a\xff"},
		{12, true, 2 * MIB, "counts", "watch_exec"},
		{9, true, 4096, "", "", NULL},
		{8, false, 0, "old", "", NULL},
	};
	struct kernel_held *held;
	struct system_report r;
	struct sample s;
	struct ram ram;

	ordinary(&s, &r);
	census(&ram);
	figure(&ram, RAM_DESCRIPTORS, 300 * MIB, 0);
	ram.figure[RAM_UNNAMED].bytes -= 100 * MIB;
	ram.figure[RAM_DESCRIPTORS].reason = "without 2 processes";
	ram_add_part_of(
		&ram, RAM_DESCRIPTORS,
		&(struct ram_part){"tcpdump (4711) packet rings", 200 * MIB, 4711, "tcpdump"});
	ram_add_part_of(&ram, RAM_DESCRIPTORS,
			&(struct ram_part){"a\033b (12) pipes", 100 * MIB, 12, "a\033b"});
	r.ram = &ram;
	held = &s.snapshot.kernel;
	*held = (struct kernel_held){
		.known = true,
		.left_out = 2,
		.unheld = {true, NULL, maps, ARRAY_SIZE(maps), 66 * MIB + 4096}};
	kernel_shares_clear(&held->all);
	hold(held, ZMEM_DESCRIPTOR_PACKET, 200 * MIB);
	hold(held, ZMEM_DESCRIPTOR_PIPE, 101 * MIB);
	check("system_descriptors.json", "system_descriptors.txt", &r, terminal);
	r.all = false;
	golden_render("system_descriptors_short.txt", render_system_table, &r, &terminal);
	/* None, which is something else than not known. */
	r.all = true;
	held->unheld = (struct kernel_maps){.known = true};
	golden_render("system_no_maps.txt", render_system_table, &r, &terminal);
	held->unheld = (struct kernel_maps){.reason = "there are too many"};
	golden_render("system_unknown_maps.txt", render_system_table, &r, &terminal);
	*held = (struct kernel_held){.reason = "this needs BPF"};
	ram.figure[RAM_DESCRIPTORS] =
		(struct ram_figure){.class = RAM_DESCRIPTORS, .reason = "this needs BPF"};
	check("system_no_descriptors.json", "system_no_descriptors.txt", &r, terminal);
}

TEST(frames)
{
	static const struct table_style terminal = {.header = true, .width = 80};
	struct system_report r;
	struct sample s;
	struct ram ram;

	ordinary(&s, &r);
	census(&ram);
	r.ram = &ram;
	r.all = false;
	check("system_frames.json", "system_frames.txt", &r, terminal);
	r.all = true;
	golden_render("system_frames_all.txt", render_system_table, &r,
		      &(struct table_style){.header = true});
	r.all = false;
	r.cgroups = true;
	check("system_cgroups.json", "system_cgroups.txt", &r, terminal);
	ram.cgroups = 0;
	golden_render("system_no_cgroups.txt", render_system_table, &r, &terminal);
	r.cgroups = false;
	r.nodes = true;
	check("system_nodes.json", "system_nodes.txt", &r, terminal);
	/* A sample has errors, and neither nodes nor, here, cgroups. */
	ram.method = RAM_SAMPLE;
	ram.node = NULL;
	ram.nodes = ram.cgroups = 0;
	ram.cgroup = NULL;
	ram.deleted_known = false;
	ram.deleted_cgroups = 0;
	for (int i = 0; i < RAM_CLASSES; i++) {
		ram.figure[i].sampled = ram.figure[i].known;
		ram.figure[i].error = ram.figure[i].bytes / 50;
	}
	golden_render("system_no_nodes.txt", render_system_table, &r, &terminal);
	/* A reason is not cut. */
	ram.method = RAM_COUNTERS;
	snprintf(ram.reason, sizeof(ram.reason),
		 "the frames were not counted: they need PSS from page tables");
	golden_render("system_no_frames.txt", render_system_table, &r, &terminal);
	ram.method = RAM_SAMPLE;
	*ram.reason = '\0';
	r.nodes = false;
	r.all = true;
	check("system_sample.json", "system_sample.txt", &r, (struct table_style){.header = true});
}
