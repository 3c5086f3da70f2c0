// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Asks a helper within its limits. */
#include "privilege/grow_helper.h"

#include <errno.h>

#include "base/cleanup.h"
#include "base/clock.h"

#define MINUTE_US 60000000

bool cpu_budget_fill(struct cpu_budget *b, uint64_t max_us, uint64_t now_us)
{
	uint64_t passed = now_us - b->filled_us;

	if (!b->filled_us || passed > MINUTE_US)
		passed = MINUTE_US;
	b->left_us += max_us * passed / MINUTE_US;
	if (b->left_us > max_us)
		b->left_us = max_us;
	b->filled_us = now_us;
	return b->left_us > 0;
}

void cpu_budget_spend(struct cpu_budget *b, uint64_t us)
{
	b->left_us -= us < b->left_us ? us : b->left_us;
}

void grow_helper_init(struct grow_helper *h, const struct grow_helper_kind *kind, uid_t uid,
		      gid_t gid, void *state, struct grow_helpers *shared)
{
	h->kind = kind;
	h->shared = shared;
	helper_init(&h->helper, &kind->kind, uid, gid, state, &shared->left);
}

void grow_helper_begin(struct grow_helper *h, uint32_t what)
{
	h->request.kind = what;
	h->request.len = h->request.fds = 0;
}

int grow_helper_call(struct grow_helper *h, size_t fds)
{
	const struct helper_limits limits = {.cpu_us = h->kind->cpu_us,
					     .idle_us = h->kind->idle_us,
					     .hurry_fd = h->shared->hurry_fd};
	int error = helper_call(&h->helper, &limits, &h->request, &h->answer);

	while (error == 0 && h->answer.fds > fds)
		close_fd(&h->answer.fd[--h->answer.fds]);
	return error;
}

int grow_helper_call_file(struct grow_helper *h)
{
	const uint64_t now = clock_us(CLOCK_MONOTONIC);
	bool has = cpu_budget_fill(&h->budget, BUDGET_USER_US, now);
	int error;

	if (!cpu_budget_fill(&h->shared->budget, BUDGET_RUN_US, now) || !has)
		return -EFBIG;
	error = grow_helper_call(h, 0);
	cpu_budget_spend(&h->budget, h->helper.used_us);
	cpu_budget_spend(&h->shared->budget, h->helper.used_us);
	return error;
}
