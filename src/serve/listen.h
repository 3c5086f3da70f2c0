/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Opens the listening sockets: those of --listen, or those that systemd passes. */
#ifndef ZMEM_SERVE_LISTEN_H
#define ZMEM_SERVE_LISTEN_H

#include <stdbool.h>
#include <stddef.h>

#define LISTENERS_MAX 8

struct listeners {
	int fd[LISTENERS_MAX];
	char *path[LISTENERS_MAX]; /* of a Unix socket that serve removes at its end, else NULL */
	size_t count;
	bool ready; /* passed by systemd */
};

/* Number of sockets that systemd has passed; the first is file descriptor 3. */
int listeners_handed_over(void);
/*
 * `list`: addresses, or NULL for the sockets of systemd or the default address. Returns 0, or an
 * exit code after a message.
 */
int listeners_open(struct listeners *l, const char *list);
/* Logs each address on stderr. */
void listeners_log(const struct listeners *l, bool quiet);
/* Closes the sockets in this process but keeps their paths; the HTTP process goes on. */
void listeners_close_fds(struct listeners *l);
/* Closes the sockets; `remove`: also removes the paths of Unix sockets. */
void listeners_close(struct listeners *l, bool remove);

#endif
