/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Decompresses data that the Makefile packed into the program with gzip, because few runs need it.
 */
#ifndef ZMEM_BASE_UNPACK_H
#define ZMEM_BASE_UNPACK_H

#include <stddef.h>

#include "base/strbuf.h"

struct packed {
	const unsigned char *data;
	size_t size;
};

/* The packed data in an array. */
#define PACKED(array)                                                                              \
	(struct packed)                                                                            \
	{                                                                                          \
		(array), sizeof(array)                                                             \
	}

/* Appends the contents of a gzip file without a name. The error is -EINVAL for other data. */
void unpack(struct strbuf *out, struct packed packed);

#endif
