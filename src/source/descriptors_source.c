// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Joins the records of the iterator: small objects come as sums by process and kind, large ones
 * once for each descriptor. A large object is divided by the processes that hold it.
 */
#include "source/descriptors_source.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "load/bpf_load.h"
#include "source/bpf_maps.h"
#include "source/iterator.h"
#include "source/source.h"
#include "zmem/descriptors.h"
#include "zmem/setup.h"

/* CPU time of a reading, and of it for the largest processes if it does not suffice for all. */
#define READ_US	   800000
#define LARGEST_US 200000

/* Records of large objects. With more of them KERNEL is not known. */
#define RECORDS_MAX	    (1U << 20)

#define FIRST_PID_NAMESPACE 0xeffffffcU /* PROC_PID_INIT_INO */

struct descriptors_source {
	struct bpf_handle handle;
	struct zmem_descriptors *state; /* the value of the map */
	struct zmem_descriptor *record; /* of large objects */
	size_t count, capacity;
	struct zmem_layout layout;
	const struct procfs *proc;
	struct snapshot *snapshot;
	bool too_many;
	bool unread;			/* processes that may hold any map */
	const struct kernel_maps *maps; /* all of them; NULL: not asked for */
};

int descriptors_source_open(const struct source *from, struct diag *diag,
			    struct descriptors_source **ret)
{
	struct descriptors_source *s = calloc(1, sizeof(*s));
	int r = s ? bpf_load(OBJECT_DESCRIPTORS, LOADER_EITHER, NULL, &s->handle, NULL) : -ENOMEM;

	if (s && r < 0 && !file_exhausted(r))
		r = bpf_load_noted("kernel memory of descriptors", OBJECT_DESCRIPTORS_OLD,
				   LOADER_LIBBPF, NULL, diag, &s->handle);
	if (r < 0) {
		free(s);
		return r;
	}
	s->state = s->handle.answers;
	if (from && source_layout(from, &s->layout) < 0)
		s->layout = (struct zmem_layout){};
	*ret = s;
	return 0;
}

void descriptors_source_close(struct descriptors_source *s)
{
	if (!s)
		return;
	bpf_handle_close(&s->handle);
	free(s->record);
	free(s);
}

/* ---- reading ---- */

static struct kernel_shares *shares_of(struct process *p)
{
	return (struct kernel_shares *)p->kernel;
}

static void add_share(struct process *p, const struct zmem_descriptor *d, uint64_t bytes,
		      uint64_t mapped, uint32_t descriptors)
{
	struct kernel_share *share = &shares_of(p)->kind[d->kind];

	share->bytes += bytes;
	share->mapped += mapped;
	share->descriptors += descriptors;
}

static int receive_record(struct descriptors_source *s, const struct zmem_descriptor *d)
{
	struct process *p;

	if (d->kind >= KERNEL_KINDS)
		return -EPROTO;
	if (!d->object) {
		p = snapshot_find(s->snapshot, d->pid);
		if (p && p->kernel)
			add_share(p, d, d->bytes, 0, d->descriptors);
		if (p && p->kernel)
			shares_of(p)->own += d->own;
		return 0;
	}
	if (s->count == RECORDS_MAX) {
		s->too_many = true;
		return 0;
	}
	if (!array_room(&s->record, s->count, &s->capacity, 256))
		return -ENOMEM;
	s->record[s->count++] = *d;
	return 0;
}

/* Reads until the end or until the time is over. Returns 1 at the end, 0 before, or an error. */
static int read_until(struct descriptors_source *s, int fd, uint64_t deadline_us)
{
	struct zmem_descriptor buf[512];
	const size_t size = sizeof(*buf);
	size_t len = 0;
	int r = 0;

	while (clock_us(CLOCK_THREAD_CPUTIME_ID) < deadline_us) {
		ssize_t n;

		s->state->files = 0;
		n = read(fd, (char *)buf + len, sizeof(buf) - len);

		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			return len ? -EBADMSG : 1;
		len += (size_t)n;
		for (size_t i = 0; r == 0 && i < len / size; i++)
			r = receive_record(s, &buf[i]);
		if (r < 0)
			return r;
		memmove(buf, (char *)buf + len / size * size, len % size);
		len %= size;
	}
	return 0;
}

static int read_descriptors(struct descriptors_source *s, union bpf_iter_link_info *only,
			    uint64_t deadline_us)
{
	cleanup_close int fd = -1;

	memset(s->state, 0, sizeof(*s->state));
	s->state->page_bits = (uint32_t)__builtin_ctzl((unsigned long)sysconf(_SC_PAGESIZE));
	s->state->direct = s->layout.direct;
	s->state->vmemmap = s->layout.vmemmap;
	fd = iterator_open(s->handle.fd[BPF_OPEN_FILES], only);
	return fd < 0 ? fd : read_until(s, fd, deadline_us);
}

static int compare_rss(const void *pa, const void *pb)
{
	const struct process *a = *(struct process *const *)pa, *b = *(struct process *const *)pb;

	return ORDER_OF(b->value[COUNTER_RSS], a->value[COUNTER_RSS]);
}

/* What was read of a process in part, or twice, counts anew. */
static void forget(struct descriptors_source *s, struct process *p)
{
	size_t kept = 0;

	kernel_shares_clear(shares_of(p));
	for (size_t i = 0; i < s->count; i++) {
		if (s->record[i].pid != p->pid)
			s->record[kept++] = s->record[i];
	}
	s->count = kept;
}

static void leave_out(struct snapshot *snapshot, struct process *p, enum pss_status why)
{
	p->kernel = NULL;
	p->status[VALUE_KERNEL] = why;
	snapshot->kernel.left_out++;
}

/*
 * The iterator goes by the number of the process. Those from `from` on were not read: reads the
 * largest of them, each by its own iterator (Linux 6.1), until their time is over as well.
 */
static int read_largest(struct descriptors_source *s, pid_t from)
{
	cleanup_free struct process **rest = calloc(s->snapshot->count + 1, sizeof(*rest));
	uint64_t deadline = clock_us(CLOCK_THREAD_CPUTIME_ID) + LARGEST_US;
	size_t count = 0;
	int r = 1;

	if (!rest)
		return -ENOMEM;
	for (size_t i = 0; i < s->snapshot->count; i++) {
		if (s->snapshot->process[i].kernel && s->snapshot->process[i].pid >= from)
			rest[count++] = &s->snapshot->process[i];
	}
	if (count)
		qsort(rest, count, sizeof(*rest), compare_rss);
	for (size_t i = 0; i < count; i++) {
		union bpf_iter_link_info only = {.task.pid = (__u32)rest[i]->pid};

		forget(s, rest[i]);
		if (r == 1)
			r = read_descriptors(s, &only, deadline);
		if (r == -ENOMEM)
			return r;
		if (r != 1) {
			forget(s, rest[i]);
			leave_out(s->snapshot, rest[i], PSS_TIMEOUT);
			s->unread = true;
		}
	}
	return 0;
}

/* ---- sharing ---- */

/* False if the descriptor leads to another map by now, or may not be read. */
static bool read_map_size(const struct procfs *proc, const struct zmem_descriptor *d, uint64_t *ret)
{
	char path[48];
	uint64_t id;

	snprintf(path, sizeof(path), "%d/fdinfo/%u", d->pid, d->fd);
	return bpf_maps_size(proc, path, &id, ret) && id == d->own;
}

static int compare_records(const void *pa, const void *pb)
{
	const struct zmem_descriptor *a = pa, *b = pb;
	int r = ORDER_OF(a->object, b->object);

	r = r ? r : ORDER_OF(a->pid, b->pid);
	return r ? r : ORDER_OF(a->fd, b->fd);
}

/* Pages of the kernel without a mark; the array of a pipe is not among them. */
static uint64_t unmarked_of(const struct zmem_descriptor *d)
{
	switch (d->kind) {
	case ZMEM_DESCRIPTOR_PIPE:
		return d->own;
	case ZMEM_DESCRIPTOR_PACKET:
	case ZMEM_DESCRIPTOR_PERF:
	case ZMEM_DESCRIPTOR_IO_URING:
		return d->bytes;
	default:
		return 0;
	}
}

/* The records of one object: the largest of its sizes, as it may grow meanwhile. */
static struct kernel_object join(struct descriptors_source *s, size_t first, size_t end)
{
	struct kernel_object o = {.pid = s->record[first].pid,
				  .fd = s->record[first].fd,
				  .kind = s->record[first].kind};

	for (size_t i = first; i < end; i++) {
		const struct zmem_descriptor *d = &s->record[i];

		o.processes += i == first || d[-1].pid != d->pid;
		if (d->bytes > o.bytes) {
			o.bytes = d->bytes;
			o.unmarked = unmarked_of(d);
		}
		if (d->mapped > o.mapped)
			o.mapped = d->mapped;
	}
	return o;
}

/*
 * The pages of a map that is mapped are in RSS. A map of which the size is not known makes the sums
 * of its holders unknown.
 */
static void size_map(struct descriptors_source *s, size_t first, size_t end, size_t *maps,
		     struct kernel_object *o)
{
	bool known = false;

	for (size_t i = first; i < end && !known && *maps < BPF_MAPS_MAX; i++, (*maps)++)
		known = read_map_size(s->proc, &s->record[i], &o->bytes);
	for (size_t i = first; i < end && !known; i++) {
		struct process *p = snapshot_find(s->snapshot, s->record[i].pid);

		if (p && p->kernel)
			leave_out(s->snapshot, p, PSS_DENIED);
	}
	if (o->mapped) {
		o->mapped = o->bytes;
		o->bytes = 0;
	}
}

/* Equal parts, and the first ones have what is left: together they are all of it. */
static uint64_t equal_part(uint64_t bytes, uint32_t parts, uint32_t i)
{
	return bytes / parts + (i < bytes % parts);
}

/* Adds the object to those of each process that holds it. */
static void divide(struct descriptors_source *s, size_t first, size_t end,
		   const struct kernel_object *o, struct kernel_object *own, size_t *owns)
{
	uint32_t holder = 0, descriptors;
	size_t i = first, next;

	for (; i < end; i = next, holder++) {
		struct process *p = snapshot_find(s->snapshot, s->record[i].pid);

		for (next = i; next < end && s->record[next].pid == s->record[i].pid; next++)
			;
		descriptors = (uint32_t)(next - i);
		own[*owns] = *o;
		own[*owns].pid = s->record[i].pid;
		own[(*owns)++].fd = s->record[i].fd;
		if (p && p->kernel)
			shares_of(p)->kind[o->kind].unmarked +=
				equal_part(o->unmarked, o->processes, holder);
		if (p && p->kernel)
			add_share(p, &s->record[i], equal_part(o->bytes, o->processes, holder),
				  equal_part(o->mapped, o->processes, holder), descriptors);
	}
}

static int compare_objects(const void *pa, const void *pb)
{
	const struct kernel_object *a = pa, *b = pb;

	return ORDER_OF(b->bytes + b->mapped, a->bytes + a->mapped);
}

static int compare_own(const void *pa, const void *pb)
{
	const struct kernel_object *a = pa, *b = pb;
	int r = ORDER_OF(a->pid, b->pid);

	r = r ? r : compare_objects(pa, pb);
	return r ? r : ORDER_OF(a->fd, b->fd);
}

/* Keeps the largest of each process. Returns their number. */
static size_t keep_largest(struct kernel_object *own, size_t count)
{
	size_t kept = 0, of_process = 0;

	if (count)
		qsort(own, count, sizeof(*own), compare_own);
	for (size_t i = 0; i < count; i++) {
		of_process = i && own[i].pid == own[i - 1].pid ? of_process + 1 : 0;
		if (of_process < KERNEL_OWN_MAX)
			own[kept++] = own[i];
	}
	return kept;
}

static const struct kernel_object *copy_objects(struct snapshot *s,
						const struct kernel_object *from, size_t count)
{
	struct kernel_object *to = arena_alloc(&s->arena, (count + 1) * sizeof(*to));

	if (to)
		memcpy(to, from, count * sizeof(*to));
	return to;
}

/* Divides each object. The snapshot has the largest, of all and of each process. */
static int share_objects(struct descriptors_source *s)
{
	cleanup_free struct kernel_object *all = calloc(s->count + 1, sizeof(*all));
	cleanup_free struct kernel_object *own = calloc(s->count + 1, sizeof(*own));
	struct kernel_held *held = &s->snapshot->kernel;
	size_t count = 0, maps = 0, owns = 0;

	if (!all || !own)
		return -ENOMEM;
	if (s->count)
		qsort(s->record, s->count, sizeof(*s->record), compare_records);
	for (size_t i = 0, end; i < s->count; i = end) {
		for (end = i; end < s->count && s->record[end].object == s->record[i].object; end++)
			;
		all[count] = join(s, i, end);
		if (all[count].kind == ZMEM_DESCRIPTOR_BPF_MAP)
			size_map(s, i, end, &maps, &all[count]);
		/* One size for all that ask later. */
		for (size_t k = i; k < end; k++) {
			s->record[k].bytes = all[count].bytes;
			s->record[k].mapped = all[count].mapped;
		}
		divide(s, i, end, &all[count], own, &owns);
		count++;
	}
	if (count)
		qsort(all, count, sizeof(*all), compare_objects);
	held->count = count < KERNEL_OBJECTS_MAX ? count : KERNEL_OBJECTS_MAX;
	held->item = copy_objects(s->snapshot, all, held->count);
	held->owns = keep_largest(own, owns);
	held->own = copy_objects(s->snapshot, own, held->owns);
	return held->item && held->own ? 0 : -ENOMEM;
}

/* ---- what ends with a group ---- */

/* A process that is asked about. */
struct member {
	pid_t pid;
	uint32_t group;
};

struct members {
	const struct member *item;
	size_t count;
	const struct zmem_held_file *mapped;
	size_t mapped_count;
};

/* 0: it is in no group. */
static uint32_t group_of(const struct members *m, pid_t pid)
{
	const struct member *found =
		bsearch(&pid, m->item, m->count, sizeof(*m->item), compare_leading_pid);

	return found ? found->group : 0;
}

/* How often the group maps the file. With mappings of others it has references that are not met. */
static int64_t mappings_of(const struct members *m, uint32_t group, uint64_t file)
{
	const struct zmem_held_file *found =
		m->mapped_count ? bsearch(&file, m->mapped, m->mapped_count, sizeof(*m->mapped),
					  compare_leading_u64)
				: NULL;

	return found && found->group == group ? found->maps : 0;
}

static int compare_files(const void *pa, const void *pb)
{
	const struct zmem_descriptor *a = pa, *b = pb;

	return ORDER_OF(a->file, b->file);
}

static bool is_bpf(uint32_t kind)
{
	return kind == ZMEM_DESCRIPTOR_BPF_MAP || kind == ZMEM_DESCRIPTOR_BPF_PROG;
}

/*
 * Whether these records, of one object and in the order of files, are all that holds it: every
 * reference to each file is a descriptor or a mapping of the group, and no other file leads to it.
 */
static bool all_are_met(const struct members *m, uint32_t group, const struct zmem_descriptor *d,
			size_t count)
{
	const bool bpf = is_bpf(d->kind);
	uint64_t files = 0;

	for (size_t i = 0, next; i < count; i = next, files++) {
		int64_t met = mappings_of(m, group, d[i].file);

		for (next = i; next < count && d[next].file == d[i].file; next++)
			met++;
		for (size_t k = i; k < next; k++) {
			if ((bpf ? d[k].files : d[k].refs) != met)
				return false;
		}
	}
	if (bpf)
		return d->refs == (int64_t)files;
	return d->kind != ZMEM_DESCRIPTOR_PIPE || files == d->files;
}

/* The group that has all of it; 0: there is none. */
static uint32_t group_of_object(const struct members *m, struct zmem_descriptor *d, size_t count)
{
	uint32_t group = group_of(m, d->pid);

	for (size_t i = 1; group && i < count; i++)
		group = group_of(m, d[i].pid) == group ? group : 0;
	if (!group)
		return 0;
	qsort(d, count, sizeof(*d), compare_files);
	return all_are_met(m, group, d, count) ? group : 0;
}

int descriptors_source_freed(struct descriptors_source *s, const struct descriptors_asked *asked,
			     uint64_t *ret)
{
	cleanup_free struct member *item = calloc(asked->count + 1, sizeof(*item));
	struct members m = {item, asked->count, asked->mapped, asked->mapped_count};

	if (!item)
		return -ENOMEM;
	for (size_t i = 0; i < asked->count; i++) {
		const struct process *p = asked->process[i];

		item[i] = (struct member){p->pid, asked->group[i]};
		if (p->kernel)
			ret[asked->group[i]] += p->kernel->own;
	}
	if (m.count)
		qsort(item, m.count, sizeof(*item), compare_leading_pid);
	for (size_t i = 0, end; i < s->count; i = end) {
		uint32_t g;

		for (end = i; end < s->count && s->record[end].object == s->record[i].object; end++)
			;
		g = group_of_object(&m, &s->record[i], end - i);
		if (g)
			ret[g] += s->record[i].bytes + s->record[i].mapped;
	}
	return 0;
}

/* ---- maps of no process ---- */

void descriptors_source_set_maps(struct descriptors_source *s, const struct kernel_maps *maps)
{
	s->maps = maps;
}

/* The iterator meets those of our pid namespace and of those within it: all of the first one. */
static bool meets_all(const struct procfs *proc)
{
	struct stat st;

	return fstatat(proc->fd, "self/ns/pid", &st, 0) == 0 && st.st_ino == FIRST_PID_NAMESPACE;
}

/* The ids of maps that processes have descriptors of, in ascending order. NULL without memory. */
static uint32_t *list_held(const struct descriptors_source *s, size_t *ret_count)
{
	uint32_t *held = calloc(s->count + 1, sizeof(*held));

	*ret_count = 0;
	for (size_t i = 0; held && i < s->count; i++)
		if (s->record[i].kind == ZMEM_DESCRIPTOR_BPF_MAP)
			held[(*ret_count)++] = (uint32_t)s->record[i].own;
	if (*ret_count)
		qsort(held, *ret_count, sizeof(*held), compare_leading_u32);
	return held;
}

/* Of the maps that were there before, those that no process holds now. */
static int find_unheld(struct descriptors_source *s)
{
	struct kernel_maps *unheld = &s->snapshot->kernel.unheld;
	struct kernel_map *item;
	cleanup_free uint32_t *held = NULL;
	size_t count;

	if (!s->maps)
		return 0;
	*unheld = (struct kernel_maps){.reason = s->maps->reason};
	if (s->maps->known && (s->unread || !meets_all(s->proc)))
		unheld->reason = s->unread ? "not all processes were read"
					   : "this is not the first pid namespace";
	if (!s->maps->known || unheld->reason)
		return 0;
	held = list_held(s, &count);
	unheld->item = item =
		arena_alloc(&s->snapshot->arena, (s->maps->count + 1) * sizeof(*item));
	if (!held || !item)
		return -ENOMEM;
	for (size_t i = 0; i < s->maps->count; i++) {
		const struct kernel_map *map = &s->maps->item[i];

		if (count && bsearch(&map->id, held, count, sizeof(*held), compare_leading_u32))
			continue;
		item[unheld->count++] = *map;
		unheld->bytes += map->bytes;
	}
	unheld->known = true;
	return 0;
}

/* ---- a reading ---- */

static int begin(struct snapshot *snapshot)
{
	snapshot->kernel = (struct kernel_held){};
	for (size_t i = 0; i < snapshot->count; i++) {
		struct process *p = &snapshot->process[i];

		p->kernel = NULL;
		if (p->kind != PROCESS_USER)
			continue;
		p->kernel = arena_alloc(&snapshot->arena, sizeof(*p->kernel));
		if (!p->kernel)
			return -ENOMEM;
		kernel_shares_clear(shares_of(p));
	}
	return 0;
}

static void end(struct snapshot *snapshot)
{
	for (size_t i = 0; i < snapshot->count; i++) {
		struct process *p = &snapshot->process[i];

		if (!p->kernel)
			continue;
		process_set(p, COUNTER_KERNEL, kernel_shares_sum(p->kernel));
		kernel_shares_add(&snapshot->kernel.all, p->kernel);
	}
	snapshot->kernel.known = true;
}

int descriptors_source_read(struct descriptors_source *s, const struct procfs *proc,
			    struct snapshot *snapshot)
{
	uint64_t start = clock_us(CLOCK_THREAD_CPUTIME_ID);
	int r = begin(snapshot);

	s->proc = proc;
	s->snapshot = snapshot;
	s->count = 0;
	s->too_many = s->unread = false;
	if (r == 0)
		r = read_descriptors(s, NULL, start + READ_US);
	if (r == 0)
		r = read_largest(s, s->state->pid);
	if (r >= 0 && s->too_many)
		r = -E2BIG;
	if (r >= 0)
		r = share_objects(s);
	if (r == 0)
		r = find_unheld(s);
	if (r == 0)
		end(snapshot);
	return r;
}
