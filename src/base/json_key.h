/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A key of JSON with the comma before it and the colon behind it, so that writing it is one copy.
 * Before the first key of an object the copy begins behind the comma.
 */
#ifndef ZMEM_BASE_JSON_KEY_H
#define ZMEM_BASE_JSON_KEY_H

#include <stddef.h>

struct json_key {
	const char *text;
	size_t len;
};

#define JSON_KEY_TEXT(key) ",\"" key "\":"
#define JSON_KEY_LEN(key)  (sizeof(JSON_KEY_TEXT(key)) - 1)

#endif
