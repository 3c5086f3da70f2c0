// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* /proc/PID/smaps_rollup: parsed values, printed and parsed again, are the same. */
#include <errno.h>

#include "../support/proc_keys.h"
#include "print_counters.h"
#include "proc/smaps.h"

const unsigned fuzz_changes = 2000;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct smaps_rollup rollup = {.have = 42}, again;
	char text[2048];
	size_t len;
	int r = smaps_rollup_parse((const char *)data, size, &rollup);

	if (r < 0) {
		FUZZ_CHECK(r == -EINVAL && rollup.have == 42);
		return 0;
	}
	FUZZ_CHECK(rollup.have & (1u << SMAPS_RSS | 1u << SMAPS_PSS));
	check_counters(data, size, rollup_keys, SMAPS_KEYS, rollup.have, rollup.value);
	len = print_counters(text, 0, sizeof(text), rollup_keys, SMAPS_KEYS, rollup.have,
			     rollup.value);
	FUZZ_CHECK(smaps_rollup_parse(text, len, &again) == 0);
	FUZZ_CHECK(again.have == rollup.have &&
		   !memcmp(again.value, rollup.value, sizeof(rollup.value)));
	return 0;
}
