// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * fdinfo of files of GPUs: names are clean, each region is there once, what is divided adds up, and
 * sums of clients are between their bounds.
 */
#include "fuzz.h"
#include "proc/drm.h"

const unsigned fuzz_changes = 2000;

static void check_name(const char *name)
{
	FUZZ_CHECK(memchr(name, '\0', GPU_NAME));
	for (; *name; name++)
		FUZZ_CHECK(*name > ' ' && *name < 0x7f && !strchr("<>&\"'\\", *name));
}

static void check_part(const struct gpu_part *p, enum gpu_kind kind)
{
	FUZZ_CHECK(p->kind == kind && !p->pid);
	check_name(p->driver);
	check_name(p->device);
	check_name(p->region);
	FUZZ_CHECK(p->resident_known || !p->resident);
	FUZZ_CHECK(p->shared_known || !p->shared);
	FUZZ_CHECK(kind == GPU_CLIENT || !*p->region);
}

static void check_sums(const struct gpu_part *from, size_t count)
{
	struct gpu_part part[2 * DRM_REGIONS];
	struct gpu_regions sum;
	uint64_t share = 0, whole = 0;
	size_t n = 0;

	for (pid_t pid = 1; pid <= 2; pid++) {
		for (size_t i = 0; i < count; i++) {
			part[n] = from[i];
			part[n++].pid = pid;
			whole += pid == 1 || !from[i].has_id ? from[i].resident : 0;
		}
	}
	gpu_divide(part, &n);
	FUZZ_CHECK(n == 2 * count);
	for (size_t i = 0; i < n; i++) {
		FUZZ_CHECK(part[i].holders == (part[i].has_id ? 2 : 1));
		share += part[i].share;
	}
	FUZZ_CHECK(share == whole);
	gpu_sum_regions(part, n, &sum);
	for (uint32_t i = 0; i < sum.count; i++)
		FUZZ_CHECK(sum.item[i].least <= sum.item[i].resident && sum.item[i].clients);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	struct gpu_part part[DRM_REGIONS], again[DRM_REGIONS];
	struct drm_drivers drivers = {};

	for (enum gpu_kind kind = GPU_CLIENT; kind <= GPU_DMABUF; kind++) {
		size_t count = drm_parse(kind, text, size, part);

		FUZZ_CHECK(count >= 1 && count <= DRM_REGIONS);
		FUZZ_CHECK(drm_parse(kind, text, size, again) == count);
		for (size_t i = 0; i < count; i++) {
			check_part(&part[i], kind);
			for (size_t k = 0; k < i; k++)
				FUZZ_CHECK(strcmp(part[i].region, part[k].region));
		}
		check_sums(part, count);
	}
	drm_drivers_parse(text, size, &drivers);
	return 0;
}
