// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The environment that is kept, for a user with fewer rights than the program and for others. */
#include "unit.h"

#include <sys/auxv.h>

#include "session/secure.h"

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

/* The rest of the environment, as seen by a start with so many rights. */
static size_t start(unsigned long at_secure)
{
	uint64_t held;
	size_t count = 0;

	secure = at_secure;
	assert_int_equal(secure_start(false, false, false, false, &held), 0);
	while (environ && environ[count])
		count++;
	return count;
}

TEST(others_are_believed)
{
	set_environment();
	assert_int_equal(start(0), 4);
	assert_string_equal(getenv("TMPDIR"), "/tmp/evil");
	assert_string_equal(getenv("TERM"), "xterm");
}

TEST(colours_are_kept)
{
	set_environment();
	assert_int_equal(start(1), 2);
	assert_string_equal(getenv("TERM"), "xterm");
	assert_string_equal(getenv("NO_COLOR"), "1");
}

TEST(nothing_is_made_up)
{
	clearenv();
	setenv("PATH", "/evil", 1);
	assert_int_equal(start(1), 0);
}
