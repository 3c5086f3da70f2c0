/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A helper with its limits, and the messages that it is asked and answers with. */
#ifndef ZMEM_PRIVILEGE_GROW_HELPER_H
#define ZMEM_PRIVILEGE_GROW_HELPER_H

#include "privilege/helper.h"

/*
 * CPU time for files, which targets supply. It is full at first, and again after a minute. It
 * outlives a helper that is killed.
 */
struct cpu_budget {
	uint64_t left_us, filled_us; /* filled_us: when; 0: never */
};

#define BUDGET_RUN_US 60000000 /* of all users */
#define BUDGET_USER_US                                                                             \
	15000000 /* of one; a program of 500 MiB with a million symbols takes 3 s                  \
		  */

/* Fills it for the time that has passed. True if some is left. */
bool cpu_budget_fill(struct cpu_budget *b, uint64_t max_us, uint64_t now_us);
void cpu_budget_spend(struct cpu_budget *b, uint64_t us);

/* What all helpers of a run share. Zeroed memory, but for hurry_fd, is the beginning. */
struct grow_helpers {
	int hurry_fd; /* see struct helper_limits; it is read at each call */
	struct cpu_budget budget;
	struct helpers_left left;
};

struct grow_helper_kind {
	struct helper_kind kind;
	uint64_t cpu_us, idle_us; /* of one request: struct helper_limits */
};

struct grow_helper {
	struct helper helper;
	const struct grow_helper_kind *kind;
	struct grow_helpers *shared;
	struct cpu_budget budget;
	struct helper_message request, answer;
};

/* See helper_init(). `shared` outlives the helper. */
void grow_helper_init(struct grow_helper *h, const struct grow_helper_kind *kind, uid_t uid,
		      gid_t gid, void *state, struct grow_helpers *shared);
/* Begins a request. */
void grow_helper_begin(struct grow_helper *h, uint32_t what);
/* See helper_call(). The answer has at most so many descriptors: others are closed. */
int grow_helper_call(struct grow_helper *h, size_t fds);
/* Likewise, of a file: -EFBIG if a budget is used up. */
int grow_helper_call_file(struct grow_helper *h);

#endif
