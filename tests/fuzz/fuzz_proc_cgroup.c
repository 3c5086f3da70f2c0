// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* /proc/PID/cgroup: units and containers are parts of the path, and the path is part of the text.
 */
#include <errno.h>

#include "fuzz.h"
#include "proc/cgroup.h"

static bool same(struct text_part a, struct text_part b)
{
	return a.len == b.len && !a.s == !b.s && (!a.len || !memcmp(a.s, b.s, a.len));
}

static void check_component(struct text_part part, struct text_part path)
{
	fuzz_check_part(part.s, part.len, path.s, path.len);
	FUZZ_CHECK(!part.s || (part.len && !memchr(part.s, '/', part.len)));
}

/* The path of a unit or container ends with its name or with a runtime's suffix. */
static void check_way(size_t len, struct text_part part, struct text_part path)
{
	FUZZ_CHECK(!len == !part.s && len <= path.len);
	FUZZ_CHECK(!part.s || part.s + part.len <= path.s + len);
	FUZZ_CHECK(!part.s || !memchr(part.s, '/', (size_t)(path.s + len - part.s)));
}

const unsigned fuzz_changes = 2000;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct proc_cgroup cgroup = {.path = {"x", 1}}, again;
	const char *text = (const char *)data;
	char *line;
	int len, r = proc_cgroup_parse(text, size, &cgroup);

	if (r < 0) {
		FUZZ_CHECK(r == -ENOENT && cgroup.path.len == 1 && *cgroup.path.s == 'x');
		return 0;
	}
	fuzz_check_part(cgroup.path.s, cgroup.path.len, text, size);
	FUZZ_CHECK(cgroup.path.len && *cgroup.path.s == '/');
	FUZZ_CHECK(!memchr(cgroup.path.s, '\n', cgroup.path.len));
	FUZZ_CHECK(cgroup.path.s[-1] == ':' && cgroup.path.s[cgroup.path.len] == '\n');
	check_component(cgroup.unit, cgroup.path);
	check_component(cgroup.container, cgroup.path);
	check_way(cgroup.unit_path, cgroup.unit, cgroup.path);
	check_way(cgroup.container_path, cgroup.container, cgroup.path);

	/* The line alone, as a whole file, gives the same result. */
	line = malloc(cgroup.path.len + 4);
	FUZZ_CHECK(line);
	memcpy(line, "0::", 3);
	memcpy(line + 3, cgroup.path.s, cgroup.path.len);
	line[cgroup.path.len + 3] = '\n';
	len = (int)cgroup.path.len + 4;
	FUZZ_CHECK(proc_cgroup_parse(line, (size_t)len, &again) == 0);
	FUZZ_CHECK(same(again.path, cgroup.path) && same(again.unit, cgroup.unit) &&
		   same(again.container, cgroup.container));
	FUZZ_CHECK(proc_cgroup_parse(line, (size_t)len - 1, &again) == -ENOENT);
	free(line);
	return 0;
}
