/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The heaviest of any number of keys in a table of fixed size: Space-Saving (Metwally, Agrawal, El
 * Abbadi 2005) with weights that fade. A key that has no slot takes the one with the least weight,
 * and inherits that weight as its possible error.
 *
 * With n slots and a sum W of all (faded) weights, for the true weight of every key:
 *
 *	weight - error <= true <= weight	if it has a slot
 *	true <= heavy_error() <= W / n		if it has none
 *
 * so that whoever is heavier than W / n has a slot. What has faded to less than 1 counts as 0.
 */
#ifndef ZMEM_HEAVY_H
#define ZMEM_HEAVY_H

#include <stddef.h>
#include <stdint.h>

struct heavy_slot {
	uint64_t key;
	double weight; /* at most; 0: nobody's */
	double error;  /* how much of it may be others' */
};

struct heavy {
	struct heavy_slot *slot;
	size_t size;  /* slots there are */
	size_t count; /* and that are somebody's, the first ones */
};

/* `size` slots, all of them free. Returns 0 or -ENOMEM; heavy_done() in either case. */
int heavy_init(struct heavy *h, size_t size);
void heavy_done(struct heavy *h);
/* Multiplies all weights by `keep`, 0 to 1. Who is left with less than 1 loses the slot. */
void heavy_fade(struct heavy *h, double keep);
/* Weights up to 0 are nothing. */
void heavy_add(struct heavy *h, uint64_t key, double weight);
/* The weight that a key has at least; 0 without a slot. */
double heavy_least(const struct heavy *h, uint64_t key);
/* What a key without a slot has at most. */
double heavy_error(const struct heavy *h);

#endif
