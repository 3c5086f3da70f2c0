// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * mkmem's words for worlds (world.py): cgroups, namespaces, programs in memory, and files
 * that only a socket or a ring of io_uring keeps.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "mkmem.h"

/* ---- cgroups ---- */

bool enter_group(const char *name, size_t len)
{
	const char *base = getenv("MKMEM_GROUPS");
	char path[512], pid[16];
	int fd, size;
	bool good;

	snprintf(path, sizeof(path), "%s/%.*s/cgroup.procs", base ? base : "", (int)len, name);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	size = snprintf(pid, sizeof(pid), "%d", getpid());
	good = fd >= 0 && write(fd, pid, size) == size;
	if (fd >= 0)
		close(fd);
	return good;
}

/* From now on it ends with mkmem, no more with its parent, which may be in another group. */
static void outlive_parent(void)
{
	/* An open file of its own, because only one process gets the signal of each. */
	int fd = open("/proc/self/fd/" KEEPER_TEXT, O_RDONLY | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0 || fcntl(fd, F_SETOWN, getpid()) ||
	    fcntl(fd, F_SETFL, O_RDONLY | O_NONBLOCK | O_ASYNC))
		shape_fail("the pipe of mkmem");
	prctl(PR_SET_PDEATHSIG, 0);
}

void change_group(const char *name)
{
	outlive_parent();
	if (!enter_group(name, strlen(name)))
		shape_fail("a cgroup");
}

/* ---- namespaces and file systems ---- */

static int home = -1;

static void unshare_to(int flags, const char *what)
{
	need_fd(unshare(flags), what);
	/* The kernel may have forgotten it with the credentials. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
}

static void new_mounts(void)
{
	home = open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC);
	unshare_to(CLONE_NEWNS, "a namespace of mounts");
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL))
		shape_fail("mounts");
}

static void new_ipc(void)
{
	unshare_to(CLONE_NEWIPC, "a namespace of System V");
}

static void new_pids(void)
{
	unshare_to(CLONE_NEWPID, "a namespace of pids");
}

static void new_users(void)
{
	unshare_to(CLONE_NEWUSER, "a namespace of users");
}

/* A new one at the working directory, which is then in it. */
void mount_here(const char *type)
{
	char path[512];

	if (!getcwd(path, sizeof(path)) || mount("mkmem", path, type, 0, NULL) || chdir(path))
		shape_fail(type);
}

/* Back to the first namespace of mounts; the working directory stays where it is. */
static void go_home(void)
{
	int here = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (here < 0 || setns(home, CLONE_NEWNS) || fchdir(here))
		shape_fail("the first namespace of mounts");
	close(here);
	close(home);
}

/* ---- files ---- */

static int file_here(size_t size, bool named)
{
	static int count;
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "mkmem.%d.%d", getpid(), count++);
	fd = open(path, O_RDWR | O_CREAT | O_EXCL, 0700);
	if (fd < 0 || ftruncate(fd, size) || (!named && unlink(path)))
		shape_fail("a file in the working directory");
	return fd;
}

static int named_file(size_t size)
{
	return file_here(size, true);
}

static int unnamed_file(size_t size)
{
	return file_here(size, false);
}

/* Full pipes of a MiB, and one of the rest. Returns an end of the last one. */
static int full_pipes(size_t size)
{
	static const char zeros[4096];
	int ends[2] = {-1, -1};

	for (size_t left = size, part; left; left -= part) {
		part = left < 1024 * KIB ? left : 1024 * KIB;
		if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) || fcntl(ends[1], F_SETPIPE_SZ, part) < 0)
			shape_fail("a pipe");
		for (size_t at = 0; at < part; at += sizeof(zeros)) {
			if (write(ends[1], zeros, sizeof(zeros)) != sizeof(zeros))
				shape_fail("a full pipe");
		}
	}
	return ends[0];
}

/* It waits in a socket of this process. */
static void send_file(int fd)
{
	union {
		char room[CMSG_SPACE(sizeof(int))];
		struct cmsghdr head;
	} control = {};
	struct iovec text = {.iov_base = "f", .iov_len = 1};
	struct msghdr message = {.msg_iov = &text,
				 .msg_iovlen = 1,
				 .msg_control = control.room,
				 .msg_controllen = sizeof(control.room)};
	int ends[2];

	control.head.cmsg_level = SOL_SOCKET;
	control.head.cmsg_type = SCM_RIGHTS;
	control.head.cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(&control.head), &fd, sizeof(fd));
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) || sendmsg(ends[0], &message, 0) != 1)
		shape_fail("a descriptor in a socket");
	close(fd);
}

/* A ring of io_uring has it. */
static void register_file(int fd)
{
	if (syscall(SYS_io_uring_register, uring_file(0), IORING_REGISTER_FILES, &fd, 1))
		shape_fail("io_uring");
	close(fd);
}

/* ---- programs ---- */

int copy_program(int to, size_t more)
{
	int from = open("/proc/self/exe", O_RDONLY | O_CLOEXEC), run;
	char path[64];
	struct stat st;

	if (from < 0 || fstat(from, &st))
		shape_fail("/proc/self/exe");
	for (off_t at = 0; at < st.st_size;) {
		if (sendfile(to, from, &at, st.st_size - at) <= 0)
			shape_fail("copy of the program");
	}
	write_file(to, st.st_size, more);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", to);
	run = open(path, O_RDONLY | O_CLOEXEC);
	/* A file that is open for writing cannot be run. */
	if (run < 0 || fchmod(to, 0700) || close(to))
		shape_fail("copy of the program");
	close(from);
	return run;
}

/* Goes on with the steps as a program in such a file of at least so many bytes. */
void become(const char *kind, size_t size, const char *text)
{
	char ready[16], again[64];
	int run = copy_program(!strcmp(kind, "memfd") ? memory_file(0)
						      : file_here(0, !strcmp(kind, "named")),
			       size);

	snprintf(again, sizeof(again), "/proc/self/fd/%d", run);
	snprintf(ready, sizeof(ready), "%d", role_fd());
	execl(again, "mkmem", "--go-on", shape_is(), ready, text, NULL);
	shape_fail("exec");
}

const struct word lab_words[] = {
	{"named", .open = named_file},
	{"unnamed", .open = unnamed_file},
	{"pipes", .open = full_pipes},
	{"send", .file = send_file},
	{"register", .file = register_file},
	{"new_mounts", .call = new_mounts},
	{"new_ipc", .call = new_ipc},
	{"new_pids", .call = new_pids},
	{"new_users", .call = new_users},
	{"go_home", .call = go_home},
	{},
};
