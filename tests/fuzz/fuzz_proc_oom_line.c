// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A record of /dev/kmsg from any bytes: what is parsed is terminated text, and a path is known only
 * if nothing else in the line looks like the marks around it.
 */
#include "fuzz.h"
#include "proc/oom_line.h"

const unsigned fuzz_changes = 2000;

/* How often the first line has the mark, behind its head. */
static unsigned marks(const char *text, size_t size, const char *mark)
{
	const char *newline = memchr(text, '\n', size), *end = newline ? newline : text + size;
	unsigned count = 0;

	text = memchr(text, ';', (size_t)(end - text));
	FUZZ_CHECK(text);
	while ((text = memmem(text, (size_t)(end - text), mark, strlen(mark)))) {
		count++;
		text++;
	}
	return count;
}

static void check_path(const char *path, size_t max)
{
	FUZZ_CHECK(strlen(path) < max && (!*path || *path == '/'));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct oom_line line;
	struct oom_request request;
	char group[OOM_CGROUP_MAX];
	char *text = malloc(size + 1);

	FUZZ_CHECK(text);
	if (size)
		memcpy(text, data, size);
	if (oom_line_parse(text, size, &line) == 0) {
		FUZZ_CHECK(line.pid >= 0 && *line.constraint);
		FUZZ_CHECK(strlen(line.constraint) < sizeof(line.constraint));
		check_path(line.task_cgroup, sizeof(line.task_cgroup));
		check_path(line.cgroup, sizeof(line.cgroup));
		FUZZ_CHECK(!*line.cgroup || (strcmp(line.constraint, "memcg") == 0 &&
					     marks(text, size, ",oom_memcg=") == 1 &&
					     marks(text, size, ",task_memcg=") == 1));
		FUZZ_CHECK(!*line.task_cgroup || (marks(text, size, ",task_memcg=") == 1 &&
						  marks(text, size, ",task=") == 1));
	}
	if (oom_request_parse(text, size, &request) == 0)
		FUZZ_CHECK(strlen(request.gfp) < sizeof(request.gfp));
	if (oom_group_parse(text, size, group) == 0) {
		check_path(group, sizeof(group));
		/* No line is two things. */
		FUZZ_CHECK(!oom_line_no_victim(text, size) &&
			   oom_line_parse(text, size, &line) < 0);
	}
	free(text);
	return 0;
}
