// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Knows capability numbers and how to ask for our own; judges nothing. */
#include <linux/capability.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "zmem/privilege.h"

/* linux/capability.h of an old build machine may lack these two (5.8). */
#define NUMBER_PERFMON 38
#define NUMBER_BPF     39

static const struct {
	const char *name;
	unsigned number;
	bool admin; /* CAP_SYS_ADMIN will do */
} table[PRIVILEGE_COUNT] = {
	[PRIVILEGE_BPF] = {"CAP_BPF", NUMBER_BPF, true},
	[PRIVILEGE_PERFMON] = {"CAP_PERFMON", NUMBER_PERFMON, true},
	[PRIVILEGE_PTRACE] = {"CAP_SYS_PTRACE", CAP_SYS_PTRACE, false},
};

const char *privilege_name(enum privilege privilege)
{
	return table[privilege].name;
}

static bool effective(const struct __user_cap_data_struct *data, unsigned number)
{
	return data[number / 32].effective >> number % 32 & 1;
}

bool privilege_held(enum privilege privilege)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {};

	if (syscall(SYS_capget, &head, data) < 0)
		return false;
	return effective(data, table[privilege].number) ||
	       (table[privilege].admin && effective(data, CAP_SYS_ADMIN));
}
