/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Columns of integers and of texts as bytes: the layer below snapshot_codec. One function serves
 * both directions, so that a column is described once. Pure.
 *
 * A block is: its id (varint), its type (1 byte), its length (varint), its contents. Blocks come in
 * any order, each at most once; the one with id 0 is the last. A reader skips a block with an id
 * that it does not know. A column in which every value is as predicted has no block.
 *
 * A varint has 7 bits a byte, the lowest first; the high bit says that more follow.
 *
 * Integers: how many low bits all differences have as 0 (1 byte), then the differences without
 * those bits, zigzag, as varints. A 0 is followed by a varint: how many more zeros come. Zeros at
 * the end are left out. A difference is the value less its prediction, modulo 2^64: the value of
 * the reference's row if the row has one, else that of the row before, if the column says so, else
 * 0.
 *
 * Strings: the texts of the frame that its reference does not have, each with a NUL.
 *
 * Texts: the number of the first string that is new in the column (varint), then integers:
 *   0        as predicted: by the reference's row, else by the row before or by another column
 *   1        the next new string
 *   2 + n    string n
 *   -1       no text
 *   -2 - z   the text that this column has in a row of the reference; z is the zigzag distance
 *            from the row behind the one that was used last
 */
#ifndef ZMEM_MODEL_COLUMN_CODEC_H
#define ZMEM_MODEL_COLUMN_CODEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/strbuf.h"

#define CODEC_IDS    0x240 /* ids that a reader knows are below */
#define CODEC_END_ID 0
#define CODEC_NO_ROW UINT32_MAX

/* The types of blocks. */
enum codec_type {
	CODEC_END = 0,
	CODEC_INTS = 1,
	CODEC_TEXTS = 2,
	CODEC_STRINGS = 3,
};

struct codec_block {
	const unsigned char *at, *end; /* NULL: it is not there */
	uint8_t type;
};

/* Texts by their contents. */
struct text_map {
	struct text_node **bucket;
	size_t mask;
};

struct column_codec {
	struct strbuf *out; /* NULL: it reads */
	int error;	    /* the first one; everything after it does nothing */
	struct arena scratch;

	/* Writing. */
	struct strbuf payload, strings;
	uint64_t string_count, seed;
	struct text_map string_map;
	uint64_t *difference; /* of the column at work */

	/* Reading. */
	struct codec_block block[CODEC_IDS];
	struct arena *texts; /* where the texts go */
	const char **string;
};

/* The rows of a table, and which rows of the reference they continue. */
struct codec_rows {
	size_t count, reference_count;
	const uint32_t *match; /* of each row: the row of the reference, or CODEC_NO_ROW */
	bool chained;	       /* a row without one is predicted by the row before */
};

/* `rows`: the most that a table has. */
void column_codec_write(struct column_codec *c, struct strbuf *out, size_t rows, uint64_t seed);
/* Finds the blocks and reads the strings, which have `strings_id`; copies them to `texts`. */
void column_codec_read(struct column_codec *c, const unsigned char *data, size_t len,
		       unsigned strings_id, struct arena *texts);
/* Appends the strings and the end. */
void column_codec_end(struct column_codec *c, unsigned strings_id);
void column_codec_done(struct column_codec *c);

/* `count` zeroed items that last as long as the codec; NULL and c->error without memory. */
void *codec_alloc(struct column_codec *c, size_t count, size_t size);
/* The length of a block's contents, 0 without it. */
size_t codec_block_len(const struct column_codec *c, unsigned id);
/* Keeps the first error. */
void codec_fail(struct column_codec *c, int error);
/* What is wrong with a value: -EBADMSG while reading, -EINVAL while writing. */
void codec_bad(struct column_codec *c);

/* Writes the values, or fills them in. `reference`: the values of its rows. */
void codec_ints(struct column_codec *c, unsigned id, uint64_t *value, const uint64_t *reference,
		const struct codec_rows *rows);
/*
 * Likewise. `predicted`: the texts that predict those of rows without a row in the reference; NULL:
 * the row before does.
 */
void codec_texts(struct column_codec *c, unsigned id, const char **text,
		 const char *const *reference, const char *const *predicted,
		 const struct codec_rows *rows);

#endif
