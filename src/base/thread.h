/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Worker threads. */
#ifndef ZMEM_BASE_THREAD_H
#define ZMEM_BASE_THREAD_H

#include <pthread.h>

/*
 * Starts a thread that blocks all signals, so that the calling thread decides when to handle them.
 * The stack is small whatever RLIMIT_STACK says: a large one may not fit into RLIMIT_AS, and a
 * small limit may be too little. Returns 0 or a negative errno.
 */
int thread_start(pthread_t *ret, void *(*main)(void *), void *arg);
/*
 * Calls fn in a thread of its own and waits for it; in this one, if no thread can be started. What
 * fn allocates is then in the heap of that thread: in ours a few bytes that are freed late would
 * hold back all below them.
 */
int thread_call(int (*fn)(void *arg), void *arg);
/*
 * The number of threads for reading files: one a CPU, fewer if few files may be open, at most
 * `max`.
 */
unsigned thread_count(unsigned max);

#endif
