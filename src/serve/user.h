/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The user that the process that speaks HTTP becomes, whose processes could signal and trace it. */
#ifndef ZMEM_SERVE_USER_H
#define ZMEM_SERVE_USER_H

#include <sys/types.h>

#define USER_NAME  "zmem-bpf" /* the package's own */
#define USER_FIRST 61184      /* else one of those that systemd gives to DynamicUser= */
#define USER_LAST  65519

struct user {
	uid_t uid;
	gid_t gid;
};

/*
 * The package's user, or one that neither a file of /etc nor a process has, picked at random.
 * `root` is in front of /etc and /proc: "". Returns 0, -EUSERS without a free one, or want of files
 * or memory.
 */
int user_pick(const char *root, struct user *ret);

#endif
