// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Knows how much stack the program takes: files of /proc are read into it. */
#include "cli/stack.h"

#include <sys/resource.h>

#include "cli/log.h"

#define STACK_NEEDED (256 * 1024)

int stack_suffices(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_STACK, &limit) < 0 || limit.rlim_cur >= STACK_NEEDED)
		return 0;
	if (limit.rlim_max >= STACK_NEEDED) {
		limit.rlim_cur = STACK_NEEDED;
		if (setrlimit(RLIMIT_STACK, &limit) == 0)
			return 0;
	}
	return log_error("starting: a stack of %u KiB is too small (ulimit -s %u)",
			 (unsigned)(limit.rlim_cur / 1024), STACK_NEEDED / 1024);
}
