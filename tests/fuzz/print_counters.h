/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Writes parsed values back as a file of lines "Key:   number kB". */
#ifndef ZMEM_TESTS_PRINT_COUNTERS_H
#define ZMEM_TESTS_PRINT_COUNTERS_H

#include <inttypes.h>

#include "fuzz.h"

/* Appends the values that `have` names, and checks that they are whole kB. Returns the length. */
static inline size_t print_counters(char *text, size_t len, size_t cap, const char *const *names,
				    unsigned count, uint32_t have, const uint64_t *value)
{
	FUZZ_CHECK(count == 32 || !(have >> count));
	for (unsigned i = 0; i < count; i++) {
		if (!(have >> i & 1)) {
			FUZZ_CHECK(value[i] == 0);
			continue;
		}
		FUZZ_CHECK(value[i] % 1024 == 0 && value[i] < 1ull << 62);
		len += (size_t)snprintf(text + len, cap - len, "%s: %8" PRIu64 " kB\n", names[i],
					value[i] / 1024);
		FUZZ_CHECK(len < cap);
	}
	return len;
}

#endif
