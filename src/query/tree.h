/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a tree is made with. */
#ifndef ZMEM_QUERY_TREE_H
#define ZMEM_QUERY_TREE_H

#include "query/totals.h"

struct tree_node {
	size_t parent, child, next; /* indexes; child and next in the order shown */
	struct sum sum;
	bool shown;
	unsigned depth;
	const char *lead; /* what stands before the names of its children */
};

#endif
