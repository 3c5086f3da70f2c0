// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Host and memory of the machine. What cannot be read stays empty or unset. */
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "zmem/enrich.h"

static void read_host(const struct procfs *proc, struct host_info *host)
{
	struct utsname uts = {};
	struct timespec wall, boot;
	ssize_t len;

	uname(&uts);
	snprintf(host->name, sizeof(host->name), "%s", uts.nodename);
	snprintf(host->kernel_release, sizeof(host->kernel_release), "%s", uts.release);
	snprintf(host->arch, sizeof(host->arch), "%s", uts.machine);
	host->page_size = (uint32_t)sysconf(_SC_PAGESIZE);
	host->cpus = (uint32_t)sysconf(_SC_NPROCESSORS_ONLN);
	len = file_read(proc->fd, "sys/kernel/random/boot_id", host->boot_id,
			sizeof(host->boot_id));
	if (len < 0)
		host->boot_id[0] = '\0';
	host->boot_id[strcspn(host->boot_id, "\n")] = '\0';
	clock_gettime(CLOCK_REALTIME, &wall);
	clock_gettime(CLOCK_BOOTTIME, &boot);
	host->boot_ms = (uint64_t)(wall.tv_sec - boot.tv_sec) * 1000 +
			(uint64_t)((wall.tv_nsec - boot.tv_nsec) / 1000000);
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

void machine_read(const struct procfs *proc, struct host_info *host, struct system_info *system)
{
	char text[8192];
	ssize_t len = proc->fd < 0 ? -1 : file_read(proc->fd, "meminfo", text, sizeof(text));

	*system = (struct system_info){};
	if (len > 0)
		meminfo_parse(text, (size_t)len, &system->meminfo);
	zram_each("/sys/block", add_zram, system);
	read_host(proc, host);
}
