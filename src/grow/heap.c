// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Files that processes map are searched for functions of allocators, once each, by the helper of
 * their user (code_reader.h). Another helper attaches to them (probe_helper.h).
 *
 * A block is told when it was allocated, and its stack may be found later than it is freed: of a
 * block that is freed first, that is remembered.
 */
#include "grow/heap.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/count.h"
#include "base/hash.h"
#include "grow/allocators.h"
#include "grow/heap_parts.h"
#include "grow/held_locks.h"
#include "privilege/privilege.h"

#define NONE	    UINT32_MAX
#define SLOTS_FIRST 1024
#define LINKS_MAX   1024
#define SIZE_MASK   (((uint64_t)1 << ZMEM_HEAP_RARELY) - 1)
/* Where it cannot be measured. */
#define COST_USUAL_NS 1200
/* A lock that is held longer than that stops it: at the beginning and the end, and meanwhile. */
#define LOCKS_US	   1000000
#define LOCKS_MEANWHILE_US 50000

/*
 * The functions of a file, as the helper of one user says: a wrong place would harm the program, so
 * no other user's processes are probed there.
 */
struct heap_file {
	uint32_t file;
	const struct code_reader *reader;
	size_t count;
	struct probe_place *place;
	struct allocator allocator;
};

/* The probes of a file in a process. */
struct heap_link {
	pid_t pid;
	uint32_t file;
	uint64_t mapping; /* grow_watch_heap_mapping() */
	size_t functions; /* the number of its struct heap_file */
	int *fd;
	size_t count; /* 0: they are not open */
	int error;
	bool first;    /* of its process */
	uint64_t work; /* ns of CPU time when it was read last; of the first */
};

struct heap_block {
	uint64_t address, time, size;
	uint32_t target; /* NONE: the entry is free */
	uint32_t stack;	 /* NONE: it was freed before its stack was known */
	uint32_t next;	 /* in its slot, or of free ones; NONE: the last */
	uint32_t left;	 /* 1: it was there when its part ended */
	uint32_t end;	 /* of its address space (heap_end()); 0: it is there */
	uint32_t rarely; /* n: of 2^n samples it is the one that was sent */
	uint64_t freed;	 /* with the stack NONE */
};

struct heap {
	struct grow_watch *watch;
	struct code_sources *code;
	struct probe_helper probes;
	uint64_t sample_bytes;
	struct heap_file *file;
	size_t files, file_capacity;
	struct heap_link *link;
	size_t links, link_capacity;
	struct growth_not_probed *not_probed;
	size_t not_probeds, not_probed_room;
	struct arena reasons;
	int refused;  /* why probes could not be opened: 0 or the last negative errno */
	int unread;   /* why a file could not be searched */
	bool begun;   /* messages are read, and wait */
	bool tried;   /* whether filters of system calls do harm is known */
	bool filters; /* they do */
	bool stopped;
	bool locked; /* probes could not be opened or closed: of `holder` */
	struct lock_holder holder;
	struct {
		const char *file; /* in which there is no probe because of a lock; NULL: none */
		struct lock_holder holder;
	} unset;
	bool inlined; /* a Python has allocators that are not probed */
	bool found;   /* a process has functions; false again when a program begins */
	struct heap_block *block;
	size_t blocks, block_capacity; /* blocks: also free ones */
	uint32_t first_free;
	uint32_t *slot;
	size_t slots, used;
	uint32_t ends; /* address spaces that are gone */
	struct heap_parts parts;
	uint64_t cost_ns;	  /* of a probe; 0: it was not needed */
	uint64_t work_gone;	  /* of processes without links */
	struct heap_stack *stack; /* by its number */
	size_t stacks;
	double seen_bytes; /* for which all samples stand */
};

int heap_open(struct grow_watch *watch, uint64_t sample_bytes, struct code_sources *code,
	      struct heap **ret)
{
	struct grow_heap_programs programs = grow_watch_heap_programs(watch);
	struct heap *h = calloc(1, sizeof(*h));

	if (!h)
		return -ENOMEM;
	h->watch = watch;
	h->sample_bytes = sample_bytes;
	h->code = code;
	h->first_free = NONE;
	probe_helper_init(&h->probes, &code->helpers);
	h->probes.way = WAY_SESSION;
	h->probes.programs.session = programs.session;
	h->probes.programs.enter = programs.enter;
	h->probes.programs.leave = programs.leave;
	heap_parts_begin(&h->parts, clock_ns(CLOCK_MONOTONIC));
	*ret = h;
	return grow_watch_heap_begin(watch, 0);
}

/* Those of each process together, where there is memory for that. */
static void links_close(struct heap_link *link, size_t count)
{
	cleanup_free int *all = NULL;
	size_t fds = 0, n = 0;

	for (size_t i = 0; i < count; i++)
		fds += link[i].count;
	all = calloc(fds + 1, sizeof(*all));
	for (size_t i = 0; i < count; i++) {
		struct heap_link *l = &link[i];

		if (all && l->count)
			memcpy(all + n, l->fd, l->count * sizeof(*all));
		else
			probe_detach(l->fd, l->count);
		n += l->count;
		free(l->fd);
		l->fd = NULL;
		l->count = 0;
	}
	if (all)
		probe_detach(all, n);
}

/* Probes that are to be opened, or closed. */
enum change { OPENING, CLOSING };

/*
 * True if no process that maps one of the files of these probes keeps its lock. Many processes have
 * the same file.
 */
static bool locks_are_free(struct heap *h, enum change change, const struct heap_link *link,
			   size_t count, uint64_t wait_us, int hurry_fd)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < count; i++) {
		size_t first = 0;

		if (!link[i].count != (change == OPENING))
			continue;
		while (link[first].mapping != link[i].mapping ||
		       !link[first].count != (change == OPENING))
			first++;
		if (first == i)
			r = held_locks_wait(h->watch, link[i].mapping, wait_us, hurry_fd,
					    &h->holder);
	}
	h->locked = r > 0;
	if (r < 0)
		h->refused = r;
	return r == 0;
}

/* The helper sets probes in this program's own file. */
static bool own_lock_is_free(struct heap *h)
{
	const struct heap_link own = {
		.mapping = grow_watch_heap_mapping(h->watch, getpid(), (uintptr_t)heap_open)};

	return locks_are_free(h, OPENING, &own, 1, LOCKS_MEANWHILE_US, -1);
}

static bool all_are_free(struct heap *h, enum change change, uint64_t wait_us)
{
	return locks_are_free(h, change, h->link, h->links, wait_us, h->code->helpers.hurry_fd);
}

static bool has_probes(const struct heap *h)
{
	for (size_t i = 0; i < h->links; i++) {
		if (h->link[i].count)
			return true;
	}
	return false;
}

void heap_close(struct heap *h)
{
	if (!h)
		return;
	/* As long as it takes: to wait here is better than to have all forks wait. */
	while (has_probes(h) && !locks_are_free(h, CLOSING, h->link, h->links, LOCKS_US, -1) &&
	       h->locked)
		;
	links_close(h->link, h->links);
	free(h->link);
	probe_helper_done(&h->probes);
	for (size_t i = 0; i < h->files; i++)
		free(h->file[i].place);
	free(h->file);
	free(h->block);
	free(h->slot);
	free(h->stack);
	free(h->not_probed);
	arena_done(&h->reasons);
	heap_parts_done(&h->parts);
	free(h);
}

/* ---- what is not probed ---- */

/* Its texts are constants, of the heap, or of a file. */
static void add_not_probed(struct heap *h, struct growth_not_probed what)
{
	for (size_t i = 0; i < h->not_probeds; i++) {
		const struct growth_not_probed *n = &h->not_probed[i];

		if (n->function == what.function && n->file == what.file && n->pid == what.pid)
			return;
	}
	if (array_room(&h->not_probed, h->not_probeds, &h->not_probed_room, 8))
		h->not_probed[h->not_probeds++] = what;
}

static void note_functions(struct heap *h, const struct found_function *found, size_t count)
{
	const char *name[ALLOCATOR_THROWS_MAX];
	size_t n = allocator_not_probed(found, count, name);

	for (size_t i = 0; i < n; i++)
		add_not_probed(h, (struct growth_not_probed){
					  .function = name[i],
					  .reason = "it throws exceptions, which cannot pass a "
						    "probe of its return"});
}

static void note_refusing(struct heap *h, pid_t pid)
{
	add_not_probed(h,
		       (struct growth_not_probed){
			       .pid = pid,
			       .reason = "its threads refuse system calls that are not their "
					 "own, and the kernel makes one at a probe of a return"});
}

/*
 * The kernel reads the code that it probes, while no process of the machine can fork
 * (dup_mmap_sem): not from a server that may not answer.
 */
static bool is_local(struct heap *h, const struct address_space *s, struct program_file *f)
{
	char type[FILE_SYSTEM_MAX];
	int r = process_file_type(h->code->processes, s->pid_fd, f->found_fd, type);
	const char *reason;

	if (r > 0)
		return true;
	reason = arena_join(&h->reasons, "its file system may not answer (",
			    r < 0 || !*type ? "its type is not known" : type, ")");
	if (reason)
		add_not_probed(h, (struct growth_not_probed){.file = f->path, .reason = reason});
	return false;
}

/* ---- functions ---- */

static int look_for_functions(struct heap *h, const struct address_space *s, struct heap_file *ret)
{
	struct program_file *f = h->code->files.item[ret->file];
	const struct function_names names = allocator_names();
	struct found_function found[CODE_FUNCTIONS_MAX];
	struct probe_place place[PROBES_MAX];
	int n;

	if (allocator_is_wrapper(f->name))
		return 0;
	n = address_space_ready(s, h->code, ret->file);
	if (n == 0)
		n = code_reader_functions(s->reader, ret->file, &names, found, ARRAY_SIZE(found));
	if (n <= 0)
		return n;
	h->inlined |= allocator_is_inlined(found, (size_t)n);
	note_functions(h, found, (size_t)n);
	ret->count = allocator_places(&f->facts, found, (size_t)n, place);
	if (ret->count && !is_local(h, s, f))
		ret->count = 0;
	ret->place = ret->count ? calloc(ret->count, sizeof(*place)) : NULL;
	if (!ret->place) {
		ret->count = 0;
		return 0;
	}
	memcpy(ret->place, place, ret->count * sizeof(*place));
	allocator_recognise(found, (size_t)n, &ret->allocator);
	ret->allocator.path = f->path;
	ret->allocator.functions = ret->count;
	if (allocator_has_text(&ret->allocator))
		code_reader_version(s->reader, ret->file, ret->allocator.version);
	return 0;
}

/* The number of a file in the list, or SIZE_MAX: it has no functions of an allocator. */
static size_t find_file(struct heap *h, const struct address_space *s, uint32_t number)
{
	size_t i = 0;
	int r;

	while (i < h->files && (h->file[i].file != number || h->file[i].reader != s->reader))
		i++;
	if (i == h->files) {
		/* What is no program is not searched. */
		if (!s->reader || !h->code->files.item[number]->reader ||
		    !array_room(&h->file, h->files, &h->file_capacity, 64))
			return SIZE_MAX;
		h->file[h->files] = (struct heap_file){.file = number, .reader = s->reader};
		r = look_for_functions(h, s, &h->file[h->files++]);
		/* Of its files that its user may not read none is probed. */
		if (r < 0)
			h->unread = r;
	}
	return h->file[i].count ? i : SIZE_MAX;
}

/* ---- probes ---- */

static void link_open(struct heap *h, struct heap_link *l)
{
	const struct heap_file *f = &h->file[l->functions];
	int fd[2 * PROBES_MAX];

	l->error = probe_attach(&h->probes, h->code->files.item[l->file]->found_fd, l->pid,
				f->place, f->count, fd, &l->count);
	if (l->error == 0)
		l->fd = calloc(l->count, sizeof(*fd));
	if (l->fd) {
		memcpy(l->fd, fd, l->count * sizeof(*fd));
		return;
	}
	while (l->count > 0)
		close(fd[--l->count]);
	if (l->error != -ESRCH)
		h->refused = l->error ? l->error : -ENOMEM;
}

static bool is_linked(const struct heap *h, pid_t pid, uint32_t file)
{
	for (size_t i = 0; i < h->links; i++) {
		if (h->link[i].pid == pid && h->link[i].file == file)
			return true;
	}
	return false;
}

/* The last link is the new one. */
static bool is_known(const struct heap *h, pid_t pid)
{
	for (size_t i = 0; i + 1 < h->links; i++) {
		if (h->link[i].pid == pid)
			return true;
	}
	return false;
}

/*
 * The kernel's code behind a probed return makes a system call, which threads of the target may
 * refuse.
 */
static bool would_end(struct heap *h, uint32_t target)
{
	uint32_t refuses = grow_watch_heap_refuses(h->watch, target);

	if (refuses & ZMEM_HEAP_REFUSES_UNKNOWN && !h->tried) {
		h->tried = true;
		/* What was not tried may do harm. */
		h->filters = !own_lock_is_free(h) || probe_try_filter(&h->probes) == -ECHILD;
		if (h->filters)
			grow_watch_heap_spare_filters(h->watch);
	}
	return refuses & ZMEM_HEAP_REFUSES_FOREIGN ||
	       (refuses & ZMEM_HEAP_REFUSES_UNKNOWN && h->filters);
}

static void refuse_locked(struct heap *h, struct heap_link *l)
{
	h->refused = l->error = -EBUSY;
	h->unset.file = h->code->files.item[l->file]->name;
	h->unset.holder = h->holder;
}

void heap_attach(struct heap *h, const struct address_space *s, uint32_t target)
{
	bool refuses = would_end(h, target);

	for (size_t i = 0; i < s->code.count; i++) {
		uint32_t number = s->code.image[i].file;
		struct heap_link *l;
		size_t functions;

		if (number == NO_FILE || (i && s->code.image[i - 1].file == number))
			continue;
		functions = find_file(h, s, number);
		h->found |= functions != SIZE_MAX;
		if (refuses && functions != SIZE_MAX)
			note_refusing(h, s->pid);
		if (refuses || functions == SIZE_MAX || is_linked(h, s->pid, number) ||
		    h->links >= LINKS_MAX || !array_room(&h->link, h->links, &h->link_capacity, 16))
			continue;
		l = &h->link[h->links++];
		*l = (struct heap_link){.pid = s->pid,
					.file = number,
					.mapping = grow_watch_heap_mapping(h->watch, s->pid,
									   s->code.image[i].start),
					.functions = functions,
					.first = !is_known(h, s->pid)};
		if (!h->parts.open)
			continue;
		if (locks_are_free(h, OPENING, l, 1,
				   h->begun || h->locked ? LOCKS_MEANWHILE_US : LOCKS_US,
				   h->code->helpers.hurry_fd))
			link_open(h, l);
		else if (h->locked)
			refuse_locked(h, l);
	}
}

/* ---- parts ---- */

/* CPU time of the processes, and of the probes in them. */
static uint64_t read_work(struct heap *h)
{
	uint64_t sum = h->work_gone;

	for (size_t i = 0; i < h->links; i++) {
		struct heap_link *l = &h->link[i];
		struct timespec t;

		/* MAKE_PROCESS_CPUCLOCK(pid, CPUCLOCK_SCHED), include/linux/posix-timers.h */
		if (l->first && clock_gettime((clockid_t)(~(unsigned)l->pid << 3 | 2), &t) == 0)
			l->work = (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
		sum += l->work;
	}
	return sum;
}

static struct heap_count count_now(struct heap *h)
{
	struct zmem_heap_cpu counts;
	int r = grow_watch_heap_counts(h->watch, &counts);

	return (struct heap_count){.calls = r == 0 ? counts.calls : 0,
				   .work = read_work(h),
				   .time = clock_ns(CLOCK_MONOTONIC),
				   .samples = r == 0 ? counts.samples : 0};
}

/* What a sampled block stands for. */
static double weight(const struct heap *h, const struct heap_block *b)
{
	return heap_weight(b->size, heap_parts_sample(&h->parts, b->time, h->sample_bytes)) *
	       (double)((uint64_t)1 << b->rarely);
}

/* What is there when a part ends: its free is not seen for sure. */
static void leave_blocks(struct heap *h, uint64_t now)
{
	for (size_t i = 0; i < h->blocks; i++) {
		struct heap_block *b = &h->block[i];

		if (b->target == NONE || b->left || b->stack >= h->stacks || b->time > now)
			continue;
		b->left = 1;
		heap_stack_left(&h->stack[b->stack], &h->parts, b->time, now, weight(h, b));
	}
}

static void end_part(struct heap *h)
{
	grow_watch_heap_end(h->watch);
	heap_parts_close(&h->parts, clock_ns(CLOCK_MONOTONIC), count_now(h));
}

/* Until probes are closed, and from the moment when they are being opened, calls cost time. */
static void close_part(struct heap *h)
{
	struct probe_cost cost = {.emulated_ns = COST_USUAL_NS};

	if (!h->cost_ns && own_lock_is_free(h))
		probe_cost(&h->probes, &cost);
	if (!h->cost_ns)
		h->cost_ns = cost.emulated_ns;
	end_part(h);
	/* Else they cost their time in the pause as well. */
	if (all_are_free(h, CLOSING, LOCKS_MEANWHILE_US))
		links_close(h->link, h->links);
	heap_parts_count(&h->parts, false, count_now(h));
}

static void open_part(struct heap *h)
{
	if (!all_are_free(h, OPENING, LOCKS_MEANWHILE_US)) {
		heap_parts_wait(&h->parts, clock_ns(CLOCK_MONOTONIC));
		return;
	}
	heap_parts_count(&h->parts, true, count_now(h));
	for (size_t i = 0; i < h->links; i++) {
		if (!h->link[i].count)
			link_open(h, &h->link[i]);
	}
	if (grow_watch_heap_begin(h->watch, h->parts.finer) == 0)
		heap_parts_open(&h->parts, clock_ns(CLOCK_MONOTONIC), count_now(h));
}

/* Of those from this one on the processes are gone, or the run is over. */
static void links_forget(struct heap *h, size_t from)
{
	for (size_t i = from; i < h->links; i++)
		h->work_gone += h->link[i].work;
	links_close(h->link + from, h->links - from);
	h->links = from;
}

void heap_turn(struct heap *h, bool (*live)(const void *arg, pid_t pid), const void *arg)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);
	size_t kept = 0;

	h->begun = true;
	/* Those of processes that are gone come last. */
	for (size_t i = 0; i < h->links; i++) {
		struct heap_link l = h->link[i];

		if (!live(arg, l.pid))
			continue;
		h->link[i] = h->link[kept];
		h->link[kept++] = l;
	}
	if (kept < h->links && locks_are_free(h, CLOSING, h->link + kept, h->links - kept, 0, -1))
		links_forget(h, kept);
	/* All messages of a part were read. */
	if (h->parts.leaves && now > h->parts.leaves) {
		leave_blocks(h, heap_parts_end(&h->parts));
		h->parts.leaves = 0;
	}
	/* Where each block is wanted, each is counted, whatever it costs. */
	if (h->sample_bytes <= 1)
		return;
	switch (heap_parts_turn(&h->parts, now, count_now(h))) {
	case HEAP_CLOSE:
		close_part(h);
		break;
	case HEAP_OPEN:
		open_part(h);
		break;
	case HEAP_WAIT:
		break;
	}
}

void heap_stop(struct heap *h)
{
	h->stopped = true;
	if (h->parts.open)
		end_part(h);
	read_work(h);
}

void heap_detach(struct heap *h)
{
	if (all_are_free(h, CLOSING, LOCKS_US))
		links_forget(h, 0);
}

/* ---- blocks ---- */

static size_t slot_of(const struct heap *h, uint32_t target, uint64_t address, uint64_t time)
{
	return hash_number(hash_number(target, address), time) & (h->slots - 1);
}

static int make_slots(struct heap *h)
{
	size_t slots = h->slots ? 2 * h->slots : SLOTS_FIRST;
	uint32_t *slot;

	if (h->used < h->slots)
		return 0;
	slot = malloc(slots * sizeof(*slot));
	if (!slot)
		return -ENOMEM;
	memset(slot, 0xff, slots * sizeof(*slot));
	free(h->slot);
	h->slot = slot;
	h->slots = slots;
	for (size_t i = 0; i < h->blocks; i++) {
		struct heap_block *b = &h->block[i];
		size_t at = slot_of(h, b->target, b->address, b->time);

		/* All of them are used: there is no free one when a table is full. */
		b->next = slot[at];
		slot[at] = (uint32_t)i;
	}
	return 0;
}

/* Takes it from the table if it is there. */
static bool take(struct heap *h, const struct zmem_grow_head *m, struct heap_block *ret)
{
	uint32_t *at =
		h->slots ? &h->slot[slot_of(h, m->target, m->address, (uint64_t)m->carried)] : NULL;

	for (; at && *at != NONE; at = &h->block[*at].next) {
		struct heap_block *b = &h->block[*at];
		uint32_t number = *at;

		if (b->address != m->address || b->target != m->target ||
		    b->time != (uint64_t)m->carried)
			continue;
		*ret = *b;
		*at = b->next;
		b->next = h->first_free;
		b->target = NONE;
		h->first_free = number;
		h->used--;
		return true;
	}
	return false;
}

static int put(struct heap *h, const struct zmem_grow_head *m, uint32_t stack)
{
	uint32_t number = h->first_free;
	struct heap_block *b;
	size_t at;

	if (number == NONE) {
		int r = make_slots(h);

		if (r < 0 || !array_room(&h->block, h->blocks, &h->block_capacity, 1024))
			return -ENOMEM;
		number = (uint32_t)h->blocks++;
	} else {
		h->first_free = h->block[number].next;
	}
	b = &h->block[number];
	at = slot_of(h, m->target, m->address, (uint64_t)m->carried);
	*b = (struct heap_block){.address = m->address,
				 .time = (uint64_t)m->carried,
				 .size = (uint64_t)m->pages & SIZE_MASK,
				 .rarely = (uint32_t)((uint64_t)m->pages >> ZMEM_HEAP_RARELY),
				 .target = m->target,
				 .stack = stack,
				 .freed = (uint64_t)m->pages,
				 .next = h->slot[at]};
	h->slot[at] = number;
	h->used++;
	return 0;
}

static int find_stack(struct heap *h, uint32_t number)
{
	size_t count = h->stacks ? h->stacks : 256;
	struct heap_stack *moved;

	if (number < h->stacks)
		return 0;
	while (count <= number)
		count *= 2;
	moved = reallocarray(h->stack, count, sizeof(*moved));
	if (!moved)
		return -ENOMEM;
	memset(moved + h->stacks, 0, (count - h->stacks) * sizeof(*moved));
	h->stack = moved;
	h->stacks = count;
	return 0;
}

static void end_block(struct heap *h, const struct heap_block *b, uint64_t freed)
{
	double w = weight(h, b);

	if (b->stack >= h->stacks)
		return;
	if (b->left || !heap_parts_same(&h->parts, b->time, freed))
		heap_stack_late(&h->stack[b->stack], &h->parts, b->time, b->left, w);
	else
		heap_stack_freed(&h->stack[b->stack], &h->parts, b->time, freed, w);
}

int heap_add(struct heap *h, const struct zmem_grow_head *m, uint32_t stack)
{
	struct heap_block early, b = {.time = (uint64_t)m->carried,
				      .size = (uint64_t)m->pages & SIZE_MASK,
				      .rarely = (uint32_t)((uint64_t)m->pages >> ZMEM_HEAP_RARELY),
				      .stack = stack};
	int r = find_stack(h, stack);

	if (r < 0)
		return r;
	heap_stack_add(&h->stack[stack], &h->parts, b.time, b.size, weight(h, &b));
	h->seen_bytes += weight(h, &b);
	if (!take(h, m, &early))
		return put(h, m, stack);
	end_block(h, &b, early.freed);
	return 0;
}

int heap_free(struct heap *h, const struct zmem_grow_head *m)
{
	struct heap_block b;

	if (!take(h, m, &b))
		return put(h, m, NONE);
	end_block(h, &b, (uint64_t)m->pages);
	return 0;
}

uint32_t heap_end(struct heap *h, uint32_t target)
{
	h->ends++;
	for (size_t i = 0; i < h->blocks; i++) {
		struct heap_block *b = &h->block[i];

		if (b->target != target || b->end)
			continue;
		b->end = h->ends;
		grow_watch_heap_forget(h->watch, target, b->address);
	}
	return h->ends;
}

/* end 0: all of them. */
void heap_forget(struct heap *h, uint32_t end)
{
	for (size_t i = 0; i < h->blocks; i++) {
		const struct heap_block b = h->block[i];
		const struct zmem_grow_head m = {
			.target = b.target, .address = b.address, .carried = (int64_t)b.time};
		struct heap_block gone;

		if (b.target == NONE || (end && b.end != end))
			continue;
		if (!b.end)
			grow_watch_heap_forget(h->watch, b.target, b.address);
		if (take(h, &m, &gone))
			end_block(h, &gone, clock_ns(CLOCK_MONOTONIC));
	}
}

void heap_begin_anew(struct heap *h)
{
	int r;

	heap_forget(h, 0);
	h->found = false;
	free(h->stack);
	h->stack = NULL;
	h->stacks = 0;
	h->seen_bytes = 0;
	/* The last program may have ended in a pause. */
	r = grow_watch_heap_begin(h->watch, 0);
	if (r < 0)
		h->refused = r;
	heap_parts_anew(&h->parts, clock_ns(CLOCK_MONOTONIC), count_now(h));
}

/* Calls were seen without a pause: what is held is what is there. */
static void sum_blocks(const struct heap *h, struct stack_table *stacks)
{
	for (size_t i = 0; i < h->blocks; i++) {
		const struct heap_block *b = &h->block[i];
		struct stack_sums *sums;
		double w;

		if (b->target == NONE || b->stack >= stacks->stacks)
			continue;
		sums = &stacks->stack[b->stack].sums;
		w = weight(h, b);
		sums->held += w;
		sums->held_variance += w * (w - (double)b->size);
	}
}

int heap_report(struct heap *h, struct stack_table *stacks, uint64_t duration_us,
		struct growth_heap *ret)
{
	const uint64_t now = clock_ns(CLOCK_MONOTONIC);
	bool whole = heap_parts_whole(&h->parts);
	struct zmem_heap_cpu counts;
	int r = grow_watch_heap_counts(h->watch, &counts);
	const struct heap_count count = {counts.calls, read_work(h), now, counts.samples};
	double error, share = heap_parts_share(&h->parts, &count, h->cost_ns, &error);

	*ret = (struct growth_heap){.known = r == 0,
				    .sample_bytes = h->sample_bytes,
				    .calls = counts.calls - h->parts.forgotten.calls,
				    .samples = counts.samples - h->parts.forgotten.samples,
				    .seen_us = heap_parts_seen(&h->parts, now) / 1000,
				    .not_counted = counts.passed + counts.refused,
				    .not_probed = h->not_probed,
				    .not_probeds = h->not_probeds};
	/* In parts with pauses they come at other distances. */
	if (!whole && ret->samples)
		ret->sample_bytes = (uint64_t)(h->seen_bytes / (double)ret->samples + 0.5);
	/* A part begins and ends a moment before the run does. */
	if (whole || ret->seen_us > duration_us)
		ret->seen_us = duration_us;
	if (!whole)
		leave_blocks(h, h->parts.open ? now : heap_parts_end(&h->parts));
	for (size_t i = 0; i < stacks->stacks; i++) {
		struct stack_sums *sums = &stacks->stack[i].sums;
		const struct heap_stack none = {}, *s = i < h->stacks ? &h->stack[i] : &none;

		heap_stack_sum(s, &h->parts, whole ? 1 : share, whole ? 0 : error, &sums->allocated,
			       &sums->held, &sums->held_variance);
		if (whole)
			sums->held = sums->held_variance = 0;
	}
	if (whole)
		sum_blocks(h, stacks);
	return r;
}

int heap_error(const struct heap *h)
{
	return h->links && !has_probes(h) ? h->refused : 0;
}

unsigned heap_needs_later(const struct heap *h)
{
	return LATER_PROBES | (h->probes.way == WAY_EVENTS ? LATER_EVENTS : 0);
}

void heap_diagnose(const struct heap *h, struct diag *diag)
{
	struct zmem_heap_cpu counts;

	if (h->stopped && h->locked && has_probes(h))
		diag_add(diag, "malloc", -EBUSY, NULL,
			 "probes are still set, and zmem-bpf waits: %s keeps its "
			 "mmap_lock, and to remove them would stop each fork of the machine until "
			 "it is free (Ctrl-\\ removes them at once)",
			 lock_holder_text(&h->holder).s);
	if (h->unset.file)
		diag_add(diag, "malloc", -EBUSY, NULL,
			 "grow --malloc: no probes in %s: %s keeps its mmap_lock, and "
			 "to set them would stop each fork of the machine until it is free",
			 h->unset.file, lock_holder_text(&h->unset.holder).s);
	else if (h->refused == -EOPNOTSUPP || h->refused == -EINVAL)
		diag_add(diag, "malloc", h->refused, NULL,
			 "grow --malloc: this kernel has no uprobes (CONFIG_UPROBE_EVENTS)");
	else if (h->refused)
		diag_add(diag, "malloc", h->refused, NULL,
			 "grow --malloc: attaching to functions of an allocator: %s",
			 strerror(-h->refused));
	if (h->unread)
		diag_add(diag, "malloc", h->unread, NULL,
			 "searching a file for functions of an allocator: %s",
			 strerror(-h->unread));
	if (h->inlined)
		diag_add(diag, "malloc", -ENOTSUP, NULL,
			 "Python's small objects are not seen: its allocator is built into other "
			 "functions (run it with PYTHONMALLOC=malloc)");
	if (!h->found)
		diag_add(diag, "malloc", -ENOENT, NULL,
			 "no functions of an allocator were found: a static program without "
			 "symbols has none, and one that ends at once is not searched");
	if (grow_watch_heap_counts(h->watch, &counts) == 0 && counts.lost)
		diag_add(diag, "malloc", -ENOSPC, NULL, "%" PRIu64 " %s not counted: no room",
			 (uint64_t)counts.lost,
			 count_word(counts.lost, "block, or its free, was",
				    "blocks, or their frees, were"));
}
