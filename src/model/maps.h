/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The mappings of processes, one by one or summed by name. It does no I/O. */
#ifndef ZMEM_MODEL_MAPS_H
#define ZMEM_MODEL_MAPS_H

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
	MAPS_LAZYFREE,
	/* What smaps does not have: the rest of huge pages, and the resident pages by node. */
	MAPS_THP_REST,
	MAPS_NODE0,
	MAPS_COUNTERS = MAPS_NODE0 + NODES_MAX,
};

#define MAPS_COUNTERS_ALL ((1u << MAPS_COUNTERS) - 1)
/* The counters of smaps. */
#define MAPS_COUNTERS_SMAPS ((1u << MAPS_THP_REST) - 1)

/* Bytes; a value without its bit was not measured. */
struct map_counters {
	uint32_t have;
	uint64_t value[MAPS_COUNTERS];
};

/* The sum of nothing: all values are 0. */
#define MAPS_COUNTERS_ZERO ((struct map_counters){.have = MAPS_COUNTERS_ALL})

static inline bool map_has(const struct map_counters *c, enum map_counter counter)
{
	return c->have >> counter & 1;
}

/* Adds c to the sum. A value that one of them lacks, or that overflows, is missing in the sum. */
void map_counters_add(struct map_counters *sum, const struct map_counters *c);
/*
 * The same for the values of another process. Processes share hugetlb pages, and nothing shows
 * which: those of several processes have no sum.
 */
void map_counters_merge(struct map_counters *sum, const struct map_counters *process);

/* A mapping, or the sum of all mappings with one name. */
struct mapping {
	uint64_t start, end; /* 0 for a sum */
	pid_t pid;	     /* likewise */
	uint32_t mappings;   /* number of mappings; 1 if it is not a sum */
	uint32_t processes;  /* number of processes that have them */
	char perm[5];	     /* "r-xp"; "" for a sum */
	bool name_cut;	     /* name is the beginning of a longer one */
	uint64_t device;     /* of its file: major << 32 | minor; of a sum: of the first mapping */
	const char *fs;	     /* the type of the file system; borrowed; NULL: not known */
	const char *name;  /* any bytes; "[anon]" if the kernel has no name; of a group: the kind */
	const char *group; /* of a group: what its processes have in common; borrowed */
	struct map_counters counters;
};

/* Mappings in the order of addition, or summed by name. Owns them and their names. */
struct map_set {
	bool by_name;
	struct mapping **item;
	size_t count, capacity;
	size_t mappings; /* number of mappings added */
	struct map_counters total;
	/*
	 * The kernel rounds PSS down to 1 kB for each mapping, but for a whole process only once.
	 * True if total has the latter.
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
/* Adds the sums of one process to a set by name. Returns 0 or -ENOMEM. */
int map_set_merge(struct map_set *s, const struct map_set *process);
/*
 * The same to a set by group and kind of memory, which map_kind() names. The group is borrowed;
 * NULL is a group, too.
 */
int map_set_merge_kinds(struct map_set *s, const struct map_set *process, const char *group);
/*
 * "heap", "stack", "anon", "file", "other", or the kind of shared memory as of files
 * (file_kind_name()).
 */
const char *map_kind(const struct mapping *m);
/* Whether the kind depends on the type of its file system. */
bool map_kind_needs_fs(const struct mapping *m);
/*
 * Drops the mappings for which keep() returns 0, and sums the others anew. Returns 0, or what
 * keep() returns below 0; then the set is to be freed.
 */
int map_set_filter(struct map_set *s, int (*keep)(void *arg, const char *name), void *arg);

/* ---- the result of a command ---- */

/* The rows of a report. */
enum map_rows {
	MAP_ROWS_EACH,	/* a row is a mapping */
	MAP_ROWS_FILES, /* mappings with one name */
	MAP_ROWS_KINDS, /* mappings of a group of processes that are of one kind */
};

struct maps_process {
	const struct process *process;
	enum pss_status status; /* PSS_OK: its mappings were read */
	bool counted;		/* in the totals: it was read, and it is the owner of its mm */
	bool total_exact;
	size_t mappings;
	struct map_counters total;
	const struct kernel_object *object; /* the largest that it holds by descriptors */
	size_t objects;
};

struct maps_report {
	const struct snapshot *snapshot;
	enum map_rows kind;
	const struct field *group; /* of MAP_ROWS_KINDS */
	bool filtered;		   /* only some mappings of each process (--mapping) */
	uint32_t nodes;		   /* bits of NUMA nodes with a column (--by-node) */
	bool rest;		   /* MAPS_THP_REST was read */
	bool several;		   /* of several processes: rows name their process */
	const struct maps_process *process;
	size_t process_count;
	struct mapping *const *rows; /* the rows shown, in order */
	size_t row_count;
	size_t others_count;
	struct map_counters others;
	struct map_counters total; /* of shown and other rows, for counted processes */
	size_t mappings;
};

/* The number of processes with that status. */
size_t maps_report_count(const struct maps_report *r, enum pss_status status);
/* Why the mappings of a process were not read. NULL: another reading would have them. */
extern const char *const maps_unread[PSS_STATUS_COUNT];

#endif
