// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * drop UID CAPS COMMAND…: runs the command as this user with exactly these capabilities: numbers
 * separated by commas, "-" for none. For guests; busybox has no such tool.
 */
#include <grp.h>
#include <linux/capability.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static int set(uint64_t mask)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2];

	for (int i = 0; i < 2; i++) {
		uint32_t part = (uint32_t)(mask >> (32 * i));

		data[i] = (struct __user_cap_data_struct){part, part, part};
	}
	return (int)syscall(SYS_capset, &head, data);
}

static uint64_t parse(const char *list)
{
	uint64_t mask = 0;

	while (*list >= '0' && *list <= '9') {
		char *end;

		mask |= UINT64_C(1) << (strtoul(list, &end, 10) & 63);
		list = *end ? end + 1 : end;
	}
	return mask;
}

static int become(uid_t uid, uint64_t mask)
{
	for (int c = 0; c < 64; c++) {
		if (!(mask >> c & 1) && prctl(PR_CAPBSET_READ, c) == 1 &&
		    prctl(PR_CAPBSET_DROP, c) < 0)
			return -1;
	}
	if (prctl(PR_SET_KEEPCAPS, 1) < 0 || setgroups(0, NULL) < 0 ||
	    setresgid(uid, uid, uid) < 0 || setresuid(uid, uid, uid) < 0 || set(mask) < 0)
		return -1;
	for (int c = 0; c < 64; c++) {
		if (mask >> c & 1 && prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, c, 0, 0) < 0)
			return -1;
	}
	return 0;
}

int main(int argc, char **argv)
{
	if (argc < 4) {
		fprintf(stderr, "usage: drop UID CAPS COMMAND...\n");
		return 125;
	}
	if (become((uid_t)atoi(argv[1]), parse(argv[2])) < 0) {
		perror("drop");
		return 125;
	}
	execvp(argv[3], argv + 3);
	perror(argv[3]);
	return 125;
}
