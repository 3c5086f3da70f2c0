// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Sources of kind bpf: loads an object and calibrates its walk of page tables. reader.c reads the
 * iterator, record_decode.c decodes the records.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "load/bpf_diagnose.h"
#include "model/system.h"
#include "model/zones.h"
#include "privilege/privilege.h"
#include "proc/smaps.h"
#include "source/iterator.h"
#include "source/reader.h"
#include "source/source_internal.h"
#include "zmem/setup.h"

/* Pages that we may map or unmap between two readings of our own resident set. */
#define OWN_PAGES_NEW 128

/* Since Linux 6.3 the kernel logs a warning for a memfd without this flag or MFD_EXEC. */
#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008U
#endif

struct bpf_state {
	struct readers readers; /* the first member: readers_collect() */
	struct bpf_handle object;
	int link_fd;
	const struct procfs *proc;
	uint32_t memos;	  /* of each reader */
	uint64_t pfn_end; /* of the last calibration; UINT64_MAX before the first */
	bool calibrated;  /* once; if RAM changed and it fails then, it is tried again */
	bool distrusted;
};

static void bpf_close(void *state)
{
	struct bpf_state *b = state;

	if (!b)
		return;
	close_fd(&b->link_fd);
	bpf_handle_close(&b->object);
	readers_done(&b->readers);
	free(b);
}

static void bpf_closep(struct bpf_state **b)
{
	bpf_close(*b);
}

static int open_iterator(const void *state)
{
	const struct bpf_state *b = state;

	return bpf_iter_create(b->link_fd);
}

static int open_iterator_one(const void *state, pid_t pid)
{
	const struct bpf_state *b = state;

	return iterator_open(b->object.fd[BPF_ITER],
			     &(union bpf_iter_link_info){.task.tid = (__u32)pid});
}

/*
 * True if the kernel has iterators over one process (6.1). Older kernels ignore `tid`, but refuse
 * `pid`, which lies behind what they know.
 */
static bool has_iterator_one(const struct bpf_state *b)
{
	cleanup_close int link_fd = iterator_link(
		b->object.fd[BPF_ITER], &(union bpf_iter_link_info){.task.pid = (__u32)getpid()});

	return link_fd >= 0;
}

/* ---- calibration ---- */

struct own_pages {
	size_t size;
	int fd;
	char *file;
	char *anon;
};

static void own_pages_done(struct own_pages *p)
{
	if (p->file != MAP_FAILED)
		munmap(p->file, p->size);
	if (p->anon != MAP_FAILED)
		munmap(p->anon, p->size);
	close_fd(&p->fd);
}

/*
 * Makes a page of a file and an anonymous page, both locked so that neither is swapped out. The
 * memfd is filled through its mapping, where huge pages can be refused; a write could get one.
 */
static int own_pages_make(struct own_pages *p)
{
	p->fd = memfd_create("zmem-bpf", MFD_CLOEXEC | MFD_NOEXEC_SEAL);
	if (p->fd < 0 && errno == EINVAL)
		p->fd = memfd_create("zmem-bpf", MFD_CLOEXEC);
	if (p->fd < 0 || ftruncate(p->fd, (off_t)p->size) < 0)
		return -errno;
	p->file = mmap(NULL, p->size, PROT_READ | PROT_WRITE, MAP_SHARED, p->fd, 0);
	p->anon = mmap(NULL, p->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p->file == MAP_FAILED || p->anon == MAP_FAILED)
		return -errno;
	/* These fail on a kernel without huge pages, which is fine. */
	madvise(p->file, p->size, MADV_NOHUGEPAGE);
	madvise(p->anon, p->size, MADV_NOHUGEPAGE);
	/* RLIMIT_MEMLOCK may forbid it; calibration fails only if a page is swapped out. */
	mlock(p->file, p->size);
	mlock(p->anon, p->size);
	if (getrandom(p->file, sizeof(uint64_t), GRND_NONBLOCK) != sizeof(uint64_t))
		return -EIO;
	*p->anon = 1;
	return mprotect(p->anon, p->size, PROT_NONE) < 0 ? -errno : 0;
}

/* Why a calibration failed. */
static const char *const result_text[] = {
	[ZMEM_NOT_CALIBRATED] = "calibration: no result",
	[ZMEM_CALIBRATED] = NULL,
	[ZMEM_UNKNOWN_SIZE] = "calibration: the page size, or the end of RAM, is not supported",
	[ZMEM_NO_DIRECT_MAP] = "calibration: no base of the direct map leads to our own page",
	[ZMEM_NO_FOLIO] = "calibration: the page cache of our own file has no page",
	[ZMEM_BAD_MEMMAP] = "calibration: the struct page of our own file's page does not match",
	[ZMEM_BAD_ANON] = "calibration: the struct page of our own anonymous page does not match",
	[ZMEM_NO_QUESTION] = "calibration: the registers of our own system call were not found",
};

/*
 * Has bpf/calibrate.bpf.h find the direct map and the array of struct page, by two pages of this
 * process with known content. No reader may run meanwhile. Returns 0, or a negative errno and in
 * *ret_why the check that failed: a constant text.
 */
static int calibrate(int map_fd, const struct readers *readers, const char **ret_why)
{
	cleanup(own_pages_done) struct own_pages pages = {
		.fd = -1, .file = MAP_FAILED, .anon = MAP_FAILED};
	struct zmem_calibrate ask = {};
	struct zmem_calibrated answer = {};
	const uint32_t zero = 0;
	int r;

	pages.size = (size_t)sysconf(_SC_PAGESIZE);
	ask.pfn_end = readers->pfn_end;
	*ret_why = "calibration: /proc/zoneinfo does not show the end of RAM";
	if (!ask.pfn_end)
		return -ENODATA;
	*ret_why = "calibration: the pages for it could not be made";
	r = own_pages_make(&pages);
	if (r < 0)
		return r;
	ask.phys_mask = zones_phys_mask(ask.pfn_end, pages.size);
	ask.page_bits = (unsigned)__builtin_ctzl(pages.size);
	ask.file_addr = (uintptr_t)pages.file;
	ask.anon_addr = (uintptr_t)pages.anon;
	memcpy(&ask.content, pages.file, sizeof(ask.content));
	*ret_why = "calibration: the kernel refused to run it";
	r = bpf_map_update_elem(map_fd, &zero, &ask, 0);
	if (r == 0)
		r = readers_read_answer(readers, &answer, sizeof(answer));
	if (r < 0)
		return r;
	if (answer.result >= ARRAY_SIZE(result_text))
		answer.result = ZMEM_NOT_CALIBRATED;
	*ret_why = result_text[answer.result];
	return *ret_why ? -ENXIO : 0;
}

/* Has the kernel side walk no pages until it is calibrated. */
static void forget_layout(const struct bpf_state *b)
{
	const struct zmem_layout none = {};
	const uint32_t zero = 0;

	if (b->object.fd[BPF_LAYOUT])
		bpf_map_update_elem(b->object.fd[BPF_LAYOUT], &zero, &none, 0);
}

/* Calibrates when the source opens, and again when RAM was added or removed. */
static void follow_ram(void *state)
{
	struct bpf_state *b = state;
	bool again;

	readers_look_at_ram(&b->readers, b->proc);
	again = b->readers.pfn_end != b->pfn_end || (b->calibrated && b->readers.pss_refusal);
	if (!b->readers.asks || b->distrusted || !again)
		return;
	b->pfn_end = b->readers.pfn_end;
	if (calibrate(b->object.fd[BPF_CALIBRATION], &b->readers, &b->readers.pss_refusal) == 0)
		b->calibrated = true;
	else
		forget_layout(b);
}

/* ---- memos ---- */

/* Gives new keys to the lanes of that many readers. The others, or all, have no memos. */
static void set_memos(const void *state, unsigned count)
{
	const struct bpf_state *b = state;
	struct zmem_memo_lane lane;

	for (uint32_t i = 0; i < b->readers.memo_readers; i++) {
		lane = (struct zmem_memo_lane){};
		if (i < count &&
		    getrandom(lane.key, sizeof(lane.key), GRND_NONBLOCK) == sizeof(lane.key))
			lane.slots = b->memos;
		for (size_t k = 0; k < ARRAY_SIZE(lane.key); k++)
			lane.key[k] |= 1;
		bpf_map_update_elem(b->object.fd[BPF_LANES], &i, &lane, 0);
	}
}

/* ---- the source ---- */

/*
 * Compares our own resident set with /proc, which walks our page tables: a kernel that keeps its
 * counters in another way gives no wrong number. Returns 0, or a negative errno and a note.
 */
static int check_own_rss(const struct readers *readers, const struct procfs *proc, const char *name,
			 struct diag *diag)
{
	struct smaps_rollup rollup = {};
	char text[4096];
	int64_t pages, shown;
	ssize_t len;
	int r = readers_own_rss(readers, &pages);

	/* Counters alone, by libbpf, before the iterators over one process of 6.1. */
	if (r == -EOPNOTSUPP)
		return 0;
	if (r < 0 && r != -ENODATA) {
		bpf_diagnose_note(diag, name, "reading our own resident set", r, NULL);
		return r;
	}
	if (r < 0) {
		diag_add(diag, name, r, NULL,
			 "the program does not know how this kernel counts resident memory");
		return r;
	}
	len = proc->trusted ? procfs_read(proc, "self/smaps_rollup", text, sizeof(text)) : 0;
	if (len <= 0 || smaps_rollup_parse(text, (size_t)len, &rollup) < 0)
		return 0;
	shown = (int64_t)rollup.value[SMAPS_RSS] / sysconf(_SC_PAGESIZE);
	if (llabs(pages - shown) <= OWN_PAGES_NEW)
		return 0;
	diag_add(diag, name, -ENODATA, NULL,
		 "the counters of this kernel are not understood: zmem-bpf has %lld resident pages "
		 "by BPF, and %lld by /proc",
		 (long long)pages, (long long)shown);
	return -ENODATA;
}

static int bpf_open(const struct source_variant *variant, const struct procfs *proc,
		    const struct memo_plan *memos, struct diag *diag, void **ret_state)
{
	cleanup(bpf_closep) struct bpf_state *b = calloc(1, sizeof(*b));
	int r;

	if (!b)
		return -ENOMEM;
	b->link_fd = -1;
	b->proc = proc;
	b->pfn_end = UINT64_MAX;
	b->memos = memos->each;
	r = bpf_load_noted(
		variant->name,
		variant->object == OBJECT_PSS && memos->each ? OBJECT_PSS_MEMOS : variant->object,
		variant->loader, &(struct bpf_sizes){.memos = memos->each * memos->readers}, diag,
		&b->object);
	if (r < 0)
		return r;
	b->link_fd = iterator_link(b->object.fd[BPF_ITER], NULL);
	if (b->link_fd < 0) {
		bpf_diagnose_note(diag, variant->name, "attaching the iterator", b->link_fd, NULL);
		return b->link_fd;
	}
	b->readers = (struct readers){
		.open = open_iterator,
		.set_memos = b->memos && b->object.fd[BPF_LANES] ? set_memos : NULL,
		.memo_readers = memos->readers,
		.open_one = !variant->probes || has_iterator_one(b) ? open_iterator_one : NULL,
		.follow_ram = follow_ram,
		.state = b,
		.asks = b->object.fd[BPF_CALIBRATION] != 0,
	};
	/* Without calibration the source still has counters. */
	follow_ram(b);
	r = check_own_rss(&b->readers, proc, variant->name, diag);
	if (r == 0)
		*ret_state = TAKE_PTR(b);
	return r;
}

static void bpf_distrust(void *state)
{
	struct bpf_state *b = state;

	b->distrusted = true;
	forget_layout(b);
}

static int bpf_link(const void *state)
{
	const struct bpf_state *b = state;

	return b->link_fd;
}

static int bpf_layout(const void *state, struct zmem_layout *ret)
{
	const struct bpf_state *b = state;
	const uint32_t zero = 0;

	if (b->readers.pss_refusal || b->distrusted || !b->object.fd[BPF_LAYOUT])
		return -ENOTSUP;
	return bpf_map_lookup_elem(b->object.fd[BPF_LAYOUT], &zero, ret);
}

const struct source_kind source_kind_bpf = {
	.origin = FROM_BPF,
	.open = bpf_open,
	.collect = readers_collect,
	.revisit = readers_revisit,
	.pss_refusal = readers_pss_refusal,
	.distrust = bpf_distrust,
	.link = bpf_link,
	.layout = bpf_layout,
	.close = bpf_close,
};
