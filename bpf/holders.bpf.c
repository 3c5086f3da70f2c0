// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Which processes hold a file: those that have it open (iter/task_file), and those that map it. The
 * file itself knows the VMAs that map it (address_space.i_mmap), so no process is walked. User
 * space joins both by the addresses of mappings and of address spaces.
 *
 * The iterators hold references on the task and the open file that they visit. The tree of VMAs is
 * walked under RCU without its lock: a tree that changes meanwhile may lead anywhere, so each node
 * must belong to the file, and the number of steps is bounded.
 */
#define ZMEM_PROBE_READS
#include "vmlinux.h"
#include "flavors.h"
#include "inodes.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include "zmem/files.h"
#include "kread.bpf.h"
#include "member.bpf.h"
#include "pid_view.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

#define BPF_F_MMAPABLE 1024

/* include/uapi/linux/stat.h */
#define S_IFMT		0170000
#define S_IFSOCK	0140000
#define S_IFIFO		0010000
#define S_IFCHR		0020000

#define MAGIC_OVERLAYFS 0x794c7630 /* include/uapi/linux/magic.h */

#define COMM_WORDS	2

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct zmem_mappers);
} mappers SEC(".maps");

/* ---- processes ---- */

static __noinline int name_holder(__u64 leader_addr, struct zmem_holder *h)
{
	const struct task_struct *leader = kcast(struct task_struct, leader_addr);
	const struct pid_view view = reader_view();

	if (!h)
		return 0;
	h->pid = pid_number(kget(leader, thread_pid), &view);
	ktext(h->comm, leader->comm, COMM_WORDS);
	h->start_boottime_ns = kget(leader, start_boottime);
	return 0;
}

/* The mapping of an open file; 0 if there is no file at the address. */
static __noinline __u64 mapping_of(__u64 file)
{
	__u64 mapping = kread64(file + koffset(struct file, f_mapping));
	__u64 host = kread64(mapping + koffset(struct address_space___host, host));

	return host && host + koffset(struct inode, i_data) == mapping ? mapping : 0;
}

/*
 * An open file of overlayfs has no pages. Its private_data is the open file below; since 6.13 the
 * address of two of them: the one that was opened, and the one after a copy to the upper directory.
 */
static __noinline __u64 mapping_below(__u64 file)
{
	__u64 data = kread64(file + koffset(struct file___files, private_data));
	__u64 mapping = mapping_of(data);

	if (!mapping)
		mapping = mapping_of(kread64(data + 8));
	return mapping ? mapping : mapping_of(kread64(data));
}

/* The mapping that has the pages; of a block device it is that of the device. */
static __noinline __u64 key_of(__u64 file, __u64 mapping)
{
	__u64 host = kread64(mapping + koffset(struct address_space___host, host));
	__u64 super = kread64(host + koffset(struct inode, i_sb));
	__u32 mode = kread32(host + koffset(struct inode, i_mode)) & S_IFMT;

	if (!host || mode == S_IFSOCK || mode == S_IFIFO || mode == S_IFCHR)
		return 0;
	if (kread64(super + member_offset(super_block, s_magic)) == MAGIC_OVERLAYFS)
		return mapping_below(file);
	return mapping;
}

SEC("iter/task_file")
int list_open(struct bpf_iter__task_file *ctx)
{
	struct task_struct *task = ctx->task;
	struct file *file = ctx->file;
	struct zmem_holder h = {};
	__u64 addr, host;

	if (!task || !file)
		return 0;
	/* A number to the verifier, which a pointer would not be. */
	addr = kread_raw(__u64, &ctx->file);
	h.key = key_of(addr, kread_raw(__u64, &file->f_mapping));
	host = h.key - koffset(struct inode, i_data);
	h.inode = kread64(host + koffset(struct inode, i_ino));
	h.generation = kread32(host + koffset(struct inode, i_generation));
	name_holder(kread_raw(__u64, &task->group_leader), &h);
	if (h.key && h.pid)
		bpf_seq_write(ctx->meta->seq, &h, sizeof(h));
	return 0;
}

/* Threads too: the leader of a process that lives on in other threads has no mm. */
SEC("iter/task")
int list_mm(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct zmem_holder h = {};
	__u64 leader, own;

	if (!task)
		return 0;
	h.key = kread_raw(__u64, &task->mm);
	own = leader = kread_raw(__u64, &task->group_leader);
	/* Prevents the compiler from using the pointer in place of the equal number. */
	barrier_var(own);
	if (!h.key ||
	    (own != (__u64)task && kread64(leader + koffset(struct task_struct, mm)) == h.key))
		return 0;
	name_holder(leader, &h);
	if (h.pid)
		bpf_seq_write(ctx->meta->seq, &h, sizeof(h));
	return 0;
}

/* ---- the VMAs that map a file ---- */

#define RB(member)  koffset(struct rb_node, member)
#define VMA(member) koffset(struct vm_area_struct___files, member)
#define VMA_FLAGS                                                                                  \
	(bpf_core_field_exists(struct vm_area_struct___files, vm_flags)                            \
		 ? VMA(vm_flags)                                                                   \
		 : koffset(struct vm_area_struct___bitmap, flags.__vma_flags))

static __always_inline struct zmem_mappers *mappers_get(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&mappers, &zero);
}

/* ---- swapped pages of shared memory ---- */

static __always_inline struct zmem_tree *tree_get(void)
{
	struct zmem_mappers *v = mappers_get();

	return v ? &v->tree : NULL;
}

static __always_inline void tree_pages(__u64 value, __u64 n)
{
	struct zmem_tree *t = tree_get();

	if (t)
		t->found += n;
}

#include "page_tree.bpf.h"

/* include/linux/mm.h */
#define VM_WRITE  2
#define VM_SHARED 8

/* The swapped pages are not known yet: they are counted, some nodes in a visit. */
#define COUNTING (ZMEM_MAPPER_UNKNOWN - 1)

/* Pages of the file in swap that the VMA maps, as smaps counts them (fs/proc/task_mmu.c). */
static __noinline __u64 swapped_of(struct zmem_mappers *v, __u64 vma)
{
	__u64 host, swapped, offset, pages, size;
	__u32 flags = kread32(vma + VMA_FLAGS);

	/* Without CONFIG_SHMEM files of a tmpfs are never swapped. */
	if (!v || !v->count_swap || !bpf_core_field_exists(struct shmem_inode_info, swapped))
		return 0;
	if (flags & VM_WRITE && !(flags & VM_SHARED))
		return ZMEM_MAPPER_UNKNOWN;
	host = v->tree.mapping - koffset(struct inode, i_data);
	swapped = kread64(host - koffset(struct shmem_inode_info, vfs_inode) +
			  koffset(struct shmem_inode_info, swapped));
	offset = kread64(vma + VMA(vm_pgoff));
	size = kread64(vma + VMA(vm_end)) - kread64(vma + VMA(vm_start));
	pages = size >> (v->page_bits & 31);
	if (!swapped || (!offset && size >= kread64(host + koffset(struct inode, i_size))))
		return swapped;
	if (!tree_is_known())
		return ZMEM_MAPPER_UNKNOWN;
	if (v->part_first == offset && v->part_last == offset + pages - 1)
		return v->part_swapped;
	v->tree.first = v->tree.index = offset;
	v->tree.last = offset + pages - 1;
	v->tree.found = 0;
	return COUNTING;
}

/* ---- the tree of VMAs ---- */

static __always_inline __u64 vma_of(const struct zmem_mappers *v)
{
	return v->node - VMA(shared.rb);
}

static __always_inline bool maps_the_file(const struct zmem_mappers *v)
{
	__u64 file = kread64(vma_of(v) + VMA(vm_file));

	return kread64(file + koffset(struct file, f_mapping)) == v->tree.mapping;
}

static __noinline int add_mapper(struct zmem_mappers *v, __u64 swapped)
{
	struct zmem_mapper *m;
	__u64 mm;
	__u32 at;

	if (!v)
		return 0;
	mm = kread64(vma_of(v) + VMA(vm_mm));
	/* The memory of a VMA is used again at once. */
	if (!maps_the_file(v))
		return 0;
	at = v->count;
	if (at && at <= ZMEM_MAPPERS_MAX) {
		m = &v->mapper[(at - 1) & (ZMEM_MAPPERS_MAX - 1)];
		if (m->mm == mm && m->swapped != ZMEM_MAPPER_UNKNOWN &&
		    swapped != ZMEM_MAPPER_UNKNOWN) {
			m->swapped += swapped;
			return 0;
		}
	}
	if (at >= ZMEM_MAPPERS_MAX) {
		v->state = ZMEM_MAPPERS_MANY;
		return 0;
	}
	v->mapper[at].mm = mm;
	v->mapper[at].swapped = swapped;
	v->count = at + 1;
	return 0;
}

static __always_inline __u64 parent_of(__u64 node)
{
	return kread64(node + koffset(struct rb_node___parent, __rb_parent_color)) & ~3ULL;
}

static long leftmost_step(__u32 turn, void *unused)
{
	struct zmem_mappers *v = mappers_get();
	__u64 left;

	if (!v)
		return 1;
	left = kread64(v->node + RB(rb_left));
	if (!left)
		return 1;
	v->steps++;
	v->node = left;
	return 0;
}

static long climb_step(__u32 turn, void *unused)
{
	struct zmem_mappers *v = mappers_get();
	__u64 node, parent;

	if (!v)
		return 1;
	node = v->node;
	parent = parent_of(node);
	v->steps++;
	v->node = parent;
	return !parent || kread64(parent + RB(rb_right)) != node;
}

/* The depth of a red-black tree with as many nodes as there can be, and more. */
#define DEPTH_MAX 64

/* To the next node in their order, as rb_next(). */
static __always_inline void next_vma(struct zmem_mappers *v)
{
	__u64 right = kread64(v->node + RB(rb_right));

	if (right) {
		v->node = right;
		v->steps++;
		bpf_loop(DEPTH_MAX, leftmost_step, NULL, 0);
	} else {
		bpf_loop(DEPTH_MAX, climb_step, NULL, 0);
	}
	if (!v->node)
		v->state = ZMEM_MAPPERS_DONE;
}

/* Looks at one VMA, or for it at one node of the file's tree of pages. */
static long visit_step(__u32 turn, void *unused)
{
	struct zmem_mappers *v = mappers_get();
	__u64 swapped;

	if (!v || v->state != ZMEM_MAPPERS_MORE || v->steps >= ZMEM_MAPPERS_STEPS)
		return 1;
	v->steps++;
	if (v->counting) {
		tree_step(0, NULL);
		if (v->tree.index <= v->tree.last)
			return 0;
		v->counting = 0;
		v->part_first = v->tree.first;
		v->part_last = v->tree.last;
		swapped = v->part_swapped = v->tree.found;
	} else {
		if (!maps_the_file(v)) {
			next_vma(v);
			return 0;
		}
		swapped = swapped_of(v, vma_of(v));
		if (swapped == COUNTING) {
			v->counting = 1;
			return 0;
		}
	}
	add_mapper(v, swapped);
	if (v->state == ZMEM_MAPPERS_MORE)
		next_vma(v);
	return 0;
}

/* ---- between two visits ---- */

static __noinline int mark_place(struct zmem_mappers *v)
{
	__u64 vma;

	if (!v)
		return 0;
	vma = vma_of(v);
	v->node_mm = kread64(vma + VMA(vm_mm));
	v->node_start = kread64(vma + VMA(vm_start));
	v->node_end = kread64(vma + VMA(vm_end));
	v->node_offset = kread64(vma + VMA(vm_pgoff));
	return 0;
}

/* A node and what is to be its child. */
struct climb {
	__u64 node;
	__u32 steps, torn;
};

static long check_step(__u32 turn, struct climb *c)
{
	__u64 parent = parent_of(c->node);

	if (!parent)
		return 1;
	c->steps++;
	c->torn = kread64(parent + RB(rb_left)) != c->node &&
		  kread64(parent + RB(rb_right)) != c->node;
	c->node = parent;
	return c->torn;
}

/*
 * Nothing protects a node between two visits. It is in the tree if its parents, each of which has
 * the one below it, lead to the root. It is the same one, and no other in its memory, if it is the
 * same VMA, and at the same place: the order is that of offsets, and a VMA that gets another range
 * is added anew, behind those with its offset.
 */
static __noinline bool is_at_place(struct zmem_mappers *v)
{
	struct climb c = {};
	__u64 vma;

	if (!v)
		return false;
	vma = vma_of(v);
	c.node = v->node;
	bpf_loop(DEPTH_MAX, check_step, &c, 0);
	v->steps += c.steps;
	return !c.torn &&
	       c.node == kread64(v->tree.mapping + koffset(struct address_space___files, i_mmap)) &&
	       maps_the_file(v) && kread64(vma + VMA(vm_mm)) == v->node_mm &&
	       kread64(vma + VMA(vm_start)) == v->node_start &&
	       kread64(vma + VMA(vm_end)) == v->node_end &&
	       kread64(vma + VMA(vm_pgoff)) == v->node_offset;
}

static __noinline int begin(struct zmem_mappers *v)
{
	if (!v)
		return 0;
	v->count = v->counting = 0;
	v->part_first = v->part_last = ZMEM_MAPPER_UNKNOWN;
	v->state = ZMEM_MAPPERS_DONE;
	v->node = kread64(v->tree.mapping + koffset(struct address_space___files, i_mmap));
	if (!v->node)
		return 0;
	v->state = ZMEM_MAPPERS_MORE;
	bpf_loop(DEPTH_MAX, leftmost_step, NULL, 0);
	return 0;
}

/* User space runs it. */
SEC("raw_tp/list_mappers")
int list_mappers(void *ctx)
{
	struct zmem_mappers *v = mappers_get();

	if (!v)
		return 0;
	v->steps = 0;
	if (tree_is_there(&v->tree)) {
		if (v->state == ZMEM_MAPPERS_BEGIN)
			begin(v);
		else if (!is_at_place(v))
			v->state = ZMEM_MAPPERS_CHANGED;
		bpf_loop(ZMEM_MAPPERS_STEPS, visit_step, NULL, 0);
	}
	if (!tree_is_there(&v->tree)) {
		v->state = ZMEM_MAPPERS_GONE;
		v->count = 0;
	} else if (v->state == ZMEM_MAPPERS_MORE) {
		mark_place(v);
	}
	return 0;
}
