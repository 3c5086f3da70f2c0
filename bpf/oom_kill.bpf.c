// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * tp_btf/mark_victim: the exact counters of every process at the moment of an OOM kill.
 *
 * The kernel has chosen the victim, which still has its memory, and holds task_lock() of it, a
 * spinlock. Nothing here takes a lock. The list of processes is protected by RCU, which a program
 * on a tracepoint holds, and it is walked from the leader of the current task, which is on the list
 * while one of its threads lives.
 */
#include "vmlinux.h"
#include "flavors.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#ifndef ZMEM_PROBE_READS
#include "kfuncs.h"
#endif
#include "zmem/oom.h"
#include "zmem/setup.h"
#include "kread.bpf.h"
#ifndef ZMEM_OLD
#include "percpu.bpf.h"
#endif
#include "scramble.bpf.h"
#define ZMEM_STORED_VIEW
#include "task_read.bpf.h"
#include "limits.bpf.h"

/* A kill and a signal may be on one CPU at once. */
enum path_use {
	PATH_OF_KILL,
	PATH_OF_SIGNAL,
	PATH_USES,
};

#include "cgroup_names.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* include/uapi/linux/bpf.h */
#define RB_NO_WAKEUP	1
#define RB_FORCE_WAKEUP 2
#define RB_AVAIL_DATA	0
#define BPF_F_MMAPABLE	1024

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, ZMEM_OOM_RING);
} ring SEC(".maps");

struct oom_state {
	__u64 table_ns; /* when every process was written last */
	__u64 root;	/* the css_set of the reader's cgroup namespace, which keeps it */
	__u32 kills;
	__u32 victims_only;
	/* The call of oom_kill_process() that runs; there is one at a time, with oom_lock held. */
	__u64 caller;  /* its task; 0: none runs, or it is not known */
	__u64 control; /* its struct oom_control */
	__u32 calls;
	/* For signals: */
	__u64 used_ns[2]; /* turns: the time up to which they were used; 1: of root */
	__s64 least;	  /* pages */
	__u32 over;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct oom_state);
} state SEC(".maps");

/* Pids of large processes, written by the reader (zmem/oom.h). */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, ZMEM_OOM_LARGE_SLOTS);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, __u32);
} large SEC(".maps");

/* The turns of a walk. */
enum oom_turn {
	TURN_FIND,   /* the victim */
	TURN_CGROUP, /* writes the processes of the cgroup, and keeps large ones of others */
	TURN_LARGE,  /* writes those that were kept */
	TURN_REST,
};

struct oom_walk {
	__u64 node;   /* &task->tasks of the next leader; 0: behind the last one */
	__u64 first;  /* where the walk began */
	__u64 victim; /* its leader; of a search 0 until it is found */
	__u64 deadline;
	__u64 limit;   /* the css of the cgroup with the processes that come first; 0: none */
	__u64 css_set; /* of the process before */
	__u32 inside;  /* whether that one is in the cgroup */
	__u32 turn;    /* enum oom_turn */
	__u32 found;   /* large processes */
	__u32 at;      /* the next one of them to be written */
	/* The leaders at which two of the turns ran out of time; 0: the turn came to its end. */
	__u64 cgroup_stop, large_stop;
	__s32 pid; /* in the first namespace */
	__s32 tid; /* likewise, what the kernel named */
	__u32 kill;
	__u32 listed;
	__u32 lost;
	__u32 late; /* the time was over before the last process */
	__u32 unread;
};

/* A record is too large for the stack. The spinlock keeps the program on its CPU. */
struct oom_scratch {
	__u64 argument;
	struct oom_walk walk;
	struct zmem_oom_record record;
	long names_bytes; /* of end.names; negative: they are not known */
	struct zmem_oom_end end;
	struct zmem_oom_limits limits;
	struct zmem_oom_unread unread;
	__u64 large[ZMEM_OOM_LARGE]; /* leaders */
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct oom_scratch);
} scratch SEC(".maps");

/*
 * These two run before and after the call that kills: it knows why. They are loaded first: a kernel
 * that refuses them does so at once.
 */
SEC("fentry/oom_kill_process")
int oom_call_begin(__u64 *ctx)
{
	__u32 zero = 0;
	struct oom_state *st = bpf_map_lookup_elem(&state, &zero);

	if (!st)
		return 0;
	*(volatile __u64 *)&st->control = ctx[0];
	st->calls++;
	st->caller = (__u64)bpf_get_current_task();
	return 0;
}

SEC("fexit/oom_kill_process")
int oom_call_end(__u64 *ctx)
{
	__u32 zero = 0;
	struct oom_state *st = bpf_map_lookup_elem(&state, &zero);

	if (st)
		st->caller = 0;
	return 0;
}

/* A program that user space runs once; programs of type syscall need Linux 5.14. */
#ifdef ZMEM_OLD
#define SEC_SETUP SEC("raw_tp")
#else
#define SEC_SETUP SEC("syscall")
#endif

/* Stores the namespaces of the caller, which name pids and cgroups, and what is to be read. */
SEC_SETUP
int oom_setup(__u64 *ctx)
{
	__u32 zero = 0;
	struct pid_view *view = bpf_map_lookup_elem(&stored_view, &zero);
	struct oom_state *st = bpf_map_lookup_elem(&state, &zero);

	if (!view || !st || !zmem_kread_works())
		return 1;
	*view = current_view();
	st->root = current_root();
	st->victims_only = ctx[0] == ZMEM_OOM_VICTIMS;
	st->least = ctx[1];
	return 0;
}

/* The counters without their parts per CPU. An exited leader has no mm, but its threads do. */
static __always_inline void read_counts(__u64 leader, __s64 *ret)
{
	__u64 mm = kaddr(kcast(struct task_struct, leader), mm), thread;

	if (!mm) {
		thread = find_mm_thread(leader, 0);
		mm = thread ? kaddr(kcast(struct task_struct, thread), mm) : 0;
	}
	for (int i = 0; mm && i < ZMEM_RSS_COUNT; i++) {
		__u64 addr = mm + koffset(struct mm_struct, rss_stat) +
			     i * (__u64)bpf_core_type_size(struct percpu_counter);
		__s64 count = kget(kcast(struct percpu_counter, addr), count);

		ret[i] = count < 0 ? 0 : count;
	}
}

/*
 * Fills a record. Returns 1, or 0 if the process has nothing to report. Inlined: the
 * verifier of older kernels allows 8 frames.
 */
static __always_inline int read_process(__u64 leader, struct zmem_oom_record *r)
{
	__builtin_memset(r, 0, sizeof(*r));
	if (!read_task(leader, &r->record) || r->record.kind != ZMEM_PROCESS)
		return 0;
	scramble_addresses(&r->record);
	if (has_percpu_rss())
		read_counts(leader, r->count);
	else
		__builtin_memcpy(r->count, r->record.rss, sizeof(r->count));
	return 1;
}

/* Writes a record. Returns 1, 0 if the process has nothing to report, or -1 if the ring is full. */
__noinline int write_process(__u64 leader, __u32 what, __u32 kill)
{
	__u32 zero = 0;
	struct oom_scratch *s = bpf_map_lookup_elem(&scratch, &zero);

	if (!s || !read_process(leader, &s->record))
		return 0;
	s->record.head = (struct zmem_oom_head){what, kill};
	/* The rest of the ring is for the end of a kill: without it the kill would be lost. */
	if (what == ZMEM_OOM_PROCESS &&
	    bpf_ringbuf_query(&ring, RB_AVAIL_DATA) > ZMEM_OOM_RING - ZMEM_OOM_KEPT)
		return -1;
	return bpf_ringbuf_output(&ring, &s->record, sizeof(s->record), RB_NO_WAKEUP) ? -1 : 1;
}

/* ---- cgroups ---- */

/* Reads the path of a css_set, and that of the reader's root, behind each other. Returns the bytes
 * of the names, which are copied; negative: they do not fit. */
static __always_inline long read_paths(__u64 css_set, __u64 root, __u32 use,
				       struct zmem_oom_path *ret, struct zmem_oom_path *ret_root,
				       __u64 *names)
{
	struct path_scratch *p = bpf_map_lookup_elem(&path_scratch, &use);
	__u32 bytes;

	if (!p)
		return -1;
	p->words = 0;
	read_path(css_set, use);
	*ret = p->walk.path;
	read_path(root, use);
	*ret_root = p->walk.path;
	bytes = p->words * sizeof(*names);
	if (bytes > sizeof(p->names))
		return -1;
	bpf_probe_read_kernel(names, bytes, p->names);
	return bytes;
}

#include "signals.bpf.h"

static __always_inline __u64 leader_of_node(__u64 node)
{
	return node - koffset(struct task_struct, tasks);
}

/* Goes to the next process. Returns 1 behind the last one. */
static __always_inline long next_node(struct oom_walk *w)
{
	w->node = kread64(w->node);
	if (w->node && w->node != w->first)
		return 0;
	w->node = 0;
	return 1;
}

/*
 * Whether the kernel names this thread in place of an exited leader: the first one that has an mm
 * (find_lock_task_mm(), mm/oom_kill.c). A global function is verified once.
 */
__noinline int is_named_thread(__u64 leader, __u32 tid)
{
	__u64 thread;

	if (kaddr(kcast(struct task_struct, leader), mm))
		return 0;
	thread = find_mm_thread(leader, 0);
	return thread && (__u32)kget(kcast(struct task_struct, thread), pid) == tid;
}

/* Finds a process by the thread that the kernel named, for kernels that pass no task. */
static __always_inline long find_step(struct oom_walk *w)
{
	__u64 leader = leader_of_node(w->node);

	if (kget(kcast(struct task_struct, leader), tgid) == w->tid ||
	    is_named_thread(leader, (__u32)w->tid)) {
		w->victim = leader;
		return 1;
	}
	return next_node(w);
}

/* Whether the process is in the cgroup that reached its limit. The next process is mostly alike. */
static __always_inline bool is_inside(struct oom_walk *w, const struct task_struct *leader)
{
	__u64 css_set;

	if (!w->limit || !bpf_core_field_exists(struct task_struct, cgroups))
		return false;
	css_set = kaddr(leader, cgroups);
	if (css_set != w->css_set) {
		w->css_set = css_set;
		w->inside = css_is_below(memory_css(css_set), w->limit);
	}
	return w->inside;
}

static __always_inline bool is_large(const struct task_struct *leader)
{
	const struct pid_view view = reader_view();
	__u32 pid = pid_number(kget(leader, thread_pid), &view);
	__u32 slot = pid % ZMEM_OOM_LARGE_SLOTS;
	const __u32 *there = bpf_map_lookup_elem(&large, &slot);

	return there && pid && *there == pid;
}

static __always_inline void write_other(struct oom_walk *w, __u64 leader)
{
	int written = write_process(leader, ZMEM_OOM_PROCESS, w->kill);

	w->listed += written > 0;
	w->lost += written < 0;
}

/* Sends the list. A part of the ring is for victims and ends alone. */
static __always_inline void send_unread(struct oom_scratch *s)
{
	if (s->unread.count &&
	    bpf_ringbuf_query(&ring, RB_AVAIL_DATA) <= ZMEM_OOM_RING - ZMEM_OOM_KEPT)
		bpf_ringbuf_output(&ring, &s->unread, sizeof(s->unread), RB_NO_WAKEUP);
	s->unread.count = 0;
}

/* There is no time to read the process: its pid is enough to find it in the last snapshot. */
__noinline int list_unread(__u64 leader)
{
	const struct task_struct *task = kcast(struct task_struct, leader);
	const struct pid_view view = reader_view();
	__u32 zero = 0, at;
	struct oom_scratch *s = bpf_map_lookup_elem(&scratch, &zero);

	/* Kernel threads and zombies have no mm. */
	if (!s || !kaddr(task, mm))
		return 0;
	s->walk.unread++;
	at = s->unread.count;
	if (at >= ZMEM_OOM_LIST)
		return 0;
	s->unread.process[at].pid = pid_number(kget(task, thread_pid), &view);
	s->unread.process[at].start_boottime_ns =
		kget(task, start_boottime) / NS_PER_TICK * NS_PER_TICK;
	s->unread.head = (struct zmem_oom_head){ZMEM_OOM_UNREAD, s->walk.kill};
	s->unread.count = at + 1;
	if (at + 1 == ZMEM_OOM_LIST)
		send_unread(s);
	return 0;
}

/*
 * Writes a process of the cgroup. A large one of another cgroup is kept for later. Those have half
 * of the time, because a look at 5,000 processes may take all of it.
 */
static __always_inline long cgroup_step(struct oom_scratch *s)
{
	struct oom_walk *w = &s->walk;
	__u64 leader = leader_of_node(w->node);
	const struct task_struct *task = kcast(struct task_struct, leader);

	if (bpf_ktime_get_ns() > w->deadline - (w->found ? ZMEM_OOM_BUDGET_NS / 2 : 0)) {
		w->cgroup_stop = leader;
		return 1;
	}
	if (leader == w->victim)
		return next_node(w);
	if (is_inside(w, task)) {
		write_other(w, leader);
	} else if (w->found < ZMEM_OOM_LARGE && is_large(task)) {
		s->large[w->found & (ZMEM_OOM_LARGE - 1)] = leader;
		w->found++;
	}
	return next_node(w);
}

static __always_inline long large_step(struct oom_scratch *s)
{
	struct oom_walk *w = &s->walk;
	__u64 leader;

	if (w->at >= w->found)
		return 1;
	leader = s->large[w->at & (ZMEM_OOM_LARGE - 1)];
	if (bpf_ktime_get_ns() > w->deadline) {
		w->large_stop = leader;
		return 1;
	}
	write_other(w, leader);
	w->at++;
	return 0;
}

/* Whether the process was written in an earlier turn. */
static __always_inline bool is_written(struct oom_walk *w, __u64 leader)
{
	const struct task_struct *task = kcast(struct task_struct, leader);

	/* A turn that ran out of time wrote no process from this leader on. */
	if (leader == w->cgroup_stop)
		w->limit = w->found = 0;
	if (leader == w->large_stop)
		w->found = 0;
	return leader == w->victim || is_inside(w, task) || (w->found && is_large(task));
}

static __always_inline long rest_step(struct oom_walk *w)
{
	__u64 leader = leader_of_node(w->node), now = bpf_ktime_get_ns();

	if (now > w->deadline + ZMEM_OOM_COUNT_NS)
		return 1;
	/* After the deadline processes are only listed. */
	w->late |= now > w->deadline;
	if (!is_written(w, leader)) {
		if (w->late)
			list_unread(leader);
		else
			write_other(w, leader);
	}
	return next_node(w);
}

static __always_inline void begin_turn(struct oom_walk *w, enum oom_turn turn)
{
	w->turn = turn;
	w->node = w->first;
}

/* Looks at one process of a walk. Returns 1 at its end. */
static __always_inline long step(void)
{
	__u32 zero = 0;
	struct oom_scratch *s = bpf_map_lookup_elem(&scratch, &zero);

	if (!s || !s->walk.node)
		return 1;
	switch (s->walk.turn) {
	case TURN_FIND:
		return find_step(&s->walk);
	case TURN_CGROUP:
		if (cgroup_step(s))
			begin_turn(&s->walk, TURN_LARGE);
		return 0;
	case TURN_LARGE:
		if (large_step(s))
			begin_turn(&s->walk, TURN_REST);
		return 0;
	default:
		return rest_step(&s->walk);
	}
}

#ifdef ZMEM_OLD
/* Without bpf_loop(): two loops of bounds. Each global function is verified once. */
#define TURNS_INNER 16
#define TURNS_OUTER 1024

__noinline int some_steps(void)
{
	for (__u32 i = 0; i < TURNS_INNER; i++) {
		if (step())
			return 1;
	}
	return 0;
}

static __always_inline void walk(void)
{
	for (__u32 i = 0; i < TURNS_OUTER; i++) {
		if (some_steps())
			return;
	}
}
#else
#define PROCESSES_MAX (1 << 22) /* PID_MAX_LIMIT */

static long one_step(__u32 index, void *none)
{
	return step();
}

static __always_inline void walk(void)
{
	bpf_loop(PROCESSES_MAX, one_step, NULL, 0);
}
#endif

/* ---- limits ---- */

/* PAGE_COUNTER_MAX (include/linux/page_counter.h), in pages of 4 KiB or more: no limit. */
#define UNLIMITED (1ULL << 50)
/* CPUs hold charged pages back: up to 64 each (MEMCG_CHARGE_BATCH). Room for 16 CPUs. */
#define NEARLY 1024

/* Notes the level of the limit that the kernel names; else the lowest one that has no room. */
static __always_inline void note_level(struct oom_scratch *s, __u32 i, __u64 css, __u64 named)
{
	const struct zmem_oom_level *level = &s->limits.level[i];

	if (named ? css == named
		  : !s->walk.limit && level->max < UNLIMITED &&
			    level->usage + NEARLY >= level->max) {
		s->walk.limit = css;
		if (named)
			s->limits.at = i;
	}
}

/* Reads the levels from the victim's memory cgroup up. Verified once. */
__noinline int read_levels(__u64 css, __u64 named, __u32 v2)
{
	__u32 zero = 0;
	struct oom_scratch *s = bpf_map_lookup_elem(&scratch, &zero);

	if (!s)
		return 0;
	for (__u32 i = 0; i <= ZMEM_OOM_LEVELS && css; i++) {
		read_level(css, v2, &s->limits.level[i]);
		note_level(s, i, css, named);
		s->limits.count = i + 1;
		/* Up to the named one: mem_cgroup_get_oom_group() (mm/memcontrol.c). */
		s->limits.group |= kills_group(css) & (s->limits.at >= i);
		css = parent_css(css);
	}
	return 0;
}

/* Reads why the kernel kills, if the call is known. Returns the css of the cgroup that it names. */
static __always_inline __u64 read_control(struct oom_scratch *s, const struct oom_state *st)
{
	const struct oom_control *control = kcast(struct oom_control, st->control);
	__u64 memcg;

	s->limits.at = ZMEM_OOM_NOWHERE;
	if (!bpf_core_field_exists(struct oom_control, constraint) || !st->caller ||
	    st->caller != (__u64)bpf_get_current_task())
		return 0;
	s->limits.call = st->calls;
	s->limits.constraint = kget(control, constraint);
	s->limits.order = kget(control, order);
	/* Without CONFIG_MEMCG there is the pointer alone. */
	if (!bpf_core_field_exists(struct mem_cgroup___limits, css))
		return 0;
	memcg = kaddr(control, memcg);
	return memcg ? memcg + koffset(struct mem_cgroup___limits, css) : 0;
}

/* Writes the limits of the victim's cgroups. Processes of the full one are then read first. */
static __always_inline void write_limits(struct oom_scratch *s, const struct oom_state *st,
					 __u64 css_set)
{
	__u64 named, css, cgroup, leaf;
	__u32 size;

	__builtin_memset(&s->limits, 0, __builtin_offsetof(struct zmem_oom_limits, level));
	s->limits.head = (struct zmem_oom_head){ZMEM_OOM_LIMITS, s->walk.kill};
	named = read_control(s, st);
	if (css_set && bpf_core_field_exists(struct mem_cgroup___limits, memory) &&
	    bpf_core_enum_value_exists(enum cgroup_subsys_id, memory_cgrp_id)) {
		css = memory_css(css_set);
		cgroup = kaddr(kcast(struct cgroup_subsys_state, css), cgroup);
		leaf = kaddr(kcast(struct css_set, css_set), dfl_cgrp);
		s->limits.v2 = kaddr(kcast(struct cgroup, cgroup), root) ==
			       kaddr(kcast(struct cgroup, leaf), root);
		read_levels(css, named, s->limits.v2);
	}
	/* The kernel may name a cgroup that the victim is not in: a race with a move. */
	if (s->limits.call)
		s->walk.limit = named;
	size = s->limits.count;
	if (size > ZMEM_OOM_LEVELS + 1)
		return;
	size = __builtin_offsetof(struct zmem_oom_limits, level) +
	       size * sizeof(struct zmem_oom_level);
	bpf_ringbuf_output(&ring, &s->limits, size, RB_NO_WAKEUP);
}

/* ---- a kill ---- */

/* Global: the main program goes on with one state. */
__noinline int read_paths_of_kill(__u64 css_set, __u64 root)
{
	__u32 zero = 0;
	struct oom_scratch *s = bpf_map_lookup_elem(&scratch, &zero);

	if (s)
		s->names_bytes = read_paths(css_set, root, PATH_OF_KILL, &s->end.victim,
					    &s->end.root, s->end.names);
	return 0;
}

/* Reads the cgroup of a thread that has the mm: an exited leader may be left behind in another. */
static __always_inline void read_cgroups(struct oom_scratch *s, __u64 victim,
					 const struct oom_state *st)
{
	__u64 task = victim, css_set;

	if (!bpf_core_field_exists(struct task_struct, cgroups))
		return;
	if (!kaddr(kcast(struct task_struct, victim), mm))
		task = find_mm_thread(victim, 0);
	css_set = task ? kaddr(kcast(struct task_struct, task), cgroups) : 0;
	read_paths_of_kill(css_set, st->root);
	write_limits(s, st, css_set);
}

/* Writes what is known at the end; the reader wakes up. */
static __always_inline void write_end(struct oom_scratch *s, __u64 began, bool table)
{
	const struct oom_walk *w = &s->walk;
	struct zmem_oom_end *end = &s->end;
	__u64 size = s->names_bytes;

	end->head = (struct zmem_oom_head){ZMEM_OOM_END, w->kill};
	end->boottime_ns = bpf_ktime_get_boot_ns();
	end->pid = w->pid;
	end->tid = w->tid;
	end->table = table;
	end->listed = w->listed;
	end->lost = w->lost;
	end->late = table && (w->late || w->node);
	end->unread = w->unread;
	end->counted = !w->node;
	end->took_ns = bpf_ktime_get_ns() - began;
	if (size > sizeof(end->names))
		return;
	size += __builtin_offsetof(struct zmem_oom_end, names);
	bpf_ringbuf_output(&ring, end, size, RB_FORCE_WAKEUP);
}

/*
 * The argument is the task, or its pid before 6.8 and in some stable kernels. It is any thread: the
 * current one, if that is ending or vm.oom_kill_allocating_task is set, or one of an exited leader.
 */
static __always_inline void find_victim(__u64 argument, struct oom_walk *w)
{
	const struct task_struct *current =
		kcast(struct task_struct, (__u64)bpf_get_current_task());

	if ((__s64)argument < 0) {
		const struct task_struct *task = kcast(struct task_struct, argument);

		w->victim = kaddr(task, group_leader);
		w->tid = kget(task, pid);
	} else {
		w->tid = (__s32)argument;
		if (kget(current, pid) == w->tid)
			w->victim = kaddr(current, group_leader);
		else
			walk();
		w->node = w->first;
	}
	w->pid = w->tid;
	/* Without this, the compiler may load both at once, which the verifier refuses. */
	barrier();
	if (w->victim)
		w->pid = kget(kcast(struct task_struct, w->victim), tgid);
}

SEC("tp_btf/mark_victim")
int oom_kill(__u64 *ctx)
{
	__u64 began = bpf_ktime_get_ns(), leader;
	__u32 zero = 0;
	struct oom_scratch *s = bpf_map_lookup_elem(&scratch, &zero);
	struct oom_state *st = bpf_map_lookup_elem(&state, &zero);
	struct oom_walk *w;
	bool table;

	if (!s || !st)
		return 0;
	w = &s->walk;
	*w = (struct oom_walk){};
	/* Storing and reloading turns a pointer that the verifier tracks into a number. */
	*(volatile __u64 *)&s->argument = ctx[0];
	leader = kaddr(kcast(struct task_struct, bpf_get_current_task()), group_leader);
	w->first = w->node = leader + koffset(struct task_struct, tasks);
	/* oom_lock is held: there is one kill at a time. */
	w->kill = ++st->kills;
	find_victim(*(volatile __u64 *)&s->argument, w);
	s->names_bytes = 0;
	s->end.victim = s->end.root = (struct zmem_oom_path){};
	if (w->victim) {
		int written = write_process(w->victim, ZMEM_OOM_VICTIM, w->kill);

		w->listed += written > 0;
		w->lost += written < 0;
		read_cgroups(s, w->victim, st);
	}
	/* The kill of a whole cgroup is one episode. */
	table = !st->victims_only && (!st->table_ns || began - st->table_ns > ZMEM_OOM_EPISODE_NS);
	if (table) {
		st->table_ns = began;
		w->deadline = began + ZMEM_OOM_BUDGET_NS;
		s->unread.count = 0;
		begin_turn(w, TURN_CGROUP);
		walk();
		send_unread(s);
	}
	write_end(s, began, table);
	return 0;
}
