// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * From messages of the kernel to stacks with sums; grow_report.c makes the report of them.
 *
 * A message is a change of a counter, or it says that a process began, executed a program, mapped
 * code or ended. A stack that its process had before is recalled (recall.h), and its change is
 * counted at once. Others wait in the queue (stack_queue.h) until it is full or a process changes:
 * then a helper unwinds those of one process with one request.
 *
 * Where the kernel side samples, the message of a change also stands for pages of changes that were
 * not sent (`carried`). So the sums of all stacks are those of the counters, and the part of each
 * stack is right on average. What no stack stands for at the end becomes a stack of its own.
 *
 * The pages that a fault added are remembered with their stack (touched.h), and the report asks
 * which of them are still there. In the report addresses become functions, and stacks of the same
 * functions become one.
 */
#include "grow/grow_internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "code/debuginfod.h"
#include "demangle/demangle.h"
#include "grow/names.h"
#include "heap/heap.h"
#include "source/source.h"

/* A file that was loaded since is looked for at most so often; more often in a young process. */
#define UPDATE_US	50000
#define UPDATE_YOUNG_US 1000
#define UPDATE_PARTS	8     /* of its age */
#define POINT_US	50000 /* between points of a run of up to 13 s */
#define EXEC_US		100000
/* Mappings are read again after files were unmapped: for so long, and this part of the time. */
#define CHECK_FREE_US 20000
#define CHECK_PARTS   50
#define LABEL_MAX     64

/* ---- processes ---- */

/* The process that a message is about; NULL: the process is not counted. */
static struct grow_process *process_of(const struct grow *g, const struct zmem_grow_head *h)
{
	return h->target < TARGETS ? g->process[h->target] : NULL;
}

static void process_close(struct grow_process *p)
{
	recall_done(&p->recall);
	touched_done(&p->touched);
	address_space_close(&p->space);
	p->jit = p->jit_parent = 0;
}

/* Sets the name of the program. A process that is gone keeps the one that it had. */
static void read_name(struct grow_process *p)
{
	char exe[PROGRAM_NAME_MAX + 1], comm[32], cmdline[PROGRAM_CMDLINE_MAX + 1];
	struct text_part name;
	ssize_t len = -1;
	bool deleted;

	if (p->space.pid_fd < 0 || procfs_exe_name(p->space.pid_fd, exe, sizeof(exe), &deleted) < 0)
		return;
	if (file_read(p->space.pid_fd, "comm", comm, sizeof(comm)) < 0)
		*comm = '\0';
	comm[strcspn(comm, "\n")] = '\0';
	if (program_needs_cmdline(exe, comm))
		len = file_read(p->space.pid_fd, "cmdline", cmdline, sizeof(cmdline));
	if (len > 0)
		len = (ssize_t)program_whole_words(cmdline, (size_t)len, PROGRAM_CMDLINE_MAX);
	name = program_name(exe, comm, len > 0 ? cmdline : NULL, len > 0 ? (size_t)len : 0);
	snprintf(p->name, sizeof(p->name), "%.*s", (int)name.len, name.s);
}

/* Reads what a process maps: while it lives, for it has nothing when it is gone. */
static void process_open(struct grow *g, struct grow_process *p, pid_t pid, bool late)
{
	address_space_open(&p->space, g->proc, pid, p->target, &g->code);
	p->opened_us = p->updated_us = clock_us(CLOCK_MONOTONIC);
	read_name(p);
	if (!*p->name)
		snprintf(p->name, sizeof(p->name), "%d", pid);
	if (g->heap)
		heap_attach(g->heap, &p->space, p->target, late);
}

/* `late`: what it did since it began is to be counted. */
static int add_process(struct grow *g, uint32_t target, pid_t pid, bool late)
{
	struct grow_process *p;

	if (!array_room(&g->all, g->count, &g->capacity, 16))
		return -ENOMEM;
	p = calloc(1, sizeof(*p));
	if (!p)
		return -ENOMEM;
	p->target = target;
	p->live = true;
	process_open(g, p, pid, late);
	g->all[g->count++] = p;
	g->process[target] = p;
	return 0;
}

int grow_add(struct grow *g, pid_t pid)
{
	uint32_t target = 0;
	int r = grow_watch_add(g->watch, pid, &target);

	if (r == -ENOSPC)
		g->no_room++;
	if (r < 0 || g->process[target])
		return r;
	return add_process(g, target, pid, false);
}

bool grow_ended(const struct grow *g)
{
	/* A process in execve() loses the old address space before it has the new one. */
	if (g->ended_us && clock_us(CLOCK_MONOTONIC) - g->ended_us < EXEC_US)
		return false;
	for (size_t i = 0; i < g->count; i++) {
		if (g->all[i]->live)
			return false;
	}
	return true;
}

void grow_add_sums(struct grow_sums *to, const struct grow_sums *s)
{
	for (int i = 0; i < ZMEM_RSS_COUNT; i++) {
		to->begin[i] += s->begin[i];
		to->end[i] += s->end[i];
		to->net[i] += s->net[i];
		to->settled[i] += s->settled[i];
		to->skipped[i] += s->skipped[i];
	}
	to->events += s->events;
	to->taken += s->taken;
	to->lost_messages += s->lost_messages;
	to->lost_processes += s->lost_processes;
	to->copied += s->copied;
}

/* The address space of a target is gone: its sums are kept, and its place is free again. */
static int end_target(struct grow *g, uint32_t target)
{
	struct grow_process *p = g->process[target];
	struct grow_sums sums;
	int r = grow_watch_sums(g->watch, target, &sums);

	if (r == 0)
		grow_add_sums(&g->past, &sums);
	if (r == 0)
		r = grow_watch_free(g->watch, target);
	g->process[target] = NULL;
	if (g->heap) {
		uint32_t end = heap_blocks_end(heap_blocks(g->heap), target);

		/* What a child held is gone with it; the end of what was to be counted is a moment
		 * like others. */
		if (p && p->child)
			heap_blocks_forget(heap_blocks(g->heap), end);
		else if (p)
			p->heap_end = end;
	}
	if (p && p->target == target) {
		if (p->jit)
			jit_maps_open(&g->jit, p->jit, &p->space);
		process_close(p);
		p->live = false;
	}
	g->ended_us = clock_us(CLOCK_MONOTONIC);
	return r;
}

/* ---- stacks ---- */

/*
 * The number of the map of what a process has made. Its file is opened here: later the process may
 * be gone. Without room for one more, there is that of its parent, or none.
 */
static uint32_t jit_number(struct grow *g, struct grow_process *p)
{
	if (p->jit)
		return p->jit;
	if (jit_maps_add(&g->jit, p->jit_parent, &p->jit) < 0)
		return p->jit_parent;
	jit_maps_open(&g->jit, p->jit, &p->space);
	return p->jit;
}

static bool has_jit(const struct address_space *s)
{
	for (size_t i = 0; i < s->code.count; i++) {
		if (s->code.image[i].jit)
			return true;
	}
	return false;
}

static int code_number(struct grow *g, struct grow_process *p, uint64_t ip, uint32_t *ret)
{
	const struct image *image = code_space_find(&p->space.code, ip);
	struct code code = {.file = NO_FILE, .vaddr = ip};

	if (image && image->file != NO_FILE) {
		code.file = image->file;
		code.vaddr = ip - image->base;
	}
	if (image && image->jit)
		code.jit = jit_number(g, p);
	return stack_table_code(&g->stacks, &code, ret);
}

int grow_label_stack(struct grow *g, const char *text, uint32_t *ret)
{
	uint32_t code;
	int r = stack_table_label(&g->stacks, text, &code);

	return r < 0 ? r : stack_table_stack(&g->stacks, &code, 1, false, ret);
}

static int store_stack(struct grow *g, struct grow_process *p, const struct unwound *u,
		       uint32_t *ret)
{
	uint32_t code[UNWIND_FRAMES];
	char text[LABEL_MAX] = "[no user stack]";
	int r = 0;

	if (!u->count && p->space.unwound < 0 && p->space.unwound != -ENODATA)
		snprintf(text, sizeof(text), "[stack not read: %s]", strerror(-p->space.unwound));
	if (!u->count)
		return grow_label_stack(g, text, ret);
	for (size_t i = 0; r == 0 && i < u->count; i++)
		r = code_number(g, p, u->ip[i], &code[i]);
	return r < 0 ? r : stack_table_stack(&g->stacks, code, u->count, u->truncated, ret);
}

/* True if a part of the stack is not known, and it may be by now. */
static bool is_outdated(const struct grow_process *p, const struct unwound *u)
{
	uint64_t now = clock_us(CLOCK_MONOTONIC), wait = (now - p->opened_us) / UPDATE_PARTS;
	size_t known = 0;

	wait = wait < UPDATE_YOUNG_US ? UPDATE_YOUNG_US : wait > UPDATE_US ? UPDATE_US : wait;
	if (now - p->updated_us <= wait)
		return false;
	while (known < u->count && code_space_find(&p->space.code, u->ip[known]))
		known++;
	return !u->count || known < u->count;
}

static void update(struct grow *g, struct grow_process *p)
{
	unsigned before = p->space.code.generation;

	if (address_space_update(&p->space, &g->code) == 0 && p->space.code.generation != before)
		recall_forget(&p->recall);
	if (g->heap)
		heap_attach(g->heap, &p->space, p->target, true);
	p->updated_us = clock_us(CLOCK_MONOTONIC);
	p->unmapped = false;
}

/*
 * Where no table says how to go on, the register of the frame pointer is followed. If it has
 * another use, it leads to an address without code: the stack is cut there.
 */
static void cut_behind_code(const struct grow_process *p, struct unwound *u)
{
	for (size_t i = 1; p->space.code.count && i < u->count; i++) {
		if (code_space_find(&p->space.code, u->ip[i]))
			continue;
		u->count = i;
		u->truncated = true;
	}
}

/* The first address is where the thread is, the others are behind calls. */
static int find_walked(struct grow *g, struct grow_process *p, const struct zmem_grow_addresses *m,
		       uint32_t *ret)
{
	struct unwound unwound = {};

	for (uint32_t i = 0; i < m->count && i < ZMEM_GROW_FRAMES; i++)
		unwound.ip[unwound.count++] = i ? m->ip[i] - 1 : m->ip[i];
	unwound.truncated = m->count >= ZMEM_GROW_FRAMES;
	if (is_outdated(p, &unwound))
		update(g, p);
	cut_behind_code(p, &unwound);
	return store_stack(g, p, &unwound, ret);
}

static int find_task(struct grow *g, const struct zmem_grow_task *m, uint32_t *ret)
{
	char text[LABEL_MAX];

	snprintf(text, sizeof(text), "[another task: %.*s]", (int)strnlen(m->comm, sizeof(m->comm)),
		 m->comm);
	return grow_label_stack(g, text, ret);
}

void grow_add_pages(struct grow *g, uint32_t stack, uint32_t member, int64_t pages)
{
	struct growth_stack *s = &g->stacks.stack[stack];

	if (member == ZMEM_GROW_COPIED) {
		s->copied += (uint64_t)(pages * g->page_size);
		return;
	}
	s->net[grow_counter(member)] += pages * g->page_size;
	s->recent += pages * g->page_size;
	g->net[grow_counter(member)] += pages * g->page_size;
	if (pages > 0)
		s->gross += (uint64_t)(pages * g->page_size);
}

static void count_unaddressed(struct grow *g, uint32_t stack, int64_t pages)
{
	g->stacks.stack[stack].unaddressed += (uint64_t)(pages * g->page_size);
}

static void count_change(struct grow *g, struct grow_process *p, uint32_t stack,
			 const struct zmem_grow_head *h)
{
	if (h->member == ZMEM_GROW_BLOCK) {
		g->heap_error |= heap_blocks_add(heap_blocks(g->heap), h, stack) < 0;
		return;
	}
	grow_add_pages(g, stack, h->member, h->pages + h->carried);
	if (h->member == ZMEM_GROW_COPIED)
		return;
	g->stacks.stack[stack].changes++;
	g->stacks.stack[stack].variance +=
		(double)h->spread * (double)g->page_size * (double)g->page_size;
	g->sampled_pages += h->carried;
	if (h->pages <= 0 || h->pages > UINT32_MAX || h->member == ZMEM_RSS_SWAP)
		return;
	/* Pages that this one stands for have no address. */
	count_unaddressed(g, stack, h->carried);
	if (h->address)
		touched_add(&p->touched, &p->space, g->code.processes,
			    (struct touched_page){h->address / (uint64_t)g->page_size, stack,
						  (uint32_t)h->pages});
	else
		count_unaddressed(g, stack, h->pages);
}

/* A change with a stack for which the table has no room: its pages are left to those without a
 * stack. */
static void count_unstored(struct grow *g, const struct zmem_grow_head *h)
{
	g->unstored++;
	if (h->member < ZMEM_GROW_COPIED)
		g->skipped[h->member] -= h->pages + h->carried;
}

/* ---- stacks that wait ---- */

/* Unwinds those of one process. */
static void unwind_process(struct grow *g, struct grow_process *p)
{
	const struct zmem_grow_stack *message[UNWIND_BATCH] = {};
	struct queued_stack *of[UNWIND_BATCH];
	struct unwound *unwound = g->unwound;
	bool outdated = false;
	size_t count = 0;

	for (size_t i = 0; i < g->queue.stacks; i++) {
		if (g->queue.stack[i].process == p) {
			of[count] = &g->queue.stack[i];
			message[count++] = g->queue.stack[i].message;
		}
	}
	address_space_unwind(&p->space, &g->code, message, count, unwound);
	for (size_t i = 0; i < count && !outdated; i++)
		outdated = is_outdated(p, &unwound[i]);
	if (outdated) {
		update(g, p);
		address_space_unwind(&p->space, &g->code, message, count, unwound);
	}
	for (size_t i = 0; i < count; i++) {
		struct queued_stack *s = of[i];

		cut_behind_code(p, &unwound[i]);
		s->found = true;
		s->error = store_stack(g, p, &unwound[i], &s->number);
		/* An update has other keys. */
		if (s->error == 0 &&
		    !recall_find(&p->recall, &p->space.code, s->message, &s->key, &s->number))
			recall_add(&p->recall, s->key, s->number);
	}
}

/* Unwinds what waits, and counts it. */
static int count_waiting(struct grow *g)
{
	struct stack_queue *q = &g->queue;
	int r = 0;

	for (size_t i = 0; i < q->stacks; i++) {
		if (!q->stack[i].found)
			unwind_process(g, q->stack[i].process);
	}
	for (size_t i = 0; i < q->changes; i++) {
		const struct queued_stack *s = &q->stack[q->change[i].stack];

		if (s->error == 0)
			count_change(g, s->process, s->number, &q->change[i].head);
		else if (s->error == -ENOSPC)
			count_unstored(g, &q->change[i].head);
		else
			r = s->error;
	}
	stack_queue_clear(q);
	return r;
}

static int count_stack(struct grow *g, struct grow_process *p, const struct zmem_grow_stack *m)
{
	uint32_t stack;
	uint64_t key;
	int r;

	while (!recall_find(&p->recall, &p->space.code, m, &key, &stack)) {
		if (stack_queue_add(&g->queue, p, key, m))
			return 0;
		r = count_waiting(g);
		if (r < 0)
			return r;
	}
	count_change(g, p, stack, &m->head);
	return 0;
}

/*
 * Has the mappings read again before a stack is looked at, if pages of files were unmapped since:
 * another library may be at the place of one, and no address shows that. For a program that maps
 * files all the time, this is limited to a part of the time.
 */
static int check_mappings(struct grow *g, struct grow_process *p, const struct zmem_grow_head *h)
{
	uint64_t now = clock_us(CLOCK_MONOTONIC);
	int r = 0;

	if (p->unmapped && p->space.pid_fd >= 0 &&
	    p->checked_us <= (now - p->opened_us) / CHECK_PARTS + CHECK_FREE_US) {
		/* What waits is of the mappings before. */
		r = count_waiting(g);
		update(g, p);
		p->checked_us += p->updated_us - now;
		/* What takes that place may not be there yet: what is not known then is read at
		 * once. */
		p->updated_us = 0;
	}
	p->unmapped |= h->member == ZMEM_RSS_FILE && h->pages < 0;
	return r;
}

/* ---- messages ---- */

static int begin_process(struct grow *g, const struct zmem_grow_process *m)
{
	struct grow_process *parent = m->parent < TARGETS ? g->process[m->parent] : NULL;
	int r = 0;

	if (m->head.target >= TARGETS) {
		g->no_room++;
		return 0;
	}
	if (!g->process[m->head.target])
		r = add_process(g, m->head.target, m->pid, true);
	if (r < 0 || !parent || m->head.what != ZMEM_GROW_FORK)
		return r;
	g->process[m->head.target]->child = true;
	if (has_jit(&parent->space))
		g->process[m->head.target]->jit_parent = jit_number(g, parent);
	return address_space_inherit(&g->process[m->head.target]->space, &parent->space);
}

/* The report begins now, with a point of nothing. */
static void begin_time(struct grow *g)
{
	g->start_us = clock_us(CLOCK_MONOTONIC);
	g->start_ms = (int64_t)(clock_us(CLOCK_REALTIME) / 1000);
	memset(g->net, 0, sizeof(g->net));
	g->point[0] = (struct growth_point){.time_ms = g->start_ms};
	g->points = 1;
	g->point_us = POINT_US;
	g->next_us = g->start_us + POINT_US;
}

void grow_add_point(struct grow *g, uint64_t now)
{
	struct growth_point *p;

	/* Every second one goes when there is no room, and they come half as often. */
	if (g->points == GROWTH_POINTS) {
		for (size_t i = 1; i < GROWTH_POINTS / 2; i++)
			g->point[i] = g->point[2 * i];
		g->points = GROWTH_POINTS / 2;
		g->point_us *= 2;
	}
	p = &g->point[g->points++];
	p->time_ms = g->start_ms + (int64_t)((now - g->start_us) / 1000);
	memcpy(p->net, g->net, sizeof(p->net));
	g->next_us = now + g->point_us;
}

/* A single process begins anew: what its last program did is not what this one does. */
static void begin_anew(struct grow *g)
{
	stack_table_done(&g->stacks);
	if (g->heap)
		heap_begin_anew(g->heap);
	g->past = (struct grow_sums){};
	g->sampled_pages = 0;
	g->unstored = 0;
	memset(g->skipped, 0, sizeof(g->skipped));
	g->copied = 0;
	begin_time(g);
}

/* The last one with this number, or NULL. */
static struct grow_process *by_pid(const struct grow *g, pid_t pid)
{
	for (size_t i = g->count; i > 0; i--) {
		if (g->all[i - 1]->space.pid == pid)
			return g->all[i - 1];
	}
	return NULL;
}

static int exec_process(struct grow *g, const struct zmem_grow_process *m)
{
	struct grow_process *p = by_pid(g, m->pid);

	if (!p || m->head.target >= TARGETS)
		return begin_process(g, m);
	if (g->heap && p->heap_end)
		heap_blocks_forget(heap_blocks(g->heap), p->heap_end);
	p->heap_end = 0;
	if (g->count == 1)
		begin_anew(g);
	p->target = m->head.target;
	p->live = true;
	p->execs++;
	*p->name = '\0';
	process_close(p);
	process_open(g, p, m->pid, true);
	g->process[p->target] = p;
	return 0;
}

/* What executes a program is soon another one, or gone: it is read first. */
static void look_ahead(struct grow *g, const struct zmem_grow_process *m)
{
	const struct grow_process *p = m->head.what == ZMEM_GROW_FORK ? NULL : by_pid(g, m->pid);

	if (p)
		address_space_look_ahead(&p->space, &g->code);
	else
		code_ahead_clear(&g->code.ahead);
}

/* What waits was added before. */
static int move_pages(struct grow *g, const struct zmem_grow_head *h, size_t len)
{
	const struct zmem_grow_move *m = (const void *)h;
	const uint64_t page = (uint64_t)g->page_size;
	struct grow_process *p = process_of(g, h);
	int r = len < sizeof(*m) ? -EBADMSG : count_waiting(g);

	if (r == 0 && p)
		touched_move(&p->touched, m->from / page, m->to / page, m->len / page);
	return r < 0 ? r : 1;
}

/* Returns 1 if the message is about a process, 0, or a negative errno. */
static int receive_process(struct grow *g, const struct zmem_grow_head *h, size_t len)
{
	const struct zmem_grow_process *m = (const void *)h;
	struct grow_process *p = process_of(g, h);
	int r;

	if (h->what < ZMEM_GROW_FORK)
		return 0;
	if (h->what == ZMEM_GROW_MOVE)
		return move_pages(g, h, len);
	if (len < sizeof(*m))
		return -EBADMSG;
	look_ahead(g, m);
	/* What waits is of the address spaces before. */
	r = count_waiting(g);
	if (r < 0)
		return r;
	/* The process may be gone: then the old images stay. */
	if (h->what == ZMEM_GROW_MAP && p && p->space.pid_fd >= 0)
		update(g, p);
	else if (h->what == ZMEM_GROW_END && h->target < TARGETS)
		r = end_target(g, h->target);
	else if (h->what == ZMEM_GROW_FORK)
		r = begin_process(g, m);
	else if (h->what == ZMEM_GROW_EXEC)
		r = exec_process(g, m);
	return r < 0 ? r : 1;
}

static int receive_message(void *arg, const struct zmem_grow_head *h, size_t len)
{
	struct grow *g = arg;
	struct grow_process *p;
	uint32_t stack = 0;
	int r;

	r = receive_process(g, h, len);
	if (r != 0)
		return r < 0 ? r : 0;
	p = process_of(g, h);
	if (!p || h->member > ZMEM_GROW_BLOCK || (h->member == ZMEM_GROW_BLOCK && !g->heap))
		return 0;
	r = h->what == ZMEM_GROW_TASK ? 0 : check_mappings(g, p, h);
	if (r < 0)
		return r;
	if (h->what == ZMEM_GROW_STACK && len >= sizeof(struct zmem_grow_stack))
		return count_stack(g, p, (const void *)h);
	if (h->what == ZMEM_GROW_ADDRESSES && len >= sizeof(struct zmem_grow_addresses))
		r = find_walked(g, p, (const void *)h, &stack);
	else if (h->what == ZMEM_GROW_TASK && len >= sizeof(struct zmem_grow_task))
		r = find_task(g, (const void *)h, &stack);
	else
		return -EBADMSG;
	if (r == 0)
		count_change(g, p, stack, h);
	else if (r == -ENOSPC)
		count_unstored(g, h);
	return r == -ENOSPC ? 0 : r;
}

int grow_fd(const struct grow *g)
{
	return grow_watch_fd(g->watch);
}

/* What executes a program is gone for a moment. */
static bool is_process(const void *arg, pid_t pid)
{
	const struct grow *g = arg;
	const struct grow_process *p = by_pid(g, pid);

	return p && (p->live || clock_us(CLOCK_MONOTONIC) - g->ended_us < EXEC_US);
}

int grow_pump(struct grow *g)
{
	int n = grow_watch_read(g->watch, receive_message, g), r = count_waiting(g);
	uint64_t now = clock_us(CLOCK_MONOTONIC);

	if (g->heap && !g->stop_us)
		heap_turn(g->heap, is_process, g);

	if (now >= g->next_us && !g->stop_us)
		grow_add_point(g, now);
	return r < 0 ? r : n;
}

struct grow_so_far grow_so_far(const struct grow *g)
{
	return (struct grow_so_far){
		.time_us = clock_us(CLOCK_MONOTONIC) - g->start_us,
		.bytes = growth_sum(g->net),
		.stacks = g->stacks.stacks,
	};
}

/* ---- opening and closing ---- */

static bool needs_libdw(const struct grow_spec *spec)
{
	return spec->mode == GROWTH_DWARF || spec->lines;
}

static int load_libraries(struct grow *g, struct diag *diag)
{
	char why[256];
	int r = 0;

	if (needs_libdw(&g->spec))
		r = libdw_load(&g->dw, why, sizeof(why));
	if (r == 0 && g->spec.debuginfod)
		r = debuginfod_open(&g->code.helpers, &g->debuginfod, why, sizeof(why));
	if (r < 0)
		diag_add(diag, "growth", r, NULL, "%s", why);
	return r;
}

/* Where the kernel has page tables and pages, as the walk for PSS finds it. False: unknown. */
static bool find_layout(const struct procfs *proc, struct zmem_layout *ret)
{
	const struct source_request request = {
		.choice = SOURCE_BPF, .pin = PIN_NOT, .pss = true, .readers = 1};
	cleanup(diag_clear) struct diag unused = {};
	struct source *source;
	bool found;

	if (source_open(&request, proc, &unused, &source) < 0)
		return false;
	found = source_layout(source, ret) == 0;
	source_close(source);
	return found;
}

int grow_open(const struct grow_spec *spec, const struct procfs *proc, struct diag *diag,
	      struct grow **ret)
{
	struct grow_request request = {
		.walk = spec->mode == GROWTH_FP,
		.follow = spec->follow,
		.sample = spec->sample,
		.targets = TARGETS,
		.heap = spec->malloc ? spec->heap.sample_bytes : 0,
	};
	struct grow *g = calloc(1, sizeof(*g));
	int r;

	if (!g)
		return -ENOMEM;
	g->proc = proc;
	g->spec = *spec;
	g->page_size = sysconf(_SC_PAGESIZE);
	r = code_sources_open(&g->code, needs_libdw(spec) ? &g->dw : NULL);
	demangler_init(&g->demangler, &g->code.helpers);
	/* Libraries are loaded here: the helpers cannot. */
	demangle_load();
	if (r == 0)
		r = load_libraries(g, diag);
	if (r == 0) {
		g->copied_known = find_layout(proc, &request.at);
		r = grow_watch_open(&request, diag, &g->watch);
		/* A copied page is found at its page fault. */
		if (r == 0)
			g->copied_known &= grow_watch_addresses(g->watch);
		if (r == 0 && spec->malloc)
			r = heap_open(g->watch, &spec->heap, &g->code, &g->heap);
	}
	if (r < 0) {
		grow_close(g);
		return r;
	}
	begin_time(g);
	*ret = g;
	return 0;
}

void grow_set_hurry(struct grow *g, int fd)
{
	g->code.helpers.hurry_fd = fd;
}

bool grow_is_exact(const struct grow *g)
{
	return grow_watch_each(g->watch);
}

const struct heap *grow_heap(const struct grow *g)
{
	return g->heap;
}

void grow_diagnose(const struct grow *g, struct diag *diag)
{
	if (g->heap)
		heap_diagnose(g->heap, diag);
	if (g->heap_error)
		diag_add(diag, "malloc", -ENOMEM, NULL, "blocks were not counted: out of memory");
}

int grow_stop(struct grow *g)
{
	int r = 0, n = 1;

	if (g->heap)
		heap_stop(g->heap);
	for (size_t i = 0; i < g->count; i++) {
		if (g->all[i]->live)
			grow_watch_visit(g->watch, g->all[i]->space.pid, true);
	}
	r = grow_watch_stop(g->watch);
	g->stop_us = grow_ended(g) && g->ended_us ? g->ended_us : clock_us(CLOCK_MONOTONIC);
	if (g->heap)
		heap_detach(g->heap);
	while (r == 0 && n > 0)
		n = grow_pump(g);
	return r < 0 ? r : n;
}

void grow_close(struct grow *g)
{
	if (!g)
		return;
	heap_close(g->heap);
	grow_watch_close(g->watch);
	debuginfod_close(g->debuginfod);
	for (size_t i = 0; i < g->count; i++) {
		process_close(g->all[i]);
		free(g->all[i]);
	}
	free(g->all);
	stack_table_done(&g->stacks);
	jit_maps_done(&g->jit);
	helper_done(&g->demangler.helper);
	code_sources_close(&g->code);
	free(g);
}
