/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The configuration of the HTTP process. */
#ifndef ZMEM_SERVE_SERVE_H
#define ZMEM_SERVE_SERVE_H

#include "serve/listen.h"
#include "serve/token.h"
#include "model/column.h"

#define GROUPS_USUAL 100

struct serve_config {
	struct listeners listeners;
	struct token token;
	const struct column *group; /* groups of the metrics and the page; NULL: unit, then name */
	size_t groups;		    /* how many have series of their own */
	uint32_t age_ms;	    /* the maximum age of a snapshot */
	bool cmdlines;
	bool numeric;
	bool quiet;
};

#endif
