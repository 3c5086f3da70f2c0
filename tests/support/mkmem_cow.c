// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * mkmem's shapes of memory shared by fork: which process forks, writes and ends, and what happens
 * to the VMAs before and after. In small pages; thp_* are the same with huge ones.
 */
#include <errno.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mkmem.h"

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
	/* The child may take over the area's owner that its parent left without an area. */
	steps("fill a+2M:.5M; orphans_child {} fill a+2.5M:.5M");
	shape_report("orphan", getpid());
	role_is_ready(ready_fd);
	idle_forever();
}

static void shape_cow_orphan(void)
{
	pid_t keeper = getppid(), self = getpid(), middle;
	int fds[2];
	char c;

	steps("a = small 3M; fill a");
	if (pipe(fds))
		shape_fail("pipe");
	middle = fork();
	if (!middle) {
		die_with_parent(self);
		/* b: private from the moment that the process in the middle ends. */
		steps("fill a+1.5M:1M; b = small 1M; fill b");
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

void exec_and_end(void)
{
	execl("/proc/self/exe", "mkmem", "--exit", NULL);
	_exit(1);
}

static void start_and_wait(bool exec)
{
	pid_t pid = exec ? vfork() : fork();

	if (!pid && exec)
		exec_and_end();
	if (!pid)
		_exit(0);
	if (pid < 0 || waitpid(pid, NULL, 0) != pid)
		shape_fail("fork");
}

void fork_and_end(void)
{
	start_and_wait(false);
}

void vfork_and_exec(void)
{
	start_and_wait(true);
}

const struct shape cow_shapes[] = {
	{"cow_parent", "shared by fork, the parent wrote before and after",
	 "a = small 3M; fill a; child {} fill a:1.5M; late_child {} fill a+1M:1M"},
	{"cow_child", "shared by fork, the children wrote",
	 "a = small 3M; fill a; first { fill a:1.5M } second { fill a+1M:1.5M }"},
	{"cow_tree", "forks of forks, all wrote some",
	 "a = small 3M; fill a;"
	 "child { fill a:.5M; child_a { fill a+1M:.5M } child_b {} fill a+.5M:.5M } fill a+2.5M;"
	 "child2 { fill a:.5M; child2_a { fill a+1M:.5M } child2_b {} fill a+.5M:.5M }"},
	{"cow_orphan", "shared with a grandchild, the process between ended",
	 .run = shape_cow_orphan},
	/* A write now reuses the page in place. */
	{"cow_ended", "was shared with a child that ended",
	 "a = small 2M; fill a; fork_and_end; fill a:1M"},
	{"cow_exec", "was shared with a child that is another program now",
	 "a = small 2M; fill a; exec { program } fill a:1M"},
	/* Never shared: vfork copies nothing. */
	{"cow_vfork", "started another program by vfork", "a = small 2M; fill a; vfork_and_exec"},
	/* Only the child has the memory, which it inherited. */
	{"cow_left", "shared by fork, then unmapped by the parent",
	 "a = small 3M; fill a; child {} unmap a:2M; drop a+2M:.5M; late_child {}"},
	/* Pages with different numbers of sharers: from all processes down to one. */
	{"cow_many", "shared with 24 children that wrote more and more",
	 "a = small 288P; fill a; child##*24 { fill a:12P# }"},
	{},
};

/* ---- VMAs ---- */

#define FIVE_VMAS                                                                                  \
	"a = apart .5M; b = apart .5M; c = apart .5M; d = apart .5M; e = apart .5M; fill a;"       \
	"fill b; fill c; fill d; fill e;"

/* The new half of a VMA shared by fork, and the part of the heap that is new. */
#define MAP_NEW "n = small .5M; fill n; grow a 1M; fill a+.5M; h = heap .5M; fill h:.5M-1P;"

/* Cuts the middle out of the VMAs in several ways, each process at another place. */
#define SPLIT(at)                                                                                  \
	"readonly a+" at ":64P; none b+" at ":64P; unmap c+" at ":64P; drop d+" at                 \
	":64P; readonly e+" at ":64P/2P; fill e+1P+" at ":63P/2P; free f+" at ":64P;"

/* b's old place stays as an empty VMA and is reused. */
#define MOVE                                                                                       \
	"p = small .5M+1P; move a p+1P; fill p+1P:.125M;"                                          \
	"q = small .5M+1P; move_off b q+1P; fill b:.0625M;"                                        \
	"r = small .25M+1P; move c+.125M:.25M r+1P; s = small .25M+1P; move d s+1P;"

const struct shape cow_vma_shapes[] = {
	{"cow_dontfork", "VMAs that fork leaves out or empties",
	 "a = apart 1M; b = apart 1M; c = apart 1M; fill a; fill b; fill c;"
	 "dontfork a; wipeonfork b; dontfork c+.25M:.5M; child { fill b:.5M }"
	 "dofork a:.5M; child2 {}"},
	{"cow_after", "VMAs mapped or grown after the fork",
	 "a = apart .5M; fill a; h = heap .5M; fill h:.5M-1P; child { " MAP_NEW
	 " } child2 {} " MAP_NEW "late_child {} z = small .5M; fill z"},
	/* Mapped before the fork, touched after it: not shared. */
	{"cow_lazy", "a VMA first touched after the fork",
	 "a = small 1.5M; fill a+1M:1P; child { fill a:1M } fill a:.5M; reader { touch a:1M }"},
	{"cow_split", "VMAs split after the fork by mprotect, munmap, madvise",
	 FIVE_VMAS
	 "f = apart .5M; fill f; readonly a+100P:17P;"
	 "child { " SPLIT("32P") " } child2 {} " SPLIT("60P") "late_child { " SPLIT("32P") " }"},
	{"cow_mremap", "VMAs moved before and after the fork",
	 FIVE_VMAS "z = small 1M+1P; move e z+1P; fill z+.5M+1P:.25M;"
		   "child { " MOVE " } child2 {} " MOVE "fill z+1P:.125M; late_child {}"},
	/* Locking writable memory breaks copy-on-write, as a write does. */
	{"cow_mlock", "VMAs locked before and after the fork",
	 "a = apart 1M; b = apart 1M; fill a; fill b; lock a:.5M; child {} locker { lock b:.5M }"},
	{},
};
