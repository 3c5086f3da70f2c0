// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Runs the programs of bpf/swap.bpf.c, of which each does a bounded piece of work. A page that is
 * swapped out has a slot on a swap device; an entry of a page table or of the tree of a file names
 * the device and the slot. The programs look up how many entries name the slot, and what the slot
 * takes in RAM in zram or zswap.
 *
 * A snapshot is read in three steps. First the devices are found in the kernel's memory; they must
 * be those of /proc/swaps. Then the processes are walked (source/visits.h). Last the devices are
 * found once more: if one was switched off meanwhile, all of it is dropped.
 *
 * Files of shared memory are read one by one, and the slots that only the swap cache has are
 * counted device by device; both end with the last step, too.
 */
#include "source/swap_source.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "source/record_decode.h"
#include "source/visits.h"

struct swap_source {
	struct visits visits;
	struct zmem_swap *visit; /* what a run of a program is asked and answers */
	const char *refusal, *cost_refusal;
	struct zmem_swap_device before[ZMEM_SWAP_DEVICES]; /* as swap_source_begin() found them */
	bool costs;					   /* some device takes RAM for its slots */
	bool head_refused; /* something like a list of swap devices had others */
};

/* A process that is read: the sums of its visits so far. */
struct work {
	struct walk walk;
	struct zmem_swap_sum sum;
	int64_t before, after;
};

const char *swap_source_refusal(const struct swap_source *s)
{
	return s->refusal;
}

const char *swap_source_cost_refusal(const struct swap_source *s)
{
	return s->refusal ? s->refusal : s->cost_refusal;
}

const struct zmem_swap *swap_source_devices(const struct swap_source *s)
{
	return swap_source_cost_refusal(s) ? NULL : s->visit;
}

uint64_t swap_source_work(const struct swap_source *s)
{
	return s->visit->work;
}

void swap_source_close(struct swap_source *s)
{
	if (!s)
		return;
	visits_close(&s->visits);
	free(s);
}

/* ---- opening ---- */

/* Lets programs find the wait queue of /proc/swaps. A failure is reported if no device is found. */
static int find_queue(struct swap_source *s)
{
	cleanup_close int swaps = open("/proc/swaps", O_RDONLY | O_CLOEXEC);
	cleanup_close int waits = epoll_create1(EPOLL_CLOEXEC);
	struct epoll_event event = {};
	int r;

	if (swaps < 0 || waits < 0 || epoll_ctl(waits, EPOLL_CTL_ADD, swaps, &event) < 0)
		return file_exhausted(-errno) ? -errno : 0;
	s->visit->epoll = waits;
	r = bpf_program_run(s->visits.handle.fd[BPF_FIND]);
	s->visit->epoll = -1;
	return r;
}

static int set_up(struct visits *v)
{
	struct swap_source *s = (struct swap_source *)v;

	s->visit = v->handle.answers;
	/* Kernels without CONFIG_KALLSYMS_ALL keep no names of variables. */
	bpf_handle_run(v->handle.fd[BPF_SYMBOLS], NULL, 0);
	return s->visit->swap_info ? 0 : find_queue(s);
}

/* ---- the swap devices ---- */

static bool is_row(const struct swap_source *s, const struct zmem_swap_device *d,
		   const struct swap_device *row)
{
	return d->info && d->pages * s->visits.page_size == row->size &&
	       d->priority == row->priority && d->in_use <= d->pages && d->slots > d->pages;
}

/* True if the devices found are the rows of /proc/swaps, each once. */
static bool are_rows(const struct swap_source *s, const struct system_info *system)
{
	bool taken[ZMEM_SWAP_DEVICES] = {};
	size_t found = 0;

	for (size_t i = 0; i < ZMEM_SWAP_DEVICES; i++)
		found += s->visit->dev[i].info != 0;
	if (!system->swaps_known || found != system->swap_count)
		return false;
	for (size_t row = 0; row < system->swap_count; row++) {
		size_t i = 0;

		while (i < ZMEM_SWAP_DEVICES &&
		       (taken[i] || !is_row(s, &s->visit->dev[i], &system->swap[row])))
			i++;
		if (i == ZMEM_SWAP_DEVICES)
			return false;
		taken[i] = true;
	}
	return true;
}

/* Runs the program until a head of the list has the devices of /proc/swaps, or none is left. */
static int find_rows(struct swap_source *s, const struct system_info *system, bool *ret_found)
{
	s->visit->next = 0;
	s->head_refused = false;
	for (;;) {
		int r = bpf_program_run(s->visits.handle.fd[BPF_FIND]);

		*ret_found = r >= 0 && are_rows(s, system);
		if (r < 0 || *ret_found || s->visit->swap_info || !s->visit->head)
			return r;
		s->visit->head = 0;
		s->head_refused = true;
	}
}

static int find_devices(struct swap_source *s, const struct system_info *system)
{
	bool found;
	int r = find_rows(s, system, &found);

	if (r < 0)
		return r;
	s->refusal = "the BTF of this kernel has no struct swap_table";
	if (s->visit->unknown_clusters)
		return -ENOTSUP;
	s->refusal = NULL;
	if (found)
		return 0;
	s->refusal = s->visit->swap_info || s->head_refused
			     ? "the swap devices in the kernel are not those of /proc/swaps"
			     : "this kernel does not tell where its swap devices are";
	return -ENOTSUP;
}

/* A swap file on a zram device is no such device. */
static bool is_zram(const struct swap_device *row)
{
	const char *slash = strrchr(row->name, '/');

	return slash && strncmp(slash + 1, "zram", 4) == 0;
}

/* Whether it is known what every slot takes in RAM, and whether any does. */
static void find_costs(struct swap_source *s, const struct system_info *system)
{
	const struct meminfo *m = &system->meminfo;
	bool zswap = meminfo_has(m, MEMINFO_ZSWAP_STORED) && m->value[MEMINFO_ZSWAP_STORED];
	size_t tables = 0, disks = 0;

	s->cost_refusal = NULL;
	for (size_t i = 0; i < ZMEM_SWAP_DEVICES; i++) {
		struct zmem_swap_device *d = &s->visit->dev[i];

		if (!d->info)
			continue;
		d->table_slots = d->table ? d->disk_bytes / s->visits.page_size : 0;
		tables += d->table != 0;
		if (d->disk_bytes && !d->table)
			s->cost_refusal = "a swap file is on a zram device";
		if (zswap && (!d->trees || !d->tree_count))
			s->cost_refusal = "this kernel does not tell where the slots of zswap are";
		if (!zswap)
			d->trees = 0;
	}
	for (size_t i = 0; i < system->swap_count; i++)
		disks += is_zram(&system->swap[i]);
	if (disks != tables)
		s->cost_refusal = "the table of a zram device was not found";
	s->costs = zswap || tables;
}

static bool same_devices(const struct zmem_swap_device *a, const struct zmem_swap_device *b)
{
	for (size_t i = 0; i < ZMEM_SWAP_DEVICES; i++) {
		if (a[i].info != b[i].info ||
		    (a[i].info && (a[i].map != b[i].map || a[i].clusters != b[i].clusters ||
				   a[i].slots != b[i].slots || a[i].table != b[i].table)))
			return false;
	}
	return true;
}

/* ---- processes ---- */

static void add_sum(struct zmem_swap_sum *to, const struct zmem_swap_sum *from)
{
	to->entries += from->entries;
	to->share += from->share;
	to->unknown += from->unknown;
	to->zram += from->zram;
	to->zswap += from->zswap;
	to->incompressible += from->incompressible;
	to->filled += from->filled;
	to->disk += from->disk;
}

/*
 * True if the entries found add up to the counter: to all of it, or to no more than it if only what
 * may be shared was looked at. A large process rarely stands still.
 */
static bool adds_up(const struct visits *v, const struct walk *walk)
{
	const struct work *w = (const struct work *)walk;
	int64_t found = (int64_t)w->sum.entries;
	uint64_t room = w->after < ZMEM_LARGE_PAGES ? 0 : (uint64_t)w->after / ZMEM_CLOSE_PART;

	if (w->sum.unknown || w->after < 0 || found < 0 || pages_apart(w->before, w->after) > room)
		return false;
	if (((const struct swap_source *)v)->visit->all_private)
		return pages_apart(found, w->after) <= room;
	return found <= w->after || pages_apart(found, w->after) <= room;
}

/* Adds one visit to a process. */
static int add_record(struct visits *v, struct walk *walk, const void *record)
{
	struct work *w = (struct work *)walk;
	const struct zmem_swap_record *r = record;

	(void)v;
	if (!walk->visited)
		w->before = r->before;
	w->after = r->after;
	add_sum(&w->sum, &r->sum);
	return 0;
}

static const struct visit_kind kind = {
	.subject = "swap slots",
	.needs = "they need PSS from page tables",
	.object = OBJECT_SWAP,
	.layout_offset = offsetof(struct zmem_swap, at),
	.set_up = set_up,
	.walk_size = sizeof(struct work),
	.record_size = sizeof(struct zmem_swap_record),
	.tries = 3,
	.add = add_record,
	.adds_up = adds_up,
};

int swap_source_open(const struct source *from, struct diag *diag, struct swap_source **ret)
{
	struct swap_source *s = calloc(1, sizeof(*s));
	int r = s ? visits_open(&s->visits, &kind, from, 0, diag) : -ENOMEM;

	if (r < 0) {
		swap_source_close(s);
		return r;
	}
	*ret = s;
	return 0;
}

static bool is_wanted(const struct process *p, bool costs)
{
	if (p->kind != PROCESS_USER || !process_has(p, COUNTER_SWAP))
		return false;
	return costs ? p->value[COUNTER_SWAP] != 0
		     : p->pss_source == PSS_FROM_KERNEL && !process_has(p, COUNTER_SWAP_PSS);
}

static int list_wanted(struct swap_source *s, bool costs, struct snapshot *snapshot)
{
	size_t count = 0;
	int r;

	for (size_t i = 0; i < snapshot->count; i++)
		count += is_wanted(&snapshot->process[i], costs);
	r = visits_begin(&s->visits, count);
	for (size_t i = 0; r == 0 && i < snapshot->count; i++) {
		struct process *p = &snapshot->process[i];

		if (is_wanted(p, costs))
			r = visits_add(&s->visits, p->pid, p);
	}
	return r;
}

static void set_values(const struct swap_source *s, const struct work *w)
{
	const struct zmem_swap_sum *sum = &w->sum;
	const struct swap_costs costs = {
		.zram = sum->zram >> ZMEM_PSS_SHIFT,
		.zswap = sum->zswap >> ZMEM_PSS_SHIFT,
		.incompressible = sum->incompressible >> ZMEM_PSS_SHIFT,
		.filled = sum->filled >> ZMEM_PSS_SHIFT,
		.disk = sum->disk >> ZMEM_PSS_SHIFT,
	};
	uint64_t entries = sum->entries, rest = 0;
	struct process *p = w->walk.process;

	if (!w->walk.whole)
		return;
	if (!s->visit->all_private && (uint64_t)w->after > entries)
		rest = (uint64_t)w->after - entries;
	if (p->pss_source == PSS_FROM_KERNEL && !process_has(p, COUNTER_SWAP_PSS)) {
		process_set(p, COUNTER_SWAP_PSS,
			    rest * s->visits.page_size + (w->sum.share >> ZMEM_PSS_SHIFT));
		p->swap_slots = true;
	}
	if (s->visit->costs)
		process_set_swap_costs(p, &costs);
	process_derive(p);
}

/* Sets the costs of processes without swap to 0. */
static void set_no_costs(struct snapshot *snapshot)
{
	for (size_t i = 0; i < snapshot->count; i++) {
		struct process *p = &snapshot->process[i];

		if (p->kind == PROCESS_USER && process_has(p, COUNTER_SWAP) &&
		    !p->value[COUNTER_SWAP])
			process_set_swap_costs(p, &(struct swap_costs){});
	}
}

/* After a reading: the devices must be those that were found before it. */
static int confirm_devices(struct swap_source *s)
{
	int r = bpf_program_run(s->visits.handle.fd[BPF_FIND]);

	if (r < 0)
		return r;
	if (!same_devices(s->before, s->visit->dev))
		return -EAGAIN;
	/* Finding them has cleared what find_costs() had set. */
	memcpy(s->visit->dev, s->before, sizeof(s->before));
	return 0;
}

int swap_source_begin(struct swap_source *s, const struct system_info *system)
{
	int r = visits_follow_layout(&s->visits);

	if (r < 0)
		s->refusal = kind.needs;
	else
		r = find_devices(s, system);
	if (r < 0)
		return r;
	find_costs(s, system);
	memcpy(s->before, s->visit->dev, sizeof(s->before));
	return 0;
}

int swap_source_read(struct swap_source *s, bool costs, struct snapshot *snapshot)
{
	bool known = costs && !s->cost_refusal;
	int r;

	s->visit->all_private = s->visit->costs = known;
	r = list_wanted(s, known, snapshot);
	if (r == 0)
		r = visits_run(&s->visits);
	if (r == 0)
		r = confirm_devices(s);
	if (r < 0)
		return r;
	for (size_t i = 0; i < s->visits.count; i++)
		set_values(s, visits_walk(&s->visits, i));
	if (known)
		set_no_costs(snapshot);
	return 0;
}

/* ---- files ---- */

/* Returns 0, -ESTALE if the file is gone or changed, or another negative errno. */
static int read_file(struct swap_source *s, struct cached_file *f)
{
	struct zmem_swap *v = s->visit;
	uint64_t entries;
	int r;

	v->record = (struct zmem_swap_record){};
	v->tree = (struct zmem_tree){.mapping = f->mapping,
				     .inode = f->inode,
				     .generation = f->generation,
				     .last = UINT64_MAX >> 13};
	do {
		r = bpf_program_run(s->visits.handle.fd[BPF_RUN]);
	} while (r == 0 && !v->file_gone && v->tree.index <= v->tree.last);
	if (r < 0)
		return r;
	entries = f->swapped / s->visits.page_size;
	if (v->file_gone || v->record.sum.unknown ||
	    pages_apart((int64_t)v->record.sum.entries, (int64_t)entries) >
		    entries / ZMEM_CLOSE_PART)
		return -ESTALE;
	f->swap_ram = (v->record.sum.zram + v->record.sum.zswap) >> ZMEM_PSS_SHIFT;
	f->swap_ram_unknown = false;
	return 0;
}

int swap_source_files(struct swap_source *s, struct file_set *set)
{
	int r = 0;

	if (s->cost_refusal)
		return -ENOTSUP;
	s->visit->costs = s->costs;
	for (size_t i = 0; i < set->count && (r == 0 || r == -ESTALE); i++) {
		struct cached_file *f = &set->file[i];

		f->swap_ram = 0;
		f->swap_ram_unknown = f->swapped && s->costs;
		if (f->swap_ram_unknown)
			r = read_file(s, f);
	}
	if (r == 0 || r == -ESTALE)
		r = confirm_devices(s);
	for (size_t i = 0; r < 0 && i < set->count; i++)
		set->file[i].swap_ram_unknown = set->file[i].swapped != 0;
	return r;
}

/* ---- the swap cache ---- */

int swap_source_cached(struct swap_source *s, uint64_t *ret_bytes)
{
	struct zmem_swap *v = s->visit;
	int r = 0;

	v->cached = 0;
	for (uint32_t i = 0; r == 0 && i < ZMEM_SWAP_DEVICES; i++) {
		v->device = i;
		v->slot = 0;
		while (r == 0 && v->dev[i].info && v->slot < v->dev[i].slots)
			r = bpf_program_run(s->visits.handle.fd[BPF_SCAN]);
	}
	if (r == 0)
		r = confirm_devices(s);
	if (r == 0)
		*ret_bytes = v->cached * s->visits.page_size;
	return r;
}
