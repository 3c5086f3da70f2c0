// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What becomes free when a group of processes ends: anonymous pages with all their mappings in the
 * group, and swap slots with all their entries there. Of files of shared memory it meets the
 * mappings; bpf/held.bpf.c has what else holds them.
 *
 * The kernel counts the mappings of each page and the entries of each slot. The programs count
 * those that they meet in the group: if both are equal, nothing else holds the page or the slot. So
 * nothing need be known of other holders, such as processes in other pid namespaces.
 *
 * A large folio becomes free as a whole, with its last mapping: also pages of it that no process
 * maps any more (deferred_split_folio(), mm/huge_memory.c), and none while a process outside maps
 * another of its pages. So its mappings are counted together.
 *
 * A small page that is mapped once is not looked up: the counter of the process has it. What need
 * not be walked for PSS need not be walked here either (bpf/vma.bpf.h), unless the machine has
 * large folios that are mapped in part, and pages of files are not walked at all.
 */
#define ZMEM_FREED
/* See swap.bpf.c. */
#define RAW_TYPE   posix_cputimer_base
#define RAW_MEMBER nextevt
#include "vmlinux.h"
#include "flavors.h"
#include "inodes.h"
#include "swap.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include "kfuncs.h"
#include "zmem/freed.h"
#include "zmem/record.h"
#include "kread.bpf.h"
#include "user_regs.bpf.h"
#include "percpu.bpf.h"
#include "mm.bpf.h"
#include "pid_view.bpf.h"
#include "walk_state.bpf.h"
#include "slots.bpf.h"
#include "held_file.bpf.h"
#include "folio.bpf.h"
#include "swap_cache.bpf.h"

#define WANT struct zmem_freed_want
#include "visit.bpf.h"

#define MAPPING_KSM 2 /* in folio->mapping (PAGE_MAPPING_KSM) */
/* include/linux/sched.h */
#define PF_FORKNOEXEC 0x00000040
#define PF_KTHREAD    0x00200000
/* The cost of a look-up, in table entries. */
#define MEET_WORK 8

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct zmem_freed);
} freed SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 65536); /* the loader sets it */
	__type(key, __u64);
	__type(value, struct zmem_freed_page);
} pages SEC(".maps");

static __always_inline struct zmem_freed *freed_get(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&freed, &zero);
}

/* ---- pages ---- */

/*
 * A page of the swap cache is counted together with its slot, and a large folio with its slots
 * (swap_cache.bpf.h).
 */

/* No address of a page, which begins with 0xff. */
#define SLOT_KEY(type, slot) ((type) << 50 | (slot))

/*
 * Counts references of a page, a large folio or a swap slot, and what slots take in RAM. If the
 * last one of `all` is among them, and the group has met them all, returns the sum of `ram` plus 1;
 * else 0.
 */
__noinline __u64 meet(__u64 key, __u32 group, __u32 all, __u32 maps, __u64 ram)
{
	struct zmem_freed *s = freed_get();
	struct zmem_freed_page *met, new = {.group = group, .maps = maps, .ram = ram};

	if (!s)
		return 0;
	met = bpf_map_lookup_elem(&pages, &key);
	if (!met) {
		if (bpf_map_update_elem(&pages, &key, &new, 0))
			s->full = 1;
		return 0;
	}
	if (met->group < s->first && met->group != ZMEM_FREED_MIXED) {
		met->group = group;
		met->maps = 0;
		met->ram = 0;
	}
	if (met->group != group) {
		met->group = ZMEM_FREED_MIXED;
		return 0;
	}
	met->maps += maps;
	met->ram += ram;
	return met->maps == all ? met->ram + 1 : 0;
}

/* Looks up the page of one mapping. */
static __always_inline void look_up_page(struct page_walk *w, __u64 page, __u32 maps)
{
	w->shared++;
	/* Within one address space only KSM maps a small anonymous page twice. */
	if (w->alone && !(kread64(page + FOLIO_MAPPING) & MAPPING_KSM))
		return;
	w->pages.work += MEET_WORK;
	w->complete += meet(page, w->group, maps, 1, 0) != 0;
}

/* What holds a large folio of `pages`: its mappings, and the entries of its swap slots. */
static __always_inline __u32 folio_references(struct page_walk *w, __u64 head, __u64 pages)
{
	__u32 all = folio_mappings(head, pages);

	if (w->every & ZMEM_FREED_CACHED && is_cached(head)) {
		if (!device_of(CACHED_TYPE(cached_as(head)), CACHED_SLOT(cached_as(head))))
			w->pages.flags |= ZMEM_WALK_UNKNOWN;
		all += folio_entries(head, pages);
	}
	return all;
}

/* The key of a large folio. The last bit: it may have been a small page before. */
#define FOLIO_KEY(head) ((head) | 1)

/* Ends a run of mappings of one large folio, and looks it up if it has other references. */
static __always_inline void end_folio(struct page_walk *w)
{
	__u64 folio = w->folio, pages, met;
	__u32 maps = w->folio_maps, all, order;

	w->folio = 0;
	if (!folio)
		return;
	w->shared += w->folio_pages;
	order = compound_order(folio);
	/* No anonymous folio is larger than a huge page: the order is torn. */
	if (order > table_bits(w)) {
		w->pages.flags |= ZMEM_WALK_MOVED;
		return;
	}
	pages = 1ULL << (order & 31);
	all = folio_references(w, folio, pages);
	w->pages.work += MEET_WORK;
	met = maps == all ? 1 : meet(FOLIO_KEY(folio), w->group, all, maps, 0);
	if (met) {
		w->complete += pages;
		w->slots_complete += met - 1;
	}
}

/*
 * Counts one mapping of an anonymous page: of a large folio if it has `maps` 0, else of a small one
 * with so many. Of a folio it is `count` pages, mapped as one.
 */
__noinline int look_up(walk_ref walk, __u64 page, __u32 maps, __u64 count)
{
	struct page_walk *w = walk_get(walk);
	__u64 head;

	if (!w)
		return 0;
	if (maps) {
		look_up_page(w, page, maps);
		return 0;
	}
	/* The huge page is mapped as one, but is looked at page by page. */
	if (w->huge) {
		if (w->addr & ((1ULL << pmd_bits(w)) - 1))
			return 0;
		count = pmd_pages(w);
	}
	head = page ? page_head(page) : 0;
	if (head != w->folio) {
		end_folio(w);
		w->folio = head;
		w->folio_maps = w->folio_pages = 0;
	}
	w->folio_maps++;
	w->folio_pages += count;
	return 0;
}

/* ---- swap entries, and pages of the swap cache ---- */

/* Looks up a swap entry if its slot has a large folio in the swap cache. */
static __always_inline void meet_folio(struct page_walk *w, __u64 head, __u64 ram)
{
	__u32 order = compound_order(head);
	__u64 pages, met;

	if (order > table_bits(w)) {
		w->pages.flags |= ZMEM_WALK_MOVED;
		return;
	}
	pages = 1ULL << (order & 31);
	/* Neighbours have the same. */
	if (head != w->slot_folio) {
		w->slot_folio = head;
		w->slot_all = folio_references(w, head, pages);
		w->pages.work += pages / 4;
	}
	w->slots += ram;
	met = meet(FOLIO_KEY(head), w->group, w->slot_all, 1, ram);
	if (met) {
		w->complete += pages;
		w->slots_complete += met - 1;
	}
}

/* Looks up one swap entry. User space has copied what is known of the devices. */
static __always_inline void meet_slot(struct page_walk *w, __u64 entry)
{
	__u64 type = SWAP_TYPE(entry), slot = SWAP_OFFSET(entry), ram, page = 0, met;
	struct zmem_swap *s = swap_get();
	__u32 all;

	if (!s)
		return;
	w->pages.work += SWAP_SLOT_WORK;
	__builtin_memset(&s->record.sum, 0, sizeof(s->record.sum));
	all = count_slot(type, slot, 0);
	if (!all)
		return;
	ram = s->record.sum.zram + s->record.sum.zswap;
	if (w->every & ZMEM_FREED_CACHED)
		page = cached_folio(type, slot, w->at.vmemmap);
	if (page == NOT_FOUND) {
		w->pages.flags |= ZMEM_WALK_UNKNOWN;
		return;
	}
	if (page && is_large(page)) {
		meet_folio(w, page, ram);
		return;
	}
	if (page)
		all += kread_raw(__u32, page + PAGE_MAPCOUNT) + 1;
	if (all == 1) {
		w->complete += page != 0;
		return;
	}
	w->slots += ram;
	/* Within one address space no two entries have the same slot. */
	if (w->alone)
		return;
	met = meet(SLOT_KEY(type, slot), w->group, all, 1, ram);
	if (met) {
		w->slots_complete += met - 1;
		w->complete += page != 0;
	}
}

/* Looks up a mapping of a small page if its slot has entries. Returns 0 if the slot has none. */
__noinline int meet_cached(walk_ref walk, __u64 page, __u32 maps)
{
	__u64 val = cached_as(page), met;
	struct page_walk *w = walk_get(walk);
	__u32 entries;

	if (!w)
		return 0;
	if (!device_of(CACHED_TYPE(val), CACHED_SLOT(val)))
		w->pages.flags |= ZMEM_WALK_UNKNOWN;
	entries = count_slot(CACHED_TYPE(val), CACHED_SLOT(val), 0);
	if (!entries)
		return 0;
	w->pages.work += MEET_WORK;
	w->shared++;
	met = meet(SLOT_KEY(CACHED_TYPE(val), CACHED_SLOT(val)), w->group, entries + maps, 1, 0);
	if (met) {
		w->complete++;
		w->slots_complete += met - 1;
	}
	return 1;
}

static __always_inline void meet_page(walk_ref walk, __u64 page, __u64 key, __u64 count)
{
	struct page_walk *w = walk_get(walk);

	if (!w || KEY_KIND(key) != ZMEM_RSS_ANON)
		return;
	if (is_large(page)) {
		look_up(walk, page, 0, count);
		return;
	}
	if (w->every & ZMEM_FREED_CACHED && is_cached(page) &&
	    meet_cached(walk, page, KEY_MAPS(key)))
		return;
	if (KEY_MAPS(key) > 1)
		look_up(walk, page, KEY_MAPS(key), 1);
}

/* ---- files ---- */

/* Groups of files are numbered from 1 on. bpf/held.bpf.c meets the other holders. */
static __always_inline void meet_vma(struct page_walk *w, __u64 vma)
{
	__u64 file = kread64(vma + koffset(struct vm_area_struct, vm_file));
	struct zmem_freed *s = freed_get();

	if (file && s && meet_file(file, w->group - s->first + 1, BY_MAPPING))
		s->full = 1;
}

/* ---- processes ---- */

/* A global function, for its own stack frame. */
__noinline __s64 anon_pages(__u64 mm)
{
	struct rss_pages rss = {};

	read_rss(mm, &rss);
	return rss.count[ZMEM_RSS_ANON];
}

/* Whether other processes may map its anonymous pages; as in task_pss. */
static __always_inline bool may_share(__u64 task, __u64 mm)
{
	return kget(kcast(struct task_struct, task), flags) & PF_FORKNOEXEC ||
	       mm_word(mm, MM_PROTECTED) || mm_word(mm, MM_MERGING);
}

static __always_inline void before_walk(struct page_walk *w, __u64 leader, WANT *want)
{
	w->group = want->mm_group;
	w->alone = want->alone;
	w->every = want->every;
	w->has_swap = 1;
	if (!may_share(leader, w->mm))
		w->pages.flags = ZMEM_WALK_EXCLUSIVE;
}

static __always_inline void after_walk(struct page_walk *w, __u64 leader, WANT *want)
{
	end_folio(w);
	want->anon = anon_pages(w->mm);
	want->shared += w->shared;
	want->complete += w->complete;
	want->slots += w->slots;
	want->slots_complete += w->slots_complete;
	if (w->pages.flags & ZMEM_WALK_EXCLUSIVE && may_share(leader, w->mm))
		w->pages.flags |= ZMEM_WALK_MOVED;
}

static __always_inline void walk_process(struct zmem_freed *s, __u64 leader, WANT *want)
{
	struct zmem_visit end = {};

	visit(&s->at, leader, want, &end);
	if (end.flags & ZMEM_WALK_OFF) {
		s->more++;
		return;
	}
	want->visit.cursor = end.cursor;
	want->state = end.flags & ZMEM_WALK_UNKNOWN ? ZMEM_FREED_UNKNOWN
		      : end.flags & ZMEM_WALK_MOVED ? ZMEM_FREED_RACED
		      : end.cursor		    ? ZMEM_FREED_MORE
						    : ZMEM_FREED_DONE;
	s->more += want->state == ZMEM_FREED_MORE;
}

/* ---- forks ---- */

/* copy_page_range() (mm/memory.c) changes it for each VMA with anonymous memory. */
static __always_inline __u32 forks_of(__u64 mm)
{
	return (__u32)mm_word(mm, MM_PROTECTED);
}

/*
 * The pages of a process that ends are unmapped after exit_mm() has cleared task->mm, and before
 * exit_notify() makes it a zombie (kernel/exit.c).
 */
static __always_inline bool is_ending(__u64 leader)
{
	const struct task_struct *task = kcast(struct task_struct, leader);

	return !(kget(task, flags) & PF_KTHREAD) &&
	       (!kget(task, exit_state) ||
		kread32(kaddr(task, signal) + koffset(struct signal_struct, nr_threads)) > 1);
}

/* A child that the snapshot lacks may map pages and hold files of its parent's group. */
static __always_inline void blame_parent(__u64 leader)
{
	__u64 parent = kaddr(kget(kcast(struct task_struct, leader), real_parent), group_leader);
	__s32 pid;
	WANT *want = want_of(parent, &pid);

	if (want && start_of(parent) == want->start_boottime_ns)
		want->state = ZMEM_FREED_RACED;
}

/* Before and after the walks: a fork shares pages that are counted as mapped once. */
static __always_inline void look_at_forks(__u64 leader, WANT *want, bool before)
{
	__u64 task = task_with_mm(leader), mm;

	mm = task ? kaddr(kcast(struct task_struct, task), mm) : 0;
	if (!mm && !is_ending(leader))
		return;
	if (!want || start_of(leader) != want->start_boottime_ns) {
		blame_parent(leader);
	} else if (!mm) {
		want->life = ZMEM_FREED_SHARING;
	} else if (before) {
		want->life = may_share(leader, mm) ? ZMEM_FREED_SHARING : ZMEM_FREED_ALONE;
		want->forks = forks_of(mm);
	} else {
		want->life = ZMEM_FREED_SURVIVED;
		if (want->state == ZMEM_FREED_DONE && want->forks != forks_of(mm))
			want->state = ZMEM_FREED_RACED;
	}
}

/* Writes no record: the kernel repeats a visit if its record has no room, and visits count. */
SEC("iter/task")
int walk_freed(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct zmem_freed *s = freed_get();
	struct zmem_freed_want *want;
	__u64 leader, own;
	__s32 pid;

	if (!task || !s)
		return 0;
	leader = kread_raw(__u64, &task->group_leader);
	own = kread_raw(__u64, &ctx->task);
	if (leader != own)
		return 0;
	want = want_of(leader, &pid);
	if (s->pass != ZMEM_FREED_WALK) {
		look_at_forks(leader, want, s->pass == ZMEM_FREED_MARK);
		return 0;
	}
	if (!want || want->mm_group == ZMEM_FREED_MIXED || want->state >= ZMEM_FREED_DONE)
		return 0;
	if (start_of(leader) == want->start_boottime_ns)
		walk_process(s, leader, want);
	else
		want->state = ZMEM_FREED_RACED;
	return 0;
}
