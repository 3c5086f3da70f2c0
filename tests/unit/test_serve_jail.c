// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What a process in the jail can still do, tried by one: a child of the test. */
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/array.h"
#include "base/sanitized.h"
#include "serve/jail.h"
#include "zmem/privilege.h"

#define FDS	   64
#define MEMORY	   ((size_t)1 << 30)
#define CALL(name) #name, __NR_##name

/* Without the filter each of them succeeds, or fails in another way: whoever may not open "/". */
static const struct call {
	const char *name;
	long number, arg[6];
} call[] = {
	{CALL(openat), {AT_FDCWD, (long)"/"}},
	{CALL(openat2), {AT_FDCWD, (long)"/"}},
	{CALL(execve), {}},
	{CALL(execveat), {-1}},
	{CALL(socket), {AF_INET, SOCK_STREAM}},
	{CALL(socketpair), {AF_UNIX, SOCK_STREAM}},
	{CALL(connect), {-1}},
	{CALL(bind), {-1}},
	{CALL(ptrace), {-1}},
	{CALL(process_vm_readv), {-1}},
	{CALL(process_vm_writev), {-1}},
	{CALL(clone), {0x10000}}, /* CLONE_THREAD, alone */
	{CALL(clone3), {}},
	{CALL(unshare), {}},
	{CALL(setns), {-1}},
	{CALL(chroot), {}},
	{CALL(keyctl), {-1}},
	{CALL(add_key), {}},
	{CALL(pidfd_getfd), {-1}},
	{CALL(pidfd_open), {-1}},
	{CALL(unlinkat), {-1, (long)"x"}},
	{CALL(linkat), {-1, (long)"x", -1, (long)"y"}},
	{CALL(renameat2), {-1, (long)"x", -1, (long)"y"}},
	{CALL(mknodat), {-1, (long)"x"}},
	{CALL(mkdirat), {-1, (long)"x"}},
	{CALL(symlinkat), {(long)"x", -1, (long)"y"}},
	{CALL(fchmod), {-1}},
	{CALL(fchmodat), {-1, (long)"x"}},
	{CALL(fchown), {-1}},
	{CALL(fchownat), {-1, (long)"x"}},
	{CALL(setxattr), {}},
	{CALL(lsetxattr), {}},
	{CALL(fsetxattr), {-1}},
	{CALL(utimensat), {-1, (long)"x"}},
	{CALL(shmget), {0, 0, -1}},
	{CALL(semget), {0, -1}},
	{CALL(mq_open), {}},
	{CALL(memfd_create), {}},
	{CALL(prlimit64), {0, -1}},
	{CALL(truncate), {}},
#ifdef __NR_open
	{CALL(open), {(long)"/"}},
	{CALL(creat), {(long)"/"}},
	{CALL(fork), {}},
	{CALL(unlink), {}},
	{CALL(link), {}},
	{CALL(rename), {}},
	{CALL(mknod), {}},
	{CALL(mkdir), {}},
	{CALL(symlink), {}},
	{CALL(rmdir), {}},
	{CALL(chmod), {}},
	{CALL(chown), {}},
	{CALL(lchown), {}},
#endif
};

static bool kernel_filters(void)
{
	return prctl(PR_GET_SECCOMP) >= 0;
}

static void try_calls(int out)
{
	pid_t self = getpid();

	for (size_t i = 0; i < ARRAY_SIZE(call); i++) {
		const struct call *c = &call[i];
		const long *a = c->arg;
		long r;

		errno = 0;
		r = syscall(c->number, a[0], a[1], a[2], a[3], a[4], a[5]);
		if (getpid() != self)
			_exit(0);
		if (r != -1 || errno != EPERM)
			dprintf(out, "%s: %ld, %s\n", c->name, r, strerror(errno));
	}
}

static void try_rights(int out)
{
	uid_t real, effective, saved;

	if (privilege_mask())
		dprintf(out, "capabilities: %llx\n", (unsigned long long)privilege_mask());
	getresuid(&real, &effective, &saved);
	if (!real || !effective || !saved)
		dprintf(out, "still root: %u %u %u\n", real, effective, saved);
	if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1)
		dprintf(out, "a program may have more rights\n");
	if (dup2(out, FDS - 1) < 0 || dup2(out, FDS) >= 0)
		dprintf(out, "so many files are not the limit\n");
}

static void try_memory(int out)
{
	void *p = mmap(NULL, MEMORY, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p != MAP_FAILED)
		dprintf(out, "there is more memory than that\n");
}

/* What is written by one that is in the jail. */
static void jailed(void (*try)(int out), char *ret, size_t cap)
{
	int fds[2], status;
	size_t len = 0;
	ssize_t n;
	pid_t pid;

	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		int r = jail_enter(FDS, MEMORY);

		if (r)
			dprintf(fds[1], "jail_enter: %d\n", r);
		else
			try(fds[1]);
		_exit(0);
	}
	assert_true(pid > 0);
	close(fds[1]);
	while ((n = read(fds[0], ret + len, cap - 1 - len)) > 0)
		len += (size_t)n;
	ret[len] = '\0';
	close(fds[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static void assert_nothing_said(void (*try)(int out))
{
	char said[8192];

	jailed(try, said, sizeof(said));
	assert_string_equal(said, "");
}

/* It makes calls of its own in our place, and cannot live in the jail. */
static bool in_valgrind(void)
{
	const char *preload = getenv("LD_PRELOAD");

	return preload && strstr(preload, "vgpreload");
}

static void test_rights(void **state)
{
	(void)state;
	if (in_valgrind())
		skip();
	assert_nothing_said(try_rights);
}

static void test_memory(void **state)
{
	(void)state;
	if (SANITIZED || in_valgrind())
		skip();
	assert_nothing_said(try_memory);
}

static void test_calls(void **state)
{
	(void)state;
	if (SANITIZED || in_valgrind() || !kernel_filters())
		skip();
	assert_nothing_said(try_calls);
}

/* Else a test of what is refused could not fail. */
static void test_calls_outside(void **state)
{
	(void)state;
	/* We are in somebody else's jail. */
	if (in_valgrind() || prctl(PR_GET_SECCOMP) > 0)
		skip();
	for (size_t i = 0; i < ARRAY_SIZE(call); i++) {
		const struct call *c = &call[i];
		const long *a = c->arg;
		int status;
		pid_t pid = fork();

		if (pid == 0) {
			long r;

			privilege_leave();
			errno = 0;
			r = syscall(c->number, a[0], a[1], a[2], a[3], a[4], a[5]);
			_exit(r == -1 && errno == EPERM);
		}
		assert_int_equal(waitpid(pid, &status, 0), pid);
		if (status)
			fail_msg("%s is refused to everybody", c->name);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rights),
		cmocka_unit_test(test_memory),
		cmocka_unit_test(test_calls),
		cmocka_unit_test(test_calls_outside),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
