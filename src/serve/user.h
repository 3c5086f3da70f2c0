/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Chooses the user that the HTTP process becomes. No other process has that user: it could signal
 * and trace the HTTP process.
 */
#ifndef ZMEM_SERVE_USER_H
#define ZMEM_SERVE_USER_H

#include <sys/types.h>

#define USER_NAME  "zmem-bpf" /* of the package */
#define USER_FIRST 61184      /* else from the range that systemd uses for DynamicUser= */
#define USER_LAST  65519

struct user {
	uid_t uid;
	gid_t gid;
};

/*
 * Picks the package's user, or a random one that neither a file of /etc nor a process has. `root`
 * is a prefix of /etc and /proc ("" but in tests). Returns 0, -EUSERS without a free user, or a
 * negative errno for want of files or memory.
 */
int user_pick(const char *root, struct user *ret);

#endif
