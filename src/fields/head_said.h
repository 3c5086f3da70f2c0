/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What is said of the machine above a table. */
#ifndef ZMEM_FIELDS_HEAD_SAID_H
#define ZMEM_FIELDS_HEAD_SAID_H

#include "fields/sentence.h"
#include "model/memcg.h"
#include "model/overview.h"

struct table_style;

/* What goes in and out of swap, bytes per second. */
struct swap_rates {
	uint64_t in, out;
};

/* A cgroup with a limit of its own. */
struct head_limit {
	const struct memcg *memcg;
	struct memcg_limit limit;
};

struct head {
	const struct snapshot *snapshot;
	const struct ram *ram; /* NULL: none */
	const struct table_style *style;
	const struct swap_rates *rates; /* to be set by the caller; NULL: not known */
	const uint64_t *kills_today;	/* likewise: OOM kills in a recording */
	struct overview overview;
};

/* Rows are struct head. The first sentence of RAM and of swap has the whole, the second its parts.
 */
extern const struct sentences head_ram, head_pressure, head_swap;

/* What the page says: a text for each of page_keys, its keys in JSON. */
extern const struct sentences page_said;
extern const char *const page_keys[];

struct head_holder {
	const char *name; /* any bytes */
	uint64_t bytes;
};

/* What holds most of a part. */
struct head_holders {
	const struct head_holder *item;
	size_t count;
	bool cgroups;
};
extern const struct sentences head_holders_said;

/* A part of RAM. */
struct head_part {
	const char *key, *title;
	uint64_t bytes;
	struct head_holder holder[OVERVIEW_HOLDERS]; /* the largest first */
	size_t holders;
	bool holders_known;
};

#define HEAD_LIMITS 20

/* What is looked for in a head, for JSON. */
struct head_all {
	const struct head *head;
	struct head_part part[OVERVIEW_PARTS]; /* the largest first */
	size_t parts;
	struct head_limit limit[HEAD_LIMITS]; /* the fullest first */
	size_t limits;
};
/* Rows are struct head_all. */
extern const struct fields head_fields;

#endif
