// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The kernel's BTF, of which the beginning is read. */
#include "fuzz_file.h"
#include "load/kernel_members.h"
#include "zmem/members.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct zmem_members members;
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d/btf", fuzz_file("btf", data, size));
	if (kernel_members_find(path, &members) == 0) {
		/* Offsets are in bits, in 32 bits. */
		for (size_t i = 0; i < ZMEM_MEMBERS_COUNT; i++)
			FUZZ_CHECK(members.offset[i] <= UINT32_MAX / 8 + 1);
	}
	return 0;
}
