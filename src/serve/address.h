/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Parses an address to listen on: HOST:PORT, [IPV6]:PORT, :PORT or unix:/PATH. Pure. */
#ifndef ZMEM_SERVE_ADDRESS_H
#define ZMEM_SERVE_ADDRESS_H

#include <stddef.h>

#define ADDRESS_DEFAULT "127.0.0.1:19647"

struct address {
	char host[256]; /* empty: all addresses of the machine */
	char port[6];	/* a number from 0 to 65535; 0: the kernel chooses */
	char path[108]; /* of a Unix socket; empty: not a Unix socket */
};

/* Returns NULL, or a text that says what is wrong. */
const char *address_parse(const char *text, size_t len, struct address *ret);

#endif
