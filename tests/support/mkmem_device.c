// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* mkmem's shapes of mappings that a driver or the kernel fills or monitors. */
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/if_packet.h>
#include <linux/io_uring.h>
#include <linux/perf_event.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "mkmem.h"

/* The headers of the C library may lack these. */
#ifndef MADV_GUARD_INSTALL
#define MADV_GUARD_INSTALL 102
#endif

/* Skips if the call is missing (older kernel) or denied (container). */
static void need_fd(int fd, const char *what)
{
	if (fd >= 0)
		return;
	if (errno == ENOSYS || errno == EAFNOSUPPORT || errno == ENOENT)
		shape_lack("not in this kernel");
	if (errno == EPERM || errno == EACCES)
		shape_skip("it is not allowed");
	shape_fail(what);
}

static char *map_ring(int fd, size_t size, off_t offset)
{
	char *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, offset);

	if (p == MAP_FAILED)
		shape_fail("mmap");
	touch(p, size);
	return p;
}

static void shape_perf_ring(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_DUMMY,
		.disabled = 1,
		.exclude_kernel = 1,
	};
	int fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);

	need_fd(fd, "perf_event_open");
	map_ring(fd, 9 * PAGE, 0);
}

/* Protocol 0: the socket receives nothing. */
static void shape_packet_ring(void)
{
	int fd = socket(AF_PACKET, SOCK_RAW, 0);
	struct tpacket_req ring = {
		.tp_block_size = 16 * PAGE,
		.tp_block_nr = 8,
		.tp_frame_size = 2048,
		.tp_frame_nr = 8 * 16 * PAGE / 2048,
	};

	need_fd(fd, "a packet socket");
	if (setsockopt(fd, SOL_PACKET, PACKET_RX_RING, &ring, sizeof(ring)))
		shape_fail("PACKET_RX_RING");
	set_area('a', map_ring(fd, 8 * 16 * PAGE, 0), 8 * 16 * PAGE);
	steps("sharer { touch a }");
}

static void shape_io_uring(void)
{
	struct io_uring_params params = {};
	int fd = syscall(SYS_io_uring_setup, 256, &params);

	need_fd(fd, "io_uring_setup");
	map_ring(fd, params.cq_off.cqes + params.cq_entries * sizeof(struct io_uring_cqe),
		 IORING_OFF_SQ_RING);
	map_ring(fd, params.sq_entries * sizeof(struct io_uring_sqe), IORING_OFF_SQES);
	role_start("child", NULL, NULL);
}

static void shape_bpf_map(void)
{
	union bpf_attr attr = {
		.map_type = BPF_MAP_TYPE_ARRAY,
		.key_size = 4,
		.value_size = 8,
		.max_entries = 64 * PAGE / 8,
		.map_flags = BPF_F_MMAPABLE,
	};
	int fd = syscall(SYS_bpf, BPF_MAP_CREATE, &attr, sizeof(attr));

	need_fd(fd, "a BPF map");
	set_area('a', map_ring(fd, 64 * PAGE, 0), 64 * PAGE);
	steps("fill a; sharer { touch a }");
}

static void shape_aio_ring(void)
{
	unsigned long context = 0;
	long error = syscall(SYS_io_setup, 2000, &context);

	need_fd(error, "io_setup");
	/* The context id is the address of the ring; an event takes 32 bytes. */
	touch((char *)context, 2000 * 32);
	role_start("child", NULL, NULL);
}

/* ---- page table entries that are neither page nor swap, and marked pages ---- */

static void write_protect(int fd, char *p, size_t size)
{
	struct uffdio_writeprotect wp = {
		.range = {(uintptr_t)p, size},
		.mode = UFFDIO_WRITEPROTECT_MODE_WP,
	};

	if (ioctl(fd, UFFDIO_WRITEPROTECT, &wp))
		shape_fail("UFFDIO_WRITEPROTECT");
}

static bool watch(int fd, char *p, size_t size)
{
	struct uffdio_register r = {
		.range = {(uintptr_t)p, size},
		.mode = UFFDIO_REGISTER_MODE_WP,
	};

	return !ioctl(fd, UFFDIO_REGISTER, &r);
}

#ifdef __aarch64__
#define UFFD_WP_SINCE 610
#else
#define UFFD_WP_SINCE 507
#endif

static void shape_uffd_wp(void)
{
	struct uffdio_api api = {.api = UFFD_API};
	int fd = syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK);
	char *anon, *shared, *huge;

	need_fd(fd, "userfaultfd");
	anon = map_small(4 * MIB);
	shared = map_memory(2 * MIB, MAP_SHARED);
	huge = map_aligned(HUGE);
	if (ioctl(fd, UFFDIO_API, &api))
		shape_fail("UFFDIO_API");
	fill(anon, 2 * MIB);
	fill(shared, MIB);
	madvise(huge, HUGE, MADV_HUGEPAGE);
	fill(huge, HUGE);
	if (!(api.features & UFFD_FEATURE_PAGEFAULT_FLAG_WP) || !watch(fd, anon, 4 * MIB) ||
	    !watch(fd, huge, HUGE))
		shape_before(UFFD_WP_SINCE, "no write protection by userfaultfd");
	/* Protects pages and, from 5.19, empty entries by markers. */
	write_protect(fd, anon, 3 * MIB);
	write_protect(fd, huge, HUGE);
	if (watch(fd, shared, 2 * MIB))
		write_protect(fd, shared, 2 * MIB);
	role_start("child", NULL, NULL);
	/* Stays protected as PTEs. */
	protect(huge + HUGE / 2, HUGE / 2, PROT_NONE);
}

void guard(char *p, size_t size)
{
	if (!madvise(p, size, MADV_GUARD_INSTALL))
		return;
	if (errno == EINVAL)
		shape_before(613, "no guard pages");
	shape_fail("MADV_GUARD_INSTALL");
}

/* The key is in the entry, above the page's number. */
static void shape_pkey(void)
{
	int key = pkey_alloc(0, 0);
	char *p = map_small(MIB);

	if (key < 0 && (errno == ENOSPC || errno == ENOSYS || errno == EINVAL))
		shape_lack("no protection keys in this processor");
	if (key < 0)
		shape_fail("pkey_alloc");
	fill(p, MIB);
	if (pkey_mprotect(p, MIB / 2, PROT_READ | PROT_WRITE, key))
		shape_fail("pkey_mprotect");
	set_area('a', p, MIB);
	steps("writer { fill a:.75M }");
}

const struct shape device_shapes[] = {
	{"perf_ring", "the ring of a perf event", .run = shape_perf_ring},
	{"packet_ring", "the ring of a packet socket", .run = shape_packet_ring},
	{"io_uring", "io_uring's rings", .run = shape_io_uring},
	{"bpf_map", "a BPF map", .run = shape_bpf_map},
	{"aio_ring", "the ring of asynchronous I/O", .run = shape_aio_ring},
	{"uffd_wp", "pages write-protected by userfaultfd", .run = shape_uffd_wp},
	{"guard", "guard pages", "a = small 2M; fill a:1M; guard a+.5M:1M; writer { fill a:.5M }"},
	{"pkey", "pages with a protection key", .run = shape_pkey},
	{},
};
