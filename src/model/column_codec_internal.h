/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Functions for columns of integers that columns of texts use, too. */
#ifndef ZMEM_MODEL_COLUMN_CODEC_INTERNAL_H
#define ZMEM_MODEL_COLUMN_CODEC_INTERNAL_H

#include "model/column_codec.h"

static inline uint64_t zigzag(uint64_t v)
{
	return v << 1 ^ (v >> 63 ? UINT64_MAX : 0);
}

static inline uint64_t unzigzag(uint64_t v)
{
	return v >> 1 ^ (v & 1 ? UINT64_MAX : 0);
}

/* Sizes the map for `texts` texts. */
void text_map_init(struct column_codec *c, struct text_map *map, size_t texts);

/* Writes c->difference; `first` is only for texts. */
void codec_put_ints(struct column_codec *c, unsigned id, const uint64_t *first, size_t count);

struct int_reader {
	const unsigned char *at, *end;
	uint64_t run; /* zeros still to come */
	unsigned shift;
	bool bad;
};

struct int_reader codec_read_ints(const struct column_codec *c, unsigned id, enum codec_type type,
				  uint64_t *ret_first);
uint64_t codec_next_int(struct int_reader *r);
/* Checks that nothing is left. */
void codec_end_ints(struct column_codec *c, const struct int_reader *r);

#endif
