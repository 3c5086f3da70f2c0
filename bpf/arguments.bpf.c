// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The command lines of processes: the same bytes as /proc/PID/cmdline has (get_mm_cmdline(),
 * fs/proc/base.c), which takes the mmap_lock of the process three times. Here page tables lead from
 * mm->arg_start to physical pages, which are read through the direct map: no lock, no fault.
 *
 * arg_start and arg_end are what the process claims (prctl(PR_SET_MM_MAP) needs no right). So the
 * text is bounded, ends at arg_end, and is read only where exec puts it: behind mm->start_stack,
 * in present pages. A page may be freed while it is copied, and belong to another process: the
 * entry that maps it is read again after the copy, and in the end the mm and the count of execs.
 * What has changed, or is elsewhere, is read from /proc.
 */
#define ZMEM_PROBE_READS
#include "vmlinux.h"
#include "flavors.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include "zmem/arguments.h"
#include "pid_view.bpf.h"
#include "user_entry.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

#define BPF_F_MMAPABLE 1024
#define PF_KTHREAD     0x00200000 /* include/linux/sched.h */

/* A title is read from one buffer of a page (get_mm_proctitle()). */
#define PAGE	  4096ULL
#define TEXT	  ZMEM_ARGUMENTS_TEXT
#define READERS	  ZMEM_ARGUMENTS_READERS
#define PAGES_MAX (TEXT / PAGE + 1)

/* Arguments and environment are no longer: _STK_LIM, include/uapi/linux/resource.h. */
#define STRINGS_MOST (8ULL << 20)

#define THREADS_MOST (1 << 16)
#define NS_PER_TICK  10000000 /* of /proc: USER_HZ is 100 on every supported architecture */

#define GIB_BITS     30
#define GIB_MAX	     (1 << 16)

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct zmem_arguments);
} arguments SEC(".maps");

static __always_inline struct zmem_arguments *arguments_get(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&arguments, &zero);
}

/* Where the direct map has what the process has at an address; 0: no page of its own. */
__noinline __u64 find_page(__u64 mm, __u64 address)
{
	const struct zmem_arguments *a = arguments_get();
	__u64 phys = 0, entry;

	if (!a)
		return 0;
	entry = user_entry(&a->at, mm, address, &phys);
	if (!(entry & ENTRY_PRESENT) || entry & ENTRY_SPECIAL)
		return 0;
	return a->at.direct + phys;
}

/* ---- the direct map, for a process that has no program that walks pages ---- */

struct search {
	__u64 mm, found;
};

/* Each base is tried with each number of levels, as in calibrate.bpf.h. */
static long try_base(__u32 turn, struct search *s)
{
	struct zmem_arguments *a = arguments_get();
	__u32 level = turn % (LEVELS_MOST - LEVELS_LEAST + 1);
	__u64 page;

	if (!a)
		return 1;
	a->at.top_shift = a->at.page_bits + (LEVELS_LEAST - 1 + level) * (a->at.page_bits - 3);
	page = find_page(s->mm, a->own_addr);
	if (page && kread64(page) == a->own_content) {
		s->found = 1;
		return 1;
	}
	if (level == LEVELS_MOST - LEVELS_LEAST)
		a->at.direct += 1ULL << GIB_BITS;
	return 0;
}

/* A global function, which the verifier follows by itself. */
__noinline int find_direct_map(void)
{
	const struct task_struct *task = kcast(struct task_struct, bpf_get_current_task());
	struct zmem_arguments *a = arguments_get();
	struct search s = {};
	__u64 gib, pgd;

	if (!a)
		return 0;
	gib = (a->at.pfn_end >> ((GIB_BITS - a->at.page_bits) & 63)) + 1;
	s.mm = kaddr(task, mm);
	pgd = kaddr(kcast(struct mm_struct, s.mm), pgd);
	a->at.direct = ((pgd >> GIB_BITS) - gib) << GIB_BITS;
	if (gib < GIB_MAX)
		bpf_loop((gib + 1) * (LEVELS_MOST - LEVELS_LEAST + 1), try_base, &s, 0);
	if (!s.found)
		a->at.top_shift = 0;
	a->own_addr = 0;
	return 0;
}

/* ---- command lines ---- */

struct copy {
	__u64 mm;
	__u64 first, at, end; /* from where on, the next byte, the end */
	__u64 known, page;    /* an address, and where the direct map has it */
	__u64 number;	      /* of the reader */
	__u64 failed;
};

/* Returns 1 when there is no more to do. */
__noinline int copy_page(struct copy *c)
{
	struct zmem_arguments *a = arguments_get();
	__u64 from, len, to, number;

	if (!a || !c || c->at >= c->end)
		return 1;
	len = PAGE - (c->at & (PAGE - 1));
	to = c->at - c->first;
	number = c->number;
	if (len > c->end - c->at)
		len = c->end - c->at;
	from = (c->at ^ c->known) < PAGE ? c->page - (c->known - c->at) : find_page(c->mm, c->at);
	/* They are smaller anyway; the verifier does not know that. */
	barrier_var(to);
	barrier_var(len);
	barrier_var(number);
	to = (to & (TEXT - 1)) + (number & (READERS - 1)) * sizeof(a->text[0]);
	len &= 2 * PAGE - 1;
	c->failed = !from || bpf_probe_read_kernel((char *)a->text + to, len, (const void *)from) ||
		    find_page(c->mm, c->at) != from;
	c->at += len;
	return c->failed != 0;
}

/* The verifier follows it often, and a global function once. */
static long copy_step(__u32 turn, struct copy *c)
{
	long end = copy_page(c);

	barrier_var(end);
	return end & 1;
}

/* Returns the length of the title in the text, up to its first NUL. */
static __always_inline __u64 cut_title(char *text, __u64 len)
{
	__u64 room = len + 1; /* it copies one byte more than there may be, and ends there */
	long n;

	barrier_var(room);
	room &= 2 * PAGE - 1;
	n = bpf_probe_read_kernel_str(text + PAGE + 8, room, text);
	return n > 0 && (__u64)n < len ? (__u64)n : len;
}

/* Of the five words in a row that begin with start_stack (include/linux/mm_types.h). */
#define BOUND(words, member)                                                                       \
	kblock_word(words,                                                                         \
		    koffset(struct mm_struct, member) - koffset(struct mm_struct, start_stack))

/* Copies from `skip` on. Returns 0 if only /proc can tell. A global function, as copy_page(). */
__noinline int read_arguments(__u64 number, __u64 mm, struct zmem_arguments_record *r)
{
	struct zmem_arguments *a = arguments_get();
	__u64 room[5];
	const void *words = kblock(room, mm + koffset(struct mm_struct, start_stack), sizeof(room));
	__u64 stack = room[0], start = BOUND(words, arg_start), end = BOUND(words, arg_end);
	__u64 environment = BOUND(words, env_start), environment_end = BOUND(words, env_end);
	__u64 limit = end, page;
	struct copy c = {.mm = mm, .number = number};
	bool title;

	if (!a || !r)
		return 0;
	if (start >= end || !environment_end)
		return 1;
	if (start < stack || end - stack > STRINGS_MOST)
		return 0;
	page = find_page(mm, end - 1);
	if (!page)
		return 0;
	/* A title is longer than the arguments were, and may go on in the environment. */
	title = kread64(page & ~7ULL) >> (page & 7) * 8 & 0xff;
	if (title && environment == end && environment_end > end)
		limit = environment_end;
	if (title && limit - start > PAGE)
		limit = start + PAGE;
	r->whole = limit - start;
	if (a->skip >= r->whole)
		return 1;
	c.known = end - 1;
	c.page = page;
	c.first = c.at = start + a->skip;
	c.end = limit - c.first > TEXT ? c.first + TEXT : limit;
	bpf_loop(PAGES_MAX, copy_step, &c, 0);
	if (c.failed || c.at < c.end)
		return 0;
	r->len = c.end - c.first;
	if (title)
		r->len = r->whole = cut_title(a->text[number & (READERS - 1)], r->len);
	return 1;
}

/*
 * A thread that lives on after the first one has ended, and the end of the list of threads. What
 * threads.bpf.h has for it also adds up counters, which would double this program.
 */
struct thread_search {
	__u64 node, head, found;
};

static long find_mm_thread(__u32 turn, struct thread_search *s)
{
	__u64 task = s->node - koffset(struct task_struct, thread_node);

	if (!s->node || s->node == s->head)
		return 1;
	s->node = kread64(s->node);
	if (kaddr(kcast(struct task_struct, task), mm))
		s->found = task;
	return s->found != 0;
}

/* The leader, or another thread if the leader has ended; 0: none has memory. */
static __always_inline __u64 task_with_mm(__u64 leader)
{
	const struct task_struct *task = kcast(struct task_struct, leader);
	struct thread_search s = {};

	if (kaddr(task, mm))
		return leader;
	s.head = kaddr(task, signal) + koffset(struct signal_struct, thread_head);
	s.node = kread64(s.head);
	bpf_loop(THREADS_MOST, find_mm_thread, &s, 0);
	return s.found;
}

static __always_inline void read_process(__u64 number, __u64 leader,
					 struct zmem_arguments_record *r)
{
	const struct task_struct *task = kcast(struct task_struct, task_with_mm(leader));
	__u64 mm = task ? kaddr(task, mm) : 0;

	r->unread = 1;
	if (!mm || kget(task, flags) & PF_KTHREAD)
		return;
	r->execs = kget(task, self_exec_id);
	r->unread = !read_arguments(number, mm, r) || kaddr(task, mm) != mm ||
		    kget(task, self_exec_id) != r->execs;
	if (r->unread)
		r->len = 0;
}

/* The view of the reader, which is the same at each visit. */
static __always_inline struct pid_view view_of(struct zmem_arguments *a)
{
	struct pid_view view;

	if (!a->view_ns) {
		view = current_view();
		a->view_level = view.level;
		barrier();
		a->view_ns = view.ns;
	}
	view.level = a->view_level;
	view.ns = a->view_ns;
	return view;
}

/*
 * The number of the thread that reads, in the order of their first visits. A global function, so
 * that the verifier follows what comes after it once, not once for each number.
 */
__noinline __u64 reader_number(void)
{
	struct zmem_arguments *a = arguments_get();
	__u64 self = bpf_get_current_task();

	for (int i = 0; a && i < READERS; i++) {
		if (a->reader[i] == self || !__sync_val_compare_and_swap(&a->reader[i], 0, self))
			return i;
	}
	return READERS;
}

SEC("iter/task")
int list_arguments(struct bpf_iter__task *ctx)
{
	struct zmem_arguments *a = arguments_get();
	struct zmem_arguments_record r = {};
	/* Once: the verifier searches all types of the kernel at each read of it. */
	struct seq_file *seq = ctx->meta->seq;
	struct task_struct *task = ctx->task;
	struct pid_view view;
	__u64 leader, len, number;
	__u32 pid;

	if (!task || !a)
		return 0;
	if (a->own_addr)
		find_direct_map();
	leader = kread_raw(__u64, &task->group_leader);
	barrier_var(leader);
	if (leader != (__u64)task)
		return 0;
	number = reader_number();
	if (number >= READERS ||
	    (a->readers > 1 && (__u32)kread_raw(__u32, &task->tgid) % a->readers != number))
		return 0;
	view = view_of(a);
	r.pid = pid_number(kget(kcast(struct task_struct, leader), thread_pid), &view);
	pid = (__u32)r.pid % ZMEM_ARGUMENTS_PIDS;
	if (!r.pid || !(a->wanted[pid / 64] >> pid % 64 & 1))
		return 0;
	r.start_boottime_ns =
		kget(kcast(struct task_struct, leader), start_boottime) / NS_PER_TICK * NS_PER_TICK;
	read_process(number, leader, &r);
	bpf_seq_write(seq, &r, sizeof(r));
	/* It is at most TEXT; the verifier does not know that. */
	len = r.len;
	barrier_var(len);
	len &= 2 * TEXT - 1;
	if (len)
		bpf_seq_write(seq, a->text[number], len);
	return 0;
}
