/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Workers that read a /proc which is on a tape. */
#ifndef TESTS_POOL_OF_TAPE_H
#define TESTS_POOL_OF_TAPE_H

#include "tape_round.h"
#include "enrich/enrich.h"

static inline void pool_free(struct proc_pool **pool)
{
	proc_pool_free(*pool);
}

static inline struct proc_pool *pool_of(struct round *r)
{
	struct procfs proc;
	struct proc_pool *pool;

	procfs_replay(&proc, r->tape);
	pool = proc_pool_new(&proc, 2, 10);
	assert_non_null(pool);
	return pool;
}

#endif
