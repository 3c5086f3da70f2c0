// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* mkmem's shapes of large folios other than anonymous huge pages: mTHP, files, shmem. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mkmem.h"

#define THP "/sys/kernel/mm/transparent_hugepage/"

/* ---- anonymous memory in pieces of 64 KiB and the like ---- */

/* The setting of one folio size; -1 if the kernel lacks it. */
static long mthp_count(size_t size)
{
	char path[128];
	long ret = -1;
	FILE *f;

	snprintf(path, sizeof(path), THP "hugepages-%zukB/stats/anon_fault_alloc", size / KIB);
	f = fopen(path, "re");
	if (f && fscanf(f, "%ld", &ret) != 1)
		ret = -1;
	if (f)
		fclose(f);
	return ret;
}

static bool mthp_is_on(size_t size)
{
	char path[128], text[128] = "";
	FILE *f;

	snprintf(path, sizeof(path), THP "hugepages-%zukB/enabled", size / KIB);
	f = fopen(path, "re");
	if (f && !fgets(text, sizeof(text), f))
		*text = '\0';
	if (f)
		fclose(f);
	return *text && !strstr(text, "[never]");
}

/* The smallest enabled size. */
static size_t mthp_size(void)
{
	bool known = false;

	for (size_t size = 4 * PAGE; size < HUGE; size *= 2) {
		known |= mthp_count(size) >= 0;
		if (mthp_count(size) >= 0 && mthp_is_on(size))
			return size;
	}
	if (access(THP, F_OK))
		shape_lack("no transparent huge pages");
	if (!known)
		shape_before(610, "no large folios of several sizes");
	shape_skip("large folios are off");
}

/* Removes unaligned pieces of the folios, at both ends and inside. */
static void cut_folios(void *vma)
{
	const struct vma *a = vma;

	munmap(a->p + 3 * PAGE, 2 * PAGE);
	munmap(a->p + MIB / 4 + PAGE, MIB / 8);
	protect(a->p + MIB / 2 + 2 * PAGE, 33 * PAGE, PROT_READ);
	if (madvise(a->p + MIB - 5 * PAGE, 3 * PAGE, MADV_DONTNEED))
		shape_fail("MADV_DONTNEED");
}

static void shape_mthp(void)
{
	static struct vma a, some;
	size_t size = mthp_size();
	long before = mthp_count(size);

	/* Neither aligned nor sized as a huge page. */
	a = vma_of(map_aligned(HUGE) + PAGE, MIB);
	munmap(a.p - PAGE, PAGE);
	munmap(a.p + MIB, HUGE - MIB - PAGE);
	if (madvise(a.p, a.size, MADV_HUGEPAGE))
		shape_fail("MADV_HUGEPAGE");
	fill_vma(&a);
	errno = 0;
	if (mthp_count(size) <= before)
		shape_fail("no large folios");
	some = vma_of(a.p + 7 * PAGE, 41 * PAGE);
	role_start("child", NULL, NULL);
	role_start("cutter", cut_folios, &a);
	role_start("writer", fill_vma, &some);
	munmap(a.p + 11 * PAGE, 2 * PAGE);
	fill(a.p + MIB / 2, 3 * PAGE);
}

/* ---- huge pages of shared memory ---- */

/* At HUGE_TMPFS, where a tmpfs is mounted huge=always, or anywhere. */
static int huge_memfd(size_t size)
{
	const char *dir = getenv("HUGE_TMPFS");
	char path[256];
	int fd;

	if (dir) {
		snprintf(path, sizeof(path), "%s/mkmem.XXXXXX", dir);
		fd = mkstemp(path);
		unlink(path);
	} else {
		fd = memfd_create("mkmem huge", 0);
	}
	if (fd < 0 || ftruncate(fd, size))
		shape_fail("memfd");
	return fd;
}

static char *map_fd_at(int fd, size_t size, int flags, off_t offset)
{
	char *p = map_aligned(size + HUGE);

	p = mmap(p, size, PROT_READ | PROT_WRITE, flags | MAP_FIXED, fd, offset);
	if (p == MAP_FAILED)
		shape_fail("mmap");
	return p;
}

static void need_huge(const char *key, size_t size)
{
	if (rollup_bytes(key) >= size)
		return;
	if (access(THP, F_OK))
		shape_lack("no transparent huge pages");
	if (errno == EINVAL)
		shape_before(601, "no MADV_COLLAPSE");
	shape_skip("no huge pages of shared memory");
}

static int shmem_fd;

/* Maps it so that no huge page of it is at a multiple of its size. */
static void map_unknown(void *unused)
{
	char *p = map_fd_at(shmem_fd, 2 * HUGE, MAP_SHARED, 5 * PAGE);

	(void)unused;
	touch(p, 2 * HUGE - 9 * PAGE);
}

static void map_private(void *unused)
{
	char *p = map_fd_at(shmem_fd, 2 * HUGE, MAP_PRIVATE, 0);

	(void)unused;
	touch(p, HUGE + HUGE / 2);
	fill(p + HUGE, 100 * PAGE);
}

static void cut_mapping(void *vma)
{
	const struct vma *a = vma;

	touch(a->p, a->size);
	munmap(a->p + 10 * PAGE, 100 * PAGE);
	protect(a->p + HUGE + 77 * PAGE, 50 * PAGE, PROT_NONE);
	if (madvise(a->p + 2 * HUGE + PAGE, 5 * PAGE, MADV_DONTNEED))
		shape_fail("MADV_DONTNEED");
	/* Splitting removed all page table entries. */
	touch(a->p + 110 * PAGE, HUGE - 33 * PAGE);
	touch(a->p + 2 * HUGE + 100 * PAGE, 55 * PAGE);
}

/* By PMD, and PROT_NONE. */
static void map_none(void *vma)
{
	const struct vma *a = vma;
	size_t before;

	touch(a->p, a->size);
	before = rollup_bytes("Rss");
	protect(a->p, HUGE, PROT_NONE);
	/* Before 6.6 smaps_rollup leaves out PROT_NONE huge pages. */
	if (rollup_bytes("Rss") < before)
		protect(a->p, HUGE, PROT_READ);
}

static void shape_shmem_thp(void)
{
	static struct vma a;

	shmem_fd = huge_memfd(3 * HUGE);
	a = vma_of(map_fd_at(shmem_fd, 3 * HUGE, MAP_SHARED, 0), 3 * HUGE);
	madvise(a.p, a.size, MADV_HUGEPAGE);
	fill_vma(&a);
	errno = 0;
	if (rollup_bytes("ShmemPmdMapped") < a.size)
		collapse(a.p, a.size);
	need_huge("ShmemPmdMapped", a.size);
	role_start("sharer", touch_vma, &a);
	role_start("odd", map_unknown, NULL);
	role_start("private", map_private, NULL);
	role_start("cutter", cut_mapping, &a);
	role_start("none", map_none, &a);
	protect(a.p, HUGE, PROT_READ);
}

/* ---- huge pages of files ---- */

/* As a program's text: read only, executable, and not open for writing. */
static int text_file(size_t size)
{
	const char *dir = getenv("TMPDIR");
	char path[256];
	int fd, run;

	snprintf(path, sizeof(path), "%s/mkmem.XXXXXX", dir ? dir : "/tmp");
	fd = mkstemp(path);
	if (fd < 0)
		shape_fail("mkstemp");
	write_large(fd, size);
	run = open(path, O_RDONLY | O_CLOEXEC);
	unlink(path);
	if (run < 0 || fchmod(fd, 0755) || fsync(fd) || close(fd))
		shape_fail("a file to execute");
	posix_fadvise(run, 0, 0, POSIX_FADV_DONTNEED);
	return run;
}

static void cut_text(void *vma)
{
	const struct vma *a = vma;

	touch(a->p, a->size);
	munmap(a->p + 99 * PAGE, 100 * PAGE);
	touch(a->p + 222 * PAGE, 111 * PAGE);
}

static void shape_file_thp(void)
{
	static struct vma a;
	int fd = text_file(2 * HUGE);
	char *p = map_aligned(2 * HUGE);

	p = mmap(p, 2 * HUGE, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, fd, 0);
	if (p == MAP_FAILED)
		shape_fail("mmap");
	a = vma_of(p, 2 * HUGE);
	madvise(p, a.size, MADV_HUGEPAGE);
	touch_vma(&a);
	if (rollup_bytes("FilePmdMapped") < a.size)
		collapse(p, a.size);
	if (rollup_bytes("FilePmdMapped") < a.size)
		shape_lack("no huge pages of files in this kernel or file system");
	role_start("sharer", touch_vma, &a);
	role_start("cutter", cut_text, &a);
}

const struct shape folio_shapes[] = {
	{"mthp", "anonymous large folios, shared by fork and cut", shape_mthp},
	{"shmem_thp", "huge pages of shared memory, mapped in many ways", shape_shmem_thp},
	{"file_thp", "huge pages of a program's text", shape_file_thp},
	{},
};
