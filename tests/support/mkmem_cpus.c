// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* mkmem's shapes that are spread over CPUs and NUMA nodes. */
#include <errno.h>
#include <linux/mempolicy.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "mkmem.h"

/* ---- each CPU has counted something ---- */

/*
 * Fewer pages than a CPU batches in its per-CPU counter (max(32, 2 * CPUs)) with 64 CPUs. Every
 * other CPU frees memory that its neighbour allocated: its part of the sum is negative.
 */
#define PART_PAGES 120
#define PARTS_MAX  CPU_SETSIZE

struct part {
	int cpu;
	size_t index;
	pthread_t thread;
	char *anon, *file, *shmem;
};

static struct part part[PARTS_MAX];
static size_t parts;
static pthread_barrier_t barrier;
static bool threads_stay;

static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		shape_fail("sched_setaffinity");
}

static void *part_main(void *arg)
{
	struct part *p = arg, *before = p - 1;
	bool takes = p->index % 2 == 0;
	size_t some = 20 + p->index % 41;

	pin(p->cpu);
	if (takes) {
		fill(p->anon, PART_PAGES * PAGE);
		touch(p->file, PART_PAGES * PAGE);
	}
	fill(p->shmem, some * PAGE);
	pthread_barrier_wait(&barrier);
	if (!takes) {
		madvise(before->anon, some * PAGE, MADV_DONTNEED);
		madvise(before->file, (some + 10) * PAGE, MADV_DONTNEED);
		madvise(before->shmem, some / 2 * PAGE, MADV_DONTNEED);
	}
	pthread_barrier_wait(&barrier);
	if (threads_stay)
		idle_forever();
	return NULL;
}

static void map_parts(void)
{
	int fd = filled_file(PART_PAGES * PAGE);
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set))
		shape_fail("sched_getaffinity");
	for (int cpu = 0; cpu < PARTS_MAX; cpu++) {
		if (!CPU_ISSET(cpu, &set))
			continue;
		part[parts] = (struct part){
			.cpu = cpu,
			.index = parts,
			.anon = map_small(PART_PAGES * PAGE),
			.file = map_fd(fd, PART_PAGES * PAGE, MAP_SHARED),
			.shmem = map_memory(PART_PAGES * PAGE, MAP_SHARED),
		};
		madvise(part[parts++].shmem, PART_PAGES * PAGE, MADV_NOHUGEPAGE);
	}
	close(fd);
}

static void run_parts(void)
{
	pthread_attr_t attr;

	map_parts();
	if (pthread_barrier_init(&barrier, NULL, parts + 1) || pthread_attr_init(&attr) ||
	    pthread_attr_setstacksize(&attr, 256 * KIB))
		shape_fail("threads");
	for (size_t i = 0; i < parts; i++) {
		errno = pthread_create(&part[i].thread, &attr, part_main, &part[i]);
		if (errno)
			shape_fail("thread");
	}
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
}

/* The threads that counted have ended. */
static void run_and_join(void *unused)
{
	(void)unused;
	run_parts();
	for (size_t i = 0; i < parts; i++)
		pthread_join(part[i].thread, NULL);
}

static void shape_percpu(void)
{
	role_start("ended", run_and_join, NULL);
	threads_stay = true;
	run_parts();
}

/* ---- each node has some of the memory ---- */

static bool has_node(unsigned node)
{
	char path[64];

	snprintf(path, sizeof(path), "/sys/devices/system/node/node%u", node);
	return access(path, F_OK) == 0;
}

/* False: the node has no memory, or none for this cpuset. */
static bool bind_to(char *p, size_t size, unsigned node)
{
	unsigned long mask = 1ul << node;

	if (syscall(SYS_mbind, p, size, MPOL_BIND, &mask, 64, 0) == 0)
		return true;
	if (errno != EINVAL)
		shape_fail("mbind");
	return false;
}

static void expect_node(char *p, unsigned node)
{
	int is = -1;

	if (syscall(SYS_get_mempolicy, &is, NULL, 0, p, MPOL_F_NODE | MPOL_F_ADDR) ||
	    is != (int)node)
		shape_fail("memory is not on the node it was bound to");
}

static void shape_numa(void)
{
	if (!has_node(1))
		shape_lack("one node only");
	for (unsigned node = 0; node < 64 && has_node(node); node++) {
		char *part[] = {map_memory(2 * MIB, MAP_SHARED), map_aligned(HUGE), map_small(MIB)};
		const size_t size[] = {2 * MIB, HUGE, MIB};

		if (!bind_to(part[0], size[0], node))
			continue;
		for (int i = 0; i < 3; i++) {
			bind_to(part[i], size[i], node);
			fill(part[i], size[i]);
			expect_node(part[i], node);
		}
		set_area('a', part[0], size[0]);
		steps(node ? "far { touch a }" : "near { touch a }");
	}
}

const struct shape cpus_shapes[] = {
	{"percpu", "memory taken and given back on each CPU by threads of its own",
	 .run = shape_percpu},
	{"numa", "memory on each node, private, huge and shared", .run = shape_numa},
	{},
};
