// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* /proc/PID/status: parsed values, printed and parsed again, are the same. */
#include <errno.h>

#include "../support/proc_keys.h"
#include "print_counters.h"
#include "proc/status.h"

const unsigned fuzz_changes = 2000;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct proc_status status = {.euid = 42}, again;
	char text[1024];
	size_t len;
	int r = proc_status_parse((const char *)data, size, &status);

	if (r < 0) {
		FUZZ_CHECK(r == -EINVAL && status.euid == 42);
		return 0;
	}
	check_counters(data, size, status_keys, STATUS_COUNTERS, status.have, status.value);
	FUZZ_CHECK(!status.threads || line_says(data, size, "Threads", status.threads));
	len = (size_t)snprintf(text, sizeof(text), "Uid:\t7\t%u\t7\t7\nThreads:\t%u\n", status.euid,
			       status.threads);
	len = print_counters(text, len, sizeof(text), status_keys, STATUS_COUNTERS, status.have,
			     status.value);
	FUZZ_CHECK(proc_status_parse(text, len, &again) == 0);
	FUZZ_CHECK(again.euid == status.euid && again.threads == status.threads);
	FUZZ_CHECK(again.have == status.have &&
		   !memcmp(again.value, status.value, sizeof(status.value)));
	return 0;
}
