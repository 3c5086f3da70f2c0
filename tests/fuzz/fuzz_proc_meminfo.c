// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* /proc/meminfo: parsed values, printed and parsed again, are the same. */
#include "../support/proc_keys.h"
#include "print_counters.h"
#include "model/system.h"

const unsigned fuzz_changes = 2000;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct meminfo m, again;
	char text[2048];
	size_t len;

	meminfo_parse((const char *)data, size, &m);
	check_counters(data, size, meminfo_keys, MEMINFO_COUNTERS, m.have, m.value);
	len = print_counters(text, 0, sizeof(text), meminfo_keys, MEMINFO_COUNTERS, m.have,
			     m.value);
	meminfo_parse(text, len, &again);
	FUZZ_CHECK(again.have == m.have && !memcmp(again.value, m.value, sizeof(m.value)));
	return 0;
}
