// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Unpacks what the build packed into the program with zstd. */
#include "base/unpack.h"

#include <errno.h>
#include <zstd.h>

#include "base/cleanup.h"

/* Returns 0 or a negative errno; after an error the contents of `to` are undefined. */
static int decompress(void *to, size_t len, const struct packed *p)
{
	cleanup(strbuf_done) struct strbuf room = {};
	const void *base = p->base ? unpacked(p->base, &room) : NULL;
	size_t base_len = !base ? 0 : p->base->plain ? p->base->size : room.len, n;
	ZSTD_DCtx *zstd;

	if (p->base && !base)
		return strbuf_error(&room);
	zstd = ZSTD_createDCtx();
	if (!zstd)
		return -ENOMEM;
	n = ZSTD_decompress_usingDict(zstd, to, len, p->data, p->size, base, base_len);
	ZSTD_freeDCtx(zstd);
	return n == len ? 0 : -EINVAL;
}

void unpack(struct strbuf *out, const struct packed *p)
{
	unsigned long long len;
	int r = -EINVAL;

	if (p->plain) {
		strbuf_put(out, p->data, p->size);
		return;
	}
	len = ZSTD_getFrameContentSize(p->data, p->size);
	if (!strbuf_room(out, len <= UINT32_MAX ? (size_t)len : 0))
		return;
	if (len <= UINT32_MAX)
		r = decompress(out->data + out->len, (size_t)len, p);
	if (r < 0)
		out->error = r;
	else
		out->len += (size_t)len;
}

const void *unpacked(const struct packed *p, struct strbuf *room)
{
	if (p->plain)
		return p->data;
	unpack(room, p);
	return strbuf_error(room) < 0 ? NULL : room->data;
}
