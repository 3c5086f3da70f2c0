// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* cgroup_mount_next(), cgroup_below(): mounts of the hierarchy with the memory controller. */
#include "test_proc.h"

#include "proc/cgroup.h"

static struct cgroup_mount mount;

/* The kind of the first mount: 1, 2, or 0 for none. The text ends where its memory ends. */
static int first(const char *text)
{
	size_t len = strlen(text);
	cleanup_free char *copy = exact_copy(text, len);
	const char *pos = copy;

	if (!cgroup_mount_next(&pos, copy + len, &mount)) {
		assert_ptr_equal(pos ? memchr(pos, '\n', (size_t)(copy + len - pos)) : NULL, NULL);
		return 0;
	}
	return mount.v2 ? 2 : 1;
}

TEST(lines)
{
	assert_int_equal(first("35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"),
			 1);
	assert_string_equal(mount.root, "/");
	assert_string_equal(mount.point, "/sys/fs/cgroup/memory");
	assert_int_equal(
		first("41 31 0:38 /a/b /x rw shared:9 master:1 - cgroup2 cgroup2 rw,nsdelegate\n"),
		2);
	assert_string_equal(mount.root, "/a/b");
	assert_string_equal(mount.point, "/x");
	assert_int_equal(first("1 2 0:3 / / rw - ext4 /dev/sda1 rw,memory\n"
			       "32 31 0:29 / /c rw - cgroup cgroup rw,cpu\n"
			       "35 31 0:32 / /m rw - cgroup none rw,cpu,memory,pids\n"),
			 1);
	assert_string_equal(mount.point, "/m");
	/* Blanks, tabs, newlines and backslashes; a '\' before other characters stays. */
	assert_int_equal(first("1 2 0:3 /a\\040b\\134c /x\\011\\012y\\9 rw - cgroup2 none rw\n"),
			 2);
	assert_string_equal(mount.root, "/a b\\c");
	assert_string_equal(mount.point, "/x\t\ny\\9");
	/* A mount from above our cgroup namespace. */
	assert_int_equal(first("1 2 0:3 /../.. /x rw - cgroup2 none rw\n"), 2);
	assert_string_equal(mount.root, "/../..");
}

TEST(none)
{
	assert_int_equal(first(""), 0);
	assert_int_equal(first("\n\n"), 0);
	assert_int_equal(first("- - - - -\n"), 0);
	assert_int_equal(first("1 2 0:3 / /x rw - cgroup2 none rw"), 0);
	assert_int_equal(first("1 2 0:3 / /x rw - cgroup cgroup rw,memoryless,xmemory\n"), 0);
	assert_int_equal(first("1 2 0:3 / /x rw - cgroup memory rw\n"), 0);
	assert_int_equal(first("1 2 0:3 / /x rw - cgroup22 none rw\n"), 0);
	assert_int_equal(first("1 2 0:3 / /x rw\n"), 0);
	assert_int_equal(first("1 2 0:3 / x rw - cgroup2 none rw\n"), 0);
	assert_int_equal(first("1 2 0:3 relative /x rw - cgroup2 none rw\n"), 0);
	assert_int_equal(first("1 2 0:3 / /x\\000y rw - cgroup2 none rw\n"), 0);
}

TEST(too_long)
{
	cleanup_free char *text = malloc(5100);

	strcpy(text, "1 2 0:3 / /");
	memset(text + 11, 'x', 5000);
	strcpy(text + 11 + 4094, " rw - cgroup2 none rw\n");
	assert_int_equal(first(text), 2);
	assert_int_equal(strlen(mount.point), 4095);
	memset(text + 11, 'x', 5000);
	strcpy(text + 11 + 4095, " rw - cgroup2 none rw\n");
	assert_int_equal(first(text), 0);
}

static void assert_below(const char *root, const char *path, const char *below)
{
	const char *got = cgroup_below(root, path);

	if (!got != !below || (got && strcmp(got, below) != 0))
		fail_msg("%s in %s: '%s' and not '%s'", path, root, got ? got : "none",
			 below ? below : "none");
}

TEST(below)
{
	assert_below("/", "/", "");
	assert_below("/", "/a/b", "a/b");
	assert_below("/a", "/a", "");
	assert_below("/a", "/a/b", "b");
	assert_below("/a", "/ab", NULL);
	assert_below("/a", "/", NULL);
	assert_below("/a/", "/a/b", "b");
	assert_below("/", "", NULL);
	assert_below("/", "a", NULL);
	/* Outside of our namespace, unless the mount is, too. */
	assert_below("/", "/..", NULL);
	assert_below("/", "/../x", NULL);
	assert_below("/", "/a/../x", NULL);
	assert_below("/", "/a/..", NULL);
	assert_below("/", "/..a/b..", "..a/b..");
	assert_below("/..", "/../x", "x");
	assert_below("/..", "/../../x", NULL);
	assert_below("/..", "/", NULL);
	assert_below("/../a", "/../a/x", "x");
}
