// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * iter/task: writes a struct zmem_pss_record for each process: the counters of task_counters, and
 * the pages that decide its PSS.
 *
 * An object may have 32 functions, callbacks included. libbpf's loader for light skeletons has no
 * room for more (src/gen_loader.c, MAX_USED_PROGS); with more, the kernel refuses it with EACCES.
 */
#ifdef ZMEM_PROBE_READS
#define ZMEM_MEMOS
#endif
#include "vmlinux.h"
#include "flavors.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#ifndef ZMEM_PROBE_READS
#include "kfuncs.h"
#endif
#include "zmem/record.h"
#include "zmem/setup.h"
#include "kread.bpf.h"
#include "user_regs.bpf.h"
#ifndef ZMEM_OLD
#include "percpu.bpf.h"
#endif
#include "scramble.bpf.h"
#include "task_read.bpf.h"
#include "walk_state.bpf.h"

/* What the walk of the pages needs from the counters read before it. */
struct visit {
	__u64 task; /* the leader; for the walk a thread that has the mm */
	union {
		__u64 regs;  /* before the counters: of user_regs_offset(); 0: skip threads */
		__u64 mm_id; /* for the walk; not scrambled */
	};
	__u64 cursor;
	__u32 write_protect_seq;
	__u32 start;  /* low bits of the start time in ns, which are never reported */
	__u8 sharing; /* 0: no other process can map its anonymous pages */
	__u8 has_swap;
	__u8 has_huge;
	__u8 cut;	/* threads were left out: the counters cannot confirm a walk */
	__u8 shared_mm; /* until 6.1: another process may hold back part of its counters */
	__u8 lane;	/* of memos */
};

/*
 * struct page_walk has to be the last member: with probe reads, its copies of kernel memory are at
 * the end of the map's value (walk_state.bpf.h).
 */
struct room {
	struct room_head head;
	struct visit visit;
	struct zmem_record record;
	struct page_walk walk;
};

#include "page_walk.bpf.h"
#include "reader.bpf.h"
#include "calibrate.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/*
 * Returns 1 if count > limit, else 0. It has no branch: a branch would double the verifier's work
 * for all later code.
 */
static __always_inline __u8 is_more(__s64 count, __s64 limit)
{
	__u64 left = limit - count;

	barrier_var(left);
	return left >> 63;
}

/* A counter with what the threads hold back. */
static __always_inline __s64 counted(const struct zmem_record *r, enum zmem_rss kind)
{
	return OLD_LAYOUTS ? r->rss[kind] + r->rss_delta[kind] : r->rss[kind];
}

static __always_inline bool write_counters(struct seq_file *seq, struct room *room)
{
	struct visit *v = &room->visit;
	struct zmem_record *r = &room->record;
	const struct task_struct *leader = kcast(struct task_struct, v->task);

	__builtin_memset(r, 0, sizeof(*r));
	v->start = (__u32)kget(leader, start_boottime);
	if (!read_task(v->task, r))
		return false;
	if (r->kind != ZMEM_PROCESS) {
		bpf_seq_write(seq, r, ZMEM_RECORD_SHORT);
		return false;
	}
	if (v->regs && find_thread_in_flux(v->task, v->task + v->regs))
		r->flags |= ZMEM_IN_FLUX;
	v->mm_id = r->mm_id;
	scramble_addresses(r);
	v->sharing = is_more(r->ksm_pages | r->write_protect_seq |
				     (r->flags & (ZMEM_FORKED | ZMEM_MERGEABLE)) |
				     (~r->valid & ZMEM_VALID_SHARING),
			     0);
	v->write_protect_seq = r->write_protect_seq;
	v->shared_mm = OLD_LAYOUTS && ZMEM_OTHER_USERS(r->flags);
	v->cut = OLD_LAYOUTS && (r->flags & ZMEM_CUT_THREADS);
	v->has_huge = v->shared_mm | is_more(counted(r, ZMEM_RSS_ANON), PMD_PAGES_LEAST - 1);
	v->has_swap = v->shared_mm | is_more(counted(r, ZMEM_RSS_SWAP), 0);
	r->size = sizeof(struct zmem_pss_record);
	r->valid |= ZMEM_VALID_PAGES;
	return bpf_seq_write(seq, r, sizeof(*r)) == 0;
}

/*
 * True if the mm still belongs to the process and is not shared more than before. All threads have
 * the same self_exec_id, which distinguishes an mm from a later one at the same address.
 */
static __always_inline bool is_same_mm(const struct visit *v, __u64 mm_addr)
{
	const struct task_struct *task = kcast(struct task_struct, v->task);

	return mm_identity(kaddr(task, mm), kget(task, self_exec_id)) == v->mm_id &&
	       mm_word(mm_addr, MM_PROTECTED) == v->write_protect_seq &&
	       (v->sharing || !mm_word(mm_addr, MM_MERGING));
}

/*
 * True if `seen` is close enough to the counter `rss`. If the walk is not `whole`, `seen` may be
 * less.
 */
static __always_inline bool fits_counter(__u64 seen, __s64 rss, __s64 room, bool whole)
{
	__s64 more = (__s64)seen - rss;

	return more <= room && (!whole || -more <= room);
}

/*
 * What threads of other processes with the mm may hold back: each up to 64 events
 * (TASK_RSS_EVENTS_THRESH). This is room for four threads; with more, a right walk may be lost.
 */
#define HELD_BACK_ELSEWHERE 256

/*
 * A raced walk may have counted pages of other processes, in tables that were freed and reused
 * during the walk. A flag marks such a walk, or its sums differ from the counters. User space
 * rejects it, and other readers must not see it: it leaves the kernel as zeros.
 */
static __always_inline void discard_raced_walk(struct zmem_pages *p, bool whole, bool shared_mm)
{
	__u64 all = p->rss[ZMEM_RSS_FILE] + p->rss[ZMEM_RSS_ANON] + p->rss[ZMEM_RSS_SHMEM];
	__s64 room = all < ZMEM_LARGE_PAGES ? 0 : all / ZMEM_CLOSE_PART;
	__u32 flags = p->flags;

	/* User space knows which threads hold back the rest. */
	if (OLD_LAYOUTS && shared_mm)
		room += HELD_BACK_ELSEWHERE;

	/* Anonymous pages that no other process can share need not be walked. */
	if (!fits_counter(p->seen[ZMEM_RSS_FILE], p->rss[ZMEM_RSS_FILE], room, whole) ||
	    !fits_counter(p->seen[ZMEM_RSS_SHMEM], p->rss[ZMEM_RSS_SHMEM], room, whole) ||
	    !fits_counter(p->seen[ZMEM_RSS_ANON], p->rss[ZMEM_RSS_ANON], room, false))
		flags |= ZMEM_WALK_MOVED;
	if (flags & (ZMEM_WALK_UNKNOWN | ZMEM_WALK_MOVED)) {
		__builtin_memset(p, 0, sizeof(*p));
		p->flags = flags;
	}
	/* The number of entries tells of page tables: it is for root, not for readers of a pin. */
	if ((__u32)bpf_get_current_uid_gid())
		p->work = 0;
}

/* Odd; see walk_task(). Computed anew after the walk, because the stack has no room to keep it. */
static __always_inline __u32 cursor_tweak(__u64 mm)
{
	barrier_var(mm);
	return (__u32)(mm >> 6) | 1;
}

/*
 * Walks the pages of the process. It is a global function, as walk_pages() is, except with
 * ZMEM_OLD. w must be all 0.
 */
own_frame_function int walk_task(struct visit *v, struct page_walk *w)
{
	const struct zmem_layout *at;
	__u32 zero = 0, tweak;

	if (!v || !w)
		return 0;
	at = bpf_map_lookup_elem(&layout, &zero);
	if (!at)
		return 0;
	w->pages.flags = ZMEM_WALK_OFF;
	if (!at->top_shift || v->cut)
		return 0;
	w->mm = kaddr(kcast(struct task_struct, v->task), mm);
	if (!w->mm) {
		v->task = find_mm_thread(v->task, 0);
		if (v->task)
			w->mm = kaddr(kcast(struct task_struct, v->task), mm);
	}
	w->pages.flags = ZMEM_WALK_MOVED;
	if (!w->mm ||
	    mm_identity(w->mm, kget(kcast(struct task_struct, v->task), self_exec_id)) != v->mm_id)
		return 0;
	w->pages.flags = v->sharing ? 0 : ZMEM_WALK_EXCLUSIVE;
	w->at = *at;
	/*
	 * The scrambled cursor is valid only for this mm and this process. A process with an mm at
	 * the same address that continued there in its own pages would learn the address. Tweaks
	 * are odd, and ids use tweak 0, so an id is never a valid cursor.
	 */
	tweak = cursor_tweak(w->mm);
	w->next = scramble_word(scramble_word(v->cursor, v->start, 0), tweak, 0) >>
		  page_bits(w) << page_bits(w);
	w->lane = v->lane;
	w->has_swap = v->has_swap;
	w->has_huge = v->has_huge;
	walk_pages(walk_ref_of(w));
	__builtin_memset(w->pages.rss, 0, sizeof(w->pages.rss));
	v->cursor |= w->pages.cursor; /* 0: the walk began and ended in this visit */
	tweak = cursor_tweak(w->mm);
	w->pages.cursor = scramble_word(scramble_word(w->pages.cursor, tweak, 1), v->start, 1);
	read_rss(w->mm, (struct rss_pages *)w->pages.rss);
	add_thread_deltas(v->task, (struct rss_pages *)w->pages.rss);
	read_barrier(&w->mm);
	if (!is_same_mm(v, w->mm))
		w->pages.flags |= ZMEM_WALK_MOVED;
	discard_raced_walk(&w->pages, !v->cursor, v->shared_mm);
	return 0;
}

/* Walks the pages, or calibrates, and writes the result. */
static __noinline void write_pages(struct seq_file *seq, struct room *room, bool calibrating)
{
	struct page_walk *w = walk_begin(room);

	if (!calibrating) {
		walk_task(&room->visit, w);
		bpf_seq_write(seq, &w->pages, sizeof(w->pages));
		return;
	}
	if (!OLD_LAYOUTS || reader_asks())
		calibrate(walk_ref_of(w));
	else
		w->calibrated.result = ZMEM_NO_QUESTION;
	bpf_seq_write(seq, &w->calibrated, sizeof(w->calibrated));
}

SEC("iter/task")
int task_pss(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct question question;
	struct seq_file *seq;
	struct room *room;
	__u64 leader, own, regs;
	struct zmem_calibrate *ask;
	bool calibrating;

	if (!task)
		return 0;
	own = leader = kread_raw(__u64, &task->group_leader);
	regs = user_regs_offset(task, own);
	/* Prevents the compiler from using the pointer in place of the equal number. */
	barrier_var(own);
	if (own != (__u64)task)
		return 0;
	question = reader_question();
	if (!is_wanted(question.what.bits, leader))
		return 0;
	room = room_acquire();
	if (!room)
		return ROOM_RETRY;
	__builtin_memset(&room->visit, 0, sizeof(room->visit));
	room->visit.task = leader;
	/*
	 * Only comparisons need it, and they request one process. For all processes it would cost
	 * half a microsecond a thread.
	 */
	room->visit.regs = question.what.pid ? regs : 0;
	room->visit.cursor = question.cursor;
	room->visit.lane = question.what.lane;
	/* Loaded once: for each step from the context the verifier searches the kernel types. */
	seq = ctx->meta->seq;
	ask = calibration_request();
	calibrating = ask && ask->file_addr;
	if (calibrating || write_counters(seq, room))
		write_pages(seq, room, calibrating);
	if (calibrating)
		ask->file_addr = 0;
	room_release(room);
	return 0;
}
