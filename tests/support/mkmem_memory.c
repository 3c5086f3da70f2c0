// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* mkmem's words for basic kinds of memory and of files, for hugetlb pages and for places. */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "mkmem.h"

/* ---- areas ---- */

static char *map_heap(size_t size)
{
	char *heap = sbrk(0);

	if (brk(heap + size))
		shape_fail("brk");
	return (char *)(((uintptr_t)heap + PAGE - 1) & ~(PAGE - 1));
}

size_t hugetlb_size(void)
{
	long kib = file_number("/proc/meminfo", "Hugepagesize");

	if (kib <= 0)
		shape_lack("no hugetlb pages");
	return kib * KIB;
}

static char *map_hugetlb_as(size_t size, int flags)
{
	long count = size / hugetlb_size();
	int lock;
	char *p;

	/* A child that writes to them needs as many again. */
	if (file_number("/proc/meminfo", "HugePages_Free") < 2 * count)
		shape_skip("no hugetlb pages are reserved");
	/* They are of a test that has reserved them: huge_pages() in outcome.py. Open until the
	 * end. */
	lock = open("/proc/sys/vm/nr_hugepages", O_RDONLY);
	if (lock >= 0 && flock(lock, LOCK_SH | LOCK_NB) < 0)
		shape_skip("another test has reserved the hugetlb pages");
	p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_ANONYMOUS | MAP_HUGETLB | flags, -1, 0);
	if (p == MAP_FAILED)
		shape_skip("cannot map hugetlb pages");
	for (long i = 0; i < count; i++)
		fill(p + i * hugetlb_size(), PAGE);
	return p;
}

static char *map_hugetlb(size_t size)
{
	return map_hugetlb_as(size, MAP_PRIVATE);
}

static char *map_shared_hugetlb(size_t size)
{
	return map_hugetlb_as(size, MAP_SHARED);
}

static char *attach(size_t size, bool remove)
{
	int id = shmget(IPC_PRIVATE, size, IPC_CREAT | 0600);
	char *p;

	if (id < 0)
		shape_skip("no System V shared memory");
	p = shmat(id, NULL, 0);
	if (remove)
		shmctl(id, IPC_RMID, NULL);
	if (p == (char *)-1)
		shape_fail("shmat");
	return p;
}

/* It exists as long as a process has it attached. */
static char *map_sysv(size_t size)
{
	return attach(size, true);
}

/* It stays when all its processes have ended. */
static char *map_segment(size_t size)
{
	return attach(size, false);
}

/* At the lowest address that can be mapped. */
static char *map_lowest(size_t size)
{
	uintptr_t at = strtoul(file_text("/proc/sys/vm/mmap_min_addr"), NULL, 10);
	char *p = map_at(at > PAGE ? at : PAGE, size);

	if (!p)
		shape_fail("the lowest address");
	return p;
}

/* At the highest one with 3 or 4 levels of page tables: the stack and the vdso are near. */
static char *map_highest(size_t size)
{
	for (uintptr_t at = SPACE_END - PAGE - size; at > SPACE_END - GIB; at -= PAGE) {
		char *p = map_at(at, size);

		if (p)
			return p;
	}
	shape_fail("nothing is free at the top");
}

/* ---- files ---- */

static int dev_zero(size_t unused)
{
	int fd = open("/dev/zero", O_RDWR | O_CLOEXEC);

	(void)unused;
	if (fd < 0)
		shape_skip("no /dev/zero");
	return fd;
}

static int secret_file(size_t size)
{
#ifdef SYS_memfd_secret
	int fd = syscall(SYS_memfd_secret, 0);

	if (fd < 0 && (errno == ENOSYS || errno == EOPNOTSUPP))
		shape_before(514, "no memfd_secret, or not without secretmem.enable=1");
	if (fd < 0 || ftruncate(fd, size))
		shape_fail("memfd_secret");
	return fd;
#else
	(void)size;
	shape_skip("no memfd_secret in this C library");
#endif
}

/* Every page is written, so that the file has no hole. */
static int filled_file(size_t size)
{
	int fd = temp_file(size);
	char *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (p == MAP_FAILED)
		shape_fail("mmap of a file");
	fill(p, size);
	munmap(p, size);
	return fd;
}

/* In large folios: file systems make them for large writes, and for reading ahead. */
static int written_file(size_t size)
{
	const size_t part = MIB / 8;
	char *block = map_small(part);
	int fd = temp_file(0);

	write_file(fd, 0, size);
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

/* As a program's text: not open for writing. */
static int text_file(size_t size)
{
	char *path = temp_path("mkmem");
	int fd = mkstemp(path), run;

	if (fd < 0)
		shape_fail("mkstemp");
	write_file(fd, 0, size);
	run = open(path, O_RDONLY | O_CLOEXEC);
	unlink(path);
	if (run < 0 || fchmod(fd, 0755) || fsync(fd) || close(fd))
		shape_fail("a file to execute");
	posix_fadvise(run, 0, 0, POSIX_FADV_DONTNEED);
	return run;
}

static void close_file(int fd)
{
	close(fd);
}

/* ---- what is done with a range ---- */

/* Reads each page. */
static void touch(char *p, size_t size)
{
	for (size_t i = 0; i < size; i += PAGE)
		(void)((volatile char *)p)[i];
}

static void unmap(char *p, size_t size)
{
	munmap(p, size);
}

static void lock(char *p, size_t size)
{
	if (mlock(p, size))
		shape_skip("mlock is not allowed");
}

static void none(char *p, size_t size)
{
	protect(p, size, PROT_NONE);
}

static void readonly(char *p, size_t size)
{
	protect(p, size, PROT_READ);
}

static void executable(char *p, size_t size)
{
	protect(p, size, PROT_READ | PROT_EXEC);
}

/* Soft-dirty tracking makes entries read only and marks them. */
static void watch_writes(void)
{
	int fd = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		shape_skip("no clear_refs");
	if (write(fd, "4", 1) != 1 && errno != EINVAL)
		shape_fail("clear_refs");
}

const struct word memory_words[] = {
	{"memory", .flags = MAP_PRIVATE},
	{"private", .flags = MAP_PRIVATE},
	{"shared", .flags = MAP_SHARED},
	{"reserved", .flags = MAP_PRIVATE | MAP_NORESERVE},
	{"shared_reserved", .flags = MAP_SHARED | MAP_NORESERVE},
	{"small", .map = map_small},
	{"apart", .map = map_apart},
	{"aligned", .map = map_aligned},
	{"aligned_shared", .map = map_aligned, .flags = MAP_SHARED},
	{"aligned_private", .map = map_aligned, .flags = MAP_PRIVATE},
	{"heap", .map = map_heap},
	{"hugetlb", .map = map_hugetlb},
	{"shared_hugetlb", .map = map_shared_hugetlb},
	{"sysv", .map = map_sysv},
	{"segment", .map = map_segment},
	{"lowest", .map = map_lowest},
	{"highest", .map = map_highest},
	{"temp", .open = temp_file},
	{"filled", .open = filled_file},
	{"written", .open = written_file},
	{"text", .open = text_file},
	{"memfd", .open = memory_file},
	{"dev_zero", .open = dev_zero},
	{"secret", .open = secret_file},
	{"close", .file = close_file},
	{"fill", .act = fill},
	{"touch", .act = touch},
	{"unmap", .act = unmap},
	{"lock", .act = lock},
	{"none", .act = none},
	{"readonly", .act = readonly},
	{"executable", .act = executable},
	{"drop", .advice = MADV_DONTNEED},
	{"free", .advice = MADV_FREE},
	{"dontfork", .advice = MADV_DONTFORK},
	{"dofork", .advice = MADV_DOFORK},
	{"wipeonfork", .advice = MADV_WIPEONFORK},
	{"unmerge", .advice = MADV_UNMERGEABLE},
	{"watch_writes", .call = watch_writes},
	{},
};
