/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where the RAM went, at one look: a few parts that have no page in common and add up to all of it.
 * It is made of what a snapshot has measured anyway, or of a census (model/ram.h). Pure.
 */
#ifndef ZMEM_MODEL_OVERVIEW_H
#define ZMEM_MODEL_OVERVIEW_H

#include "model/ram.h"
#include "model/snapshot.h"

enum overview_part {
	OVERVIEW_PROCESSES, /* their PSS; if it is not known, anonymous memory */
	OVERVIEW_SHMEM,	    /* that no process maps; if that is not known, all of it */
	OVERVIEW_HUGE,
	OVERVIEW_KERNEL,
	OVERVIEW_COMPRESSED, /* zram and zswap */
	OVERVIEW_BALLOON,    /* of a census only: MemTotal is without it and the next */
	OVERVIEW_RESERVED,
	OVERVIEW_OTHER, /* drivers, unnamed pages of the kernel, and what changed meanwhile */
	OVERVIEW_CACHE, /* as OVERVIEW_SHMEM */
	OVERVIEW_FREE,
	OVERVIEW_PARTS,
};

/* "processes": as in the data of the page. */
const char *overview_part_name(enum overview_part part);

struct overview {
	bool known;	/* the parts are */
	bool counted;	/* from a census */
	bool split;	/* PSS of all processes is known: no part but the first is mapped */
	uint64_t total; /* bytes: MemTotal, or all page frames; 0: not known */
	uint64_t bytes[OVERVIEW_PARTS];
	/* The parts that are not 0, the largest first. */
	enum overview_part order[OVERVIEW_PARTS];
	size_t parts;
	/*
	 * All of it is used, can be freed (MemAvailable less what is free: cache and slab that are
	 * not needed), or free.
	 */
	bool available_known;
	uint64_t used, freeable, free;
};

/* `ram`: a census or counters; NULL: none. */
void overview_make(const struct snapshot *s, const struct ram *ram, struct overview *ret);

#endif
