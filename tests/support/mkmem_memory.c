// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* mkmem's shapes of basic kinds of memory, private and shared, and of hugetlb pages. */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/file.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "mkmem.h"

/* ---- for steps ---- */

char *map_heap(size_t size)
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

char *map_hugetlb(size_t size)
{
	return map_hugetlb_as(size, MAP_PRIVATE);
}

char *map_shared_hugetlb(size_t size)
{
	return map_hugetlb_as(size, MAP_SHARED);
}

char *map_sysv(size_t size)
{
	int id = shmget(IPC_PRIVATE, size, IPC_CREAT | 0600);
	char *p;

	if (id < 0)
		shape_skip("no System V shared memory");
	p = shmat(id, NULL, 0);
	/* It exists as long as a process has it attached. */
	shmctl(id, IPC_RMID, NULL);
	if (p == (char *)-1)
		shape_fail("shmat");
	return p;
}

int memory_file(size_t size)
{
	int fd = memfd_create("mkmem", 0);

	if (fd < 0 || ftruncate(fd, size))
		shape_fail("memfd");
	return fd;
}

int dev_zero(size_t unused)
{
	int fd = open("/dev/zero", O_RDWR | O_CLOEXEC);

	(void)unused;
	if (fd < 0)
		shape_skip("no /dev/zero");
	return fd;
}

int secret_file(size_t size)
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

/* Soft-dirty tracking makes entries read only and marks them. */
void watch_writes(void)
{
	int fd = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		shape_skip("no clear_refs");
	if (write(fd, "4", 1) != 1 && errno != EINVAL)
		shape_fail("clear_refs");
}

/* ---- shapes ---- */

const struct shape memory_shapes[] = {
	/* Half of it in small pages, whatever the machine's THP setting. */
	{"anon", "16 MiB private anonymous memory", "a = memory 16M; nohuge a:8M; fill a"},
	/* smaps_rollup of older kernels (6.1) leaves out huge pages that are PROT_NONE. */
	{"prot_none", "touched, then PROT_NONE", "a = small 8M; fill a; none a:4M"},
	{"mlock", "locked memory", "a = memory 4M; lock a"},
	/* The zero page and, where THP is on, the huge zero page. */
	{"zero", "nothing but read: zero pages",
	 "a = memory 8M; nohuge a:4M; hugepage a+4M:4M; touch a"},
	{"madv_free", "touched, then MADV_FREE", "a = memory 8M; fill a; free a:4M"},
	{"clear_refs", "pages with writes that are watched",
	 "a = small 2M; fill a:1M; b = shared 2M; touch b:1M; watch_writes; fill a:.25M;"
	 "writer { fill a:1M }"},
	{"hugetlb", "two hugetlb pages", "a = hugetlb 2L"},
	{"hugetlb_fork", "a hugetlb page shared by fork, and written",
	 "a = hugetlb 1L; writer { fill a:1P } child {}"},
	{"hugetlb_shared", "shared hugetlb pages",
	 "a = shared_hugetlb 2L; sharer { touch a:1P } readonly a:1L"},
	{},
};

const struct shape shmem_shapes[] = {
	{"shmem", "shared anonymous memory, wholly and half touched",
	 "a = shared 8M; b = shared 8M; fill a; fill b:4M; sharer { touch a:2M }"},
	{"shmem_half", "shared memory mapped whole, and half by others",
	 "a = shared 4M; fill a; first { unmap a+2M; touch a:2M }"
	 "second { unmap a:2M; touch a+2M; drop a+2M:1M } none a+1M:1M"},
	{"memfd2", "a memfd mapped twice",
	 "f = memfd 4M; a = shared f; b = shared f; fill a; touch b"},
	{"memfd_private", "a memfd mapped private and in part written",
	 "f = memfd 4M; s = shared f; p = private f; fill s:3M; touch p:2M; fill p+1M:2M; unmap s:2M;"
	 "writer { fill p:1.5M } reader { touch p:1.5M }"},
	{"sysv", "System V shared memory", "a = sysv 2M; fill a; sharer { touch a:1M }"},
	/* Mapped private, it is anonymous memory with a file; mapped shared, it is shared memory.
	 */
	{"dev_zero", "/dev/zero mapped private and shared",
	 "f = dev_zero 2M; p = private f; nohuge p; fill p; s = shared f; fill s:1M;"
	 "writer { fill p:1M }"},
	/* Only processes that map it can read it. */
	{"secret", "secret memory, which the kernel cannot read",
	 "f = secret 1M; a = shared f; fill a; sharer { touch a:.5M }"},
	{"shmem_big", "400 MiB mapped by three",
	 "a = shared 400M; fill a; sharer { touch a } half_sharer { touch a:200M }",
	 .on_request = true},
	{},
};
