// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* CPU time for files of targets: what is left outlives the helper that used it. */
#include "unit.h"

#include <errno.h>
#include <unistd.h>

#include "base/clock.h"
#include "privilege/helper.h"

#define S UINT64_C(1000000)

TEST(budget)
{
	struct cpu_budget b = {};

	assert_true(cpu_budget_fill(&b, 15 * S, 1000 * S));
	assert_int_equal(b.left_us, 15 * S);
	cpu_budget_spend(&b, 5 * S);
	assert_int_equal(b.left_us, 10 * S);
	/* More than there is: a request in its limit may cost more. */
	cpu_budget_spend(&b, 40 * S);
	assert_int_equal(b.left_us, 0);
	assert_false(cpu_budget_fill(&b, 15 * S, 1000 * S));
	/* A quarter of a minute, a quarter of it. */
	assert_true(cpu_budget_fill(&b, 16 * S, 1015 * S));
	assert_int_equal(b.left_us, 4 * S);
	/* Never more than all. */
	assert_true(cpu_budget_fill(&b, 16 * S, 100000 * S));
	assert_int_equal(b.left_us, 16 * S);
}

/* Uses CPU time until it is ended. */
static int burn(void *state, struct helper_message *request, struct helper_message *ret)
{
	(void)state;
	(void)request;
	(void)ret;
	while (clock_us(CLOCK_MONOTONIC) > 0)
		;
	return 0;
}

static const struct helper_kind kind = {
	.answer = burn,
	.memory = 1 << 20,
	.limits = {.cpu_us = 20000, .idle_us = 60 * S},
};

/* Each request has its helper killed, and the next one a new helper, until the budget is used up.
 */
TEST(killed)
{
	struct helpers shared = {.hurry_fd = -1};
	static struct helper h;
	int r = -EOVERFLOW, calls = 0;

	helper_init(&h, &kind, getuid(), getgid(), NULL, &shared);
	/* What is left of a minute that has just begun. */
	cpu_budget_fill(&h.budget, BUDGET_USER_US, clock_us(CLOCK_MONOTONIC));
	h.budget.left_us = 50000;
	while (r == -EOVERFLOW && calls < 1000) {
		helper_begin(&h, 1);
		r = helper_call_file(&h);
		calls++;
		/* The time of the test does not fill it. */
		h.budget.filled_us = clock_us(CLOCK_MONOTONIC);
	}
	assert_int_equal(r, -EFBIG);
	assert_in_range(calls, 2, 4);
	/* Another user has its own. */
	assert_true(shared.budget.left_us >= 10 * S);
	helper_done(&h);
}
