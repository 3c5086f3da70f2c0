// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Runs the programs of bpf/held.bpf.c, and joins what they meet: the references of each file, the
 * files that a socket or a ring carries, segments and their attaches, namespaces and their mounts.
 *
 * A group owns a file if all references are explained and belong to it. What carries a file, and
 * the namespace of a segment or a mount, is owned likewise.
 */
#include "source/held_source.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "load/bpf_diagnose.h"
#include "load/bpf_load.h"
#include "source/iterator.h"

#define SUBJECT "what becomes free"

struct held_source {
	struct bpf_handle handle;
	struct zmem_held *answers;
	int tasks_link_fd, files_link_fd;
	uint32_t self_group;	       /* the reader's */
	struct zmem_held_file *mapped; /* of the last reading */
	size_t mapped_count;
};

void held_source_close(struct held_source *h)
{
	if (!h)
		return;
	close_fd(&h->tasks_link_fd);
	close_fd(&h->files_link_fd);
	bpf_handle_close(&h->handle);
	free(h->mapped);
	free(h);
}

static int attach(struct held_source *h)
{
	h->tasks_link_fd = iterator_link(h->handle.fd[BPF_ITER], NULL);
	if (h->tasks_link_fd < 0)
		return h->tasks_link_fd;
	h->files_link_fd = iterator_link(h->handle.fd[BPF_OPEN_FILES], NULL);
	return h->files_link_fd < 0 ? h->files_link_fd : 0;
}

int held_source_open(struct diag *diag, struct held_source **ret)
{
	struct held_source *h = calloc(1, sizeof(*h));
	int r;

	if (!h)
		return -ENOMEM;
	h->tasks_link_fd = h->files_link_fd = -1;
	r = bpf_load_noted(SUBJECT, OBJECT_HELD, LOADER_LIGHT, NULL, diag, &h->handle);
	if (r == 0) {
		h->answers = h->handle.answers;
		r = attach(h);
		if (r < 0)
			bpf_diagnose_note(diag, SUBJECT, "setting it up", r, NULL);
	}
	if (r < 0)
		held_source_close(h);
	else
		*ret = h;
	return r;
}

const struct zmem_held_file *held_source_mapped(const struct held_source *h, size_t *ret_count)
{
	*ret_count = h->mapped_count;
	return h->mapped;
}

bool held_source_is_full(const struct held_source *h)
{
	return h->answers->full;
}

/* ---- the holders ---- */

static int clear_maps(struct held_source *h)
{
	static const enum bpf_part maps[] = {BPF_WANTED,   BPF_HELD,	BPF_TABLES,
					     BPF_SPACES,   BPF_NAMED,	BPF_EDGES,
					     BPF_SEGMENTS, BPF_MOUNTED, BPF_ONCE};
	int r = 0;

	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(maps); i++)
		r = bpf_map_clear(h->handle.fd[maps[i]]);
	h->answers->full = h->answers->edges = 0;
	return r;
}

/* All values of a map, to be freed. Returns how many, or a negative errno. */
static ssize_t read_map(int fd, size_t size, void **ret)
{
	size_t count = 0, capacity = 0;
	char(*item)[size] = NULL;
	uint64_t key, *last = NULL;
	int r;

	for (; (r = bpf_map_get_next_key(fd, last, &key)) == 0; last = &key) {
		if (!array_room(&item, count, &capacity, 64)) {
			free(item);
			return -ENOMEM;
		}
		count += bpf_map_lookup_elem(fd, &key, item[count]) == 0;
	}
	if (r != -ENOENT) {
		free(item);
		return r;
	}
	*ret = item;
	return (ssize_t)count;
}

/* The segments of each IPC namespace that has a process. */
static int list_segments(struct held_source *h)
{
	struct zmem_held_set *set = NULL;
	ssize_t count = read_map(h->handle.fd[BPF_SPACES], sizeof(*set), (void **)&set);
	int r = count < 0 ? (int)count : 0;

	for (ssize_t i = 0; r == 0 && i < count; i++) {
		bool listed = !set[i].space[ZMEM_SPACE_IPC];

		for (ssize_t k = 0; k < i && !listed; k++)
			listed = set[k].space[ZMEM_SPACE_IPC] == set[i].space[ZMEM_SPACE_IPC];
		if (listed)
			continue;
		h->answers->space = set[i].space[ZMEM_SPACE_IPC];
		r = bpf_program_run(h->handle.fd[BPF_SEGMENTS_RUN]);
	}
	free(set);
	return r;
}

int held_source_begin(struct held_source *h, const struct held_process *process, size_t count)
{
	const pid_t self = getpid();
	int r = clear_maps(h);

	h->self_group = ZMEM_HELD_MIXED;
	for (size_t i = 0; r == 0 && i < count; i++) {
		const __s32 pid = process[i].pid;

		if (pid == self)
			h->self_group = process[i].groups.group;
		r = bpf_map_update_elem(h->handle.fd[BPF_WANTED], &pid, &process[i].groups, 0);
	}
	if (r == 0)
		r = bpf_program_run(h->handle.fd[BPF_RUN]);
	if (r == 0)
		r = iterator_run(h->tasks_link_fd);
	if (r == 0)
		r = iterator_run(h->files_link_fd);
	return r == 0 ? list_segments(h) : r;
}

/* ---- what is known of them ---- */

/*
 * What owns a file: a group, ZMEM_HELD_NONE for nothing, or ZMEM_HELD_MIXED for a process outside
 * of all groups and for several groups. The owner is certain if there is no doubt, or if it is
 * MIXED.
 */
struct owner {
	uint32_t group;
	uint32_t doubt; /* OR of enum zmem_held_doubt */
};

/* What the maps have. */
struct holders {
	struct held_source *source;
	struct zmem_held_file *file; /* sorted by address, and for add_unnamed() by inode */
	struct zmem_held_edge *edge;
	struct zmem_held_set *set;
	struct zmem_held_named *named;
	struct zmem_held_mount *mount;
	struct zmem_held_segment *segment;
	ssize_t files, edges, sets, named_count, mounts, segments;
};

static uint32_t join(uint32_t a, uint32_t b)
{
	if (a == ZMEM_HELD_NONE || a == b)
		return b;
	return b == ZMEM_HELD_NONE ? a : ZMEM_HELD_MIXED;
}

static void join_owner(struct owner *all, struct owner one)
{
	all->group = join(all->group, one.group);
	all->doubt |= one.doubt;
}

/* The owner of what has `refs` references, of which `met` were found, all of the group. */
static struct owner owner_of(uint32_t group, uint32_t doubt, int64_t refs, int64_t met)
{
	if (refs != met)
		doubt |= refs > met ? ZMEM_HELD_UNKNOWN : ZMEM_HELD_MOVED;
	return (struct owner){group, doubt};
}

static struct owner owner_of_file(const struct zmem_held_file *f)
{
	return owner_of(f->group, f->doubt, f->refs, (int64_t)f->met + f->own);
}

static int compare_inodes(const void *pa, const void *pb)
{
	const struct zmem_held_file *a = pa, *b = pb;
	int r = ORDER_OF(a->inode, b->inode);

	return r ? r : ORDER_OF(a->file, b->file);
}

static struct zmem_held_file *file_at(const struct holders *h, uint64_t address)
{
	return bsearch(&address, h->file, (size_t)h->files, sizeof(*h->file), compare_leading_u64);
}

/* Adds what was met of the same file at different times; the mappings come last. */
static void add_file(struct zmem_held_file *sum, const struct zmem_held_file *f)
{
	sum->group = join(sum->group, f->group);
	sum->met += f->met;
	sum->maps += f->maps;
	sum->own += f->own;
	sum->refs = f->refs;
	sum->names = f->names;
	sum->links = f->links;
	sum->pages = f->pages;
}

/* Adds files that are mapped to those that are held, which are sorted. */
static int add_mapped(struct holders *h, const struct zmem_held_file *mapped, size_t count)
{
	const size_t held = (size_t)h->files;
	struct zmem_held_file *all = reallocarray(h->file, held + count + 1, sizeof(*all));

	if (!all)
		return -ENOMEM;
	h->file = all;
	for (size_t i = 0; i < count; i++) {
		struct zmem_held_file *met =
			bsearch(&mapped[i], all, held, sizeof(*all), compare_leading_u64);

		if (met)
			add_file(met, &mapped[i]);
		else
			all[h->files++] = mapped[i];
	}
	qsort(all, (size_t)h->files, sizeof(*all), compare_leading_u64);
	return 0;
}

/* Reads the files of both maps, each once. */
static int read_files(struct holders *h, int mappings_fd)
{
	struct zmem_held_file *mapped = NULL;
	ssize_t count;
	int r;

	h->files = read_map(h->source->handle.fd[BPF_HELD], sizeof(*h->file), (void **)&h->file);
	if (h->files < 0)
		return (int)h->files;
	if (h->files)
		qsort(h->file, (size_t)h->files, sizeof(*h->file), compare_leading_u64);
	count = read_map(mappings_fd, sizeof(*mapped), (void **)&mapped);
	r = count < 0 ? (int)count : add_mapped(h, mapped, (size_t)count);
	if (count > 0)
		qsort(mapped, (size_t)count, sizeof(*mapped), compare_leading_u64);
	free(h->source->mapped);
	h->source->mapped = mapped;
	h->source->mapped_count = count > 0 ? (size_t)count : 0;
	return r;
}

static int read_holders(struct holders *h, int mappings_fd)
{
	const int *fd = h->source->handle.fd;
	int r = read_files(h, mappings_fd);

	if (r < 0)
		return r;
	h->edges = read_map(fd[BPF_EDGES], sizeof(*h->edge), (void **)&h->edge);
	h->sets = read_map(fd[BPF_SPACES], sizeof(*h->set), (void **)&h->set);
	h->named_count = read_map(fd[BPF_NAMED], sizeof(*h->named), (void **)&h->named);
	h->mounts = read_map(fd[BPF_MOUNTED], sizeof(*h->mount), (void **)&h->mount);
	h->segments = read_map(fd[BPF_SEGMENTS], sizeof(*h->segment), (void **)&h->segment);
	return h->edges < 0 || h->sets < 0 || h->named_count < 0 || h->mounts < 0 || h->segments < 0
		       ? -ENOMEM
		       : 0;
}

static void holders_done(struct holders *h)
{
	free(h->file);
	free(h->edge);
	free(h->set);
	free(h->named);
	free(h->mount);
	free(h->segment);
}

/* ---- files that hold files ---- */

/* A file that the reader alone has open is its own; else the reader holds nothing. */
static void settle_own(struct holders *h)
{
	for (ssize_t i = 0; i < h->files; i++) {
		if (h->file[i].group == ZMEM_HELD_NONE && h->file[i].own)
			h->file[i].group = h->source->self_group;
	}
}

static void add_reference(struct holders *h, uint64_t address, struct owner owner)
{
	struct zmem_held_file *f = file_at(h, address);

	if (!f)
		return;
	f->group = join(f->group, owner.group);
	f->doubt |= owner.doubt;
	f->met++;
}

/* Files in flight and registered files belong to the owner of what carries them. */
static void add_edges(struct holders *h)
{
	for (ssize_t i = 0; i < h->edges; i++) {
		const struct zmem_held_file *carrier = file_at(h, h->edge[i].carrier);

		if (carrier)
			add_reference(h, h->edge[i].file, owner_of_file(carrier));
	}
}

/* ---- namespaces ---- */

static struct owner owner_of_space(const struct holders *h, uint64_t space,
				   enum zmem_held_space kind)
{
	struct owner owner = {.group = ZMEM_HELD_NONE};
	int64_t met = 0, refs = 0;

	for (ssize_t i = 0; i < h->sets; i++) {
		const struct zmem_held_set *s = &h->set[i];

		if (s->space[kind] != space)
			continue;
		met++;
		refs = s->space_refs[kind];
		join_owner(&owner, owner_of(s->group, 0, s->refs, (int64_t)s->met + s->own));
	}
	for (ssize_t i = 0; i < h->named_count; i++) {
		if (h->named[i].space != space)
			continue;
		met++;
		owner.group = join(owner.group, h->named[i].group);
	}
	for (ssize_t i = 0; kind == ZMEM_SPACE_IPC && i < h->files; i++) {
		if (h->file[i].segment && h->file[i].space == space) {
			met++;
			join_owner(&owner, owner_of_file(&h->file[i]));
		}
	}
	return owner_of(owner.group, owner.doubt, refs, met);
}

/* A segment is held by its attaches, and by its namespace unless it was removed. */
static void add_segments(struct holders *h)
{
	for (ssize_t i = 0; i < h->files; i++) {
		if (h->file[i].segment)
			add_reference(h, h->file[i].segment, owner_of_file(&h->file[i]));
	}
	for (ssize_t i = 0; i < h->segments; i++) {
		const struct zmem_held_segment *s = &h->segment[i];

		add_reference(h, s->file,
			      s->ends ? (struct owner){.group = ZMEM_HELD_NONE}
				      : owner_of_space(h, s->space, ZMEM_SPACE_IPC));
	}
}

/* ---- files ---- */

/*
 * Looks once more at files of an inode with references that were not explained: they may be those
 * of a system call that is over, or of a process that was not walked and maps it.
 */
static struct owner check_again(struct held_source *h, const struct zmem_held_file *f, size_t count,
				struct owner owner)
{
	uint32_t maps = 0;

	for (size_t i = 0; i < count; i++)
		maps += f[i].maps;
	owner.doubt = 0;
	for (size_t i = 0; i < count; i++) {
		h->answers->file = f[i].file;
		h->answers->inode = f[i].inode;
		if (bpf_program_run(h->handle.fd[BPF_CHECK]) < 0 || h->answers->refs < 0)
			owner.doubt |= ZMEM_HELD_MOVED;
		else if (h->answers->maps > maps)
			owner.group = ZMEM_HELD_MIXED;
		join_owner(&owner, owner_of(owner.group, f[i].doubt, h->answers->refs,
					    (int64_t)f[i].met + f[i].own));
		join_owner(&owner, owner_of(owner.group, 0, h->answers->names, (int64_t)count));
	}
	return owner;
}

/* The owner of an inode, by all its open files. */
static struct owner owner_of_inode(struct held_source *h, const struct zmem_held_file *f,
				   size_t count)
{
	struct owner owner = {.group = ZMEM_HELD_NONE};
	bool same = true;

	for (size_t i = 0; i < count; i++) {
		join_owner(&owner, owner_of_file(&f[i]));
		same &= f[i].dentry == f[0].dentry;
	}
	join_owner(&owner, owner_of(owner.group, 0, f[count - 1].names, (int64_t)count));
	if (!same)
		owner.doubt |= ZMEM_HELD_UNKNOWN;
	if (same && owner.doubt && owner.group != ZMEM_HELD_MIXED)
		owner = check_again(h, f, count, owner);
	return owner;
}

/* What is added to which group. */
struct sums {
	struct holders holders;
	const struct file_set *tmpfs;
	bool swapped_files; /* pages of some of them take RAM in swap */
	uint32_t groups;
	struct held_sum *sum;
};

/* Adds files of these bytes, which end with their owner. */
static void add_bytes(struct sums *s, struct owner owner, uint64_t bytes)
{
	if (!bytes || owner.group == ZMEM_HELD_MIXED || owner.group > s->groups)
		return;
	if (!owner.doubt)
		s->sum[owner.group].bytes += bytes;
	s->sum[owner.group].unknown |= (owner.doubt & ZMEM_HELD_UNKNOWN) != 0;
	s->sum[owner.group].raced |= (owner.doubt & ZMEM_HELD_MOVED) != 0;
}

/* What the swapped pages of a file take in RAM. */
static uint64_t swap_ram_of(const struct sums *s, const struct zmem_held_file *f)
{
	for (size_t i = 0; s->swapped_files && i < s->tmpfs->count; i++) {
		const struct cached_file *c = &s->tmpfs->file[i];

		if (c->swap_ram && c->inode == f->number && c->device == f->device)
			return c->swap_ram;
	}
	return 0;
}

/* Files without a name. One of secret memory has none, and the kernel does not count its links. */
static void add_unnamed(struct sums *s)
{
	struct holders *h = &s->holders;
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);

	for (ssize_t i = 0, end; i < h->files; i = end) {
		const struct zmem_held_file *f = &h->file[i], *last;
		size_t count;

		for (end = i + 1; end < h->files && h->file[end].inode == f->inode;)
			end++;
		count = (size_t)(end - i);
		last = &f[count - 1];
		if (f->kind == ZMEM_HELD_CARRIER || f->kind == ZMEM_HELD_MAPPED ||
		    f->kind == ZMEM_HELD_NOTHING || (f->kind == ZMEM_HELD_SHMEM && last->links) ||
		    (!last->pages && !s->swapped_files))
			continue;
		add_bytes(s, owner_of_inode(h->source, f, count),
			  last->pages * page + swap_ram_of(s, f));
	}
}

/* ---- file systems ---- */

/* The owner of a mounted file system: of its namespace, if nothing else holds its mounts. */
static struct owner owner_of_mount(const struct holders *h, const struct zmem_held_mount *m)
{
	struct owner owner = owner_of_space(h, m->space, ZMEM_SPACE_MOUNT);
	int64_t met = (int64_t)m->met + m->own;

	owner.group = join(owner.group, m->group);
	if (owner.group == ZMEM_HELD_MIXED)
		return owner;
	for (ssize_t i = 0; i < h->files; i++) {
		if (h->file[i].device != m->device)
			continue;
		met++;
		join_owner(&owner, owner_of_file(&h->file[i]));
	}
	return owner_of(owner.group, owner.doubt, m->refs, met);
}

/* The files of file systems that end with a group, and not those files once more. */
static void add_mounted(struct sums *s)
{
	struct holders *h = &s->holders;

	for (ssize_t i = 0; s->tmpfs && i < h->mounts; i++) {
		const struct zmem_held_mount *m = &h->mount[i];
		const struct owner owner = owner_of_mount(h, m);
		uint64_t bytes = 0;

		if (owner.group == ZMEM_HELD_MIXED || owner.group > s->groups)
			continue;
		for (size_t k = 0; k < s->tmpfs->count; k++) {
			if (s->tmpfs->file[k].device == m->device)
				bytes += s->tmpfs->file[k].resident + s->tmpfs->file[k].swap_ram;
		}
		add_bytes(s, owner, bytes);
		for (ssize_t k = 0; k < h->files; k++) {
			if (h->file[k].device == m->device)
				h->file[k].kind = ZMEM_HELD_NOTHING;
		}
	}
}

int held_source_end(struct held_source *h, int mappings_fd, const struct file_set *tmpfs,
		    uint32_t groups, struct held_sum *ret)
{
	struct sums s = {.holders.source = h, .tmpfs = tmpfs, .groups = groups, .sum = ret};
	int r = read_holders(&s.holders, mappings_fd);

	for (size_t i = 0; tmpfs && i < tmpfs->count; i++)
		s.swapped_files |= tmpfs->file[i].swap_ram != 0;
	if (r == 0) {
		settle_own(&s.holders);
		add_edges(&s.holders);
		add_segments(&s.holders);
		add_mounted(&s);
		if (s.holders.files)
			qsort(s.holders.file, (size_t)s.holders.files, sizeof(*s.holders.file),
			      compare_inodes);
		add_unnamed(&s);
	}
	holders_done(&s.holders);
	return r;
}
