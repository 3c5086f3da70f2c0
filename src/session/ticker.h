/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What watch and top wait for: ticks on a fixed schedule, signals, and one more file. If a
 * snapshot overruns, the ticks that it covers are skipped and counted.
 */
#ifndef ZMEM_SESSION_TICKER_H
#define ZMEM_SESSION_TICKER_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

enum ticker_event {
	TICKER_TICK,
	TICKER_RESIZE, /* SIGWINCH */
	TICKER_URGENT, /* urgent_fd has something urgent (POLLPRI), or is broken */
	TICKER_INPUT,  /* input_fd can be read */
	TICKER_END,    /* SIGINT, SIGTERM, SIGHUP */
};

struct ticker {
	int timer_fd, signal_fd, input_fd;
	int urgent_fd;	      /* -1: none; not closed. To be set after ticker_open() */
	uint64_t interval_us; /* 0: always due */
	uint64_t start_us;    /* CLOCK_MONOTONIC: when tick 0 was due */
	uint64_t next;	      /* the tick that comes next */
	uint64_t missed;      /* how many were skipped */
	bool urgent;	      /* it came and was not returned yet */
	bool urgent_broken;   /* urgent_fd was broken, and is no longer waited for */
	bool end, resize;     /* signals that came and were not returned yet */
	int end_signal;	      /* the last one that ends the program */
	bool end_sent;	      /* a process sent it; else the terminal did, to its whole group */
	bool blocked;
	sigset_t before;
};

/*
 * Blocks these signals, so it must be called before any thread is started. The first tick is due
 * now. `input_fd`: -1 for none; not closed. Returns 0 or a negative errno; ticker_close() in either
 * case, also of a struct that is all {.timer_fd = -1, .signal_fd = -1}.
 */
int ticker_open(struct ticker *t, uint64_t interval_us, int input_fd);
/*
 * Waits for the next event. Of several, END comes before RESIZE, RESIZE before URGENT, that before
 * TICK, TICK before INPUT. Returns 0 or a negative errno.
 */
int ticker_wait(struct ticker *t, enum ticker_event *ret);
/*
 * Reads the signals that have come so far, without waiting. True: one of them ends the program. The
 * next ticker_wait() returns them as well.
 */
bool ticker_ends(struct ticker *t);
/* Changes the interval. The next tick is one interval from now. */
void ticker_set_interval(struct ticker *t, uint64_t interval_us);
/* The next tick is due now, and the schedule begins anew. */
void ticker_now(struct ticker *t);
void ticker_close(struct ticker *t);

/*
 * The number of the tick to take next, at a time after tick `next` - 1: `next` if it is not due yet
 * or is less than a quarter of the interval late, else the first that is not due yet. Tick 0 is at
 * `start_us`.
 */
uint64_t ticker_due(uint64_t start_us, uint64_t interval_us, uint64_t next, uint64_t now_us);

/*
 * SIGINT, SIGTERM and SIGHUP, less those that were ignored when the program started (nohup, `&` in
 * a script).
 */
void end_signals(sigset_t *ret);

#endif
