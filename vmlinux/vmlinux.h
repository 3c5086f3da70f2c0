/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The kernel types our BPF programs read, and only the members they read. CO-RE finds the real
 * offsets at load time (preserve_access_index), so this file serves every kernel.
 *
 * Rules for adding a member:
 *   1. Add it with the kernel's own name and the kernel's own type width; nothing else is checked.
 *   2. A struct here is truncated: never use sizeof, an index other than a constant 0, pointer
 *      arithmetic or a copy of it. Use bpf_core_type_size() and bpf_core_field_offset().
 *   3. Read a member that some kernel lacks behind bpf_core_field_exists(), and say so in the
 *      valid bits of the record. Another layout of the same type goes into flavors.h.
 */
#ifndef ZMEM_VMLINUX_H
#define ZMEM_VMLINUX_H

typedef signed char __s8;
typedef unsigned char __u8;
typedef short __s16;
typedef unsigned short __u16;
typedef int __s32;
typedef unsigned int __u32;
typedef long long __s64;
typedef unsigned long long __u64;
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u32 __wsum;
typedef _Bool bool;
enum { false, true };

enum bpf_map_type {
	BPF_MAP_TYPE_HASH = 1,
	BPF_MAP_TYPE_ARRAY = 2,
	BPF_MAP_TYPE_PERCPU_ARRAY = 6,
	BPF_MAP_TYPE_RINGBUF = 27,
	BPF_MAP_TYPE_TASK_STORAGE = 29,
	BPF_MAP_TYPE_USER_RINGBUF = 31,
};

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

typedef struct {
	int counter;
} atomic_t;

typedef struct {
	__s64 counter;
} atomic64_t;

typedef atomic64_t atomic_long_t;

struct list_head {
	struct list_head *next, *prev;
};

struct pid_namespace;

struct upid {
	int nr;
	struct pid_namespace *ns;
};

struct pid {
	unsigned int level;
	struct upid numbers[1];
};

typedef struct {
	unsigned int val;
} kuid_t;

struct cred {
	kuid_t euid;
};

struct kernel_siginfo {
	int si_code;
};

struct rlimit {
	unsigned long rlim_cur;
	unsigned long rlim_max;
};

typedef struct seqcount {
	unsigned int sequence;
} seqcount_t;

/* Its first member begins with a seqcount_t, of this or of another type
 * (include/linux/seqlock_types.h). */
typedef struct {
	seqcount_t seqcount;
} seqlock_t;

struct signal_struct {
	struct rlimit rlim[16]; /* kread.bpf.h reads several words through it */
	int nr_threads;
	seqlock_t stats_lock;
	unsigned long maj_flt;
	struct list_head thread_head;
	struct tty_struct *tty;
	short oom_score_adj;
};

struct qstr {
	__u32 len;
	const unsigned char *name;
};

struct hlist_bl_node {
	struct hlist_bl_node **pprev;
};

struct dentry {
	struct hlist_bl_node d_hash;
	struct dentry *d_parent;
	struct qstr d_name;
};

struct path {
	struct dentry *dentry;
};

struct xarray {
	void *xa_head;
};

struct address_space {
	struct xarray i_pages;
};

struct file {
	struct path f_path;
	struct address_space *f_mapping;
};

struct percpu_counter {
	__s64 count;
	__s32 *counters;
};

typedef struct {
	unsigned long pgd;
} pgd_t;

struct maple_tree {
	void *ma_root;
};

struct mm_struct {
	atomic_t mm_users;
	struct maple_tree mm_mt;
	pgd_t *pgd;
	unsigned long total_vm;
	unsigned long locked_vm;
	atomic64_t pinned_vm;
	unsigned long exec_vm;
	atomic_long_t pgtables_bytes;
	atomic_long_t hugetlb_usage;
	seqcount_t write_protect_seq;
	unsigned long ksm_merging_pages;
	int map_count;
	unsigned long hiwater_rss;
	unsigned long start_stack, arg_start, arg_end, env_start, env_end;
	struct file *exe_file;
	struct percpu_counter rss_stat[1];
};

struct vm_operations_struct;

struct vm_area_struct {
	unsigned long vm_start;
	unsigned long vm_end;
	struct mm_struct *vm_mm;
	unsigned long vm_flags;
	struct list_head anon_vma_chain;
	struct anon_vma *anon_vma;
	const struct vm_operations_struct *vm_ops;
	struct file *vm_file;
};

/* The values are the running kernel's (bpf_core_enum_value). */
enum pageflags {
	PG_head,
	PG_swapbacked,
};
enum maple_type { maple_range_64, maple_arange_64 };

struct thread_info {
	unsigned long flags; /* kread.bpf.h reads raw memory through it */
};

struct task_struct {
	struct thread_info thread_info;
	void *stack;
	unsigned int flags;
	struct list_head tasks;
	struct mm_struct *mm;
	int exit_state;
	int pid;
	int tgid;
	struct task_struct *real_parent;
	struct task_struct *group_leader;
	struct pid *thread_pid;
	struct list_head thread_node;
	__u64 start_boottime;
	const struct cred *real_cred;
	char comm[16];
	struct signal_struct *signal;
	__u64 self_exec_id;
	unsigned long maj_flt;
	struct task_delay_info *delays;
	struct css_set *cgroups;
	struct nsproxy *nsproxy;
	struct completion *vfork_done;
};

struct pt_regs {
	unsigned long sp; /* its size is that of the whole, which ends a stack */
};

struct bpf_map {
	__u32 id;
};

struct bpf_array {
	struct bpf_map map;
	void *pptrs[1];
};

struct seq_file;

struct bpf_iter_meta {
	struct seq_file *seq;
};

struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
};

#pragma clang attribute pop

#endif
