// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Encodes and decodes a snapshot column by column. One function serves both directions, so that
 * they cannot differ. snapshot_format.h lists the columns.
 */
#include "model/snapshot_codec.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "model/snapshot_codec_internal.h"

#define HEADER_SIZE 8

/* The reference of a frame that needs none. */
static const struct snapshot empty_reference;

/* ---- the machine ---- */

static void code_table(struct codec *k, struct table *t, const struct member *member, size_t count,
		       uint32_t *match)
{
	size_t both =
		t->rows.count < t->rows.reference_count ? t->rows.count : t->rows.reference_count;

	codec_reserve(k, larger(t->rows.count, t->rows.reference_count));
	if (k->columns.error)
		return;
	memcpy(match, k->identity, both * sizeof(*match));
	memcpy(match + both, k->no_match, (t->rows.count - both) * sizeof(*match));
	t->rows.match = match;
	code_members(k, t, member, count);
}

static void code_machine(struct codec *k)
{
	uint32_t match[1];
	struct table t = {
		.row = k->s,
		.reference = k->reference,
		.rows = {.count = 1, .reference_count = k->reference != &empty_reference},
	};

	code_table(k, &t, machine_members, ARRAY_SIZE(machine_members), match);
}

static uint64_t meminfo_values(const struct meminfo *m, uint64_t *value)
{
	uint64_t have = 0;

	memset(value, 0, MEMINFO_NUMBERS * sizeof(*value));
	for (int f = 0; f < MEMINFO_COUNTERS; f++) {
		if (!meminfo_has(m, f))
			continue;
		have |= UINT64_C(1) << meminfo_number[f];
		value[meminfo_number[f]] = m->value[f];
	}
	return have;
}

static void code_meminfo(struct codec *k)
{
	struct meminfo *m = &k->s->system.meminfo;
	uint64_t have = meminfo_values(m, k->value);
	uint64_t before = meminfo_values(&k->reference->system.meminfo, k->reference_value);
	struct codec_rows rows = {MEMINFO_NUMBERS, MEMINFO_NUMBERS, k->identity, false};

	codec_ints(&k->columns, ID_MEMINFO, k->value, k->reference_value, &rows);
	rows.count = rows.reference_count = 1;
	codec_ints(&k->columns, ID_MEMINFO_HAVE, &have, &before, &rows);
	for (int f = 0; !codec_writes(k) && f < MEMINFO_COUNTERS; f++) {
		if (!(have >> meminfo_number[f] & 1))
			continue;
		m->have |= UINT32_C(1) << f;
		m->value[f] = k->value[meminfo_number[f]];
	}
}

static void code_devices(struct codec *k)
{
	const struct system_info *before = &k->reference->system;
	struct system_info *system = &k->s->system;
	uint32_t match[SWAP_MAX > ZRAM_MAX ? SWAP_MAX : ZRAM_MAX];
	struct table swap = {
		.row = system->swap,
		.reference = before->swap,
		.stride = sizeof(struct swap_device),
		.rows = {.count = system->swap_count, .reference_count = before->swap_count},
	};
	struct table zram = {
		.row = system->zram,
		.reference = before->zram,
		.stride = sizeof(struct zram_device),
		.rows = {.count = system->zram_count, .reference_count = before->zram_count},
	};

	if (!k->columns.error)
		code_table(k, &swap, swap_members, ARRAY_SIZE(swap_members), match);
	if (!k->columns.error)
		code_table(k, &zram, zram_members, ARRAY_SIZE(zram_members), match);
}

/* Codes the paths first, then the values, relative to those of the same path. */
static void code_memcgs(struct codec *k)
{
	struct snapshot *s = k->s;
	const struct snapshot *reference = k->reference;
	struct column_codec *c = &k->columns;
	uint32_t *match;
	struct table t = {
		.reference = reference->memcg,
		.stride = sizeof(struct memcg),
		.rows = {.count = s->memcg_count, .reference_count = reference->memcg_count},
	};

	/* Each memcg has a path of its own. */
	if (!codec_writes(k) && s->memcg_count > c->string_count + reference->memcg_count)
		codec_bad(c);
	if (c->error)
		return;
	if (!codec_writes(k))
		s->memcg = arena_zalloc(&s->arena, s->memcg_count + 1, sizeof(*s->memcg));
	if (!s->memcg && s->memcg_count)
		codec_fail(c, -ENOMEM);
	match = codec_alloc(c, s->memcg_count, sizeof(*match));
	t.row = s->memcg;
	if (!c->error)
		code_table(k, &t, &memcg_path, 1, match);
	for (size_t i = 0; !c->error && i < s->memcg_count; i++) {
		const struct memcg *m = &s->memcg[i], *same;

		if (!m->path || (i && strcmp(m[-1].path, m->path) >= 0)) {
			codec_bad(c);
			return;
		}
		same = snapshot_find_memcg(reference, m->path);
		match[i] = same ? (uint32_t)(same - reference->memcg) : CODEC_NO_ROW;
	}
	code_members(k, &t, memcg_members, ARRAY_SIZE(memcg_members));
}

/* ---- snapshots ---- */

/* Codes everything but the rows. `match`: the row of the reference that each row continues. */
static void code_snapshot(struct codec *k, const uint32_t *match)
{
	if (k->columns.error)
		return;
	code_machine(k);
	code_meminfo(k);
	code_devices(k);
	code_memcgs(k);
	if (!k->columns.error)
		code_processes(k, match);
}

int snapshot_encode(const struct snapshot *s, const struct snapshot *reference, struct strbuf *out)
{
	/* Encoding does not modify the snapshot. */
	struct codec k = {.s = (struct snapshot *)s,
			  .reference = reference ? reference : &empty_reference};
	const char head[HEADER_SIZE] = {
		'Z', 'S', 'N', 'P', SNAPSHOT_CODEC_MAJOR, SNAPSHOT_CODEC_MINOR, reference != NULL};
	size_t before = out->len, rows = larger(s->count, k.reference->count);
	uint32_t *match;
	int r;

	rows = larger(larger(rows, MEMINFO_NUMBERS), s->memcg_count);
	column_codec_write(&k.columns, out, rows, (uintptr_t)&k ^ (uint64_t)s->time_ms << 16);
	codec_reserve(&k, rows);
	match = codec_alloc(&k.columns, s->count, sizeof(*match));
	strbuf_put(out, head, sizeof(head));
	if (!k.columns.error)
		write_rows(&k, match);
	code_snapshot(&k, match);
	column_codec_end(&k.columns, ID_STRINGS);
	r = k.columns.error ? k.columns.error : strbuf_error(out);
	column_codec_done(&k.columns);
	if (r < 0)
		out->len = before;
	return r;
}

static int check_header(const unsigned char *at, size_t len, bool has_reference)
{
	if (len < HEADER_SIZE || memcmp(at, SNAPSHOT_CODEC_MAGIC, 4) != 0)
		return -EBADMSG;
	if (at[4] != SNAPSHOT_CODEC_MAJOR)
		return -ENOTSUP;
	return at[6] > has_reference || at[7] ? -EBADMSG : 0;
}

/* Resets everything but the memory. */
static void reset_snapshot(struct snapshot *s)
{
	snapshot_clear(s);
	*s = (struct snapshot){.process = s->process,
			       .capacity = s->capacity,
			       .idle = s->idle,
			       .arena = s->arena,
			       .scratch = s->scratch};
}

int snapshot_decode(const void *data, size_t len, const struct snapshot *reference,
		    struct snapshot *s)
{
	struct codec k = {.s = s, .reference = &empty_reference};
	const unsigned char *at = data;
	int r = check_header(at, len, reference != NULL);
	uint32_t *match;

	reset_snapshot(s);
	if (r < 0)
		return r;
	if (at[6])
		k.reference = reference;
	column_codec_read(&k.columns, at + HEADER_SIZE, len - HEADER_SIZE, ID_STRINGS, &s->arena);
	codec_reserve(&k, larger(k.reference->count, MEMINFO_NUMBERS));
	match = k.columns.error ? NULL : read_rows(&k);
	code_snapshot(&k, match);
	if (!k.columns.error)
		derive_processes(&k);
	r = k.columns.error;
	column_codec_done(&k.columns);
	if (r < 0)
		reset_snapshot(s);
	return r;
}
