// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Lists the inodes with pages in the page cache or in swap, of every file system of every mount
 * namespace, by the kernel's own lists: all super blocks (super_block.s_list), and the inodes of
 * each (s_inodes). It starts at the super block of an own memfd.
 *
 * A visit runs under RCU, which keeps the memory of inodes and super blocks that are freed
 * meanwhile. It takes no lock and no reference. A list can change under it:
 *   - list_del_init() makes a removed node point to itself (fs/inode.c, inode_sb_list_del);
 *   - the next node points back, unless one of the two is just being removed or added.
 * After a removal the file system is read again. A node that is not pointed back to is read again
 * at the next steps, and after RETRIES_MAX of them the file system is. Between two visits nothing
 * is protected: the inode of the last visit must still be the same one, in the same list.
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

char LICENSE[] SEC("license") = "Dual BSD/GPL";

#define BPF_F_MMAPABLE 1024

#define RESTARTS_MAX   64
#define RETRIES_MAX    16

/* include/uapi/linux/magic.h, fs/proc: file systems with many inodes, which never have pages. */
#define MAGIC_PROC	0x9fa0
#define MAGIC_SYSFS	0x62656572
#define MAGIC_CGROUP	0x63677270
#define MAGIC_HUGETLBFS 0x958458f6

#define INODE(member)	koffset(struct inode, member)
#define SUPER(member)	member_offset(super_block, member)
#define MAPPING(member) (INODE(i_data) + koffset(struct address_space___files, member))

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct zmem_files);
} files SEC(".maps");

static __always_inline struct zmem_files *files_get(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&files, &zero);
}

/* True for a mounted super block. The head of the list is no super block: no root leads to it. */
static __noinline bool is_super(__u64 super)
{
	__u64 root = kread64(super + SUPER(s_root));

	return root && kread64(root + koffset(struct dentry___files, d_sb)) == super;
}

static __always_inline __u64 inodes_head(__u64 super)
{
	return super + SUPER(s_inodes);
}

static __always_inline __u64 dentry_alias(void)
{
	if (bpf_core_field_exists(struct dentry___union, d_u.d_alias))
		return koffset(struct dentry___union, d_u.d_alias);
	return koffset(struct dentry___files, d_alias);
}

/* Appends the names of the dentry and of the directories above it. */
static __noinline int append_names(struct zmem_files *v, __u64 inode, __u32 at)
{
	__u64 alias = kread64(inode + INODE(i_dentry)), dentry = alias - dentry_alias();
	struct zmem_file *f;
	__u32 len = 0;

	if (!v || !alias || at >= ZMEM_FILES_BATCH)
		return 0;
	f = &v->file[at];
	for (int i = 0; i < ZMEM_FILE_NAMES; i++) {
		__u64 parent = kread64(dentry + koffset(struct dentry, d_parent));
		const void *name =
			(const void *)kread64(dentry + koffset(struct dentry, d_name.name));
		long got;

		/* The root of a directory tree has the name "/"; a file without a directory is its
		 * own parent. */
		if (parent == dentry && i)
			break;
		if (len >= ZMEM_FILE_TEXT - 1) {
			f->flags |= ZMEM_FILE_CUT;
			break;
		}
		got = bpf_probe_read_kernel_str(f->text + len, ZMEM_NAME_PART, name);
		if (got <= 0)
			break;
		len += (__u32)got;
		v->steps++;
		if (parent == dentry) {
			f->flags |= ZMEM_FILE_ALONE;
			break;
		}
		if (i == ZMEM_FILE_NAMES - 1)
			f->flags |= ZMEM_FILE_CUT;
		dentry = parent;
	}
	if (len > ZMEM_FILE_TEXT) {
		f->flags |= ZMEM_FILE_CUT;
		len = ZMEM_FILE_TEXT;
	}
	f->text_len = (__u16)len;
	return 0;
}

/*
 * True if a page is dirty: the first mark of the tree's root (PAGECACHE_TAG_DIRTY), or PG_dirty of
 * the only page. The list of marks of a tree without nodes is in flags at a place that differs.
 */
static __noinline bool is_dirty(__u64 inode)
{
	__u64 head = kread64(inode + MAPPING(i_pages.xa_head));

	if ((head & 3) == 2)
		return kread64(head - 2 + koffset(struct xa_node, marks)) != 0;
	if (!head || (head & 3))
		return false;
	/* The flags are the first word of struct page and of struct folio. */
	return kread64(head) >> bpf_core_enum_value(enum pageflags___files, PG_dirty___files) & 1;
}

/* ---- segments (ipc/shm.c) ---- */

#define SHM_DEST      01000 /* include/linux/shm.h */
#define SEGMENTS_BITS 15    /* of a shmid: its place; with ipcmni_extend it has more (ipc/util.h) */
#define EXTENDED_BITS 24
#define XA_LEVELS     4 /* of 6 bits */

static __always_inline __u64 inode_of(__u64 file)
{
	return kread64(file + koffset(struct file___files, f_inode));
}

/* What the namespace has at that place. A global function is verified once. */
__noinline __u64 segment_at(__u64 space, __u64 index)
{
	__u64 entry, node;

	if (!bpf_core_type_exists(struct shm_file_data))
		return 0;
	/* IPC_SHM_IDS (ipc/util.h); CO-RE knows the size of the kernel's struct ipc_ids. */
	entry = kread64(space + koffset(struct ipc_namespace, ids[2].ipcs_idr.idr_rt.xa_head));
	for (int i = 0; i < XA_LEVELS && (entry & 3) == 2; i++) {
		__u32 shift;

		node = entry - 2;
		shift = kread32(node + koffset(struct xa_node, shift)) & 0x3f;
		entry = kread64(node + koffset(struct xa_node, slots) + (index >> shift & 63) * 8);
	}
	return entry & 3 ? 0 : entry;
}

/*
 * True if the file is a segment that IPC_RMID has removed. Only an attached one is left then. Any
 * VMA of it tells the namespace: do_shmat() opens the file of the segment once more for each
 * attach, with struct shm_file_data as its private_data. The number of the inode is the shmid
 * (newseg()).
 */
static __noinline bool is_removed(__u64 inode)
{
	__u64 vma = kread64(inode + MAPPING(i_mmap)), file, data, base, id, segment = 0;

	if (!vma || !bpf_core_type_exists(struct shm_file_data))
		return false;
	vma -= koffset(struct vm_area_struct___files, shared.rb);
	file = kread64(vma + koffset(struct vm_area_struct___files, vm_file));
	data = kread64(file + koffset(struct file___files, private_data));
	base = kread64(data + koffset(struct shm_file_data, file));
	if (!data || base == file || inode_of(base) != inode)
		return false;
	data = kread64(data + koffset(struct shm_file_data, ns));
	id = kread64(inode + INODE(i_ino));
	segment = segment_at(data, id & ((1 << SEGMENTS_BITS) - 1));
	if (kread64(segment + koffset(struct shmid_kernel, shm_file)) != base)
		segment = segment_at(data, id & ((1 << EXTENDED_BITS) - 1));
	return kread64(segment + koffset(struct shmid_kernel, shm_file)) == base &&
	       kread32(segment + koffset(struct shmid_kernel, shm_perm.mode)) & SHM_DEST;
}

#define MEMCG_DATA_MASK 7ULL /* include/linux/memcontrol.h */
#define TREE_LEVELS	5
#define TREE_SLOTS	64

/* Whether a slot of the tree has a page, or a node: not a swap entry, nor what is inside. */
static __always_inline bool has_more(__u64 entry)
{
	return entry && !(entry & 1) && ((entry & 3) == 0 || entry > 4096);
}

/* The last slot of a node that has more. A global function is verified once. */
__noinline __u64 last_slot(__u64 slots)
{
	__u64 entry = 0;

	for (int i = TREE_SLOTS; i-- > 0 && !has_more(entry);)
		entry = kread64(slots + 8 * (__u64)i);
	return entry;
}

/* The owner of the last page of the file that is in RAM; 0: it was not found. */
static __noinline __u64 last_owner(__u64 inode)
{
	__u64 entry = kread64(inode + MAPPING(i_pages.xa_head));

	if (!bpf_core_field_exists(struct page___files, memcg_data))
		return 0;
	for (int level = 0; level < TREE_LEVELS && (entry & 3) == 2; level++)
		entry = last_slot(entry - 2 + koffset(struct xa_node, slots));
	if (!has_more(entry) || (entry & 3))
		return 0;
	return kread64(entry + koffset(struct page___files, memcg_data)) & ~MEMCG_DATA_MASK;
}

static __always_inline struct zmem_file *new_record(struct zmem_files *v, __u8 kind)
{
	__u32 at = v->count;
	struct zmem_file *f;

	if (at >= ZMEM_FILES_BATCH)
		return NULL;
	f = &v->file[at];
	f->system = v->system;
	f->kind = kind;
	f->flags = 0;
	f->text_len = 0;
	f->mapping = f->generation = f->owner = 0;
	f->device = kread32(v->super + SUPER(s_dev));
	return f;
}

/*
 * The members that are read of an inode lie within some 400 bytes. One copy waits once for all of
 * their cache lines; a read for each member would wait for one line after the other.
 */
#define BLOCK_BEGIN INODE(i_sb)
#define BLOCK_END   (MAPPING(a_ops) + sizeof(__u64))
#define BLOCK_FITS  (BLOCK_BEGIN < BLOCK_END && BLOCK_END - BLOCK_BEGIN <= ZMEM_INODE_WORDS * 8)
#define IN_BLOCK(offset)                                                                           \
	((offset) >= BLOCK_BEGIN && (offset) + sizeof(__u64) <= BLOCK_END && BLOCK_FITS)

static __always_inline void read_block(struct zmem_files *v, __u64 inode)
{
	if (BLOCK_FITS)
		bpf_probe_read_kernel(v->block, BLOCK_END - BLOCK_BEGIN,
				      (const void *)(inode + BLOCK_BEGIN));
}

/* A word of the inode that read_block() read. */
static __always_inline __u64 inode_word(struct zmem_files *v, __u64 inode, __u64 offset)
{
	if (IN_BLOCK(offset))
		return *(const __u64 *)((const char *)v->block + (offset - BLOCK_BEGIN));
	return kread64(inode + offset);
}

static __noinline int emit_inode(struct zmem_files *v, __u64 inode, __u64 pages, __u32 shmem)
{
	__u64 swapped = 0;
	struct zmem_file *f;

	if (!v)
		return 0;
	if (shmem && bpf_core_field_exists(struct shmem_inode_info, swapped))
		swapped = kread64(inode - koffset(struct shmem_inode_info, vfs_inode) +
				  koffset(struct shmem_inode_info, swapped));
	if ((!pages && !swapped) || pages + swapped < v->least)
		return 0;
	if (v->mode != ZMEM_FILES_ALL && !shmem) {
		v->cache_here += v->hugetlb ? 0 : pages;
		return 0;
	}
	f = new_record(v, ZMEM_FILE_INODE);
	if (!f)
		return 0;
	f->pages = pages;
	f->swapped = swapped;
	f->size = kread64(inode + INODE(i_size));
	f->inode = kread64(inode + INODE(i_ino));
	f->rdev = kread32(inode + INODE(i_rdev));
	f->links = kread32(inode + INODE(i_nlink));
	f->mode = kread32(inode + INODE(i_mode)) & 0xffff;
	f->mapping = inode + INODE(i_data);
	f->generation = kread32(inode + INODE(i_generation));
	if (shmem)
		f->flags |= ZMEM_FILE_SHMEM;
	if (v->hugetlb)
		f->flags |= ZMEM_FILE_HUGETLB;
	if (kread64(inode + MAPPING(i_mmap)))
		f->flags |= ZMEM_FILE_MAPPED;
	if (is_dirty(inode))
		f->flags |= ZMEM_FILE_DIRTY;
	if (v->least)
		f->owner = last_owner(inode);
	/* Segments are on the mount of memfds, or have huge pages. */
	if ((v->super == v->own_super || v->hugetlb) && is_removed(inode))
		f->flags |= ZMEM_FILE_DEST;
	append_names(v, inode, v->count);
	v->count++;
	return 0;
}

/* Begins the current file system, for the first time or again. */
static __noinline int begin_super(struct zmem_files *v, __u32 again)
{
	struct zmem_file *f;
	__u64 type, magic;
	long len;

	if (!v)
		return 0;
	v->node = inodes_head(v->super);
	v->next = 0;
	v->retries = 0;
	v->cache_here = 0;
	f = new_record(v, ZMEM_FILE_SYSTEM);
	if (!f)
		return 0;
	magic = kread64(v->super + SUPER(s_magic));
	v->hugetlb = magic == MAGIC_HUGETLBFS;
	if (v->super == v->own_super)
		f->flags |= ZMEM_FILE_KERNEL_MOUNT;
	type = kread64(v->super + SUPER(s_type));
	len = bpf_probe_read_kernel_str(
		f->text, ZMEM_NAME_PART,
		(const void *)kread64(type + koffset(struct file_system_type, name)));
	f->text_len = len > 0 ? (__u16)len : 0;
	v->count++;
	if (!again)
		v->restarts = 0;
	if (magic == MAGIC_PROC || magic == MAGIC_SYSFS || magic == MAGIC_CGROUP)
		v->node = 0;
	/* All tmpfs have the same operations. */
	if (v->mode == ZMEM_FILES_SHMEM &&
	    kread64(v->super + SUPER(s_op)) != kread64(v->own_super + SUPER(s_op)))
		v->node = 0;
	return 0;
}

/* Goes to the next file system. The list is a ring, so it ends where it began. */
static __noinline int next_super(struct zmem_files *v)
{
	__u64 link, next;

	if (!v)
		return 0;
	link = v->super + SUPER(s_list);
	for (int i = 0; i < RETRIES_MAX; i++) {
		next = kread64(link);
		if (!next || next == link || kread64(next + 8) != link) {
			v->state = ZMEM_FILES_CHANGED;
			return 0;
		}
		if (next - SUPER(s_list) == v->own_super) {
			v->cache_before += v->cache_here;
			v->state = ZMEM_FILES_DONE;
			return 0;
		}
		link = next;
		/* Skips a super block that is being set up or torn down: it has no root. */
		if (is_super(link - SUPER(s_list))) {
			v->super = link - SUPER(s_list);
			v->cache_before += v->cache_here;
			v->system++;
			begin_super(v, 0);
			return 0;
		}
	}
	v->state = ZMEM_FILES_UNKNOWN;
	return 0;
}

/* The list of inodes changed under the walk. */
static __noinline int restart_super(struct zmem_files *v)
{
	struct zmem_file *f;

	if (!v)
		return 0;
	if (v->restarts++ < RESTARTS_MAX)
		return begin_super(v, 1);
	f = new_record(v, ZMEM_FILE_UNSURE);
	if (f)
		v->count++;
	v->node = 0;
	return 0;
}

static long visit_inode(__u32 turn, void *unused)
{
	struct zmem_files *v = files_get();
	__u64 next, inode, pages;
	bool shmem;

	/* Room for the record of a file system and of an inode. */
	if (!v || v->state != ZMEM_FILES_MORE || v->count >= ZMEM_FILES_BATCH - 2 ||
	    v->steps >= ZMEM_FILES_STEPS)
		return 1;
	v->steps++;
	if (!v->node) {
		next_super(v);
		return 0;
	}
	next = v->next ? v->next : kread64(v->node);
	v->next = 0;
	if (next == inodes_head(v->super)) {
		next_super(v);
		return 0;
	}
	if (!next || next == v->node) {
		restart_super(v);
		return 0;
	}
	inode = next - INODE(i_sb_list);
	read_block(v, inode);
	if (inode_word(v, inode, INODE(i_sb_list.prev)) != v->node) {
		if (v->retries++ >= RETRIES_MAX)
			restart_super(v);
		return 0;
	}
	if (inode_word(v, inode, INODE(i_sb)) != v->super) {
		restart_super(v);
		return 0;
	}
	v->node = next;
	v->next = inode_word(v, inode, INODE(i_sb_list.next));
	v->retries = 0;
	shmem = inode_word(v, inode, MAPPING(a_ops)) == v->operations;
	/* Until 6.6 nrpages of a hugetlbfs counts huge pages. */
	pages = v->hugetlb ? inode_word(v, inode, INODE(i_blocks))
			   : inode_word(v, inode, MAPPING(nrpages));
	if (pages || shmem)
		emit_inode(v, inode, pages, shmem);
	return 0;
}

/* Keeps by what the inode at v->node is recognised at the next visit. */
static __always_inline void mark_place(struct zmem_files *v)
{
	__u64 inode = v->node - INODE(i_sb_list);

	v->node_inode = kread64(inode + INODE(i_ino));
	v->node_generation = kread32(inode + INODE(i_generation));
}

static __noinline int find_place(struct zmem_files *v)
{
	__u64 inode, link;

	if (!v)
		return 0;
	v->next = 0;
	link = v->super + SUPER(s_list);
	if (!is_super(v->super) || kread64(kread64(link) + 8) != link) {
		v->state = ZMEM_FILES_CHANGED;
		return 0;
	}
	if (!v->node || v->node == inodes_head(v->super))
		return 0;
	inode = v->node - INODE(i_sb_list);
	if (kread64(inode + INODE(i_sb)) != v->super ||
	    kread64(inode + INODE(i_ino)) != v->node_inode ||
	    kread32(inode + INODE(i_generation)) != (__u32)v->node_generation ||
	    kread64(kread64(v->node) + 8) != v->node)
		restart_super(v);
	return 0;
}

/* The super block of our own memfd, and what reads and writes pages of shared memory. */
static __noinline int begin(struct zmem_files *v)
{
	__u64 task = (__u64)bpf_get_current_task(), table, file, inode;

	if (!v)
		return 0;
	table = kread64(kread64(task + koffset(struct task_struct___files, files)) +
			koffset(struct files_struct, fdt));
	file = kread64(kread64(table + koffset(struct fdtable, fd)) + 8 * (__u64)v->memfd);
	inode = kread64(file + koffset(struct file___files, f_inode));
	v->own_super = v->super = kread64(inode + INODE(i_sb));
	v->operations = kread64(inode + MAPPING(a_ops));
	v->state = ZMEM_FILES_UNKNOWN;
	/* The memfd has one page. */
	if (!is_super(v->super) || !v->operations || kread64(inode + MAPPING(nrpages)) != 1)
		return 0;
	v->state = ZMEM_FILES_MORE;
	v->system = 0;
	v->cache_before = 0;
	return begin_super(v, 0);
}

/* User space runs it. */
SEC("raw_tp/list_files")
int list_files(void *ctx)
{
	struct zmem_files *v = files_get();

	if (!v)
		return 0;
	v->count = v->steps = 0;
	if (v->state == ZMEM_FILES_BEGIN)
		begin(v);
	else if (v->state == ZMEM_FILES_MORE)
		find_place(v);
	bpf_loop(ZMEM_FILES_STEPS, visit_inode, NULL, 0);
	if (v->node && v->state == ZMEM_FILES_MORE)
		mark_place(v);
	return 0;
}
