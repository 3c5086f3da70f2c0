/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the two processes say to each other over a pair of sockets. From the one that speaks HTTP:
 * "a snapshot, please, not older than so much". From the one that collects: here it is, in a sealed
 * memfd; or it failed; or we end. Knows no other word.
 */
#ifndef ZMEM_SERVE_CHANNEL_H
#define ZMEM_SERVE_CHANNEL_H

#include <stdint.h>

#include "base/strbuf.h"

/* What a process has cost so far. */
struct cost {
	uint64_t cpu_us;
	uint64_t resident; /* bytes */
	uint32_t fds;
};

enum answer_kind {
	ANSWER_SNAPSHOT,
	ANSWER_FAILED,
	ANSWER_END,
	ANSWER_KINDS,
};

enum answer_error {
	ERROR_GONE,
	ERROR_DENIED,
	ERROR_TIMEOUT,
	ERROR_RACED,
	ANSWER_ERRORS,
};

struct answer {
	uint32_t magic;
	uint32_t kind;
	uint64_t size;	   /* of the snapshot in the memfd */
	uint64_t taken_us; /* when collecting it began (CLOCK_MONOTONIC) */
	uint64_t collections, failures;
	uint64_t errors[ANSWER_ERRORS]; /* processes that could not be read, since the start */
	struct cost cost;
};

/* Each returns 0 or a negative errno; the other end is gone: -EPIPE. */
int channel_pair(int ret_fds[2]);
int channel_ask(int fd, uint32_t age_ms);
/* -EAGAIN: nobody asked. */
int channel_asked(int fd, uint32_t *ret_age_ms);
/* `memfd` -1: without one. */
int channel_answer(int fd, const struct answer *answer, int memfd);
/* -EAGAIN: nothing yet. *ret_memfd is the caller's, or -1; for a snapshot, too, if there was no
 * descriptor left to receive it. */
int channel_answered(int fd, struct answer *ret, int *ret_memfd);

/* The bytes in a memfd that nobody can change any more, or a negative errno. */
int channel_seal(const struct strbuf *bytes);
/* Maps what is in it to be read; refuses what could still change. */
int channel_map(int memfd, uint64_t size, const char **ret);

#endif
