/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The workers of a pool that wait for a process that hangs, and how many of them there may be: any
 * user can make processes that hang. Needs the pool's lock.
 */
#ifndef ZMEM_ENRICH_LEFT_BEHIND_H
#define ZMEM_ENRICH_LEFT_BEHIND_H

#include "enrich/enrich.h"

/* What a worker reads. */
struct left_job {
	pid_t pid;
	uint64_t start_ns;
	uid_t uid;
	enum pool_file file;
	struct left_job *next; /* left behind before this one, and still away */
};

struct left_behind {
	struct left_job *first;
	size_t count;
	size_t max;
};

void left_init(struct left_behind *l);
void left_add(struct left_behind *l, struct left_job *job);
void left_remove(struct left_behind *l, const struct left_job *job);
/* No more workers may be left behind: a thread in the place of one of them would be one too many.
 */
static inline bool left_full(const struct left_behind *l)
{
	return l->count >= l->max;
}
/*
 * Whether this file of the process is not to be read now: a worker waits for just that (`alone`:
 * for any file of it), or for so many processes of its user that the others of that user have to go
 * without, in place of those of all users.
 */
bool left_skips(const struct left_behind *l, const struct process *p, enum pool_file file,
		bool alone);

#endif
