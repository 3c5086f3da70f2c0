/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * /proc/PID/smaps (Documentation/filesystems/proc.rst), as it is read: a process with many mappings
 * has hundreds of megabytes of it, of which no more than a line is kept.
 */
#ifndef ZMEM_SMAPS_H
#define ZMEM_SMAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/maps.h"

/* A path of PATH_MAX in which each byte is escaped, and what stands before it. A longer one is cut.
 */
#define SMAPS_LINE_MAX (4 * 4096 + 128)

enum smaps_key {
	SMAPS_RSS,
	SMAPS_PSS,
	SMAPS_SHARED_CLEAN,
	SMAPS_SHARED_DIRTY,
	SMAPS_PRIVATE_CLEAN,
	SMAPS_PRIVATE_DIRTY,
	SMAPS_ANON_HUGE,
	SMAPS_SHMEM_PMD,
	SMAPS_FILE_PMD,
	SMAPS_SHARED_HUGETLB,
	SMAPS_PRIVATE_HUGETLB,
	SMAPS_SWAP,
	SMAPS_SWAP_PSS,
	SMAPS_LOCKED,
	SMAPS_KEYS,
};

/* Private. */
struct smaps {
	int (*fn)(void *arg, const struct mapping *m);
	void *arg;
	int error;
	bool any;     /* there was text */
	bool damaged; /* a line that should have begun a mapping did not */
	bool open;    /* `mapping` has begun */
	bool cut;     /* the line is longer than there is room for */
	size_t len;   /* of the line so far */
	unsigned next;
	uint32_t have, known; /* keys of this mapping, of the first one */
	uint64_t value[SMAPS_KEYS];
	struct mapping mapping;
	char line[SMAPS_LINE_MAX];
	char name[SMAPS_LINE_MAX + 1];
};

/*
 * Calls fn for each mapping, whose name is valid that long. fn returns 0, or a negative errno that
 * ends it all.
 */
void smaps_begin(struct smaps *s, int (*fn)(void *arg, const struct mapping *m), void *arg);
/* The next bytes of the file. Returns 0 or what fn returned. */
int smaps_feed(struct smaps *s, const char *data, size_t len);
/*
 * That was all: the last mapping. Returns 0, what fn returned, -ENODATA if the file was empty (a
 * process without memory), or -EINVAL if it is not all understood or cut off.
 */
int smaps_end(struct smaps *s);

#endif
