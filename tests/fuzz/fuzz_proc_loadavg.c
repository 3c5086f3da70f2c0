// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* /proc/loadavg: the number of tasks and the last value. */
#include <inttypes.h>

#include "fuzz.h"
#include "model/system.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint64_t pid = loadavg_parse_last_pid((const char *)data, size);
	char text[32];
	int len = sprintf(text, "%" PRIu64, pid);
	uint64_t tasks = loadavg_parse_tasks((const char *)data, size);

	/* The value is in the text, possibly with leading zeros. */
	FUZZ_CHECK(!pid || memmem(data, size, text, (size_t)len));
	if (pid) {
		len = sprintf(text, "0 0/0 %" PRIu64 "\n", pid);
		FUZZ_CHECK(loadavg_parse_last_pid(text, (size_t)len) == pid);
	}
	len = sprintf(text, "%" PRIu64, tasks);
	FUZZ_CHECK(!tasks || memmem(data, size, text, (size_t)len));
	if (tasks) {
		len = sprintf(text, "0 1/%" PRIu64 " 7\n", tasks);
		FUZZ_CHECK(loadavg_parse_tasks(text, (size_t)len) == tasks);
	}
	return 0;
}
