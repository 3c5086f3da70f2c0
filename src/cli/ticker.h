/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * When a command that stays has something to do: ticks on a grid that does not drift, signals, and
 * one file more. Ticks that could not be had are left out and counted, never made up for. Knows
 * nothing of what happens in a tick.
 */
#ifndef ZMEM_CLI_TICKER_H
#define ZMEM_CLI_TICKER_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

enum ticker_event {
	TICKER_TICK,
	TICKER_RESIZE, /* SIGWINCH */
	TICKER_INPUT,  /* the file can be read */
	TICKER_END,    /* SIGINT, SIGTERM, SIGHUP */
};

struct ticker {
	int timer_fd, signal_fd, input_fd;
	uint64_t interval_us; /* 0: always due */
	uint64_t start_us;    /* CLOCK_MONOTONIC: when tick 0 was due */
	uint64_t next;	      /* the tick that comes next */
	uint64_t ticks;	      /* how many there were */
	uint64_t missed;      /* and how many were left out */
	bool end, resize;     /* signals that came and were not told yet */
	bool blocked;
	sigset_t before;
};

/*
 * From here on these signals wait to be told (so before any thread is started). The first tick is
 * due now. `input_fd`: -1 for none; not closed. Returns 0 or a negative errno; ticker_close() in
 * either case, also of a struct that is all {.timer_fd = -1, .signal_fd = -1}.
 */
int ticker_open(struct ticker *t, uint64_t interval_us, int input_fd);
/*
 * Waits for what comes next: an end before a resize, that before a tick, that before input. Returns
 * 0 or a negative errno.
 */
int ticker_wait(struct ticker *t, enum ticker_event *ret);
/*
 * Takes the signals that have come so far, without waiting; true if there was one that ends. They
 * are told all the same by the next wait.
 */
bool ticker_ends(struct ticker *t);
/* Another interval from now on, with the next tick one interval away. */
void ticker_set_interval(struct ticker *t, uint64_t interval_us);
/* The next tick is due now, whatever the grid says; the grid begins anew. */
void ticker_now(struct ticker *t);
void ticker_close(struct ticker *t);

/*
 * The number of the tick to take next, at a time after tick `next` - 1: `next` if it is still to
 * come or hardly late, else the first that is to come. Ticks of a grid that begins at `start_us`.
 */
uint64_t ticker_due(uint64_t start_us, uint64_t interval_us, uint64_t next, uint64_t now_us);

/*
 * SIGINT, SIGTERM and SIGHUP, less those that were ignored when the program started (nohup, `&` in
 * a script).
 */
void end_signals(sigset_t *ret);

#endif
