// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A record of /dev/kmsg from any bytes: what is parsed is terminated text. */
#include "fuzz.h"
#include "proc/oom_line.h"

const unsigned fuzz_changes = 2000;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct oom_line line;
	struct oom_request request;
	char *text = malloc(size + 1);

	FUZZ_CHECK(text);
	if (size)
		memcpy(text, data, size);
	if (oom_line_parse(text, size, &line) == 0) {
		FUZZ_CHECK(line.pid >= 0 && *line.constraint);
		FUZZ_CHECK(strlen(line.constraint) < sizeof(line.constraint));
		FUZZ_CHECK(strlen(line.task_cgroup) < sizeof(line.task_cgroup));
		FUZZ_CHECK(strlen(line.cgroup) < sizeof(line.cgroup));
	}
	if (oom_request_parse(text, size, &request) == 0)
		FUZZ_CHECK(strlen(request.gfp) < sizeof(request.gfp));
	free(text);
	return 0;
}
