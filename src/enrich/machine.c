// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Host and memory of the machine. What cannot be read stays empty or unset. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/clock.h"
#include "enrich/enrich.h"

#define CLOCK_READINGS 4

/*
 * The same at every reading as long as nobody sets the clock, since processes are told apart by
 * when they started: whole milliseconds of the difference, not of its parts, and of the pair of
 * clocks that was read with the least time in between. 0 before the epoch.
 */
static uint64_t read_boot_ms(void)
{
	uint64_t least = UINT64_MAX, boot_ns = 0;

	for (int i = 0; i < CLOCK_READINGS; i++) {
		uint64_t before = clock_ns(CLOCK_BOOTTIME), wall = clock_ns(CLOCK_REALTIME);
		uint64_t gap = clock_ns(CLOCK_BOOTTIME) - before;

		if (gap >= least)
			continue;
		least = gap;
		boot_ns = wall > before + gap / 2 ? wall - before - gap / 2 : 0;
	}
	return boot_ns / 1000000;
}

static void read_host(struct host_info *host)
{
	struct utsname uts = {};

	uname(&uts);
	snprintf(host->name, sizeof(host->name), "%s", uts.nodename);
	snprintf(host->kernel_release, sizeof(host->kernel_release), "%s", uts.release);
	snprintf(host->arch, sizeof(host->arch), "%s", uts.machine);
	host->page_size = (uint32_t)sysconf(_SC_PAGESIZE);
	host->cpus = (uint32_t)sysconf(_SC_NPROCESSORS_ONLN);
	host->boot_ms = read_boot_ms();
}

static void keep_host(struct tape *tape, const struct host_info *host)
{
	tape_put_string(tape, "host/name", host->name);
	tape_put_string(tape, "host/kernel_release", host->kernel_release);
	tape_put_string(tape, "host/arch", host->arch);
	tape_put_u64(tape, "host/page_size", host->page_size);
	tape_put_u64(tape, "host/cpus", host->cpus);
	tape_put_u64(tape, "host/boot_ms", host->boot_ms);
}

static uint64_t play_u64(struct tape *tape, const char *key, uint64_t max)
{
	uint64_t value = 0;

	return tape_next_u64(tape, key, &value) && value <= max ? value : 0;
}

static void play_host(struct tape *tape, struct host_info *host)
{
	*host = (struct host_info){};
	tape_next_text(tape, "host/name", host->name, sizeof(host->name));
	tape_next_text(tape, "host/kernel_release", host->kernel_release,
		       sizeof(host->kernel_release));
	tape_next_text(tape, "host/arch", host->arch, sizeof(host->arch));
	host->page_size = (uint32_t)play_u64(tape, "host/page_size", UINT32_MAX);
	host->cpus = (uint32_t)play_u64(tape, "host/cpus", UINT32_MAX);
	host->boot_ms = play_u64(tape, "host/boot_ms", INT64_MAX);
}

static void read_boot_id(const struct procfs *proc, struct host_info *host)
{
	ssize_t len = procfs_read(proc, "sys/kernel/random/boot_id", host->boot_id,
				  sizeof(host->boot_id));

	if (len < 0)
		host->boot_id[0] = '\0';
	host->boot_id[strcspn(host->boot_id, "\n")] = '\0';
}

/* ---- zram: "name stored compressed used" a line ---- */

#define ZRAM_KEY "zram"

static void keep_zram(struct tape *tape, const struct system_info *system)
{
	char text[ZRAM_MAX * 96];
	size_t len = 0;

	for (size_t i = 0; i < system->zram_count; i++) {
		const struct zram_device *d = &system->zram[i];

		len += (size_t)snprintf(text + len, sizeof(text) - len,
					"%s %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", d->name,
					d->stat.stored, d->stat.compressed, d->stat.used);
	}
	tape_put(tape, ZRAM_KEY, 0, text, len);
}

static void add_zram(void *arg, const char *name, const struct zram_stat *stat)
{
	struct system_info *system = arg;
	struct zram_device *device;

	if (system->zram_count == ZRAM_MAX)
		return;
	device = &system->zram[system->zram_count++];
	snprintf(device->name, sizeof(device->name), "%s", name);
	device->stat = *stat;
}

static void play_zram(struct tape *tape, struct system_info *system)
{
	char text[ZRAM_MAX * 96], *rest = text, *line;

	if (tape_next_text(tape, ZRAM_KEY, text, sizeof(text)) <= 0)
		return;
	while ((line = strsep(&rest, "\n")) && rest) {
		const char *name = strsep(&line, " ");
		struct zram_stat stat;
		size_t len = line ? strlen(line) : 0;

		if (!len)
			continue;
		line[len] = '\n'; /* a number is whole only if something is behind it */
		if (zram_stat_parse(line, len + 1, &stat) == 0)
			add_zram(system, name, &stat);
	}
}

static void read_swaps(const struct procfs *proc, struct system_info *system)
{
	char text[16384];
	ssize_t len = procfs_read(proc, "swaps", text, sizeof(text));
	int count = len > 0 ? swaps_parse(text, (size_t)len, system->swap, SWAP_MAX) : -1;

	system->swaps_known = count >= 0;
	system->swap_count = count > 0 ? (size_t)count : 0;
}

void machine_read(const struct procfs *proc, struct host_info *host, struct system_info *system)
{
	char text[8192];
	ssize_t len = procfs_read(proc, "meminfo", text, sizeof(text));

	*system = (struct system_info){};
	if (len > 0)
		meminfo_parse(text, (size_t)len, &system->meminfo);
	read_swaps(proc, system);
	if (tape_playing(proc->tape)) {
		play_zram(proc->tape, system);
		play_host(proc->tape, host);
	} else {
		zram_each("/sys/block", add_zram, system);
		read_host(host);
		keep_zram(proc->tape, system);
		keep_host(proc->tape, host);
	}
	read_boot_id(proc, host);
}
