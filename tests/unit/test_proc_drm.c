// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * fdinfo of files of GPUs, in the shapes of several drivers (Documentation/gpu/drm-usage-stats.rst)
 * and with hostile content; a process that has some among other files; clients that several
 * processes hold.
 */
#include "test_proc.h"

#include "proc/drm.h"
#include "proc_tree.h"

#define MIB(n) ((uint64_t)(n) << 20)

struct expected {
	const char *region;
	uint64_t resident, shared;
	bool shared_known;
};

static size_t parse_fixture(const char *name, struct gpu_part *part)
{
	char file[64];
	size_t len;
	cleanup_free char *text = NULL;

	snprintf(file, sizeof(file), "drm-%s", name);
	text = fixture(file, &len);
	return drm_parse(strcmp(name, "dmabuf") ? GPU_CLIENT : GPU_DMABUF, text, len, part);
}

static void check(const char *name, const char *driver, const char *device, uint64_t id,
		  const struct expected *expected, size_t count)
{
	struct gpu_part part[DRM_REGIONS];

	assert_int_equal(parse_fixture(name, part), count);
	for (size_t i = 0; i < count; i++) {
		assert_string_equal(part[i].driver, driver);
		assert_string_equal(part[i].device, device);
		assert_true(part[i].has_id && part[i].id == id);
		assert_string_equal(part[i].region, expected[i].region);
		assert_true(part[i].resident_known);
		assert_int_equal(part[i].resident, expected[i].resident);
		assert_int_equal(part[i].shared_known, expected[i].shared_known);
		assert_int_equal(part[i].shared, expected[i].shared);
	}
}

TEST(drivers)
{
	const struct expected amdgpu[] = {{"vram", KB(311296), KB(40960), true},
					  {"gtt", MIB(18), 0, true},
					  {"cpu", 0, 0, true}};
	const struct expected old[] = {
		{"vram", KB(40960), 0, false}, {"gtt", KB(2048), 0, false}, {"cpu", 0, 0, false}};
	const struct expected i915[] = {{"system0", MIB(125), MIB(16), true},
					{"stolen-system0", 0, 0, true}};
	const struct expected xe[] = {{"system", 0, 0, true},
				      {"gtt", KB(192), 0, true},
				      {"vram0", KB(23992), MIB(16), true},
				      {"stolen", 0, 0, true}};
	const struct expected panfrost = {"memory", KB(36496), 0, true};
	const struct expected msm = {"memory", KB(2072), 0, true};
	const struct expected buffer = {"", MIB(32), 0, false};

	/* Of drm-resident- and drm-memory- the first one counts, wherever it is. */
	check("amdgpu", "amdgpu", "0000:03:00.0", 41, amdgpu, 3);
	check("amdgpu-old", "amdgpu", "0000:03:00.0", 7, old, 3);
	check("i915", "i915", "0000:00:02.0", 9, i915, 2);
	check("xe", "xe", "0000:00:02.0", 30, xe, 4);
	check("panfrost", "panfrost", "", 3, &panfrost, 1);
	check("msm", "msm", "", 12, &msm, 1);
	check("dmabuf", "system", "", 1087, &buffer, 1);
}

TEST(regions_in_ram)
{
	static const char *const ram[] = {"system", "system0", "gtt",
					  "cpu",    "memory",  "stolen-system0"};
	static const char *const device[] = {"vram",   "vram0",	     "local0", "stolen-local0",
					     "stolen", "systematic", "gds",    ""};

	for (size_t i = 0; i < ARRAY_SIZE(ram); i++)
		assert_true(gpu_region_in_ram(ram[i]));
	for (size_t i = 0; i < ARRAY_SIZE(device); i++)
		assert_false(gpu_region_in_ram(device[i]));
}

static size_t parse(const char *text, struct gpu_part *part)
{
	cleanup_free char *copy = exact_copy(text, strlen(text));

	return drm_parse(GPU_CLIENT, copy, strlen(text), part);
}

TEST(driver_that_tells_nothing)
{
	struct gpu_part part[DRM_REGIONS];

	assert_int_equal(parse("pos:\t0\n", part), 1);
	assert_false(part[0].resident_known || part[0].has_id || *part[0].driver);
	/* drm-total- is what was asked for, not what is there; a shared part alone is no size. */
	assert_int_equal(parse("drm-driver:\tvgem\ndrm-client-id:\t5\ndrm-total-memory:\t1 MiB\n"
			       "drm-shared-memory:\t1 MiB\n",
			       part),
			 1);
	assert_string_equal(part[0].driver, "vgem");
	assert_true(part[0].has_id && part[0].id == 5);
	assert_false(part[0].resident_known);
}

TEST(hostile)
{
	struct gpu_part part[DRM_REGIONS];
	cleanup_free char *many = malloc(65536), *zeros = NULL;
	size_t len = 0;

	/* Wrong numbers and units, twice the same, names that no driver has. */
	assert_int_equal(
		parse("drm-resident-vram:\t-1 KiB\ndrm-resident-vram:\t0x10\n"
		      "drm-resident-vram:\t1 kB\ndrm-resident-vram:\t1  KiB\n"
		      "drm-resident-vram:\t99999999999999999999\n"
		      "drm-resident-vram:\t18446744073709551615 MiB\n"
		      "drm-resident-vram:\t17592186044416 MiB\n"
		      "drm-resident-vram:\t5 KiB\ndrm-resident-vram:\t6 KiB\n"
		      "drm-memory-vram:\t7 KiB\ndrm-shared-vram:\t1\ndrm-shared-vram:\t2\n"
		      "drm-resident-:\t8\ndrm-resident-\x1b[31m:\t8\ndrm-resident-a b:\t8\n"
		      "drm-resident-abcdefghijklmnopqrstuvwxyz:\t8\n"
		      "drm-driver:\t\x1b]0;x\ndrm-driver:\ta\\b\ndrm-driver:\txe\ndrm-driver:\ti915\n"
		      "drm-pdev:\t<b>\ndrm-client-id:\t-3\ndrm-client-id:\t4\n"
		      "drm-resident-gtt:\t9 KiB",
		      part),
		1);
	assert_int_equal(part[0].resident, KB(5));
	assert_int_equal(part[0].shared, 1);
	assert_string_equal(part[0].driver, "xe");
	assert_string_equal(part[0].device, "");
	assert_int_equal(part[0].id, 4);

	/* A name may not end in the middle, and more regions than there is room for are ignored. */
	zeros = exact_copy("drm-resident-a\0b:\t8\n", 20);
	assert_int_equal(drm_parse(GPU_CLIENT, zeros, 20, part), 1);
	assert_false(part[0].resident_known);
	assert_non_null(many);
	for (int i = 0; i < 100; i++)
		len += (size_t)sprintf(many + len, "drm-resident-r%d:\t%d KiB\n", i, i);
	assert_int_equal(drm_parse(GPU_CLIENT, many, len, part), DRM_REGIONS);
	assert_int_equal(part[DRM_REGIONS - 1].resident, KB(DRM_REGIONS - 1));
	memset(many, ':', 65536);
	assert_int_equal(drm_parse(GPU_DMABUF, many, 65536, part), 1);
}

TEST(of_drivers)
{
	struct drm_drivers d = {};
	const char other[] = "Character devices:\n  1 mem\n226 drmx\n";
	const char devices[] =
		"Character devices:\n  1 mem\n226 drm\n\nBlock devices:\n259 blkext\n";

	drm_drivers_parse(other, sizeof(other) - 1, &d);
	drm_drivers_parse("", 0, &d);
	assert_false(d.gpus || d.buffers);
	drm_drivers_parse(devices, sizeof(devices) - 1, &d);
	assert_true(d.gpus && !d.buffers);
	d = (struct drm_drivers){};
	drm_drivers_parse("126 udmabuf\n", 12, &d);
	assert_true(d.buffers && !d.gpus);
}

TEST(process)
{
	struct proc_tree t;
	struct drm_files files = {};
	cleanup_close int fd = -1;

	proc_tree_init(&t);
	/* Others are not opened: a FIFO would block. A name of a memfd may be like one of ours. */
	proc_tree_sh(&t, "mkdir -p 7/fd 7/fdinfo && cd 7 && mkfifo fdinfo/3 fdinfo/4 fdinfo/5 &&"
			 "ln -s /dev/null fd/3 && ln -s /memfd:/dev/dri/card0 fd/4 &&"
			 "ln -s /home/dev/dri/card0 fd/5 && ln -s /dev/dri/renderD128 fd/12 &&"
			 "ln -s /dev/dri/renderD128 fd/13 && ln -s /dmabuf:any fd/14 &&"
			 "ln -s /dev/dri/card0 fd/15 && ln -s /dev/accel/accel0 fd/16 &&"
			 "cp $tests/fixtures/proc/drm-xe fdinfo/12 && cp fdinfo/12 fdinfo/13 &&"
			 "cp $tests/fixtures/proc/drm-dmabuf fdinfo/14 && echo pos: >fdinfo/16");
	fd = procfs_open_pid(&t.proc, 7);
	assert_int_equal(drm_files_read(fd, &files), 0);
	/* A descriptor of dup() has the same client; 15 was closed meanwhile. */
	assert_int_equal(files.count, 4 + 1 + 1);
	free(files.part);
	files = (struct drm_files){};
	proc_tree_sh(&t, "rm -r 7/fd");
	assert_int_equal(drm_files_read(fd, &files), -ENOENT);
	assert_null(files.part);
	proc_tree_done(&t);
}

static struct gpu_part client(pid_t pid, uint64_t id, const char *region, uint64_t resident,
			      uint64_t shared)
{
	struct gpu_part p = {.pid = pid,
			     .id = id,
			     .has_id = true,
			     .resident = resident,
			     .resident_known = true,
			     .shared = shared,
			     .shared_known = true,
			     .driver = "xe",
			     .device = "0000:03:00.0"};

	snprintf(p.region, sizeof(p.region), "%s", region);
	return p;
}

/* Three processes hold client 1, one of them twice; client 1 of another device is another one. */
TEST(divided)
{
	struct gpu_part part[] = {client(30, 1, "vram0", 100, 40), client(10, 1, "vram0", 100, 40),
				  client(20, 1, "vram0", 100, 40), client(20, 1, "vram0", 100, 40),
				  client(10, 2, "vram0", 50, 50),  client(10, 1, "gtt", 7, 0),
				  client(40, 1, "vram0", 1000, 0), client(50, 3, "vram0", 0, 0),
				  client(51, 3, "vram0", 0, 0)};
	struct gpu_parts all = {.item = part, .count = ARRAY_SIZE(part)};
	const struct gpu_part *own;
	struct gpu_regions sum;
	uint64_t shares = 0;
	size_t count;

	strcpy(part[6].device, "0000:04:00.0");
	/* Without an id each is another one. */
	part[7].has_id = part[8].has_id = false;
	part[7].resident_known = part[8].resident_known = false;
	gpu_divide(part, &all.count);
	assert_int_equal(all.count, 8);
	own = gpu_parts_of(&all, 20, &count);
	assert_int_equal(count, 1);
	assert_int_equal(own->holders, 3);
	assert_uint_in_range(own->share, 33, 34);
	own = gpu_parts_of(&all, 10, &count);
	assert_int_equal(count, 3);
	gpu_parts_of(&all, 35, &count);
	assert_int_equal(count, 0);
	for (size_t i = 0; i < all.count; i++)
		shares += part[i].share;
	assert_int_equal(shares, 100 + 50 + 7 + 1000);

	gpu_sum_regions(part, all.count, &sum);
	assert_int_equal(sum.count, 3);
	assert_int_equal(sum.silent, 2);
	assert_string_equal(sum.item[0].region, "gtt");
	assert_true(sum.item[0].in_ram && sum.item[0].clients == 1);
	assert_string_equal(sum.item[1].region, "vram0");
	assert_false(sum.item[1].in_ram);
	assert_int_equal(sum.item[1].clients, 2);
	assert_int_equal(sum.item[1].resident, 150);
	/* 40 of the one may be among the 50 of the other. */
	assert_int_equal(sum.item[1].least, 60 + 50);
	assert_int_equal(sum.item[2].resident, 1000);
	count = 0;
	gpu_divide(part, &count);
	gpu_sum_regions(part, 0, &sum);
	assert_int_equal(sum.count + sum.buffers, 0);
}

TEST(buffers)
{
	struct gpu_part part[3] = {};
	struct gpu_regions sum;
	size_t count = 3;

	for (size_t i = 0; i < 3; i++)
		part[i] = (struct gpu_part){.pid = 1 + (pid_t)i,
					    .kind = GPU_DMABUF,
					    .id = i == 2 ? 9 : 8,
					    .has_id = true,
					    .resident = 4097,
					    .resident_known = true};
	gpu_divide(part, &count);
	assert_int_equal(part[0].share + part[1].share, 4097);
	gpu_sum_regions(part, count, &sum);
	assert_int_equal(sum.buffers, 2);
	assert_int_equal(sum.buffer_bytes, 2 * 4097);
	assert_int_equal(sum.count + sum.silent, 0);
}
