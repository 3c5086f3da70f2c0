// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * How blocks of allocators are counted, from a process to the report:
 *
 * 1. Files that processes map are searched for functions of allocators, once each, by the helper of
 *    their user (code_reader.h). allocators.h knows the functions, and what each does.
 * 2. Another helper sets probes at their places (probe_helper.h), if no process keeps the lock that
 *    the kernel needs for that (held_locks.h). A place where they could harm the program is left
 *    out, and the report says so (add_not_probed()).
 * 3. At each call the kernel side decides by the size whether the block is sampled
 *    (bpf/malloc.bpf.h). A sampled block is put into a map, until it is freed, and sent with its
 *    stack. grow.c adds it to the list of heap_blocks.h.
 * 4. From time to time heap_turn() reads how many calls and samples there were. Too many samples
 *    become coarser; and programs that the probes would make too slow are left alone
 * (heap_is_slow). What a call costs was measured before, with functions of our own (find_price()).
 * 5. For a report the list and the kernel's map are compared: what is in both is held. Each block
 *    stands for as many bytes as its chance to be sampled says (model/sample.h).
 */
#include "heap/heap.h"

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
#include "base/file.h"
#include "heap/allocators.h"
#include "heap/heap_blocks.h"
#include "heap/held_locks.h"
#include "privilege/privilege.h"

#define LINKS_MAX	1024
#define ENVIRONMENT_MAX ((size_t)1 << 20)
#define RATE_US		1000000 /* in that time the rate of samples is measured */
/* A sample costs so much beside its call and its return: to copy a stack of 2 KiB. */
#define SAMPLE_NS 1000
/* The speed of the programs is measured for so long, if probes take that part of a CPU. */
#define SPEED_US    500000
#define COST_PARTS  10
#define SPEED_LEAST 0.5
/* A program does something between its calls: less than that share of the time is not believed. */
#define LEAST_WORK 0.01
/*
 * A probe costs the measured time times a factor between these: in a program that does other things
 * between its calls, caches and branch predictors begin anew each time (src/doc/benchmarks.md).
 */
#define COST_LEAST 0.9
#define COST_MOST  3.0
/* Where they cannot be measured. */
#define COST_EMULATED_NS 700
#define COST_STEPPED_NS	 2000
#define COST_RETURN_NS	 500
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
	bool inlined; /* a Python with allocators that are not probed */
	struct allocator allocator;
	bool linked; /* its functions are probed, or were */
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

/* What all processes and probes did until a moment. */
struct heap_count {
	uint64_t us;	  /* CLOCK_MONOTONIC */
	uint64_t work_ns; /* CPU time */
	struct zmem_heap_cpu counts;
};

struct heap {
	struct grow_watch *watch;
	struct code_sources *code;
	struct probe_helper probes;
	struct heap_blocks blocks;
	struct heap_file *file;
	size_t files, file_capacity;
	struct heap_link *link;
	size_t links, link_capacity;
	struct growth_not_probed *not_probed;
	size_t not_probeds, not_probed_room;
	struct growth_allocator *allocator; /* by the number of its file */
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
	bool inlined;	/* a Python's small objects are not seen */
	bool found;	/* a process has functions; false again when a program begins */
	bool adapts;	/* to the rate of samples */
	bool any_price; /* the programs may become as slow as they do */
	bool slow;	/* they became too slow */
	bool priced;
	struct probe_cost price;
	uint64_t work_gone;		      /* ns of processes without links */
	struct heap_count first, rate, speed; /* since when these are measured */
	struct heap_slow slowed;
};

int heap_open(struct grow_watch *watch, const struct heap_spec *spec, struct code_sources *code,
	      struct heap **ret)
{
	struct grow_heap_programs programs = grow_watch_heap_programs(watch);
	struct heap *h = calloc(1, sizeof(*h));

	if (!h)
		return -ENOMEM;
	h->watch = watch;
	h->blocks.watch = watch;
	h->blocks.sample_bytes = spec->sample_bytes;
	h->adapts = spec->adapts;
	h->any_price = spec->any_price;
	h->code = code;
	probe_helper_init(&h->probes, &code->helpers);
	h->probes.way = WAY_SESSION;
	h->probes.programs.session = programs.session;
	h->probes.programs.enter = programs.enter;
	h->probes.programs.leave = programs.leave;
	h->first.us = clock_us(CLOCK_MONOTONIC);
	*ret = h;
	return 0;
}

/* Closes the links of each process together, where there is memory for that. */
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
	/* Waits without an end: better that this program waits than all forks. */
	while (has_probes(h) && !locks_are_free(h, CLOSING, h->link, h->links, LOCKS_US, -1) &&
	       h->locked)
		;
	links_close(h->link, h->links);
	free(h->link);
	helper_done(&h->probes.helper);
	for (size_t i = 0; i < h->files; i++)
		free(h->file[i].place);
	free(h->file);
	heap_blocks_done(&h->blocks);
	free(h->allocator);
	free(h->not_probed);
	arena_done(&h->reasons);
	free(h);
}

/* ---- what is not probed ---- */

/* The texts are constants, or belong to the heap or to a file. */
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
	ret->inlined = allocator_is_inlined(found, (size_t)n);
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

/* True if it is known that a Python does not get each object of malloc. */
static bool lacks_python_malloc(const struct address_space *s)
{
	static const char variable[] = "PYTHONMALLOC=malloc"; /* or malloc_debug */
	cleanup_free char *text = malloc(ENVIRONMENT_MAX);
	ssize_t len = text && s->pid_fd >= 0
			      ? file_read(s->pid_fd, "environ", text, ENVIRONMENT_MAX)
			      : -1;

	for (const char *at = text; len > 0 && at < text + len; at += strlen(at) + 1) {
		if (strncmp(at, variable, strlen(variable)) == 0)
			return false;
	}
	return len > 0;
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
		/* A file that the user of the process may not read is not probed. */
		if (r < 0)
			h->unread = r;
	}
	if (h->file[i].inlined && !h->inlined)
		h->inlined = lacks_python_malloc(s);
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

/* The program may have called it before. */
static void note_late(struct heap *h, const struct program_file *f)
{
	add_not_probed(h, (struct growth_not_probed){
				  .file = f->name,
				  .reason = "the program had begun when its functions were found"});
}

/* `file` may be NO_FILE: any. */
static bool is_linked(const struct heap *h, pid_t pid, uint32_t file)
{
	for (size_t i = 0; i < h->links; i++) {
		if (h->link[i].pid == pid && (file == NO_FILE || h->link[i].file == file))
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

/*
 * Measuring takes a quarter of a second. It is not done between the first probes and those of a
 * program that a command executes: soon after other ones the kernel sets probes at once, and else
 * it waits for ten milliseconds (rcu_sync_enter() of dup_mmap_sem).
 */
static void find_price(struct heap *h)
{
	h->priced = true;
	if (!own_lock_is_free(h) || probe_cost(&h->probes, &h->price) < 0)
		h->price = (struct probe_cost){COST_EMULATED_NS, COST_STEPPED_NS, COST_RETURN_NS};
}

static void link_read_work(struct heap_link *l)
{
	struct timespec t;

	/* MAKE_PROCESS_CPUCLOCK(pid, CPUCLOCK_SCHED), include/linux/posix-timers.h */
	if (clock_gettime((clockid_t)(~(unsigned)l->pid << 3 | 2), &t) == 0)
		l->work = (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

void heap_attach(struct heap *h, const struct address_space *s, uint32_t target, bool late)
{
	bool refuses = would_end(h, target);

	if (h->slow)
		return;
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
		l = &h->link[h->links];
		*l = (struct heap_link){.pid = s->pid,
					.file = number,
					.mapping = grow_watch_heap_mapping(h->watch, s->pid,
									   s->code.image[i].start),
					.functions = functions,
					.first = !is_linked(h, s->pid, NO_FILE)};
		h->links++;
		if (!late && !h->priced)
			find_price(h);
		if (!late && l->first) {
			/* What the process did before does not belong to the run. */
			link_read_work(l);
			h->first.work_ns += l->work;
		}
		if (locks_are_free(h, OPENING, l, 1,
				   h->begun || h->locked ? LOCKS_MEANWHILE_US : LOCKS_US,
				   h->code->helpers.hurry_fd))
			link_open(h, l);
		else if (h->locked)
			refuse_locked(h, l);
		h->file[functions].linked |= l->count > 0;
		if (late && l->count)
			note_late(h, h->code->files.item[number]);
	}
}

/* ---- how often, and how fast ---- */

/* CPU time of the processes, and of the probes in them. */
static uint64_t read_work(struct heap *h)
{
	uint64_t sum = h->work_gone;

	for (size_t i = 0; i < h->links; i++) {
		if (h->link[i].first)
			link_read_work(&h->link[i]);
		sum += h->link[i].work;
	}
	return sum;
}

static struct heap_count count_now(struct heap *h)
{
	struct heap_count c = {.us = clock_us(CLOCK_MONOTONIC), .work_ns = read_work(h)};

	grow_watch_heap_counts(h->watch, &c.counts);
	return c;
}

/* What the probes cost between two moments, ns. */
static double cost_of(const struct heap *h, const struct heap_count *from,
		      const struct heap_count *to)
{
	const struct zmem_heap_cpu *a = &from->counts, *b = &to->counts;
	uint64_t stepped = b->stepped - a->stepped;

	return (double)(b->calls - a->calls - stepped) * (double)h->price.emulated_ns +
	       (double)stepped * (double)h->price.stepped_ns +
	       (double)(b->returns - a->returns) * (double)h->price.return_ns +
	       (double)(b->samples - a->samples) * SAMPLE_NS;
}

/*
 * How fast the programs were: the share of their CPU time that was their own, if probes cost so
 * many times what was measured.
 */
static double speed_of(const struct heap *h, const struct heap_count *from,
		       const struct heap_count *to, double times)
{
	double work = (double)(to->work_ns - from->work_ns);
	double own = work - times * cost_of(h, from, to);

	if (own < LEAST_WORK * work)
		own = LEAST_WORK * work;
	return work > 0 ? own / work : 1;
}

static void measure_speed(struct heap *h, const struct heap_count *now)
{
	uint64_t us = now->us - h->speed.us, calls = now->counts.calls - h->speed.counts.calls;
	double cost, speed;

	if (us < SPEED_US)
		return;
	/* A process is left alone only if it is too slow beyond doubt. */
	cost = COST_LEAST * cost_of(h, &h->speed, now);
	speed = speed_of(h, &h->speed, now, COST_LEAST);
	if (!h->any_price && speed < SPEED_LEAST && cost * COST_PARTS > (double)us * 1000) {
		h->slow = true;
		h->slowed = (struct heap_slow){
			.rate = calls * 1000000 / us,
			.price_ns = (uint64_t)(cost / COST_LEAST / (double)calls + 0.5),
			.percent = (unsigned)(100 * speed + 0.5)};
	}
	h->speed = *now;
}

/* Forgets the links from this one on: their processes are gone, or the run is over. */
static void links_forget(struct heap *h, size_t from)
{
	for (size_t i = from; i < h->links; i++)
		h->work_gone += h->link[i].work;
	links_close(h->link + from, h->links - from);
	h->links = from;
}

void heap_turn(struct heap *h, bool (*live)(const void *arg, pid_t pid), const void *arg)
{
	struct heap_count now;
	uint64_t samples;
	size_t kept = 0;

	h->begun = true;
	/* Links of processes that are gone come last. */
	for (size_t i = 0; i < h->links; i++) {
		struct heap_link l = h->link[i];

		if (!live(arg, l.pid))
			continue;
		h->link[i] = h->link[kept];
		h->link[kept++] = l;
	}
	if (kept < h->links && locks_are_free(h, CLOSING, h->link + kept, h->links - kept, 0, -1))
		links_forget(h, kept);
	if (!has_probes(h))
		return;
	now = count_now(h);
	if (!h->priced)
		find_price(h);
	if (!h->speed.us)
		h->rate = h->speed = now;
	samples = now.counts.samples - h->rate.counts.samples;
	if (now.us - h->rate.us >= RATE_US || samples > HEAP_SAMPLES_MAX) {
		if (h->adapts)
			heap_blocks_adapt(&h->blocks, samples, now.us - h->rate.us);
		h->rate = now;
	}
	measure_speed(h, &now);
}

bool heap_is_slow(const struct heap *h, struct heap_slow *ret)
{
	if (h)
		*ret = h->slowed;
	return h && h->slow;
}

void heap_stop(struct heap *h)
{
	h->stopped = true;
	read_work(h);
}

void heap_detach(struct heap *h)
{
	if (locks_are_free(h, CLOSING, h->link, h->links, LOCKS_US, h->code->helpers.hurry_fd))
		links_forget(h, 0);
}

/* ---- blocks, and the report ---- */

struct heap_blocks *heap_blocks(struct heap *h)
{
	return &h->blocks;
}

void heap_begin_anew(struct heap *h)
{
	heap_blocks_clear(&h->blocks);
	h->found = false;
	h->first = count_now(h);
}

/* What HELD lacks is not known. */
static bool lacks_blocks(const struct heap *h, const struct zmem_heap_cpu *now)
{
	const struct zmem_heap_cpu *first = &h->first.counts;

	return now->lost > first->lost || now->passed > first->passed ||
	       now->refused > first->refused || h->not_probeds || h->inlined || h->refused ||
	       h->unread;
}

/* Files of which functions are probed, or were. */
static int list_allocators(struct heap *h, struct growth_heap *ret)
{
	free(h->allocator);
	h->allocator = calloc(h->files + 1, sizeof(*h->allocator));
	if (!h->allocator)
		return -ENOMEM;
	ret->allocator = h->allocator;
	for (size_t i = 0; i < h->files; i++) {
		const struct allocator *a = &h->file[i].allocator;

		if (!h->file[i].linked)
			continue;
		h->allocator[ret->allocators++] = (struct growth_allocator){
			.name = a->name,
			.version = *a->version ? a->version : NULL,
			.file = a->path,
			.functions = a->functions,
		};
	}
	return 0;
}

int heap_report(struct heap *h, struct stack_table *stacks, struct growth_heap *ret)
{
	const struct heap_count now = count_now(h);
	uint64_t calls = now.counts.calls - h->first.counts.calls, us = now.us - h->first.us;
	/* If the map was thinned, all its blocks are as coarse. */
	uint32_t thinned = h->blocks.thinned, coarsest = (uint32_t)now.counts.coarsest;
	double cost = cost_of(h, &h->first, &now);
	int r = heap_blocks_sum(&h->blocks, stacks);

	*ret = (struct growth_heap){
		.known = r == 0,
		.at_least = lacks_blocks(h, &now.counts),
		.calls = calls,
		.samples = now.counts.samples - h->first.counts.samples,
		.rate = us ? calls * 1000000 / us : 0,
		.price_ns = calls ? (uint64_t)(cost / (double)calls + 0.5) : 0,
		.speed_least = speed_of(h, &h->first, &now, COST_MOST),
		.speed_most = speed_of(h, &h->first, &now, COST_LEAST),
		.sample_bytes = h->blocks.sample_bytes,
		.mean_most = heap_blocks_mean(&h->blocks, coarsest > thinned ? coarsest : thinned),
		.not_counted = now.counts.passed + now.counts.refused,
		.not_probed = h->not_probed,
		.not_probeds = h->not_probeds};
	/* On average. */
	if (ret->mean_most > 1 && ret->samples)
		ret->sample_bytes = (uint64_t)(h->blocks.all / (double)ret->samples + 0.5);
	if (r == 0)
		r = list_allocators(h, ret);
	return r;
}

int heap_error(const struct heap *h)
{
	return h && h->links && !has_probes(h) ? h->refused : 0;
}

unsigned heap_needs_later(const struct heap *h)
{
	return !h ? 0 : LATER_PROBES | (h->probes.way == WAY_EVENTS ? LATER_EVENTS : 0);
}

static bool is_probed(const struct heap *h)
{
	for (size_t i = 0; i < h->files; i++) {
		if (h->file[i].linked)
			return true;
	}
	return false;
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
	if (!h->found && !is_probed(h))
		diag_add(diag, "malloc", -ENOENT, NULL,
			 "no functions of an allocator were found: a static program without "
			 "symbols has none, and one that ends at once is not searched");
	if (grow_watch_heap_counts(h->watch, &counts) == 0 && counts.lost)
		diag_add(diag, "malloc", -ENOSPC, NULL, "%" PRIu64 " %s not counted: no room",
			 (uint64_t)counts.lost,
			 count_word(counts.lost, "block, or its free, was",
				    "blocks, or their frees, were"));
}
