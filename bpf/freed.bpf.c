// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What becomes free when a group of processes ends: anonymous pages with all their mappings in the
 * group, swap slots with all their entries there, and files of shared memory and tmpfs with all
 * their references.
 *
 * The kernel counts the mappings of each page, the entries of each slot and the references of each
 * open file. The programs count those that they meet in the group: if both are equal, nothing else
 * holds the page, the slot or the file. So nothing need be known of other holders: of processes in
 * other pid namespaces, of descriptors that wait in a socket, of the kernel itself.
 *
 * A tmpfs ends with its last mount, and a mount with its namespace, which tasks hold by sets of
 * namespaces. Both count their references as well.
 *
 * A page that is mapped once is not looked up: the counter of the process has it. What need not be
 * walked for PSS need not be walked here either (bpf/vma.bpf.h), and pages of files are not walked
 * at all.
 */
#define ZMEM_FREED
/* As in swap.bpf.c. */
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

#define WANT struct zmem_freed_want
#include "visit.bpf.h"

#define MAGIC_TMPFS 0x01021994 /* include/uapi/linux/magic.h */
#define MAPPING_KSM 2	       /* in folio->mapping (PAGE_MAPPING_KSM) */
/* include/linux/sched.h */
#define PF_FORKNOEXEC 0x00000040
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

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 65536);
	__type(key, __u64);
	__type(value, struct zmem_freed_file);
} held SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 65536);
	__type(key, __u64);
	__type(value, struct zmem_freed_table);
} tables SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 65536);
	__type(key, __u64);
	__type(value, struct zmem_freed_space);
} spaces SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 65536);
	__type(key, __u64);
	__type(value, struct zmem_freed_mount);
} mounted SEC(".maps");

static __always_inline struct zmem_freed *freed_get(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&freed, &zero);
}

/* ---- pages ---- */

/*
 * Counts one reference of a page or a swap slot. Returns 1 if it is the last one of `all`, and the
 * group has met them all.
 */
__noinline int meet(__u64 key, __u32 group, __u32 all)
{
	struct zmem_freed *s = freed_get();
	struct zmem_freed_page *met, new = {.group = group, .maps = 1};

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
	}
	if (met->group != group) {
		met->group = ZMEM_FREED_MIXED;
		return 0;
	}
	met->maps++;
	return met->maps == all;
}

/* Looks up the page of one mapping. `count`: it is that many pages, mapped as one. */
__noinline int look_up_page(walk_ref walk, __u64 page, __u32 maps, __u64 count)
{
	struct page_walk *w = walk_get(walk);

	if (!w)
		return 0;
	w->shared += count;
	/* Within one address space only KSM maps an anonymous page twice. */
	if (w->alone && !(kread64(page_head(page) + FOLIO_MAPPING) & MAPPING_KSM))
		return 0;
	w->pages.work += MEET_WORK;
	/* A page of a huge page and the huge page itself are not the same. */
	if (meet(page | (count > 1), w->group, maps))
		w->complete += count;
	return 0;
}

static __always_inline void meet_page(walk_ref walk, __u64 page, __u64 key, __u64 count)
{
	if (KEY_MAPS(key) > 1 && KEY_KIND(key) == ZMEM_RSS_ANON)
		look_up_page(walk, page, KEY_MAPS(key), count);
}

/* No address of a page, which begins with 0xff. */
#define SLOT_KEY(type, slot) ((type) << 50 | (slot))

/* Looks up the slot of one swap entry. User space has copied what is known of the devices. */
static __always_inline void meet_slot(struct page_walk *w, __u64 entry)
{
	__u64 type = SWAP_TYPE(entry), slot = SWAP_OFFSET(entry), ram;
	struct zmem_swap *s = swap_get();
	__u32 sharers;

	if (!s)
		return;
	w->pages.work += SWAP_SLOT_WORK;
	__builtin_memset(&s->record.sum, 0, sizeof(s->record.sum));
	sharers = count_slot(type, slot, 0);
	if (sharers < 2)
		return;
	ram = s->record.sum.zram + s->record.sum.zswap;
	w->slots += ram;
	/* Within one address space no two entries have the same slot. */
	if (!w->alone && meet(SLOT_KEY(type, slot), w->group, sharers))
		w->slots_complete += ram * sharers;
}

/* ---- files ---- */

/* Since 6.13 0 stands for one reference. */
static __always_inline __s64 references(__u64 file)
{
	if (bpf_core_field_exists(struct file___files, f_ref))
		return (__s64)kread64(file + koffset(struct file___files, f_ref)) + 1;
	return (__s64)kread64(file + koffset(struct file___count, f_count));
}

static __always_inline bool is_shared_memory(__u64 inode)
{
	__u64 super = kread64(inode + koffset(struct inode, i_sb));

	return kread64(super + koffset(struct super_block, s_magic)) == MAGIC_TMPFS;
}

/*
 * Counts one reference of the file, if it is of shared memory. `own`: references that the kernel
 * holds for the visit.
 */
__noinline int meet_file(__u64 file, __u32 group, __u32 own)
{
	struct zmem_freed *s = freed_get();
	struct zmem_freed_file *f, new = {};
	__u64 inode = kread64(file + koffset(struct file___files, f_inode));

	if (!s || !is_shared_memory(inode))
		return 0;
	f = bpf_map_lookup_elem(&held, &file);
	if (!f) {
		new.group = group;
		if (bpf_map_update_elem(&held, &file, &new, 0))
			s->full = 1;
		f = bpf_map_lookup_elem(&held, &file);
	}
	if (!f)
		return 0;
	if (f->group != group)
		f->group = ZMEM_FREED_MIXED;
	f->met++;
	f->inode = inode;
	f->number = kread64(inode + koffset(struct inode, i_ino));
	f->dentry = kread64(file + koffset(struct file, f_path.dentry));
	f->refs = references(file) - own;
	f->names = (__s32)kread32(f->dentry + koffset(struct dentry___files, d_lockref.count));
	f->links = kread32(inode + koffset(struct inode, i_nlink));
	f->device = kread32(kread64(inode + koffset(struct inode, i_sb)) +
			    koffset(struct super_block, s_dev));
	f->pages = kread64(inode + koffset(struct inode, i_data) +
			   koffset(struct address_space___files, nrpages));
	return 0;
}

static __always_inline void meet_vma(struct page_walk *w, __u64 vma)
{
	__u64 file = kread64(vma + koffset(struct vm_area_struct, vm_file));

	if (file)
		meet_file(file, w->group, 0);
}

/*
 * Whether the descriptors of the task are counted: a table of several tasks is, at the first of
 * them. Sets the group, which is that of all tasks of the table.
 */
static __noinline bool begins_table(__u64 task, __u64 table, __u32 *group)
{
	struct zmem_freed *s = freed_get();
	struct zmem_freed_table *t, new = {.task = task};

	if (!s || !group)
		return false;
	t = bpf_map_lookup_elem(&tables, &table);
	if (!t) {
		new.group = *group;
		if (bpf_map_update_elem(&tables, &table, &new, 0))
			s->full = 1;
		return true;
	}
	if (t->task == task)
		return true;
	/* The references were counted as those of the other task. */
	if (t->group != *group)
		*group = ZMEM_FREED_MIXED;
	return false;
}

SEC("iter/task_file")
int list_held(struct bpf_iter__task_file *ctx)
{
	struct task_struct *task = ctx->task;
	struct zmem_freed_want *want;
	struct zmem_freed_file *f;
	__u64 file, addr;
	__u32 group;
	__s32 pid;

	if (!task || !ctx->file)
		return 0;
	/* Numbers to the verifier, which pointers would not be. */
	file = kread_raw(__u64, &ctx->file);
	if (!is_shared_memory(kread64(file + koffset(struct file___files, f_inode))))
		return 0;
	addr = kread_raw(__u64, &ctx->task);
	want = want_of(kread_raw(__u64, &task->group_leader), &pid);
	group = want ? want->group : ZMEM_FREED_MIXED;
	if (begins_table(addr, kread64(addr + koffset(struct task_struct___files, files)),
			 &group)) {
		meet_file(file, group, 1);
		return 0;
	}
	f = bpf_map_lookup_elem(&held, &file);
	if (f && group == ZMEM_FREED_MIXED)
		f->group = group;
	return 0;
}

/* ---- mount namespaces ---- */

/* Since 6.18 the mounts of a super block are in a chain; before, in a list. */
#define has_chain() bpf_core_field_exists(struct mount, mnt_next_for_sb)
#define MOUNT_NEXT                                                                                 \
	(has_chain() ? koffset(struct mount, mnt_next_for_sb)                                      \
		     : koffset(struct mount___list, mnt_instance))

/* Returns 1 if it was not met before. */
__noinline int meet_space(__u64 addr, __u64 space, __s32 refs, __u32 group)
{
	struct zmem_freed *s = freed_get();
	struct zmem_freed_space *met = bpf_map_lookup_elem(&spaces, &addr), new = {};

	if (!s)
		return 0;
	if (!met) {
		new.space = space;
		new.group = group;
		new.refs = refs;
		new.met = 1;
		if (bpf_map_update_elem(&spaces, &addr, &new, 0))
			s->full = 1;
		return 1;
	}
	if (met->group != group)
		met->group = ZMEM_FREED_MIXED;
	/* Of a namespace, sets are counted, not tasks. */
	met->met += space != 0;
	return 0;
}

static __always_inline __u64 mounts_of(__u64 task, __u64 *ret_set)
{
	*ret_set = kread64(task + koffset(struct task_struct, nsproxy));
	return *ret_set ? kread64(*ret_set + koffset(struct nsproxy___mounts, mnt_ns)) : 0;
}

/* Counts the namespaces of a task, but for the reader's, which do not end while it reads. */
static __always_inline int meet_spaces(__u64 task, __u32 group)
{
	struct zmem_freed_space *space;
	__u64 set, own, mounts = mounts_of(task, &set), count;

	if (!mounts || mounts == mounts_of((__u64)bpf_get_current_task(), &own))
		return 0;
	count = bpf_core_field_exists(struct ns_common, __ns_ref)
			? koffset(struct mnt_namespace, ns) + koffset(struct ns_common, __ns_ref)
			: koffset(struct mnt_namespace, ns) +
				  koffset(struct ns_common___count, count);
	if (!meet_space(set, mounts, kread32(set + koffset(struct nsproxy___mounts, count)),
			group)) {
		meet_space(mounts, 0, 0, group);
		return 0;
	}
	if (meet_space(mounts, 0, kread32(mounts + count), group))
		return 0;
	space = bpf_map_lookup_elem(&spaces, &mounts);
	if (space)
		space->met++;
	return 0;
}

/* ---- file systems ---- */

#define SUPERS_MAX 65536
#define MOUNTS_MAX 4096

/* The mounts of a super block. */
struct mounts {
	__u64 head; /* of the list; 0: there is none */
	__u64 at, space;
	__u32 mixed;
};

static long next_mount(__u32 turn, struct mounts *m)
{
	__u64 space;

	if (!m->at || m->at == m->head)
		return 1;
	space = kread64(m->at - (has_chain() ? 0 : MOUNT_NEXT) + koffset(struct mount, mnt_ns));
	m->mixed |= turn && space != m->space;
	m->space = space;
	m->at = kread64(m->at + (has_chain() ? MOUNT_NEXT : 0));
	return 0;
}

/* Mounts in no namespace have NULL or an error there: user space finds no such namespace. */
static __always_inline int meet_super(__u64 super)
{
	struct zmem_freed *s = freed_get();
	struct zmem_freed_mount new = {};
	struct mounts m = {};

	if (!s)
		return 0;
	if (has_chain()) {
		m.at = kread64(super + koffset(struct super_block___mounts, s_mounts));
	} else {
		m.head = super + koffset(struct super_block___list, s_mounts);
		m.at = kread64(m.head);
	}
	bpf_loop(MOUNTS_MAX, next_mount, &m, 0);
	if (!m.space || m.mixed || (m.at && m.at != m.head))
		return 0;
	new.space = m.space;
	new.device = kread32(super + koffset(struct super_block, s_dev));
	if (bpf_map_update_elem(&mounted, &super, &new, 0))
		s->full = 1;
	return 0;
}

struct supers {
	__u64 first, at;
};

/* One of the ring is the head of the list, and no super block. */
static long next_super(__u32 turn, struct supers *all)
{
	__u64 root = kread64(all->at + koffset(struct super_block, s_root));

	if (root && kread64(root + koffset(struct dentry___files, d_sb)) == all->at &&
	    kread64(all->at + koffset(struct super_block, s_magic)) == MAGIC_TMPFS)
		meet_super(all->at);
	all->at = kread64(all->at + koffset(struct super_block, s_list)) -
		  koffset(struct super_block, s_list);
	return all->at == all->first || all->at >> 56 != 0xff;
}

/* It is attached to nothing: user space runs it. It begins at the file system of the program. */
SEC("raw_tp/list_mounted")
int list_mounted(void *ctx)
{
	__u64 mm = kread64((__u64)bpf_get_current_task() + koffset(struct task_struct, mm));
	__u64 file = kread64(mm + koffset(struct mm_struct, exe_file));
	__u64 inode = kread64(file + koffset(struct file___files, f_inode));
	struct supers all = {};

	all.first = all.at = kread64(inode + koffset(struct inode, i_sb));
	if (all.first)
		bpf_loop(SUPERS_MAX, next_super, &all, 0);
	return 0;
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
	w->has_swap = 1;
	if (!may_share(leader, w->mm))
		w->pages.flags = ZMEM_WALK_EXCLUSIVE;
}

static __always_inline void after_walk(struct page_walk *w, __u64 leader, WANT *want)
{
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

/* It writes nothing: the kernel repeats a visit if its record has no room, and these count. */
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
	if (leader != own && !s->spaces)
		return 0;
	want = want_of(leader, &pid);
	if (s->spaces)
		meet_spaces(own, want ? want->group : ZMEM_FREED_MIXED);
	if (leader != own || !want || want->mm_group == ZMEM_FREED_MIXED ||
	    want->state >= ZMEM_FREED_DONE)
		return 0;
	if (start_of(leader) == want->start_boottime_ns)
		walk_process(s, leader, want);
	else
		want->state = ZMEM_FREED_RACED;
	return 0;
}
