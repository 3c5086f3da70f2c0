// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Reads CPU time, resident memory and open descriptors of this process. */
#include "serve/cost.h"

#include <poll.h>

/* More than either process opens: the HTTP process limits itself, the collector needs a few a
 * worker. */
#define FDS_MAX 2048
/* poll() refuses more descriptors at once than RLIMIT_NOFILE. */
#define FDS_AT_ONCE 256

/*
 * Counts open descriptors. The sandboxed HTTP process cannot read /proc, so poll() is asked about
 * each number: it reports POLLNVAL for a descriptor that is not open.
 */
static unsigned count_fds(void)
{
	struct pollfd fds[FDS_AT_ONCE];
	nfds_t many = FDS_AT_ONCE;
	unsigned open = 0;

	for (nfds_t first = 0; first < FDS_MAX && many;) {
		for (nfds_t i = 0; i < many; i++)
			fds[i] = (struct pollfd){.fd = (int)(first + i)};
		if (poll(fds, many, 0) < 0) {
			many /= 2;
			continue;
		}
		for (nfds_t i = 0; i < many; i++)
			open += !(fds[i].revents & POLLNVAL);
		first += many;
	}
	return open;
}

void cost_read(const struct self_usage *own, struct cost *ret)
{
	*ret = (struct cost){.cpu_us = self_usage_cpu_us(),
			     .resident = self_usage_resident(own),
			     .fds = count_fds()};
}
