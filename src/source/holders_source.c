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
#include "load/bpf_load.h"
#include "source/iterator.h"
#include "zmem/files.h"

/* A process by the address of its address space. */
struct mm_user {
	struct zmem_holder by; /* begins with the address */
	bool stays; /* it has it behind the walks, too: no other one had its memory meanwhile */
};

struct mm_user_list {
	struct mm_user *item;
	size_t count, capacity;
};

/* VMAs of an address space that map a file of the set. */
struct mapped {
	size_t file;
	struct zmem_mapper by;
};

struct mapped_list {
	struct mapped *item;
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

struct holders_source {
	struct bpf_handle handle;
	struct zmem_mappers *visit; /* the value of the map */
	struct file_set *set;
	size_t *wanted; /* indexes in the set, sorted by what files are known by */
	size_t wanted_count;
	struct mm_user_list mm;	   /* sorted by the address of the mm, then by pid */
	struct mm_user_list later; /* those that were not there before; sorted likewise */
	struct mapped_list mapped;
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
	free(h->later.item);
	free(h->mapped.item);
	free(h->held.item);
	free(h->share);
	free(h);
}

static int compare_users(const void *pa, const void *pb)
{
	const struct mm_user *a = pa, *b = pb;
	int r = ORDER_OF(a->by.key, b->by.key);

	return r ? r : ORDER_OF(a->by.pid, b->by.pid);
}

/* By what a file is known by. */
static int compare_files(const struct cached_file *a, const struct cached_file *b)
{
	int r = ORDER_OF(a->mapping, b->mapping);

	r = r ? r : ORDER_OF(a->inode, b->inode);
	return r ? r : ORDER_OF(a->generation, b->generation);
}

static int compare_wanted(const void *pa, const void *pb, void *arg)
{
	const struct cached_file *file = arg;

	return compare_files(&file[*(const size_t *)pa], &file[*(const size_t *)pb]);
}

/* By file, then by pid. */
static int compare_held(const void *pa, const void *pb)
{
	const struct held *a = pa, *b = pb;
	int r = ORDER_OF(a->file, b->file);

	return r ? r : ORDER_OF(a->by.pid, b->by.pid);
}

static int add_held(struct holders_source *h, size_t file, const struct zmem_holder *by)
{
	struct held *item;

	if (!array_room(&h->held.item, h->held.count, &h->held.capacity, 64))
		return -ENOMEM;
	item = &h->held.item[h->held.count++];
	*item = (struct held){
		.file = file, .by.pid = by->pid, .by.start_ns = by->start_boottime_ns};
	memcpy(item->by.comm, by->comm, sizeof(item->by.comm) - 1);
	return 0;
}

/* ---- iterators ---- */

struct wanted_key {
	const struct file_set *set;
	const struct cached_file file; /* what it is known by */
};

static bool is_before(const void *item, const void *arg)
{
	const struct wanted_key *key = arg;

	return compare_files(&key->set->file[*(const size_t *)item], &key->file) < 0;
}

/* Receives one record of an open file. */
static int match_open(void *arg, const void *data)
{
	struct holders_source *h = arg;
	const struct zmem_holder *record = data;
	const struct wanted_key key = {
		h->set,
		{.mapping = record->key, .inode = record->inode, .generation = record->generation}};
	size_t at = count_before(h->wanted, h->wanted_count, sizeof(*h->wanted), is_before, &key);

	if (at == h->wanted_count || compare_files(&h->set->file[h->wanted[at]], &key.file) != 0)
		return 0;
	return add_held(h, h->wanted[at], record);
}

static int add_user(struct mm_user_list *list, const struct zmem_holder *record)
{
	if (!array_room(&list->item, list->count, &list->capacity, 256))
		return -ENOMEM;
	list->item[list->count++] = (struct mm_user){.by = *record};
	return 0;
}

static void sort_users(struct mm_user_list *list)
{
	if (list->count)
		qsort(list->item, list->count, sizeof(*list->item), compare_users);
}

static int add_mm(void *arg, const void *record)
{
	struct holders_source *h = arg;

	return add_user(&h->mm, record);
}

/*
 * A process without its first thread has equal records, one for each of the others. The search
 * finds the same one each time, so the process counts once.
 */
static int confirm_mm(void *arg, const void *record)
{
	struct holders_source *h = arg;
	const struct mm_user key = {.by = *(const struct zmem_holder *)record};
	struct mm_user *found = bsearch(&key, h->mm.item, h->mm.count, sizeof(key), compare_users);

	if (!found)
		return add_user(&h->later, record);
	found->stays = true;
	return 0;
}

static int read_iterator(struct holders_source *h, int prog_fd,
			 int (*receive)(void *arg, const void *record))
{
	cleanup_close int fd = iterator_open(prog_fd, NULL);
	ssize_t n = fd < 0 ? fd : iterator_read(fd, sizeof(struct zmem_holder), receive, h);

	return n < 0 ? (int)n : 0;
}

/* ---- mappings ---- */

static int add_mapped(struct holders_source *h, size_t file, const struct zmem_mapper *by)
{
	if (!array_room(&h->mapped.item, h->mapped.count, &h->mapped.capacity, 256))
		return -ENOMEM;
	h->mapped.item[h->mapped.count++] = (struct mapped){.file = file, .by = *by};
	return 0;
}

static int add_mapped_holder(struct holders_source *h, const struct mapped *mapped,
			     const struct zmem_holder *by)
{
	return add_held(h, mapped->file, by);
}

/* The first process of an address space, or where it would be. */
static size_t first_user(const struct mm_user_list *list, uint64_t mm)
{
	return count_before(list->item, list->count, sizeof(*list->item), is_leading_u64_below,
			    &mm);
}

static bool has_user(const struct mm_user_list *list, uint64_t mm)
{
	size_t at = first_user(list, mm);

	return at < list->count && list->item[at].by.key == mm;
}

static int add_share(struct holders_source *h, const struct mapped *mapped,
		     const struct zmem_holder *by)
{
	bool unknown = mapped->by.swapped == ZMEM_MAPPER_UNKNOWN;

	if (!mapped->by.swapped)
		return 0;
	if (!array_room(&h->share, h->share_count, &h->share_capacity, 64))
		return -ENOMEM;
	h->share[h->share_count++] = (struct swapped_share){
		.pid = by->pid,
		.unknown = unknown,
		.pages = unknown ? 0 : mapped->by.swapped,
	};
	return 0;
}

/* Calls fn for each process of an address space. */
static int call_for_users(struct holders_source *h, const struct mapped *mapped,
			  int (*fn)(struct holders_source *h, const struct mapped *mapped,
				    const struct zmem_holder *by))
{
	const struct mm_user_list *mm = &h->mm;
	size_t i = first_user(mm, mapped->by.mm);
	int r = 0;

	for (; r == 0 && i < mm->count && mm->item[i].by.key == mapped->by.mm; i++) {
		if (mm->item[i].stays)
			r = fn(h, mapped, &mm->item[i].by);
	}
	return r;
}

/* Visits that a walk takes, and walks until no place of a visit was gone at the next one. */
#define VISITS_MAX 8192
#define WALKS_MAX  64

/* Walks the VMAs of a file once. */
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
static int read_mappers(struct holders_source *h, size_t index, bool swap)
{
	const struct cached_file *file = &h->set->file[index];
	struct zmem_mappers *v = h->visit;
	int r;

	v->tree.mapping = file->mapping;
	v->tree.inode = file->inode;
	v->tree.generation = file->generation;
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
		r = add_mapped(h, index, &v->mapper[i]);
	return r == 0 && v->state == ZMEM_MAPPERS_MANY ? -E2BIG : r;
}

/* The processes of all address spaces, before any is looked for. */
static int begin_mapped(struct holders_source *h)
{
	int r;

	h->mapped.count = h->mm.count = h->later.count = 0;
	r = read_iterator(h, h->handle.fd[BPF_MMS], add_mm);
	if (r == 0)
		sort_users(&h->mm);
	return r;
}

/*
 * Adds what was mapped to its processes. The kernel uses the memory of an address space again, so
 * only those count that have the same one as before.
 */
static int end_mapped(struct holders_source *h,
		      int (*fn)(struct holders_source *h, const struct mapped *mapped,
				const struct zmem_holder *by))
{
	int r = 0;

	if (h->mapped.count && h->mm.count)
		r = read_iterator(h, h->handle.fd[BPF_MMS], confirm_mm);
	sort_users(&h->later);
	for (size_t i = 0; r == 0 && i < h->mapped.count; i++)
		r = call_for_users(h, &h->mapped.item[i], fn);
	return r;
}

/* ---- processes that are not seen ---- */

/* Whether one of the visit's address spaces is one of item[0..count-1]. */
static bool is_mapped_again(const struct holders_source *h, const struct mapped *item, size_t count)
{
	const struct zmem_mappers *v = h->visit;

	for (uint32_t i = 0; i < v->count; i++) {
		for (size_t k = 0; k < count; k++) {
			if (v->mapper[i].mm == item[k].by.mm)
				return true;
		}
	}
	return false;
}

/*
 * No iterator, before or after the walks, may have seen a process with this address space. If it no
 * longer maps the file, its process has ended. If it does, iterators do not see its process: they
 * see those of our pid namespace (kernel/bpf/task_iter.c).
 */
static int find_hidden(struct holders_source *h)
{
	struct mapped_list *l = &h->mapped;
	size_t count = 0, end;
	int r = 0;

	for (size_t i = 0; i < l->count; i++) {
		if (!has_user(&h->mm, l->item[i].by.mm) && !has_user(&h->later, l->item[i].by.mm))
			l->item[count++] = l->item[i];
	}
	for (size_t i = 0; r == 0 && i < count; i = end) {
		size_t file = l->item[i].file;

		for (end = i; end < count && l->item[end].file == file; end++)
			;
		l->count = count; /* what read_mappers() adds is not needed */
		r = read_mappers(h, file, false);
		h->set->file[file].holders_hidden =
			r == 0 && is_mapped_again(h, &l->item[i], end - i);
		if (r == -E2BIG)
			r = 0;
	}
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
			h->wanted[h->wanted_count++] = i;
	}
	qsort_r(h->wanted, h->wanted_count, sizeof(*h->wanted), compare_wanted, set->file);
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
	int r = h ? bpf_load_noted("holders of files", OBJECT_HOLDERS, LOADER_EITHER, NULL, diag,
				   &h->handle)
		  : -ENOMEM;

	if (r < 0) {
		free(h);
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
		r = read_iterator(h, h->handle.fd[BPF_OPEN_FILES], match_open);
	if (r == 0)
		r = begin_mapped(h);
	for (size_t i = 0; r == 0 && i < h->wanted_count; i++) {
		r = read_mappers(h, h->wanted[i], false);
		set->file[h->wanted[i]].holders_known = r == 0;
		if (r == -E2BIG)
			r = 0;
	}
	if (r == 0)
		r = end_mapped(h, add_mapped_holder);
	if (r == 0)
		r = find_hidden(h);
	return r < 0 ? r : set_holders(h);
}

uint32_t holders_source_steps(const struct holders_source *h)
{
	return h->steps;
}

/* ---- swapped shared memory ---- */

/* Makes one share of those of each process. */
static void sum_shares(struct holders_source *h)
{
	size_t count = 0;

	if (h->share_count)
		qsort(h->share, h->share_count, sizeof(*h->share), compare_leading_pid);
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
	bool begun = false;
	int r = 0;

	h->set = set;
	h->share_count = h->mapped.count = 0;
	for (size_t i = 0; r == 0 && i < set->count; i++) {
		if (!set->file[i].swapped || !set->file[i].mapped)
			continue;
		if (!begun)
			r = begin_mapped(h);
		begun = true;
		if (r == 0)
			r = read_mappers(h, i, true);
	}
	if (r == 0)
		r = end_mapped(h, add_share);
	if (r < 0)
		return r;
	sum_shares(h);
	*ret = h->share;
	return (ssize_t)h->share_count;
}
