/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Files with debugging symbols from the servers of DEBUGINFOD_URLS, by build id. Only for a user
 * who asks for it: the servers see which programs run here. libdebuginfod is loaded when needed.
 */
#ifndef ZMEM_GROW_DEBUGINFOD_H
#define ZMEM_GROW_DEBUGINFOD_H

#include <stddef.h>

#include "grow/symbols.h"

struct debuginfod_client; /* of the library */

struct debuginfod {
	struct debuginfod_client *client; /* NULL: nothing is asked */
	struct debuginfod_client *(*begin)(void);
	int (*find_debuginfo)(struct debuginfod_client *client, const unsigned char *build_id,
			      int len, char **path);
	void (*end)(struct debuginfod_client *client);
};

/* Returns 0, or a negative errno and in `why` what is missing and what to do. */
int debuginfod_open(struct debuginfod *ret, char *why, size_t cap);
/* An open file with the symbols of a file with these facts, or -1. It may take a minute. */
int debuginfod_fetch(const struct debuginfod *d, const struct elf_facts *facts);
void debuginfod_close(struct debuginfod *d);

#endif
