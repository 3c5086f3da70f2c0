// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Knows descriptors, of which there are few. */
#include "serve/cost.h"

#include <fcntl.h>

/* More than either process has: the one limits itself, the other needs a few for each worker. */
#define FDS_MAX 2048

void cost_read(const struct own *own, struct cost *ret)
{
	*ret = (struct cost){.cpu_us = own_cpu_us(), .resident = own_resident(own)};
	for (int fd = 0; fd < FDS_MAX; fd++)
		ret->fds += fcntl(fd, F_GETFD) >= 0;
}
