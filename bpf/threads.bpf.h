/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Walks the threads of a process: finds one with an mm or in flux, sums their major faults and
 * their RSS deltas.
 */
#ifndef ZMEM_THREADS_BPF_H
#define ZMEM_THREADS_BPF_H

#include "zmem/record.h"
#include "member.bpf.h"
#include "user_regs.bpf.h"

/* A tick of /proc: USER_HZ is 100 on every supported architecture. */
#define NS_PER_TICK 10000000ULL

/* Small: with the frames of its callers it must fit 512 bytes. */
struct thread_walk {
	__u64 head; /* &signal->thread_head: the end of the list */
	__u64 node;
	__u64 regs;  /* offset of user registers in a stack; 0: any thread with an mm */
	__u64 sum;   /* not 0: add up, and find no thread */
	__u64 found; /* result of walk_threads */
	__u64 swapins;
	__u64 wait_ns;
};

#define SUM_FAULTS  1
#define SUM_SWAPINS 2 /* and faults */

/* Returns the task of the current node, 0 at the end, and moves on to the next. */
static __always_inline __u64 thread_next(struct thread_walk *w)
{
	__u64 node = w->node;

	if (!node || node == w->head)
		return 0;
	w->node = kread_raw(__u64, node);
	return node - koffset(struct task_struct, thread_node);
}

static __always_inline void thread_walk_start(struct thread_walk *w, __u64 task)
{
	__u64 signal = kaddr(kcast(struct task_struct, task), signal);

	w->head = signal + koffset(struct signal_struct, thread_head);
	w->node = signal ? kread64(w->head) : 0;
}

#ifdef ZMEM_OLD

/* Global: the verifier follows it once. */
#define FIND_FUNCTION __noinline

/* What to add up: rss_stat of one kind, or one of these. */
enum thread_sums {
	THREADS_TOO_MANY = ZMEM_RSS_COUNT, /* 1 if there are more than THREADS_MAX, else 0 */
	THREADS_FAULTS,
};

/* &signal->thread_head of a process: the end of the list of its threads. */
static __always_inline __u64 thread_list(__u64 leader)
{
	__u64 signal = kaddr(kcast(struct task_struct, leader), signal);

	return signal ? signal + koffset(struct signal_struct, thread_head) : 0;
}

/*
 * Global functions that take only numbers: the verifier follows each once, and each iteration of
 * a loop to its end. So the loop over threads has two levels, which follow the list one behind the
 * other. `node` is the next thread's, 0 or `head` behind the last one.
 */
__noinline __u64 skip_threads(__u64 node, __u64 head)
{
	for (__u32 i = 0; i < THREADS_TURNS && node && node != head; i++)
		node = any_number(kread64(node));
	return node;
}

/* Adds up the word at `at` behind each node, cut to its lowest bits and with their sign. */
__noinline __u64 sum_some_threads(__u64 node, __u64 head, __u64 at, __u64 shift)
{
	__u64 sum = 0;

	for (__u32 i = 0; i < THREADS_TURNS && node && node != head; i++) {
		sum = any_number(sum +
				 ((__s64)(kread64(node + at) << (shift & 63)) >> (shift & 63)));
		node = any_number(kread64(node));
	}
	return sum;
}

__noinline __u64 sum_threads(__u64 leader, __u32 what)
{
	__u64 at = 0, shift = 0, sum = 0, head = thread_list(leader), node;
	bool sums = true;

	if (what < ZMEM_RSS_COUNT &&
	    bpf_core_field_exists(struct task_struct___pre62, rss_stat.count)) {
		at = koffset(struct task_struct___pre62, rss_stat.count) + what * sizeof(__s32);
		shift = 32;
	} else if (what == THREADS_FAULTS && bpf_core_field_exists(struct task_struct, maj_flt)) {
		at = koffset(struct task_struct, maj_flt);
	} else {
		sums = false;
	}
	at = any_number(at - koffset(struct task_struct, thread_node));
	node = head ? kread64(head) : 0;
	for (__u32 i = 0; i < THREADS_TURNS; i++) {
		if (!node || node == head)
			return sum;
		if (sums)
			sum = any_number(sum + sum_some_threads(node, head, at, shift));
		node = any_number(skip_threads(node, head));
	}
	return what == THREADS_TOO_MANY ? node && node != head : sum;
}

/*
 * Adds the faults of each thread to w->found. Returns false if there are too many. What each read
 * from swap is behind a pointer, which sum_threads() does not follow.
 */
static __always_inline bool sum_faults(__u64 task, struct thread_walk *w)
{
	w->sum = SUM_FAULTS;
	w->found += sum_threads(task, THREADS_FAULTS);
	return !sum_threads(task, THREADS_TOO_MANY);
}

#else

#define FIND_FUNCTION static __always_inline

#endif

/*
 * Not known for a thread that began without delay accounting, and where the kernel has none
 * (CONFIG_TASK_DELAY_ACCT). Before Linux 5.17, which has swapin_start, the count was of waits for
 * block I/O: commit a3d5dc908a5f.
 */
static __always_inline __u64 thread_delays(__u64 task)
{
	return bpf_core_field_exists(struct task_struct, delays) &&
			       found_member(task_delay_info, swapin_start)
		       ? kread64(task + koffset(struct task_struct, delays))
		       : 0;
}

/* A kernel with swapin_start has all of these; they are near each other, so one cast reads them. */
#define delay_place(member) (member_place(task_delay_info, member) - first)

static __always_inline void add_delays(__u64 task, struct thread_walk *w)
{
	__u64 delays = thread_delays(task), first;
	const volatile void *words;

	if (!delays)
		return;
	first = member_place(task_delay_info, swapin_delay);
	words = kwords(delays + first);
	w->swapins += kword32(words, delay_place(swapin_count));
	w->wait_ns += kword(words, 0) + kword(words, delay_place(freepages_delay)) +
		      kword(words, delay_place(thrashing_delay)) +
		      kword(words, delay_place(compact_delay));
}

static long thread_step(__u32 index, struct thread_walk *w)
{
	__u64 task = thread_next(w);

	if (!task)
		return 1;
#ifndef ZMEM_OLD
	if (w->sum) {
		w->found += kread64(task + koffset(struct task_struct, maj_flt));
		if (w->sum > SUM_FAULTS)
			add_delays(task, w);
		return 0;
	}
#endif
	if (!kread64(task + koffset(struct task_struct, mm)))
		return 0;
	if (w->regs && !is_in_flux(kread64(task + koffset(struct task_struct, stack)) + w->regs))
		return 0;
	w->found = task;
	return 1;
}

#ifndef ZMEM_OLD
static __always_inline bool sum_faults(__u64 task, struct thread_walk *w)
{
	return kloop(ZMEM_FAULTS_THREADS, thread_step, w) < ZMEM_FAULTS_THREADS;
}
#endif

/*
 * Reads the major faults of threads that ended and of those that live, as do_task_stat() does
 * (fs/proc/array.c). A thread that ends adds its faults to those of the process and leaves the list
 * under stats_lock (__exit_signal(), kernel/exit.c): if the lock's sequence changed meanwhile, the
 * sum may lack them or have them twice. Returns bits of enum zmem_valid or 0.
 */
static __always_inline __u64 read_faults(__u64 task, struct thread_walk *w, struct zmem_record *r)
{
	__u64 signal = kaddr(kcast(struct task_struct, task), signal);
	__u64 lock = signal + koffset(struct signal_struct, stats_lock);
	__u32 sequence, threads;

	if (!has_member(struct signal_struct, stats_lock) ||
	    !has_member(struct signal_struct, maj_flt) || !has_member(struct task_struct, maj_flt))
		return 0;
	threads = kread32(signal + koffset(struct signal_struct, nr_threads));
	if (threads > ZMEM_FAULTS_THREADS)
		return 0;
	sequence = kread32(lock);
	read_barrier(&r->majflt);
	w->found = kread64(signal + koffset(struct signal_struct, maj_flt));
	/* Most processes have one thread: calling the loop would cost more than it reads. */
	if (threads == 1) {
		w->found += kread64(task + koffset(struct task_struct, maj_flt));
		add_delays(task, w);
	} else if (!sum_faults(task, w)) {
		return 0;
	}
	r->majflt = w->found;
	r->swapins = w->swapins;
	r->mem_wait_ns = w->wait_ns;
	read_barrier(&r->majflt);
	return sequence & 1 || kread32(lock) != sequence ? 0
	       : w->sum == SUM_SWAPINS ? ZMEM_VALID_FAULTS | ZMEM_VALID_SWAPINS | ZMEM_VALID_WAIT
				       : ZMEM_VALID_FAULTS;
}

/*
 * With r, sets r->majflt and returns ZMEM_VALID_FAULTS or 0. Without, finds a thread; see
 * find_mm_thread(). One function for both: the loader of a light skeleton has room for 32
 * functions (MAX_USED_PROGS, tools/lib/bpf/bpf_gen_internal.h).
 */
own_frame_function __u64 walk_threads(__u64 task, __u64 regs, struct zmem_record *r)
{
	struct thread_walk w = {.regs = regs};

	thread_walk_start(&w, task);
	if (r)
		w.sum = thread_delays(task) ? SUM_SWAPINS : SUM_FAULTS;
	if (r)
		return read_faults(task, &w, r);
	kloop(FIND_MAX, thread_step, &w);
	return w.found;
}

/*
 * Finds a thread with an mm: a leader that exited before its threads has none, but any of the
 * threads will do. If `regs` is not 0, finds a thread that is in flux (user_regs.bpf.h).
 */
FIND_FUNCTION __u64 find_mm_thread(__u64 leader, __u64 regs)
{
	return walk_threads(leader, regs, 0);
}

/* Finds a thread in flux. User registers are at the same offset of every stack. */
static __always_inline __u64 find_thread_in_flux(__u64 leader, __u64 regs)
{
	return find_mm_thread(leader, regs - kaddr(kcast(struct task_struct, leader), stack));
}

struct rss_pages {
	__s64 count[ZMEM_RSS_COUNT];
};

#ifdef ZMEM_PROBE_READS

#ifdef ZMEM_OLD

static __always_inline int sum_deltas(__u64 task, struct rss_pages *pages)
{
	__s64 delta[ZMEM_RSS_COUNT];
	int cut;

	for (int i = 0; i < ZMEM_RSS_COUNT; i++)
		delta[i] = sum_threads(task, i);
	cut = sum_threads(task, THREADS_TOO_MANY);
	for (int i = 0; i < ZMEM_RSS_COUNT; i++)
		pages->count[i] += delta[i];
	return cut;
}

#else

struct delta_walk {
	struct thread_walk threads;
	struct rss_pages *pages;
};

static long thread_delta_step(__u32 index, struct delta_walk *w)
{
	__u64 task = thread_next(&w->threads);
	__u64 two[ZMEM_RSS_COUNT / 2];

	if (!task)
		return 1;
	ktext(two, task + koffset(struct task_struct___pre62, rss_stat.count), ZMEM_RSS_COUNT / 2);
	for (int i = 0; i < ZMEM_RSS_COUNT; i++)
		w->pages->count[i] += (__s32)(two[i / 2] >> 32 * (i % 2));
	return 0;
}

static __always_inline int sum_deltas(__u64 task, struct rss_pages *pages)
{
	struct delta_walk w = {.pages = pages};

	thread_walk_start(&w.threads, task);
	return kloop(THREADS_MAX, thread_delta_step, &w) >= THREADS_MAX;
}

#endif

/*
 * Adds what the threads of the process hold back: until 6.1 up to 64 events each
 * (SPLIT_RSS_COUNTING, absent on UP). Returns 1 if there are too many threads.
 */
own_frame_function int add_thread_deltas(__u64 task, struct rss_pages *pages)
{
	if (!pages || !bpf_core_field_exists(struct task_struct___pre62, rss_stat.count))
		return 0;
	return sum_deltas(task, pages);
}

#else

/* Kernels with that layout lack bpf_rdonly_cast() and load the other variant. */
static __always_inline int add_thread_deltas(__u64 task, struct rss_pages *pages)
{
	return 0;
}

#endif

#endif
