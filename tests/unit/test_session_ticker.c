// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The schedule of ticks, and the order of events. */
#include "unit.h"

#include "session/ticker.h"

TEST(grid)
{
	/* In the future: that tick. */
	assert_int_equal(ticker_due(1000, 100, 0, 900), 0);
	assert_int_equal(ticker_due(1000, 100, 1, 1000), 1);
	assert_int_equal(ticker_due(1000, 100, 1, 1099), 1);
	/* Slightly late: that tick, at once. */
	assert_int_equal(ticker_due(1000, 100, 1, 1100), 1);
	assert_int_equal(ticker_due(1000, 100, 1, 1125), 1);
	/* Late: the next tick on the schedule. */
	assert_int_equal(ticker_due(1000, 100, 1, 1126), 2);
	assert_int_equal(ticker_due(1000, 100, 1, 1199), 2);
	/* Very late: missed ticks are skipped. */
	assert_int_equal(ticker_due(1000, 100, 1, 1710), 7);
	assert_int_equal(ticker_due(1000, 100, 1, 1790), 8);
	/* A tick that takes longer than the interval never overlaps the next one. */
	assert_int_equal(ticker_due(0, 1000000, 1, 1300000), 2);
	/* After years there is neither drift nor overflow. */
	assert_true(ticker_due(5, 100000, 1, 5 + 100000ull * 9000000000) == 9000000000);
	assert_int_equal(ticker_due(0, 0, 17, 99999), 17);
}

static enum ticker_event next(struct ticker *t)
{
	enum ticker_event e;

	assert_int_equal(ticker_wait(t, &e), 0);
	return e;
}

/* Simultaneous events are returned one by one: an end, a resize, a tick, input. */
TEST(order)
{
	cleanup(ticker_close) struct ticker t;
	int pipes[2];

	assert_int_equal(pipe(pipes), 0);
	assert_int_equal(write(pipes[1], "x", 1), 1);
	assert_int_equal(ticker_open(&t, 3600000000, pipes[0]), 0);
	assert_false(ticker_ends(&t));
	raise(SIGWINCH);
	raise(SIGWINCH);
	assert_int_equal(next(&t), TICKER_RESIZE);
	assert_int_equal(next(&t), TICKER_TICK);
	assert_int_equal(next(&t), TICKER_INPUT);
	assert_int_equal(next(&t), TICKER_INPUT);
	raise(SIGWINCH);
	raise(SIGTERM);
	assert_true(ticker_ends(&t));
	assert_int_equal(next(&t), TICKER_END);
	assert_int_equal(next(&t), TICKER_END);
	assert_int_equal(t.next, 1);
	assert_int_equal(t.missed, 0);
	/* A second signal after the end must not kill the program. */
	raise(SIGINT);
	ticker_close(&t);
	close(pipes[0]);
	close(pipes[1]);
}

TEST(interval)
{
	cleanup(ticker_close) struct ticker t;

	assert_int_equal(ticker_open(&t, 10000, -1), 0);
	assert_int_equal(next(&t), TICKER_TICK);
	usleep(55000);
	assert_int_equal(next(&t), TICKER_TICK);
	assert_true(t.missed >= 4);
	assert_int_equal(t.next, 2 + t.missed);
	ticker_set_interval(&t, 3600000000);
	assert_int_equal(t.next, 1);
	ticker_now(&t);
	assert_int_equal(next(&t), TICKER_TICK);
	/* Without an interval a tick is always due. */
	ticker_set_interval(&t, 0);
	for (int i = 0; i < 10; i++)
		assert_int_equal(next(&t), TICKER_TICK);
	raise(SIGTERM);
	assert_int_equal(next(&t), TICKER_END);
}

/* The signal actions are restored, and ignored signals stay ignored. */
TEST(signals)
{
	struct ticker t;
	sigset_t set;

	signal(SIGHUP, SIG_IGN);
	assert_int_equal(ticker_open(&t, 3600000000, -1), 0);
	pthread_sigmask(SIG_BLOCK, NULL, &set);
	assert_true(sigismember(&set, SIGINT) && sigismember(&set, SIGTERM));
	assert_false(sigismember(&set, SIGHUP));
	raise(SIGHUP);
	assert_int_equal(next(&t), TICKER_TICK);
	ticker_close(&t);
	ticker_close(&t);
	pthread_sigmask(SIG_BLOCK, NULL, &set);
	assert_false(sigismember(&set, SIGINT) || sigismember(&set, SIGTERM));
	signal(SIGHUP, SIG_DFL);
}

/* A broken file is said once, before a tick, and is not waited for again. */
TEST(broken)
{
	cleanup(ticker_close) struct ticker t;
	int pipes[2];

	assert_int_equal(pipe(pipes), 0);
	close(pipes[0]);
	assert_int_equal(ticker_open(&t, 50000, -1), 0);
	t.urgent_fd = pipes[1];
	assert_int_equal(next(&t), TICKER_URGENT);
	assert_true(t.urgent_broken);
	assert_int_equal(t.urgent_fd, -1);
	assert_int_equal(next(&t), TICKER_TICK);
	assert_int_equal(next(&t), TICKER_TICK);
	close(pipes[1]);
}
