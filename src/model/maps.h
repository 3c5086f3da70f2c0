/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The mappings of processes, one by one or summed by name. Pure: knows values and names, not where
 * they were read.
 */
#ifndef ZMEM_MAPS_H
#define ZMEM_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/arena.h"
#include "model/snapshot.h"

enum map_counter {
	MAPS_SIZE,
	MAPS_RSS,
	MAPS_PSS,
	MAPS_PRIVATE, /* clean and dirty, without hugetlb */
	MAPS_SHARED,  /* likewise */
	MAPS_SWAP,
	MAPS_SWAP_PSS,
	MAPS_LOCKED,
	MAPS_THP, /* mapped by huge entries: anonymous, shmem and files */
	MAPS_HUGETLB,
	MAPS_COUNTERS,
};

#define MAPS_COUNTERS_ALL ((1u << MAPS_COUNTERS) - 1)

/* Bytes; a value without its bit was not measured. */
struct map_counters {
	uint32_t have;
	uint64_t value[MAPS_COUNTERS];
};

/* Nothing was added yet: all values are 0. */
#define MAPS_COUNTERS_ZERO ((struct map_counters){.have = MAPS_COUNTERS_ALL})

static inline bool map_has(const struct map_counters *f, enum map_counter counter)
{
	return f->have >> counter & 1;
}

/* What one of the two lacks, or what is beyond 64 bits, the sum lacks. */
void map_counters_add(struct map_counters *sum, const struct map_counters *f);

/* One mapping, or the sum of all that have one name. */
struct mapping {
	uint64_t start, end; /* of a sum 0 */
	pid_t pid;	     /* likewise */
	uint32_t mappings;   /* summed: 1, or more */
	uint32_t processes;  /* that have them */
	char perm[5];	     /* "r-xp"; of a sum "" */
	bool name_cut;	     /* name is the beginning of a longer one */
	const char *name;    /* any bytes; "[anon]" where the kernel has none */
	struct map_counters counters;
};

/* Mappings in the order in which they came, or by name. Owns them and their names. */
struct map_set {
	bool by_name;
	struct mapping **item;
	size_t count, capacity;
	size_t mappings; /* all that were added */
	struct map_counters total;
	/*
	 * The kernel cuts off what is below 1 kB from the PSS of each mapping, and from that of the
	 * whole process once: whether total has the latter.
	 */
	bool total_exact;
	struct arena arena;
	void *index; /* private: a tree by name */
};

/* NULL without memory. */
struct map_set *map_set_new(bool by_name);
void map_set_free(struct map_set *s);
/* Copies the mapping. Returns 0 or -ENOMEM. */
int map_set_add(struct map_set *s, const struct mapping *m);
/* Adds the sums of one process more to a set by name. Returns 0 or -ENOMEM. */
int map_set_merge(struct map_set *s, const struct map_set *process);

/* ---- columns ---- */

enum map_column {
	MAP_COLUMN_PID,
	MAP_COLUMN_ADDRESS,
	MAP_COLUMN_PERM,
	MAP_COLUMN_PROCS,
	MAP_COLUMN_MAPS,
	MAP_COLUMN_COUNTERS, /* the first of MAPS_FIGURES */
	MAP_COLUMN_NAME = MAP_COLUMN_COUNTERS + MAPS_COUNTERS,
	MAP_COLUMNS,
};

/* "SWAP_PSS" */
const char *map_column_header(int column);

struct map_keys {
	int column[MAP_COLUMNS];
	size_t count;
};

/*
 * Reads "a,b,c"; upper and lower case are one. A set by name has procs and maps in place of pid,
 * address and perm. On a bad name returns -EINVAL and points *ret_bad and *ret_bad_len at it.
 */
int map_keys_parse(struct map_keys *keys, const char *spec, bool by_name, const char **ret_bad,
		   size_t *ret_bad_len);

/* ---- what a command found ---- */

struct maps_process {
	const struct process *process;
	enum pss_status status; /* PSS_OK: it was read */
	bool counted; /* in the totals: it was read, and no other one carries its memory */
	bool total_exact;
	size_t mappings;
	struct map_counters total;
};

struct maps_report {
	const struct snapshot *snapshot;
	bool by_file;
	bool several; /* processes: rows say whose they are */
	const struct maps_process *process;
	size_t process_count;
	struct mapping *const *rows; /* shown, in order */
	size_t row_count;
	size_t others_count;
	struct map_counters others;
	struct map_counters total; /* shown and others; of those that are counted */
	size_t mappings;
};

/* How many of the processes have that status. */
size_t maps_report_count(const struct maps_report *r, enum pss_status status);

#endif
