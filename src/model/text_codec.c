// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Encodes columns of texts: each text once in a frame, and none that the reference has. */
#include <errno.h>
#include <string.h>

#include "model/column_codec_internal.h"

/* ---- hash table of texts ---- */

struct text_node {
	struct text_node *next;
	const char *text;
	uint64_t hash;
	uint64_t number;
};

/* Seeded, because other users choose the texts and may want all of them in one bucket. */
static uint64_t hash_text(uint64_t seed, const char *text)
{
	uint64_t h = seed;

	for (; *text; text++) {
		h = (h ^ (unsigned char)*text) * UINT64_C(0x9e3779b97f4a7c15);
		h ^= h >> 29;
	}
	return h;
}

void text_map_init(struct column_codec *c, struct text_map *map, size_t texts)
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
	uint32_t row = t->rows->match[i];

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
			h = hash_text(c->seed, s);
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
	hash = hash_text(c->seed, text);
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
		codec_put_ints(c, id, &first, t->rows->count);
}

/* Copies a text of the reference. Adjacent rows often have the same text. */
static const char *copy_text(struct column_codec *c, const char *text, const char **last,
			     const char **last_copy)
{
	if (!text || text == *last)
		return text ? *last_copy : NULL;
	*last = text;
	*last_copy = arena_strndup(c->texts, text, strlen(text));
	if (!*last_copy)
		codec_fail(c, -ENOMEM);
	return *last_copy;
}

static void read_texts(struct column_codec *c, unsigned id, struct text_column *t)
{
	const char *last = NULL, *last_copy = NULL;
	uint64_t next = 0;
	struct int_reader r = codec_read_ints(c, id, CODEC_TEXTS, &next);

	for (size_t i = 0; !c->error && i < t->rows->count; i++) {
		int64_t code = (int64_t)codec_next_int(&r);
		const char *predicted = predict_text(t, i);
		bool own = t->rows->match[i] == CODEC_NO_ROW && !t->predicted;
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
	codec_end_ints(c, &r);
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
