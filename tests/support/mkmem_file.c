// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* mkmem's shapes of mapped files. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "mkmem.h"

static void shape_file(void)
{
	int fd = temp_file(4 * MIB);
	struct vma shared = {map_fd(fd, 4 * MIB, MAP_SHARED), 4 * MIB};
	char *private = map_fd(fd, 4 * MIB, MAP_PRIVATE);

	fill_vma(&shared);
	touch(private, 4 * MIB);
	fill(private, MIB);
	shared.size = 2 * MIB;
	role_start("sharer", touch_vma, &shared);
}

/* Writes every page, so that the file has no hole. */
static int filled_file(size_t size)
{
	int fd = temp_file(size);
	char *p = map_fd(fd, size, MAP_SHARED);

	fill(p, size);
	munmap(p, size);
	return fd;
}

/* ---- private mappings, in part written ---- */

static void shape_file_cow(void)
{
	static struct vma first, second;
	char *p = map_fd(filled_file(4 * MIB), 4 * MIB, MAP_PRIVATE);

	touch(p, 3 * MIB);
	fill(p + MIB, MIB);
	/* Writes over pages of the file, over pages shared by fork, and over untouched pages. */
	first = vma_of(p, MIB + MIB / 2);
	second = vma_of(p + 2 * MIB + MIB / 2, MIB);
	role_start("first", fill_vma, &first);
	role_start("second", fill_vma, &second);
	role_start("reader", touch_vma, &second);
	fill(p + MIB + MIB / 2, MIB);
}

/* ---- pages that are mapped many times ---- */

#define MANY 12

static void shape_file_many(void)
{
	static struct vma part[MANY];
	int fd = filled_file(MANY * 16 * PAGE);
	char *p = map_fd(fd, MANY * 16 * PAGE, MAP_SHARED), role[] = "sharer00";

	for (int i = 0; i < MANY; i++) {
		part[i] = vma_of(p, (i + 1) * 16 * PAGE);
		role[6] = '0' + i / 10;
		role[7] = '0' + i % 10;
		role_start(role, touch_vma, &part[i]);
	}
}

/* A few pages mapped so often that the rounding of each share matters. */
static void shape_file_repeat(void)
{
	int fd = filled_file(3 * PAGE);

	for (int i = 0; i < 3000; i++)
		touch(map_fd(fd, (1 + i % 3) * PAGE, MAP_SHARED), (1 + i % 3) * PAGE);
}

/* ---- PROT_NONE, locked ---- */

static void shape_file_none(void)
{
	int fd = filled_file(4 * MIB);
	char *shared = map_fd(fd, 4 * MIB, MAP_SHARED), *private = map_fd(fd, 4 * MIB, MAP_PRIVATE);

	touch(shared, 4 * MIB);
	touch(private, 3 * MIB);
	fill(private + MIB, MIB);
	protect(shared, 2 * MIB, PROT_NONE);
	protect(private, 2 * MIB, PROT_NONE);
	role_start("child", NULL, NULL);
	/* Never accessible at all. */
	if (mmap(NULL, MIB, PROT_NONE, MAP_SHARED, fd, 0) == MAP_FAILED)
		shape_fail("mmap");
}

static void shape_file_mlock(void)
{
	int fd = filled_file(2 * MIB);
	char *shared = map_fd(fd, 2 * MIB, MAP_SHARED), *private = map_fd(fd, 2 * MIB, MAP_PRIVATE);

	if (mlock(shared, MIB) || mlock(private + MIB / 2, MIB))
		shape_skip("mlock is not allowed");
}

/* ---- files that change under the mapping ---- */

static void shape_file_truncated(void)
{
	int fd = filled_file(4 * MIB);
	char *shared = map_fd(fd, 4 * MIB, MAP_SHARED), *private = map_fd(fd, 4 * MIB, MAP_PRIVATE);

	touch(shared, 4 * MIB);
	touch(private, 4 * MIB);
	fill(private + MIB, 3 * MIB);
	role_start("child", NULL, NULL);
	/* Also removes the written private pages past the new end, which lies inside a page. */
	if (ftruncate(fd, 2 * MIB + 100))
		shape_fail("ftruncate");
	/* Removes only pages of the file, if the file system supports holes. */
	if (fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, MIB / 2, MIB) &&
	    errno != EOPNOTSUPP)
		shape_fail("a hole");
}

static void shape_file_deleted(void)
{
	const char *dir = getenv("TMPDIR");
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "%s/mkmem gone.XXXXXX", dir ? dir : "/tmp");
	fd = mkstemp(path);
	if (fd < 0 || ftruncate(fd, MIB))
		shape_fail("mkstemp");
	fill(map_fd(fd, MIB, MAP_SHARED), MIB);
	close(fd);
	role_start("child", NULL, NULL);
	if (unlink(path))
		shape_fail("unlink");
}

/* ---- large folios: file systems make them for large writes, and for reading ahead ---- */

static void write_and_read(int fd, size_t size)
{
	const size_t part = MIB / 8;
	char *block = map_small(part);

	write_large(fd, size);
	if (fsync(fd))
		shape_fail("fsync");
	/* Drops half of it from the page cache: it is read from the disk again. */
	posix_fadvise(fd, size / 2, size / 2, POSIX_FADV_DONTNEED);
	for (size_t i = size / 2; i < size; i += part) {
		if (pread(fd, block, part, i) != (ssize_t)part)
			shape_fail("read");
	}
	munmap(block, part);
}

static void cut_middle(void *vma)
{
	const struct vma *a = vma;

	/* Within the folios, wherever they begin. */
	munmap(a->p + MIB + 3 * PAGE, 5 * PAGE);
	munmap(a->p + 3 * MIB, 100 * PAGE);
	touch(a->p, MIB);
	touch(a->p + 2 * MIB, MIB);
	touch(a->p + 4 * MIB, 2 * MIB);
	protect(a->p + 5 * MIB + 7 * PAGE, 77 * PAGE, PROT_READ);
}

static void map_unknown(void *fd)
{
	char *p = mmap(NULL, 3 * MIB, PROT_READ, MAP_SHARED, *(int *)fd, MIB + 5 * PAGE);

	if (p == MAP_FAILED)
		shape_fail("mmap");
	touch(p, 3 * MIB);
}

static void shape_file_folio(void)
{
	static struct vma a;
	static int fd;
	char *private;

	fd = temp_file(0);
	write_and_read(fd, 8 * MIB);
	a = vma_of(map_fd(fd, 8 * MIB, MAP_SHARED), 8 * MIB);
	touch_vma(&a);
	private = map_fd(fd, 8 * MIB, MAP_PRIVATE);
	touch(private, 8 * MIB);
	for (size_t i = 0; i < 2 * MIB; i += 7 * PAGE)
		fill(private + i, PAGE);
	role_start("child", cut_middle, &a);
	role_start("odd", map_unknown, &fd);
}

const struct shape file_shapes[] = {
	{"file", "a file mapped shared, and private and in part written", shape_file},
	{"file_cow", "a file mapped private, written before and after forks", shape_file_cow},
	{"file_many", "a file mapped by 13 processes", shape_file_many},
	{"file_repeat", "three pages of a file mapped 6,000 times", shape_file_repeat},
	{"file_none", "files that are PROT_NONE", shape_file_none},
	{"file_mlock", "files that are locked", shape_file_mlock},
	{"file_truncated", "a file cut off and with a hole, mapped before", shape_file_truncated},
	{"file_deleted", "a file that has no name any more", shape_file_deleted},
	{"file_folio", "a file in large folios, where there are such", shape_file_folio},
	{},
};
