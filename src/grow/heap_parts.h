/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The parts of a run in which calls of allocators are seen, and what is estimated from them. It
 * does no I/O.
 *
 * At ordinary rates there is one part, the whole run. Above HEAP_CALLS_MAX calls in a second, which
 * would slow the program, parts of random lengths have pauses of random lengths between them. In
 * them more blocks are sampled: it is calls that cost much, not samples.
 *
 * What a free tells depends on where it is. Of a block that is freed in the part in which it was
 * allocated, the age is known. What is there at the end of the part is left with the age that it
 * has. Both together are what is known of the lifetimes of the blocks of a stack, and the estimator
 * of Kaplan and Meier makes a share of them that lives longer than parts are. A free in a later
 * part is that of the block or of a later one at the same address: the block is gone in any case.
 * So
 *   held = allocated * share that lives longer * share of those left that are not known to be gone.
 * Blocks that are freed in a pause, and of which no later part sees the address again, are counted
 * as held: that is an upper bound.
 */
#ifndef ZMEM_GROW_HEAP_PARTS_H
#define ZMEM_GROW_HEAP_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An allocation and its free are two calls, of one to two microseconds each. */
#define HEAP_CALLS_MAX 50000
#define HEAP_FIRST_NS  1000000000ULL /* in that time, at most, the rate is measured */
/* So many in less than that are enough to know. A short run is over before they are. */
#define HEAP_FIRST_CALLS (5 * HEAP_CALLS_MAX)
#define HEAP_PART_NS	 150000000ULL /* on average */
#define HEAP_SETTLE_NS	 100000000ULL /* until all messages of a part were read */
#define HEAP_SAMPLES_MAX 2000	      /* in a second of the run, in parts that have pauses */
#define HEAP_FINER_MAX	 6
#define HEAP_AGES	 20 /* each 4 times the one before, from 1 us on */

/* So far. */
struct heap_count {
	uint64_t calls; /* that were seen */
	uint64_t work;	/* CPU time of the programs, and of the probes in them, ns */
	uint64_t time;	/* CLOCK_MONOTONIC, ns */
	uint64_t samples;
};

struct heap_part {
	uint64_t start, end;	  /* CLOCK_MONOTONIC, ns; end 0: it is open */
	struct heap_count before; /* at its start */
	bool pauses;		  /* it is one of several */
	uint8_t finer;		  /* n: one sample in 2^n times fewer bytes */
};

struct heap_parts {
	struct heap_part *part;
	size_t count, capacity;
	bool open, pauses;
	uint8_t finer;	 /* of the next part */
	uint64_t next;	 /* when the part, or the pause, ends */
	uint64_t leaves; /* when what was left of the last part is known; 0: it is */
	struct heap_count forgotten;
	/* Since the first pause: in parts, in pauses, and between them while probes change. */
	struct heap_count seen, unseen, between, last;
	uint64_t random;
};

enum heap_turn { HEAP_WAIT, HEAP_CLOSE, HEAP_OPEN };

/* Begins with an open part. */
void heap_parts_begin(struct heap_parts *p, uint64_t now);
void heap_parts_anew(struct heap_parts *p, uint64_t now, struct heap_count count);
void heap_parts_done(struct heap_parts *p);
/* What is to be done now. */
enum heap_turn heap_parts_turn(struct heap_parts *p, uint64_t now, struct heap_count count);
void heap_parts_close(struct heap_parts *p, uint64_t now, struct heap_count count);
void heap_parts_open(struct heap_parts *p, uint64_t now, struct heap_count count);
/* It goes on: probes cannot be opened now. */
void heap_parts_wait(struct heap_parts *p, uint64_t now);
/* In a pause: probes are closed now, or will be opened. */
void heap_parts_count(struct heap_parts *p, bool ends, struct heap_count count);
/* When the last part that has ended did. */
uint64_t heap_parts_end(const struct heap_parts *p);
/* True if two times are in one part. */
bool heap_parts_same(const struct heap_parts *p, uint64_t a, uint64_t b);
/* Of a block that was allocated then: one sample is in so many bytes. */
uint64_t heap_parts_sample(const struct heap_parts *p, uint64_t time, uint64_t sample_bytes);
/* True if there was no pause. */
bool heap_parts_whole(const struct heap_parts *p);
/* How long calls were seen, ns. */
uint64_t heap_parts_seen(const struct heap_parts *p, uint64_t now);
/*
 * Which share of what the programs did since the first pause was in a part: by their CPU time, less
 * `cost_ns` for each call that was seen, for in a part they are slower. *ret_error: its relative
 * error, as far as that of the cost is known.
 */
double heap_parts_share(const struct heap_parts *p, const struct heap_count *now, uint64_t cost_ns,
			double *ret_error);

/* What a sampled block stands for, with one sample in so many bytes. */
double heap_weight(uint64_t size, uint64_t sample_bytes);

/* The blocks of a stack; [1]: of parts with pauses. Zeroed memory has none. */
struct heap_stack {
	double weight[2];   /* of all blocks */
	double square[2];   /* of these weights */
	double sampling[2]; /* variance of their sum, by sampling */
	/* Of the sums of parts with pauses: their squares, and products with the lengths, ns. */
	double squares, products;
	double current; /* the sum of this part */
	uint32_t part;
	float freed[2][HEAP_AGES], left[2][HEAP_AGES];
	double all_left[2], late[2];
};

void heap_stack_add(struct heap_stack *s, const struct heap_parts *p, uint64_t time, uint64_t size,
		    double weight);
/* Freed in the part in which it was allocated. */
void heap_stack_freed(struct heap_stack *s, const struct heap_parts *p, uint64_t time,
		      uint64_t freed, double weight);
/* It was there when the part ended. */
void heap_stack_left(struct heap_stack *s, const struct heap_parts *p, uint64_t time, uint64_t end,
		     double weight);
/* It was left and is gone. `left`: heap_stack_left() was called for it. */
void heap_stack_late(struct heap_stack *s, const struct heap_parts *p, uint64_t time, bool left,
		     double weight);
/* Estimates, bytes. */
void heap_stack_sum(const struct heap_stack *s, const struct heap_parts *p, double share,
		    double share_error, double *ret_allocated, double *ret_held,
		    double *ret_variance);

#endif
