// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What the program with libnvidia-ml answers, whole and forged; any bytes: fuzz_source_nvml. The
 * program itself: cli/nvidia.sh. */
#include "unit.h"

#include <errno.h>

#include "base/array.h"
#include "source/nvml_source.h"

static struct {
	struct nvml_answer head;
	struct nvml_use use[NVML_USES + 1];
} answer;
static struct gpu_part part[NVML_USES];
static char why[NVML_WHY];

static ssize_t parse(size_t uses)
{
	return nvml_parse(&answer, sizeof(answer.head) + uses * sizeof(*answer.use), part, why);
}

static void begin(uint32_t count)
{
	memset(&answer, 0, sizeof(answer));
	answer.head.count = count;
	for (uint32_t i = 0; i < count && i < NVML_USES; i++)
		answer.use[i] = (struct nvml_use){.pid = (int32_t)(1000 - i % 1000), .bytes = 1};
}

TEST(parts)
{
	const struct nvml_use use[] = {
		{.bus = 1, .pid = 20, .bytes = 5},
		{.bus = 2, .pid = 10, .bytes = 7},
		{.bus = 1, .pid = 10, .bytes = 3, .gpu_instance = 1},
		{.bus = 1, .pid = 10, .bytes = 4, .gpu_instance = 2},
		{.bus = 2, .pid = 20, .bytes = NVML_UNKNOWN},
		{.bus = 2, .pid = 20, .bytes = 9, .gpu_instance = 1},
		{.domain = 0xffffffff,
		 .bus = 255,
		 .device = 31,
		 .pid = 30,
		 .bytes = GPU_BYTES_MAX + 1},
	};

	begin(ARRAY_SIZE(use));
	memcpy(answer.use, use, sizeof(use));
	assert_int_equal(parse(ARRAY_SIZE(use)), 5);
	assert_int_equal(part[0].pid, 10);
	assert_string_equal(part[0].device, "0000:01:00.0");
	assert_int_equal(part[0].resident, 7);
	assert_int_equal(part[1].resident, 7);
	assert_int_equal(part[2].resident, 5);
	/* A part of a sum that is not known. */
	assert_string_equal(part[3].device, "0000:02:00.0");
	assert_false(part[3].resident_known);
	assert_int_equal(part[3].resident, 0);
	assert_string_equal(part[4].device, "ffffffff:ff:1f.0");
	assert_false(part[4].resident_known);
	for (size_t i = 0; i < 5; i++) {
		assert_int_equal(part[i].kind, GPU_NVML);
		assert_false(part[i].has_id);
		assert_string_equal(part[i].region, "usedGpuMemory");
	}
	begin(0);
	assert_int_equal(parse(0), 0);
	begin(NVML_USES);
	assert_int_equal(parse(NVML_USES), 1000);
	assert_int_equal(part[0].resident, 3);
}

TEST(forged)
{
	begin(1);
	assert_int_equal(nvml_parse(&answer, sizeof(answer.head) - 1, part, why), -EBADMSG);
	assert_int_equal(parse(0), -EBADMSG);
	assert_int_equal(parse(2), -EBADMSG);
	answer.use[0].pid = 0;
	assert_int_equal(parse(1), -EBADMSG);
	answer.use[0].pid = -5;
	assert_int_equal(parse(1), -EBADMSG);
	begin(NVML_USES + 1);
	assert_int_equal(parse(NVML_USES + 1), -EBADMSG);
	begin(0);
	memset(answer.head.words, 'a', sizeof(answer.head.words));
	assert_int_equal(parse(0), -EBADMSG);
	begin(0);
	strcpy(answer.head.words, "\033[31m");
	assert_int_equal(parse(0), -EBADMSG);
}

TEST(failed)
{
	begin(0);
	strcpy(answer.head.call, "nvmlInit");
	strcpy(answer.head.words, "Driver Not Loaded");
	assert_int_equal(parse(0), -EIO);
	assert_string_equal(why, "libnvidia-ml: nvmlInit: Driver Not Loaded");
	memset(answer.head.call, 'c', sizeof(answer.head.call) - 1);
	memset(answer.head.words, 'w', sizeof(answer.head.words) - 1);
	assert_int_equal(parse(0), -EIO);
}
