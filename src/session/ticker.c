// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A timer and signals, as files for one poll(). */
#include "session/ticker.h"

#include <errno.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"

void end_signals(sigset_t *ret)
{
	static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
	struct sigaction act;

	sigemptyset(ret);
	for (size_t i = 0; i < ARRAY_SIZE(signals); i++) {
		if (sigaction(signals[i], NULL, &act) < 0 || act.sa_handler != SIG_IGN)
			sigaddset(ret, signals[i]);
	}
}

/* A tick that is late by at most 1/LATE_PART of the interval is taken, not skipped. */
#define LATE_PART 4

uint64_t ticker_due(uint64_t start_us, uint64_t interval_us, uint64_t next, uint64_t now)
{
	uint64_t passed = now > start_us ? now - start_us : 0, newest;

	if (!interval_us)
		return next;
	newest = passed / interval_us;
	if (newest < next)
		return next;
	return passed % interval_us <= interval_us / LATE_PART ? newest : newest + 1;
}

/* Sets the timer for the next tick. If that time is past, the timer fires at once. */
static int arm(const struct ticker *t)
{
	uint64_t at = t->start_us + t->next * t->interval_us;
	const struct itimerspec when = {
		.it_value = {(time_t)(at / 1000000), (long)(at % 1000000) * 1000},
	};

	return timerfd_settime(t->timer_fd, TFD_TIMER_ABSTIME, &when, NULL) < 0 ? -errno : 0;
}

int ticker_open(struct ticker *t, uint64_t interval_us, int input_fd)
{
	sigset_t set;

	*t = (struct ticker){.timer_fd = -1,
			     .signal_fd = -1,
			     .input_fd = input_fd,
			     .urgent_fd = -1,
			     .interval_us = interval_us,
			     .start_us = clock_us(CLOCK_MONOTONIC)};
	end_signals(&set);
	sigaddset(&set, SIGWINCH);
	pthread_sigmask(SIG_BLOCK, &set, &t->before);
	t->blocked = true;
	t->signal_fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
	if (t->signal_fd < 0)
		return -errno;
	t->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	return t->timer_fd < 0 ? -errno : 0;
}

bool ticker_ends(struct ticker *t)
{
	struct signalfd_siginfo info;

	while (read(t->signal_fd, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		if (info.ssi_signo == SIGWINCH) {
			t->resize = true;
			continue;
		}
		t->end = true;
		t->end_signal = (int)info.ssi_signo;
		t->end_sent = info.ssi_code <= 0;
	}
	return t->end;
}

/* Skips the ticks that came due meanwhile, but takes one that is hardly late. */
static int skip_missed(struct ticker *t)
{
	uint64_t due = ticker_due(t->start_us, t->interval_us, t->next, clock_us(CLOCK_MONOTONIC));

	t->missed += due - t->next;
	t->next = due;
	return arm(t);
}

/* The event that needs no waiting. */
static bool next_event(struct ticker *t, const struct pollfd *fds, enum ticker_event *ret)
{
	if (ticker_ends(t)) {
		*ret = TICKER_END;
		return true;
	}
	if (t->resize) {
		t->resize = false;
		*ret = TICKER_RESIZE;
		return true;
	}
	if (t->urgent) {
		t->urgent = false;
		*ret = TICKER_URGENT;
		return true;
	}
	if (!t->interval_us || fds[0].revents) {
		t->next++;
		*ret = TICKER_TICK;
		return true;
	}
	*ret = TICKER_INPUT;
	return fds[2].revents;
}

/* A trigger tells once: it is noted, whatever event is returned first. */
static void note_urgent(struct ticker *t, struct pollfd *fd)
{
	if (fd->fd < 0 || !fd->revents)
		return;
	t->urgent = true;
	if (fd->revents & POLLPRI && !(fd->revents & (POLLERR | POLLNVAL)))
		return;
	t->urgent_broken = true;
	t->urgent_fd = fd->fd = -1;
	fd->revents = 0;
}

int ticker_wait(struct ticker *t, enum ticker_event *ret)
{
	struct pollfd fds[] = {
		{.fd = t->timer_fd, .events = POLLIN},
		{.fd = t->signal_fd, .events = POLLIN},
		{.fd = t->input_fd, .events = POLLIN},
		{.fd = t->urgent_fd, .events = POLLPRI},
	};
	int r = t->interval_us ? skip_missed(t) : 0;

	if (r < 0)
		return r;
	/* poll() refuses more descriptors than RLIMIT_NOFILE, even those that are -1. */
	nfds_t count = t->urgent_fd < 0 ? 3 : 4;

	while (!next_event(t, fds, ret)) {
		if (poll(fds, count, -1) < 0 && errno != EINTR)
			return -errno;
		note_urgent(t, &fds[3]);
	}
	return 0;
}

void ticker_now(struct ticker *t)
{
	t->start_us = clock_us(CLOCK_MONOTONIC);
	t->next = 0;
}

void ticker_set_interval(struct ticker *t, uint64_t interval_us)
{
	t->interval_us = interval_us;
	t->start_us = clock_us(CLOCK_MONOTONIC);
	t->next = 1;
}

void ticker_close(struct ticker *t)
{
	/* A signal that came twice must not end the program after this. */
	if (t->signal_fd >= 0)
		ticker_ends(t);
	if (t->timer_fd >= 0)
		close(t->timer_fd);
	if (t->signal_fd >= 0)
		close(t->signal_fd);
	t->timer_fd = t->signal_fd = -1;
	if (t->blocked)
		pthread_sigmask(SIG_SETMASK, &t->before, NULL);
	t->blocked = false;
}
