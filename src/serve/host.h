/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Identifies the client of a connection and checks the host name of its request. A web page can
 * make a browser send requests to a host name that resolves to 127.0.0.1 (DNS rebinding); the Host
 * header then has that name.
 */
#ifndef ZMEM_SERVE_HOST_H
#define ZMEM_SERVE_HOST_H

#include <stdbool.h>
#include <stdint.h>

/* Whether a Host header is an IP address or localhost, not another name. Pure. */
bool host_is_local(const char *host);
/*
 * Whether a page of another origin makes the browser ask, by the Origin or Sec-Fetch-Site header
 * (NULL without one). Another port of this host is another origin, too. Pure.
 */
bool host_is_foreign(const char *host, const char *origin, const char *site);
/*
 * Whether a connection came to a loopback address. *ret_source identifies the client: an IPv4
 * address, the /64 network of an IPv6 address, or the user of a Unix socket.
 */
bool host_of_socket(int fd, uint64_t *ret_source);

#endif
