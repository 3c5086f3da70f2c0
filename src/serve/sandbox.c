// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Sets the limits and drops the rights of the HTTP process, in the order that the kernel needs. */
#include "serve/sandbox.h"

#include <errno.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include "serve/landlock.h"
#include "serve/system_calls.h"
#include "serve/user.h"
#include "privilege/privilege.h"

static int limit(__rlimit_resource_t what, rlim_t max)
{
	struct rlimit limits, now;

	/* Keep a limit that is lower already. */
	if (getrlimit(what, &now) == 0 && now.rlim_max < max)
		max = now.rlim_max;
	limits = (struct rlimit){max, max};
	return setrlimit(what, &limits) < 0 ? -errno : 0;
}

int sandbox_enter(size_t fds, size_t memory)
{
	struct user user = {};
	int r = privilege_can_leave() ? user_pick("", &user) : 0;

	if (r == 0)
		r = limit(RLIMIT_NOFILE, fds);
	if (r == 0)
		r = limit(RLIMIT_CORE, 0);
	/* A sanitizer reserves terabytes of address space. */
	if (r == 0 && !SANITIZED)
		r = limit(RLIMIT_AS, memory);
	if (r == 0)
		r = privilege_leave(user.uid, user.gid);
	if (r == 0 && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		r = -errno;
	/* At exit, a leak sanitizer reads its own memory, which needs /proc and ptrace(). */
	if (r < 0 || SANITIZED)
		return r;
	r = landlock_enter();
	return r < 0 ? r : system_calls_limit();
}
