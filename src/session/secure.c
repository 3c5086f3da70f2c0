// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A user with fewer rights than the program may have started it: file capabilities let users
 * measure what they could not measure themselves. AT_SECURE is set then. The program ignores that
 * user's environment, and writes files with that user's rights. src/privilege gives up
 * capabilities.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/array.h"
#include "session/log.h"
#include "session/secure.h"

#define STACK_NEEDED (256 * 1024) /* files of /proc are read into it */

int secure_stack(void)
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

/* Keeps what only changes how text looks: libraries may read anything else. */
static int clean_environment(void)
{
	static const char *const kept[] = {"NO_COLOR", "TERM", "LANG", "LC_ALL", "LC_CTYPE"};
	char *value[ARRAY_SIZE(kept)];
	int r = 0;

	/* clearenv() does not free values. */
	for (size_t i = 0; i < ARRAY_SIZE(kept); i++)
		value[i] = getenv(kept[i]);
	clearenv();
	for (size_t i = 0; i < ARRAY_SIZE(kept); i++)
		r |= value[i] ? setenv(kept[i], value[i], 1) : 0;
	return r;
}

int secure_start(bool administers, bool records, bool opens, bool lists, uint64_t *ret_held)
{
	bool trusted = !getauxval(AT_SECURE);
	int r;

	/* With setuid the program could write files of another user, which it never needs. */
	if (getuid() != geteuid() || getgid() != getegid())
		return log_error("starting: it is not meant to be setuid or setgid (give it "
				 "file capabilities instead: setcap "
				 "cap_bpf,cap_perfmon,cap_sys_ptrace+ep)");
	if (!trusted && clean_environment())
		return log_error("starting: out of memory");
	*ret_held = privilege_mask();
	if (administers && trusted)
		return 0;
	r = privilege_start(trusted, records, opens, lists);
	/* A user with the same rights has lost nothing. */
	if (r < 0 && !trusted)
		return log_errno(r, "giving up capabilities");
	return 0;
}

int secure_loaded(const char *output, unsigned later)
{
	bool trusted = !getauxval(AT_SECURE);
	int r = privilege_loaded(output ? later | LATER_WRITES : later, trusted);

	if (r < 0 && !trusted)
		return log_errno(r, "giving up capabilities");
	return 0;
}
