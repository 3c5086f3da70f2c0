/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The streaming JSON writer (RFC 8259), for documents that grow with the processes. A field (key
 * and value) is one call: json_u64(w, "pid", p->pid). The writer handles commas, integers and
 * strings of any bytes; the caller closes objects and arrays.
 */
#ifndef ZMEM_WRITE_JSON_WRITER_H
#define ZMEM_WRITE_JSON_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/json_key.h"
#include "base/strbuf.h"

/* 2^53 - 1: readers that keep numbers as doubles lose digits above it. */
#define JSON_INTEGER_MAX 9007199254740991

struct json_writer {
	struct strbuf *out;
	bool comma; /* the next item needs a comma before it */
	bool html;  /* inside HTML: <, > and & are escaped in strings */
};

/* `bracket` is '{' or '[' to begin, '}' or ']' to end. */
void json_begin(struct json_writer *w, char bracket);
void json_end(struct json_writer *w, char bracket);
/* The next item begins a new line. */
void json_newline(struct json_writer *w);
/* Begins an item on a new line; ends an array or object of such items. */
void json_begin_line(struct json_writer *w, char bracket);
void json_end_lines(struct json_writer *w, char bracket);

/* ---- keys ---- */

void json_key_text(struct json_writer *w, const char *text, size_t len);
#define JSON_KEY(w, key) json_key_text(w, JSON_KEY_TEXT(key), sizeof(JSON_KEY_TEXT(key)) - 1)

static inline void json_key(struct json_writer *w, struct json_key key)
{
	json_key_text(w, key.text, key.len);
}
/* A key that is computed at run time, of letters, digits and '_'. */
void json_key_name(struct json_writer *w, const char *name);

/* ---- values ---- */

void json_put_null(struct json_writer *w);
void json_put_bool(struct json_writer *w, bool v);
/* Integers outside ±JSON_INTEGER_MAX become null. */
void json_put_u64(struct json_writer *w, uint64_t v);
void json_put_i64(struct json_writer *w, int64_t v);
/* 123 is 1.23. */
void json_put_hundredths(struct json_writer *w, uint64_t v);
/* A value, or null if it is not known. */
void json_put_known(struct json_writer *w, bool known, uint64_t v);
void json_put_known_i64(struct json_writer *w, bool known, int64_t v);

enum json_string_flags {
	JSON_CUT = 1 << 0,	/* the string was cut to `max` */
	JSON_REPAIRED = 1 << 1, /* bytes that are not UTF-8 were replaced */
};

/*
 * A string, or null if s is NULL. Each byte that is not UTF-8 becomes U+FFFD. Quotes, backslashes,
 * control characters, and characters that could steer a terminal or turn the text's direction are
 * escaped. Writes at most `max` bytes between the quotes, whole characters and escapes only.
 * Returns enum json_string_flags.
 */
unsigned json_put_string_max(struct json_writer *w, const char *s, size_t max);
static inline unsigned json_put_string(struct json_writer *w, const char *s)
{
	return json_put_string_max(w, s, SIZE_MAX);
}
/* The first `max` bytes of s in hexadecimal, as a string. */
void json_put_hex(struct json_writer *w, const char *s, size_t max);

/* ---- fields: a literal key and its value ---- */

#define json_object(w, key)		 (JSON_KEY(w, key), json_begin(w, '{'))
#define json_array(w, key)		 (JSON_KEY(w, key), json_begin(w, '['))
#define json_null(w, key)		 (JSON_KEY(w, key), json_put_null(w))
#define json_bool(w, key, v)		 (JSON_KEY(w, key), json_put_bool(w, v))
#define json_u64(w, key, v)		 (JSON_KEY(w, key), json_put_u64(w, v))
#define json_i64(w, key, v)		 (JSON_KEY(w, key), json_put_i64(w, v))
#define json_known(w, key, known, v)	 (JSON_KEY(w, key), json_put_known(w, known, v))
#define json_known_i64(w, key, known, v) (JSON_KEY(w, key), json_put_known_i64(w, known, v))
/* json_string() and json_string_max() return enum json_string_flags. */
#define json_string(w, key, s)		(JSON_KEY(w, key), json_put_string(w, s))
#define json_string_max(w, key, s, max) (JSON_KEY(w, key), json_put_string_max(w, s, max))

#endif
