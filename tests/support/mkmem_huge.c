// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * mkmem's words for large folios: transparent huge pages, mTHP, and huge pages of shared memory and
 * of files.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "mkmem.h"

#define THP "/sys/kernel/mm/transparent_hugepage/"

/* Skips where not even MADV_HUGEPAGE gets a huge page. */
static void need_thp(void)
{
	const char *text = file_text(THP "enabled");

	if (!*text)
		shape_lack("no transparent huge pages");
	if (strstr(text, "[never]"))
		shape_skip("transparent huge pages are off");
}

/* Maps and writes huge pages; else ends the shape. */
static char *map_huge(size_t size)
{
	size_t before = rollup_bytes("AnonHugePages");
	char *p = map_aligned(size);

	need_thp();
	if (madvise(p, size, MADV_HUGEPAGE))
		shape_fail("MADV_HUGEPAGE");
	for (size_t i = 0; i < size; i += HUGE) {
		fill(p + i, HUGE);
		/* Memory may be fragmented: compacts it. */
		if (rollup_bytes("AnonHugePages") < before + i + HUGE)
			collapse(p + i, HUGE);
	}
	errno = 0;
	if (rollup_bytes("AnonHugePages") < before + size)
		shape_skip("no huge pages are free");
	return p;
}

/* PROT_NONE. Before 6.6 smaps_rollup leaves out such huge pages: there they are read only. */
static void none_huge(char *p, size_t size)
{
	size_t before = rollup_bytes("Rss");

	protect(p, size, PROT_NONE);
	if (rollup_bytes("Rss") >= before)
		return;
	if (!kernel_before(606))
		shape_skip("smaps_rollup leaves out huge pages that are PROT_NONE");
	protect(p, size, PROT_READ);
}

static void collapse_small(char *p, size_t size)
{
	if (collapse(p, size))
		return;
	if (errno == EINVAL)
		shape_before(601, "no MADV_COLLAPSE");
	shape_fail("MADV_COLLAPSE");
}

/* ---- anonymous memory in pieces of 64 KiB and the like ---- */

static const char *mthp_text(size_t size, const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), THP "hugepages-%zukB/%s", size / KIB, name);
	return file_text(path);
}

/* How many of this size there were; -1 if the kernel lacks it. */
static long mthp_count(size_t size)
{
	const char *text = mthp_text(size, "stats/anon_fault_alloc");

	return *text ? atol(text) : -1;
}

static bool mthp_is_on(size_t size)
{
	const char *text = mthp_text(size, "enabled");

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

/* In such folios; neither aligned nor sized as a huge page. */
static char *map_mthp(size_t size)
{
	size_t folio = mthp_size();
	long before = mthp_count(folio);
	char *p = map_aligned(HUGE);

	munmap(p, PAGE);
	munmap(p + PAGE + size, HUGE - size - PAGE);
	madvise(p + PAGE, size, MADV_HUGEPAGE);
	fill(p + PAGE, size);
	errno = 0;
	if (mthp_count(folio) <= before)
		shape_fail("no large folios");
	return p + PAGE;
}

/* ---- huge pages of shared memory and of files ---- */

/* At HUGE_TMPFS, where a tmpfs is mounted huge=always, or anywhere. */
static int huge_file(size_t size)
{
	const char *dir = getenv("HUGE_TMPFS");
	char path[256];
	int fd;

	if (!dir)
		return memory_file(size);
	snprintf(path, sizeof(path), "%s/mkmem.XXXXXX", dir);
	fd = mkstemp(path);
	unlink(path);
	if (fd < 0 || ftruncate(fd, size))
		shape_fail("memfd");
	return fd;
}

/* True if it has huge pages by this counter, after trying to collapse it. */
static bool has_huge(const char *counter, char *p, size_t size)
{
	errno = 0;
	if (rollup_bytes(counter) < size)
		collapse(p, size);
	return rollup_bytes(counter) >= size;
}

static void need_huge_shmem(char *p, size_t size)
{
	if (has_huge("ShmemPmdMapped", p, size))
		return;
	if (access(THP, F_OK))
		shape_lack("no transparent huge pages");
	if (errno == EINVAL)
		shape_before(601, "no MADV_COLLAPSE");
	shape_skip("no huge pages of shared memory");
}

static void need_huge_file(char *p, size_t size)
{
	if (!has_huge("FilePmdMapped", p, size))
		shape_lack("no huge pages of files in this kernel or file system");
}

const struct word huge_words[] = {
	{"need_thp", .call = need_thp},
	{"huge", .map = map_huge},
	{"mthp", .map = map_mthp},
	{"huge_file", .open = huge_file},
	{"hugepage", .advice = MADV_HUGEPAGE},
	{"nohuge", .advice = MADV_NOHUGEPAGE},
	{"none_huge", .act = none_huge},
	{"collapse", .act = collapse_small},
	{"need_huge_shmem", .act = need_huge_shmem},
	{"need_huge_file", .act = need_huge_file},
	{},
};
