// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Runs the programs of bpf/freed.bpf.c. A reading begins with what holds files of shared memory
 * (held_source.h). Then an iterator goes over all processes, again and again: in each pass it walks
 * each process that is not finished, for at most some milliseconds. The pages that it meets are in
 * a map of the programs. A last pass looks for forks.
 *
 * An address space that processes of several groups share ends with none of them. A walk that was
 * raced may have counted some mappings twice, so the whole reading begins anew, at most TRIES
 * times: with higher numbers of groups, so that older entries of the map of pages mean nothing.
 */
#include "source/freed_source.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "model/files.h"
#include "source/held_source.h"
#include "source/iterator.h"
#include "source/visits.h"
#include "zmem/freed.h"

#define TRIES 3
/* Passes over all processes, at most: the largest process takes so many. */
#define PASSES_MAX (1024 * 1024)
/* The map has room for at least so many pages. */
#define PAGES_LEAST (16 * 1024)
/* The numbers of groups never come near the end of their type. */
#define FIRST_MAX (UINT32_MAX / 2)

struct freed_source {
	struct visits visits;
	struct zmem_freed *visit;
	struct held_source *held;
	uint32_t next; /* number of a group */
	bool used;     /* the map of pages is not empty */
};

/* What a reading reads, and what it has found. */
struct reading {
	struct freed_source *source;
	struct snapshot *snapshot;
	struct process *const *process;
	const uint32_t *group;
	size_t count;
	uint32_t groups;
	const struct file_set *tmpfs; /* NULL: not known */
	uint32_t every;		      /* enum zmem_freed_every */
	uint32_t *group_of;	      /* of each process of the snapshot; 0: none */
	uint32_t *mm_group;	      /* by mm_id; 0: none, or several */
	uint32_t *mms;		      /* address spaces of each group */
	struct process **counted;     /* a process of each group that its sum counts */
	struct zmem_freed_want *want; /* of each process */
	struct held_process *holder;  /* likewise */
	struct held_sum *files;	      /* of each group */
};

void freed_source_close(struct freed_source *s)
{
	if (!s)
		return;
	held_source_close(s->held);
	visits_close(&s->visits);
	free(s);
}

const struct zmem_held_file *freed_source_mapped(const struct freed_source *s, size_t *ret_count)
{
	return held_source_mapped(s->held, ret_count);
}

/* How many pages the map has room for; see freed_source_open(). */
static uint32_t page_room(const struct meminfo *m, uint32_t page_size)
{
	uint64_t most = m->value[MEMINFO_TOTAL] / page_size / 2;
	uint64_t swapped = 0, pages;

	meminfo_swap_used(m, &swapped);
	pages = (m->value[MEMINFO_ANON] + swapped) / page_size * 2;
	pages = pages < most ? pages : most;
	pages = pages > PAGES_LEAST ? pages : PAGES_LEAST;
	return pages < UINT32_MAX / 2 ? (uint32_t)pages : UINT32_MAX / 2;
}

static const struct visit_kind kind = {
	.subject = "what becomes free",
	.needs = "it needs PSS from page tables",
	.object = OBJECT_FREED,
	.layout_offset = offsetof(struct zmem_freed, at),
};

int freed_source_open(const struct source *from, const struct meminfo *meminfo, struct diag *diag,
		      struct freed_source **ret)
{
	struct freed_source *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return -ENOMEM;
	s->next = 1;
	r = visits_open(&s->visits, &kind, from,
			page_room(meminfo, (uint32_t)sysconf(_SC_PAGESIZE)), diag);
	if (r == 0)
		r = held_source_open(diag, &s->held);
	if (r < 0) {
		freed_source_close(s);
		return r;
	}
	s->visit = s->visits.handle.answers;
	*ret = s;
	return 0;
}

/* ---- maps ---- */

/* Empties the maps of a reading; that of pages only if there was no room in it. */
static int clear_maps(struct freed_source *s)
{
	int r = bpf_map_clear(s->visits.handle.fd[BPF_WANTED]);

	if (r == 0)
		r = bpf_map_clear(s->visits.handle.fd[BPF_HELD]);
	if (r == 0 && s->visit->full && s->used) {
		r = bpf_map_clear(s->visits.handle.fd[BPF_PAGES]);
		s->used = false;
	}
	s->visit->full = 0;
	return r;
}

/* ---- groups ---- */

static bool is_walked(const struct process *p)
{
	return p->kind == PROCESS_USER && p->mm_id && p->mm_owner;
}

/* Finds the group of each address space, and the process that counts the sum of each group. */
static int find_groups(struct reading *r)
{
	struct snapshot *s = r->snapshot;
	struct arena *a = &s->scratch;
	uint32_t mms = 0;

	for (size_t i = 0; i < s->count; i++)
		mms = s->process[i].mm_id > mms ? s->process[i].mm_id : mms;
	for (size_t i = 0; i < r->count; i++)
		r->groups = r->group[i] > r->groups ? r->group[i] : r->groups;
	r->group_of = arena_zalloc(a, s->count + 1, sizeof(*r->group_of));
	r->mm_group = arena_zalloc(a, mms + 1, sizeof(*r->mm_group));
	r->mms = arena_zalloc(a, r->groups + 1, sizeof(*r->mms));
	r->counted = arena_zalloc(a, r->groups + 1, sizeof(*r->counted));
	r->want = arena_zalloc(a, r->count + 1, sizeof(*r->want));
	r->holder = arena_zalloc(a, r->count + 1, sizeof(*r->holder));
	r->files = arena_zalloc(a, r->groups + 1, sizeof(*r->files));
	if (!r->group_of || !r->mm_group || !r->mms || !r->counted || !r->want || !r->holder ||
	    !r->files)
		return -ENOMEM;
	for (size_t i = 0; i < r->count; i++)
		r->group_of[r->process[i] - s->process] = r->group[i];
	for (size_t i = 0; i < s->count; i++) {
		if (is_walked(&s->process[i]))
			r->mm_group[s->process[i].mm_id] = r->group_of[i];
	}
	for (size_t i = 0; i < s->count; i++) {
		uint32_t *mm = &r->mm_group[s->process[i].mm_id];

		if (*mm != r->group_of[i])
			*mm = 0;
	}
	for (size_t i = 0; i < r->count; i++) {
		struct process *p = r->process[i];
		struct process **counted = &r->counted[r->group[i]];

		r->mms[r->group[i]] += is_walked(p) && r->mm_group[p->mm_id];
		if (!*counted || (!is_walked(*counted) && is_walked(p)))
			*counted = p;
	}
	return 0;
}

static int want_process(struct reading *r, const struct process *p, const struct zmem_freed_want *w)
{
	const __s32 pid = p->pid;

	return bpf_map_update_elem(r->source->visits.handle.fd[BPF_WANTED], &pid, w, 0);
}

/* Lists processes of no group: a process that is not listed began later. */
static int list_others(struct reading *r)
{
	int error = 0;

	for (size_t i = 0; error == 0 && i < r->snapshot->count; i++) {
		const struct process *p = &r->snapshot->process[i];
		const struct zmem_freed_want w = {.start_boottime_ns = p->start_ns};

		if (!r->group_of[i] && p->kind == PROCESS_USER)
			error = want_process(r, p, &w);
	}
	return error;
}

static int list_wanted(struct reading *r)
{
	struct freed_source *s = r->source;
	int error = list_others(r);

	s->visit->first = s->next;
	s->next += r->groups;
	for (size_t i = 0; error == 0 && i < r->count; i++) {
		const struct process *p = r->process[i];
		struct zmem_freed_want *w = &r->want[i];
		const uint32_t group = r->group[i];

		if (p->kind != PROCESS_USER)
			continue;
		*w = (struct zmem_freed_want){
			.start_boottime_ns = p->start_ns,
			.group = s->visit->first + group - 1,
			.alone = r->mms[group] < 2,
			.every = r->every,
		};
		r->holder[i] = (struct held_process){.pid = p->pid, .groups.group = group};
		if (is_walked(p) && r->mm_group[p->mm_id]) {
			w->mm_group = w->group;
			r->holder[i].groups.mm_group = group;
		}
		error = want_process(r, p, w);
	}
	return error;
}

/*
 * Whether large folios may be mapped in part. The kernel counts those that are; before 6.12
 * (8422acdc97ed) it counted all that ever were.
 */
static bool has_parts(const struct snapshot *s)
{
	uint64_t split;

	if (s->system.partly_mapped.known)
		return s->system.partly_mapped.bytes;
	if (file_number(-1, "/proc/vmstat", "thp_deferred_split_page ", &split))
		return split;
	return access("/proc/vmstat", R_OK) < 0;
}

/* What has to be walked beside memory that processes may share. */
static uint32_t walked_beside(const struct snapshot *s)
{
	const struct meminfo *m = &s->system.meminfo;
	uint64_t swapped = 0;

	return (has_parts(s) ? ZMEM_FREED_PARTS : 0) |
	       (meminfo_swap_used(m, &swapped) && swapped && m->value[MEMINFO_SWAP_CACHED]
			? ZMEM_FREED_CACHED
			: 0);
}

/* ---- a reading ---- */

/* Walks all processes of groups, and then looks for those that forked meanwhile. */
static int walk(struct reading *r)
{
	struct freed_source *s = r->source;
	int error = 0;

	s->used = true;
	s->visit->more = 1;
	s->visit->pass = ZMEM_FREED_WALK;
	for (int i = 0; error == 0 && s->visit->more && i < PASSES_MAX; i++) {
		s->visit->more = 0;
		error = iterator_run(s->visits.link_fd);
	}
	s->visit->pass = ZMEM_FREED_CHECK;
	return error == 0 ? iterator_run(s->visits.link_fd) : error;
}

/* Marks walks as raced: the pages of a process that ended meanwhile were counted once too often. */
static void mark_raced(struct reading *r)
{
	for (size_t i = 0; i < r->count; i++) {
		struct zmem_freed_want *w = &r->want[i];

		if (w->life != ZMEM_FREED_SHARING)
			continue;
		if (r->mms[r->group[i]] > 1)
			w->state = ZMEM_FREED_RACED;
		for (size_t k = 0; k < r->count; k++) {
			if (r->process[k]->pid == r->process[i]->ppid)
				r->want[k].state = ZMEM_FREED_RACED;
		}
	}
}

/* Returns how many walks and sums were raced, or a negative errno. */
static int read_once(struct reading *r)
{
	struct freed_source *s = r->source;
	int error = clear_maps(s), raced = 0;

	if (error == 0)
		error = list_wanted(r);
	s->visit->pass = ZMEM_FREED_MARK;
	if (error == 0)
		error = iterator_run(s->visits.link_fd);
	if (error == 0)
		error = held_source_begin(s->held, r->holder, r->count);
	if (error == 0)
		error = walk(r);
	memset(r->files, 0, (r->groups + 1) * sizeof(*r->files));
	if (error == 0)
		error = held_source_end(s->held, s->visits.handle.fd[BPF_HELD], r->tmpfs, r->groups,
					r->files);
	s->visit->full |= held_source_is_full(s->held);
	for (uint32_t i = 1; error == 0 && i <= r->groups; i++)
		raced += r->files[i].raced;
	for (size_t i = 0; error == 0 && i < r->count; i++) {
		const __s32 pid = r->process[i]->pid;
		struct zmem_freed_want *w = &r->want[i];

		if (w->group)
			error = bpf_map_lookup_elem(s->visits.handle.fd[BPF_WANTED], &pid, w);
	}
	if (error == 0)
		mark_raced(r);
	for (size_t i = 0; error == 0 && i < r->count; i++)
		raced += r->want[i].state == ZMEM_FREED_RACED;
	return error < 0 ? error : raced;
}

/* Adds what becomes free with the address space of a process; false if it is not known. */
static bool add_memory(const struct reading *r, size_t i, uint64_t *bytes)
{
	const struct zmem_freed_want *w = &r->want[i];
	const struct process *p = r->process[i];
	int64_t pages = w->anon - (int64_t)w->shared;
	uint64_t swap = process_has(p, COUNTER_SWAP_RAM) ? p->value[COUNTER_SWAP_RAM] : 0;
	const uint64_t shares = w->slots >> ZMEM_PSS_SHIFT;

	if (w->mm_group == ZMEM_FREED_MIXED)
		return true;
	if (w->state != ZMEM_FREED_DONE || !process_has(p, COUNTER_PGTABLES) ||
	    !process_has(p, COUNTER_SWAP) ||
	    (p->value[COUNTER_SWAP] && !process_has(p, COUNTER_SWAP_RAM)))
		return false;
	/* Both were read at different times. */
	swap = (swap > shares ? swap - shares : 0) + (w->slots_complete >> ZMEM_PSS_SHIFT);
	*bytes += ((pages > 0 ? (uint64_t)pages : 0) + w->complete) * r->source->visits.page_size +
		  p->value[COUNTER_PGTABLES] + swap;
	return true;
}

static enum pss_status status_of(const struct zmem_freed_want *w)
{
	switch (w->state) {
	case ZMEM_FREED_RACED:
		return PSS_RACED;
	case ZMEM_FREED_BEGIN:
	case ZMEM_FREED_MORE:
		return PSS_GONE;
	default:
		return PSS_UNSUPPORTED;
	}
}

/* A process that has ended frees nothing more; it does not hide what the others of its group do. */
static bool has_ended(const struct reading *r, size_t i)
{
	return r->mms[r->group[i]] > 1 && status_of(&r->want[i]) == PSS_GONE;
}

static enum pss_status status_of_files(const struct held_sum *files)
{
	return files->raced ? PSS_RACED : files->unknown ? PSS_REFERENCED : PSS_OK;
}

static void set_values(struct reading *r)
{
	const struct held_sum none = {};
	const bool full = r->source->visit->full;

	for (size_t i = 0; i < r->count; i++) {
		struct process *p = r->process[i];
		const struct held_sum *files =
			r->counted[r->group[i]] == p ? &r->files[r->group[i]] : &none;
		uint64_t bytes = files->bytes;

		if (p->kind != PROCESS_USER)
			continue;
		p->status[VALUE_FREED] = PSS_UNSUPPORTED;
		if (full || !p->mm_id)
			continue;
		if (!has_ended(r, i) && !add_memory(r, i, &bytes))
			p->status[VALUE_FREED] = status_of(&r->want[i]);
		else
			p->status[VALUE_FREED] = status_of_files(files);
		if (p->status[VALUE_FREED] == PSS_OK)
			process_set(p, COUNTER_FREED, bytes);
	}
}

/* Gives the swap devices to the program, if there are any. */
static int set_devices(struct freed_source *s, const struct zmem_swap *swap)
{
	struct zmem_swap copy = {};
	const __u32 zero = 0;

	if (swap)
		copy = *swap;
	copy.costs = 1;
	return bpf_map_update_elem(s->visits.handle.fd[BPF_DEVICES], &zero, &copy, 0);
}

int freed_source_read(struct freed_source *s, const struct file_set *tmpfs,
		      const struct zmem_swap *swap, struct snapshot *snapshot,
		      struct process *const *process, const uint32_t *group, size_t count)
{
	struct reading r = {.source = s,
			    .snapshot = snapshot,
			    .process = process,
			    .group = group,
			    .count = count,
			    .tmpfs = tmpfs};
	cleanup(arena_release) __attribute__((unused)) struct arena_mark mark =
		arena_mark(&snapshot->scratch);
	int error = visits_follow_layout(&s->visits), raced = 1;

	if (s->next > FIRST_MAX - count * TRIES)
		error = -EOVERFLOW;
	if (error == 0)
		error = find_groups(&r);
	if (error == 0)
		error = set_devices(s, swap);
	r.every = walked_beside(snapshot);
	for (int i = 0; error == 0 && raced && i < TRIES; i++) {
		const bool used = s->used;

		raced = read_once(&r);
		error = raced < 0 ? raced : 0;
		/* The map was full of pages of earlier readings. */
		raced |= s->visit->full && used;
	}
	if (error == 0)
		set_values(&r);
	return error;
}
