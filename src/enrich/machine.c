// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Host and memory of the machine. What cannot be read stays empty or unset. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/array.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/parse.h"
#include "enrich/enrich.h"
#include "model/zones.h"
#include "proc/mounts.h"

#define CLOCK_READINGS 4

/*
 * The time of boot. Start times identify processes, so it must be the same at each call until the
 * clock is set: it is the difference of two clocks, read with the least time in between, and then
 * cut to milliseconds. 0 before the epoch.
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

static void read_boot_id(const struct procfs *proc, struct host_info *host)
{
	ssize_t len = procfs_read(proc, "sys/kernel/random/boot_id", host->boot_id,
				  sizeof(host->boot_id));

	if (len < 0)
		host->boot_id[0] = '\0';
	host->boot_id[strcspn(host->boot_id, "\n")] = '\0';
}

static void add_zram(void *arg, const char *name, const struct zram_stat *stat)
{
	struct system_info *system = arg;
	struct zram_device *device;
	char path[64];
	uint64_t size;

	if (system->zram_count == ZRAM_MAX)
		return;
	device = &system->zram[system->zram_count++];
	snprintf(device->name, sizeof(device->name), "%s", name);
	device->stat = *stat;
	snprintf(path, sizeof(path), "/sys/block/%s/disksize", device->name);
	if (file_number(AT_FDCWD, path, "", &size))
		device->size = size;
}

static void read_swaps(const struct procfs *proc, struct system_info *system)
{
	char text[16384];
	ssize_t len = procfs_read(proc, "swaps", text, sizeof(text));
	int count = len > 0 ? swaps_parse(text, (size_t)len, system->swap, SWAP_MAX) : -1;

	system->swaps_known = count >= 0;
	system->swap_count = count > 0 ? (size_t)count : 0;
}

void machine_read_totals(const struct procfs *proc, uint32_t page_size, struct system_info *system)
{
	struct machine_totals *t = &system->totals;
	char text[16384];
	ssize_t len = procfs_read(proc, "vmstat", text, sizeof(text));

	*t = (struct machine_totals){.read_us = clock_us(CLOCK_MONOTONIC)};
	if (len <= 0)
		return;
	swap_activity_parse(text, page_size, &system->swapped);
	oom_kills_parse(text, &system->oom_kills);
	t->swapped = system->swapped;
	t->known = t->swapped.known && refaults_parse(text, page_size, &t->refaulted) == 0 &&
		   scans_parse(text, page_size, &t->scanned) == 0;
}

/* What the kernel does not have stays unknown. */
static void read_activity(const struct procfs *proc, struct system_info *system, uint32_t page_size)
{
	char text[32768];
	ssize_t len = procfs_read(proc, "pressure/memory", text, sizeof(text));

	if (len > 0)
		memory_pressure_parse(text, (size_t)len, &system->pressure);
	machine_read_totals(proc, page_size, system);
	len = procfs_read(proc, "net/sockstat", text, sizeof(text));
	if (len > 0)
		sockstat_parse(text, (size_t)len, page_size, &system->sockets);
}

bool machine_accounts_delays(const struct procfs *proc, bool *ret)
{
	uint64_t value = 0;
	bool known = file_number(proc->fd, "sys/kernel/task_delayacct", "", &value);

	*ret = value;
	return known;
}

static void read_sysctls(const struct procfs *proc, struct system_info *system)
{
	uint64_t value;

	/* sysctl_max_map_count, mm/util.c */
	if (file_number(proc->fd, "sys/vm/max_map_count", "", &value))
		system->max_map_count = value;
	system->delay_accounting_known = machine_accounts_delays(proc, &system->delay_accounting);
}

/* ---- NUMA nodes ---- */

#define NODES_DIR "/sys/devices/system/node/"
/* NR_CPUS is at most that. */
#define CPUS_MAX  8192
#define WORD_BITS (8 * sizeof(unsigned long))

struct bits {
	unsigned long *word;
	unsigned count;
};

static void set_bit(void *arg, unsigned number)
{
	const struct bits *b = arg;

	if (number < b->count)
		b->word[number / WORD_BITS] |= 1UL << number % WORD_BITS;
}

/* "0-3,8": the bits of these numbers below `count`. False if there are no such numbers. */
static bool read_list(const char *path, unsigned long *word, unsigned count)
{
	struct bits bits = {word, count};
	char text[8192];
	ssize_t len = file_read(AT_FDCWD, path, text, sizeof(text));

	return len > 0 && parse_cpu_list(text, (size_t)len, set_bit, &bits) > 0;
}

uint32_t machine_nodes(void)
{
	unsigned long nodes = 0;

	return read_list(NODES_DIR "has_memory", &nodes, NODES_MAX) ? (uint32_t)nodes : 1;
}

static bool overlaps(const unsigned long *a, const unsigned long *b)
{
	for (size_t i = 0; i < CPUS_MAX / WORD_BITS; i++) {
		if (a[i] & b[i])
			return true;
	}
	return false;
}

struct cpu_nodes {
	unsigned long cpus[NODES_MAX][CPUS_MAX / WORD_BITS];
	uint16_t all; /* nodes with a CPU */
	struct process *process;
};

/* Returns 1 if the process may run on any node. */
static int add_thread(void *arg, pid_t tid)
{
	const struct cpu_nodes *c = arg;
	unsigned long allowed[CPUS_MAX / WORD_BITS] = {};

	if (syscall(SYS_sched_getaffinity, tid, sizeof(allowed), allowed) < 0)
		return 0;
	for (unsigned n = 0; n < NODES_MAX; n++) {
		if (overlaps(allowed, c->cpus[n]))
			c->process->cpu_nodes |= (uint16_t)(1U << n);
	}
	return c->process->cpu_nodes == c->all;
}

void machine_read_cpus(const struct procfs *proc, struct process *const *process, size_t count)
{
	struct cpu_nodes c = {};

	for (unsigned n = 0; n < NODES_MAX; n++) {
		char path[64];

		snprintf(path, sizeof(path), NODES_DIR "node%u/cpulist", n);
		c.all |= (uint16_t)(read_list(path, c.cpus[n], CPUS_MAX) << n);
	}
	/* Most threads of most processes may run on any CPU: then the first one says it. */
	for (size_t i = 0; i < count; i++) {
		c.process = process[i];
		if (process[i]->nodes && !add_thread(&c, process[i]->pid))
			procfs_each_thread(proc, process[i]->pid, add_thread, &c);
	}
}

/* Whether swap may be in use although a node has room. */
static bool nodes_matter(const struct system_info *system)
{
	uint64_t used;
	uint32_t nodes;

	if (!meminfo_swap_used(&system->meminfo, &used) || !used)
		return false;
	nodes = machine_nodes();
	return nodes & (nodes - 1);
}

static void set_nodes(const struct zones *zones, struct system_info *system, uint64_t page)
{
	if (!nodes_matter(system))
		return;
	for (uint32_t n = 0; n < NODES_MAX; n++) {
		struct node_memory *to = &system->nodes.node[system->nodes.count];

		to->node = n;
		for (size_t i = 0; i < zones->count; i++) {
			const struct zone *z = &zones->zone[i];

			if (z->node != n)
				continue;
			to->total += z->managed * page;
			to->free += z->free * page;
			to->high += z->high * page;
		}
		system->nodes.count += to->total != 0;
	}
}

/*
 * Whether both files are of the same machine: lxcfs gives a container a meminfo of its own, with
 * less RAM than the zones have. MemTotal may be more: the kernel sets up some frames when they are
 * needed.
 */
static bool is_of_machine(const struct meminfo *m, const struct zones *zones, uint64_t page)
{
	uint64_t managed = 0;

	for (size_t i = 0; i < zones->count; i++)
		managed += zones->zone[i].managed;
	return meminfo_has(m, MEMINFO_TOTAL) && m->value[MEMINFO_TOTAL] / page >= managed;
}

static void read_zones(const struct procfs *proc, struct system_info *system, uint64_t page)
{
	struct zones zones;

	zones_read(proc->fd, &zones);
	if (zones.count && is_of_machine(&system->meminfo, &zones, page))
		system->free = (struct free_memory){
			.known = true,
			.listed = zones.listed * page,
			.reserve = zones.reserve * page,
		};
	set_nodes(&zones, system, page);
}

/* Larger than any order of a huge page (PMD_ORDER with pages of 64 KiB is 13). */
#define HUGE_ORDERS 14
#define HUGE_DIR    "/sys/kernel/mm/transparent_hugepage/"

/* The kernel has a directory for each size that it can use. No machine has 2^40 pages. */
struct partly_mapped machine_partly_mapped(void)
{
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	struct partly_mapped found = {};

	for (unsigned order = 1; order < HUGE_ORDERS; order++) {
		char path[128];
		uint64_t count;

		snprintf(path, sizeof(path),
			 HUGE_DIR "hugepages-%llukB/stats/nr_anon_partially_mapped",
			 (unsigned long long)(page << order >> 10));
		if (!file_number(AT_FDCWD, path, "", &count) || count >> 20 >> (20 - order))
			continue;
		found.known = true;
		found.bytes += count * (page << order);
	}
	return found;
}

/* ---- what matters where there is much of it ---- */

/* Whether it is a share of RAM, or more. */
static bool is_part(const struct meminfo *m, enum meminfo_counter what, unsigned part)
{
	return meminfo_has(m, what) && meminfo_has(m, MEMINFO_TOTAL) &&
	       m->value[what] >= m->value[MEMINFO_TOTAL] / part;
}

#define HUGETLB_DIR "/sys/kernel/mm/hugepages"

/* Of all sizes. A page is free, and reserved by a process that has not touched it yet. */
static bool read_unused_hugetlb(uint64_t *ret)
{
	cleanup_closedir DIR *dir = opendir(HUGETLB_DIR);
	const struct dirent *e;
	bool known = false;

	*ret = 0;
	while (dir && (e = readdir(dir))) {
		char path[512];
		uint64_t kb, nr_free, reserved;

		if (strncmp(e->d_name, "hugepages-", 10) != 0)
			continue;
		kb = strtoull(e->d_name + 10, NULL, 10);
		snprintf(path, sizeof(path), HUGETLB_DIR "/%s/free_hugepages", e->d_name);
		if (!file_number(AT_FDCWD, path, "", &nr_free))
			return false;
		snprintf(path, sizeof(path), HUGETLB_DIR "/%s/resv_hugepages", e->d_name);
		if (!file_number(AT_FDCWD, path, "", &reserved))
			return false;
		known = true;
		*ret += nr_free > reserved ? (nr_free - reserved) * kb * 1024 : 0;
	}
	return known;
}

static void read_rest(const struct procfs *proc, struct system_info *system)
{
	const struct meminfo *m = &system->meminfo;
	char text[256];
	uint64_t mode;
	ssize_t len;

	if (is_part(m, MEMINFO_HUGETLB, 20))
		system->hugetlb_unused_known = read_unused_hugetlb(&system->hugetlb_unused);
	if (is_part(m, MEMINFO_SLAB_RECLAIMABLE, 20)) {
		len = procfs_read(proc, "sys/fs/dentry-state", text, sizeof(text));
		if (len > 0)
			dentries_parse(text, (size_t)len, &system->dentries);
	}
	if (meminfo_has(m, MEMINFO_COMMIT_LIMIT) && meminfo_has(m, MEMINFO_COMMITTED) &&
	    m->value[MEMINFO_COMMITTED] >= m->value[MEMINFO_COMMIT_LIMIT] / 8 * 7 &&
	    file_number(proc->fd, "sys/vm/overcommit_memory", "", &mode))
		system->overcommit_strict = mode == 2; /* OVERCOMMIT_NEVER */
}

/* ---- tmpfs ---- */

static const struct mount *mount_of(const struct mounts *m, uint64_t id)
{
	for (size_t i = 0; i < m->count; i++) {
		if (m->mount[i].id == id)
			return &m->mount[i];
	}
	return NULL;
}

/* To look at a path on a network, or of a program, may take for ever. */
static bool may_hang(const struct mounts *m, const struct mount *mount)
{
	static const char *const types[] = {"nfs",  "cifs", "smb",     "fuse",	 "9p",
					    "ceph", "afs",  "gluster", "lustre", "autofs"};

	for (unsigned depth = 0; mount && depth < 64; depth++) {
		for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
			if (strncmp(mount->type, types[i], strlen(types[i])) == 0)
				return true;
		}
		/* The first of all mounts is on itself. */
		mount = mount->parent == mount->id ? NULL : mount_of(m, mount->parent);
	}
	return mount;
}

int machine_read_tmpfs(const struct procfs *proc, struct arena *arena, struct tmpfs_use *ret)
{
	cleanup(mounts_done) struct mounts m = {};
	const struct mount *largest = NULL, *last = NULL;
	int r = mounts_read(proc->fd, "self/mountinfo", &m);

	*ret = (struct tmpfs_use){};
	for (size_t i = 0; r == 0 && i < m.count; i++) {
		const struct mount *mount = &m.mount[i];
		struct statvfs st;
		uint64_t used;

		/* They are sorted by device: one of each file system. */
		if (strcmp(mount->type, "tmpfs") != 0 || mount->hidden ||
		    (last && last->device == mount->device) || may_hang(&m, mount) ||
		    statvfs(mount->point, &st) < 0)
			continue;
		last = mount;
		used = (uint64_t)(st.f_blocks - st.f_bfree) * st.f_frsize;
		ret->bytes += used;
		if (used > ret->largest_bytes) {
			ret->largest_bytes = used;
			largest = mount;
		}
	}
	ret->known = r == 0;
	if (largest) {
		ret->largest = arena_strndup(arena, largest->point, strlen(largest->point));
		r = ret->largest ? 0 : -ENOMEM;
	}
	return r;
}

void machine_read_figures(const struct procfs *proc, struct host_info *host,
			  struct system_info *system)
{
	*system = (struct system_info){.meminfo = meminfo_read(proc->fd)};
	read_swaps(proc, system);
	read_sysctls(proc, system);
	zram_each("/sys/block", add_zram, system);
	read_host(host);
	if (nodes_matter(system))
		read_zones(proc, system, host->page_size);
}

void machine_read(const struct procfs *proc, struct host_info *host, struct system_info *system)
{
	machine_read_figures(proc, host, system);
	if (!system->free.known)
		read_zones(proc, system, host->page_size);
	system->partly_mapped = machine_partly_mapped();
	read_rest(proc, system);
	read_activity(proc, system, host->page_size);
	read_boot_id(proc, host);
}
