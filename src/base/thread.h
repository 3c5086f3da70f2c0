/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Threads of our own. */
#ifndef ZMEM_BASE_THREAD_H
#define ZMEM_BASE_THREAD_H

#include <pthread.h>

/*
 * Starts one that takes no signals: they are for the caller's, which may want to hold them back.
 * Its stack is small whatever RLIMIT_STACK says, which would be room that RLIMIT_AS may not have,
 * or less than is needed. Returns 0 or a negative errno.
 */
int thread_start(pthread_t *ret, void *(*main)(void *), void *arg);
/* How many that read files side by side: one a CPU, fewer where few may be open; `max` at most. */
unsigned thread_count(unsigned max);

#endif
