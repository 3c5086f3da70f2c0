/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The heaviest of any number of keys in a table of fixed size: Space-Saving (Metwally, Agrawal, El
 * Abbadi 2005) with weights that fade. A key that has no slot takes the one with the least weight,
 * and inherits that weight as its possible error.
 *
 * With n slots and a sum W of all (faded) weights, for the true weight of every key:
 *
 *	weight - error <= true <= weight	if it has a slot
 *	true <= space_saving_error() <= W / n		if it has none
 *
 * so that whoever is heavier than W / n has a slot. What has faded to less than 1 counts as 0.
 */
#ifndef ZMEM_QUERY_SPACE_SAVING_H
#define ZMEM_QUERY_SPACE_SAVING_H

#include <stddef.h>
#include <stdint.h>

struct space_saving_slot {
	uint64_t key;
	double weight; /* at most; 0: nobody's */
	double error;  /* how much of it may be others' */
};

struct space_saving {
	struct space_saving_slot *slot;
	size_t size;  /* slots there are */
	size_t count; /* and that are somebody's, the first ones */
};

/* `size` slots, all of them free. Returns 0 or -ENOMEM; space_saving_done() in either case. */
int space_saving_init(struct space_saving *h, size_t size);
void space_saving_done(struct space_saving *h);
/* Multiplies all weights by `keep`, 0 to 1. Who is left with less than 1 loses the slot. */
void space_saving_fade(struct space_saving *h, double keep);
/* Weights up to 0 are nothing. */
void space_saving_add(struct space_saving *h, uint64_t key, double weight);
/* The weight that a key has at least; 0 without a slot. */
double space_saving_least(const struct space_saving *h, uint64_t key);
/* What a key without a slot has at most. */
double space_saving_error(const struct space_saving *h);

#endif
