// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Starts threads and decides how many are useful. */
#include "base/thread.h"

#include <sched.h>
#include <signal.h>
#include <sys/resource.h>

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

struct call {
	int (*fn)(void *arg);
	void *arg;
	int result;
};

static void *run_call(void *arg)
{
	struct call *c = arg;

	c->result = c->fn(c->arg);
	return NULL;
}

int thread_call(int (*fn)(void *arg), void *arg)
{
	struct call c = {fn, arg, 0};
	pthread_t thread;

	if (pthread_create(&thread, NULL, run_call, &c) != 0)
		return fn(arg);
	pthread_join(thread, NULL);
	return c.result;
}

unsigned thread_count(unsigned max)
{
	struct rlimit files;
	unsigned count = 1;
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set) == 0)
		count = (unsigned)CPU_COUNT(&set);
	/* Each thread may open two files, and the process needs others. */
	if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur / 8 < count)
		count = files.rlim_cur / 8 ? (unsigned)(files.rlim_cur / 8) : 1;
	return count < max ? count : max;
}
