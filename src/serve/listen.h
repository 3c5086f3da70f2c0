/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Sockets that listen: those of --listen, or those that systemd hands over. */
#ifndef ZMEM_SERVE_LISTEN_H
#define ZMEM_SERVE_LISTEN_H

#include <stdbool.h>
#include <stddef.h>

#define LISTENERS_MAX 8

struct listeners {
	int fd[LISTENERS_MAX];
	char *path[LISTENERS_MAX]; /* of a Unix socket that is ours to remove, else NULL */
	size_t count;
	bool ready; /* handed over by systemd */
};

/* How many sockets systemd has handed over, from file descriptor 3 on. */
int listeners_handed_over(void);
/* `list`: addresses, NULL for the usual one. Returns 0, or an exit code after a message. */
int listeners_open(struct listeners *l, const char *list);
/* Says where, on stderr. */
void listeners_tell(const struct listeners *l, bool quiet);
/* Closes the sockets, which another process has, and keeps their names. */
void listeners_leave(struct listeners *l);
/* Closes them; `remove`: and removes what they leave in the file system. */
void listeners_close(struct listeners *l, bool remove);

#endif
