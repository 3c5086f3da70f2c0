/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * JSON into a strbuf as it comes (RFC 8259), for documents that grow with the processes. A field
 * (key and value) is one call: json_u64(w, "pid", p->pid). The writer knows commas, integers and
 * strings of any bytes; the caller makes sure that objects and arrays are closed.
 */
#ifndef ZMEM_RENDER_JSON_WRITER_H
#define ZMEM_RENDER_JSON_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strbuf.h"

/* Above it (2^53 - 1) readers that keep numbers as doubles lose digits. */
#define JSON_INTEGER_MAX 9007199254740991

struct json_writer {
	struct strbuf *out;
	bool comma; /* what comes next is not the first in its object or array */
	bool html;  /* inside of HTML: strings have no <, > and & as they are */
};

/* '{' or '[', '}' or ']'. */
void json_begin(struct json_writer *w, char bracket);
void json_end(struct json_writer *w, char bracket);
/* What comes next begins a line. */
void json_newline(struct json_writer *w);
/* An item that begins a line; the end of an array or object of such. */
void json_begin_line(struct json_writer *w, char bracket);
void json_end_lines(struct json_writer *w, char bracket);

/* ---- keys ---- */

/* `text` is ,"key": with the comma, so that a key is one copy. */
void json_key_text(struct json_writer *w, const char *text, size_t len);
#define JSON_KEY_TEXT(key) ",\"" key "\":"
#define JSON_KEY(w, key)   json_key_text(w, JSON_KEY_TEXT(key), sizeof(JSON_KEY_TEXT(key)) - 1)

/* A key of a table. */
struct json_key {
	const char *text;
	size_t len;
};

#define JSON_KEY_OF(key)                                                                           \
	{                                                                                          \
		JSON_KEY_TEXT(key), sizeof(JSON_KEY_TEXT(key)) - 1                                 \
	}
static inline void json_key(struct json_writer *w, struct json_key key)
{
	json_key_text(w, key.text, key.len);
}
/* A key that is known when the program runs: of letters, digits and '_'. */
void json_key_name(struct json_writer *w, const char *name);

/* ---- values ---- */

void json_put_null(struct json_writer *w);
void json_put_bool(struct json_writer *w, bool v);
/* Integers beyond JSON_INTEGER_MAX either way are no data: null. */
void json_put_u64(struct json_writer *w, uint64_t v);
void json_put_i64(struct json_writer *w, int64_t v);
/* A value, null if it is not known. */
void json_put_known(struct json_writer *w, bool known, uint64_t v);
void json_put_known_i64(struct json_writer *w, bool known, int64_t v);

enum json_string_flags {
	JSON_CUT = 1 << 0,	/* there was more of it than max */
	JSON_REPAIRED = 1 << 1, /* what was written of it had bytes that are no UTF-8 */
};

/*
 * A string, null if s is NULL. Each byte that is no UTF-8 becomes U+FFFD; quotes, backslashes,
 * controls and what could steer a terminal or turn the text's direction are escaped. No more than
 * `max` bytes between the quotes, whole characters and escapes only. Returns enum
 * json_string_flags.
 */
unsigned json_put_string_max(struct json_writer *w, const char *s, size_t max);
static inline unsigned json_put_string(struct json_writer *w, const char *s)
{
	return json_put_string_max(w, s, SIZE_MAX);
}
/* The first `max` bytes of s in hexadecimal, as a string. */
void json_put_hex(struct json_writer *w, const char *s, size_t max);

/* ---- fields: a key, which is a literal, and its value ---- */

#define json_object(w, key)		 (JSON_KEY(w, key), json_begin(w, '{'))
#define json_array(w, key)		 (JSON_KEY(w, key), json_begin(w, '['))
#define json_null(w, key)		 (JSON_KEY(w, key), json_put_null(w))
#define json_bool(w, key, v)		 (JSON_KEY(w, key), json_put_bool(w, v))
#define json_u64(w, key, v)		 (JSON_KEY(w, key), json_put_u64(w, v))
#define json_i64(w, key, v)		 (JSON_KEY(w, key), json_put_i64(w, v))
#define json_known(w, key, known, v)	 (JSON_KEY(w, key), json_put_known(w, known, v))
#define json_known_i64(w, key, known, v) (JSON_KEY(w, key), json_put_known_i64(w, known, v))
/* These two return enum json_string_flags. */
#define json_string(w, key, s)		(JSON_KEY(w, key), json_put_string(w, s))
#define json_string_max(w, key, s, max) (JSON_KEY(w, key), json_put_string_max(w, s, max))
/* The bytes of a string that was written repaired, and else nothing. */
#define json_hex_if(w, key, flags, s, max)                                                         \
	((flags)&JSON_REPAIRED ? (JSON_KEY(w, key), json_put_hex(w, s, max)) : (void)0)

#endif
