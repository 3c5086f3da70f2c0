// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "watch/waits_watch.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/thread.h"
#include "base/trim.h"
#include "load/bpf_diagnose.h"
#include "load/bpf_load.h"
#include "proc/status.h"
#include "zmem/waits.h"

#define SUBJECT "waiting for memory"

enum {
	LINK_SWAPIN, /* if there is something to probe */
	LINK_DIRECT_END,
	LINK_MEMCG_END,
	LINK_DIRECT_BEGIN,
	LINK_MEMCG_BEGIN,
	LINKS,
};

enum { MAP_WAITS, MAP_BEGUN, MAP_LOST, MAPS };

/* Links hold the programs. What libbpf keeps of an object would hold its memory back. */
struct waits_watch {
	int link_fd[LINKS];
	int map_fd[MAPS];
	uint64_t lost;
};

/* A tracepoint that the kernel does not have: nothing is reclaimed there. */
static int attach_point(struct waits_watch *w, int link, int program, const char *name)
{
	w->link_fd[link] = bpf_raw_tracepoint_open(name, program);
	return w->link_fd[link] >= 0 || errno == ENOENT ? 0 : -errno;
}

static int keep_map(const struct bpf_handle *object, enum bpf_part part, int *ret)
{
	*ret = fcntl(object->fd[part], F_DUPFD_CLOEXEC, 0);
	return *ret < 0 ? -errno : 0;
}

/* A call that begins is never without its end. */
static int attach(struct waits_watch *w, const struct bpf_handle *object)
{
	const struct {
		int link;
		enum bpf_part program;
		const char *name;
	} point[] = {
		{LINK_DIRECT_END, BPF_RECLAIM_END, "mm_vmscan_direct_reclaim_end"},
		{LINK_MEMCG_END, BPF_RECLAIM_END, "mm_vmscan_memcg_reclaim_end"},
		{LINK_DIRECT_BEGIN, BPF_RECLAIM_BEGIN, "mm_vmscan_direct_reclaim_begin"},
		{LINK_MEMCG_BEGIN, BPF_RECLAIM_BEGIN, "mm_vmscan_memcg_reclaim_begin"},
	};
	static const enum bpf_part map[MAPS] = {
		[MAP_WAITS] = BPF_WAITS, [MAP_BEGUN] = BPF_BEGUN, [MAP_LOST] = BPF_LOST};
	int swapin =
		object->fd[BPF_SWAPIN] > 0 ? object->fd[BPF_SWAPIN] : object->fd[BPF_SWAPIN_OLD];
	int r = bpf_program_run(object->fd[BPF_RUN]);

	for (int i = 0; r == 0 && i < MAPS; i++)
		r = keep_map(object, map[i], &w->map_fd[i]);
	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(point); i++)
		r = attach_point(w, point[i].link, object->fd[point[i].program], point[i].name);
	if (r == 0 && swapin > 0)
		w->link_fd[LINK_SWAPIN] = bpf_raw_tracepoint_open(NULL, swapin);
	return r;
}

/* With the function that reads from swap on this kernel, else with none. */
static int load(struct bpf_handle *ret, struct diag *diag)
{
	static const char *const without[][3] = {
		{"swap_in_old"}, {"swap_in"}, {"swap_in", "swap_in_old"}};
	int r = -ENOTSUP;

	for (size_t i = 0; r < 0 && r != -ENOMEM && i < ARRAY_SIZE(without); i++) {
		const struct bpf_sizes sizes = {.without = without[i]};

		diag_clear(diag);
		r = bpf_load_noted(SUBJECT, OBJECT_WAITS, LOADER_LIBBPF, &sizes, diag, ret);
	}
	return r;
}

static void closep(struct waits_watch **w)
{
	waits_watch_close(*w);
}

struct opening {
	struct diag *diag;
	struct waits_watch **ret;
};

static int open_watch(void *arg)
{
	struct opening *o = arg;
	cleanup(closep) struct waits_watch *w = calloc(1, sizeof(*w));
	cleanup(bpf_handle_close) struct bpf_handle object = {};
	int r;

	if (!w)
		return -ENOMEM;
	for (size_t i = 0; i < LINKS; i++)
		w->link_fd[i] = -1;
	for (size_t i = 0; i < MAPS; i++)
		w->map_fd[i] = -1;
	r = load(&object, o->diag);
	if (r < 0)
		return r;
	r = attach(w, &object);
	if (r < 0) {
		bpf_diagnose_note(o->diag, SUBJECT, "attaching to vmscan", r, NULL);
		return r;
	}
	*o->ret = w;
	w = NULL;
	return 0;
}

/* libbpf allocates the types of the kernel. */
int waits_watch_open(struct diag *diag, struct waits_watch **ret)
{
	struct opening o = {diag, ret};

	memory_trim_threads();
	return thread_call(open_watch, &o);
}

void waits_watch_close(struct waits_watch *w)
{
	if (!w)
		return;
	for (size_t i = 0; i < LINKS; i++)
		close_fd(&w->link_fd[i]);
	for (size_t i = 0; i < MAPS; i++)
		close_fd(&w->map_fd[i]);
	free(w);
}

bool waits_watch_swapins(const struct waits_watch *w)
{
	return w->link_fd[LINK_SWAPIN] >= 0;
}

/* Whether events were lost since the last call; they were if that is not known. */
static bool has_lost(struct waits_watch *w)
{
	struct zmem_waits_lost lost;
	uint32_t zero = 0;
	bool more;

	if (bpf_map_lookup_elem(w->map_fd[MAP_LOST], &zero, &lost) < 0)
		return true;
	more = lost.events != w->lost;
	w->lost = lost.events;
	return more;
}

static void set_counters(const struct waits_watch *w, struct process *p, uint64_t ns,
			 uint64_t swapins)
{
	process_set(p, COUNTER_MEM_WAIT, ns / 1000);
	if (waits_watch_swapins(w))
		process_set(p, COUNTER_SWAPINS, swapins);
}

/* The row of the process, NULL if there is none, or it is of another process with this pid. */
static struct process *row_of(const struct zmem_wait *wait, const struct snapshot *s)
{
	struct process *p = snapshot_find(s, wait->pid);

	/* A row may have its start in whole ticks. */
	return p && p->start_ns / NS_PER_TICK == wait->start_boottime_ns / NS_PER_TICK ? p : NULL;
}

/* Whether the process has ended: its pid is free, or another process has it. */
static bool has_ended(const struct zmem_wait *wait, const struct snapshot *s)
{
	const struct process *p = snapshot_find(s, wait->pid);

	return p ? p->start_ns > wait->start_boottime_ns : kill(wait->pid, 0) < 0 && errno == ESRCH;
}

static void read_waits(const struct waits_watch *w, const struct snapshot *s)
{
	const int map = w->map_fd[MAP_WAITS];
	uint32_t key, next, *before = NULL;
	struct zmem_wait wait;
	struct process *p;

	/* An entry that is deleted meanwhile may have the walk begin anew. */
	for (size_t i = 0; i < 2 * ZMEM_WAITS && bpf_map_get_next_key(map, before, &next) == 0;
	     i++) {
		if (bpf_map_lookup_elem(map, &next, &wait) == 0) {
			p = row_of(&wait, s);
			if (p)
				set_counters(w, p, wait.reclaim_ns, wait.swapins);
			else if (has_ended(&wait, s) && bpf_map_delete_elem(map, &next) == 0)
				continue;
		}
		key = next;
		before = &key;
	}
}

/* The time of a thread is in its process's when it is over: some wait for seconds. */
static void add_begun(const struct waits_watch *w, const struct snapshot *s)
{
	const int map = w->map_fd[MAP_BEGUN];
	const uint64_t now_us = clock_us(CLOCK_MONOTONIC);
	uint32_t key, next, *before = NULL;
	struct zmem_wait_begun b;
	struct zmem_wait wait;

	for (size_t i = 0; i < ZMEM_WAITS_BEGUN && bpf_map_get_next_key(map, before, &next) == 0;
	     i++) {
		struct process *p = NULL;

		if (bpf_map_lookup_elem(map, &next, &b) == 0 &&
		    bpf_map_lookup_elem(w->map_fd[MAP_WAITS], &b.tgid, &wait) == 0)
			p = row_of(&wait, s);
		if (p && b.ns / 1000 < now_us)
			p->value[COUNTER_MEM_WAIT] += now_us - b.ns / 1000;
		key = next;
		before = &key;
	}
}

void waits_watch_read(struct waits_watch *w, struct snapshot *s)
{
	const counter_mask both = COUNTER_BIT(COUNTER_MEM_WAIT) | COUNTER_BIT(COUNTER_SWAPINS);
	bool lost = has_lost(w);

	for (size_t i = 0; i < s->count; i++) {
		struct process *p = &s->process[i];

		p->have &= ~both;
		if (!lost && p->kind == PROCESS_USER)
			set_counters(w, p, 0, 0);
	}
	if (lost)
		return;
	/* A wait that ends in between is in the next snapshot; otherwise it would count twice. */
	read_waits(w, s);
	add_begun(w, s);
}
