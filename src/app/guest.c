// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Knows priorities, locked memory and our own figures; not what takes them. */
#include "app/guest.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "app/message.h"
#include "base/clock.h"
#include "base/parse.h"
#include "zmem/privilege.h"

#ifndef MCL_ONFAULT
#define MCL_ONFAULT 4
#endif

/* Whoever started us nicer than that meant it. */
static void give_way(const struct options *o)
{
	int wanted = o->nice == NICE_DEFAULT ? NICE_USUAL : o->nice, is;

	errno = 0;
	is = getpriority(PRIO_PROCESS, 0);
	if (errno || is < wanted)
		setpriority(PRIO_PROCESS, 0, wanted);
}

static void lock_memory(const struct options *o)
{
	struct rlimit limit = {};

	getrlimit(RLIMIT_MEMLOCK, &limit);
	if (limit.rlim_cur != RLIM_INFINITY && !privilege_held(PRIVILEGE_LOCK))
		message_note(!o->verbose,
			     "memory is not locked: %s is missing (or ulimit -l unlimited)",
			     privilege_name(PRIVILEGE_LOCK));
	else if (mlockall(MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT) < 0)
		message_note(!o->verbose, "memory is not locked: %s", strerror(errno));
	else if (o->verbose)
		message_note(false, "memory is locked as it is touched");
}

void guest_begin(struct guest *g, const struct options *o)
{
	*g = (struct guest){.statm_fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC)};
	give_way(o);
	if (!o->no_lock)
		lock_memory(o);
	g->cpu_us = clock_us(CLOCK_PROCESS_CPUTIME_ID);
}

/* "size resident …", pages (proc_pid_statm(), fs/proc/array.c). */
static uint64_t resident_bytes(int fd)
{
	char text[128];
	ssize_t len = fd < 0 ? -1 : pread(fd, text, sizeof(text) - 1, 0);
	const char *pos = text;
	uint64_t size, resident;

	if (len <= 0 || !scan_u64(&pos, text + len, &size) ||
	    !scan_u64(&pos, text + len, &resident))
		return 0;
	return resident * (uint64_t)sysconf(_SC_PAGESIZE);
}

void guest_tick(struct guest *g)
{
	uint64_t now = clock_us(CLOCK_PROCESS_CPUTIME_ID);

	g->cost = (struct own_cost){
		.known = true,
		.cpu_us = now - g->cpu_us,
		.resident_bytes = resident_bytes(g->statm_fd),
	};
	g->cpu_us = now;
}

void guest_done(struct guest *g)
{
	if (g->statm_fd >= 0)
		close(g->statm_fd);
	g->statm_fd = -1;
}
