// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Decompresses the output of "gzip -n". It checks format and size but not the checksum: the data is
 * a part of the program, as its code is.
 */
#include "base/unpack.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <zlib.h>

#define HEADER	10
#define TRAILER 8 /* CRC and size of the contents */

static uint32_t size_of_contents(struct packed p)
{
	const unsigned char *at = p.data + p.size - 4;

	return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 |
	       (uint32_t)at[3] << 24;
}

/* Returns 0 or a negative errno; on failure the contents of `to` are undefined. */
static int inflate_into(unsigned char *to, uint32_t len, struct packed p)
{
	z_stream z = {.next_in = (unsigned char *)(uintptr_t)p.data + HEADER,
		      .avail_in = (uInt)(p.size - HEADER - TRAILER),
		      .next_out = to,
		      .avail_out = len};
	int r;

	/* Negative: raw deflate, without a zlib header. */
	if (inflateInit2(&z, -MAX_WBITS) != Z_OK)
		return -ENOMEM;
	r = inflate(&z, Z_FINISH);
	inflateEnd(&z);
	if (r == Z_MEM_ERROR)
		return -ENOMEM;
	return r == Z_STREAM_END && !z.avail_in && !z.avail_out ? 0 : -EINVAL;
}

void unpack(struct strbuf *out, struct packed p)
{
	bool whole = p.size >= HEADER + TRAILER && p.size <= UINT32_MAX;
	uint32_t len = whole ? size_of_contents(p) : 0;
	int r = -EINVAL;

	if (!strbuf_room(out, len))
		return;
	if (whole)
		r = inflate_into((unsigned char *)out->data + out->len, len, p);
	if (r < 0)
		out->error = r;
	else
		out->len += len;
}
