/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The kernel types that bpf/descriptors.bpf.c reads, by the rules of vmlinux.h: what descriptors
 * lead to. Members of types that other programs read are in flavors ___held.
 */
#ifndef ZMEM_VMLINUX_DESCRIPTORS_H
#define ZMEM_VMLINUX_DESCRIPTORS_H

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

typedef struct {
	atomic_t refs;
} refcount_t;

/* ---- files ---- */

/* Since 5.11; before, a list_head f_ep_links. */
struct file___polled {
	struct hlist_head *f_ep;
};

struct file___links {
	struct list_head f_ep_links;
};

struct fdtable___size {
	unsigned int max_fds;
};

struct files_struct___size {
	struct fdtable___size *fdt;
	atomic_t count;
};

struct task_struct___held {
	struct files_struct___size *files;
};

struct inode___pipe {
	struct pipe_inode_info *i_pipe;
};

/* ---- pipes ---- */

struct pipe_buffer {
	struct page *page;
};

struct pipe_inode_info {
	unsigned int head;
	unsigned int tail;
	unsigned int ring_size;
	unsigned int files;
	struct page *tmp_page;
	struct pipe_buffer *bufs;
};

/* Since some 6.14. */
struct pipe_inode_info___spares {
	struct page *tmp_page[2];
};

/* Not in 6.18; in 7.3. */
struct anon_pipe_prealloc {
	unsigned int count;
};

struct pipe_inode_info___counted {
	struct anon_pipe_prealloc prealloc;
};

/* ---- sockets ---- */

struct proto {
	unsigned int obj_size;
};

struct sock_common___held {
	unsigned short skc_family;
	unsigned char skc_state;
	struct proto *skc_prot;
};

struct sk_buff_head___held {
	struct sk_buff *next;
	__u32 qlen;
};

struct sk_buff___held {
	struct sk_buff *next;
	unsigned int truesize;
};

struct sock___held {
	struct sock_common___held __sk_common;
	struct sk_buff_head___held sk_receive_queue;
	struct {
		atomic_t rmem_alloc;
	} sk_backlog;
	refcount_t sk_wmem_alloc;
	int sk_wmem_queued;
	__u16 sk_type;
	__u16 sk_protocol;
};

struct socket_alloc {
};

struct packet_ring_buffer {
	unsigned int pg_vec_order;
	unsigned int pg_vec_len;
};

struct packet_sock {
	struct packet_ring_buffer rx_ring;
	struct packet_ring_buffer tx_ring;
	atomic_long_t mapped;
};

/* Without a fix of 2024, which stable kernels have too. */
struct packet_sock___atomic {
	atomic_t mapped;
};

struct xsk_queue {
	__u32 nentries;
	unsigned long ring_vmalloc_size; /* not in 6.1 */
};

/* In front of the entries of a queue. */
struct xdp_ring {
};

struct xdp_umem {
	__u32 npgs;
};

struct xdp_buff_xsk {
};

struct xsk_buff_pool {
	__u32 heads_cnt;
	struct xsk_queue *fq;
	struct xsk_queue *cq;
};

struct xdp_sock {
	struct xsk_queue *rx;
	struct xsk_queue *tx;
	struct xdp_umem *umem;
	struct xsk_buff_pool *pool;
	struct xsk_queue *fq_tmp;
	struct xsk_queue *cq_tmp;
};

/* ---- BPF ---- */

struct bpf_map___held {
	enum bpf_map_type map_type;
	__u32 map_flags;
	__u32 id;
	atomic64_t refcnt;
	atomic64_t writecnt;
};

struct bpf_prog_aux___held {
	atomic64_t refcnt;
	__u32 id;
};

struct bpf_prog___held {
	__u16 pages;
	__u32 jited_len;
	struct bpf_prog_aux___held *aux;
};

/* ---- io_uring ---- */

struct io_uring_sqe {
};

struct io_uring_cqe {
};

struct io_rings {
};

struct io_ring_ctx___held {
	unsigned int flags;
	unsigned int sq_entries;
	unsigned int cq_entries;
};

/* Since 6.14: the memory that a process can map. */
struct io_mapped_region {
	unsigned int nr_pages;
	unsigned int flags;
};

struct io_ring_ctx___pages {
	unsigned short n_ring_pages;
	unsigned short n_sqe_pages;
};

struct io_ring_ctx___regions {
	struct io_mapped_region sq_region;
	struct io_mapped_region ring_region;
};

/* ---- events ---- */

struct perf_buffer {
	int nr_pages;
	int aux_nr_pages;
	void **aux_pages;
	void *data_pages[1];
};

struct perf_event {
	struct perf_buffer *rb;
};

struct epitem___held {
	struct hlist_node fllink;
};

struct eppoll_entry___held {
};

struct idr___tree {
	struct {
		void *xa_head;
	} idr_rt;
};

struct inotify_group_private_data {
	struct idr___tree idr;
};

struct fsnotify_group {
	struct inotify_group_private_data inotify_data;
};

struct inotify_inode_mark {
};

struct fsnotify_mark_connector {
};

struct xa_node___counted {
	unsigned char shift;
	unsigned char count;
	void *slots[1];
};

/* ---- KVM, mostly a module ---- */

struct kvm_arch {
	unsigned long n_used_mmu_pages;
	atomic64_t tdp_mmu_pages; /* in 6.12; a list in 6.1, and not in 6.18 */
};

struct kvm_vm_stat {
	__u64 mmu_shadow_pages; /* in 7.3 instead of n_used_mmu_pages */
	atomic64_t pages_4k;	/* not in 5.10; what is mapped, by size */
	atomic64_t pages_2m;
};

struct kvm {
	struct kvm_arch arch;
	struct kvm_vm_stat stat;
};

struct kvm_mmu_page {
};

#pragma clang attribute pop

#endif
