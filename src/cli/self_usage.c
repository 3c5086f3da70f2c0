// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Knows /proc/self/statm and the clock of a process. */
#include "cli/self_usage.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/parse.h"

void self_usage_open(struct self_usage *own)
{
	own->statm = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
}

/* "size resident …", pages (proc_pid_statm(), fs/proc/array.c). */
uint64_t self_usage_resident(const struct self_usage *own)
{
	char text[128];
	ssize_t len = own->statm < 0 ? -1 : pread(own->statm, text, sizeof(text), 0);
	const char *pos = text;
	uint64_t size, resident;

	if (len <= 0 || !scan_u64(&pos, text + len, &size) ||
	    !scan_u64(&pos, text + len, &resident))
		return 0;
	return resident * (uint64_t)sysconf(_SC_PAGESIZE);
}

uint64_t self_usage_cpu_us(void)
{
	return clock_us(CLOCK_PROCESS_CPUTIME_ID);
}

void self_usage_close(struct self_usage *own)
{
	if (own->statm >= 0)
		close(own->statm);
	own->statm = -1;
}
