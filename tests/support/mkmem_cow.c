// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* mkmem's shapes of memory shared by fork: which process forks, writes and ends. */
#include <errno.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mkmem.h"

#define PART (MIB / 2)

/* Small pages; thp_* are the same with huge ones. */
static char *cow;

static void cow_begin(size_t size)
{
	cow = map_small(size);
	fill(cow, size);
}

static void write_part(size_t from, size_t size)
{
	fill(cow + from, size);
}

static void shape_cow_parent(void)
{
	cow_begin(6 * PART);
	role_start("child", NULL, NULL);
	write_part(0, 3 * PART);
	role_start("late_child", NULL, NULL);
	write_part(2 * PART, 2 * PART);
}

static void shape_cow_child(void)
{
	struct vma first, second;

	cow_begin(6 * PART);
	first = vma_of(cow, 3 * PART);
	second = vma_of(cow + 2 * PART, 3 * PART);
	role_start("first", fill_vma, &first);
	role_start("second", fill_vma, &second);
}

static void grandchild(void *unused)
{
	(void)unused;
	write_part(2 * PART, PART);
}

/* Given the names of its children. */
static void forking_child(void *names)
{
	const char *const *name = names;

	write_part(0, PART);
	role_start(name[0], grandchild, NULL);
	role_start(name[1], NULL, NULL);
	write_part(PART, PART);
}

static void shape_cow_tree(void)
{
	static const char *names[][2] = {{"child_a", "child_b"}, {"child2_a", "child2_b"}};

	cow_begin(6 * PART);
	role_start("child", forking_child, names[0]);
	write_part(5 * PART, PART);
	role_start("child2", forking_child, names[1]);
}

/* ---- processes that have ended ---- */

/* The parent has ended; the memory inherited through it is still shared with the grandparent. */
static void orphan(pid_t keeper, int ready_fd)
{
	for (int i = 0; getppid() != keeper; i++) {
		if (i == 5000)
			_exit(1);
		usleep(1000);
	}
	die_with_parent(keeper);
	write_part(4 * PART, PART);
	/* It may take over the area's owner that its parent left without an area. */
	role_start("orphans_child", NULL, NULL);
	write_part(5 * PART, PART);
	shape_report("orphan", getpid());
	role_is_ready(ready_fd);
	idle_forever();
}

static void shape_cow_orphan(void)
{
	pid_t keeper = getppid(), self = getpid(), middle;
	int fds[2];
	char c;

	cow_begin(6 * PART);
	if (pipe(fds))
		shape_fail("pipe");
	middle = fork();
	if (!middle) {
		die_with_parent(self);
		write_part(3 * PART, 2 * PART);
		/* Private from the moment that the process in the middle ends. */
		fill(map_small(2 * PART), 2 * PART);
		if (!fork())
			orphan(keeper, fds[1]);
		_exit(0);
	}
	close(fds[1]);
	if (middle < 0 || waitpid(middle, NULL, 0) != middle)
		shape_fail("the process in the middle");
	errno = 0;
	if (read(fds[0], &c, 1) != 1)
		shape_fail("the orphan");
}

static void fork_and_end(const char *path)
{
	pid_t pid = path ? vfork() : fork();

	if (!pid) {
		if (path)
			execl(path, "mkmem", "--exit", NULL);
		_exit(0);
	}
	if (pid < 0 || waitpid(pid, NULL, 0) != pid)
		shape_fail("fork");
}

/* Memory that was shared and no longer is. */
static void shape_cow_ended(void)
{
	cow_begin(4 * PART);
	fork_and_end(NULL);
	/* A write now reuses the page in place. */
	write_part(0, 2 * PART);
}

static void shape_cow_exec(void)
{
	cow_begin(4 * PART);
	role_start("exec", role_exec, NULL);
	write_part(0, 2 * PART);
}

/* Memory that was never shared: vfork copies nothing. */
static void shape_cow_vfork(void)
{
	cow_begin(4 * PART);
	fork_and_end("/proc/self/exe");
}

/* Only the child has the memory, which it inherited by fork. */
static void shape_cow_left(void)
{
	cow_begin(6 * PART);
	role_start("child", NULL, NULL);
	munmap(cow, 4 * PART);
	madvise(cow + 4 * PART, PART, MADV_DONTNEED);
	role_start("late_child", NULL, NULL);
}

#define MANY 24

/* Pages with different numbers of sharers: from all processes down to one. */
static void shape_cow_many(void)
{
	static struct vma part[MANY];
	char role[] = "child00";

	cow_begin(MANY * 12 * PAGE);
	for (int i = 0; i < MANY; i++) {
		part[i] = vma_of(cow, i * 12 * PAGE);
		role[5] = '0' + i / 10;
		role[6] = '0' + i % 10;
		role_start(role, fill_vma, &part[i]);
	}
}

const struct shape cow_shapes[] = {
	{"cow_parent", "shared by fork, the parent wrote before and after", shape_cow_parent},
	{"cow_child", "shared by fork, the children wrote", shape_cow_child},
	{"cow_tree", "forks of forks, all wrote some", shape_cow_tree},
	{"cow_orphan", "shared with a grandchild, the process between ended", shape_cow_orphan},
	{"cow_ended", "was shared with a child that ended", shape_cow_ended},
	{"cow_exec", "was shared with a child that is another program now", shape_cow_exec},
	{"cow_vfork", "started another program by vfork", shape_cow_vfork},
	{"cow_left", "shared by fork, then unmapped by the parent", shape_cow_left},
	{"cow_many", "shared with 24 children that wrote more and more", shape_cow_many},
	{},
};
