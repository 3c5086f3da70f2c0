/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tables of programs: executable, comm and command line, and what they are called. */
#ifndef ZMEM_TESTS_PROGRAM_CASES_H
#define ZMEM_TESTS_PROGRAM_CASES_H

#include "unit.h"

struct sample {
	const char *exe, *comm;
	const char *cmdline; /* NULL: not read */
	size_t len;
	const char *name;
};

/* The words of a command line as in /proc: each ends with NUL. */
#define ARGS(words) words, sizeof(words)
#define S(exe, comm, words, name)                                                                  \
	{                                                                                          \
		exe, comm, ARGS(words), name                                                       \
	}
#define UNREAD(exe, comm, name)                                                                    \
	{                                                                                          \
		exe, comm, NULL, 0, name                                                           \
	}

/* The command line in memory of the exact size, so that a sanitizer detects reads behind it. */
static char *copy_cmdline(const struct sample *s)
{
	char *copy = s->cmdline ? malloc(s->len ? s->len : 1) : NULL;

	if (s->cmdline) {
		assert_non_null(copy);
		memcpy(copy, s->cmdline, s->len);
	}
	return copy;
}

/* `asked`: whether the command line is asked for, if the name depends on it. */
static void judge(const struct sample *s, const char *name, size_t len, bool asked)
{
	if (len != strlen(s->name) || memcmp(name, s->name, len) != 0)
		fail_msg("%s, %s, '%s': '%.*s' and not '%s'", s->exe, s->comm,
			 s->cmdline ? s->cmdline : "", (int)len, name, s->name);
	if (!asked)
		fail_msg("%s, %s needs its command line", s->exe, s->comm);
}

#define CHECK_ALL(samples)                                                                         \
	for (size_t i = 0; i < ARRAY_SIZE(samples); i++)                                           \
	check(&(samples)[i])

#endif
