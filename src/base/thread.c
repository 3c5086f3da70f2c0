// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Knows what a thread of ours starts with, not what it does. */
#include "base/thread.h"

#include <signal.h>

#define STACK_SIZE (128 * 1024)

int thread_start(pthread_t *ret, void *(*main)(void *), void *arg)
{
	sigset_t all, before;
	pthread_attr_t attr;
	int r;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_SIZE);
	r = pthread_create(ret, &attr, main, arg);
	pthread_attr_destroy(&attr);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return -r;
}
