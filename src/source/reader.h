/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads task iterators: in whole records, by several threads where that pays, and with further
 * visits to processes whose pages were too many for one, or moved while they were looked at.
 */
#ifndef ZMEM_SOURCE_READER_H
#define ZMEM_SOURCE_READER_H

#include <stdbool.h>
#include <sys/types.h>

#include "source/record_decode.h"

/* Where records go. */
struct reader_target {
	const struct decode_limits *limits;
	struct snapshot *snapshot;
};

/* More threads than that share nothing any more. */
#define READERS_MAX 8

/* What they keep from one collection to the next; zeroed memory is none yet. */
struct readers {
	struct reader *reader[READERS_MAX];
};

void readers_done(struct readers *kept);

/* Where iterators come from. */
struct reader_from {
	/* Opens one over all tasks. Returns a descriptor or a negative errno. */
	int (*open)(const void *state);
	/* The same over one process alone; NULL: there is none, and the question does it. */
	int (*open_one)(const void *state, pid_t pid);
	const void *state;
	bool asks; /* its program takes questions (include/zmem/setup.h) */
};

/*
 * Reads all processes, shared by `readers` threads as far as the program takes questions. Returns 0
 * or a negative errno.
 */
int reader_collect(const struct reader_from *from, unsigned readers, struct readers *kept,
		   const struct reader_target *target);

/* Reads one process. Returns 0, -ESRCH if it is not there, or another negative errno. */
int reader_visit(const struct reader_from *from, pid_t pid, const struct reader_target *target);

/* Whether what is opened is an iterator that shows records. Returns 0 or a negative errno. */
int reader_try(int fd);

/*
 * Takes what an iterator over ourselves shows that is no record: `size` bytes. Returns 0 or a
 * negative errno.
 */
int reader_take(const struct reader_from *from, void *ret, size_t size);

/* What bounds the records of this machine. */
struct decode_limits reader_limits(void);

#endif
