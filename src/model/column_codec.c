// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Reads and writes blocks and columns of integers. The reader checks every length and every index,
 * and allocates no more than the size of the input justifies.
 */
#include "model/column_codec_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define VARINT_MAX 10

void codec_fail(struct column_codec *c, int error)
{
	if (!c->error)
		c->error = error;
}

void codec_bad(struct column_codec *c)
{
	codec_fail(c, c->out ? -EINVAL : -EBADMSG);
}

void *codec_alloc(struct column_codec *c, size_t count, size_t size)
{
	void *p = arena_zalloc(&c->scratch, count + 1, size);

	if (!p)
		codec_fail(c, -ENOMEM);
	return p;
}

size_t codec_block_len(const struct column_codec *c, unsigned id)
{
	return (size_t)(c->block[id].end - c->block[id].at);
}

void column_codec_done(struct column_codec *c)
{
	arena_done(&c->scratch);
	strbuf_done(&c->payload);
	strbuf_done(&c->strings);
}

/* ---- varints ---- */

static size_t put_varint(unsigned char *to, uint64_t v)
{
	size_t n = 0;

	for (; v >= 0x80; v >>= 7)
		to[n++] = (unsigned char)(v | 0x80);
	to[n++] = (unsigned char)v;
	return n;
}

static bool get_varint(const unsigned char **at, const unsigned char *end, uint64_t *ret)
{
	uint64_t v = 0;

	for (unsigned shift = 0; *at < end && shift < 64; shift += 7) {
		unsigned char byte = *(*at)++;

		/* The tenth byte holds one bit. */
		if (shift == 63 && byte > 1)
			return false;
		v |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80) {
			*ret = v;
			return true;
		}
	}
	return false;
}

/* ---- blocks ---- */

void column_codec_write(struct column_codec *c, struct strbuf *out, size_t rows, uint64_t seed)
{
	*c = (struct column_codec){.out = out, .seed = seed * 2 + 1};
	text_map_init(c, &c->string_map, rows * 2);
	c->difference = codec_alloc(c, rows, sizeof(*c->difference));
}

static void put_block(struct column_codec *c, unsigned id, enum codec_type type,
		      const struct strbuf *payload)
{
	unsigned char head[2 * VARINT_MAX + 1];
	size_t n = put_varint(head, id);

	head[n++] = (unsigned char)type;
	n += put_varint(head + n, payload->len);
	strbuf_put(c->out, head, n);
	strbuf_put(c->out, payload->data, payload->len);
	if (payload->error || c->out->error)
		codec_fail(c, payload->error ? payload->error : c->out->error);
}

void column_codec_end(struct column_codec *c, unsigned strings_id)
{
	static const struct strbuf nothing;

	if (!c->error && c->strings.len)
		put_block(c, strings_id, CODEC_STRINGS, &c->strings);
	if (!c->error)
		put_block(c, CODEC_END_ID, CODEC_END, &nothing);
}

static void read_strings(struct column_codec *c, struct codec_block *b)
{
	size_t len = (size_t)(b->end - b->at), n = 0;
	const char *copy, *end;

	if (!len)
		return;
	if (b->type != CODEC_STRINGS || b->end[-1]) {
		codec_bad(c);
		return;
	}
	copy = arena_alloc(c->texts, len);
	if (!copy) {
		codec_fail(c, -ENOMEM);
		return;
	}
	memcpy((char *)copy, b->at, len);
	end = copy + len;
	for (const char *s = copy; s < end; s += strlen(s) + 1)
		c->string_count++;
	c->string = codec_alloc(c, c->string_count, sizeof(*c->string));
	for (const char *s = copy; c->string && s < end; s += strlen(s) + 1)
		c->string[n++] = s;
}

void column_codec_read(struct column_codec *c, const unsigned char *data, size_t len,
		       unsigned strings_id, struct arena *texts)
{
	const unsigned char *at = data, *end = data + len;
	uint64_t id = UINT64_MAX, size;

	*c = (struct column_codec){.texts = texts};
	while (!c->error && at < end) {
		struct codec_block b;

		if (!get_varint(&at, end, &id) || at == end ||
		    (id < CODEC_IDS && c->block[id].at)) {
			codec_bad(c);
			return;
		}
		b.type = *at++;
		if (!get_varint(&at, end, &size) || size > (size_t)(end - at)) {
			codec_bad(c);
			return;
		}
		b.at = at;
		b.end = at += size;
		if (id < CODEC_IDS)
			c->block[id] = b;
	}
	if (id != CODEC_END_ID)
		codec_bad(c);
	if (!c->error)
		read_strings(c, &c->block[strings_id]);
}

/* ---- integers ---- */

void codec_put_ints(struct column_codec *c, unsigned id, const uint64_t *first, size_t count)
{
	const uint64_t *difference = c->difference;
	uint64_t all = 0, run = 0;
	unsigned char *at;
	unsigned shift;

	while (count && !difference[count - 1])
		count--;
	if (!count)
		return;
	for (size_t i = 0; i < count; i++)
		all |= difference[i];
	shift = (unsigned)__builtin_ctzll(all);
	strbuf_clear(&c->payload);
	if (!strbuf_room(&c->payload, 1 + VARINT_MAX + count * VARINT_MAX)) {
		codec_fail(c, c->payload.error);
		return;
	}
	at = (unsigned char *)c->payload.data;
	if (first)
		at += put_varint(at, *first);
	*at++ = (unsigned char)shift;
	for (size_t i = 0; i < count; i++) {
		if (!difference[i]) {
			if (!run++)
				*at++ = 0;
			continue;
		}
		if (run)
			at += put_varint(at, run - 1);
		run = 0;
		at += put_varint(at, zigzag((uint64_t)((int64_t)difference[i] >> shift)));
	}
	c->payload.len = (size_t)(at - (unsigned char *)c->payload.data);
	put_block(c, id, first ? CODEC_TEXTS : CODEC_INTS, &c->payload);
}

struct int_reader codec_read_ints(const struct column_codec *c, unsigned id, enum codec_type type,
				  uint64_t *ret_first)
{
	const struct codec_block *b = &c->block[id];
	struct int_reader r = {.at = b->at, .end = b->end};

	if (!b->at)
		return r;
	r.bad = b->type != type;
	if (ret_first && !get_varint(&r.at, r.end, ret_first))
		r.bad = true;
	if (r.at == r.end || *r.at > 63)
		r.bad = true;
	else
		r.shift = *r.at++;
	return r;
}

uint64_t codec_next_int(struct int_reader *r)
{
	uint64_t v;

	if (r->run) {
		r->run--;
		return 0;
	}
	if (r->bad || r->at == r->end)
		return 0;
	if (!get_varint(&r->at, r->end, &v) || (!v && !get_varint(&r->at, r->end, &r->run))) {
		r->bad = true;
		return 0;
	}
	return unzigzag(v) << r->shift;
}

void codec_end_ints(struct column_codec *c, const struct int_reader *r)
{
	if (r->bad || r->run || r->at != r->end)
		codec_bad(c);
}

static uint64_t predict(const uint64_t *value, const uint64_t *reference,
			const struct codec_rows *rows, size_t i)
{
	if (rows->match[i] != CODEC_NO_ROW)
		return reference[rows->match[i]];
	return rows->chained && i ? value[i - 1] : 0;
}

void codec_ints(struct column_codec *c, unsigned id, uint64_t *value, const uint64_t *reference,
		const struct codec_rows *rows)
{
	struct int_reader r;

	if (c->error)
		return;
	if (!c->out) {
		r = codec_read_ints(c, id, CODEC_INTS, NULL);
		for (size_t i = 0; i < rows->count; i++)
			value[i] = predict(value, reference, rows, i) + codec_next_int(&r);
		codec_end_ints(c, &r);
		return;
	}
	for (size_t i = 0; i < rows->count; i++)
		c->difference[i] = value[i] - predict(value, reference, rows, i);
	codec_put_ints(c, id, NULL, rows->count);
}
