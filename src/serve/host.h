/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Who is at the other end, and whom he thinks he speaks to. A page of anybody's may make a browser
 * ask a name that its owner points to 127.0.0.1; the name is in the request.
 */
#ifndef ZMEM_SERVE_HOST_H
#define ZMEM_SERVE_HOST_H

#include <stdbool.h>
#include <stdint.h>

/* Whether a Host header names this machine as nobody else can: an address or localhost. Pure. */
bool host_is_local(const char *host);
/*
 * Whether a browser asks for a page that is not of this host, by its Origin or Sec-Fetch-Site
 * header (NULL without). A page of another port is not, either. Pure.
 */
bool host_is_foreign(const char *host, const char *origin, const char *site);
/*
 * Whether a connection came to a loopback address, and in *ret_source whose it is: an IPv4 address,
 * a network of IPv6, a user of a Unix socket.
 */
bool host_of_socket(int fd, uint64_t *ret_source);

#endif
