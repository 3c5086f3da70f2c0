// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* /proc/slabinfo, /proc/vmallocinfo, maps and smaps: sums by name, of any text. */
#include "fuzz_file.h"
#include "proc/kernel_memory.h"

static struct name_sums sums, half;

static uint64_t total(const struct name_sums *s)
{
	uint64_t sum = s->others;

	for (size_t i = 0; i < s->count; i++)
		sum += s->item[i].bytes;
	return sum;
}

static void check_names(void)
{
	name_sums_sort(&sums);
	for (size_t i = 0; i < sums.count; i++) {
		FUZZ_CHECK(*sums.item[i].name && strlen(sums.item[i].name) < RAM_NAME);
		FUZZ_CHECK(!i || sums.item[i - 1].bytes >= sums.item[i].bytes);
	}
}

/* The same lines for maps and smaps. */
static void check_drivers(const uint8_t *data, size_t size)
{
	sums = half = (struct name_sums){};
	fuzz_file("maps", data, size);
	if (driver_pages_read(fuzz_file("smaps", data, size), &sums) < 0)
		return;
	FUZZ_CHECK(driver_pages_read(fuzz_file("smaps", data, size / 2), &half) < 0 ||
		   total(&half) <= total(&sums));
	check_names();
}

static void check(int (*read_sums)(int proc_fd, uint32_t page_size, struct name_sums *ret),
		  const char *name, const uint8_t *data, size_t size)
{
	sums = half = (struct name_sums){};
	if (read_sums(fuzz_file(name, data, size), 1, &sums) < 0)
		return;
	read_sums(fuzz_file(name, data, size / 2), 1, &half);
	FUZZ_CHECK(sums.count <= NAME_SUMS_MAX && half.count <= sums.count);
	FUZZ_CHECK(total(&half) <= total(&sums));
	check_names();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	check(slabinfo_read, "slabinfo", data, size);
	check(vmallocinfo_read, "vmallocinfo", data, size);
	FUZZ_CHECK(vmalloc_mappable(fuzz_file("vmallocinfo", data, size / 2), 1) <=
		   vmalloc_mappable(fuzz_file("vmallocinfo", data, size), 1));
	check_drivers(data, size);
	return 0;
}
