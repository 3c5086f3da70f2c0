// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* mkmem's words for mappings that a driver or the kernel fills or monitors. */
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

/* ---- rings ---- */

static int perf_event(size_t unused)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_DUMMY,
		.disabled = 1,
		.exclude_kernel = 1,
	};

	(void)unused;
	return need_fd(syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0), "perf_event_open");
}

/* Protocol 0: the socket receives nothing. */
static int packet_ring(size_t size)
{
	int fd = need_fd(socket(AF_PACKET, SOCK_RAW, 0), "a packet socket");
	struct tpacket_req ring = {
		.tp_block_size = 16 * PAGE,
		.tp_block_nr = size / (16 * PAGE),
		.tp_frame_size = 2048,
		.tp_frame_nr = size / 2048,
	};

	if (setsockopt(fd, SOL_PACKET, PACKET_RX_RING, &ring, sizeof(ring)))
		shape_fail("PACKET_RX_RING");
	return fd;
}

int uring_file(size_t unused)
{
	struct io_uring_params params = {};

	(void)unused;
	return need_fd(syscall(SYS_io_uring_setup, 256, &params), "io_uring_setup");
}

static int bpf_map(size_t size)
{
	union bpf_attr attr = {
		.map_type = BPF_MAP_TYPE_ARRAY,
		.key_size = 4,
		.value_size = 8,
		.max_entries = size / 8,
		.map_flags = BPF_F_MMAPABLE,
	};

	return need_fd(syscall(SYS_bpf, BPF_MAP_CREATE, &attr, sizeof(attr)), "a BPF map");
}

static char *aio_ring(size_t size)
{
	unsigned long context = 0;

	/* The context id is the address of the ring; an event takes 32 bytes. */
	need_fd(syscall(SYS_io_setup, size / 32, &context), "io_setup");
	return (char *)context;
}

/* ---- page table entries that are neither page nor swap, and marked pages ---- */

#ifdef __aarch64__
#define UFFD_WP_SINCE 610
#else
#define UFFD_WP_SINCE 507
#endif

/* Protects pages and, from 5.19, empty entries by markers; shared memory where it is possible. */
static void write_protect(char *p, size_t size)
{
	static int fd = -1;
	struct uffdio_api api = {.api = UFFD_API};
	struct uffdio_register r = {
		.range = {(uintptr_t)p, size},
		.mode = UFFDIO_REGISTER_MODE_WP,
	};
	struct uffdio_writeprotect wp = {r.range, UFFDIO_WRITEPROTECT_MODE_WP};
	bool first = fd < 0;

	if (first) {
		fd = need_fd(syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK), "userfaultfd");
		if (ioctl(fd, UFFDIO_API, &api))
			shape_fail("UFFDIO_API");
	}
	if (ioctl(fd, UFFDIO_REGISTER, &r)) {
		if (first)
			shape_before(UFFD_WP_SINCE, "no write protection by userfaultfd");
		return;
	}
	if (ioctl(fd, UFFDIO_WRITEPROTECT, &wp))
		shape_fail("UFFDIO_WRITEPROTECT");
}

static void guard(char *p, size_t size)
{
	if (!madvise(p, size, MADV_GUARD_INSTALL))
		return;
	if (errno == EINVAL)
		shape_before(613, "no guard pages");
	shape_fail("MADV_GUARD_INSTALL");
}

static void set_key(char *p, size_t size)
{
	int key = pkey_alloc(0, 0);

	if (key < 0 && (errno == ENOSPC || errno == ENOSYS || errno == EINVAL))
		shape_lack("no protection keys in this processor");
	if (key < 0 || pkey_mprotect(p, size, PROT_READ | PROT_WRITE, key))
		shape_fail("a protection key");
}

const struct word device_words[] = {
	{"perf_event", .open = perf_event},
	{"packet_ring", .open = packet_ring},
	{"uring", .open = uring_file},
	{"bpf_map", .open = bpf_map},
	{"aio_ring", .map = aio_ring},
	{"write_protect", .act = write_protect},
	{"guard", .act = guard},
	{"key", .act = set_key},
	{},
};
