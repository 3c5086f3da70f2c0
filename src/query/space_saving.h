/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds the heaviest of any number of keys in a table of fixed size: Space-Saving (Metwally,
 * Agrawal, El Abbadi 2005) with weights that fade. A key without a slot takes the slot with the
 * least weight, and inherits that weight as its possible error.
 *
 * With n slots and a sum W of all (faded) weights, for the true weight of every key:
 *
 *	weight - error <= true <= weight		if it has a slot
 *	true <= space_saving_error() <= W / n		if it has none
 *
 * So every key that is heavier than W / n has a slot. A weight that has faded below 1 counts as 0.
 */
#ifndef ZMEM_QUERY_SPACE_SAVING_H
#define ZMEM_QUERY_SPACE_SAVING_H

#include <stddef.h>
#include <stdint.h>

struct space_saving_slot {
	uint64_t key;
	double weight; /* at most; 0: the slot is free */
	double error;  /* the part of it that may belong to other keys */
};

struct space_saving {
	struct space_saving_slot *slot;
	size_t size;  /* number of slots */
	size_t count; /* slots in use, the first ones */
};

/* Makes `size` free slots. Returns 0 or -ENOMEM; space_saving_done() in either case. */
int space_saving_init(struct space_saving *h, size_t size);
void space_saving_done(struct space_saving *h);
/* Multiplies all weights by `keep`, 0 to 1. A key with a weight below 1 loses its slot. */
void space_saving_fade(struct space_saving *h, double keep);
/* Ignores weights that are not above 0. */
void space_saving_add(struct space_saving *h, uint64_t key, double weight);
/* The least weight that a key can have; 0 without a slot. */
double space_saving_least(const struct space_saving *h, uint64_t key);
/* The most weight that a key without a slot can have. */
double space_saving_error(const struct space_saving *h);

#endif
