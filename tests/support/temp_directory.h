/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* cmocka setup and teardown: each test runs in its own empty directory, open to all users. */
#ifndef ZMEM_TESTS_TEMP_DIRECTORY_H
#define ZMEM_TESTS_TEMP_DIRECTORY_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"

static int enter_directory_in(void **state, const char *parent)
{
	char *dir = NULL;

	if (asprintf(&dir, "%s/zmem-test-XXXXXX", parent) < 0)
		return -1;

	if (!mkdtemp(dir) || chmod(dir, 0777) < 0 || chdir(dir) < 0)
		return -1;
	*state = dir;
	return 0;
}

__attribute__((unused)) static int enter_directory(void **state)
{
	return enter_directory_in(state, "/tmp");
}

/* For tests that sync often. */
__attribute__((unused)) static int enter_memory(void **state)
{
	return enter_directory_in(state, "/dev/shm");
}

static int leave_directory(void **state)
{
	cleanup_free char *dir = *state;
	cleanup_free char *command = NULL;

	if (chdir("/") < 0 || asprintf(&command, "rm -rf '%s'", dir) < 0)
		return -1;
	return system(command);
}

/* Tests that use unit.h. */
#define IN_DIRECTORY(name) TEST_WITH(name, enter_directory, leave_directory)
#define IN_MEMORY(name)	   TEST_WITH(name, enter_memory, leave_directory)

#endif
