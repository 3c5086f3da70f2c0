/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Files with debugging symbols from the servers of DEBUGINFOD_URLS, by build id. Only for a user
 * what asks for it: the servers see which programs run here. libdebuginfod is loaded when needed. A
 * helper calls it: a server may take minutes to answer. The helper is the caller, without
 * capabilities.
 */
#ifndef ZMEM_CODE_DEBUGINFOD_H
#define ZMEM_CODE_DEBUGINFOD_H

#include <stddef.h>

#include "code/symbols.h"
#include "privilege/helper.h"

struct debuginfod_client; /* of the library */

struct debuginfod_library {
	struct debuginfod_client *client; /* of the helper; NULL before the first use */
	struct debuginfod_client *(*begin)(void);
	int (*find_debuginfo)(struct debuginfod_client *client, const unsigned char *build_id,
			      int len, char **path);
};

struct debuginfod {
	struct debuginfod_library library;
	struct helper helper;
	int lost; /* the error with which the helper was lost: nothing more is asked */
};

/* Returns 0, or a negative errno and in `why` what is missing and what to do. */
int debuginfod_open(struct helpers *shared, struct debuginfod **ret, char *why, size_t cap);
/*
 * Returns an open file with the symbols of a file with these facts, or a negative errno: -ENOENT if
 * no server has it, and those of helper_call(). It may take minutes. `d` may be NULL.
 */
int debuginfod_fetch(struct debuginfod *d, const struct elf_facts *facts);
void debuginfod_close(struct debuginfod *d);

#endif
