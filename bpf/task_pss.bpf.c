// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * iter/task: for each process a struct zmem_pss_record: the counters of task_counters, and the
 * pages that decide its PSS.
 *
 * An object may have 32 functions, callbacks included: libbpf's loader for light skeletons has room
 * for no more (src/gen_loader.c, MAX_USED_PROGS), and the kernel then refuses it with EACCES.
 */
#include "vmlinux.h"
#include "flavors.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include "kfuncs.h"
#include "zmem/record.h"
#include "zmem/setup.h"
#include "kread.bpf.h"
#include "user_regs.bpf.h"
#include "percpu.bpf.h"
#include "scramble.bpf.h"
#include "task_read.bpf.h"
#include "page_walk.bpf.h"
#include "reader.bpf.h"
#include "calibrate.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* What the second part of a record must know of the first. */
struct visit {
	__u64 leader;
	__u64 regs;  /* of user space, from the task_struct on; 0: its threads are not looked at */
	__u64 mm_id; /* not enciphered */
	__u64 cursor;
	__u32 write_protect_seq;
	__u32 start;  /* of the process, the lower bits of ns, which are never shown */
	__u8 sharing; /* 0: no anonymous page of it can be another's, too */
	__u8 has_swap;
	__u8 has_huge;
	__u8 calibrate; /* nothing is shown but the answer to that */
};

/* 1 or 0, without a branch: each would double what the verifier has to look at behind it. */
static __always_inline __u8 is_more(__s64 count, __s64 limit)
{
	__u64 left = limit - count;

	barrier_var(left);
	return left >> 63;
}

static __noinline bool show_counters(struct seq_file *seq, struct visit *v)
{
	const struct task_struct *leader = kcast(struct task_struct, v->leader);
	struct zmem_record r = {};

	v->start = (__u32)kget(leader, start_boottime);
	if (!read_task(v->leader, &r))
		return false;
	if (r.kind != ZMEM_PROCESS) {
		bpf_seq_write(seq, &r, ZMEM_RECORD_SHORT);
		return false;
	}
	v->mm_id = r.mm_id;
	hide_addresses(&r);
	v->sharing = is_more(r.ksm_pages | r.write_protect_seq | (r.flags & ZMEM_FORKED) |
				     (~r.valid & ZMEM_VALID_SHARING),
			     0);
	v->write_protect_seq = r.write_protect_seq;
	v->has_huge = is_more(r.rss[ZMEM_RSS_ANON], PMD_PAGES_LEAST - 1);
	v->has_swap = is_more(r.rss[ZMEM_RSS_SWAP], 0);
	if (v->regs && find_thread_in_exec(v->leader, v->leader + v->regs))
		r.flags |= ZMEM_STARTING;
	r.size = sizeof(struct zmem_pss_record);
	r.valid |= ZMEM_VALID_PAGES;
	return bpf_seq_write(seq, &r, sizeof(r)) == 0;
}

/*
 * The mm is still the process's, and no more shared than it was. All threads have one self_exec_id,
 * which tells an mm from a later one at the same address.
 */
static __always_inline bool walk_holds(const struct visit *v, __u64 task_addr, __u64 mm_addr,
				       bool exclusive)
{
	const struct task_struct *task = kcast(struct task_struct, task_addr);

	return mm_identity(kaddr(task, mm), kget(task, self_exec_id)) == v->mm_id &&
	       mm_word(mm_addr, MM_PROTECTED) == v->write_protect_seq &&
	       (!exclusive || !mm_word(mm_addr, MM_MERGING));
}

/* How far `seen` may be from the counter `rss`; what is not `whole` may well be less. */
static __always_inline bool adds_up(__u64 seen, __s64 rss, __s64 room, bool whole)
{
	__s64 more = (__s64)seen - rss;

	return more <= room && (!whole || -more <= room);
}

/*
 * A walk that was overtaken may have counted pages of others, in tables that were freed and used
 * anew under it. It is known by a mark, or because what it saw is not what the counters say. User
 * space believes no such walk, and another reader is not to see it: it leaves the kernel empty.
 */
static __always_inline void forget_overtaken(struct zmem_pages *p, bool whole)
{
	__u64 all = p->rss[ZMEM_RSS_FILE] + p->rss[ZMEM_RSS_ANON] + p->rss[ZMEM_RSS_SHMEM];
	__s64 room = all < ZMEM_LARGE_PAGES ? 0 : all / ZMEM_CLOSE_PART;
	__u32 flags = p->flags;

	if (!adds_up(p->seen[ZMEM_RSS_FILE], p->rss[ZMEM_RSS_FILE], room, whole) ||
	    !adds_up(p->seen[ZMEM_RSS_SHMEM], p->rss[ZMEM_RSS_SHMEM], room, whole) ||
	    !adds_up(p->seen[ZMEM_RSS_ANON], p->rss[ZMEM_RSS_ANON], room, false))
		flags |= ZMEM_WALK_MOVED;
	if (flags & (ZMEM_WALK_UNKNOWN | ZMEM_WALK_MOVED)) {
		__builtin_memset(p, 0, sizeof(*p));
		p->flags = flags;
	}
	p->work = 0;
}

/* A global function, as walk_pages() is. w is all 0. */
__noinline int walk_task(struct visit *v, struct page_walk *w)
{
	const struct layout *at;
	__u64 task_addr;
	__u32 zero = 0, tweak;
	bool exclusive, whole;

	if (!v || !w)
		return 0;
	at = bpf_map_lookup_elem(&layout, &zero);
	if (!at)
		return 0;
	w->pages.flags = ZMEM_WALK_OFF;
	if (!at->top_shift)
		return 0;
	task_addr = v->leader;
	w->mm = kaddr(kcast(struct task_struct, task_addr), mm);
	if (!w->mm) {
		task_addr = find_mm_thread(v->leader, 0);
		if (task_addr)
			w->mm = kaddr(kcast(struct task_struct, task_addr), mm);
	}
	w->pages.flags = ZMEM_WALK_MOVED;
	if (!w->mm || mm_identity(w->mm, kget(kcast(struct task_struct, task_addr),
					      self_exec_id)) != v->mm_id)
		return 0;
	exclusive = !v->sharing;
	w->pages.flags = exclusive ? ZMEM_WALK_EXCLUSIVE : 0;
	w->at = *at;
	/*
	 * Cursors of another mm mean nothing, nor do those of a process whose mm was at the same
	 * place: who could go on there in pages of his own would see where. Ids are no cursors.
	 */
	tweak = (__u32)(w->mm >> 6) | 1;
	w->next = encode(encode(v->cursor, v->start, 0), tweak, 0) >> page_bits(w) << page_bits(w);
	w->has_swap = v->has_swap;
	w->has_huge = v->has_huge;
	walk_pages(w);
	whole = !w->pages.cursor && !v->cursor;
	w->pages.cursor = encode(encode(w->pages.cursor, tweak, 1), v->start, 1);
	read_rss(w->mm, (struct rss_pages *)w->pages.rss);
	read_barrier(&w->mm);
	if (!walk_holds(v, task_addr, w->mm, exclusive))
		w->pages.flags |= ZMEM_WALK_MOVED;
	forget_overtaken(&w->pages, whole);
	return 0;
}

static __noinline void show_pages(struct seq_file *seq, struct visit *v)
{
	struct page_walk w = {};

	if (v->calibrate) {
		calibrate(&w);
		bpf_seq_write(seq, &w.calibrated, sizeof(w.calibrated));
	} else {
		walk_task(v, &w);
		bpf_seq_write(seq, &w.pages, sizeof(w.pages));
	}
}

SEC("iter/task")
int task_pss(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct question question;
	struct seq_file *seq;
	struct visit v = {};

	if (!task)
		return 0;
	/* To the verifier the difference of two pointers is a number. */
	v.regs = (__u64)bpf_task_pt_regs(task) - (__u64)task;
	v.leader = kread_raw(__u64, &task->group_leader);
	if (v.leader != (__u64)task)
		return 0;
	question = reader_question();
	if (!is_wanted(&question, v.leader))
		return 0;
	/* Who compares asks for one process; it would be half a microsecond for each thread of all.
	 */
	if (!question.what.pid)
		v.regs = 0;
	v.cursor = question.cursor;
	v.calibrate = calibration_asked();
	/* Once: each step from the context on has the verifier search the kernel's types. */
	seq = ctx->meta->seq;
	if (v.calibrate || show_counters(seq, &v))
		show_pages(seq, &v);
	if (v.calibrate)
		calibration_answered();
	return 0;
}
