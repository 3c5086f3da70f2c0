// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The schedule of ticks, and the order of events. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <unistd.h>

#include "cli/ticker.h"
#include "base/cleanup.h"

static void test_grid(void **state)
{
	(void)state;
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
static void test_order(void **state)
{
	cleanup(ticker_close) struct ticker t;
	int pipes[2];

	(void)state;
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

static void test_interval(void **state)
{
	cleanup(ticker_close) struct ticker t;

	(void)state;
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
static void test_signals(void **state)
{
	struct ticker t;
	sigset_t set;

	(void)state;
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
static void test_broken(void **state)
{
	cleanup(ticker_close) struct ticker t;
	int pipes[2];

	(void)state;
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_grid),	cmocka_unit_test(test_order),
		cmocka_unit_test(test_broken),	cmocka_unit_test(test_interval),
		cmocka_unit_test(test_signals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
