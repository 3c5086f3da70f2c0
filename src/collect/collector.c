// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Opens what a spec needs; reads, filters, completes and checks a snapshot. */
#include "collect/collector.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/trim.h"
#include "collect/balance.h"
#include "collect/gpu_read.h"
#include "collect/pss_read.h"
#include "collect/ram_read.h"
#include "collect/unseen.h"
#include "privilege/privilege.h"
#include "source/arguments_source.h"
#include "source/bpf_maps.h"
#include "source/descriptors_source.h"
#include "source/files_source.h"
#include "source/freed_source.h"
#include "source/holders_source.h"
#include "source/pages_source.h"
#include "source/pin.h"
#include "source/swap_source.h"
#include "watch/waits_watch.h"

/* ---- recordings ---- */

/* Reverts count_statuses(), which counts again among the rows of the query. */
static void uncount_statuses(struct snapshot *s)
{
	struct collection *found = &s->collection;

	for (size_t i = 0; i < s->count; i++) {
		const struct process *p = &s->process[i];

		if (p->kind != PROCESS_USER)
			continue;
		found->gone -= found->gone && p->pss_status == PSS_GONE;
		found->denied -= found->denied && p->pss_status == PSS_DENIED;
		found->timeout -= found->timeout && p->pss_status == PSS_TIMEOUT;
		found->raced -= found->raced && (p->raced || p->pss_status == PSS_RACED);
	}
	found->complete = !found->not_seen && !snapshot_is_cut(s);
}

/* PSS_NONE if the recording was made without PSS. */
static enum pss_choice recorded_pss(const struct snapshot *s)
{
	bool skipped = false;

	for (size_t i = 0; i < s->count; i++) {
		const struct process *p = &s->process[i];

		if (p->kind == PROCESS_USER && p->pss_status != PSS_SKIPPED)
			return PSS_AUTO;
		skipped |= p->kind == PROCESS_USER;
	}
	return skipped ? PSS_NONE : PSS_AUTO;
}

/* As they were known then: since the machine booted, or since the first frame of a series. */
static void count_kills(struct collector *c, uint32_t frame)
{
	struct system_info *system = &c->snapshot.system;

	if (frame != c->frame + 1)
		c->kills = (struct kill_history){};
	c->frame = frame;
	kill_history_add(&c->kills, &system->oom_kills, c->snapshot.time_ms,
			 (int64_t)c->snapshot.host.boot_ms, &system->recent_kills);
}

int collector_turn_to(struct collector *c, uint32_t frame)
{
	int r = recording_reader_copy(c->spec.recording, frame - 1, &c->snapshot, c->reason);

	if (r < 0)
		return r;
	c->snapshot.recorded = true;
	count_kills(c, frame);
	uncount_statuses(&c->snapshot);
	/* Older versions recorded them. */
	if (snapshot_is_kill(&c->snapshot))
		snapshot_forget_charges(&c->snapshot);
	/* The frame of an OOM kill has none. */
	c->spec.pss = recorded_pss(&c->snapshot);
	return 0;
}

static int find_in_frame(const struct snapshot *s, const char *name, uid_t *ret_uid)
{
	for (size_t i = 0; i < s->count; i++) {
		const struct process *p = &s->process[i];

		if (p->user && strcmp(p->user, name) == 0) {
			*ret_uid = p->uid;
			return 0;
		}
	}
	return -ENOENT;
}

int collector_find_user(struct collector *c, const char *name, uid_t *ret_uid)
{
	cleanup(snapshot_done) struct snapshot last = {};
	char reason[RECORDING_REASON];
	int r = -ENOENT;

	if (!collector_replays(c)) {
		if (!c->users)
			c->users = user_table_new();
		return c->users ? user_find(c->users, name, ret_uid) : -ENOMEM;
	}
	if (find_in_frame(&c->snapshot, name, ret_uid) == 0)
		return 0;
	/* The last frame that can be read. */
	for (size_t i = recording_reader_info(c->spec.recording)->frames; r < 0 && i-- > 0;) {
		r = recording_reader_copy(c->spec.recording, i, &last, reason);
		if (r == -ENOMEM)
			return r;
	}
	return r < 0 ? -ENOENT : find_in_frame(&last, name, ret_uid);
}

/* ---- opening ---- */

/* Stores the reason why the first choice is not used, for every output. */
static int note_fallback(struct collector *c)
{
	const struct diag_note *n = source_reason(&c->diag);

	if (!n || source_origin(c->source) != FROM_PROC)
		return 0;
	c->fallback_reason = strdup(n->reason ? n->reason : strerror(-n->error));
	c->notices |= COLLECT_NOTICE_FALLBACK;
	return c->fallback_reason ? 0 : -ENOMEM;
}

/* Whether swap is in use; in a series of snapshots, whether there is any. */
static bool swap_matters_in(const struct collector *c, const struct meminfo *m)
{
	uint64_t used = 0;

	if (c->spec.continuous)
		return meminfo_has(m, MEMINFO_SWAP_TOTAL) && m->value[MEMINFO_SWAP_TOTAL];
	return meminfo_swap_used(m, &used) && used;
}

static bool swap_matters(const struct collector *c)
{
	const struct meminfo m = meminfo_read(c->proc.fd);

	return swap_matters_in(c, &m);
}

/*
 * Loading the programs takes some 25 ms and stalls no process. Slots that cannot be read are no
 * error; running out of files is.
 */
static int open_slots(struct collector *c)
{
	cleanup(diag_clear) struct diag why = {};
	int r;

	if (c->spec.pss == PSS_NONE || source_pss_refusal(c->source) || !swap_matters(c))
		return 0;
	r = swap_source_open(c->source, &why, &c->swap);
	c->no_slots = r < 0;
	return file_exhausted(r) ? r : 0;
}

/*
 * Sums of files need BPF with more than the pin gives: without it they are unknown, which is no
 * error. Running out of files is.
 */
static int open_files(struct collector *c)
{
	cleanup(diag_clear) struct diag why = {};
	bool swap;
	int r;

	c->no_slots = source_is_pinned(c->source);
	if (source_origin(c->source) != FROM_BPF || c->no_slots)
		return 0;
	r = open_slots(c);
	if (r < 0)
		return r;
	swap = c->spec.swap_shmem && swap_matters(c);
	if (c->spec.files == FILES_NONE && !swap && !c->spec.shared_files)
		return 0;
	r = files_source_open(&why, &c->files);
	c->sums_files = r == 0 && (c->spec.files != FILES_NONE || swap);
	if (r == 0 && swap)
		r = holders_source_open(&why, &c->holders);
	return file_exhausted(r) ? r : 0;
}

static void refuse_freed(struct collector *c, const char *reason)
{
	snprintf(c->freed_refusal, sizeof(c->freed_refusal), "%s", reason);
	c->notices |= COLLECT_NOTICE_FREED;
}

/* Why no programs but those of the source are loaded. NULL: they are. */
static const char *loads_nothing(const struct collector *c)
{
	return source_origin(c->source) != FROM_BPF ? "this needs BPF"
	       : source_is_pinned(c->source)	    ? "not with the pin"
						    : NULL;
}

/* Opens the source of what becomes free with a row. */
static int open_freed(struct collector *c)
{
	cleanup(diag_clear) struct diag why = {};
	struct meminfo meminfo;
	int r;

	if (c->spec.freed && loads_nothing(c))
		refuse_freed(c, loads_nothing(c));
	if (!c->spec.freed || loads_nothing(c))
		return 0;
	meminfo = meminfo_read(c->proc.fd);
	r = freed_source_open(c->source, &meminfo, &why, &c->freed);
	if (r < 0)
		refuse_freed(c, diag_reason(&why, r));
	return file_exhausted(r) ? r : 0;
}

static void refuse_kernel(struct collector *c, const char *reason)
{
	snprintf(c->kernel_reason, sizeof(c->kernel_reason), "%s", reason);
	c->notices |= COLLECT_NOTICE_NO_KERNEL;
}

/* Opens the source of what processes hold by descriptors. */
static int open_descriptors(struct collector *c)
{
	cleanup(diag_clear) struct diag why = {};
	int r;

	if (!c->spec.kernel)
		return 0;
	if (loads_nothing(c)) {
		refuse_kernel(c, loads_nothing(c));
		return 0;
	}
	r = descriptors_source_open(c->source, &why, &c->descriptors);
	if (r == 0 && c->spec.bpf_maps)
		descriptors_source_set_maps(c->descriptors, &c->maps);
	if (r < 0)
		refuse_kernel(c, diag_reason(&why, r));
	return file_exhausted(r) ? r : 0;
}

/* A reading that fails leaves KERNEL unknown. */
static int read_descriptors(struct collector *c)
{
	struct snapshot *s = &c->snapshot;
	int r = c->descriptors ? descriptors_source_read(c->descriptors, &c->proc, s) : 0;

	if (!c->spec.kernel)
		return 0;
	if (r < 0) {
		refuse_kernel(c, strerror(-r));
		for (size_t i = 0; i < s->count; i++)
			s->process[i].kernel = NULL;
	}
	for (size_t i = 0; (!c->descriptors || r < 0) && i < s->count; i++)
		s->process[i].status[VALUE_KERNEL] = PSS_UNSUPPORTED;
	s->kernel.reason = c->notices & COLLECT_NOTICE_NO_KERNEL ? c->kernel_reason : NULL;
	return r == -ENOMEM ? r : 0;
}

static bool hugetlb_matters(const struct meminfo *m)
{
	return meminfo_has(m, MEMINFO_HUGETLB) && m->value[MEMINFO_HUGETLB];
}

/* What is asked for of pages one by one (enum zmem_pages_asked), and is not known without. */
static unsigned pages_asked(const struct collector *c, const struct meminfo *m)
{
	unsigned asked = c->spec.pages;

	return (asked & NEEDS_NODES ? ZMEM_PAGES_NODES : 0U) |
	       (asked & NEEDS_LAZYFREE ? ZMEM_PAGES_LAZY : 0U) |
	       (asked & NEEDS_THP_REST ? ZMEM_PAGES_REST : 0U) |
	       (asked & NEEDS_HUGETLB && hugetlb_matters(m) ? ZMEM_PAGES_HUGETLB : 0U);
}

static void note_no_pages(struct collector *c, const char *reason)
{
	snprintf(c->pages_reason, sizeof(c->pages_reason), "%s", reason);
	c->notices |= COLLECT_NOTICE_PAGES;
}

/* Pages that cannot be read are no error; running out of files is. */
static int open_pages(struct collector *c)
{
	cleanup(diag_clear) struct diag why = {};
	const struct meminfo m = meminfo_read(c->proc.fd);
	int r;

	if (!pages_asked(c, &m))
		return 0;
	if (loads_nothing(c) || source_pss_refusal(c->source)) {
		note_no_pages(c, loads_nothing(c) ? loads_nothing(c)
						  : "they need PSS from page tables");
		return 0;
	}
	r = pages_source_open(c->source, &why, &c->pages);
	if (r < 0)
		note_no_pages(c, diag_reason(&why, r));
	return file_exhausted(r) ? r : 0;
}

/* Reads the pages of the rows one by one. What cannot be read stays unknown. */
static int read_pages(struct collector *c)
{
	cleanup_free struct zones *zones = NULL;
	unsigned asked = pages_asked(c, &c->snapshot.system.meminfo);
	int r;

	if (!asked)
		return 0;
	zones = calloc(1, sizeof(*zones));
	if (!zones)
		return -ENOMEM;
	if (asked & ZMEM_PAGES_NODES)
		zones_read(c->proc.fd, zones);
	r = pages_source_read(c->pages, asked, zones, &c->snapshot, c->rows.matched.item,
			      c->rows.matched.count);
	if (r == 0 && asked & ZMEM_PAGES_NODES)
		machine_read_cpus(&c->proc, c->rows.matched.item, c->rows.matched.count);
	if (c->pages && asked & ZMEM_PAGES_NODES && pages_source_refusal(c->pages))
		note_no_pages(c, pages_source_refusal(c->pages));
	return r == -ENOMEM ? r : 0;
}

#define ARGUMENTS_TASKS 500

/*
 * With fewer tasks, reading the files takes less time than loading the program. A user who may not
 * see all of /proc (hidepid) sees no more this way.
 */
static bool arguments_pay(const struct collector *c)
{
	struct sysinfo info;

	return c->spec.all_names && !collector_no_proc(c) && privilege_held(PRIVILEGE_PTRACE) &&
	       sysinfo(&info) == 0 && info.procs >= ARGUMENTS_TASKS;
}

/*
 * What the program cannot read comes from /proc, so this is no error, and -v says why; running out
 * of files is one.
 */
static int open_arguments(struct collector *c)
{
	int r;

	if (!c->arguments && !loads_nothing(c) && arguments_pay(c))
		c->arguments = arguments_source_begin();
	if (!c->arguments)
		return 0;
	r = loads_nothing(c) ? -ENOTSUP
			     : arguments_source_open(c->arguments, c->source, &c->proc,
						     c->spec.readers, &c->diag);
	if (r < 0) {
		arguments_source_close(c->arguments);
		c->arguments = NULL;
	}
	return file_exhausted(r) ? r : 0;
}

/*
 * What needs programs of our own. A series pays for loading once, gains from memos
 * (src/doc/design.md), and does not depend on a pin that may be taken away.
 */
static const char *beyond_pin(const struct collector *c, const struct meminfo *m)
{
	const struct collect_spec *spec = &c->spec;
	const bool pages = spec->pss == PSS_AUTO || spec->pss == PSS_KERNEL;

	if (spec->continuous)
		return "a series of snapshots loads once";
	if (spec->freed)
		return "it does not tell what becomes free";
	if (spec->pages_named && pages_asked(c, m))
		return "it does not tell pages apart";
	if (spec->files != FILES_NONE || spec->ram)
		return "it has no files, and does not count page frames";
	if ((pages || spec->swap_shmem) && swap_matters_in(c, m))
		return "swap is in use, and it has no swap slots";
	if (pages && source_memos_pay(&c->proc, m))
		return "many processes map the same memory, which loaded programs read once";
	return NULL;
}

static int open_source(struct collector *c)
{
	const struct collect_spec *spec = &c->spec;
	const struct meminfo meminfo = meminfo_read(c->proc.fd);
	const char *beyond = spec->pin == PIN_MAY ? beyond_pin(c, &meminfo) : NULL;
	const struct source_request request = {
		.choice = spec->source,
		.pin = spec->pin,
		.beyond_pin = beyond,
		.pss = spec->pss == PSS_AUTO || spec->pss == PSS_KERNEL,
		.readers = spec->readers,
		.memos = true,
		.continuous = spec->continuous,
	};
	const char *refusal;
	int r;

	/* Both load at the same time, unless there is a pin to use. */
	if (spec->source != SOURCE_PROC && privilege_loads() && arguments_pay(c) &&
	    (spec->pin == PIN_NOT || beyond || access(PIN_PLACE, F_OK) < 0))
		c->arguments = arguments_source_begin();
	r = source_open(&request, &c->proc, &c->diag, &c->source);
	if (r == 0)
		r = note_fallback(c);
	if (r < 0)
		return r;
	refusal = source_pss_refusal(c->source);
	if (spec->pss == PSS_AUTO && refusal)
		c->notices |= COLLECT_NOTICE_ROLLUP;
	if (spec->pss == PSS_KERNEL && refusal)
		return -ENOTSUP;
	if (collector_no_proc(c) && spec->pss != PSS_NONE && (spec->pss != PSS_AUTO || refusal))
		c->notices |= COLLECT_NOTICE_NO_PROC;
	return 0;
}

/* It takes eight for good, and more while it loads. */
#define WAITS_FILES 64

/* Where the kernel accounts delays, it says which processes wait. With few files the rest comes
 * first. */
static int open_waits(struct collector *c)
{
	cleanup(diag_clear) struct diag why = {};
	struct rlimit files;
	bool accounts;
	int r;

	if (!c->spec.waits || loads_nothing(c) || getrlimit(RLIMIT_NOFILE, &files) < 0 ||
	    files.rlim_cur < WAITS_FILES)
		return 0;
	machine_accounts_delays(&c->proc, &accounts);
	if (accounts)
		return 0;
	r = waits_watch_open(&why, &c->waits);
	return file_exhausted(r) ? r : 0;
}

int collector_open(struct collector *c, const struct collect_spec *spec)
{
	uint64_t since = clock_us(CLOCK_MONOTONIC);
	int r;

	c->spec = *spec;
	if (spec->recording)
		return 0;
	c->self = getpid();
	if (!c->users)
		c->users = user_table_new();
	if (spec->continuous)
		c->names = name_cache_new();
	if (!c->users || (spec->continuous && !c->names))
		return -ENOMEM;
	c->step = COLLECT_OPENING_PROC;
	r = procfs_open(&c->proc, "/proc");
	/* Without /proc the machine still has counters, but running out of files is an error. */
	if (file_exhausted(r))
		return r;
	c->step = COLLECT_OPENING_SOURCE;
	/* Ours are not among them: they are not loaded. */
	r = spec->bpf_maps && spec->source != SOURCE_PROC
		    ? bpf_maps_list(&c->proc, &c->maps_arena, &c->maps)
		    : 0;
	if (r == 0)
		r = open_source(c);
	if (r == 0)
		r = open_files(c);
	if (r == 0)
		r = open_freed(c);
	if (r == 0)
		r = open_pages(c);
	if (r == 0)
		r = open_arguments(c);
	if (r == 0)
		r = open_waits(c);
	if (r == 0 && spec->ram)
		r = ram_reader_open(c->source, &c->proc, &c->ram);
	if (r == 0)
		r = open_descriptors(c);
	if (r == 0 && spec->gpu)
		r = gpu_reader_open(&c->proc,
				    source_origin(c->source) == FROM_BPF &&
					    !source_is_pinned(c->source),
				    &c->gpu);
	/* While libbpf loads, the types of the kernel are tens of MiB. */
	if (spec->continuous)
		memory_trim();
	collector_phase_end(c, COLLECT_PHASE_READ, &since);
	return r;
}

/* ---- a snapshot ---- */

/* Sets a notice if a capability would give PSS, or show processes of other users. */
static void note_denied(struct collector *c)
{
	const struct collection *found = &c->snapshot.collection;

	if ((!found->denied && !found->hidden) || privilege_held(PRIVILEGE_PTRACE) ||
	    source_is_pinned(c->source))
		return;
	c->notices |= found->denied ? COLLECT_NOTICE_PTRACE_MISSING : COLLECT_NOTICE_HIDDEN;
}

static void count_statuses(struct collector *c)
{
	struct collection *found = &c->snapshot.collection;
	const struct process_list *processes = &c->rows.matched;

	for (size_t i = 0; i < processes->count; i++) {
		const struct process *p = processes->item[i];

		if (p->kind != PROCESS_USER)
			continue;
		found->gone += p->pss_status == PSS_GONE;
		found->denied += p->pss_status == PSS_DENIED;
		found->timeout += p->pss_status == PSS_TIMEOUT;
		found->raced += p->raced || p->pss_status == PSS_RACED;
		found->complete &= p->pss_status != PSS_UNSUPPORTED;
		found->complete &= process_has(p, COUNTER_RSS);
	}
	found->complete &= !found->denied && !found->timeout && !found->raced && !found->hidden;
}

/* Gives each process what it maps of swapped shared memory. */
static void set_swap_shmem(struct collector *c, const struct swapped_share *share, size_t count)
{
	struct snapshot *s = &c->snapshot;
	size_t at = 0;

	/* Both are in the order of pids. */
	for (size_t i = 0; i < s->count; i++) {
		struct process *p = &s->process[i];
		bool maps;

		while (at < count && share[at].pid < p->pid)
			at++;
		maps = at < count && share[at].pid == p->pid;
		if (p->pss_source == PSS_FROM_KERNEL && !(maps && share[at].unknown))
			process_set(p, COUNTER_SWAP_SHMEM,
				    maps ? share[at].pages * s->host.page_size : 0);
	}
}

/* Sums over files; swapped shared memory by process. What cannot be read stays unknown. */
static int read_files(struct collector *c)
{
	struct snapshot *s = &c->snapshot;
	const struct swapped_share *share;
	uint64_t used;
	ssize_t count;
	int r;

	s->system.files = (struct machine_files){};
	c->swap_shmem_known = false;
	for (size_t i = 0; c->spec.swap_shmem && i < s->count; i++)
		s->process[i].status[VALUE_SWAP_SHMEM] = PSS_UNSUPPORTED;
	if (!c->sums_files)
		return 0;
	r = files_source_sum(c->files, c->spec.files == FILES_ALL, &s->system.files);
	if (r < 0 || !c->holders || !s->system.files.shmem_known ||
	    !meminfo_swap_used(&s->system.meminfo, &used) || !used)
		return r;
	count = holders_source_swapped(c->holders, files_source_shmem(c->files), &share);
	if (count >= 0)
		set_swap_shmem(c, share, (size_t)count);
	c->swap_shmem_known = count >= 0;
	return count < 0 ? (int)count : 0;
}

/* What the files of the last sum take in RAM for their pages in swap. */
static int sum_swap_ram(struct collector *c)
{
	struct machine_files *sum = &c->snapshot.system.files;
	struct file_set *set = files_source_shmem(c->files);
	int r = swap_source_files(c->swap, set);

	if (r < 0)
		return r;
	sum->swap_ram_known = true;
	for (size_t i = 0; i < set->count; i++) {
		sum->swap_ram += set->file[i].swap_ram;
		sum->swap_ram_known &= !set->file[i].swap_ram_unknown;
	}
	return 0;
}

/*
 * SWAP_PSS of processes that share swap entries, without which smaps_rollup is read; what swap
 * takes in RAM; the swap cache. What cannot be read stays unknown.
 */
static int read_swap(struct collector *c)
{
	struct system_info *system = &c->snapshot.system;
	uint64_t used;
	int r;

	system->swap_cache = (struct swap_cache){};
	if (!c->swap || !meminfo_swap_used(&system->meminfo, &used) || !used)
		return 0;
	r = swap_source_begin(c->swap, system);
	if (r == 0)
		r = swap_source_read(c->swap, c->spec.swap_ram, &c->snapshot);
	if (r == 0 && c->spec.swap_shmem)
		system->swap_cache.known =
			swap_source_cached(c->swap, &system->swap_cache.bytes) == 0;
	if (r == 0 && c->spec.swap_ram && system->files.shmem_known)
		r = sum_swap_ram(c);
	return r;
}

int collector_read_ram(struct collector *c)
{
	int r = c->ram ? 0 : ram_reader_open(c->source, &c->proc, &c->ram);

	if (r == 0 && !collector_pool(c))
		r = -ENOMEM;
	return r < 0 ? r : ram_reader_read(c->ram, &c->proc, c->pool, &c->spec, &c->snapshot);
}

/* The kernel counted them once, and does not now: a rate would be 0. */
static void forget_swapins(struct collector *c)
{
	c->notices |= COLLECT_NOTICE_SWAPINS | COLLECT_NOTICE_WAITS;
	for (size_t i = 0; i < c->snapshot.count; i++)
		c->snapshot.process[i].have &=
			~(COUNTER_BIT(COUNTER_SWAPINS) | COUNTER_BIT(COUNTER_MEM_WAIT));
}

/* As it was when we began: a value has one meaning in a series. */
static void set_waits(struct collector *c)
{
	struct system_info *system = &c->snapshot.system;

	system->waits = WAITS_UNKNOWN;
	if (c->waits) {
		waits_watch_read(c->waits, &c->snapshot);
		system->waits = WAITS_WATCHED;
		if (!waits_watch_swapins(c->waits))
			c->notices |= COLLECT_NOTICE_SWAPINS;
	} else if (!system->delay_accounting) {
		forget_swapins(c);
	} else if (source_origin(c->source) == FROM_BPF) {
		system->waits = WAITS_ACCOUNTED;
	}
}

static void note_collection(struct collector *c, int64_t time_ms)
{
	struct snapshot *s = &c->snapshot;

	s->time_ms = time_ms;
	s->self = c->self;
	user_table_forget(c->users, s->count);
	s->fallback_reason = c->fallback_reason;
	pss_note_source(c);
	s->collection.complete = true;
	/* Until it is known: 0 stands for an OOM kill. */
	s->collection.duration_us = 1;
	if (source_origin(c->source) == FROM_BPF) {
		const struct process *self = snapshot_find(s, c->self);

		if (self)
			procfs_learn_start_offset(&c->proc, self->start_ns);
	}
}

static int complete_machine(struct collector *c)
{
	struct snapshot *s = &c->snapshot;

	if (c->spec.figures_only && !c->spec.freed && !(c->spec.pages & NEEDS_THP_REST))
		machine_read_figures(&c->proc, &s->host, &s->system);
	else
		machine_read(&c->proc, &s->host, &s->system);
	machine_rates_make(&c->totals_before, &s->system.totals, &s->system.rates);
	c->totals_before = s->system.totals;
	kill_history_add(&c->kills, &s->system.oom_kills, s->time_ms, (int64_t)s->host.boot_ms,
			 &s->system.recent_kills);
	c->limits_alone = false;
	set_waits(c);
	if (read_files(c) == -ENOMEM || read_swap(c) == -ENOMEM)
		return -ENOMEM;
	balance_no_swap(s);
	balance_no_pages(s);
	s->system.ram = NULL;
	s->system.shared = NULL;
	s->system.ended = NULL;
	if (read_descriptors(c) == -ENOMEM)
		return -ENOMEM;
	if (c->spec.ram && collector_read_ram(c) == -ENOMEM)
		return -ENOMEM;
	c->check.pool = collector_pool(c);
	if (!c->check.pool)
		return -ENOMEM;
	pool_patient(c->pool);
	if (c->gpu && gpu_reader_read(c->gpu, c->pool, s) == -ENOMEM)
		return -ENOMEM;
	if (s->gpu.reason)
		c->notices |= COLLECT_NOTICE_NO_GPU;
	if (c->names)
		name_cache_apply(c->names, s, s->time_ms);
	return enrich_names(c->pool, s);
}

/* All processes of this machine by their counters, and the machine itself. */
static int read_machine(struct collector *c, const struct filter *f, uint64_t *since)
{
	int64_t time_ms = (int64_t)(clock_us(CLOCK_REALTIME) / 1000);
	const bool compares =
		source_origin(c->source) == FROM_BPF && c->proc.trusted && c->proc.fd >= 0;
	struct unseen_start start = {};
	int r;

	if (compares)
		unseen_begin(&c->proc, &start);
	r = source_collect(c->source, &c->snapshot);
	if (r < 0)
		return r;
	collector_phase_end(c, COLLECT_PHASE_READ, since);
	note_collection(c, time_ms);
	/* Before the pool begins threads: the number of tasks tells what is missing. */
	r = unseen_count(c, f, compares ? &start : NULL);
	if (r == 0)
		r = complete_machine(c);
	collector_phase_end(c, COLLECT_PHASE_FILTER, since);
	return r;
}

int collector_begin(struct collector *c, const struct query *q)
{
	uint64_t since = clock_us(CLOCK_MONOTONIC);
	int r = 0;

	c->check = (struct check){
		.snapshot = &c->snapshot,
		.again = c->again,
		.rows = &c->rows.matched,
		.proc = &c->proc,
		.source = c->source,
		.self = c->self,
		.verify = c->spec.pss == PSS_NONE ? 0 : c->spec.verify,
		.own_only = c->source && source_is_pinned(c->source) &&
			    !privilege_held(PRIVILEGE_PTRACE),
		.uid = geteuid(),
	};
	c->phase = collector_replays(c) ? COLLECT_PHASE_FILTER : COLLECT_PHASE_READ;
	if (!collector_replays(c))
		r = read_machine(c, &q->filter, &since);
	if (r == 0)
		r = collect_find_missing(c, &q->filter);
	if (r == 0)
		r = collect_choose_rows(c, q);
	if (r < 0)
		return r;
	collector_phase_end(c, COLLECT_PHASE_PSS, &since);
	return 0;
}

int collector_collect(struct collector *c, const struct query *q, struct result *ret)
{
	uint64_t start = clock_us(CLOCK_MONOTONIC), since;
	bool replays = collector_replays(c);
	int r = collector_begin(c, q);

	if (r < 0)
		return r;
	since = clock_us(CLOCK_MONOTONIC);
	if (!replays)
		r = pss_read(c, q, &since);
	if (r == 0 && !replays)
		r = read_pages(c);
	if (r == 0) {
		count_statuses(c);
		if (!replays)
			note_denied(c);
		collector_note_alone(c);
		r = collect_shape_rows(c, q, ret);
	}
	if (r == 0 && c->spec.largest_named && !replays)
		r = collect_name_largest(c);
	if (r < 0)
		return r;
	collector_phase_end(c, COLLECT_PHASE_NAMES, &since);
	if (!replays)
		c->snapshot.collection.duration_us = since - start;
	/* After an error the names are read again. */
	if (c->names && !c->spec.lazy_names)
		name_cache_update(c->names, &c->snapshot);
	return 0;
}

int collector_requery(struct collector *c, const struct query *q, bool filter_changed,
		      struct result *ret)
{
	int r = 0;

	c->check.difference_count = 0;
	c->phase = COLLECT_PHASE_FILTER;
	if (filter_changed)
		r = collect_choose_rows(c, q);
	return r < 0 ? r : collect_shape_rows(c, q, ret);
}

void collector_close(struct collector *c)
{
	proc_pool_free(c->pool);
	name_cache_free(c->names);
	memcg_rates_done(&c->memcg_rates);
	query_rows_done(&c->rows);
	source_close(c->source);
	files_source_close(c->files);
	holders_source_close(c->holders);
	swap_source_close(c->swap);
	waits_watch_close(c->waits);
	freed_source_close(c->freed);
	pages_source_close(c->pages);
	ram_reader_close(c->ram);
	gpu_reader_close(c->gpu);
	descriptors_source_close(c->descriptors);
	arena_done(&c->maps_arena);
	arguments_source_close(c->arguments);
	snapshot_done(&c->snapshot);
	snapshot_done(&c->unseen);
	for (size_t i = 0; i < ARRAY_SIZE(c->again); i++)
		snapshot_done(&c->again[i]);
	user_table_free(c->users);
	diag_clear(&c->diag);
	free(c->fallback_reason);
	free(c->missing);
	procfs_close(&c->proc);
	*c = COLLECTOR_CLOSED;
}
