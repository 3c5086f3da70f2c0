// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What the program with libnvidia-ml answers: parts are in the order of pids, each device once, and
 * words can be printed.
 */
#include "fuzz.h"
#include "source/nvml_source.h"

const unsigned fuzz_changes = 2000;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct gpu_part part[NVML_USES];
	char why[NVML_WHY] = "";
	ssize_t n = nvml_parse(data, size, part, why);

	for (const char *c = why; *c; c++)
		FUZZ_CHECK(*c >= ' ' && *c <= '~');
	for (ssize_t i = 0; i < n; i++) {
		const struct gpu_part *p = &part[i], *last = i ? p - 1 : NULL;

		FUZZ_CHECK(p->pid > 0 && p->kind == GPU_NVML && !p->has_id);
		FUZZ_CHECK(p->resident_known || !p->resident);
		FUZZ_CHECK(memchr(p->device, '\0', GPU_NAME));
		FUZZ_CHECK(!last || last->pid < p->pid ||
			   (last->pid == p->pid && strcmp(last->device, p->device) < 0));
	}
	return 0;
}
