/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Data that src/base/pack.py put into the program, compressed where few runs need it. */
#ifndef ZMEM_BASE_UNPACK_H
#define ZMEM_BASE_UNPACK_H

#include <stdbool.h>
#include <stddef.h>

#include "base/strbuf.h"

struct packed {
	const unsigned char *data; /* as they are, or a frame of zstd */
	size_t size;
	const struct packed *base; /* the frame refers to its contents, or NULL */
	bool plain;
};

/* Appends the contents. The error is -EINVAL for other data. */
void unpack(struct strbuf *out, const struct packed *p);

/* Returns the contents: those in the program, or unpacked into `room`. NULL after an error. */
const void *unpacked(const struct packed *p, struct strbuf *room);

#endif
