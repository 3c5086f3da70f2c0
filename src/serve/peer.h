/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The client at the other end of a connection, so that one client does not take the connections of
 * others (connections.h). A program of this machine counts with its user: it can have any number of
 * processes, of sockets and of addresses in 127.0.0.0/8.
 */
#ifndef ZMEM_SERVE_PEER_H
#define ZMEM_SERVE_PEER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Opens a socket that asks the kernel which user has a TCP socket of this machine (sock_diag(7)),
 * and tries it with the first TCP socket among the listeners. Answers about more than one socket,
 * and about sockets that are not IP, never arrive on it: the HTTP process shall not list
 * connections. Stores a descriptor that the caller closes, or -1 if no listener is a TCP socket.
 * Returns 0 or a negative errno: -EOPNOTSUPP if the kernel does not know the listener, which may be
 * of another network namespace.
 */
int peer_open(const int *listeners, size_t count, int *ret_diag);

/* The source of a client of this machine if its user is not known: all of them are one. */
#define PEER_UNKNOWN UINT64_C(0xffffffffff)

/*
 * Whether a connection came to a loopback address. *ret_source is equal for connections of one
 * client: the user of a Unix socket or of a TCP socket of this machine, else an IPv4 address or the
 * /64 network of an IPv6 address. `diag` is of peer_open(), or negative.
 */
bool peer_read(int diag, int fd, uint64_t *ret_source);

#endif
