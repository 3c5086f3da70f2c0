// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "load/load_limit.h"

#include <errno.h>
#include <pthread.h>
#include <unistd.h>

#include "base/clock.h"

#define NS_PER_S 1000000000ULL
/* libbpf loads a program that was interrupted again, up to five times. */
#define AGAIN_NS 10000000
/* A thread that had less than this part of the time was stopped, or the machine was. */
#define STOPPED_PART 8

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

static void ignore(int signal)
{
	(void)signal;
}

void load_limit_begin(struct load_limit *limit, uint64_t ns)
{
	const int number = SIGRTMIN + 5;
	struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = number};
	const struct itimerspec when = {
		.it_value = {(time_t)(ns / NS_PER_S), (long)(ns % NS_PER_S)},
		.it_interval = {0, AGAIN_NS},
	};
	struct sigaction action = {.sa_handler = ignore};
	sigset_t set;

	*limit = (struct load_limit){.late_ns =
					     clock_ns(CLOCK_THREAD_CPUTIME_ID) + ns / STOPPED_PART};
	event.sigev_notify_thread_id = gettid();
	/* A timer of processor time sends no signal before the thread leaves the kernel. */
	if (timer_create(CLOCK_MONOTONIC, &event, &limit->timer) < 0)
		return;
	limit->armed = true;
	sigaction(number, &action, &limit->action);
	sigemptyset(&set);
	sigaddset(&set, number);
	pthread_sigmask(SIG_UNBLOCK, &set, &limit->mask);
	timer_settime(limit->timer, 0, &when, NULL);
}

int load_limit_end(struct load_limit *limit, int r)
{
	bool late = limit->armed && clock_ns(CLOCK_THREAD_CPUTIME_ID) >= limit->late_ns;

	if (limit->armed) {
		/* A signal that is still pending goes with the timer. */
		timer_delete(limit->timer);
		pthread_sigmask(SIG_SETMASK, &limit->mask, NULL);
		sigaction(SIGRTMIN + 5, &limit->action, NULL);
	}
	limit->armed = false;
	return r == -EAGAIN && late ? -ETIME : r;
}
