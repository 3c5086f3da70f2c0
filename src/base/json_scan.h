/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Finds strings in a JSON text that another program wrote. Without recursion and memory. */
#ifndef ZMEM_BASE_JSON_SCAN_H
#define ZMEM_BASE_JSON_SCAN_H

#include "base/parse.h"

#define JSON_SCAN_DEPTH 32 /* objects and arrays within each other */

/* A string value and where it stands. */
struct json_found {
	unsigned depth; /* objects and arrays around it */
	/* The key in each of them, the outermost first; s is NULL in an array. */
	struct text_part key[JSON_SCAN_DEPTH];
	size_t item; /* the index in the outermost array or object */
	struct text_part value;
	bool escaped; /* the value has escapes, which are not resolved */
};

/*
 * Calls fn for each string value in order, until fn returns other than 0. Keys with escapes are
 * given as they are written. Returns that, 0, -EINVAL if the text is not JSON, or -E2BIG if it is
 * deeper than JSON_SCAN_DEPTH; fn has seen the part before.
 */
int json_scan(const char *text, size_t len, int (*fn)(void *arg, const struct json_found *found),
	      void *arg);

/* True if the value stands at these keys, and nothing else is around it. NULL is an array. */
bool json_found_at(const struct json_found *found, const char *const *keys, unsigned depth);

#endif
