// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Mounts of mountinfo, and the mount of a path. */
#include "test_proc.h"

#include "proc/mounts.h"

#define DEVICE(major, minor) ((uint32_t)(major) << 20 | (minor))

static void parse(struct mounts *m, const char *text)
{
	size_t len = strlen(text);
	cleanup_free char *copy = exact_copy(text, len);

	assert_int_equal(mounts_parse(copy, len, m), 0);
}

TEST(lines)
{
	cleanup(mounts_done) struct mounts m = {};

	parse(&m, "22 1 254:0 / / rw - ext4 /dev/vda rw\n"
		  "42 27 0:39 / /tmp/a\\040b\\134 rw,relatime shared:9 - tmpfs zmem rw\n"
		  "43 27 0:39 /sub /mnt rw - tmpfs zmem rw\n"
		  "44 27 0:x / /bad rw - tmpfs zmem rw\n"
		  "45 27 5000:1 / /bad rw - tmpfs zmem rw\n"
		  "46 27 0:40 none /bad rw - tmpfs zmem rw\n"
		  "47 27 0:41 / bad\\000 rw - tmpfs zmem rw\n"
		  "\n\n48 27 0:42 /");
	assert_int_equal(m.count, 3);
	assert_int_equal(m.mount[0].device, DEVICE(0, 39));
	assert_string_equal(m.mount[0].point, "/tmp/a b\\");
	assert_string_equal(m.mount[1].root, "/sub");
	assert_int_equal(m.mount[2].device, DEVICE(254, 0));
}

static void assert_found(const struct mounts *m, uint32_t device, const char *path,
			 const char *point, const char *below)
{
	bool hidden;
	const struct mount *mount = mounts_find(m, device, path, &hidden);

	if (!point) {
		assert_null(mount);
		return;
	}
	assert_non_null(mount);
	assert_string_equal(mount->point, point);
	assert_string_equal(mount_below(mount, path), below);
	assert_false(hidden);
}

static void assert_hidden(const struct mounts *m, uint32_t device, const char *path)
{
	bool hidden = false;

	assert_non_null(mounts_find(m, device, path, &hidden));
	assert_true(hidden);
}

/* Files below what another mount is on. */
TEST(hidden)
{
	cleanup(mounts_done) struct mounts m = {}, stacked = {}, covered = {}, deep = {},
					   first = {};
	char text[8192];
	size_t len = 0;

	parse(&m, "1 0 8:1 / / rw - ext4 x rw\n"
		  "2 1 8:2 / /mnt rw - ext4 y rw\n"
		  "3 2 8:3 / /mnt/sub rw - ext4 z rw\n"
		  "4 1 8:2 /sub/in /other rw - ext4 y rw\n"
		  "5 1 8:4 / /file rw - ext4 y rw\n");
	assert_found(&m, DEVICE(8, 1), "/mn/a", "/", "/mn/a");
	assert_hidden(&m, DEVICE(8, 1), "/mnt/a");
	assert_hidden(&m, DEVICE(8, 1), "/mnt");
	assert_hidden(&m, DEVICE(8, 1), "/file");
	assert_found(&m, DEVICE(8, 2), "/a", "/mnt", "/a");
	assert_hidden(&m, DEVICE(8, 2), "/sub/a");
	/* There it can be seen. */
	assert_found(&m, DEVICE(8, 2), "/sub/in/a", "/other", "/a");
	assert_found(&m, DEVICE(8, 3), "/a", "/mnt/sub", "/a");

	/* The upper of two at one place, and a mount on the lower one. */
	parse(&stacked, "1 0 8:1 / / rw - ext4 x rw\n"
			"2 1 8:2 / /mnt rw - ext4 y rw\n"
			"3 2 8:3 / /mnt/sub rw - ext4 y rw\n"
			"4 2 8:4 / /mnt rw - ext4 z rw\n"
			"5 2 8:2 / /mnt/sub/x rw - ext4 z rw\n");
	assert_hidden(&stacked, DEVICE(8, 2), "/a");
	assert_hidden(&stacked, DEVICE(8, 3), "/a");
	assert_found(&stacked, DEVICE(8, 4), "/a", "/mnt", "/a");

	/* The root itself. */
	parse(&covered, "1 0 0:1 / / rw - rootfs x rw\n2 1 8:1 / / rw - ext4 x rw\n");
	assert_hidden(&covered, DEVICE(0, 1), "/init");
	assert_found(&covered, DEVICE(8, 1), "/init", "/", "/init");

	/* The first of all mounts, as with an initramfs that stays, is on itself. */
	parse(&first, "1 1 0:2 / / rw - rootfs x rw\n2 1 0:20 / /tmp rw - tmpfs x rw\n");
	assert_found(&first, DEVICE(0, 2), "/init", "/", "/init");
	assert_found(&first, DEVICE(0, 20), "/log", "/tmp", "/log");
	assert_hidden(&first, DEVICE(0, 2), "/tmp/log");

	/* A ring, which the kernel does not write, has an end. */
	for (int i = 0; i < 100; i++)
		len += (size_t)snprintf(text + len, sizeof(text) - len,
					"%d %d 8:1 / /x rw - ext4 x rw\n", i + 1,
					(i + 1) % 100 + 1);
	parse(&deep, text);
	assert_hidden(&deep, DEVICE(8, 1), "/a");
}
