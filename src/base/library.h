/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Shared libraries that are loaded when they are needed. The static program can load none. */
#ifndef ZMEM_BASE_LIBRARY_H
#define ZMEM_BASE_LIBRARY_H

#include <stddef.h>

/* A function of a library, and where its pointer is in the struct that is filled in. */
struct library_function {
	const char *name;
	size_t at;
};

/*
 * Loads `file` and writes pointers to its functions into *ret. The library stays loaded. Returns 0,
 * or -ELIBACC and in `why` what failed, with `advice` in brackets.
 */
int library_load(const char *file, const char *advice, const struct library_function *functions,
		 size_t count, void *ret, char *why, size_t cap);

#endif
