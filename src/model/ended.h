/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Processes that ended before a snapshot, by name and cgroup, with the highest peak of each. */
#ifndef ZMEM_MODEL_ENDED_H
#define ZMEM_MODEL_ENDED_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

/* A snapshot has so many rows; the others are summed. */
#define ENDED_MAX 32
/* Processes with a lower peak are among the others: most shells and small tools. Bytes. */
#define ENDED_LEAST (4u << 20)
/* Times are whole multiples: a snapshot that is some ms late then takes no byte. */
#define ENDED_TICK_MS 100

struct ended_row {
	const char *name;
	const char *cgroup; /* NULL: not known */
	uint64_t count;	    /* processes */
	uint64_t peak;	    /* the highest of all, bytes */
};

/* Of the time `over_ms` that ends with the snapshot. */
struct ended_processes {
	uint64_t over_ms; /* never 0 */
	/* Processes in no row, and their highest peak. */
	uint64_t others, others_peak;
	uint64_t missed; /* exits of threads that were not looked at */
	uint32_t count;
	struct ended_row row[ENDED_MAX]; /* the highest peak first */
};

/* All processes that are known, with those in no row. */
uint64_t ended_count(const struct ended_processes *e);

/* Adds up rows of one name and cgroup. Zeroed memory is an empty sum. */
struct ended_sum {
	struct ended_row *row; /* by name and cgroup; the texts are in the arena */
	size_t count, room;
	struct ended_processes all; /* without rows */
	struct arena arena;
};

/* Those that return int return 0 or -ENOMEM. */
void ended_sum_others(struct ended_sum *s, uint64_t count, uint64_t peak);
int ended_sum_row(struct ended_sum *s, const struct ended_row *row);
int ended_sum_add(struct ended_sum *s, const struct ended_processes *e);
/* The sum so far. Its texts are those of *s. */
void ended_sum_end(struct ended_sum *s, struct ended_processes *ret);
/* Forgets all and keeps some memory for the next sum. */
void ended_sum_clear(struct ended_sum *s);
void ended_sum_done(struct ended_sum *s);

#endif
