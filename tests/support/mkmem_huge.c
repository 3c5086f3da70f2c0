// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * mkmem's shapes of large folios: transparent huge pages, mapped whole, in part, by PMD and by
 * PTEs; mTHP; huge pages of shared memory and of files.
 */
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

/* Skips where not even MADV_HUGEPAGE gets a huge page. */
void need_thp(void)
{
	char text[64] = "";
	FILE *f = fopen(THP "enabled", "re");

	if (!f)
		shape_lack("no transparent huge pages");
	if (!fgets(text, sizeof(text), f) || strstr(text, "[never]"))
		shape_skip("transparent huge pages are off");
	fclose(f);
}

/* Maps and writes huge pages; else ends the shape. */
char *map_huge(size_t size)
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
void none_huge(char *p, size_t size)
{
	size_t before = rollup_bytes("Rss");

	protect(p, size, PROT_NONE);
	if (rollup_bytes("Rss") >= before)
		return;
	if (!kernel_before(606))
		shape_skip("smaps_rollup leaves out huge pages that are PROT_NONE");
	protect(p, size, PROT_READ);
}

void collapse_small(char *p, size_t size)
{
	if (collapse(p, size))
		return;
	if (errno == EINVAL)
		shape_before(601, "no MADV_COLLAPSE");
	shape_fail("MADV_COLLAPSE");
}

/* ---- transparent huge pages ---- */

/* Cuts each of the five pages of a differently, each process at another place. */
#define CUT(at)                                                                                    \
	"unmap a+" at ":100P; readonly a+1H+" at ":100P; drop a+2H+" at ":100P; fill a+3H+" at     \
	":100P; none a+4H+" at ":100P;"

const struct shape thp_shapes[] = {
	/* One in part, one shared and in part written, two shared whole. */
	{"thp", "transparent huge pages: whole, in part, shared by fork",
	 "a = huge 4H; unmap a+3.25H:.25H; writer { fill a:.5H } sharer {}"},
	/* The first one is moved with its table. */
	{"thp_private", "huge pages, one moved, one locked",
	 "a = huge 3H; t = aligned 1H; move a:1H t; lock a+1H:1H"},
	/* By PMD in one process, by PTEs or less in another. */
	{"thp_child", "huge pages shared by fork, cut by the child",
	 "a = huge 5H; child { " CUT("0P") " }"},
	{"thp_parent", "huge pages shared by fork, cut by the parent",
	 "a = huge 5H; child {} " CUT("77P")},
	{"thp_both", "huge pages shared by fork, cut by all in different ways",
	 "a = huge 5H; child { " CUT("0P") " } child2 { " CUT("412P") " } " CUT(
		 "77P") "late_child {}"},
	/* Only the tail pages, only the head; a piece at an address that is unaligned for a huge
	   page. */
	{"thp_pte", "huge pages mapped by small entries",
	 "a = huge 4H; readonly a:1P; unmap a+1H:1P; unmap a+2H+1P:1H-1P; t = small 1H;"
	 "move a+3H+50P:50P t+3P:50P; child {} fill t+3P:25P"},
	{"thp_none", "a huge page that is PROT_NONE", "a = huge 2H; none_huge a:1H; child {}"},
	{"thp_free", "huge pages with MADV_FREE",
	 "a = huge 3H; free a:1H; free a+1H:.5H; child {}"},
	/* This process collapsed them while the other keeps small ones. */
	{"thp_collapse", "small pages made a huge one, still shared small",
	 "need_thp; a = aligned 1H; nohuge a; fill a; hugepage a; child {} fill a:.5H; collapse a"},
	/* Split into as many small zero pages, in part; one huge page written. */
	{"thp_zero", "the huge zero page, whole and split",
	 "need_thp; a = aligned 5H; hugepage a; touch a; readonly a+1H:.25H; unmap a+2H:.25H;"
	 "fill a+3H:1P; writer { fill a:1P } none a+4H:1H"},
	{},
};

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

static void shape_mthp(void)
{
	size_t size = mthp_size();
	long before = mthp_count(size);
	char *p = map_aligned(HUGE);

	/* Neither aligned nor sized as a huge page. */
	munmap(p, PAGE);
	munmap(p + PAGE + MIB, HUGE - MIB - PAGE);
	set_area('a', p + PAGE, MIB);
	steps("hugepage a; fill a");
	errno = 0;
	if (mthp_count(size) <= before)
		shape_fail("no large folios");
	/* The cutter removes unaligned pieces of the folios, at both ends and inside. */
	steps("child {}"
	      "cutter { unmap a+3P:2P; unmap a+.25M+1P:.125M; readonly a+.5M+2P:33P; drop a+1M-5P:3P }"
	      "writer { fill a+7P:41P } unmap a+11P:2P; fill a+.5M:3P");
}

/* ---- huge pages of shared memory ---- */

/* At HUGE_TMPFS, where a tmpfs is mounted huge=always, or anywhere. */
int huge_file(size_t size)
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

void need_huge_shmem(char *p, size_t size)
{
	errno = 0;
	if (rollup_bytes("ShmemPmdMapped") < size)
		collapse(p, size);
	if (rollup_bytes("ShmemPmdMapped") >= size)
		return;
	if (access(THP, F_OK))
		shape_lack("no transparent huge pages");
	if (errno == EINVAL)
		shape_before(601, "no MADV_COLLAPSE");
	shape_skip("no huge pages of shared memory");
}

/* ---- huge pages of files ---- */

/* As a program's text: read only, executable, and not open for writing. */
static int text_file(size_t size)
{
	char *path = temp_path("mkmem");
	int fd = mkstemp(path), run;

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

static void shape_file_thp(void)
{
	int fd = text_file(2 * HUGE);
	char *p = map_aligned(2 * HUGE);

	p = mmap(p, 2 * HUGE, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, fd, 0);
	if (p == MAP_FAILED)
		shape_fail("mmap");
	set_area('a', p, 2 * HUGE);
	steps("hugepage a; touch a");
	if (rollup_bytes("FilePmdMapped") < 2 * HUGE)
		collapse(p, 2 * HUGE);
	if (rollup_bytes("FilePmdMapped") < 2 * HUGE)
		shape_lack("no huge pages of files in this kernel or file system");
	steps("sharer { touch a } cutter { touch a; unmap a+99P:100P; touch a+222P:111P }");
}

const struct shape folio_shapes[] = {
	{"mthp", "anonymous large folios, shared by fork and cut", .run = shape_mthp},
	/* odd: no huge page of it is at a multiple of its size. Splitting removes all entries of
	   the cutter. */
	{"shmem_thp", "huge pages of shared memory, mapped in many ways",
	 "f = huge_file 3H; a = aligned_shared f; hugepage a; fill a; need_huge_shmem a;"
	 "sharer { touch a } odd { b = aligned_shared f+5P:2H; touch b:2H-9P }"
	 "private { b = aligned_private f:2H; touch b:1.5H; fill b+1H:100P }"
	 "cutter { touch a; unmap a+10P:100P; none a+1H+77P:50P; drop a+2H+1P:5P; touch a+110P:1H-33P;"
	 "touch a+2H+100P:55P }"
	 "none { touch a; none_huge a:1H } readonly a:1H"},
	{"file_thp", "huge pages of a program's text", .run = shape_file_thp},
	{},
};
