// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* cgroup_mount_next(), cgroup_below(), cgroup_seen_from(): mounts of the hierarchy with the memory
 * controller. */
#include "test_proc.h"

#include "proc/cgroup.h"

static struct cgroup_mount mount;

/* The kind of the first mount: 1, 2, or 0 for none. The text ends where its memory ends. */
static int first(const char *text)
{
	size_t len = strlen(text);
	cleanup_free char *copy = exact_copy(text, len);
	struct text_part rest = {copy, len};

	if (!cgroup_mount_next(&rest, &mount)) {
		assert_ptr_equal(rest.len ? memchr(rest.s, '\n', rest.len) : NULL, NULL);
		return 0;
	}
	return mount.v2 ? 2 : 1;
}

TEST(lines)
{
	static const struct {
		int kind;
		const char *text, *root, *point;
	} cases[] = {
		{1, "35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n", "/",
		 "/sys/fs/cgroup/memory"},
		{2, "41 31 0:38 /a/b /x rw shared:9 master:1 - cgroup2 cgroup2 rw,nsdelegate\n",
		 "/a/b", "/x"},
		{1,
		 "1 2 0:3 / / rw - ext4 /dev/sda1 rw,memory\n"
		 "32 31 0:29 / /c rw - cgroup cgroup rw,cpu\n"
		 "35 31 0:32 / /m rw - cgroup none rw,cpu,memory,pids\n",
		 "/", "/m"},
		/* Blanks, tabs, newlines and backslashes; a '\' before other characters stays. */
		{2, "1 2 0:3 /a\\040b\\134c /x\\011\\012y\\9 rw - cgroup2 none rw\n", "/a b\\c",
		 "/x\t\ny\\9"},
		/* A mount from above our cgroup namespace. */
		{2, "1 2 0:3 /../.. /x rw - cgroup2 none rw\n", "/../..", "/x"},
		{0, ""},
		{0, "\n\n"},
		{0, "- - - - -\n"},
		{0, "1 2 0:3 / /x rw - cgroup2 none rw"},
		{0, "1 2 0:3 / /x rw - cgroup cgroup rw,memoryless,xmemory\n"},
		{0, "1 2 0:3 / /x rw - cgroup memory rw\n"},
		{0, "1 2 0:3 / /x rw - cgroup22 none rw\n"},
		{0, "1 2 0:3 / /x rw\n"},
		{0, "1 2 0:3 / x rw - cgroup2 none rw\n"},
		{0, "1 2 0:3 relative /x rw - cgroup2 none rw\n"},
		{0, "1 2 0:3 / /x\\000y rw - cgroup2 none rw\n"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_int_equal(first(cases[i].text), cases[i].kind);
		if (cases[i].kind) {
			assert_string_equal(mount.root, cases[i].root);
			assert_string_equal(mount.point, cases[i].point);
		}
	}
}

/* The longest name that fits, and one byte more. */
TEST(too_long)
{
	for (int len = 4094; len <= 4095; len++) {
		char text[5100];

		sprintf(text, "1 2 0:3 / /%0*d rw - cgroup2 none rw\n", len, 7);
		assert_int_equal(first(text), len == 4094 ? 2 : 0);
		assert_true(len > 4094 || strlen(mount.point) == 4095);
	}
}

TEST(below)
{
	static const struct {
		const char *root, *path, *below;
	} cases[] = {
		{"/", "/", ""},
		{"/", "/a/b", "a/b"},
		{"/a", "/a", ""},
		{"/a", "/a/b", "b"},
		{"/a", "/ab", NULL},
		{"/a", "/", NULL},
		{"/a/", "/a/b", "b"},
		{"/", "", NULL},
		{"/", "a", NULL},
		/* Outside of our namespace, unless the mount is, too. */
		{"/", "/..", NULL},
		{"/", "/../x", NULL},
		{"/", "/a/../x", NULL},
		{"/", "/a/..", NULL},
		{"/", "/..a/b..", "..a/b.."},
		{"/..", "/../x", "x"},
		{"/..", "/../../x", NULL},
		{"/..", "/", NULL},
		{"/../a", "/../a/x", "x"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const char *want = cases[i].below;
		const char *got = cgroup_below(cases[i].root, cases[i].path);

		if (!got != !want || (got && strcmp(got, want) != 0))
			fail_msg("%s in %s: '%s' and not '%s'", cases[i].path, cases[i].root,
				 got ? got : "none", want ? want : "none");
	}
}

TEST(seen_from)
{
	static const struct {
		const char *root, *path, *seen;
	} cases[] = {
		{"/", "/", "/"},
		{"/", "/a/b", "/a/b"},
		{"/a", "/a", "/"},
		{"/a", "/a/b", "/b"},
		{"/a", "/ab", "/../ab"},
		{"/ab", "/a", "/../a"},
		{"/a", "/", "/.."},
		{"/a/b", "/a", "/.."},
		{"/a/b", "/a/c/d", "/../c/d"},
		{"/a/b", "/c", "/../../c"},
	};
	char buf[16];

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		size_t len = strlen(cases[i].seen);

		assert_int_equal(cgroup_seen_from(cases[i].root, cases[i].path, buf, len + 1), len);
		assert_string_equal(buf, cases[i].seen);
		assert_int_equal(cgroup_seen_from(cases[i].root, cases[i].path, buf, len), 0);
	}
}
