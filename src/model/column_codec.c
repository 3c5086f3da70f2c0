// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Reads and writes blocks, columns of integers and columns of texts. The reader checks every length
 * and every index, and allocates no more than its caller allows.
 */
#include "model/column_codec.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

#define VARINT_MAX 10
#define TEXT_COST  8 /* bytes of a text in the arena beside its characters */

void codec_fail(struct column_codec *c, int error)
{
	if (!c->error)
		c->error = error;
}

void codec_bad(struct column_codec *c)
{
	codec_fail(c, c->out ? -EINVAL : -EBADMSG);
}

bool codec_count_memory(struct column_codec *c, size_t count, size_t size)
{
	struct codec_memory *memory = c->memory;
	size_t bytes;

	if (!memory)
		return true;
	if (__builtin_mul_overflow(count, size, &bytes) || bytes > memory->most - memory->used) {
		codec_bad(c);
		return false;
	}
	memory->used += bytes;
	return true;
}

void *codec_alloc(struct column_codec *c, size_t count, size_t size)
{
	void *p;

	if (!codec_count_memory(c, count + 1, size))
		return NULL;
	p = arena_zalloc(&c->scratch, count + 1, size);
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

static uint64_t zigzag(uint64_t v)
{
	return v << 1 ^ (v >> 63 ? UINT64_MAX : 0);
}

static uint64_t unzigzag(uint64_t v)
{
	return v >> 1 ^ (v & 1 ? UINT64_MAX : 0);
}

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

/* ---- hash table of texts ---- */

struct text_node {
	struct text_node *next;
	const char *text;
	uint64_t hash;
	uint64_t number;
};

/* Seeded, because other users choose the texts and may want all of them in one bucket. */
static uint64_t hash_seeded(uint64_t seed, const char *text)
{
	for (; *text; text++)
		seed = hash_number(seed, (unsigned char)*text);
	return seed;
}

/* Sizes the map for `texts` texts. */
static void text_map_init(struct column_codec *c, struct text_map *map, size_t texts)
{
	size_t buckets = 64;

	while (buckets < texts)
		buckets *= 2;
	map->mask = buckets - 1;
	map->bucket = codec_alloc(c, buckets, sizeof(*map->bucket));
}

static struct text_node *map_find(const struct text_map *map, uint64_t hash, const char *text)
{
	for (struct text_node *n = map->bucket[hash & map->mask]; n; n = n->next) {
		if (n->hash == hash && strcmp(n->text, text) == 0)
			return n;
	}
	return NULL;
}

static void map_add(struct column_codec *c, struct text_map *map, uint64_t hash, const char *text,
		    uint64_t number)
{
	struct text_node *n = codec_alloc(c, 1, sizeof(*n));

	if (!n)
		return;
	*n = (struct text_node){map->bucket[hash & map->mask], text, hash, number};
	map->bucket[hash & map->mask] = n;
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
	if (!codec_count_memory(c, len, 1))
		return;
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
		       unsigned strings_id, struct arena *texts, struct codec_memory *memory)
{
	const unsigned char *at = data, *end = data + len;
	uint64_t id = UINT64_MAX, size;

	*c = (struct column_codec){.texts = texts, .memory = memory};
	while (at < end) {
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
	if (id == CODEC_END_ID)
		read_strings(c, &c->block[strings_id]);
	else
		codec_bad(c);
}

/* ---- integers ---- */

struct int_reader {
	const unsigned char *at, *end;
	uint64_t run; /* zeros still to come */
	unsigned shift;
	bool bad;
};

/* Writes c->difference; `first` is only for texts. */
static void put_ints(struct column_codec *c, unsigned id, const uint64_t *first, size_t count)
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

static struct int_reader read_ints(const struct column_codec *c, unsigned id, enum codec_type type,
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

static uint64_t next_int(struct int_reader *r)
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

/* Checks that nothing is left. */
static void end_ints(struct column_codec *c, const struct int_reader *r)
{
	if (r->bad || r->run || r->at != r->end)
		codec_bad(c);
}

/* The row of the reference that a row continues, or CODEC_NO_ROW. */
static uint32_t match_of(const struct codec_rows *rows, size_t i)
{
	if (rows->match)
		return rows->match[i];
	return i < rows->reference_count ? (uint32_t)i : CODEC_NO_ROW;
}

static uint64_t predict(const uint64_t *value, const uint64_t *reference,
			const struct codec_rows *rows, size_t i)
{
	uint32_t match = match_of(rows, i);

	if (match != CODEC_NO_ROW)
		return reference[match];
	return rows->chained && i ? value[i - 1] : 0;
}

void codec_ints(struct column_codec *c, unsigned id, uint64_t *value, const uint64_t *reference,
		const struct codec_rows *rows)
{
	struct int_reader r;

	if (c->error)
		return;
	if (!c->out) {
		r = read_ints(c, id, CODEC_INTS, NULL);
		for (size_t i = 0; i < rows->count; i++)
			value[i] = predict(value, reference, rows, i) + next_int(&r);
		end_ints(c, &r);
		return;
	}
	for (size_t i = 0; i < rows->count; i++)
		c->difference[i] = value[i] - predict(value, reference, rows, i);
	put_ints(c, id, NULL, rows->count);
}

/* ---- texts ---- */

/* The current column, for both directions. */
struct text_column {
	const char **text;
	const char *const *reference, *const *predicted;
	const struct codec_rows *rows;
	uint64_t next_row;   /* of the reference: behind the last row used */
	struct text_map map; /* writing: texts of the reference, filled on first use */
};

static const char *predict_text(struct text_column *t, size_t i)
{
	uint32_t row = match_of(t->rows, i);

	if (row != CODEC_NO_ROW) {
		t->next_row = (uint64_t)row + 1;
		return t->reference[row];
	}
	if (t->predicted)
		return t->predicted[i];
	return i ? t->text[i - 1] : NULL;
}

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

static bool find_in_reference(struct column_codec *c, struct text_column *t, uint64_t hash,
			      const char *text, uint64_t *ret_row)
{
	size_t count = t->rows->reference_count;
	const struct text_node *n;

	if (!count)
		return false;
	if (!t->map.bucket) {
		text_map_init(c, &t->map, count);
		for (size_t i = 0; !c->error && i < count; i++) {
			const char *s = t->reference[i];
			uint64_t h;

			if (!s || (i && same_text(s, t->reference[i - 1])))
				continue;
			h = hash_seeded(c->seed, s);
			if (!map_find(&t->map, h, s))
				map_add(c, &t->map, h, s, i);
		}
	}
	n = c->error ? NULL : map_find(&t->map, hash, text);
	if (n)
		*ret_row = n->number;
	return n;
}

static uint64_t text_code(struct column_codec *c, struct text_column *t, size_t i)
{
	const char *text = t->text[i];
	const struct text_node *known;
	uint64_t hash, row, code;

	if (same_text(text, predict_text(t, i)))
		return 0;
	if (!text)
		return (uint64_t)-1;
	hash = hash_seeded(c->seed, text);
	if (find_in_reference(c, t, hash, text, &row)) {
		code = -2 - zigzag(row - t->next_row);
		t->next_row = row + 1;
		return code;
	}
	known = map_find(&c->string_map, hash, text);
	if (known)
		return known->number + 2;
	map_add(c, &c->string_map, hash, text, c->string_count++);
	strbuf_put(&c->strings, text, strlen(text) + 1);
	return 1;
}

static void write_texts(struct column_codec *c, unsigned id, struct text_column *t)
{
	uint64_t first = c->string_count;

	for (size_t i = 0; !c->error && i < t->rows->count; i++)
		c->difference[i] = text_code(c, t, i);
	if (!c->error)
		put_ints(c, id, &first, t->rows->count);
}

/* Copies a text of the reference. Adjacent rows often have the same text. */
static const char *copy_text(struct column_codec *c, const char *text, const char **last,
			     const char **last_copy)
{
	size_t len;

	if (!text || text == *last)
		return text ? *last_copy : NULL;
	len = strlen(text);
	if (!codec_count_memory(c, len + TEXT_COST, 1))
		return NULL;
	*last = text;
	*last_copy = arena_strndup(c->texts, text, len);
	if (!*last_copy)
		codec_fail(c, -ENOMEM);
	return *last_copy;
}

static void read_texts(struct column_codec *c, unsigned id, struct text_column *t)
{
	const char *last = NULL, *last_copy = NULL;
	uint64_t next = 0;
	struct int_reader r = read_ints(c, id, CODEC_TEXTS, &next);

	for (size_t i = 0; !c->error && i < t->rows->count; i++) {
		int64_t code = (int64_t)next_int(&r);
		const char *predicted = predict_text(t, i);
		bool own = match_of(t->rows, i) == CODEC_NO_ROW && !t->predicted;
		uint64_t row;

		if (code == 0 && own) {
			t->text[i] = predicted;
		} else if (code == 0) {
			t->text[i] = copy_text(c, predicted, &last, &last_copy);
		} else if (code > 0) {
			uint64_t n = code == 1 ? next++ : (uint64_t)code - 2;

			if (n < c->string_count)
				t->text[i] = c->string[n];
			else
				codec_bad(c);
		} else if (code < -1) {
			row = t->next_row + unzigzag((uint64_t)(-2 - code));
			if (row < t->rows->reference_count && t->reference[row])
				t->text[i] = copy_text(c, t->reference[row], &last, &last_copy);
			else
				codec_bad(c);
			t->next_row = row + 1;
		} else {
			t->text[i] = NULL;
		}
	}
	end_ints(c, &r);
}

void codec_texts(struct column_codec *c, unsigned id, const char **text,
		 const char *const *reference, const char *const *predicted,
		 const struct codec_rows *rows)
{
	struct text_column t = {
		.text = text, .reference = reference, .predicted = predicted, .rows = rows};

	if (c->error)
		return;
	if (c->out)
		write_texts(c, id, &t);
	else
		read_texts(c, id, &t);
}
