// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The buffer that every output is built in; its contents can be flushed to a sink. */
#include "base/strbuf.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void strbuf_done(struct strbuf *b)
{
	free(b->data);
	*b = (struct strbuf){0};
}

void strbuf_clear(struct strbuf *b)
{
	b->len = 0;
	b->error = 0;
}

static void set_error(struct strbuf *b, int error)
{
	if (!b->error)
		b->error = error;
}

int strbuf_flush(struct strbuf *b)
{
	int r;

	if (b->error || !b->sink || !b->len)
		return b->error;
	r = b->sink(b->sink_arg, b->data, b->len);
	b->len = 0;
	if (r < 0)
		set_error(b, r);
	return b->error;
}

bool strbuf_reserve(struct strbuf *b, size_t extra)
{
	size_t cap, need;
	char *data;

	if (b->sink && (b->len >= STRBUF_CHUNK || extra > STRBUF_CHUNK - b->len))
		strbuf_flush(b);
	if (b->error)
		return false;
	/* At most half of the address space, so that doubling cannot overflow. */
	if (extra >= SIZE_MAX / 2 - b->len) {
		set_error(b, -ENOMEM);
		return false;
	}
	need = b->len + extra + 1;
	if (need <= b->cap)
		return true;
	cap = b->cap * 2 > 256 ? b->cap * 2 : 256;
	/* The sink receives full chunks, so more room is never filled. */
	if (b->sink && cap > STRBUF_CHUNK + 1)
		cap = STRBUF_CHUNK + 1;
	if (cap < need)
		cap = need;
	data = realloc(b->data, cap);
	if (!data) {
		set_error(b, -ENOMEM);
		return false;
	}
	b->data = data;
	b->cap = cap;
	return true;
}

void strbuf_puts(struct strbuf *b, const char *s)
{
	strbuf_put(b, s, strlen(s));
}

void strbuf_fill(struct strbuf *b, char c, size_t count)
{
	if (!count || !strbuf_room(b, count))
		return;
	memset(b->data + b->len, c, count);
	b->len += count;
}

/* ---- decimal numbers ---- */

/* Writes two digits at a time: this halves the divisions, and most output is numbers. */
static const char pair[] = "00010203040506070809"
			   "10111213141516171819"
			   "20212223242526272829"
			   "30313233343536373839"
			   "40414243444546474849"
			   "50515253545556575859"
			   "60616263646566676869"
			   "70717273747576777879"
			   "80818283848586878889"
			   "90919293949596979899";

static size_t digits_of(uint64_t v)
{
	size_t n = 1;

	for (; v >= 10000; v /= 10000)
		n += 4;
	return n + (v >= 10) + (v >= 100) + (v >= 1000);
}

size_t decimal_put(char *to, uint64_t v)
{
	size_t len = digits_of(v);
	char *p = to + len;

	for (; v >= 100; v /= 100)
		memcpy(p -= 2, pair + v % 100 * 2, 2);
	if (v >= 10)
		memcpy(p - 2, pair + v * 2, 2);
	else
		p[-1] = (char)('0' + v);
	return len;
}

void strbuf_putu(struct strbuf *b, uint64_t v)
{
	if (strbuf_room(b, DECIMAL_MAX))
		b->len += decimal_put(b->data + b->len, v);
}

void strbuf_puti(struct strbuf *b, int64_t v)
{
	if (v < 0)
		strbuf_putc(b, '-');
	/* Negated as unsigned: -INT64_MIN does not exist. */
	strbuf_putu(b, v < 0 ? -(uint64_t)v : (uint64_t)v);
}

/* ---- formats ---- */

void strbuf_printf(struct strbuf *b, const char *fmt, ...)
{
	va_list args;
	int len;

	va_start(args, fmt);
	len = vsnprintf(NULL, 0, fmt, args);
	va_end(args);
	if (len < 0) {
		set_error(b, -EINVAL);
		return;
	}
	if (!strbuf_room(b, (size_t)len))
		return;
	va_start(args, fmt);
	vsnprintf(b->data + b->len, (size_t)len + 1, fmt, args);
	va_end(args);
	b->len += (size_t)len;
}

const char *strbuf_str(struct strbuf *b)
{
	/* strbuf_reserve() always leaves a byte for the terminator. */
	if (!b->cap)
		return "";
	b->data[b->len] = '\0';
	return b->data;
}
