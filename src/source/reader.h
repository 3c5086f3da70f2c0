/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads task iterators: in whole records, by several threads where that pays, and with further
 * visits to processes whose pages were too many for one, or moved while they were looked at.
 */
#ifndef ZMEM_SOURCE_READER_H
#define ZMEM_SOURCE_READER_H

#include <sys/types.h>

#include "source/light.h"
#include "source/record_decode.h"
#include "zmem/setup.h"

/* Where records go. */
struct reader_target {
	const struct decode_limits *limits;
	struct tape *tape; /* NULL: they are not recorded */
	struct snapshot *snapshot;
};

/* More threads than that share nothing any more. */
#define READERS_MAX 8

/* What they keep from one collection to the next; zeroed memory is none yet. */
struct readers {
	struct reader *reader[READERS_MAX];
};

void readers_done(struct readers *kept);

/*
 * Reads all processes. `link_fd` is the link of light->iter_fd; `readers` threads share the work,
 * which needs light->reader_fd. Returns 0 or a negative errno.
 */
int reader_collect(const struct light *light, int link_fd, unsigned readers, struct readers *kept,
		   const struct reader_target *target);

/* Reads one process. Returns 0, -ESRCH if it is not there, or another negative errno. */
int reader_visit(const struct light *light, pid_t pid, const struct reader_target *target);

/*
 * Has the program answer `question` in place of showing processes: `size` bytes into ret.
 * Returns 0 or a negative errno.
 */
int reader_ask(const struct light *light, const struct zmem_reader *question, void *ret,
	       size_t size);

#endif
