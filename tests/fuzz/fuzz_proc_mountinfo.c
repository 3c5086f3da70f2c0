// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Mounts of cgroups in mountinfo, and the path of a cgroup below a mount: openat() can follow it
 * step by step, and it never contains "..". The input is a path, a newline, and the file.
 */
#include "fuzz.h"
#include "proc/cgroup.h"

static void check_below(const char *root, const char *path)
{
	const char *below = cgroup_below(root, path);

	if (!below)
		return;
	FUZZ_CHECK(below > path && below <= path + strlen(path) && *below != '/');
	for (const char *part = below; *part; part += strspn(part, "/")) {
		size_t len = strcspn(part, "/");

		FUZZ_CHECK(len && !(len == 2 && !memcmp(part, "..", 2)));
		part += len;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct text_part rest = {(const char *)data, size};
	bool has_path = memchr(data, '\n', size);
	struct text_part first = has_path ? part_split(&rest, '\n') : (struct text_part){"", 0};
	const char *end = (const char *)data + size, *last = rest.s;
	static struct cgroup_mount mount;
	char *path = fuzz_string((const uint8_t *)first.s, first.len);

	for (; cgroup_mount_next(&rest, &mount); last = rest.s) {
		FUZZ_CHECK(rest.s > last && rest.s + rest.len == end && rest.s[-1] == '\n');
		FUZZ_CHECK(mount.root[0] == '/' && mount.point[0] == '/');
		FUZZ_CHECK(strnlen(mount.root, sizeof(mount.root)) < sizeof(mount.root));
		FUZZ_CHECK(strnlen(mount.point, sizeof(mount.point)) < sizeof(mount.point));
		check_below(mount.root, path);
		check_below(mount.root, mount.root);
	}
	FUZZ_CHECK(!rest.len || !memchr(rest.s, '\n', rest.len));
	check_below("/", path);
	free(path);
	return 0;
}
