/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Opens the listening sockets: those of --listen, or those that systemd passes. */
#ifndef ZMEM_SERVE_LISTEN_H
#define ZMEM_SERVE_LISTEN_H

#include <stdbool.h>
#include <stddef.h>

struct options;
struct sockaddr_storage;

#define LISTENERS_MAX  8

#define LISTEN_DEFAULT "127.0.0.1:19647"

/* HOST:PORT, [IPV6]:PORT, :PORT or unix:/PATH. */
struct listen_address {
	char host[256]; /* empty: all addresses of the machine */
	char port[6];	/* a number from 0 to 65535; 0: the kernel chooses */
	char path[108]; /* of a Unix socket; empty: not a Unix socket */
};

/* Returns NULL, or a text that says what is wrong. Pure. */
const char *listen_address_parse(const char *text, size_t len, struct listen_address *ret);
/* 127.0.0.0/8 or ::1. A dual-stack socket has IPv4 addresses as ::ffff:127.0.0.1. Pure. */
bool address_is_loopback(const struct sockaddr_storage *a);

struct listeners {
	int fd[LISTENERS_MAX];
	char *path[LISTENERS_MAX]; /* of a Unix socket that serve removes at its end, else NULL */
	char *name[LISTENERS_MAX]; /* the host of --listen if it is a name, else NULL */
	size_t count;
};

/* Number of sockets that systemd has passed. */
int listeners_handed_over(void);
/*
 * Listens on the addresses of --listen; without it on the sockets of systemd, or on the default
 * address. Returns 0, or an exit code after a message.
 */
int listeners_open(struct listeners *l, const struct options *o);
/* Whether other machines may be able to connect: an address is not loopback and no Unix socket. */
bool listeners_are_remote(const struct listeners *l);
/* Logs each address of IP and of Unix sockets on stderr. */
void listeners_log(const struct listeners *l, bool quiet);
/* Closes the sockets in this process but keeps their paths; the HTTP process goes on. */
void listeners_close_fds(struct listeners *l);
/* Closes the sockets; `remove`: also removes the paths of Unix sockets. */
void listeners_close(struct listeners *l, bool remove);

#endif
