/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Other layouts of the types in vmlinux.h. CO-RE drops the part of a name behind ___. The BTF of a
 * kernel decides which layout it has, never its version.
 */
#ifndef ZMEM_FLAVORS_H
#define ZMEM_FLAVORS_H

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct rb_node {
	struct rb_node *rb_right;
	struct rb_node *rb_left;
};

struct rb_root {
	struct rb_node *rb_node;
};

/*
 * Until Linux 6.1 the resident set was one atomic per kind, plus what each thread had not added
 * yet. f1a7941243c1 ("mm: convert mm's rss stats into percpu_counter", 6.2) replaced both.
 */
struct mm_rss_stat___pre62 {
	atomic_long_t count[1];
};

struct mm_struct___pre62 {
	struct mm_rss_stat___pre62 rss_stat;
};

struct task_rss_stat___pre62 {
	int count[1];
};

struct task_struct___pre62 {
	struct task_rss_stat___pre62 rss_stat;
};

/* Until 5.18 (ksm_merging_pages) only a flag says that KSM may have merged pages of the mm. */
struct mm_struct___old {
	unsigned long flags;
	struct rb_root mm_rb;
};

/* Of mm/ksm.c: only kernels with CONFIG_KSM have it. 21fbd59136e0 (6.1) gave it its name. */
struct ksm_rmap_item {
};

struct rmap_item___pre61 {
};

/* Until 6.0 VMAs are in a red-black tree and in a list. */
struct vm_area_struct___old {
	struct vm_area_struct___old *vm_next;
	struct rb_node vm_rb;
};

/*
 * Since 9ea35a25d51b ("mm: introduce VMA flags bitmap type", 6.19) the flags are the first word of
 * a bitmap, in a union with vm_flags, which is to go.
 */
typedef struct {
	unsigned long __vma_flags[1];
} vma_flags_t;

struct vm_area_struct___bitmap {
	vma_flags_t flags;
};

/*
 * Until 6.2 the second struct page of a compound page has what is known of the whole. Before 5.16
 * there is no struct folio.
 */
struct page___old {
	struct address_space *mapping;
	atomic_t _mapcount;
	atomic_t compound_mapcount;
	atomic_t _refcount;
	unsigned char compound_order; /* until 6.3 */
};

/*
 * Processes that share a table of hugetlb pages, beside the first one; with a kernel that shares
 * them alone (59d9094df3d7, "mm: hugetlb: independent PMD page table shared count", 6.13). Before,
 * the references of the table's page.
 */
struct ptdesc {
	atomic_t pt_share_count;
};

/* Where the thread pointer of a thread is. That of x86-64 is the base of its segment fs. */
struct thread_struct {
#if defined(__TARGET_ARCH_x86)
	unsigned long fsbase;
#else
	struct {
		unsigned long tp_value;
	} uw;
#endif
};

struct task_struct___pointer {
	struct thread_struct thread;
};

struct vm_unmapped_area_info {
	unsigned long length;
};

/* kernel/events/uprobes.c: the code that the kernel puts into a process for its probes. */
struct xol_area {
	unsigned long vaddr;
};

struct uprobes_state {
	struct xol_area *xol_area;
};

struct mm_struct___probed {
	struct uprobes_state uprobes_state;
};

/* include/linux/uprobes.h: calls of a thread that have not returned, the last one first. */
struct return_instance {
	unsigned long stack, orig_ret_vaddr;
	struct return_instance *next;
};

struct uprobe_task {
	struct return_instance *return_instances;
};

struct task_struct___probed {
	struct uprobe_task *utask;
};

/* Since 5.11, where system calls are of the common entry code. */
struct thread_info___work {
	unsigned long syscall_work;
};

struct task_struct___work {
	struct thread_info___work thread_info;
};

/* Locks of address spaces; those of PREEMPT_RT are others (include/linux/rwbase_rt.h). */
struct rw_semaphore {
	atomic_long_t count;
	atomic_long_t owner;
};

struct mm_struct___locked {
	struct rw_semaphore mmap_lock;
};

struct rwbase_rt {
	atomic_t readers;
};

struct rw_semaphore___rt {
	struct rwbase_rt rwbase;
};

struct mm_struct___locked_rt {
	struct rw_semaphore___rt mmap_lock;
};

struct signal_struct___live {
	atomic_t live; /* threads that have not begun to exit */
};

struct vm_area_struct___mm {
	struct mm_struct *vm_mm;
};

#pragma clang attribute pop

/* From 5.19 on: the page of an anonymous mapping is of one process alone. */
enum pageflags___exclusive {
	PG_anon_exclusive___exclusive,
};

/* include/linux/thread_info.h */
enum syscall_work_bit {
	SYSCALL_WORK_BIT_SECCOMP,
	SYSCALL_WORK_BIT_SYSCALL_USER_DISPATCH,
};

enum pageflags___dirty {
	PG_dirty___dirty,
};

/* Until 6.1. */
enum pageflags___old {
	PG_double_map___old,
};

#endif
