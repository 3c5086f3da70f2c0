// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Common functions of mkmem's shapes: reports, roles, memory. */
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mkmem.h"

static const char *shape_name = "?";

static void report(const char *format, ...)
{
	char line[256];
	va_list args;
	int len;

	va_start(args, format);
	len = vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	/* One write(), so that lines of several processes do not mix. */
	if (write(REPORT_FD, line, len) != len)
		_exit(1);
}

void shape_start(const char *name)
{
	shape_name = name;
}

const char *shape_is(void)
{
	return shape_name;
}

void shape_fail(const char *what)
{
	report("FAIL %s %s: %s\nEND %s\n", shape_name, what, strerror(errno), shape_name);
	_exit(1);
}

__attribute__((noreturn)) static void end_without(const char *word, const char *reason)
{
	report("%s %s %s\nEND %s\n", word, shape_name, reason, shape_name);
	_exit(0);
}

void shape_skip(const char *reason)
{
	end_without("SKIP", reason);
}

void shape_lack(const char *reason)
{
	end_without("LACK", reason);
}

void shape_before(int version, const char *reason)
{
	end_without(kernel_before(version) ? "LACK" : "SKIP", reason);
}

bool kernel_before(int version)
{
	struct utsname u;
	int major = 0, minor = 0;

	uname(&u);
	sscanf(u.release, "%d.%d", &major, &minor);
	return major * 100 + minor < version;
}

void shape_report(const char *role, pid_t pid)
{
	report("READY %s %s %d\n", shape_name, role, pid);
}

int need_fd(int fd, const char *what)
{
	if (fd < 0 && (errno == ENOSYS || errno == EAFNOSUPPORT || errno == ENOENT))
		shape_lack("not in this kernel");
	if (fd < 0 && (errno == EPERM || errno == EACCES))
		shape_skip("it is not allowed");
	if (fd < 0)
		shape_fail(what);
	return fd;
}

void idle_forever(void)
{
	for (;;)
		pause();
}

void die_with_parent(pid_t parent)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* 0: the parent is outside our pid namespace. */
	if (getppid() != parent && getppid() != 0)
		_exit(1);
}

static int role_pipe_end;

int role_fd(void)
{
	return role_pipe_end;
}

void role_goes_on(int fd)
{
	role_pipe_end = fd;
}

void tell_ready(void)
{
	pid_t self = getpid();

	if (!role_pipe_end)
		report("READY %s main %d\nEND %s\n", shape_name, self, shape_name);
	else if (write(role_pipe_end, &self, sizeof(self)) != sizeof(self) || close(role_pipe_end))
		_exit(1);
}

void role_start(const char *role, void (*fn)(void *arg), void *arg)
{
	pid_t pid, parent = getpid(), from = 0;
	int fds[2]; /* fn may start roles, too */
	int status;

	if (pipe(fds))
		shape_fail("pipe");
	pid = fork();
	if (pid < 0)
		shape_fail("fork");
	if (!pid) {
		die_with_parent(parent);
		close(fds[0]);
		role_pipe_end = fds[1];
		fn(arg);
		tell_ready();
		idle_forever();
	}
	close(fds[1]);
	errno = 0;
	if (read(fds[0], &from, sizeof(from)) != sizeof(from)) {
		/* The process may have reported why it skipped the shape. */
		if (waitpid(pid, &status, 0) == pid && status == 0)
			_exit(0);
		shape_fail(role);
	}
	close(fds[0]);
	/* It may have left its steps to a child (leave()). */
	shape_report(role, waitpid(pid, NULL, WNOHANG) == pid ? from : pid);
}

char *map_memory(size_t size, int flags)
{
	char *p;

	if (!(flags & MAP_SHARED))
		flags |= MAP_PRIVATE;
	p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_ANONYMOUS | flags, -1, 0);
	if (p == MAP_FAILED)
		shape_fail("mmap");
	return p;
}

char *map_at(uintptr_t at, size_t size)
{
	void *p = mmap((void *)at, size, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

	if (p == MAP_FAILED)
		return NULL;
	madvise(p, size, MADV_NOHUGEPAGE);
	return p;
}

char *map_small(size_t size)
{
	char *p = map_memory(size, 0);

	/* Whatever the machine's THP setting. */
	madvise(p, size, MADV_NOHUGEPAGE);
	return p;
}

char *map_apart(size_t size)
{
	char *p = map_small(size + 2 * PAGE);

	protect(p, PAGE, PROT_NONE);
	protect(p + PAGE + size, PAGE, PROT_NONE);
	return p + PAGE;
}

char *map_aligned(size_t size)
{
	char *p = map_memory(size + HUGE, 0);
	char *begin = (char *)(((uintptr_t)p + HUGE - 1) & ~(HUGE - 1));

	if (begin > p)
		munmap(p, begin - p);
	munmap(begin + size, p + HUGE - begin);
	return begin;
}

char *temp_path(const char *name)
{
	static char path[256];
	const char *dir = getenv("TMPDIR");

	snprintf(path, sizeof(path), "%s/%s.XXXXXX", dir ? dir : "/tmp", name);
	return path;
}

int temp_file(size_t size)
{
	char *path = temp_path("mkmem file");
	int fd = mkstemp(path);

	if (fd < 0)
		shape_fail("mkstemp");
	unlink(path);
	if (ftruncate(fd, size))
		shape_fail("ftruncate");
	return fd;
}

int memory_file(size_t size)
{
	int fd = memfd_create("mkmem", 0);

	if (fd < 0 || ftruncate(fd, size))
		shape_fail("memfd");
	return fd;
}

void write_file(int fd, size_t at, size_t size)
{
	char *block = map_small(MIB);

	memset(block, 0x5a, MIB);
	for (size_t done = 0; done < size;) {
		ssize_t n = pwrite(fd, block, size - done < MIB ? size - done : MIB, at + done);

		if (n <= 0)
			shape_fail("write");
		done += n;
	}
	munmap(block, MIB);
}

void protect(char *p, size_t size, int prot)
{
	if (mprotect(p, size, prot))
		shape_fail("mprotect");
}

bool collapse(char *p, size_t size)
{
	/* Another process may hold a page for a moment. */
	for (int try = 0; try < 50; try++) {
		if (!madvise(p, size, MADV_COLLAPSE))
			return true;
		if (errno == EINVAL)
			return false;
		usleep(20000);
	}
	return false;
}

void fill(char *p, size_t size)
{
	static uint64_t number;

	for (size_t i = 0; i < size; i += PAGE)
		*(uint64_t *)(p + i) = ((uint64_t)getpid() << 32) + ++number;
}

const char *file_text(const char *path)
{
	static char text[1024];
	FILE *f = fopen(path, "re");

	text[f ? fread(text, 1, sizeof(text) - 1, f) : 0] = '\0';
	if (f)
		fclose(f);
	return text;
}

long file_number(const char *path, const char *key)
{
	size_t key_len = strlen(key);
	char line[256];
	long ret = -1;
	FILE *f = fopen(path, "re");

	while (f && ret < 0 && fgets(line, sizeof(line), f)) {
		if (!strncmp(line, key, key_len) && line[key_len] == ':')
			ret = atol(line + key_len + 1);
	}
	if (f)
		fclose(f);
	return ret;
}

size_t rollup_bytes(const char *key)
{
	long kib = file_number("/proc/self/smaps_rollup", key);

	return kib > 0 ? (size_t)kib * KIB : 0;
}
