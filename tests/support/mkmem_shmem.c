// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* mkmem's shapes of shared memory without a file on disk. */
#include <errno.h>
#include <fcntl.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "mkmem.h"

static int memfd(size_t size)
{
	int fd = memfd_create("mkmem", 0);

	if (fd < 0 || ftruncate(fd, size))
		shape_fail("memfd");
	return fd;
}

static void shape_shmem(void)
{
	struct vma whole = {map_memory(8 * MIB, MAP_SHARED), 8 * MIB};
	char *half = map_memory(8 * MIB, MAP_SHARED);

	fill_vma(&whole);
	fill(half, 4 * MIB);
	whole.size = 2 * MIB;
	role_start("sharer", touch_vma, &whole);
}

static void touch_half(void *vma)
{
	const struct vma *a = vma;

	munmap(a->p + a->size / 2, a->size / 2);
	touch(a->p, a->size / 2);
}

static void leave_half(void *vma)
{
	const struct vma *a = vma;

	munmap(a->p, a->size / 2);
	touch(a->p + a->size / 2, a->size / 2);
	if (madvise(a->p + a->size / 2, a->size / 4, MADV_DONTNEED))
		shape_fail("MADV_DONTNEED");
}

static void shape_shmem_half(void)
{
	struct vma a = vma_of(map_memory(4 * MIB, MAP_SHARED), 4 * MIB);

	fill_vma(&a);
	role_start("first", touch_half, &a);
	role_start("second", leave_half, &a);
	protect(a.p + MIB, MIB, PROT_NONE);
}

static void shape_memfd2(void)
{
	int fd = memfd(4 * MIB);

	fill(map_fd(fd, 4 * MIB, MAP_SHARED), 4 * MIB);
	touch(map_fd(fd, 4 * MIB, MAP_SHARED), 4 * MIB);
}

static void shape_memfd_private(void)
{
	static struct vma a;
	int fd = memfd(4 * MIB);
	char *shared = map_fd(fd, 4 * MIB, MAP_SHARED), *p = map_fd(fd, 4 * MIB, MAP_PRIVATE);

	fill(shared, 3 * MIB);
	touch(p, 2 * MIB);
	fill(p + MIB, 2 * MIB);
	munmap(shared, 2 * MIB);
	a = vma_of(p, MIB + MIB / 2);
	role_start("writer", fill_vma, &a);
	role_start("reader", touch_vma, &a);
}

static void shape_sysv(void)
{
	int id = shmget(IPC_PRIVATE, 2 * MIB, IPC_CREAT | 0600);
	static struct vma a;

	if (id < 0)
		shape_skip("no System V shared memory");
	a = vma_of(shmat(id, NULL, 0), 2 * MIB);
	/* It exists as long as a process has it attached. */
	shmctl(id, IPC_RMID, NULL);
	if (a.p == (char *)-1)
		shape_fail("shmat");
	fill_vma(&a);
	a.size = MIB;
	role_start("sharer", touch_vma, &a);
}

/* Mapped private, it is anonymous memory with a file; mapped shared, it is shared memory. */
static void shape_dev_zero(void)
{
	static struct vma a;
	int fd = open("/dev/zero", O_RDWR | O_CLOEXEC);
	char *shared;

	if (fd < 0)
		shape_skip("no /dev/zero");
	a = vma_of(map_fd(fd, 2 * MIB, MAP_PRIVATE), 2 * MIB);
	madvise(a.p, a.size, MADV_NOHUGEPAGE);
	fill_vma(&a);
	shared = map_fd(fd, 2 * MIB, MAP_SHARED);
	fill(shared, MIB);
	a.size = MIB;
	role_start("writer", fill_vma, &a);
}

/* Memory that the kernel does not map: only processes that map it can read it. */
static void shape_secret(void)
{
#ifdef SYS_memfd_secret
	int fd = syscall(SYS_memfd_secret, 0);
	static struct vma a;

	if (fd < 0 && (errno == ENOSYS || errno == EOPNOTSUPP))
		shape_before(514, "no memfd_secret, or not without secretmem.enable=1");
	if (fd < 0 || ftruncate(fd, MIB))
		shape_fail("memfd_secret");
	a = vma_of(map_fd(fd, MIB, MAP_SHARED), MIB);
	fill_vma(&a);
	a.size = MIB / 2;
	role_start("sharer", touch_vma, &a);
#else
	shape_skip("no memfd_secret in this C library");
#endif
}

/* ---- on request ---- */

static void shape_shmem_big(void)
{
	static struct vma a;

	a = vma_of(map_memory(400 * MIB, MAP_SHARED), 400 * MIB);
	fill_vma(&a);
	role_start("sharer", touch_vma, &a);
	a.size /= 2;
	role_start("half_sharer", touch_vma, &a);
}

const struct shape shmem_shapes[] = {
	{"shmem", "shared anonymous memory, wholly and half touched", shape_shmem},
	{"shmem_half", "shared memory mapped whole, and half by others", shape_shmem_half},
	{"memfd2", "a memfd mapped twice", shape_memfd2},
	{"memfd_private", "a memfd mapped private and in part written", shape_memfd_private},
	{"sysv", "System V shared memory", shape_sysv},
	{"dev_zero", "/dev/zero mapped private and shared", shape_dev_zero},
	{"secret", "secret memory, which the kernel cannot read", shape_secret},
	{"shmem_big", "400 MiB mapped by three", shape_shmem_big, .on_request = true},
	{},
};
