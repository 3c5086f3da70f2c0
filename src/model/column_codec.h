/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Encodes columns of integers and texts as bytes: the layer below snapshot_codec. One function
 * serves both directions, so that a column is described once. No I/O.
 *
 * A block is: its id (varint), its type (1 byte), its length (varint), its contents. Blocks come in
 * any order, each at most once; the block with id 0 is the last. A reader skips blocks with an
 * unknown id. A column has no block if every value equals its prediction.
 *
 * A varint has 7 bits a byte, the lowest first; the high bit is set if another byte follows.
 *
 * Integers: the number of low bits that are 0 in all differences (1 byte), then the differences
 * without those bits, zigzag, as varints. A 0 is followed by a varint: the number of further zeros.
 * Zeros at the end are left out. A difference is the value less its prediction, modulo 2^64. The
 * prediction is the value of the matching row of the reference; else, if the column is chained,
 * that of the row before; else 0.
 *
 * Strings: the texts of the frame that are not in the reference, each with a NUL.
 *
 * Texts: the number of the first string that is new in the column (varint), then integers:
 *   0        as predicted: by the matching row of the reference, else by the row before or by
 *            another column
 *   1        the next new string
 *   2 + n    string n
 *   -1       no text
 *   -2 - z   the text of this column in a row of the reference; z is the zigzag distance of
 *            that row from the row behind the last one used
 */
#ifndef ZMEM_MODEL_COLUMN_CODEC_H
#define ZMEM_MODEL_COLUMN_CODEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/strbuf.h"

#define CODEC_IDS    0x240 /* all known ids are below */
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
	const unsigned char *at, *end; /* NULL: there is no such block */
	uint8_t type;
};

/* A hash table of texts. */
struct text_map {
	struct text_node **bucket;
	size_t mask;
};

/* The memory that decoding takes, bytes. */
struct codec_memory {
	size_t most; /* more is refused as an invalid value */
	size_t used; /* may begin with what the caller has taken */
};

struct column_codec {
	struct strbuf *out; /* NULL: reading */
	int error;	    /* the first error; later calls do nothing */
	struct arena scratch;

	/* Writing. */
	struct strbuf payload, strings;
	uint64_t string_count, seed;
	struct text_map string_map;
	uint64_t *difference; /* of the current column */

	/* Reading. */
	struct codec_block block[CODEC_IDS];
	struct arena *texts; /* owns the texts */
	const char **string;
	struct codec_memory *memory; /* NULL: without a limit */
};

/* The rows of a table, and the rows of the reference that they continue. */
struct codec_rows {
	size_t count, reference_count;
	/* For each row: the row of the reference, or CODEC_NO_ROW. NULL: that with its number. */
	const uint32_t *match;
	bool chained; /* a row without a match is predicted by the row before */
};

/* `rows`: the maximum number of rows of a table. */
void column_codec_write(struct column_codec *c, struct strbuf *out, size_t rows, uint64_t seed);
/* Finds the blocks and copies the strings, which have `strings_id`, to `texts`. */
void column_codec_read(struct column_codec *c, const unsigned char *data, size_t len,
		       unsigned strings_id, struct arena *texts, struct codec_memory *memory);
/* Appends the strings and the end block. */
void column_codec_end(struct column_codec *c, unsigned strings_id);
void column_codec_done(struct column_codec *c);

/*
 * Counts memory that is about to be allocated. False and c->error if a reader may not take so much.
 */
bool codec_count_memory(struct column_codec *c, size_t count, size_t size);
/* `count` zeroed items that live as long as the codec; they count. Else NULL and c->error. */
void *codec_alloc(struct column_codec *c, size_t count, size_t size);
/* The length of a block's contents, 0 if there is no such block. */
size_t codec_block_len(const struct column_codec *c, unsigned id);
/* Sets the error, unless there is one already. */
void codec_fail(struct column_codec *c, int error);
/* Reports an invalid value: -EBADMSG while reading, -EINVAL while writing. */
void codec_bad(struct column_codec *c);

/* Writes the values, or fills them in. `reference`: the values of the rows of the reference. */
void codec_ints(struct column_codec *c, unsigned id, uint64_t *value, const uint64_t *reference,
		const struct codec_rows *rows);
/*
 * The same for texts. `predicted`: predictions for rows without a match; NULL: the row before
 * predicts.
 */
void codec_texts(struct column_codec *c, unsigned id, const char **text,
		 const char *const *reference, const char *const *predicted,
		 const struct codec_rows *rows);

#endif
