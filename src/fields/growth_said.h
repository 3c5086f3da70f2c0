/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What is said below the table of growth. */
#ifndef ZMEM_FIELDS_GROWTH_SAID_H
#define ZMEM_FIELDS_GROWTH_SAID_H

#include "fields/sentence.h"
#include "model/growth.h"

/* What all rows of the table have; the rows of sentences are of it. */
struct growth_all {
	uint64_t held_most; /* blocks of the allocator, bytes */
	uint64_t copied;
};

/* Rows are struct growth, of a struct growth_all. The first one has whole kB (SIZES_KB). */
extern const struct sentences growth_accounted_said, growth_heap_said, growth_hints_said;

/* Blocks that HELD lacks for one reason. */
struct growth_lack {
	const struct growth_not_probed *first;
	size_t more;
};
extern const struct sentences growth_lack_said;

#endif
