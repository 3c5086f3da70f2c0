// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Encodes members of structs as columns, by the tables of snapshot_format.h. */
#include <string.h>

#include "model/snapshot_codec_internal.h"

void codec_reserve(struct codec *k, size_t count)
{
	struct column_codec *c = &k->columns;

	if (count <= k->room && k->value)
		return;
	k->value = codec_alloc(c, count, sizeof(*k->value));
	k->reference_value = codec_alloc(c, count, sizeof(*k->reference_value));
	k->text = codec_alloc(c, count, sizeof(*k->text));
	k->reference_text = codec_alloc(c, count, sizeof(*k->reference_text));
	k->predicted = codec_alloc(c, count, sizeof(*k->predicted));
	k->no_match = codec_alloc(c, count, sizeof(*k->no_match));
	k->identity = codec_alloc(c, count, sizeof(*k->identity));
	if (c->error)
		return;
	memset(k->no_match, 0xff, count * sizeof(*k->no_match));
	for (size_t i = 0; i < count; i++)
		k->identity[i] = (uint32_t)i;
	k->room = count;
}

static void *cell(const struct table *t, size_t i, const struct member *m)
{
	return (char *)t->row + i * t->stride + m->offset;
}

static const void *reference_cell(const struct table *t, size_t i, const struct member *m)
{
	return (const char *)t->reference + i * t->stride + m->offset;
}

static uint64_t get_int(const void *at, const struct member *m)
{
	uint64_t v = 0;

	memcpy(&v, at, m->size);
	if (m->is_signed && m->size == sizeof(int32_t))
		return (uint64_t)(int64_t)(int32_t)(uint32_t)v;
	return v;
}

static bool fits(uint64_t v, const struct member *m)
{
	if (m->limit)
		return v < m->limit;
	if (m->size == sizeof(uint64_t))
		return true;
	if (m->is_signed)
		return (int64_t)v == (int32_t)v;
	return v >> (8 * m->size) == 0;
}

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
	       "members are copied from their lowest byte");

void code_int(struct codec *k, const struct table *t, const struct member *m)
{
	for (size_t i = 0; codec_writes(k) && i < t->rows.count; i++) {
		k->value[i] = get_int(cell(t, i, m), m);
		if (!fits(k->value[i], m))
			codec_bad(&k->columns);
	}
	for (size_t i = 0; i < t->rows.reference_count; i++)
		k->reference_value[i] = get_int(reference_cell(t, i, m), m);
	codec_ints(&k->columns, m->id, k->value, k->reference_value, &t->rows);
	if (codec_writes(k) || k->columns.error)
		return;
	for (size_t i = 0; i < t->rows.count; i++) {
		if (!fits(k->value[i], m)) {
			codec_bad(&k->columns);
			return;
		}
		memcpy(cell(t, i, m), &k->value[i], m->size);
	}
}

static const char *get_text(const void *at, const struct member *m)
{
	const char *chars = at;

	if (m->kind == MEMBER_TEXT)
		return *(const char *const *)at;
	return *chars ? chars : NULL;
}

static bool set_text(void *at, const struct member *m, const char *text)
{
	size_t len = text ? strlen(text) : 0;

	if (m->kind == MEMBER_TEXT) {
		*(const char **)at = text;
		return true;
	}
	if (len > m->size)
		return false;
	if (text)
		memcpy(at, text, len + 1);
	return true;
}

void code_text(struct codec *k, const struct table *t, const struct member *m,
	       const char *const *predicted)
{
	for (size_t i = 0; codec_writes(k) && i < t->rows.count; i++) {
		k->text[i] = get_text(cell(t, i, m), m);
		/* A process without a name gets its comm as the name. */
		if (predicted && !k->text[i])
			k->text[i] = predicted[i];
	}
	for (size_t i = 0; i < t->rows.reference_count; i++)
		k->reference_text[i] = get_text(reference_cell(t, i, m), m);
	codec_texts(&k->columns, m->id, k->text, k->reference_text, predicted, &t->rows);
	if (codec_writes(k) || k->columns.error)
		return;
	for (size_t i = 0; i < t->rows.count; i++) {
		if (!set_text(cell(t, i, m), m, k->text[i])) {
			codec_bad(&k->columns);
			return;
		}
	}
}

void code_members(struct codec *k, const struct table *t, const struct member *member, size_t count)
{
	for (size_t i = 0; !k->columns.error && i < count; i++) {
		if (member[i].kind == MEMBER_INT)
			code_int(k, t, &member[i]);
		else
			code_text(k, t, &member[i], NULL);
	}
}
