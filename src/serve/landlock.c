// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The rights of each Landlock ABI, and the system calls that drop them. */
#include "serve/landlock.h"

#include <errno.h>
#include <linux/landlock.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"

/* From include/uapi/linux/landlock.h of Linux 7.1; the installed header may be older. */
#define FS_REFER       (UINT64_C(1) << 13)
#define FS_TRUNCATE    (UINT64_C(1) << 14)
#define FS_IOCTL_DEV   (UINT64_C(1) << 15)
#define FS_UNIX	       (UINT64_C(1) << 16) /* connect to a Unix socket that has a path */
#define NET_TCP	       (UINT64_C(3))	   /* bind, connect */
#define SCOPE_ABSTRACT (UINT64_C(1) << 0)  /* Unix sockets that have no path */
#define SCOPE_SIGNAL   (UINT64_C(1) << 1)

static const struct {
	int abi; /* the first that has these rights */
	struct landlock_rights rights;
} added[] = {
	{1, {.fs = 2 * LANDLOCK_ACCESS_FS_MAKE_SYM - 1}},
	{2, {.fs = FS_REFER}},
	{3, {.fs = FS_TRUNCATE}},
	{4, {.net = NET_TCP}},
	{5, {.fs = FS_IOCTL_DEV}},
	{6, {.scoped = SCOPE_ABSTRACT | SCOPE_SIGNAL}},
	{9, {.fs = FS_UNIX}},
};

int landlock_abi(void)
{
	long abi = syscall(__NR_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);

	return abi < 0 ? 0 : (int)abi;
}

struct landlock_rights landlock_rights(int abi)
{
	struct landlock_rights all = {};

	for (size_t i = 0; i < ARRAY_SIZE(added) && added[i].abi <= abi; i++) {
		all.fs |= added[i].rights.fs;
		all.net |= added[i].rights.net;
		all.scoped |= added[i].rights.scoped;
	}
	return all;
}

int landlock_enter(void)
{
	int abi = landlock_abi();
	const struct landlock_rights all = landlock_rights(abi);
	cleanup_close int fd = -1;

	if (!abi)
		return 0;
	fd = (int)syscall(__NR_landlock_create_ruleset, &all, sizeof(all), 0);
	/* A ruleset without rules denies every right that it handles. */
	return fd < 0 || syscall(__NR_landlock_restrict_self, fd, 0) < 0 ? -errno : 0;
}
