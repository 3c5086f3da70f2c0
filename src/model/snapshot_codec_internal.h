/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the parts of the codec of snapshots share. */
#ifndef ZMEM_MODEL_SNAPSHOT_CODEC_INTERNAL_H
#define ZMEM_MODEL_SNAPSHOT_CODEC_INTERNAL_H

#include "model/column_codec.h"
#include "model/snapshot_format.h"

struct codec {
	struct column_codec columns;
	struct snapshot *s;
	const struct snapshot *reference; /* an empty one: the frame stands alone */
	/* A column of rows and of the reference's rows. */
	uint64_t *value, *reference_value;
	const char **text, **reference_text, **predicted;
	uint32_t *no_match, *identity;
	size_t room;
};

/* Rows that are structs. */
struct table {
	void *row;
	const void *reference;
	size_t stride;
	struct codec_rows rows;
};

static inline bool codec_writes(const struct codec *k)
{
	return k->columns.out;
}

static inline size_t larger(size_t a, size_t b)
{
	return a > b ? a : b;
}

/* Makes room for columns of so many rows. */
void codec_reserve(struct codec *k, size_t count);
/* A member of each row, written or read; of a text's, `predicted` as of codec_texts(). */
void code_int(struct codec *k, const struct table *t, const struct member *m);
void code_text(struct codec *k, const struct table *t, const struct member *m,
	       const char *const *predicted);
void code_members(struct codec *k, const struct table *t, const struct member *member,
		  size_t count);

/* Which processes there are; `match`: the row of the reference that each continues. */
void write_rows(struct codec *k, uint32_t *match);
/* Makes the rows. NULL: k->columns.error says why. */
uint32_t *read_rows(struct codec *k);
void code_processes(struct codec *k, const uint32_t *match);
/* Fills in what follows from the columns. */
void derive_processes(struct codec *k);

#endif
