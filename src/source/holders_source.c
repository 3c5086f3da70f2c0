// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Joins what the programs of bpf/holders.bpf.c write: the files that each process has open, the
 * address spaces that map each file, and the processes of each address space.
 */
#include "source/holders_source.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "load/bpf_diagnose.h"
#include "load/bpf_load.h"
#include "source/iterator.h"
#include "zmem/files.h"

#define SUBJECT "holders of files"

struct holder_list {
	struct zmem_holder *item;
	size_t count, capacity;
};

/* A process that holds a file of the set. */
struct held {
	size_t file;
	struct file_holder by;
};

struct held_list {
	struct held *item;
	size_t count, capacity;
};

/* A file whose holders are asked for. */
struct wanted_file {
	uint64_t mapping; /* the first member: compare_leading_u64() */
	size_t index;	  /* in the set */
};

struct holders_source {
	struct bpf_handle handle;
	struct zmem_mappers *visit; /* the value of the map */
	struct file_set *set;
	struct wanted_file *wanted; /* sorted by their mapping */
	size_t wanted_count;
	struct holder_list mm; /* sorted by the address of the mm */
	struct held_list held;
	struct swapped_share *share;
	size_t share_count, share_capacity;
	uint32_t steps; /* the most of a visit */
};

void holders_source_close(struct holders_source *h)
{
	if (!h)
		return;
	bpf_handle_close(&h->handle);
	free(h->wanted);
	free(h->mm.item);
	free(h->held.item);
	free(h->share);
	free(h);
}

/* By file, then by pid. */
static int compare_held(const void *pa, const void *pb)
{
	const struct held *a = pa, *b = pb;

	return a->file == b->file ? ORDER_OF(a->by.pid, b->by.pid) : ORDER_OF(a->file, b->file);
}

static int add_held(struct holders_source *h, size_t file, const struct zmem_holder *by)
{
	struct held *item;

	if (!array_room(&h->held.item, h->held.count, &h->held.capacity, 64))
		return -ENOMEM;
	item = &h->held.item[h->held.count++];
	*item = (struct held){.file = file, .by.pid = by->pid};
	memcpy(item->by.comm, by->comm, sizeof(item->by.comm) - 1);
	return 0;
}

/* ---- iterators ---- */

/* One record of an open file. */
static int match_open(void *arg, const void *data)
{
	struct holders_source *h = arg;
	const struct zmem_holder *record = data;
	const struct wanted_file *found = bsearch(&record->key, h->wanted, h->wanted_count,
						  sizeof(*found), compare_leading_u64);

	return found ? add_held(h, found->index, record) : 0;
}

static int add_mm(void *arg, const void *record)
{
	struct holders_source *h = arg;

	if (!array_room(&h->mm.item, h->mm.count, &h->mm.capacity, 256))
		return -ENOMEM;
	memcpy(&h->mm.item[h->mm.count++], record, sizeof(*h->mm.item));
	return 0;
}

static int read_iterator(struct holders_source *h, int prog_fd,
			 int (*receive)(void *holders_source, const void *record))
{
	cleanup_close int fd = iterator_open(prog_fd, NULL);
	ssize_t n = fd < 0 ? fd : iterator_read(fd, sizeof(struct zmem_holder), receive, h);

	return n < 0 ? (int)n : 0;
}

/* ---- mappings ---- */

/* Calls `add` for each process of an address space. */
static int match_mm(struct holders_source *h, size_t file, const struct zmem_mapper *mapper,
		    int (*add)(struct holders_source *h, size_t file,
			       const struct zmem_mapper *mapper, const struct zmem_holder *by))
{
	const struct holder_list *mm = &h->mm;
	size_t i = count_before(mm->item, mm->count, sizeof(*mm->item), is_leading_u64_below,
				&mapper->mm);
	int r = 0;

	for (; r == 0 && i < mm->count && mm->item[i].key == mapper->mm; i++)
		r = add(h, file, mapper, &mm->item[i]);
	return r;
}

static int add_mapper(struct holders_source *h, size_t file, const struct zmem_mapper *mapper,
		      const struct zmem_holder *by)
{
	(void)mapper;
	return add_held(h, file, by);
}

static int add_share(struct holders_source *h, size_t file, const struct zmem_mapper *mapper,
		     const struct zmem_holder *by)
{
	(void)file;
	if (!mapper->swapped)
		return 0;
	if (!array_room(&h->share, h->share_count, &h->share_capacity, 64))
		return -ENOMEM;
	h->share[h->share_count++] = (struct swapped_share){
		.pid = by->pid,
		.unknown = mapper->swapped == ZMEM_MAPPER_UNKNOWN,
		.pages = mapper->swapped == ZMEM_MAPPER_UNKNOWN ? 0 : mapper->swapped,
	};
	return 0;
}

/* Visits that a walk takes, and walks until no place of a visit was gone at the next one. */
#define VISITS_MAX 8192
#define WALKS_MAX  64

/* One walk over the VMAs of a file. */
static int walk_mappers(struct holders_source *h)
{
	struct zmem_mappers *v = h->visit;
	int r;

	v->state = ZMEM_MAPPERS_BEGIN;
	for (int i = 0; i < VISITS_MAX; i++) {
		r = bpf_program_run(h->handle.fd[BPF_RUN]);
		if (v->steps > h->steps)
			h->steps = v->steps;
		if (r < 0 || v->state != ZMEM_MAPPERS_MORE)
			return r;
	}
	v->state = ZMEM_MAPPERS_MANY;
	return 0;
}

/* The VMAs that map a file. Returns 0, -E2BIG if they are too many, or another negative errno. */
static int read_mappers(struct holders_source *h, size_t index, bool swap,
			int (*add)(struct holders_source *h, size_t file,
				   const struct zmem_mapper *mapper, const struct zmem_holder *by))
{
	const struct cached_file *file = &h->set->file[index];
	struct zmem_mappers *v = h->visit;
	int r;

	v->tree.mapping = file->mapping;
	v->inode = file->inode;
	v->count_swap = swap;
	v->page_bits = (uint32_t)__builtin_ctzl((unsigned long)sysconf(_SC_PAGESIZE));
	for (int i = 0; i < WALKS_MAX; i++) {
		r = walk_mappers(h);
		if (r < 0 || v->state != ZMEM_MAPPERS_CHANGED)
			break;
	}
	if (r == 0 && v->state == ZMEM_MAPPERS_CHANGED)
		v->state = ZMEM_MAPPERS_MANY;
	if (r == 0 && v->count > ZMEM_MAPPERS_MAX)
		r = -EPROTO;
	for (uint32_t i = 0; r == 0 && i < v->count; i++)
		r = match_mm(h, index, &v->mapper[i], add);
	return r == 0 && v->state == ZMEM_MAPPERS_MANY ? -E2BIG : r;
}

/* The processes of all address spaces. */
static int read_processes(struct holders_source *h)
{
	int r;

	h->mm.count = 0;
	r = read_iterator(h, h->handle.fd[BPF_MMS], add_mm);
	if (r == 0 && h->mm.count)
		qsort(h->mm.item, h->mm.count, sizeof(*h->mm.item), compare_leading_u64);
	return r;
}

/* ---- files ---- */

static int choose_files(struct holders_source *h)
{
	struct file_set *set = h->set;

	free(h->wanted);
	h->wanted_count = 0;
	h->wanted = calloc(set->count ? set->count : 1, sizeof(*h->wanted));
	if (!h->wanted)
		return -ENOMEM;
	for (size_t i = 0; i < set->count; i++) {
		if (set->file[i].wanted)
			h->wanted[h->wanted_count++] =
				(struct wanted_file){set->file[i].mapping, i};
	}
	qsort(h->wanted, h->wanted_count, sizeof(*h->wanted), compare_leading_u64);
	return 0;
}

/* Sets the holders of each file, each process once. */
static int set_holders(struct holders_source *h)
{
	struct held_list *l = &h->held;
	struct file_holder *holder;
	size_t first = 0;

	if (l->count)
		qsort(l->item, l->count, sizeof(*l->item), compare_held);
	holder = arena_alloc(&h->set->arena, (l->count + 1) * sizeof(*holder));
	if (!holder)
		return -ENOMEM;
	while (first < l->count) {
		struct cached_file *file = &h->set->file[l->item[first].file];
		size_t i = first;

		file->holder = holder;
		for (; i < l->count && l->item[i].file == l->item[first].file; i++) {
			if (i == first || l->item[i].by.pid != l->item[i - 1].by.pid)
				*holder++ = l->item[i].by;
		}
		file->holder_count = (uint32_t)(holder - file->holder);
		first = i;
	}
	return 0;
}

int holders_source_open(struct diag *diag, struct holders_source **ret)
{
	struct holders_source *h = calloc(1, sizeof(*h));
	struct bpf_missing missing = {};
	int r;

	if (!h)
		return -ENOMEM;
	r = bpf_load_either(OBJECT_HOLDERS, &h->handle, &missing);
	if (r == 0)
		r = bpf_handle_map(&h->handle, sizeof(*h->visit));
	if (r < 0) {
		bpf_diagnose_note(diag, SUBJECT, "loading the programs", r, &missing);
		holders_source_close(h);
		return r;
	}
	h->visit = h->handle.answers;
	*ret = h;
	return 0;
}

int holders_source_read(struct holders_source *h, struct file_set *set)
{
	int r;

	h->set = set;
	h->held.count = 0;
	r = choose_files(h);
	if (r == 0)
		r = read_processes(h);
	if (r == 0)
		r = read_iterator(h, h->handle.fd[BPF_OPEN_FILES], match_open);
	for (size_t i = 0; r == 0 && i < h->wanted_count; i++) {
		r = read_mappers(h, h->wanted[i].index, false, add_mapper);
		set->file[h->wanted[i].index].holders_known = r == 0;
		if (r == -E2BIG)
			r = 0;
	}
	return r < 0 ? r : set_holders(h);
}

uint32_t holders_source_steps(const struct holders_source *h)
{
	return h->steps;
}

/* ---- swapped shared memory ---- */

static int compare_shares(const void *pa, const void *pb)
{
	const struct swapped_share *a = pa, *b = pb;

	return ORDER_OF(a->pid, b->pid);
}

/* Makes one share of those of each process. */
static void sum_shares(struct holders_source *h)
{
	size_t count = 0;

	if (h->share_count)
		qsort(h->share, h->share_count, sizeof(*h->share), compare_shares);
	for (size_t i = 0; i < h->share_count; i++) {
		struct swapped_share *last = &h->share[count - 1];

		if (!count || last->pid != h->share[i].pid) {
			h->share[count++] = h->share[i];
			continue;
		}
		last->pages += h->share[i].pages;
		last->unknown |= h->share[i].unknown;
	}
	h->share_count = count;
}

ssize_t holders_source_swapped(struct holders_source *h, struct file_set *set,
			       const struct swapped_share **ret)
{
	bool read = false;
	int r = 0;

	h->set = set;
	h->share_count = 0;
	for (size_t i = 0; r == 0 && i < set->count; i++) {
		if (!set->file[i].swapped || !set->file[i].mapped)
			continue;
		if (!read)
			r = read_processes(h);
		read = true;
		if (r == 0)
			r = read_mappers(h, i, true, add_share);
	}
	if (r < 0)
		return r;
	sum_shares(h);
	*ret = h->share;
	return (ssize_t)h->share_count;
}
