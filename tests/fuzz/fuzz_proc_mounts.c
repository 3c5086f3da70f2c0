// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * All mounts of mountinfo, and the mount of a path: sorted, whole paths, and a path that is found
 * begins with the root of its mount. The input is a path, a newline, and the file.
 */
#include "fuzz.h"
#include "proc/mounts.h"

static void check_find(const struct mounts *m, uint32_t device, const char *path)
{
	bool hidden;
	const struct mount *mount = mounts_find(m, device, path, &hidden);

	if (!mount)
		return;
	FUZZ_CHECK(mount->device == device);
	FUZZ_CHECK(mount_below(mount, path) >= path);
	FUZZ_CHECK(mount_below(mount, path) <= path + strlen(path));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *pos = (const char *)data, *newline = memchr(pos, '\n', size);
	char *path = fuzz_string(data, newline ? (size_t)(newline - pos) : 0);
	size_t head = newline ? (size_t)(newline - pos) + 1 : 0;
	struct mounts m = {};
	bool hidden;

	FUZZ_CHECK(mounts_parse(pos + head, size - head, &m) == 0);
	for (size_t i = 0; i < m.count; i++) {
		const struct mount *mount = &m.mount[i];

		FUZZ_CHECK(mount->root[0] == '/' && mount->point[0] == '/');
		FUZZ_CHECK(!i || m.mount[i - 1].device <= mount->device);
		/* A root is below itself. */
		FUZZ_CHECK(mounts_find(&m, mount->device, mount->root, &hidden) != NULL);
		check_find(&m, mount->device, mount->root);
		check_find(&m, mount->device, path);
	}
	mounts_done(&m);
	free(path);
	return 0;
}
