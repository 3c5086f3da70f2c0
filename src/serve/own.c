// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Knows getrusage, /proc/self/statm and descriptors, of which there are few. */
#include "serve/own.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

/* More than either process has: the one limits itself, the other needs a few for each worker. */
#define FDS_MAX 2048

void own_open(struct own *own)
{
	own->statm = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
}

static uint64_t resident(const struct own *own)
{
	unsigned long long size, pages;
	char text[128];
	ssize_t n = own->statm < 0 ? -1 : pread(own->statm, text, sizeof(text) - 1, 0);

	if (n <= 0)
		return 0;
	text[n] = '\0';
	if (sscanf(text, "%llu %llu", &size, &pages) != 2)
		return 0;
	return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

void own_cost(const struct own *own, struct cost *ret)
{
	struct rusage usage = {};

	getrusage(RUSAGE_SELF, &usage);
	*ret = (struct cost){.resident = resident(own)};
	ret->cpu_us = (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000 +
		      (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
	for (int fd = 0; fd < FDS_MAX; fd++)
		ret->fds += fcntl(fd, F_GETFD) >= 0;
}

void own_close(struct own *own)
{
	if (own->statm >= 0)
		close(own->statm);
	own->statm = -1;
}
