/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A growing byte buffer. Errors are sticky: after an error, appended bytes are dropped and
 * strbuf_error() returns the error, so writers need not check every call. With a sink, the buffer
 * passes on every full chunk and stays small.
 */
#ifndef ZMEM_BASE_STRBUF_H
#define ZMEM_BASE_STRBUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define STRBUF_CHUNK (64 * 1024)

struct strbuf {
	char *data;
	size_t len;
	size_t cap;
	int error; /* negative errno, 0 without an error */
	/* Accepts all bytes or returns a negative errno. NULL: the buffer just grows. */
	int (*sink)(void *arg, const char *data, size_t len);
	void *sink_arg;
};

/* Frees the memory; does not flush. */
void strbuf_done(struct strbuf *b);
/* Drops contents and error, keeps the memory. */
void strbuf_clear(struct strbuf *b);
static inline int strbuf_error(const struct strbuf *b)
{
	return b->error;
}
/* What is made of a part that failed has failed, too. */
static inline void strbuf_take_error(struct strbuf *b, const struct strbuf *part)
{
	if (!b->error)
		b->error = part->error;
}
/* Passes the contents to the sink, if there is one. Returns strbuf_error(). */
int strbuf_flush(struct strbuf *b);

/* Makes room for `extra` bytes and a terminator. False after an error. */
bool strbuf_reserve(struct strbuf *b, size_t extra);
/* The same, inline: a row is a hundred short appends, and there nearly always is room. */
static inline bool strbuf_room(struct strbuf *b, size_t extra)
{
	return (!b->error && extra < b->cap - b->len) || strbuf_reserve(b, extra);
}

static inline void strbuf_put(struct strbuf *b, const void *data, size_t len)
{
	if (!len || !strbuf_room(b, len))
		return;
	memcpy(b->data + b->len, data, len);
	b->len += len;
}

static inline void strbuf_putc(struct strbuf *b, char c)
{
	if (strbuf_room(b, 1))
		b->data[b->len++] = c;
}

void strbuf_puts(struct strbuf *b, const char *s);
/* Appends c `count` times. */
void strbuf_fill(struct strbuf *b, char c, size_t count);
/* Appends a decimal number, without the cost of printf. */
void strbuf_putu(struct strbuf *b, uint64_t v);
void strbuf_puti(struct strbuf *b, int64_t v);
__attribute__((format(printf, 2, 3))) void strbuf_printf(struct strbuf *b, const char *fmt, ...);
/* The contents as a terminated string; "" when empty. Valid until the next call. */
const char *strbuf_str(struct strbuf *b);

#define DECIMAL_MAX 20 /* digits of UINT64_MAX */

/*
 * Writes a decimal number of at most DECIMAL_MAX bytes without a terminator, ten times as fast as
 * printf. Returns the number of bytes.
 */
size_t decimal_put(char *to, uint64_t v);

#endif
