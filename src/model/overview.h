/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where the RAM went, at one look: a few parts that have no page in common and add up to MemTotal.
 * It is made of what a snapshot has measured anyway, or of a census (model/ram.h). Pure.
 */
#ifndef ZMEM_MODEL_OVERVIEW_H
#define ZMEM_MODEL_OVERVIEW_H

#include "model/account.h"
#include "model/ram.h"
#include "model/snapshot.h"

enum overview_part {
	OVERVIEW_PROCESSES, /* their PSS; if it is not known, anonymous memory */
	/*
	 * Memory of processes that is in no PSS: they are hidden, or changed meanwhile. With a
	 * census all that they map; else only their anonymous memory.
	 */
	OVERVIEW_REST,
	OVERVIEW_SHMEM, /* in no PSS; if that is not known, all of it */
	OVERVIEW_HUGE,
	OVERVIEW_KERNEL,
	OVERVIEW_COMPRESSED, /* zram and zswap */
	OVERVIEW_OTHER,	     /* drivers, unnamed pages of the kernel, and what changed meanwhile */
	OVERVIEW_CACHE,	     /* as OVERVIEW_SHMEM */
	OVERVIEW_FREE,
	OVERVIEW_PARTS,
};

/* "processes": as in the data of the page. */
const char *overview_part_name(enum overview_part part);

struct overview {
	bool known;	/* the parts are */
	bool counted;	/* from a census */
	bool split;	/* PSS of all processes that we see is known: it is the first part */
	uint64_t total; /* bytes: MemTotal; 0: not known */
	uint64_t bytes[OVERVIEW_PARTS];
	/* The parts that are not 0, the largest first. */
	enum overview_part order[OVERVIEW_PARTS];
	size_t parts;
	bool sums_known;
	struct account_sums sums;
};

/* "page cache": of a part of it. */
const char *overview_part_title(const struct overview *o, enum overview_part part);

#define OVERVIEW_HOLDERS 3 /* of a part, which a screen names */

/*
 * The places in the snapshot of the processes with most of this counter, the largest first. Returns
 * how many: none of them has 0.
 */
size_t overview_holders(const struct snapshot *s, enum counter c, size_t ret[OVERVIEW_HOLDERS]);

/* `ram`: a census or counters; NULL: none. */
void overview_make(const struct snapshot *s, const struct ram *ram, struct overview *ret);

#endif
