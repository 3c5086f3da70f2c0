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
#include "percpu.bpf.h"
#include "task_read.bpf.h"
#include "page_walk.bpf.h"
#include "calibrate.bpf.h"
#include "reader.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* What the second part of a record must know of the first. */
struct visit {
	__u64 leader;
	__u64 mm_id;
	__u64 cursor;
	__u32 write_protect_seq;
	bool exclusive;
	bool has_swap;
	bool has_huge;
};

static __noinline bool show_counters(struct bpf_iter__task *ctx, struct visit *v)
{
	struct zmem_record r = {};

	if (!read_task(v->leader, &r))
		return false;
	if (r.kind != ZMEM_PROCESS) {
		bpf_seq_write(ctx->meta->seq, &r, ZMEM_RECORD_SHORT);
		return false;
	}
	v->mm_id = r.mm_id;
	v->write_protect_seq = r.write_protect_seq;
	v->exclusive = !(r.flags & ZMEM_FORKED) && (r.valid & ZMEM_VALID_SHARING) &&
		       !r.write_protect_seq && !r.ksm_pages;
	v->has_swap = r.rss[ZMEM_RSS_SWAP];
	v->has_huge = r.rss[ZMEM_RSS_ANON] >= PMD_PAGES;
	r.size = sizeof(struct zmem_pss_record);
	r.valid |= ZMEM_VALID_PAGES;
	return bpf_seq_write(ctx->meta->seq, &r, sizeof(r)) == 0;
}

/* The mm is still the process's, and no more shared than it was. */
static __always_inline bool walk_holds(const struct visit *v, __u64 task_addr, __u64 mm_addr)
{
	const struct task_struct *task = kcast(struct task_struct, task_addr);
	const struct mm_struct *mm = kcast(struct mm_struct, mm_addr);

	return kaddr(task, mm) == mm_addr &&
	       kget(mm, write_protect_seq.sequence) == v->write_protect_seq &&
	       (!v->exclusive || !kget(mm, ksm_merging_pages));
}

static __noinline void show_pages(struct bpf_iter__task *ctx, struct visit *v)
{
	const struct task_struct *leader = kcast(struct task_struct, v->leader);
	struct page_walk w = {.mm = kaddr(leader, mm), .next = v->cursor};
	__u64 task_addr = v->leader;
	const struct scramble *key;
	const struct layout *at;
	__u32 zero = 0;

	at = bpf_map_lookup_elem(&layout, &zero);
	key = bpf_map_lookup_elem(&scramble, &zero);
	if (!at || !key)
		return;
	if (!w.mm) {
		task_addr = find_mm_thread(v->leader);
		if (task_addr)
			w.mm = kaddr(kcast(struct task_struct, task_addr), mm);
	}
	if (!at->top_shift) {
		w.pages.flags = ZMEM_WALK_OFF;
	} else if (!w.mm || scrambled(key, w.mm) != v->mm_id) {
		w.pages.flags = ZMEM_WALK_MOVED;
	} else {
		w.at = *at;
		w.pages.flags = v->exclusive ? ZMEM_WALK_EXCLUSIVE : 0;
		w.has_swap = v->has_swap;
		w.has_huge = v->has_huge;
		walk_pages(&w);
		read_rss(w.mm, (struct rss_pages *)w.pages.rss);
		barrier();
		if (!walk_holds(v, task_addr, w.mm))
			w.pages.flags |= ZMEM_WALK_MOVED;
	}
	bpf_seq_write(ctx->meta->seq, &w.pages, sizeof(w.pages));
}

SEC("iter/task")
int task_pss(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct visit v = {};

	if (!task)
		return 0;
	v.leader = kread_raw(__u64, &task->group_leader);
	if (v.leader != (__u64)task)
		return 0;
	if (!reader_wants(v.leader, &v.cursor))
		return 0;
	if (show_counters(ctx, &v))
		show_pages(ctx, &v);
	return 0;
}
