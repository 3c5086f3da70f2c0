/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads task iterators in whole records, with several threads where that pays. Visits a process
 * again if its pages were too many for one visit, or if they changed during the walk.
 */
#ifndef ZMEM_SOURCE_READER_H
#define ZMEM_SOURCE_READER_H

#include <stdbool.h>
#include <sys/types.h>

#include "source/record_decode.h"
#include "source/source.h"

/* The readers of one source: where iterators come from, and the memory kept between collections. */
struct readers {
	/* Opens an iterator over all tasks. Returns a descriptor or a negative errno. */
	int (*open)(const void *state);
	/*
	 * The same over one process; NULL: the question selects the process, and a program that
	 * takes none cannot read one alone.
	 */
	int (*open_one)(const void *state, pid_t pid);
	/*
	 * Begins memos of a collection for the first `count` readers, at most memo_readers; 0 ends
	 * them. NULL: there are none.
	 */
	void (*set_memos)(const void *state, unsigned count);
	unsigned memo_readers;
	/* Before each collection: looks at RAM (readers_look_at_ram()), and what follows from it.
	 */
	void (*follow_ram)(void *state);
	void *state;
	const char *pss_refusal; /* why PSS does not come from the kernel; NULL: it does */
	bool asks;		 /* the program takes questions (include/zmem/setup.h) */
	struct decode_limits limits;
	struct reader *reader[SOURCE_READERS_MAX];
	/* The last look at RAM; and how many processes since had pages that were not understood. */
	uint64_t pfn_end; /* one above the highest page of RAM; 0: unknown */
	size_t unknown, unknown_at_look;
};

void readers_done(struct readers *readers);

/*
 * Functions for struct source_kind, of sources with a state that begins with struct readers. Reads
 * with `count` threads if the program takes questions.
 */
int readers_collect(void *state, unsigned count, struct snapshot *snapshot);
int readers_revisit(void *state, pid_t pid, struct snapshot *snapshot);
const char *readers_pss_refusal(const void *state);

/*
 * Reads the resident set of this process. Returns 0; -ENODATA if the program does not know where
 * the kernel keeps it; -EOPNOTSUPP if one process cannot be read alone; or another negative errno.
 */
int readers_own_rss(const struct readers *readers, int64_t *ret_pages);

/* Checks that the descriptor is an iterator over records. Returns 0 or a negative errno. */
int reader_try(int fd);

/*
 * Reads the `size` bytes that an iterator over this process writes in place of a record. Returns 0
 * or a negative errno.
 */
int readers_read_answer(const struct readers *readers, void *ret, size_t size);

/*
 * Before each collection: looks whether RAM was added or removed, and sets the limits. Reads
 * /proc/zoneinfo only if the size of RAM changed, or how many processes have pages that are not
 * understood: RAM may have moved within the same size.
 */
void readers_look_at_ram(struct readers *readers, const struct procfs *proc);

/* The limits of the records of this machine now. */
struct decode_limits reader_limits(void);

#endif
