// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* mkmem's shapes of mapped files. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "mkmem.h"

/* ---- for steps ---- */

/* Every page is written, so that the file has no hole. */
int filled_file(size_t size)
{
	int fd = temp_file(size);
	char *p = map_fd(fd, size, MAP_SHARED);

	fill(p, size);
	munmap(p, size);
	return fd;
}

/* In large folios: file systems make them for large writes, and for reading ahead. */
int written_file(size_t size)
{
	const size_t part = MIB / 8;
	char *block = map_small(part);
	int fd = temp_file(0);

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
	return fd;
}

/* ---- shapes ---- */

/* A few pages mapped so often that the rounding of each share matters. */
static void shape_file_repeat(void)
{
	int fd = filled_file(3 * PAGE);

	for (int i = 0; i < 3000; i++)
		touch(map_fd(fd, (1 + i % 3) * PAGE, MAP_SHARED), (1 + i % 3) * PAGE);
}

static void shape_file_deleted(void)
{
	char *path = temp_path("mkmem gone");
	int fd = mkstemp(path);

	if (fd < 0 || ftruncate(fd, MIB))
		shape_fail("mkstemp");
	fill(map_fd(fd, MIB, MAP_SHARED), MIB);
	close(fd);
	role_start("child", NULL, NULL);
	if (unlink(path))
		shape_fail("unlink");
}

const struct shape file_shapes[] = {
	{"file", "a file mapped shared, and private and in part written",
	 "f = temp 4M; s = shared f; p = private f; fill s; touch p; fill p:1M; sharer { touch s:2M }"},
	/* Writes over pages of the file, over pages shared by fork, and over untouched pages. */
	{"file_cow", "a file mapped private, written before and after forks",
	 "f = filled 4M; p = private f; touch p:3M; fill p+1M:1M; first { fill p:1.5M }"
	 "second { fill p+2.5M:1M } reader { touch p+2.5M:1M } fill p+1.5M:1M"},
	{"file_many", "a file mapped by 13 processes",
	 "f = filled 192P; a = shared f; sharer##*12 { touch a:16P+16P# }"},
	{"file_repeat", "three pages of a file mapped 6,000 times", .run = shape_file_repeat},
	/* The last mapping was never accessible at all. */
	{"file_none", "files that are PROT_NONE",
	 "f = filled 4M; s = shared f; p = private f; touch s; touch p:3M; fill p+1M:1M; none s:2M;"
	 "none p:2M; child {} n = shared f:1M; none n"},
	{"file_mlock", "files that are locked",
	 "f = filled 2M; s = shared f; p = private f; lock s:1M; lock p+.5M:1M"},
	/* Also removes the written private pages past the new end, which lies inside a page. */
	{"file_truncated", "a file cut off and with a hole, mapped before",
	 "f = filled 4M; s = shared f; p = private f; touch s; touch p; fill p+1M:3M; child {}"
	 "truncate f+2M+100B; hole f+.5M:1M"},
	{"file_deleted", "a file that has no name any more", .run = shape_file_deleted},
	/* Cut within the folios, wherever they begin. */
	{"file_folio", "a file in large folios, where there are such",
	 "f = written 8M; a = shared f; touch a; p = private f; touch p; fill p:2M/7P;"
	 "child { unmap a+1M+3P:5P; unmap a+3M:100P; touch a:1M; touch a+2M:1M; touch a+4M:2M;"
	 "readonly a+5M+7P:77P } odd { b = shared f+1M+5P:3M; touch b }"},
	{},
};
