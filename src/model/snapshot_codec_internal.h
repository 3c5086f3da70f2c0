/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Declarations that the parts of the snapshot codec share. */
#ifndef ZMEM_MODEL_SNAPSHOT_CODEC_INTERNAL_H
#define ZMEM_MODEL_SNAPSHOT_CODEC_INTERNAL_H

#include "model/column_codec.h"
#include "model/snapshot_format.h"

struct codec {
	struct column_codec columns;
	struct snapshot *s;
	const struct snapshot *reference; /* empty if the frame stands alone */
	/* One column: values of the rows and of the rows of the reference. */
	uint64_t *value, *reference_value;
	const char **text, **reference_text, **predicted;
	uint32_t *no_match, *identity;
	size_t room;
};

/* A table with structs as rows. */
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

/* Makes room for columns of `count` rows. */
void codec_reserve(struct codec *k, size_t count);
/* Write or read a member of each row; `predicted`: see codec_texts(). */
void code_int(struct codec *k, const struct table *t, const struct member *m);
void code_text(struct codec *k, const struct table *t, const struct member *m,
	       const char *const *predicted);
void code_members(struct codec *k, const struct table *t, const struct member *member,
		  size_t count);

/* Writes the rows, and sets `match`: the row of the reference that each continues. */
void write_rows(struct codec *k, uint32_t *match);
/* Reads the rows and returns `match`. NULL: see k->columns.error. */
uint32_t *read_rows(struct codec *k);
void code_processes(struct codec *k, const uint32_t *match);
/* Derives values that are not stored. */
void derive_processes(struct codec *k);

#endif
