// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Finds the highest sum of the resident memory of processes and all their descendants.
 *
 * Each change (target.bpf.h) is added to the sum, which is compared with the highest one at once:
 * no message can be lost, and no process is too short for it.
 *
 * What each target had then is known without a list: a target that changes for the first time after
 * a new highest sum stores its value from before. One that has not changed still has it.
 *
 * Memory counts until it is freed: exit_mmap() changes the counters, too, to 0. Then the target is
 * gone.
 *
 * Before Linux 6.2 a thread holds back up to 63 changes of its own, and the count alone is read.
 */
#include "vmlinux.h"
#include "flavors.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include "zmem/peak.h"

#define WATCH(name)	struct zmem_peak_##name
#define WATCH_TARGETS	ZMEM_PEAK_TARGETS
#define WATCH_PROCESS	struct zmem_peak_process
#define WATCH_PROCESSES (4 * ZMEM_PEAK_TARGETS)
#include "target.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* include/uapi/linux/bpf.h */
#define F_MMAPABLE (1 << 10)

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, ZMEM_PEAK_RING);
} ring SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct zmem_peak_state);
} state SEC(".maps");

static __always_inline struct zmem_peak_state *get_state(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&state, &zero);
}

static __always_inline void copy_comm(__u64 task, __u64 words[2])
{
	ktext(words, task + koffset(struct task_struct, comm), 2);
	text_terminate(words, 2);
}

/* ---- the sum ---- */

/* Raises *most to `value`; false if it is as high. If another CPU changes it, this tries again. */
static __always_inline bool raise(__s64 *most, __s64 value)
{
	for (int i = 0; i < 8; i++) {
		__s64 before = *(volatile __s64 *)most;

		if (value <= before)
			return false;
		if (__sync_val_compare_and_swap(most, before, value) == before)
			return true;
	}
	return false;
}

static __always_inline __s64 rss_of(const __s64 *pages)
{
	return pages[ZMEM_RSS_FILE] + pages[ZMEM_RSS_ANON] + pages[ZMEM_RSS_SHMEM];
}

static __always_inline void note_high(struct zmem_peak_state *s, __s64 rss)
{
	struct zmem_peak_high *h;
	__u64 number;

	raise(&s->recent, rss);
	if (!raise(&s->most, rss))
		return;
	number = __sync_fetch_and_add(&s->number, 1) + 1;
	h = &s->high[number & (ZMEM_PEAK_HIGHS - 1)];
	h->rss = rss;
	h->time = bpf_ktime_get_ns();
	for (int i = 0; i < ZMEM_RSS_COUNT; i++)
		h->pages[i] = s->pages[i];
	h->processes = s->processes;
	h->threads = s->threads;
	h->number = number;
}

#ifndef ZMEM_PROBE_READS
/*
 * Returns how many pages are counted twice. A CPU adds its part to the count a moment before its
 * event. In between, an event of another CPU with a part of 0 counts the change of the count, while
 * the last known part of the first CPU still has these pages. The count is read before the parts: a
 * part that is added meanwhile is missed, not counted twice. Global: verified once.
 */
__noinline long count_excess(__u32 number, __u64 mm, __u32 member)
{
	struct reading r = {
		.t = bpf_map_lookup_elem(&targets, &number),
		.s = get_settings(),
		.number = number,
		.keep = true,
	};
	__s64 count = read_count(mm, member), excess;

	if (!r.t || !r.s)
		return 0;
	bpf_loop(CPUS_MAX, read_cpu, &r, 0);
	excess = r.t->pages[bounded(member)] - count - r.sum[bounded(member)];
	return excess > 0 ? excess : 0;
}
#endif

/* `excess`: pages of `rss` that are counted twice. */
static __always_inline void note_sum(struct zmem_peak_state *s, struct zmem_peak_target *t,
				     __s64 rss, __s64 excess)
{
	raise(&t->most, rss_of(t->pages) - excess);
	note_high(s, rss - excess);
}

/*
 * Adds a change. With `look`, returns the sum if it may be the highest one: the caller notes it.
 * Global: verified once.
 */
__noinline __s64 add(__u32 number, __u32 member, __s64 pages, bool look)
{
	struct zmem_peak_target *t = bpf_map_lookup_elem(&targets, &number);
	struct zmem_peak_state *s = get_state();
	__s64 rss;
	__u64 highs;

	if (!t || !s)
		return 0;
	highs = *(volatile __u64 *)&s->number;
	if (t->number != highs) {
		for (int i = 0; i < ZMEM_RSS_COUNT; i++)
			t->at_high[i] = t->pages[i];
		t->number = highs;
	}
	__sync_fetch_and_add(&t->pages[bounded(member)], pages);
	__sync_fetch_and_add(&s->pages[bounded(member)], pages);
	__sync_fetch_and_add(&s->events, 1);
	if (member == ZMEM_RSS_SWAP)
		return 0;
	rss = __sync_fetch_and_add(&s->rss, pages) + pages;
	if (pages <= 0 || (rss <= s->most && rss <= s->recent && rss_of(t->pages) <= t->most))
		return 0;
	if (look)
		return rss;
	note_sum(s, t, rss, 0);
	return 0;
}

/* ---- messages ---- */

static __always_inline void send(struct zmem_peak_state *s, const struct zmem_peak_message *m)
{
	if (bpf_ringbuf_output(&ring, (void *)m, sizeof(*m), 0) < 0)
		__sync_fetch_and_add(&s->lost, 1);
}

/* The address space is gone: sends what it had at the highest sum, if that is not 0. */
static __always_inline void end_target(struct zmem_peak_state *s, struct zmem_peak_target *t,
				       __u64 mm)
{
	struct zmem_peak_message m = {
		.what = ZMEM_PEAK_END, .pid = t->pid, .number = t->number, .most = t->most};
	struct zmem_peak_process *p;
	__u64 any = 0;

	if (bpf_map_delete_elem(&by_mm, &mm))
		return;
	p = bpf_map_lookup_elem(&processes, &t->tgid);
	if (p && p->mm == mm && !p->shared)
		raise(&p->most, t->most);
	for (int i = 0; i < ZMEM_RSS_COUNT; i++) {
		m.pages[i] = t->at_high[i];
		any |= t->at_high[i];
	}
	m.start = t->start;
	m.comm[0] = t->comm[0];
	m.comm[1] = t->comm[1];
	if (any && t->number == s->number)
		send(s, &m);
	__sync_lock_test_and_set(&t->mm, 0);
}

/* The address space ended and did not count down to 0: an event was missed. */
static __always_inline void drop_target(struct zmem_peak_state *s, struct zmem_peak_target *t,
					__u32 number, __u64 mm)
{
	for (int i = 0; i < ZMEM_RSS_COUNT; i++)
		add(number, i, -t->pages[i], false);
	end_target(s, t, mm);
}

/* ---- an event ---- */

SEC("tp_btf/rss_stat")
int peak_rss(__u64 *ctx)
{
	__u64 mm = as_number(ctx[0]);
	__u32 member = (__u32)ctx[1], number = 0;
	struct zmem_peak_target *t = find_target(mm, &number);
	const struct zmem_peak_settings *set = get_settings();
	struct zmem_peak_state *s = get_state();
	bool ended;
	__s64 pages;
#ifndef ZMEM_PROBE_READS
	__s64 rss = 0;
	bool folded;
#endif

	if (!t || !s || !set || member >= ZMEM_RSS_COUNT)
		return 0;
	ended = users_of(mm) == 0;
	if (t->ending && !ended) {
		drop_target(s, t, number, mm);
		return 0;
	}
#ifdef ZMEM_PROBE_READS
	pages = update_count(t, mm, member);
	if (pages)
		add(number, member, pages, false);
#else
	pages = consume_change(set, t, number, mm, member, &folded);
	if (pages)
		rss = add(number, member, pages, folded && users_of(mm) > 1);
	if (rss)
		note_sum(s, t, rss, count_excess(number, mm, member));
#endif
	if (!ended)
		return 0;
	t->ending = 1;
	if (!(t->pages[0] | t->pages[1] | t->pages[2] | t->pages[3]))
		end_target(s, t, mm);
	return 0;
}

/* ---- processes ---- */

/*
 * Makes the address space of a process a target, with what it has by now. Returns its number, or
 * ZMEM_PEAK_TARGETS without room.
 */
static __noinline __u32 arm(__u64 mm, __u64 leader, __u32 tgid, __s32 pid)
{
	const struct zmem_peak_settings *set = get_settings();
	struct zmem_peak_state *s = get_state();
	struct zmem_peak_target *t;
	__u32 number = 0;
#ifndef ZMEM_PROBE_READS
	struct reading r = {.s = set};
#endif

	if (!set || !s)
		return ZMEM_PEAK_TARGETS;
	t = find_target(mm, &number);
	if (t)
		drop_target(s, t, number, mm);
	t = claim(set, mm, &number);
	if (!t) {
		__sync_fetch_and_add(&s->no_room, 1);
		return ZMEM_PEAK_TARGETS;
	}
	raise(&s->targets, number + 1);
	t->tgid = tgid;
	t->start = kget(kcast(struct task_struct, leader), start_boottime);
	t->pid = pid;
	t->ending = 0;
	t->most = 0;
	t->number = s->number;
	copy_comm(leader, t->comm);
	for (int i = 0; i < ZMEM_RSS_COUNT; i++)
		t->pages[i] = t->at_high[i] = 0;
#ifndef ZMEM_PROBE_READS
	r.t = t;
	r.number = number;
	bpf_loop(CPUS_MAX, read_cpu, &r, 0);
#endif
	for (int i = 0; i < ZMEM_RSS_COUNT; i++)
		t->last_count[i] = read_count(mm, i);
	/* From here on there are events. */
	bpf_map_update_elem(&by_mm, &mm, &number, MAP_ANY);
	for (int i = 0; i < ZMEM_RSS_COUNT; i++) {
		__s64 pages = t->last_count[i];

#ifndef ZMEM_PROBE_READS
		pages += r.sum[i];
#endif
		if (pages)
			add(number, i, pages, false);
	}
	return number;
}

/* Counts a process before its memory is added: a highest sum has the number of processes. */
static __always_inline void count_process(struct zmem_peak_state *s)
{
	__sync_fetch_and_add(&s->processes, 1);
	__sync_fetch_and_add(&s->all, 1);
}

/* Stores a process that count_process() has counted. */
static __always_inline void store_process(struct zmem_peak_state *s, __u64 leader,
					  struct zmem_peak_process *p)
{
	const struct task_struct *task = kcast(struct task_struct, leader);
	__u32 tgid = kget(task, tgid);

	p->start = kget(task, start_boottime);
	if (bpf_map_update_elem(&processes, &tgid, p, MAP_ANY)) {
		__sync_fetch_and_add(&s->no_room, 1);
		__sync_fetch_and_add(&s->processes, -1);
	}
}

/* The old address space counts until it is freed. */
SEC("tp_btf/sched_process_exec")
int peak_exec(__u64 *ctx)
{
	__u64 task = bpf_get_current_task(), leader = leader_of(task);
	struct zmem_peak_process *p = find_process(leader);
	struct zmem_peak_state *s = get_state();
	const struct zmem_peak_target *before;

	if (!p || !s)
		return 0;
	before = bpf_map_lookup_elem(&targets, &p->target);
	if (before && before->mm == p->mm && !p->shared)
		raise(&p->most, before->most);
	p->shared = 0;
	p->mm = kaddr(kcast(struct task_struct, task), mm);
	p->target = arm(p->mm, leader, kget(kcast(struct task_struct, leader), tgid), p->pid);
	return 0;
}

SEC("tp_btf/sched_process_fork")
int peak_fork(__u64 *ctx)
{
	__u64 parent = as_number(ctx[0]), child = as_number(ctx[1]);
	const struct task_struct *task = kcast(struct task_struct, child);
	const struct zmem_peak_process *p = find_process(leader_of(parent));
	struct zmem_peak_process made = {};
	struct zmem_peak_state *s = get_state();
	struct pid_view view;

	if (!p || !s)
		return 0;
	__sync_fetch_and_add(&s->threads, 1);
	if (leader_of(child) != child)
		return 0;
	count_process(s);
	view = reader_view();
	made.pid = pid_number(kget(task, thread_pid), &view);
	made.ppid = p->pid;
	made.mm = kaddr(task, mm);
	if (made.mm == p->mm) {
		/* After vfork() or clone(CLONE_VM) both have one address space: it counts once. */
		made.shared = 1;
		made.target = p->target;
	} else {
		made.target = arm(made.mm, child, kget(task, tgid), made.pid);
	}
	store_process(s, child, &made);
	return 0;
}

/* At the exit of each thread: before its memory is freed, or until Linux 6.15 after that. */
SEC("tp_btf/sched_process_exit")
int peak_exit(__u64 *ctx)
{
	__u64 task = bpf_get_current_task(), leader = leader_of(task);
	struct zmem_peak_process *found = find_process(leader), p;
	struct zmem_peak_message m = {.what = ZMEM_PEAK_EXIT};
	struct zmem_peak_state *s = get_state();
	const struct zmem_peak_target *t;
	__u32 tgid;

	if (!found || !s)
		return 0;
	__sync_fetch_and_add(&s->threads, -1);
	if (kread32(kaddr(kcast(struct task_struct, task), signal) +
		    koffset(struct signal_struct___live, live.counter)))
		return 0;
	p = *found;
	tgid = kget(kcast(struct task_struct, leader), tgid);
	/* The last two threads may both find that they are the last. */
	if (bpf_map_delete_elem(&processes, &tgid))
		return 0;
	__sync_fetch_and_add(&s->processes, -1);
	if (p.visited)
		__sync_fetch_and_add(&s->visited, -1);
	t = bpf_map_lookup_elem(&targets, &p.target);
	m.most = p.most;
	if (t && t->mm == p.mm && !p.shared && t->most > m.most)
		m.most = t->most;
	m.pid = p.pid;
	m.ppid = p.ppid;
	m.start = p.start;
	m.shared = p.shared && !m.most;
	copy_comm(leader, m.comm);
	send(s, &m);
	return 0;
}

/* Makes a running process one of those that are counted. */
SEC("iter/task")
int peak_visit(struct bpf_iter__task *ctx)
{
	struct task_struct *visited = ctx->task;
	const struct zmem_peak_settings *set = get_settings();
	struct zmem_peak_state *s = get_state();
	struct zmem_peak_visit result = {};
	struct zmem_peak_process made = {.visited = 1, .target = ZMEM_PEAK_TARGETS};
	const struct task_struct *task;
	struct pid_view *view;
	__u32 zero = 0, tgid, unused = 0;
	__u64 leader;

	view = bpf_map_lookup_elem(&stored_view, &zero);
	if (!visited || !set || !s || !view)
		return 0;
	made.mm = kread_raw(__u64, &visited->mm);
	leader = kread_raw(__u64, &visited->group_leader);
	if (!made.mm)
		return 0;
	task = kcast(struct task_struct, leader);
	*view = current_view();
	result.pid = made.pid = pid_number(kget(task, thread_pid), view);
	/* Each of its threads is visited, and a child may be known by its fork. */
	if (find_process(leader))
		return 0;
	made.ppid = pid_number(
		kget(kcast(struct task_struct, kaddr(task, real_parent)), thread_pid), view);
	tgid = kget(task, tgid);
	count_process(s);
	if (set->later) {
		made.mm = 0;
	} else if (find_target(made.mm, &unused)) {
		made.shared = 1;
		made.target = unused;
	} else {
		made.target = arm(made.mm, leader, tgid, made.pid);
	}
	store_process(s, leader, &made);
	__sync_fetch_and_add(&s->visited, 1);
	__sync_fetch_and_add(&s->threads, kread32(kaddr(task, signal) +
						  koffset(struct signal_struct, nr_threads)));
	result.target = made.target;
	bpf_seq_write(ctx->meta->seq, &result, sizeof(result));
	return 0;
}
