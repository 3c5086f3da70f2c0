// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The environment that is kept, for a user with fewer rights than the program and for others. */
#include "unit.h"

#include <sys/auxv.h>

#include "cli/secure.h"

extern char **environ;

static unsigned long secure;

/* Replaces the function of the C library. */
unsigned long getauxval(unsigned long type)
{
	return type == AT_SECURE ? secure : 0;
}

static void set_environment(void)
{
	clearenv();
	setenv("TERM", "xterm", 1);
	setenv("NO_COLOR", "1", 1);
	setenv("TMPDIR", "/tmp/evil", 1);
	setenv("LIBBPF_LOG_LEVEL", "debug", 1);
}

TEST(others_are_believed)
{
	uint64_t held;

	secure = 0;
	set_environment();
	assert_int_equal(secure_start(false, false, false, &held), 0);
	assert_string_equal(getenv("TMPDIR"), "/tmp/evil");
	assert_string_equal(getenv("TERM"), "xterm");
}

TEST(colours_are_kept)
{
	uint64_t held;
	size_t count = 0;

	secure = 1;
	set_environment();
	assert_int_equal(secure_start(false, false, false, &held), 0);
	assert_string_equal(getenv("TERM"), "xterm");
	assert_string_equal(getenv("NO_COLOR"), "1");
	while (environ[count])
		count++;
	assert_int_equal(count, 2);
}

TEST(nothing_is_made_up)
{
	uint64_t held;

	secure = 1;
	clearenv();
	setenv("PATH", "/evil", 1);
	assert_int_equal(secure_start(false, false, false, &held), 0);
	assert_null(getenv("PATH"));
	assert_null(getenv("TERM"));
	assert_null(getenv("NO_COLOR"));
}
