// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Runs the programs of bpf/freed.bpf.c. A reading begins with the descriptors of all processes.
 * Then an iterator goes over all processes, again and again: in each pass it walks each process
 * that is not finished, for at most some milliseconds. What both met of pages and files is in maps
 * of the programs. User space then decides for each file whether a group has all its references.
 *
 * An address space that processes of several groups share ends with none of them. A walk that was
 * raced may have counted some mappings twice, so the whole reading begins anew, at most TRIES
 * times: with higher numbers of groups, so that what is in the map of pages is of no meaning.
 */
#include "source/freed_source.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "model/files.h"
#include "source/iterator.h"
#include "source/visits.h"
#include "zmem/freed.h"

#define TRIES 3
/* Passes over all processes: the largest takes so many. */
#define PASSES_MAX (1024 * 1024)
/* Pages that there is always room for. */
#define PAGES_LEAST (16 * 1024)
/* The numbers of groups never come near the end of their type. */
#define FIRST_MAX (UINT32_MAX / 2)

struct freed_source {
	struct visits visits;
	struct zmem_freed *visit;
	int open_link_fd;
	uint32_t next; /* number of a group */
	bool used;     /* the map of pages is not empty */
};

/* What a reading is about. */
struct reading {
	struct freed_source *source;
	struct snapshot *snapshot;
	struct process *const *process;
	const uint32_t *group;
	size_t count;
	uint32_t groups;
	const struct file_set *tmpfs; /* NULL: not known */
	bool swapped_files;	      /* pages of some of them take RAM in swap */
	uint32_t *group_of;	      /* of each process of the snapshot; 0: none */
	uint32_t *mm_group;	      /* by mm_id; 0: none, or several */
	uint32_t *mms;		      /* address spaces of each group */
	struct process **counted;     /* a process of each group that its sum counts */
	struct zmem_freed_want *want; /* of each process */
};

void freed_source_close(struct freed_source *s)
{
	if (!s)
		return;
	close_fd(&s->open_link_fd);
	visits_close(&s->visits);
	free(s);
}

/* As the header says. */
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

static int set_up(struct visits *v)
{
	struct freed_source *s = (struct freed_source *)v;

	s->open_link_fd = iterator_link(v->handle.fd[BPF_OPEN_FILES], NULL);
	return s->open_link_fd < 0 ? s->open_link_fd : 0;
}

static const struct visit_kind kind = {
	.subject = "what becomes free",
	.needs = "it needs PSS from page tables",
	.object = OBJECT_FREED,
	.answers_size = sizeof(struct zmem_freed),
	.layout_offset = offsetof(struct zmem_freed, at),
	.set_up = set_up,
};

int freed_source_open(const struct source *from, const struct meminfo *meminfo, struct diag *diag,
		      struct freed_source **ret)
{
	struct freed_source *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return -ENOMEM;
	s->open_link_fd = -1;
	s->next = 1;
	r = visits_open(&s->visits, &kind, from,
			page_room(meminfo, (uint32_t)sysconf(_SC_PAGESIZE)), diag);
	if (r < 0) {
		freed_source_close(s);
		return r;
	}
	s->visit = s->visits.handle.answers;
	*ret = s;
	return 0;
}

/* ---- maps ---- */

static int clear_map(int fd)
{
	uint64_t key; /* no map has a larger one */

	while (bpf_map_get_next_key(fd, NULL, &key) == 0) {
		if (bpf_map_delete_elem(fd, &key) < 0)
			return -errno;
	}
	return errno == ENOENT ? 0 : -errno;
}

/* Empties the maps of a reading; that of pages only if there was no room in it. */
static int clear_maps(struct freed_source *s)
{
	int r = clear_map(s->visits.handle.fd[BPF_WANTED]);

	if (r == 0)
		r = clear_map(s->visits.handle.fd[BPF_HELD]);
	if (r == 0)
		r = clear_map(s->visits.handle.fd[BPF_TABLES]);
	if (r == 0)
		r = clear_map(s->visits.handle.fd[BPF_SPACES]);
	if (r == 0)
		r = clear_map(s->visits.handle.fd[BPF_MOUNTED]);
	if (r == 0 && s->visit->full && s->used) {
		r = clear_map(s->visits.handle.fd[BPF_PAGES]);
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

/* Which group each address space belongs to, and which one stands for each group. */
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
	if (!r->group_of || !r->mm_group || !r->mms || !r->counted || !r->want)
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

static int list_wanted(struct reading *r)
{
	struct freed_source *s = r->source;

	s->visit->first = s->next;
	s->next += r->groups;
	for (size_t i = 0; i < r->count; i++) {
		const struct process *p = r->process[i];
		struct zmem_freed_want *w = &r->want[i];
		const uint32_t group = r->group[i];
		const __s32 pid = p->pid;

		if (p->kind != PROCESS_USER)
			continue;
		*w = (struct zmem_freed_want){
			.start_boottime_ns = p->start_ns,
			.group = s->visit->first + group - 1,
			.alone = r->mms[group] < 2,
		};
		if (is_walked(p) && r->mm_group[p->mm_id])
			w->mm_group = w->group;
		if (bpf_map_update_elem(s->visits.handle.fd[BPF_WANTED], &pid, w, 0) < 0)
			return -errno;
	}
	return 0;
}

/* ---- a reading ---- */

static int ignore_record(void *arg, const void *record)
{
	(void)arg;
	(void)record;
	return 0;
}

/* One pass of an iterator that writes nothing. */
static int pass(int link_fd)
{
	cleanup_close int fd = bpf_iter_create(link_fd);
	ssize_t r = fd < 0 ? fd : iterator_read(fd, 1, ignore_record, NULL);

	return r < 0 ? (int)r : 0;
}

/* Returns how many walks were raced, or a negative errno. */
static int read_once(struct reading *r)
{
	struct freed_source *s = r->source;
	int error = clear_maps(s), raced = 0;

	if (error == 0)
		error = list_wanted(r);
	if (error == 0)
		error = pass(s->open_link_fd);
	if (error == 0)
		error = bpf_program_run(s->visits.handle.fd[BPF_RUN]);
	s->used = true;
	s->visit->more = s->visit->spaces = 1;
	for (int i = 0; error == 0 && s->visit->more && i < PASSES_MAX; i++) {
		s->visit->more = 0;
		error = pass(s->visits.link_fd);
		s->visit->spaces = 0;
	}
	for (size_t i = 0; error == 0 && i < r->count; i++) {
		const __s32 pid = r->process[i]->pid;
		struct zmem_freed_want *w = &r->want[i];

		if (!w->group || bpf_map_lookup_elem(s->visits.handle.fd[BPF_WANTED], &pid, w) == 0)
			raced += w->state == ZMEM_FREED_RACED;
		else
			error = -errno;
	}
	return error < 0 ? error : raced;
}

/* All values of a map, to be freed. Returns how many, or -ENOMEM. */
static ssize_t read_map(int fd, size_t size, void **ret)
{
	size_t count = 0, capacity = 0;
	char(*item)[size] = NULL;
	uint64_t key, *last = NULL;

	for (; bpf_map_get_next_key(fd, last, &key) == 0; last = &key) {
		if (!array_room(&item, count, &capacity, 64)) {
			free(item);
			return -ENOMEM;
		}
		count += bpf_map_lookup_elem(fd, &key, item[count]) == 0;
	}
	*ret = item;
	return (ssize_t)count;
}

static int compare_files(const void *pa, const void *pb)
{
	const struct zmem_freed_file *a = pa, *b = pb;

	return ORDER_OF(a->inode, b->inode);
}

/* True if each name of the file is one of the open files, which the group alone has. */
static bool is_held_by_one(const struct zmem_freed_file *f, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (f[i].group == ZMEM_FREED_MIXED || f[i].group != f[0].group ||
		    f[i].met != f[i].refs || f[i].dentry != f[0].dentry)
			return false;
	}
	return !f[count - 1].links && f[count - 1].names == (int64_t)count;
}

/* What is known of the holders of files. */
struct holders {
	struct zmem_freed_file *file;
	struct zmem_freed_space *set;
	struct zmem_freed_mount *mounted;
	ssize_t files, sets, mounts;
};

/* The group that has all of a mount namespace; ZMEM_FREED_MIXED: there is none. */
static uint32_t group_of_space(const struct holders *h, const struct freed_source *s,
			       uint64_t space)
{
	struct zmem_freed_space whole = {};
	uint32_t sets = 0;

	if (bpf_map_lookup_elem(s->visits.handle.fd[BPF_SPACES], &space, &whole) < 0 ||
	    whole.space || (int64_t)whole.met != whole.refs)
		return ZMEM_FREED_MIXED;
	for (ssize_t i = 0; i < h->sets; i++) {
		if (h->set[i].space != space)
			continue;
		sets++;
		if (h->set[i].group != whole.group || (int64_t)h->set[i].met != h->set[i].refs)
			return ZMEM_FREED_MIXED;
	}
	return sets == whole.met ? whole.group : ZMEM_FREED_MIXED;
}

/* Whether the file system ends with the group: no other process has one of its files open. */
static bool is_private(const struct holders *h, const struct zmem_freed_mount *m, uint32_t group)
{
	if (group == ZMEM_FREED_MIXED)
		return false;
	for (ssize_t i = 0; i < h->files; i++) {
		if (h->file[i].device == m->device &&
		    (h->file[i].group != group || h->file[i].met != h->file[i].refs))
			return false;
	}
	return true;
}

/* The files of file systems that end with a group, and not those files once more. */
static void add_mounted(const struct reading *r, struct holders *h, uint64_t *group_bytes)
{
	const struct freed_source *s = r->source;

	for (ssize_t i = 0; r->tmpfs && i < h->mounts; i++) {
		const struct zmem_freed_mount *m = &h->mounted[i];
		const uint32_t group = group_of_space(h, s, m->space);

		if (!is_private(h, m, group))
			continue;
		for (size_t k = 0; k < r->tmpfs->count; k++) {
			if (r->tmpfs->file[k].device == m->device)
				group_bytes[group - s->visit->first + 1] +=
					r->tmpfs->file[k].resident + r->tmpfs->file[k].swap_ram;
		}
		for (ssize_t k = 0; k < h->files; k++) {
			if (h->file[k].device == m->device)
				h->file[k].group = ZMEM_FREED_MIXED;
		}
	}
}

/* What the swapped pages of a file take in RAM. */
static uint64_t swap_ram_of(const struct reading *r, const struct zmem_freed_file *f)
{
	for (size_t i = 0; r->swapped_files && i < r->tmpfs->count; i++) {
		const struct cached_file *c = &r->tmpfs->file[i];

		if (c->swap_ram && c->inode == f->number && c->device == f->device)
			return c->swap_ram;
	}
	return 0;
}

/* The files of shared memory that end with a group. */
static int add_files(const struct reading *r, uint64_t *group_bytes)
{
	struct freed_source *s = r->source;
	const int *fd = s->visits.handle.fd;
	struct holders h = {};

	h.files = read_map(fd[BPF_HELD], sizeof(*h.file), (void **)&h.file);
	h.sets = read_map(fd[BPF_SPACES], sizeof(*h.set), (void **)&h.set);
	h.mounts = read_map(fd[BPF_MOUNTED], sizeof(*h.mounted), (void **)&h.mounted);
	add_mounted(r, &h, group_bytes);
	if (h.files > 0)
		qsort(h.file, (size_t)h.files, sizeof(*h.file), compare_files);
	for (ssize_t i = 0, end; i < h.files; i = end) {
		const struct zmem_freed_file *f = &h.file[i];

		for (end = i + 1; end < h.files && h.file[end].inode == f->inode;)
			end++;
		if (is_held_by_one(f, (size_t)(end - i)))
			group_bytes[f->group - s->visit->first + 1] +=
				h.file[end - 1].pages * s->visits.page_size + swap_ram_of(r, f);
	}
	free(h.file);
	free(h.set);
	free(h.mounted);
	return h.files < 0 || h.sets < 0 || h.mounts < 0 ? -ENOMEM : 0;
}

/* What ends with the address space of a process; false if it is not known. */
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

static int set_values(struct reading *r)
{
	uint64_t *group_bytes =
		arena_zalloc(&r->snapshot->scratch, r->groups + 1, sizeof(*group_bytes));
	const bool full = r->source->visit->full;
	int error = group_bytes ? add_files(r, group_bytes) : -ENOMEM;

	for (size_t i = 0; error == 0 && i < r->count; i++) {
		struct process *p = r->process[i];
		uint64_t bytes = r->counted[r->group[i]] == p ? group_bytes[r->group[i]] : 0;

		if (p->kind != PROCESS_USER)
			continue;
		p->freed_status = PSS_UNSUPPORTED;
		if (!full && p->mm_id && (has_ended(r, i) || add_memory(r, i, &bytes))) {
			process_set(p, COUNTER_FREED, bytes);
			p->freed_status = PSS_OK;
		} else if (!full && p->mm_id) {
			p->freed_status = status_of(&r->want[i]);
		}
	}
	return error;
}

/* Has the program know the swap devices, if any. */
static int set_devices(struct freed_source *s, const struct zmem_swap *swap)
{
	struct zmem_swap copy = {};
	const __u32 zero = 0;

	if (swap)
		copy = *swap;
	copy.costs = 1;
	return bpf_map_update_elem(s->visits.handle.fd[BPF_DEVICES], &zero, &copy, 0) < 0 ? -errno
											  : 0;
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
	for (size_t i = 0; tmpfs && i < tmpfs->count; i++)
		r.swapped_files |= tmpfs->file[i].swap_ram != 0;
	for (int i = 0; error == 0 && raced && i < TRIES; i++) {
		const bool used = s->used;

		raced = read_once(&r);
		error = raced < 0 ? raced : 0;
		/* It was full of pages of earlier readings. */
		raced |= s->visit->full && used;
	}
	if (error == 0)
		error = set_values(&r);
	return error;
}
