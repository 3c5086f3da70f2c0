// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "collect/ram_read.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/count.h"
#include "base/file.h"
#include "model/ram.h"
#include "proc/kernel_memory.h"
#include "source/census_source.h"

/* A census that contradicts the counters is repeated: much may have changed meanwhile. */
#define TRIES 3
/* The largest ones are named, and of the processes that hold memory by descriptors. */
#define NAMED	10
#define HOLDERS 6
/* Again and again, the frames are counted for at most a twenty-fifth of a CPU. */
#define CPU_PART    25
#define PAUSE_LEAST 2000000 /* us */

#define NOT_COUNTED "the frames were not counted: "

struct ram_reader {
	struct census_source *census; /* NULL: reason */
	char reason[RAM_REASON], descriptors_reason[RAM_REASON];
	uint64_t own_maps; /* bytes that this process maps of maps of BPF */
	struct zones zones;
	struct ram ram;
	struct ram_node *node;
	uint64_t due_us; /* CLOCK_MONOTONIC: of the next sums; 0: of the first */
};

/* A source that reads no page tables does not know where struct page is: another one finds it. */
static int open_census(const struct source *source, const struct procfs *proc, struct diag *why,
		       struct census_source **ret)
{
	const struct source_request request = {.choice = SOURCE_BPF, .pin = PIN_NOT, .pss = true};
	struct source *engine = NULL;
	int error = census_source_open(source, why, ret);

	if (error != -ENOTSUP || source_origin(source) != FROM_BPF || source_is_pinned(source))
		return error;
	diag_clear(why);
	error = source_open(&request, proc, why, &engine);
	if (error == 0)
		error = census_source_open(engine, why, ret);
	source_close(engine);
	return error;
}

int ram_reader_open(const struct source *source, const struct procfs *proc, struct ram_reader **ret)
{
	cleanup(diag_clear) struct diag why = {};
	struct ram_reader *r = calloc(1, sizeof(*r));
	int error;

	if (!r)
		return -ENOMEM;
	error = open_census(source, proc, &why, &r->census);
	if (file_exhausted(error)) {
		free(r);
		return error;
	}
	if (error < 0)
		snprintf(r->reason, sizeof(r->reason), NOT_COUNTED "%s", diag_reason(&why, error));
	*ret = r;
	return 0;
}

void ram_reader_close(struct ram_reader *r)
{
	if (!r)
		return;
	census_source_close(r->census);
	free(r->node);
	free(r);
}

/* Adds the largest ones as parts of the class. */
static void add_parts(struct ram_reader *r, enum ram_class class, struct name_sums *sums)
{
	name_sums_sort(sums);
	for (size_t n = 0; n < sums->count && n < NAMED; n++)
		ram_add_part(&r->ram, class, sums->item[n].name, sums->item[n].bytes);
	*sums = (struct name_sums){};
}

static void add_ring(void *arg, const char *device, uint64_t bytes)
{
	name_sums_add(arg, device, strlen(device), bytes);
}

/* Fewer bytes that drivers mapped are not looked for. */
#define DRIVER_PAGES_LEAST ((uint64_t)1 << 20)

#define PROGRAM_SHOWN	   32 /* bytes of the name of a program before that of the device */

/* The length of a name without what is too long, which does not end within a character. */
static int shown_length(const char *name)
{
	size_t len = strlen(name);

	if (len <= PROGRAM_SHOWN)
		return (int)len;
	for (len = PROGRAM_SHOWN; len && ((unsigned char)name[len] & 0xc0) == 0x80;)
		len--;
	return (int)len;
}

/* The largest parts that have a process. */
struct owned_parts {
	struct ram_part item[NAMED];
	size_t count;
};

/* Keeps it if it is one of the largest: "tcpdump (4711) packet rings". */
static void offer_owned(struct owned_parts *parts, const struct process *p, const char *what,
			uint64_t bytes)
{
	const char *program = p->name ? p->name : p->comm;
	struct ram_part part = {.bytes = bytes, .pid = p->pid};
	char name[2 * RAM_NAME];
	size_t at = parts->count < NAMED ? parts->count++ : NAMED;

	snprintf(part.process, sizeof(part.process), "%.*s", shown_length(program), program);
	snprintf(name, sizeof(name), "%s (%d) %s", part.process, p->pid, what);
	memcpy(part.name, name, sizeof(part.name) - 1);
	for (; at && parts->item[at - 1].bytes < bytes; at--)
		if (at < NAMED)
			parts->item[at] = parts->item[at - 1];
	if (at < NAMED)
		parts->item[at] = part;
}

static void add_owned(struct ram_reader *r, enum ram_class class, const struct owned_parts *parts,
		      size_t most)
{
	for (size_t i = 0; i < parts->count && i < most; i++)
		ram_add_part_of(&r->ram, class, &parts->item[i]);
}

static int name_programs(struct proc_pool *pool, struct snapshot *s, struct process_list *found)
{
	int r = found->count ? enrich_names(pool, s) : 0;

	return r < 0 ? r : enrich_programs(pool, s, found);
}

/* Names the programs of the processes that have pages of drivers. */
static int name_drivers(struct proc_pool *pool, struct snapshot *s, struct process *const *row,
			const struct pool_result *pages, size_t count)
{
	cleanup(process_list_done) struct process_list found = {};
	int r = process_list_reserve(&found, count);

	for (size_t i = 0; r == 0 && i < count; i++)
		if (pages[i].parts)
			found.item[found.count++] = row[i];
	return r < 0 ? r : name_programs(pool, s, &found);
}

/* Which processes have pages of drivers, and of which device. */
static int name_driver_pages(struct ram_reader *r, struct proc_pool *pool, struct snapshot *s)
{
	struct owned_parts parts = {};
	cleanup_free struct process **row = calloc(s->count + 1, sizeof(*row));
	cleanup_free struct pool_result *result = calloc(s->count + 1, sizeof(*result));
	const struct ram_figure *f = &r->ram.figure[RAM_DRIVER_MAPPED];
	size_t count = 0;
	int error;

	if (!row || !result)
		return -ENOMEM;
	if (!pool || !f->known || f->bytes < r->own_maps + DRIVER_PAGES_LEAST)
		return 0;
	for (size_t i = 0; i < s->count; i++)
		if (s->process[i].kind == PROCESS_USER && s->process[i].mm_owner)
			row[count++] = &s->process[i];
	error = pool_read(pool, POOL_DRIVERS, true, row, count, result);
	if (error == 0)
		error = name_drivers(pool, s, row, result, count);
	for (size_t i = 0; i < count; i++) {
		for (size_t n = 0; n < result[i].parts; n++)
			offer_owned(&parts, row[i], result[i].part[n].name,
				    result[i].part[n].bytes);
		free(result[i].part);
	}
	add_owned(r, RAM_DRIVER_MAPPED, &parts, NAMED);
	return error;
}

/* ---- what descriptors hold ---- */

/* Kinds that are pages without a mark. */
static bool is_pages(int kind)
{
	return kind == ZMEM_DESCRIPTOR_PIPE || kind == ZMEM_DESCRIPTOR_PACKET ||
	       kind == ZMEM_DESCRIPTOR_PERF || kind == ZMEM_DESCRIPTOR_IO_URING;
}

static uint64_t pages_of_descriptors(const struct snapshot *s)
{
	uint64_t bytes = 0;

	for (int i = 0; i < KERNEL_KINDS; i++)
		bytes += s->kernel.all.kind[i].unmarked;
	return bytes / s->host.page_size * s->host.page_size;
}

/* Why nothing is known of descriptors, or of which processes. NULL: all is, or nothing was asked.
 */
static const char *missing_of(struct ram_reader *r, const struct snapshot *s)
{
	const struct kernel_held *held = &s->kernel;

	if (!held->reason && !held->left_out)
		return NULL;
	if (held->reason)
		snprintf(r->descriptors_reason, sizeof(r->descriptors_reason), "%s", held->reason);
	else
		snprintf(r->descriptors_reason, sizeof(r->descriptors_reason),
			 "without %" PRIu32 " %s", held->left_out,
			 count_word(held->left_out, "process", "processes"));
	return r->descriptors_reason;
}

/* The class that a kind is in; RAM_FIGURES: several. */
static enum ram_class class_of_kind(int kind)
{
	switch (kind) {
	case ZMEM_DESCRIPTOR_BPF_MAP:
	case ZMEM_DESCRIPTOR_BPF_PROG:
		return RAM_VMALLOC;
	case ZMEM_DESCRIPTOR_TCP:
	case ZMEM_DESCRIPTOR_UDP:
		return RAM_SOCKETS;
	case ZMEM_DESCRIPTOR_UNIX:
	case ZMEM_DESCRIPTOR_NETLINK:
	case ZMEM_DESCRIPTOR_FILE:
	case ZMEM_DESCRIPTOR_EPOLL:
	case ZMEM_DESCRIPTOR_INOTIFY:
		return RAM_SLAB;
	default:
		return is_pages(kind) ? RAM_DESCRIPTORS : RAM_FIGURES;
	}
}

/* What a process holds of a kind is named if it is so much. */
#define HELD_LEAST ((uint64_t)1 << 20)

/* Names the programs of the processes that hold so much of a kind. */
static int name_holders(struct proc_pool *pool, struct snapshot *s)
{
	cleanup(process_list_done) struct process_list found = {};
	int r = process_list_reserve(&found, s->count);

	for (size_t i = 0; r == 0 && i < s->count; i++) {
		const struct kernel_shares *shares = s->process[i].kernel;
		bool holds = false;

		for (int kind = 0; shares && kind < KERNEL_KINDS; kind++)
			holds |= shares->kind[kind].bytes >= HELD_LEAST;
		if (holds)
			found.item[found.count++] = &s->process[i];
	}
	return r < 0 ? r : name_programs(pool, s, &found);
}

/* Names the processes that hold memory of a class by descriptors. */
static void add_holders(struct ram_reader *r, const struct snapshot *s, enum ram_class class,
			size_t most)
{
	struct owned_parts parts = {};

	for (size_t i = 0; i < s->count; i++) {
		const struct process *p = &s->process[i];

		for (int kind = 0; p->kernel && kind < KERNEL_KINDS; kind++)
			if (class_of_kind(kind) == class &&
			    p->kernel->kind[kind].bytes >= HELD_LEAST)
				offer_owned(&parts, p, kernel_kind_table[kind].title,
					    p->kernel->kind[kind].bytes);
	}
	add_owned(r, class, &parts, most);
}

/* Maps of BPF that no process holds: "BPF map 12 pinned /sys/fs/bpf/x". */
static void add_unheld_maps(struct ram_reader *r, const struct kernel_maps *maps)
{
	for (size_t i = 0; i < maps->count && i < HOLDERS; i++) {
		const struct kernel_map *map = &maps->item[i];
		char name[2 * RAM_NAME];

		if (map->bytes < HELD_LEAST)
			break;
		if (map->path)
			snprintf(name, sizeof(name), "BPF map %" PRIu32 " pinned %s", map->id,
				 map->path);
		else
			snprintf(name, sizeof(name), "BPF map %" PRIu32 " of %s%s", map->id,
				 *map->program ? "program " : "no process", map->program);
		ram_add_part(&r->ram, RAM_VMALLOC, name, map->bytes);
	}
}

/*
 * Names what allocated the memory of the kernel. Root may read the files. A series reads none: they
 * hold locks of the kernel.
 */
static int name_allocations(struct ram_reader *r, const struct procfs *proc, struct proc_pool *pool,
			    struct snapshot *s, bool files)
{
	const uint32_t page_size = s->host.page_size;
	cleanup_free struct name_sums *sums = calloc(1, sizeof(*sums));
	int error;

	if (!sums)
		return -ENOMEM;
	error = files && pool ? name_holders(pool, s) : 0;
	if (error < 0)
		return error;
	if (files && slabinfo_read(proc->fd, page_size, sums) == 0)
		add_parts(r, RAM_SLAB, sums);
	add_holders(r, s, RAM_SLAB, HOLDERS);
	if (files && vmallocinfo_read(proc->fd, page_size, sums) == 0)
		add_parts(r, RAM_VMALLOC, sums);
	add_holders(r, s, RAM_VMALLOC, HOLDERS);
	add_unheld_maps(r, &s->kernel.unheld);
	if (r->ram.method != RAM_COUNTERS && census_source_pools(r->census, add_ring, sums) == 0)
		add_parts(r, RAM_NET_RINGS, sums);
	add_holders(r, s, RAM_DESCRIPTORS, NAMED);
	add_holders(r, s, RAM_SOCKETS, NAMED);
	return files ? name_driver_pages(r, pool, s) : 0;
}

static int split_nodes(struct ram_reader *r, const struct census *census,
		       const struct ram_sources *from)
{
	size_t count;
	const struct census_node *node = census_source_nodes(r->census, &count);

	free(r->node);
	r->node = NULL;
	if (!node || !count)
		return 0;
	r->node = calloc(count, sizeof(*r->node));
	if (!r->node)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		ram_from_node(census, &node[i], from, &r->ram, &r->node[i]);
	r->ram.node = r->node;
	r->ram.nodes = count;
	return 0;
}

/* What this process maps of maps of BPF. */
static uint64_t own_maps(const struct procfs *proc)
{
	cleanup_free struct name_sums *sums = calloc(1, sizeof(*sums));
	cleanup_close int fd = openat(proc->fd, "self", O_PATH | O_DIRECTORY | O_CLOEXEC);
	uint64_t bytes = 0;

	if (!sums || fd < 0 || driver_pages_read(fd, sums) < 0)
		return 0;
	for (size_t i = 0; i < sums->count; i++)
		bytes += strcmp(sums->item[i].name, "anon_inode:bpf-map") ? 0 : sums->item[i].bytes;
	return bytes;
}

static int read_cgroups(struct ram_reader *r, const struct collect_spec *spec, struct snapshot *s)
{
	struct ram *ram = &r->ram;
	int error = census_source_cgroups(r->census, &s->arena, &ram->cgroup, &ram->cgroups);

	ram->deleted_known = error == 0;
	for (size_t i = 0; error == 0 && i < ram->cgroups; i++) {
		if (!ram->cgroup[i].deleted)
			continue;
		ram->deleted_cgroups++;
		ram->deleted_bytes += census_cgroup_bytes(&ram->cgroup[i]);
	}
	/* Names of cgroups are gone with this snapshot, but the census is kept for the next. */
	if (spec->ram == RAM_SUMS || error < 0) {
		ram->cgroup = NULL;
		ram->cgroups = 0;
	}
	return error;
}

/* Returns 1, 0 if there is no census that agrees with the counters, or a negative errno. */
static int read_census(struct ram_reader *r, const struct procfs *proc,
		       const struct collect_spec *spec, struct snapshot *s)
{
	struct system_info *system = &s->system;
	struct meminfo after = system->meminfo;
	struct ram_sources from = {.system = system,
				   .after = &after,
				   .zones = &r->zones,
				   .page_size = s->host.page_size,
				   .cpus = s->host.cpus,
				   .descriptors_known = s->kernel.known,
				   .descriptors = pages_of_descriptors(s),
				   .descriptors_reason = missing_of(r, s)};
	struct census census;
	bool agrees = false;
	int error = 0;

	for (int i = 0; !agrees && i < TRIES; i++) {
		system->meminfo = after;
		zones_read(proc->fd, &r->zones);
		r->own_maps = own_maps(proc);
		/* Only root reads vmallocinfo, and a series does not: it holds a lock. */
		from.vmalloc_mappable = spec->ram == RAM_DETAILS
						? vmalloc_mappable(proc->fd, s->host.page_size)
						: 0;
		if (from.vmalloc_mappable < r->own_maps)
			from.vmalloc_mappable = r->own_maps;
		error = census_source_read(r->census, &r->zones, spec->census_method, &census);
		if (error < 0)
			break;
		after = meminfo_read(proc->fd);
		agrees = ram_from_census(&census, &from, &r->ram);
	}
	if (!agrees) {
		snprintf(r->reason, sizeof(r->reason), "%s",
			 error < 0 ? strerror(-error) : r->ram.reason);
		return error == -ENOMEM ? error : 0;
	}
	r->ram.taken_ms = (int64_t)(clock_us(CLOCK_REALTIME) / 1000);
	error = split_nodes(r, &census, &from);
	if (error == 0)
		error = read_cgroups(r, spec, s);
	return error == -ENOMEM ? error : 1;
}

/* Counts the frames, or says why not. */
static int read_ram(struct ram_reader *r, const struct procfs *proc, struct proc_pool *pool,
		    const struct collect_spec *spec, struct snapshot *s)
{
	const struct ram_sources from = {.system = &s->system,
					 .after = &s->system.meminfo,
					 .zones = &r->zones,
					 .page_size = s->host.page_size,
					 .cpus = s->host.cpus,
					 .descriptors_known = s->kernel.known,
					 .descriptors = pages_of_descriptors(s),
					 .descriptors_reason = missing_of(r, s)};
	int error = r->census ? read_census(r, proc, spec, s) : 0;

	if (error < 0)
		return error;
	/* Why nothing else comes from BPF, either. */
	if (!r->census && s->fallback_reason)
		snprintf(r->reason, sizeof(r->reason), NOT_COUNTED "%s", s->fallback_reason);
	if (error == 0) {
		zones_read(proc->fd, &r->zones);
		ram_from_counters(&from, r->reason, &r->ram);
	}
	return name_allocations(r, proc, pool, s, spec->ram == RAM_DETAILS);
}

int ram_reader_read(struct ram_reader *r, const struct procfs *proc, struct proc_pool *pool,
		    const struct collect_spec *spec, struct snapshot *s)
{
	uint64_t start = clock_us(CLOCK_THREAD_CPUTIME_ID), pause, least;
	int error;

	s->system.ram = &r->ram;
	if (spec->ram == RAM_SUMS && clock_us(CLOCK_MONOTONIC) < r->due_us)
		return 0;
	error = read_ram(r, proc, pool, spec, s);
	pause = CPU_PART * (clock_us(CLOCK_THREAD_CPUTIME_ID) - start);
	least = spec->census_pause_us ? spec->census_pause_us : PAUSE_LEAST;
	r->due_us = clock_us(CLOCK_MONOTONIC) + (pause < least ? least : pause);
	return error;
}

int ram_reader_owner(struct ram_reader *r, uint64_t owner, char ret[OOM_CGROUP_MAX])
{
	return r && r->census ? census_source_owner(r->census, owner, ret) : 0;
}
