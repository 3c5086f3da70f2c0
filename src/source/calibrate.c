// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Prepares what the kernel side looks for, and says in words what it could not confirm. */
#include <bpf/bpf.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "source/calibrate.h"
#include "source/reader.h"
#include "zmem/setup.h"
#include "model/system.h"

/* Since Linux 6.3 the kernel grumbles in its log about a memfd that does not say whether it runs.
 */
#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008U
#endif

struct pages {
	size_t size;
	int fd;
	char *file;
	char *anon;
};

static void pages_done(struct pages *p)
{
	if (p->file)
		munmap(p->file, p->size);
	if (p->anon)
		munmap(p->anon, p->size);
	if (p->fd >= 0)
		close(p->fd);
}

/*
 * The memfd is filled through its mapping, where huge pages can be refused: written to, it could
 * get one. Locked, so that neither page goes to swap in between.
 */
static int pages_make(struct pages *p)
{
	p->fd = memfd_create("zmem-bpf", MFD_CLOEXEC | MFD_NOEXEC_SEAL);
	if (p->fd < 0 && errno == EINVAL)
		p->fd = memfd_create("zmem-bpf", MFD_CLOEXEC);
	if (p->fd < 0 || ftruncate(p->fd, (off_t)p->size) < 0)
		return -errno;
	p->file = mmap(NULL, p->size, PROT_READ | PROT_WRITE, MAP_SHARED, p->fd, 0);
	if (p->file == MAP_FAILED) {
		p->file = NULL;
		return -errno;
	}
	p->anon = mmap(NULL, p->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p->anon == MAP_FAILED) {
		p->anon = NULL;
		return -errno;
	}
	/* Without huge pages in the kernel there is nothing to refuse. */
	madvise(p->file, p->size, MADV_NOHUGEPAGE);
	madvise(p->anon, p->size, MADV_NOHUGEPAGE);
	/* RLIMIT_MEMLOCK may forbid it; a page that was swapped out is not found, that is all. */
	mlock(p->file, p->size);
	mlock(p->anon, p->size);
	if (getrandom(p->file, sizeof(uint64_t), GRND_NONBLOCK) != sizeof(uint64_t))
		return -EIO;
	*p->anon = 1;
	return mprotect(p->anon, p->size, PROT_NONE) < 0 ? -errno : 0;
}

static const char *result_text(uint32_t result)
{
	switch (result) {
	case ZMEM_CALIBRATED:
		return NULL;
	case ZMEM_NOT_CALIBRATED:
		break;
	case ZMEM_UNKNOWN_SIZE:
		return "calibration: pages are of a size, or RAM ends at an address, that is not known here";
	case ZMEM_NO_DIRECT_MAP:
		return "calibration: no base of the direct map leads to a page of our own";
	case ZMEM_NO_FOLIO:
		return "calibration: the page cache of our own file holds no page";
	case ZMEM_BAD_MEMMAP:
		return "calibration: the struct page of our own file's page says something else";
	case ZMEM_BAD_ANON:
		return "calibration: the struct page of our own anonymous page says something else";
	}
	return "calibration: no result";
}

/* The bits of an entry that can be an address of RAM: what lies above is no part of it. */
static uint64_t phys_mask(uint64_t pfn_end, size_t page_size)
{
	uint64_t mask = page_size;

	while (mask < pfn_end * page_size)
		mask <<= 1;
	return (mask - 1) & ~(uint64_t)(page_size - 1);
}

int calibrate(int map_fd, const struct reader_from *from, const struct procfs *proc,
	      const char **ret_why)
{
	cleanup(pages_done) struct pages pages = {.fd = -1};
	struct zmem_calibrate ask = {};
	struct zmem_calibrated answer = {};
	const uint32_t zero = 0;
	int r;

	pages.size = (size_t)sysconf(_SC_PAGESIZE);
	ask.pfn_end = zoneinfo_read(proc->fd);
	*ret_why = "calibration: /proc/zoneinfo does not tell where RAM ends";
	if (!ask.pfn_end)
		return -ENODATA;
	*ret_why = "calibration: no pages to calibrate with";
	r = pages_make(&pages);
	if (r < 0)
		return r;
	ask.phys_mask = phys_mask(ask.pfn_end, pages.size);
	ask.page_bits = (unsigned)__builtin_ctzl(pages.size);
	ask.file_addr = (uintptr_t)pages.file;
	ask.anon_addr = (uintptr_t)pages.anon;
	memcpy(&ask.content, pages.file, sizeof(ask.content));
	*ret_why = "calibration: the kernel refuses to run it";
	r = bpf_map_update_elem(map_fd, &zero, &ask, 0);
	if (r == 0)
		r = reader_take(from, &answer, sizeof(answer));
	if (r < 0)
		return r;
	*ret_why = result_text(answer.result);
	return *ret_why ? -ENXIO : 0;
}
