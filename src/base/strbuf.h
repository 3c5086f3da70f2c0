/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A growing byte buffer. Errors are sticky: once one happened, what is appended is dropped and
 * strbuf_error() says why, so that writers need not check every call. With a sink, contents are
 * handed over whenever a chunk is full, and the buffer stays small.
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
	int error; /* negative errno, 0 while all is well */
	/* Takes all bytes or returns a negative errno. NULL: the buffer just grows. */
	int (*sink)(void *arg, const char *data, size_t len);
	void *sink_arg;
};

/* Frees the memory; does not flush. */
void strbuf_done(struct strbuf *b);
/* Forgets contents and error, keeps the memory. */
void strbuf_clear(struct strbuf *b);
static inline int strbuf_error(const struct strbuf *b)
{
	return b->error;
}
/* Hands what is there to the sink, if there is one. Returns strbuf_error(). */
int strbuf_flush(struct strbuf *b);

/* Makes room for so many bytes and a terminator. False if they are to be dropped. */
bool strbuf_reserve(struct strbuf *b, size_t extra);
/* Likewise; inline, since a row is a hundred small pieces and there nearly always is room. */
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
/* `count` times c. */
void strbuf_fill(struct strbuf *b, char c, size_t count);
/* Decimal, without the cost of printf. */
void strbuf_putu(struct strbuf *b, uint64_t v);
void strbuf_puti(struct strbuf *b, int64_t v);
__attribute__((format(printf, 2, 3))) void strbuf_printf(struct strbuf *b, const char *fmt, ...);
/* The contents as a string, terminated; "" when empty. Valid until the next call. */
const char *strbuf_str(struct strbuf *b);

#endif
