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
	const char *pos = (const char *)data, *end = pos + size, *last, *newline;
	static struct cgroup_mount mount;
	char *path;

	newline = memchr(pos, '\n', size);
	path = fuzz_string(data, newline ? (size_t)(newline - pos) : 0);
	pos = newline ? newline + 1 : pos;
	for (last = pos; cgroup_mount_next(&pos, end, &mount); last = pos) {
		FUZZ_CHECK(pos > last && pos <= end && pos[-1] == '\n');
		FUZZ_CHECK(mount.root[0] == '/' && mount.point[0] == '/');
		FUZZ_CHECK(strnlen(mount.root, sizeof(mount.root)) < sizeof(mount.root));
		FUZZ_CHECK(strnlen(mount.point, sizeof(mount.point)) < sizeof(mount.point));
		check_below(mount.root, path);
		check_below(mount.root, mount.root);
	}
	FUZZ_CHECK(!memchr(pos, '\n', (size_t)(end - pos)));
	check_below("/", path);
	free(path);
	return 0;
}
