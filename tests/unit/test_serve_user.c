// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* user_pick() with an /etc and a /proc that the test makes. */
#include "unit.h"

#include "serve/user.h"
#include "temp_directory.h"

#define RANGE (USER_LAST - USER_FIRST + 1)

static void write_file(const char *path, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

static void write_file(const char *path, const char *fmt, ...)
{
	cleanup_fclose FILE *file = fopen(path, "we");
	va_list args;

	assert_non_null(file);
	va_start(args, fmt);
	vfprintf(file, fmt, args);
	va_end(args);
}

static void make_directories(void)
{
	assert_int_equal(mkdir("etc", 0755) | mkdir("proc", 0755) | mkdir("proc/7", 0755) |
				 mkdir("proc/self", 0755),
			 0);
}

static unsigned picked(void)
{
	struct user user = {};

	assert_int_equal(user_pick(".", &user), 0);
	assert_int_equal(user.uid, user.gid);
	assert_uint_in_range(user.uid, USER_FIRST, USER_LAST);
	return user.uid;
}

/* Without /etc and /proc, too; and not always the same one. */
TEST_WITH(range, enter_directory, leave_directory)
{
	unsigned first = picked();
	bool other = false;

	for (int i = 0; i < 20; i++)
		other |= picked() != first;
	assert_true(other);
}

/* All ids are used but a few; each is then used in another way until one is left. */
TEST_WITH(taken, enter_directory, leave_directory)
{
	const unsigned free = USER_FIRST + 1000;
	struct user user;

	make_directories();
	write_file("etc/subuid", "a:%d:1000\nnonsense\nb:x:9\nc:100000:65536\n", USER_FIRST);
	write_file("etc/subgid", "a:%u:%d\n", free + 9, USER_LAST - (int)free - 8);
	assert_uint_in_range(picked(), free, free + 8);
	write_file("etc/passwd", "root:x:0:0::/:/bin/sh\na:x:%u:%u::/:/bin/sh\n\n:\nb\n", free,
		   free + 1);
	write_file("etc/group", "root:x:0:\na:x:%u:\n", free + 2);
	assert_uint_in_range(picked(), free + 3, free + 8);
	write_file("proc/7/status", "Name:\tx\nUid:\t%u\t0\t%u\t0\nGid:\t0\t%u\t0\t%u\n", free + 3,
		   free + 4, free + 5, free + 6);
	write_file("proc/self/status", "Name:\tx\nUid:\t%u\t0\t0\t0\n", free + 8);
	assert_uint_in_range(picked(), free + 7, free + 8);
	write_file("etc/group", "root:x:0:\na:x:%u:\nb:x:%u:c,d\n", free + 2, free + 7);
	for (int i = 0; i < 9; i++)
		assert_int_equal(picked(), free + 8);
	write_file("etc/subuid", "a:%d:%d\n", USER_FIRST, RANGE);
	assert_int_equal(user_pick(".", &user), -EUSERS);
	/* Ranges up to the largest number, and past it. */
	write_file("etc/subuid", "a:1:4294967295\n");
	assert_int_equal(user_pick(".", &user), -EUSERS);
	write_file("etc/subuid", "a:4294967295:4294967295\n");
	assert_uint_in_range(picked(), USER_FIRST, free + 8);
}

TEST_WITH(own, enter_directory, leave_directory)
{
	struct user user = {};

	make_directories();
	write_file("etc/passwd",
		   "root:x:0:0::/:/bin/sh\nzmem-bpf-pin:x:7:8::/:/x\nzmem-bpf:x:110:112::/:/x\n");
	assert_int_equal(user_pick(".", &user), 0);
	assert_int_equal(user.uid, 110);
	assert_int_equal(user.gid, 112);
	/* A user with uid 0 or gid 0 is ignored. */
	write_file("etc/passwd", "zmem-bpf:x:0:112::/:/x\n");
	picked();
	write_file("etc/passwd", "zmem-bpf:x:110:0::/:/x\n");
	picked();
}

/* An id that a process of this machine uses, from the real /proc. */
TEST(here)
{
	struct user user = {};

	assert_int_equal(user_pick("", &user), 0);
	assert_int_not_equal(user.uid, 0);
	assert_int_not_equal(user.uid, 65534);
}
