// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Kernel memory that processes hold by their descriptors: queues of sockets, pipes, rings, maps of
 * BPF. The iterator visits each descriptor and holds references on the task and the open file. A
 * file that holds nothing costs some reads: its inode says so.
 *
 * Large objects have a record for each descriptor. The others are added up by kind, and have one
 * record for each process and kind.
 *
 * No lock is taken, so a size may be that of a moment before. Probe reads cannot fault.
 */
#ifndef ZMEM_PROBE_READS
#define ZMEM_PROBE_READS
#endif
#include "vmlinux.h"
#include "flavors.h"
#include "inodes.h"
#include "descriptors.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include "zmem/descriptors.h"
#include "kread.bpf.h"
#include "member.bpf.h"
#include "pid_view.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

#define BPF_F_MMAPABLE 1024

/* include/uapi/linux/stat.h */
#define S_IFMT		 0170000
#define S_IFSOCK	 0140000
#define S_IFIFO		 0010000

#define MAGIC_ANON_INODE 0x09041934 /* include/uapi/linux/magic.h */

/* include/linux/socket.h, include/uapi/linux/in.h */
#define AF_UNIX	    1
#define AF_INET	    2
#define AF_INET6    10
#define AF_NETLINK  16
#define AF_PACKET   17
#define AF_XDP	    44
#define IPPROTO_TCP 6
#define IPPROTO_UDP 17

/* The first bytes of the names of anonymous inodes. */
#define NAME_EPOLL    0x6f70746e6576655bULL /* "[eventpo" ll] */
#define NAME_INOTIFY  0x00796669746f6e69ULL /* "inotify" */
#define NAME_BPF_MAP  0x0070616d2d667062ULL /* "bpf-map" */
#define NAME_BPF_PROG 0x676f72702d667062ULL /* "bpf-prog" */
#define NAME_PERF     0x76655f667265705bULL /* "[perf_ev" ent] */
#define NAME_IO_URING 0x6e6972755f6f695bULL /* "[io_urin" g] */
#define NAME_KVM      0x00006d762d6d766bULL /* "kvm-vm" and its end */
#define KVM_MASK      0x00ffffffffffffffULL

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct zmem_descriptors);
} descriptors SEC(".maps");

static __always_inline struct zmem_descriptors *state_get(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&descriptors, &zero);
}

/* Sizes of types as they are allocated: a cache aligns its objects. */
#define size_of(type) ((__u64)bpf_core_type_size(type) + 7 & ~7ULL)

static __always_inline __u64 pages(__u64 count)
{
	const struct zmem_descriptors *s = state_get();

	return s ? count << (s->page_bits & 31) : 0;
}

static __always_inline __u64 whole_pages(__u64 bytes)
{
	return (bytes + pages(1) - 1) & ~(pages(1) - 1);
}

/* The pages of one block that has room for so many. */
static __always_inline __u64 block_of(__u64 count)
{
	if (!count)
		return 0;
	count--;
	count |= count >> 1;
	count |= count >> 2;
	count |= count >> 4;
	count |= count >> 8;
	count |= count >> 16;
	return count + 1;
}

/* Since 6.13 0 stands for one reference (FILE_REF_ONEREF, include/linux/file_ref.h). */
static __always_inline __s64 references(__u64 file)
{
	if (bpf_core_field_exists(struct file___files, f_ref))
		return (__s64)kread64(file + koffset(struct file___files, f_ref)) + 1;
	return (__s64)kread64(file + koffset(struct file___count, f_count));
}

/* ---- sockets ---- */

#define SOCK(member) koffset(struct sock___held, member)

/* On an old kernel the verifier checks each turn of a loop. */
#ifdef ZMEM_OLD
#define QUEUE_MAX 64
#else
#define QUEUE_MAX 1024
#endif

struct queue {
	__u64 head, buffer, bytes;
};

static long add_buffer(__u32 turn, struct queue *q)
{
	q->buffer = kread_raw(__u64, q->buffer);
	if (!q->buffer || q->buffer == q->head)
		return 1;
	q->bytes += kread_raw(__u32, q->buffer + koffset(struct sk_buff___held, truesize));
	return 0;
}

/*
 * A buffer of a unix socket is in the queue of the socket that receives it, and counts as sent of
 * the other one. It ends with the queue. What is behind QUEUE_MAX buffers has their average size.
 */
static __noinline __u64 unix_queue(__u64 sock)
{
	__u64 head = sock + SOCK(sk_receive_queue);
	__u32 length = kread32(head + koffset(struct sk_buff_head___held, qlen));
	struct queue q = {.head = head, .buffer = head};
	__u32 count;

	count = kloop(QUEUE_MAX, add_buffer, &q);
	return count == QUEUE_MAX && length > QUEUE_MAX ? q.bytes / QUEUE_MAX * length : q.bytes;
}

static __always_inline __u64 ring_size(__u64 ring)
{
	__u64 blocks = kread32(ring + koffset(struct packet_ring_buffer, pg_vec_len));
	__u32 order = kread32(ring + koffset(struct packet_ring_buffer, pg_vec_order));

	/* And the array of their addresses. */
	return pages(blocks << (order & 31)) + blocks * sizeof(__u64);
}

static __always_inline bool ring_is_mapped(__u64 sock)
{
	if (sizeof(long) == bpf_core_field_size(struct packet_sock, mapped))
		return kread64(sock + koffset(struct packet_sock, mapped));
	return kread32(sock + koffset(struct packet_sock___atomic, mapped));
}

static __always_inline void weigh_rings(__u64 sock, struct zmem_descriptor *d)
{
	__u64 bytes;

	if (!bpf_core_type_exists(struct packet_sock))
		return;
	bytes = ring_size(sock + koffset(struct packet_sock, rx_ring)) +
		ring_size(sock + koffset(struct packet_sock, tx_ring));
	if (!bytes)
		return;
	d->kind = ZMEM_DESCRIPTOR_PACKET;
	/* vm_insert_page() (packet_mmap(), net/packet/af_packet.c) maps all of it. */
	if (ring_is_mapped(sock))
		d->mapped = bytes;
	else
		d->bytes += bytes;
}

#define XDP_DESC 16 /* struct xdp_desc, include/uapi/linux/if_xdp.h */

/* A queue is of vmalloc(), or one block before. */
static __always_inline __u64 queue_size(__u64 queue, __u32 entry)
{
	__u64 entries = queue ? kread32(queue + koffset(struct xsk_queue, nentries)) : 0;
	__u64 bytes = whole_pages(bpf_core_type_size(struct xdp_ring) + entries * entry);

	if (!entries)
		return 0;
	if (bpf_core_field_exists(struct xsk_queue, ring_vmalloc_size))
		return bytes;
	return pages(block_of(bytes / pages(1)));
}

/*
 * The memory for packets is of the process, and in its RSS. The kernel has the addresses of its
 * pages and a description of each chunk. Queues are mapped as soon as they are used. Since they are
 * of vmalloc() that is in RSS; before, remap_pfn_range() mapped them.
 */
static __always_inline void weigh_xdp(__u64 sock, struct zmem_descriptor *d)
{
	__u64 umem, pool, queues;

	if (!bpf_core_type_exists(struct xdp_sock))
		return;
	umem = kread64(sock + koffset(struct xdp_sock, umem));
	pool = kread64(sock + koffset(struct xdp_sock, pool));
	d->kind = ZMEM_DESCRIPTOR_XDP;
	if (umem)
		d->bytes += sizeof(__u64) * kread32(umem + koffset(struct xdp_umem, npgs));
	if (pool)
		d->bytes += (size_of(struct xdp_buff_xsk) + sizeof(__u64)) *
			    kread32(pool + koffset(struct xsk_buff_pool, heads_cnt));
	queues = queue_size(kread64(sock + koffset(struct xdp_sock, rx)), XDP_DESC) +
		 queue_size(kread64(sock + koffset(struct xdp_sock, tx)), XDP_DESC) +
		 queue_size(kread64(sock + koffset(struct xdp_sock, fq_tmp)), sizeof(__u64)) +
		 queue_size(kread64(sock + koffset(struct xdp_sock, cq_tmp)), sizeof(__u64));
	if (pool)
		queues += queue_size(kread64(pool + koffset(struct xsk_buff_pool, fq)),
				     sizeof(__u64)) +
			  queue_size(kread64(pool + koffset(struct xsk_buff_pool, cq)),
				     sizeof(__u64));
	if (bpf_core_field_exists(struct xsk_queue, ring_vmalloc_size))
		d->mapped = queues;
	else
		d->bytes += queues;
}

static __always_inline __u64 positive(__u32 count)
{
	return (__s32)count > 0 ? count : 0;
}

static __noinline int weigh_socket(__u64 file, struct zmem_descriptor *d)
{
	__u64 sock = kread64(kread64(file + koffset(struct file___files, private_data)) +
			     koffset(struct socket, sk));
	__u32 family, protocol;
	__u64 sent;

	if (!sock || !d)
		return 0;
	d->object = sock;
	family = kread32(sock + SOCK(__sk_common.skc_family)) & 0xffff;
	protocol = kread32(sock + SOCK(sk_protocol)) & 0xffff;
	d->bytes = size_of(struct socket_alloc) + size_of(struct dentry) +
		   kread32(kread64(sock + SOCK(__sk_common.skc_prot)) +
			   koffset(struct proto, obj_size));
	d->kind = ZMEM_DESCRIPTOR_SOCKET;
	if (family == AF_UNIX) {
		d->kind = ZMEM_DESCRIPTOR_UNIX;
		d->bytes += unix_queue(sock);
		return 0;
	}
	d->bytes += positive(kread32(sock + SOCK(sk_backlog.rmem_alloc)));
	if ((family == AF_INET || family == AF_INET6) && protocol == IPPROTO_TCP) {
		d->kind = ZMEM_DESCRIPTOR_TCP;
		d->bytes += positive(kread32(sock + SOCK(sk_wmem_queued)));
		return 0;
	}
	/* One is the socket itself (sk_free(), net/core/sock.c). */
	sent = positive(kread32(sock + SOCK(sk_wmem_alloc)));
	d->bytes += sent ? sent - 1 : 0;
	if ((family == AF_INET || family == AF_INET6) && protocol == IPPROTO_UDP)
		d->kind = ZMEM_DESCRIPTOR_UDP;
	if (family == AF_NETLINK)
		d->kind = ZMEM_DESCRIPTOR_NETLINK;
	if (family == AF_PACKET)
		weigh_rings(sock, d);
	if (family == AF_XDP)
		weigh_xdp(sock, d);
	return 0;
}

/* ---- pipes ---- */

struct buffers {
	__u64 first, last, mask; /* of the ring, and its size less one */
	__u64 ring;
	__u64 pages;
};

/* The members of struct page and of struct folio are at the same place. */
static __always_inline __u64 mapping_of(__u64 page)
{
	return kread_raw(__u64, page + (bpf_core_field_exists(struct page___old, mapping)
						? koffset(struct page___old, mapping)
						: member_place(folio, mapping)));
}

/*
 * Counts a page that was written to the pipe. One that splice() or vmsplice() put there has the
 * mapping of its file or process, and counts there.
 */
static long add_page(__u32 turn, struct buffers *b)
{
	__u64 at = b->first + turn, page;

	if (at >= b->last)
		return 1;
	page = kread_raw(__u64, b->ring + (at & b->mask) * bpf_core_type_size(struct pipe_buffer) +
					koffset(struct pipe_buffer, page));
	if (page && !mapping_of(page))
		b->pages++;
	return 0;
}

/* Pages that were read are kept for what is written next. */
static __always_inline __u64 spare_pages(__u64 pipe)
{
	__u64 spares = pipe + koffset(struct pipe_inode_info___spares, tmp_page);

	if (bpf_core_field_exists(struct pipe_inode_info___counted, prealloc))
		return kread32(pipe + koffset(struct pipe_inode_info___counted, prealloc.count));
	if (bpf_core_field_exists(struct pipe_inode_info___spares, tmp_page))
		return !!kread64(spares) + !!kread64(spares + sizeof(__u64));
	if (bpf_core_field_exists(struct pipe_inode_info, tmp_page))
		return !!kread64(pipe + koffset(struct pipe_inode_info, tmp_page));
	return 0;
}

/*
 * Both ends and each open of a FIFO have a file: each counts its part. What is behind QUEUE_MAX
 * buffers is as those are.
 */
static __noinline int weigh_pipe(__u64 inode, struct zmem_descriptor *d)
{
	__u64 pipe = kread64(inode + koffset(struct inode___pipe, i_pipe));
	struct buffers b = {};
	__u64 size, used;
	__u32 files;

	if (!pipe || !d)
		return 0;
	d->object = pipe;
	d->kind = ZMEM_DESCRIPTOR_PIPE;
	b.first = kread32(pipe + koffset(struct pipe_inode_info, tail));
	used = positive(kread32(pipe + koffset(struct pipe_inode_info, head)) - (__u32)b.first);
	size = kread32(pipe + koffset(struct pipe_inode_info, ring_size));
	files = kread32(pipe + koffset(struct pipe_inode_info, files));
	b.last = b.first + used;
	b.mask = size - 1;
	b.ring = kread64(pipe + koffset(struct pipe_inode_info, bufs));
	/* A number that the verifier takes for any: then all turns are alike to it. */
	b.pages = pipe;
	kloop(QUEUE_MAX, add_page, &b);
	b.pages -= pipe;
	if (used > QUEUE_MAX)
		b.pages = b.pages * used / QUEUE_MAX;
	b.pages += spare_pages(pipe);
	d->bytes = pages(b.pages) + size * bpf_core_type_size(struct pipe_buffer) +
		   size_of(struct pipe_inode_info) + size_of(struct inode) + size_of(struct dentry);
	d->own = pages(b.pages);
	d->files = files > 0xffff ? 0xffff : files;
	return 0;
}

/* ---- anonymous inodes ---- */

/* include/linux/io_uring_types.h, include/uapi/linux/io_uring.h */
#define IO_REGION_F_USER_PROVIDED 2
#define IO_REGION_F_SINGLE_REF	  4
#define IORING_SETUP_NO_MMAP	  (1 << 14)

/* A process maps what it needs of the block (vm_insert_pages()); the rest is of the kernel. */
static __always_inline void add_region(__u64 region, struct zmem_descriptor *d)
{
	__u64 count = kread32(region + koffset(struct io_mapped_region, nr_pages));
	__u32 flags = kread32(region + koffset(struct io_mapped_region, flags));

	if (flags & IO_REGION_F_USER_PROVIDED)
		return;
	d->mapped += pages(count);
	if (flags & IO_REGION_F_SINGLE_REF)
		d->bytes += pages(block_of(count) - count);
}

/*
 * Until 6.9 rings are mapped without struct pages (remap_pfn_range()), so they are not in RSS.
 * Until 6.13, and in a late 6.1, the ring tells the number of its pages, if it has struct pages.
 */
static __always_inline void add_rings(__u64 ring, struct zmem_descriptor *d)
{
	__u64 sq = kread32(ring + koffset(struct io_ring_ctx___held, sq_entries));
	__u64 cq = kread32(ring + koffset(struct io_ring_ctx___held, cq_entries));
	__u64 rings = 0, entries = 0;

	if (kread32(ring + koffset(struct io_ring_ctx___held, flags)) & IORING_SETUP_NO_MMAP)
		return;
	if (bpf_core_field_exists(struct io_ring_ctx___pages, n_ring_pages)) {
		rings = kread32(ring + koffset(struct io_ring_ctx___pages, n_ring_pages)) & 0xffff;
		entries = kread32(ring + koffset(struct io_ring_ctx___pages, n_sqe_pages)) & 0xffff;
	}
	/* Each is one block, unless there was none (io_mem_alloc_compound()). */
	if (rings) {
		d->mapped += pages(rings + entries);
		d->bytes += pages(block_of(rings) - rings + block_of(entries) - entries);
		return;
	}
	d->bytes += pages(block_of(whole_pages(sq * bpf_core_type_size(struct io_uring_sqe)) /
				   pages(1))) +
		    pages(block_of(whole_pages(bpf_core_type_size(struct io_rings) +
					       cq * bpf_core_type_size(struct io_uring_cqe) +
					       sq * sizeof(__u32)) /
				   pages(1)));
}

static __always_inline void weigh_io_uring(__u64 ring, struct zmem_descriptor *d)
{
	if (!bpf_core_type_exists(struct io_ring_ctx___held))
		return;
	d->object = ring;
	d->kind = ZMEM_DESCRIPTOR_IO_URING;
	d->bytes = bpf_core_type_size(struct io_ring_ctx___held);
	if (!bpf_core_field_exists(struct io_ring_ctx___regions, sq_region)) {
		add_rings(ring, d);
		return;
	}
	add_region(ring + koffset(struct io_ring_ctx___regions, sq_region), d);
	add_region(ring + koffset(struct io_ring_ctx___regions, ring_region), d);
}

#define PERF_LOOKS 32

struct touched {
	__u64 place; /* of the address of the next page that is looked at */
	__u64 left, step;
	__u64 direct, vmemmap, bits;
	__u64 found;
};

static long add_touched(__u32 turn, struct touched *t)
{
	__u64 address, page;

	if (!t->left)
		return 1;
	address = kread_raw(__u64, t->place);
	page = t->vmemmap +
	       ((address - t->direct) >> (t->bits & 63)) * bpf_core_type_size(struct page___old);
	t->found += mapping_of(page) != 0;
	t->place += t->step * sizeof(__u64);
	t->left--;
	return 0;
}

/*
 * Until 6.13 a page of a ring is mapped when the process touches it (perf_mmap_fault()), and is in
 * RSS from then on. It has a mapping then. Later kernels map all pages at once, without any in RSS.
 * Looks at some of the `count` pages. A global function: the verifier looks at it once.
 */
__noinline __u64 touched_pages(__u64 place, __u64 count)
{
	const struct zmem_descriptors *s = state_get();
	struct touched t = {.place = place};
	__u64 looks;

	if (!s || !s->vmemmap || !count)
		return 0;
	t.direct = s->direct;
	t.vmemmap = s->vmemmap;
	t.bits = s->page_bits;
	t.step = (count + PERF_LOOKS - 1) / PERF_LOOKS;
	t.left = looks = count / t.step;
	/* A number that the verifier takes for any: then all turns are alike to it. */
	t.found = place;
	kloop(PERF_LOOKS, add_touched, &t);
	return (t.found - place) * count / looks;
}

static __always_inline void weigh_perf(__u64 event, struct zmem_descriptor *d)
{
	__u64 buffer, count, aux, touched;

	if (!bpf_core_type_exists(struct perf_event))
		return;
	buffer = kread64(event + koffset(struct perf_event, rb));
	d->object = buffer ? buffer : event;
	d->kind = ZMEM_DESCRIPTOR_PERF;
	d->bytes = bpf_core_type_size(struct perf_event);
	if (!buffer)
		return;
	count = positive(kread32(buffer + koffset(struct perf_buffer, nr_pages)));
	aux = positive(kread32(buffer + koffset(struct perf_buffer, aux_nr_pages)));
	touched = touched_pages(buffer + koffset(struct perf_buffer, data_pages), count);
	/* And the page in front of them, which tells where they are written. */
	touched += touched != 0;
	touched += touched_pages(kread64(buffer + koffset(struct perf_buffer, aux_pages)), aux);
	d->mapped = pages(touched);
	d->bytes += pages(1 + count + aux - touched);
}

#define XA_SLOTS 64

/* A node of a tree, which has the address of an entry that is no node in its lowest bits. */
static __always_inline __u64 node_at(__u64 place)
{
	__u64 entry = kread_raw(__u64, place);

	return (entry & 3) == 2 ? entry - 2 : 0;
}

struct watches {
	__u64 slots, count;
};

static long add_child(__u32 turn, struct watches *w)
{
	__u64 child = node_at(w->slots + turn * sizeof(__u64));

	if (child)
		w->count += kread_raw(__u8, child + koffset(struct xa_node___counted, count));
	return 0;
}

/*
 * The watches have numbers, which are the indexes of a tree. Its nodes count what they have. Nodes
 * below the second level are taken to be full: numbers are given one after the other.
 */
static __noinline __u64 count_watches(__u64 group)
{
	__u64 node =
		node_at(group + koffset(struct fsnotify_group, inotify_data.idr.idr_rt.xa_head));
	struct watches w = {};
	__u32 shift;

	if (!node)
		return kread64(group + koffset(struct fsnotify_group,
					       inotify_data.idr.idr_rt.xa_head)) != 0;
	shift = kread32(node + koffset(struct xa_node___counted, shift)) & 0xff;
	if (!shift)
		return kread32(node + koffset(struct xa_node___counted, count)) & 0xff;
	w.slots = node + koffset(struct xa_node___counted, slots);
	/* A number that the verifier takes for any: then all turns are alike to it. */
	w.count = node;
	kloop(XA_SLOTS, add_child, &w);
	return (w.count - node) << ((shift - 6) & 31);
}

static __always_inline void weigh_inotify(__u64 group, struct zmem_descriptor *d)
{
	if (!bpf_core_type_exists(struct inotify_inode_mark))
		return;
	d->object = group;
	d->kind = ZMEM_DESCRIPTOR_INOTIFY;
	d->bytes = size_of(struct fsnotify_group) +
		   count_watches(group) * (size_of(struct inotify_inode_mark) +
					   size_of(struct fsnotify_mark_connector));
}

#define TABLE_ENTRIES 512

/* Of a guest without nested paging. */
static __always_inline __u64 shadow_tables(__u64 kvm)
{
	if (bpf_core_field_exists(struct kvm, arch.n_used_mmu_pages))
		return kread64(kvm + koffset(struct kvm, arch.n_used_mmu_pages));
	if (bpf_core_field_exists(struct kvm, stat.mmu_shadow_pages))
		return kread64(kvm + koffset(struct kvm, stat.mmu_shadow_pages));
	return 0;
}

/*
 * Some kernels do not count the tables of nested paging (6.1, and 6.18 and later). They count what
 * is mapped there: it takes at least so many tables.
 */
static __always_inline __u64 guest_tables(__u64 kvm)
{
	__u64 count = shadow_tables(kvm), least = 0;

	if (bpf_core_field_exists(struct kvm, arch.tdp_mmu_pages.counter))
		return count + kread64(kvm + koffset(struct kvm, arch.tdp_mmu_pages.counter));
	if (bpf_core_field_exists(struct kvm, stat.pages_4k.counter) &&
	    bpf_core_field_exists(struct kvm, stat.pages_2m.counter))
		least = (kread64(kvm + koffset(struct kvm, stat.pages_4k.counter)) +
			 kread64(kvm + koffset(struct kvm, stat.pages_2m.counter))) /
			TABLE_ENTRIES;
	return count > least ? count : least;
}

/* Its tables for the memory of the guest, which is memory of the process. */
static __always_inline void weigh_kvm(__u64 kvm, struct zmem_descriptor *d)
{
	if (!bpf_core_type_exists(struct kvm))
		return;
	d->object = kvm;
	d->kind = ZMEM_DESCRIPTOR_KVM;
	d->bytes = bpf_core_type_size(struct kvm) +
		   guest_tables(kvm) * (pages(1) + bpf_core_type_size(struct kvm_mmu_page));
}

/*
 * Whether a process has mapped the map and may write there (bpf_map_mmap(), kernel/bpf/syscall.c):
 * its pages are in RSS then. The kernel counts updates, too, while they last.
 */
static __always_inline bool map_is_mapped(__u64 map)
{
	__u32 type = kread32(map + koffset(struct bpf_map___held, map_type));
	__u32 flags = kread32(map + koffset(struct bpf_map___held, map_flags));

	if (!bpf_core_field_exists(struct bpf_map___held, writecnt))
		return false;
	if (!(flags & BPF_F_MMAPABLE) && type != BPF_MAP_TYPE_RINGBUF &&
	    type != BPF_MAP_TYPE_USER_RINGBUF)
		return false;
	return kread64(map + koffset(struct bpf_map___held, writecnt)) != 0;
}

static __noinline int weigh_anonymous(__u64 file, struct zmem_descriptor *d)
{
	__u64 dentry = kread64(file + koffset(struct file, f_path.dentry));
	__u64 name = kread64(kread64(dentry + koffset(struct dentry, d_name.name)));
	__u64 data = kread64(file + koffset(struct file___files, private_data));
	__u64 aux;

	if (!d || !data)
		return 0;
	if (name == NAME_BPF_MAP || name == NAME_BPF_PROG)
		d->files = d->refs > 0xffff ? 0xffff : d->refs;
	switch (name) {
	case NAME_BPF_MAP:
		d->object = data;
		d->kind = ZMEM_DESCRIPTOR_BPF_MAP;
		d->refs = (__s64)kread64(data + koffset(struct bpf_map___held, refcnt));
		/* User space asks the kernel how large it is, by its number. */
		d->own = kread32(data + koffset(struct bpf_map___held, id));
		d->mapped = map_is_mapped(data);
		break;
	case NAME_BPF_PROG:
		aux = kread64(data + koffset(struct bpf_prog___held, aux));
		d->object = data;
		d->kind = ZMEM_DESCRIPTOR_BPF_PROG;
		d->refs = (__s64)kread64(aux + koffset(struct bpf_prog_aux___held, refcnt));
		d->bytes = pages(kread32(data + koffset(struct bpf_prog___held, pages)) & 0xffff) +
			   kread32(data + koffset(struct bpf_prog___held, jited_len));
		break;
	case NAME_IO_URING:
		weigh_io_uring(data, d);
		break;
	case NAME_PERF:
		weigh_perf(data, d);
		break;
	case NAME_INOTIFY:
		weigh_inotify(data, d);
		break;
	default:
		if ((name & KVM_MASK) == NAME_KVM)
			weigh_kvm(data, d);
		break;
	}
	return 0;
}

/* ---- processes ---- */

#define WATCHERS_MAX 4

/* Entries of epoll are in a list of the file that they watch, and end with it. */
static __noinline __u64 count_watchers(__u64 file)
{
	__u64 node, count = 0;

	/* CONFIG_EPOLL */
	if (!bpf_core_type_exists(struct epitem___held))
		return 0;
	if (!bpf_core_field_exists(struct file___polled, f_ep)) {
		node = kread64(file + koffset(struct file___links, f_ep_links));
		return node && node != file + koffset(struct file___links, f_ep_links);
	}
	node = kread64(file + koffset(struct file___polled, f_ep));
	for (int i = 0; node && i < WATCHERS_MAX; i++) {
		node = kread_raw(__u64, node);
		count += node != 0;
	}
	return count;
}

/*
 * Writes the sums of the process, and returns 0. A file that finds no room in the buffer is visited
 * again, and what was written for it is void: so nothing is cleared before all of it is written.
 */
static __always_inline int write_sums(struct seq_file *seq, const struct zmem_descriptors *s)
{
	struct zmem_descriptor d;

	for (int i = 0; i < ZMEM_DESCRIPTOR_KINDS; i++) {
		if (!s->sum[i].descriptors)
			continue;
		__builtin_memset(&d, 0, sizeof(d));
		d.pid = s->pid;
		d.kind = i;
		d.bytes = s->sum[i].bytes;
		d.own = s->sum[i].own;
		d.descriptors = s->sum[i].descriptors;
		if (bpf_seq_write(seq, &d, sizeof(d)))
			return 1;
	}
	return 0;
}

/* `own`: what of it ends with the process. */
static __always_inline void add_sum(struct zmem_descriptors *s, __u32 kind, __u64 bytes, __s64 refs,
				    __u64 own)
{
	struct zmem_descriptor_sum *sum;

	if (kind >= ZMEM_DESCRIPTOR_KINDS)
		return;
	sum = &s->sum[kind];
	if (refs < 1)
		refs = 1;
	sum->bytes += bytes / (__u64)refs;
	if (refs == 1 && s->alone)
		sum->own += own;
	sum->descriptors++;
}

/*
 * A pipe ends with the last of its files. Those of pipe(2) have neighboring descriptors: other ends
 * may belong to other processes, and are left out.
 */
static __always_inline void add_object(struct zmem_descriptors *s, const struct zmem_descriptor *d,
				       __s64 refs)
{
	__u64 own = d->bytes, bytes = d->bytes, half = 0;

	if (d->kind == ZMEM_DESCRIPTOR_PIPE && d->files > 1) {
		bytes /= d->files;
		if (d->files != 2 || s->half != d->object)
			own = 0;
		if (d->files == 2 && refs == 1)
			half = d->object;
	}
	s->half = half;
	add_sum(s, d->kind, bytes, refs, own);
}

/* The bytes of the table of descriptors, with its three bitmaps. */
static __always_inline __u64 table_size(__u64 task)
{
	__u64 files = kread64(task + koffset(struct task_struct___held, files));
	__u64 table = kread64(files + koffset(struct files_struct___size, fdt));
	__u64 slots = kread32(table + koffset(struct fdtable___size, max_fds));

	return slots * sizeof(__u64) + slots / 4;
}

/* Each thread has a reference of the table: are there more, it is another process's as well. */
static __always_inline bool has_own_table(__u64 leader, __u64 task)
{
	__u64 files = kread64(task + koffset(struct task_struct___held, files));
	__u64 signal = kread64(leader + koffset(struct task_struct, signal));

	return kread32(files + koffset(struct files_struct___size, count)) <=
	       kread32(signal + koffset(struct signal_struct, nr_threads));
}

SEC("iter/task_file")
int list_descriptors(struct bpf_iter__task_file *ctx)
{
	struct task_struct *task = ctx->task;
	struct file *file = ctx->file;
	struct zmem_descriptors *s = state_get();
	struct zmem_descriptor d = {};
	struct pid_view view;
	__u64 addr, inode, leader = 0, watchers = 0;
	__u32 mode;
	__s64 refs;

	if (!s)
		return 0;
	/* The kernel then ends the read(2), and shows the file again in the next one. */
	if (s->files >= ZMEM_DESCRIPTOR_FILES)
		return 1;
	if (task)
		leader = kread_raw(__u64, &task->group_leader);
	/* Behind the last one there is no file. */
	if (s->leader && (!file || s->leader != leader) && write_sums(ctx->meta->seq, s))
		return 0;
	if (!task || !file) {
		s->leader = 0;
		return 0;
	}
	/* A number to the verifier, which a pointer would not be. */
	addr = kread_raw(__u64, &ctx->file);
	inode = kread_raw(__u64, addr + koffset(struct file___files, f_inode));
	mode = kread_raw(__u32, inode + koffset(struct inode, i_mode)) & S_IFMT;
	refs = references(addr) - 1; /* one is the iterator's */
	d.refs = refs;
	if (mode == S_IFSOCK)
		weigh_socket(addr, &d);
	else if (mode == S_IFIFO)
		weigh_pipe(inode, &d);
	else if (kread64(kread64(inode + koffset(struct inode, i_sb)) +
			 member_offset(super_block, s_magic)) == MAGIC_ANON_INODE)
		weigh_anonymous(addr, &d);
	if (d.object || !mode)
		watchers = count_watchers(addr);

	if (d.object && (d.bytes + d.mapped >= ZMEM_DESCRIPTOR_LARGE ||
			 d.kind == ZMEM_DESCRIPTOR_BPF_MAP || d.kind == ZMEM_DESCRIPTOR_BPF_PROG)) {
		view = reader_view();
		d.file = addr;
		d.fd = ctx->fd;
		d.descriptors = 1;
		d.pid = pid_number(kget(kcast(struct task_struct, leader), thread_pid), &view);
		if (bpf_seq_write(ctx->meta->seq, &d, sizeof(d)))
			return 0;
		d.object = 0;
	}
	if (s->leader != leader) {
		view = reader_view();
		__builtin_memset(s->sum, 0, sizeof(s->sum));
		s->leader = leader;
		s->pid = pid_number(kget(kcast(struct task_struct, leader), thread_pid), &view);
		s->half = 0;
		s->alone = has_own_table(leader, kread_raw(__u64, &ctx->task));
		s->sum[ZMEM_DESCRIPTOR_FILE].bytes = table_size(kread_raw(__u64, &ctx->task));
		s->sum[ZMEM_DESCRIPTOR_FILE].own =
			s->alone ? s->sum[ZMEM_DESCRIPTOR_FILE].bytes : 0;
	}
	s->files++;
	add_sum(s, ZMEM_DESCRIPTOR_FILE, size_of(struct file), refs, size_of(struct file));
	if (d.object)
		add_object(s, &d, refs);
	if (bpf_core_type_exists(struct epitem___held) && watchers) {
		watchers *= bpf_core_type_size(struct epitem___held) +
			    bpf_core_type_size(struct eppoll_entry___held);
		add_sum(s, ZMEM_DESCRIPTOR_EPOLL, watchers, refs, watchers);
	}
	return 0;
}
