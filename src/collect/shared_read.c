// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "collect/shared_read.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "collect/ram_read.h"
#include "enrich/enrich.h"
#include "proc/cgroup.h"
#include "source/files_source.h"

#define EVERY_US      UINT64_C(10000000)
#define PART	      100 /* at most such a part of the time is for walks */
#define OLD_US	      UINT64_C(60000000)
#define NEAR	      80    /* % of a limit */
#define READ_MOST     32    /* cgroups near their limits: their memory.stat is read */
#define PARTS	      65536 /* smaller parts of RAM and swap are no files worth a name */
#define OWNERS	      256   /* the cgroups of others are not known */
#define FIRST_CGROUPS 0xEFFFFFFBU

struct owner {
	uint64_t owner;
	const char *path; /* NULL: not known */
	uint64_t limit;	  /* of it, else all RAM */
};

struct candidate {
	const struct cached_file *file;
	const struct owner *owner;
	uint64_t rank;
};

struct choice {
	struct shared_reader *reader;
	struct collector *c;
	const char *cgroup; /* its files come first; NULL: none */
	bool names_owners;
	struct owner owner[OWNERS];
	size_t owners;
	struct candidate item[SHARED_FILES_MAX]; /* the highest rank first */
	size_t count;
};

void shared_reader_done(struct shared_reader *r)
{
	arena_done(&r->arena);
}

static uint64_t ram_of(const struct snapshot *s)
{
	const struct meminfo *m = &s->system.meminfo;

	return meminfo_has(m, MEMINFO_TOTAL) ? m->value[MEMINFO_TOTAL] : UINT64_MAX;
}

/* Whether what cannot be dropped nears the limit, and shared memory is a part of it. */
static bool is_near_limit(struct collector *c, const struct memcg *m)
{
	struct memcg now;
	uint64_t used, shmem;

	if (memcg_read(&c->proc, &c->snapshot, m->path, &now) < 0 ||
	    !memcg_has(&now, COUNTER_MEM_SHMEM) || !memcg_has(&now, COUNTER_MEM_ANON))
		return false;
	shmem = memcg_detail(&now, COUNTER_MEM_SHMEM);
	used = shmem + memcg_detail(&now, COUNTER_MEM_ANON);
	if (memcg_has(&now, COUNTER_MEM_WORKING_SET) &&
	    memcg_detail(&now, COUNTER_MEM_WORKING_SET) > used)
		used = memcg_detail(&now, COUNTER_MEM_WORKING_SET);
	return used >= m->limit / 100 * NEAR && shared_is_part(shmem, m->limit);
}

bool shared_is_worth(struct collector *c, bool is_short)
{
	const struct snapshot *s = &c->snapshot;
	const struct meminfo *m = &s->system.meminfo;
	bool worth =
		is_short && meminfo_has(m, MEMINFO_SHMEM) &&
		shared_is_part(m->value[MEMINFO_SHMEM] + s->system.files.shmem_swapped, ram_of(s));
	unsigned read = 0;

	/* Page cache may have filled it: memory.stat tells. */
	for (size_t i = 0; !worth && i < s->memcg_count && read < READ_MOST; i++) {
		const struct memcg *g = &s->memcg[i];

		if (!g->limit_known || !g->current_known || g->current < g->limit / 100 * NEAR)
			continue;
		worth = is_near_limit(c, g);
		read++;
	}
	return worth;
}

bool shared_is_due(const struct shared_reader *r)
{
	return clock_us(CLOCK_MONOTONIC) >= r->due_us;
}

/* Owners have paths of the first cgroup namespace (PROC_CGROUP_INIT_INO, linux/proc_ns.h). */
static bool is_first_namespace(const struct procfs *proc)
{
	struct stat st;

	return fstatat(proc->fd, "self/ns/cgroup", &st, 0) == 0 && st.st_ino == FIRST_CGROUPS;
}

static const struct owner *find_owner(struct choice *h, uint64_t owner)
{
	static const struct owner none = {.limit = UINT64_MAX};
	const struct snapshot *s = &h->c->snapshot;
	char path[OOM_CGROUP_MAX];
	const struct memcg *m = NULL;
	struct owner *new;

	for (size_t i = 0; i < h->owners; i++)
		if (h->owner[i].owner == owner)
			return &h->owner[i];
	if (h->owners == OWNERS)
		return &none;
	new = &h->owner[h->owners++];
	*new = (struct owner){owner, NULL, ram_of(s)};
	if (h->names_owners && ram_reader_owner(h->c->ram, owner, path) > 0) {
		new->path = arena_strndup(&h->reader->arena, path, strlen(path));
		m = snapshot_find_memcg(s, path);
	}
	if (m && m->limit_known)
		new->limit = m->limit;
	return new;
}

/* The part of its owner's limit that a file takes, in 1/2^16. Files of h->cgroup rank first. */
static uint64_t rank_of(const struct choice *h, const struct cached_file *f, const struct owner *o)
{
	bool asked = h->cgroup && o->path && cgroup_below(h->cgroup, o->path);

	return (f->resident + f->swapped) / ((o->limit >> 16) + 1) + (asked ? UINT64_MAX / 2 : 0);
}

/* Keeps the file if it is one of the largest. */
static void add_file(struct choice *h, const struct cached_file *f)
{
	const struct owner *o = find_owner(h, f->owner);
	const struct candidate new = {f, o, rank_of(h, f, o)};
	size_t at = h->count;

	while (at && h->item[at - 1].rank < new.rank)
		at--;
	if (at == SHARED_FILES_MAX)
		return;
	h->count += h->count < SHARED_FILES_MAX;
	memmove(&h->item[at + 1], &h->item[at], (h->count - at - 1) * sizeof(new));
	h->item[at] = new;
}

/* A copy of the name, or of its end. NULL without memory. */
static const char *copy_name(struct arena *arena, const struct cached_file *f)
{
	char buf[FILE_LABEL_MAX];
	const char *name = file_label(f, buf);
	size_t len = strlen(name);

	if (len <= SHARED_NAME_MAX)
		return arena_strndup(arena, name, len);
	name += len - SHARED_NAME_MAX;
	/* Not from the middle of a character of UTF-8. */
	while ((*name & 0xc0) == 0x80)
		name++;
	return arena_join(arena, "\xe2\x80\xa6", name, "");
}

static int choose(struct choice *h, const struct file_set *set)
{
	struct shared_files *files = &h->reader->files;

	arena_clear(&h->reader->arena);
	*files = (struct shared_files){.taken_ms = (int64_t)(clock_us(CLOCK_REALTIME) / 1000)};
	for (size_t i = 0; i < set->count; i++)
		add_file(h, &set->file[i]);
	for (size_t i = 0; i < h->count; i++) {
		const struct cached_file *f = h->item[i].file;
		const char *name = copy_name(&h->reader->arena, f);

		if (!name)
			return -ENOMEM;
		files->file[files->count++] = (struct shared_file){
			name, h->item[i].owner->path, f->kind, f->resident, f->swapped};
	}
	return 0;
}

/* The size of the smallest file that is looked at. */
static uint64_t least_of(const struct snapshot *s)
{
	const struct meminfo *m = &s->system.meminfo;
	uint64_t swap = meminfo_has(m, MEMINFO_SWAP_TOTAL) ? m->value[MEMINFO_SWAP_TOTAL] : 0;

	return meminfo_has(m, MEMINFO_TOTAL) ? (m->value[MEMINFO_TOTAL] + swap) / PARTS : 0;
}

static int walk(struct shared_reader *r, struct collector *c, const char *cgroup)
{
	cleanup_free struct choice *h = calloc(1, sizeof(*h));
	struct file_set *set;
	int error =
		h ? files_source_large(c->files, &c->proc, least_of(&c->snapshot), &set) : -ENOMEM;

	if (error < 0)
		return error;
	h->reader = r;
	h->c = c;
	h->cgroup = cgroup;
	h->names_owners = is_first_namespace(&c->proc);
	error = choose(h, set);
	if (error < 0)
		r->files.taken_ms = 0;
	file_set_done(set);
	return error;
}

void shared_read(struct shared_reader *r, struct collector *c, bool wanted, const char *cgroup,
		 struct system_info *system)
{
	uint64_t now = clock_us(CLOCK_MONOTONIC), took;

	if (wanted && c->files && shared_is_due(r)) {
		if (walk(r, c, cgroup) == 0)
			r->walked_us = now;
		took = clock_us(CLOCK_MONOTONIC) - now;
		r->due_us = now + (took > EVERY_US / PART ? took * PART : EVERY_US);
	}
	system->shared = r->files.taken_ms && now - r->walked_us < OLD_US ? &r->files : NULL;
}
