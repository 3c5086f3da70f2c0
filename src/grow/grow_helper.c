// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Asks a helper within its limits. */
#include "grow/grow_helper.h"

#include "base/cleanup.h"

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
