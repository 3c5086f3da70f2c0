// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Sets a PSI trigger, and looks at MemAvailable, swap, stalled time and refaults. */
#include "watch/pressure_watch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "model/system.h"
#include "privilege/privilege.h"

/* Without CAP_SYS_RESOURCE the kernel takes multiples of 2 s alone. */
#define WINDOW_US 2000000
/*
 * Without PSI, so much a second is a shortage. In guests that swapped on zram it came with 10 % of
 * stalled time (src/doc/benchmarks.md).
 */
#define REFAULTS (UINT64_C(16) << 20)

/* Before Linux 5.12 the mode of the file lets root write by its capabilities alone. */
static int open_file(const char *path)
{
	int fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);

	if (fd >= 0)
		return fd;
	return errno == EACCES ? privilege_open(path, O_RDWR | O_NONBLOCK) : -errno;
}

void pressure_watch_open(struct pressure_watch *w, const char *path,
			 const struct pressure_limits *limits)
{
	char text[64];
	int len = snprintf(text, sizeof(text), "some %u %u", limits->stall * (WINDOW_US / 100),
			   WINDOW_US);
	int fd = limits->stall ? open_file(path) : -EINVAL;

	*w = (struct pressure_watch){.limits = *limits, .fd = fd, .error = fd < 0 ? fd : 0};
	/* With its terminator. */
	if (fd >= 0 && write(fd, text, (size_t)len + 1) < 0) {
		w->error = -errno;
		close(TAKE_FD(w->fd));
	}
}

static bool is_below(const struct meminfo *m, enum meminfo_counter part, enum meminfo_counter whole,
		     unsigned percent)
{
	return meminfo_has(m, part) && meminfo_has(m, whole) && m->value[whole] &&
	       m->value[part] < m->value[whole] / 100 * percent;
}

static void look_at_meminfo(const struct pressure_watch *w, const struct procfs *proc,
			    struct pressure_look *ret)
{
	struct meminfo m = meminfo_read(proc->fd);

	ret->available_known = meminfo_has(&m, MEMINFO_AVAILABLE);
	ret->total = m.value[MEMINFO_TOTAL];
	ret->available = m.value[MEMINFO_AVAILABLE];
	ret->swap_free_known = meminfo_has(&m, MEMINFO_SWAP_FREE) && m.value[MEMINFO_SWAP_TOTAL];
	ret->swap_free = m.value[MEMINFO_SWAP_FREE];
	if (is_below(&m, MEMINFO_AVAILABLE, MEMINFO_TOTAL, w->limits.left))
		ret->causes |= PRESSURE_AVAILABLE;
	if (is_below(&m, MEMINFO_SWAP_FREE, MEMINFO_SWAP_TOTAL, w->limits.left))
		ret->causes |= PRESSURE_SWAP;
}

static void look_at_stalls(const struct procfs *proc, struct pressure_look *ret)
{
	struct memory_pressure pressure = {};
	char text[256];
	ssize_t len = procfs_read(proc, "pressure/memory", text, sizeof(text));

	if (len > 0)
		memory_pressure_parse(text, (size_t)len, &pressure);
	ret->stalled_known = pressure.known;
	ret->stalled_us = pressure.some_total_us;
}

static void look_at_refaults(const struct procfs *proc, struct pressure_look *ret)
{
	char text[32768]; /* it has some 5 KiB */
	ssize_t len = procfs_read(proc, "vmstat", text, sizeof(text));

	ret->refaulted_known = len > 0 && refaults_parse(text, (uint32_t)sysconf(_SC_PAGESIZE),
							 &ret->refaulted) == 0;
}

/* What changed since the last look. */
static void look_at_changes(const struct pressure_watch *w, uint64_t passed_us, bool stalled,
			    struct pressure_look *now)
{
	const struct pressure_look *last = &w->last;

	if (stalled)
		now->causes |= PRESSURE_STALL;
	if (!w->limits.stall || w->fd >= 0 || !w->last_us || !passed_us)
		return;
	if (now->stalled_known && last->stalled_known && now->stalled_us > last->stalled_us &&
	    (now->stalled_us - last->stalled_us) * 100 >= passed_us * w->limits.stall)
		now->causes |= PRESSURE_STALL;
	if (!now->stalled_known && now->refaulted_known && last->refaulted_known &&
	    now->refaulted > last->refaulted &&
	    now->refaulted - last->refaulted >= REFAULTS / 1000 * passed_us / 1000)
		now->causes |= PRESSURE_REFAULTS;
}

void pressure_watch_look(struct pressure_watch *w, const struct procfs *proc, uint64_t now_us,
			 bool stalled, bool refaults, struct pressure_look *ret)
{
	struct pressure_look now = {};

	look_at_meminfo(w, proc, &now);
	look_at_stalls(proc, &now);
	if (refaults || !now.stalled_known)
		look_at_refaults(proc, &now);
	look_at_changes(w, now_us - w->last_us, stalled, &now);
	if (now.causes && !now.refaulted_known)
		look_at_refaults(proc, &now);
	w->last = *ret = now;
	w->last_us = now_us;
}

void pressure_watch_lost(struct pressure_watch *w)
{
	close_fd(&w->fd);
	w->error = -EPIPE;
}

void pressure_watch_close(struct pressure_watch *w)
{
	close_fd(&w->fd);
}
