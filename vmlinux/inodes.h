/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The kernel types of file systems and inodes that bpf/files.bpf.c reads, by the rules of
 * vmlinux.h. Members of types that vmlinux.h has for other programs are in flavors ___files.
 */
#ifndef ZMEM_VMLINUX_INODES_H
#define ZMEM_VMLINUX_INODES_H

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct hlist_node {
	struct hlist_node *next;
};

struct hlist_head {
	struct hlist_node *first;
};

struct super_block;

struct lockref {
	int count;
};

struct dentry___files {
	struct lockref d_lockref;
	struct super_block *d_sb;
	struct hlist_node d_alias; /* in the union d_u: dentry___union */
};

/* The list of names of an inode is in a union. */
struct dentry___union {
	union {
		struct hlist_node d_alias;
	} d_u;
};

/* It begins with the root of a tree, which is NULL without nodes. */
struct rb_root_cached {
	struct rb_node *rb_leftmost;
};

struct address_space___files {
	struct xarray i_pages;
	struct rb_root_cached i_mmap;
	unsigned long nrpages;
	const void *a_ops;
};

struct address_space___host {
	struct inode *host;
};

struct xa_node {
	unsigned char shift;
	void *slots[1];
	unsigned long marks[1]; /* the words of the first mark begin here */
};

struct inode {
	unsigned short i_mode;
	struct super_block *i_sb;
	unsigned long i_ino;
	unsigned int i_nlink;
	unsigned int i_rdev;
	__s64 i_size;
	__u64 i_blocks; /* of 512 bytes */
	struct list_head i_sb_list;
	struct hlist_head i_dentry;
	struct address_space___files i_data;
	__u32 i_generation;
	void *i_private;
};

struct shmem_inode_info {
	unsigned long swapped;
	struct inode vfs_inode;
};

struct page___files {
	unsigned long memcg_data; /* with CONFIG_MEMCG */
};

struct file_system_type {
	const char *name;
};

/* Since 6.13; before, the atomic f_count. */
typedef struct {
	atomic64_t refcnt;
} file_ref_t;

struct mnt_namespace;

struct vfsmount {
	struct super_block *mnt_sb;
};

/* With SMP; else `mnt_count` is a member of struct mount. */
struct mnt_pcp {
	int mnt_count;
};

/* Since 7.x. */
struct mnt_pcp___two {
	unsigned int mnt_gets;
	unsigned int mnt_puts;
};

struct mount {
	struct mount *mnt_next_for_sb;
	struct mnt_namespace *mnt_ns;
	struct vfsmount mnt;
	struct mnt_pcp *mnt_pcp;
	struct list_head mnt_mounts;
	struct list_head mnt_child;
};

struct mount___alone {
	int mnt_count;
};

struct mount___list {
	struct list_head mnt_instance;
};

/* Since 6.18 __ns_ref. */
struct ns_common___count {
	atomic_t count;
};

struct ns_common {
	atomic_t __ns_ref;
};

struct mnt_namespace {
	struct ns_common ns;
};

struct mnt_namespace___count {
	struct ns_common___count ns;
};

struct nsproxy___mounts {
	atomic_t count;
	struct ipc_namespace *ipc_ns;
	struct mnt_namespace *mnt_ns;
};

struct path___mount {
	struct vfsmount *mnt;
};

struct fs_struct {
	struct path___mount root;
	struct path___mount pwd;
};

struct task_struct___places {
	struct fs_struct *fs;
	struct io_uring_task *io_uring;
};

/* ---- ipc/shm.c, ipc/util.h ---- */

struct idr {
	struct xarray idr_rt;
};

struct ipc_ids {
	struct idr ipcs_idr;
	int max_idx;
};

struct ipc_namespace {
	struct ipc_ids ids[3]; /* 2: of segments (IPC_SHM_IDS) */
	int shm_rmid_forced;
	struct ns_common ns;
};

struct kern_ipc_perm {
	unsigned short mode;
};

struct shmid_kernel {
	struct kern_ipc_perm shm_perm;
	struct file *shm_file;
};

struct shm_file_data {
	struct ipc_namespace *ns;
	struct file *file;
};

/* ---- what carries files ---- */

struct sock_common {
	unsigned short skc_family;
	unsigned char skc_state;
};

struct sk_buff;

/* It begins with the first and the last buffer. */
struct sk_buff_head {
	struct sk_buff *next;
};

struct sk_buff {
	struct sk_buff *next;
	struct sock *sk;
	char cb[48]; /* of a unix socket: unix_skb_parms */
};

struct sock {
	struct sock_common __sk_common;
	struct sk_buff_head sk_receive_queue;
};

struct socket {
	struct sock *sk;
};

struct scm_fp_list {
	short count;
	struct file *fp[1];
};

struct unix_skb_parms {
	struct scm_fp_list *fp;
};

/* io_uring: since 6.13 nodes; before, an array of what is in a node. */
struct io_rsrc_node {
	unsigned long file_ptr; /* with flags in its lowest bits */
};

struct io_rsrc_data {
	unsigned int nr;
	struct io_rsrc_node **nodes;
};

struct io_fixed_file {
	unsigned long file_ptr;
};

struct io_file_table {
	struct io_rsrc_data data;
};

struct io_file_table___array {
	struct io_fixed_file *files;
};

struct io_ring_ctx {
	struct io_file_table file_table;
};

struct io_ring_ctx___array {
	struct io_file_table___array file_table;
	unsigned int nr_user_files;
};

/* Rings that a task has registered, by IORING_REGISTER_RING_FDS: the whole array has 16. */
struct io_uring_task {
	struct file *registered_rings[1];
};

struct file___files {
	struct inode *f_inode;
	file_ref_t f_ref;
	void *private_data;
};

struct file___count {
	atomic_long_t f_count;
};

/* The node of a VMA in the tree of those that map a file. */
struct vm_area_struct___files {
	struct {
		struct rb_node rb;
	} shared;
	struct mm_struct *vm_mm;
	struct file *vm_file;
	unsigned long vm_start;
	unsigned long vm_end;
	unsigned long vm_flags;
	unsigned long vm_pgoff;
};

/* Its first word is the address of the parent, with a colour in the lowest bits. */
struct rb_node___parent {
	unsigned long __rb_parent_color;
};

struct bpf_iter__task_file {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
	unsigned int fd;
	struct file *file;
};

struct dma_buf {
	unsigned long size;
	struct file___files *file;
};

struct bpf_iter__dmabuf {
	struct bpf_iter_meta *meta;
	struct dma_buf *dmabuf;
};

struct fdtable {
	struct file **fd;
};

struct files_struct {
	struct fdtable *fdt;
};

struct task_struct___files {
	struct files_struct *files;
};

/* The value is the running kernel's (bpf_core_enum_value). */
enum pageflags___files {
	PG_dirty___files,
};

#pragma clang attribute pop

#endif
