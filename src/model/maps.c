// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Stores mappings, and sums them by name. */
#include "model/maps.h"

#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

void map_counters_add(struct map_counters *sum, const struct map_counters *c)
{
	sum->have &= c->have;
	for (int i = 0; i < MAPS_COUNTERS; i++) {
		if (!map_has(sum, i) ||
		    __builtin_add_overflow(sum->value[i], c->value[i], &sum->value[i])) {
			sum->have &= ~(1u << i);
			sum->value[i] = 0;
		}
	}
}

void map_counters_merge(struct map_counters *sum, const struct map_counters *process)
{
	bool both = sum->value[MAPS_HUGETLB] && process->value[MAPS_HUGETLB];

	map_counters_add(sum, process);
	if (both) {
		sum->have &= ~(1u << MAPS_HUGETLB);
		sum->value[MAPS_HUGETLB] = 0;
	}
}

struct map_set *map_set_new(bool by_name)
{
	struct map_set *s = calloc(1, sizeof(*s));

	if (s) {
		s->by_name = by_name;
		s->total = MAPS_COUNTERS_ZERO;
	}
	return s;
}

static void ignore_item(void *item)
{
	(void)item; /* the arena owns it */
}

void map_set_free(struct map_set *s)
{
	if (!s)
		return;
	tdestroy(s->index, ignore_item);
	arena_done(&s->arena);
	free(s->item);
	free(s);
}

static int compare_names(const void *pa, const void *pb)
{
	const struct mapping *a = pa, *b = pb;
	int r = 0;

	if (a->group && b->group)
		r = strcmp(a->group, b->group);
	else
		r = (a->group != NULL) - (b->group != NULL);
	return r ? r : strcmp(a->name, b->name);
}

/* A file has several mappings in a row: neighbours share the copy of the name. */
static const char *store_name(struct map_set *s, const char *name)
{
	if (s->count && strcmp(s->item[s->count - 1]->name, name) == 0)
		return s->item[s->count - 1]->name;
	return arena_strndup(&s->arena, name, strlen(name));
}

static struct mapping *append(struct map_set *s, const struct mapping *m)
{
	struct mapping **item = grow_items(s->item, s->count, &s->capacity, 64, sizeof(*item));
	struct mapping *copy;

	if (!item)
		return NULL;
	s->item = item;
	copy = arena_alloc(&s->arena, sizeof(*copy));
	if (!copy)
		return NULL;
	*copy = *m;
	copy->name = store_name(s, m->name);
	if (!copy->name)
		return NULL;
	s->item[s->count++] = copy;
	return copy;
}

/* Returns the sum of that name, a new one if there is none. */
static struct mapping *find(struct map_set *s, const struct mapping *m)
{
	struct mapping *const *found = tfind(m, &s->index, compare_names);
	const struct mapping none = {.name = m->name,
				     .group = m->group,
				     .name_cut = m->name_cut,
				     .device = m->device,
				     .counters = MAPS_COUNTERS_ZERO};
	struct mapping *item;

	if (found)
		return *found;
	item = append(s, &none);
	return item && tsearch(item, &s->index, compare_names) ? item : NULL;
}

int map_set_add(struct map_set *s, const struct mapping *m)
{
	struct mapping *item = s->by_name ? find(s, m) : append(s, m);

	if (!item)
		return -ENOMEM;
	if (s->by_name) {
		item->mappings++;
		item->processes = 1;
		map_counters_add(&item->counters, &m->counters);
	}
	s->mappings++;
	map_counters_add(&s->total, &m->counters);
	return 0;
}

int map_set_merge(struct map_set *s, const struct map_set *process)
{
	for (size_t i = 0; i < process->count; i++) {
		const struct mapping *m = process->item[i];
		struct mapping *item = find(s, m);

		if (!item)
			return -ENOMEM;
		item->mappings += m->mappings;
		item->processes += m->processes;
		map_counters_merge(&item->counters, &m->counters);
	}
	s->mappings += process->mappings;
	map_counters_merge(&s->total, &process->total);
	return 0;
}

/* ---- kinds of memory ---- */

/* Kinds of memory that is in no file, and then, from KIND_FILES on, enum file_kind. */
enum { KIND_HEAP, KIND_STACK, KIND_ANON, KIND_OTHER, KIND_FILES, KINDS = KIND_FILES + FILE_KINDS };

#define KIND_OF(file_kind) (KIND_FILES + (file_kind))

static const char *kind_name(size_t kind)
{
	static const char *const names[] = {[KIND_HEAP] = "heap",
					    [KIND_STACK] = "stack",
					    [KIND_ANON] = "anon",
					    [KIND_OTHER] = "other"};

	return kind < KIND_FILES ? names[kind]
				 : file_kind_name((enum file_kind)(kind - KIND_FILES));
}

struct kind_begin {
	const char *begin;
	size_t kind;
};

static bool find_begin(const struct kind_begin *begins, size_t count, const char *name,
		       size_t *ret_kind)
{
	for (size_t i = 0; i < count; i++) {
		if (strncmp(name, begins[i].begin, strlen(begins[i].begin)) == 0) {
			*ret_kind = begins[i].kind;
			return true;
		}
	}
	return false;
}

/*
 * Files of the kernel's own mounts, which have no directory, are called so (d_path()): those of
 * shared memory (mm/memfd.c, ipc/shm.c, mm/shmem.c, drm), of huge pages (mm/mmap.c) and of
 * mm/secretmem.c.
 */
static bool kind_of_kernel_file(const char *name, size_t *ret_kind)
{
	static const struct kind_begin begins[] = {
		{"/memfd:", KIND_OF(FILE_MEMFD)},
		{"/SYSV", KIND_OF(FILE_SYSV)},
		{"/dev/zero", KIND_OF(FILE_SHARED_ANON)},
		{"/drm mm object", KIND_OF(FILE_DRM)},
		{"/i915", KIND_OF(FILE_DRM)},
		{"/anon_hugepage", KIND_OF(FILE_HUGETLB)},
		{"/secretmem", KIND_OF(FILE_SECRETMEM)},
	};
	static const char deleted[] = " (deleted)";
	size_t len = strlen(name), end = sizeof(deleted) - 1;

	return len > end && strcmp(name + len - end, deleted) == 0 &&
	       find_begin(begins, ARRAY_SIZE(begins), name, ret_kind);
}

bool map_kind_needs_fs(const struct mapping *m)
{
	size_t kind;

	/* A file system without a device has a major number of 0. */
	return *m->name == '/' && !(m->device >> 32) && !kind_of_kernel_file(m->name, &kind);
}

static size_t kind_of_file(const struct mapping *m)
{
	static const struct {
		const char *fs;
		enum file_kind kind;
	} systems[] = {{"tmpfs", FILE_TMPFS},
		       {"devtmpfs", FILE_TMPFS},
		       {"ramfs", FILE_RAMFS},
		       {"hugetlbfs", FILE_HUGETLB}};
	size_t kind = KIND_OF(FILE_REGULAR);

	if (m->counters.value[MAPS_HUGETLB])
		return KIND_OF(FILE_HUGETLB);
	if (!(m->device >> 32) && !m->fs)
		kind_of_kernel_file(m->name, &kind);
	/* A private mapping of this device is anonymous; a shared one is a file of its own. */
	if (strcmp(m->name, "/dev/zero") == 0)
		return KIND_ANON;
	for (size_t i = 0; m->fs && i < ARRAY_SIZE(systems); i++) {
		if (strcmp(m->fs, systems[i].fs) == 0)
			kind = KIND_OF(systems[i].kind);
	}
	return kind;
}

/* The names of do_map_name() and show_map_vma(), fs/proc/task_mmu.c. */
static size_t kind_of(const struct mapping *m)
{
	static const struct kind_begin begins[] = {{"[heap]", KIND_HEAP},
						   {"[stack", KIND_STACK},
						   {"[anon_shmem", KIND_OF(FILE_SHARED_ANON)},
						   {"[anon", KIND_ANON}};
	size_t kind = KIND_OTHER;

	if (*m->name == '/')
		return kind_of_file(m);
	find_begin(begins, ARRAY_SIZE(begins), m->name, &kind);
	return kind;
}

const char *map_kind(const struct mapping *m)
{
	return kind_name(kind_of(m));
}

int map_set_merge_kinds(struct map_set *s, const struct map_set *process, const char *group)
{
	struct mapping sum[KINDS] = {};

	for (size_t i = 0; i < process->count; i++) {
		const struct mapping *m = process->item[i];
		struct mapping *of = &sum[kind_of(m)];

		if (!of->mappings)
			of->counters = MAPS_COUNTERS_ZERO;
		of->mappings += m->mappings;
		map_counters_add(&of->counters, &m->counters);
	}
	for (size_t i = 0; i < KINDS; i++) {
		const struct mapping key = {.name = kind_name(i), .group = group};
		struct mapping *item = sum[i].mappings ? find(s, &key) : NULL;

		if (!sum[i].mappings)
			continue;
		if (!item)
			return -ENOMEM;
		item->mappings += sum[i].mappings;
		item->processes++;
		map_counters_merge(&item->counters, &sum[i].counters);
	}
	s->mappings += process->mappings;
	map_counters_merge(&s->total, &process->total);
	return 0;
}

int map_set_filter(struct map_set *s, int (*keep)(void *arg, const char *name), void *arg)
{
	size_t count = 0;

	s->mappings = 0;
	s->total = MAPS_COUNTERS_ZERO;
	s->total_exact = false;
	for (size_t i = 0; i < s->count; i++) {
		struct mapping *m = s->item[i];
		int r = keep(arg, m->name);

		if (r < 0)
			return r;
		if (!r)
			continue;
		s->item[count++] = m;
		s->mappings += m->mappings;
		map_counters_add(&s->total, &m->counters);
	}
	s->count = count;
	return 0;
}

/* ---- the result of a command ---- */

size_t maps_report_count(const struct maps_report *r, enum pss_status status)
{
	size_t count = 0;

	for (size_t i = 0; i < r->process_count; i++)
		count += r->process[i].status == status;
	return count;
}

const char *const maps_unread[PSS_STATUS_COUNT] = {
	[PSS_GONE] = "it has ended",
	[PSS_DENIED] = "it may not be read (run as root, or with CAP_SYS_PTRACE)",
	[PSS_TIMEOUT] = "it is stuck, so its mappings cannot be read",
	[PSS_KERNEL_THREAD] = "a kernel thread has no mappings",
	[PSS_UNSUPPORTED] = "its smaps cannot be read or understood here",
};
