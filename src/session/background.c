// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Priority, locked memory, and what the process itself costs. */
#include "session/background.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/parse.h"
#include "privilege/privilege.h"
#include "session/log.h"

#ifndef MCL_ONFAULT
#define MCL_ONFAULT 4
#endif

/* ---- what the process costs ---- */

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

/* ---- priority and locked memory ---- */

/* A nice value that is higher already stays. */
static void set_priority(const struct options *o)
{
	int wanted = o->nice == NICE_DEFAULT ? NICE_USUAL : o->nice, current;

	errno = 0;
	current = getpriority(PRIO_PROCESS, 0);
	if (errno || current < wanted)
		setpriority(PRIO_PROCESS, 0, wanted);
}

static void lock_memory(const struct options *o)
{
	struct rlimit limit = {};

	getrlimit(RLIMIT_MEMLOCK, &limit);
	if (limit.rlim_cur != RLIM_INFINITY && !privilege_held(PRIVILEGE_LOCK))
		log_notice(!o->verbose,
			   "memory is not locked: %s is missing (or ulimit -l unlimited)",
			   privilege_name(PRIVILEGE_LOCK));
	else if (mlockall(MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT) < 0)
		log_notice(!o->verbose, "memory is not locked: %s", strerror(errno));
	else if (o->verbose)
		log_notice(false, "memory is locked as it is touched");
}

void background_begin(struct background *g, const struct options *o)
{
	*g = (struct background){};
	self_usage_open(&g->own);
	set_priority(o);
	if (!o->no_lock)
		lock_memory(o);
	g->cpu_us = self_usage_cpu_us();
}

void background_tick(struct background *g)
{
	uint64_t now = self_usage_cpu_us();

	g->cost = (struct own_cost){
		.known = true,
		.cpu_us = now - g->cpu_us,
		.resident_bytes = self_usage_resident(&g->own),
	};
	g->cpu_us = now;
}

void background_done(struct background *g)
{
	self_usage_close(&g->own);
}
