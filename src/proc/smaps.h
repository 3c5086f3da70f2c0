/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * /proc/PID/smaps (Documentation/filesystems/proc.rst), parsed while it is read: a process with
 * many mappings has hundreds of megabytes of it, and only a line is kept. /proc/PID/smaps_rollup
 * (Documentation/ABI/testing/procfs-smaps_rollup) has the sums.
 */
#ifndef ZMEM_PROC_SMAPS_H
#define ZMEM_PROC_SMAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/maps.h"

/* A path of PATH_MAX with each byte escaped, and the fields before it. Longer lines are cut. */
#define SMAPS_LINE_MAX (4 * 4096 + 128)

/* The keys of both files, in the order of show_smap() and __show_smap(), fs/proc/task_mmu.c. */
enum smaps_key {
	SMAPS_RSS,
	SMAPS_PSS,
	SMAPS_PSS_ANON, /* of smaps_rollup: the split exists since 5.9 */
	SMAPS_PSS_FILE,
	SMAPS_PSS_SHMEM,
	SMAPS_SHARED_CLEAN,
	SMAPS_SHARED_DIRTY,
	SMAPS_PRIVATE_CLEAN,
	SMAPS_PRIVATE_DIRTY,
	SMAPS_LAZYFREE,
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
	bool damaged; /* a line that should begin a mapping was invalid */
	bool open;    /* `mapping` has begun */
	bool cut;     /* the line is longer than `line` */
	size_t len;   /* of the line so far */
	unsigned next;
	uint32_t have, known; /* keys of this mapping, of the first one */
	uint64_t value[SMAPS_KEYS];
	struct mapping mapping;
	char line[SMAPS_LINE_MAX];
	char name[SMAPS_LINE_MAX + 1];
};

/*
 * Calls fn for each mapping; its name is valid during the call. fn returns 0, or a negative errno
 * that ends the parsing.
 */
void smaps_begin(struct smaps *s, int (*fn)(void *arg, const struct mapping *m), void *arg);
/* The next bytes of the file. Returns 0 or what fn returned. */
int smaps_feed(struct smaps *s, const char *data, size_t len);
/*
 * Ends the text and reports the last mapping. Returns 0, what fn returned, -ENODATA if the file was
 * empty (a process without memory), or -EINVAL if a part was invalid or cut off.
 */
int smaps_end(struct smaps *s);

/* A line that begins a mapping; /proc/PID/maps has only such lines. */
struct smaps_header {
	uint64_t start, end, offset, inode;
	uint64_t device;  /* major << 32 | minor */
	char perm[5];	  /* "r-xp" */
	const char *name; /* in the line, as the kernel writes it; not terminated */
	size_t name_len;
};

/* Returns 0 or -EINVAL. */
int smaps_header_parse(const char *line, size_t len, struct smaps_header *ret);

/* ---- smaps_rollup ---- */

struct smaps_rollup {
	uint32_t have;		    /* bit per enum smaps_key */
	uint64_t value[SMAPS_KEYS]; /* bytes */
};

static inline bool rollup_has(const struct smaps_rollup *r, enum smaps_key counter)
{
	return r->have >> counter & 1;
}

/*
 * Compares whole keys ("Swap:" is not "SwapPss:") and ignores unknown ones. A key that is missing
 * or has no valid number has no bit. Returns 0, or -EINVAL without Rss and Pss (garbage, or cut
 * off); then *ret is untouched.
 */
int smaps_rollup_parse(const char *text, size_t len, struct smaps_rollup *ret);

#endif
