// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The seccomp filter: a child of the test tries every system call. Each call is of one of three
 * classes: needed, allowed only with other arguments, or (by its number) all others.
 */
#include "unit.h"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "privilege/privilege.h"
#include "serve/sandbox.h"
#include "system_calls.h"

#define NUMBER_MAX 1023
#define FD_LISTENS 40
#define FD_TARGET  41
#define GUARD_S	   60 /* for a call that hangs because it was not refused */

/* The program that http_system_calls_limit() gives the kernel. */
static struct sock_filter filter[1024];
static size_t filter_len;

int prctl(int option, ...)
{
	va_list args;
	unsigned long a[4];

	va_start(args, option);
	for (size_t i = 0; i < ARRAY_SIZE(a); i++)
		a[i] = va_arg(args, unsigned long);
	va_end(args);
	if (option == PR_SET_SECCOMP && a[1]) {
		const struct sock_fprog *program = (const struct sock_fprog *)a[1];

		filter_len = program->len < ARRAY_SIZE(filter) ? program->len : 0;
		memcpy(filter, program->filter, filter_len * sizeof(*filter));
	}
	return (int)syscall(__NR_prctl, option, a[0], a[1], a[2], a[3]);
}

static bool kernel_filters(void)
{
	return prctl(PR_GET_SECCOMP) >= 0;
}

static long make(const struct call *c)
{
	const long *a = c->arg;

	errno = 0;
	return syscall(c->number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

/* A call that is not refused may hang or end the child. */
static void try_refused(int out)
{
	pid_t self = getpid();

	for (size_t i = 0; i < ARRAY_SIZE(refused); i++) {
		long r = make(&refused[i]);

		if (getpid() != self)
			_exit(0);
		if (r != -1 || errno != EPERM)
			dprintf(out, "%s (%zu): %ld, %s\n", refused[i].name, i, r, strerror(errno));
	}
}

static void try_needed(int out)
{
	for (size_t i = 0; i < ARRAY_SIZE(needed); i++) {
		if (make(&needed[i]) == -1 && errno == EPERM)
			dprintf(out, "%s (%zu) is refused\n", needed[i].name, i);
	}
}

static bool is_needed(long number)
{
	if (number == __NR_exit_group)
		return true;
#ifdef __x86_64__
	/* uretprobe and uprobe bypass filters; they refuse all callers but the kernel's trampoline.
	 */
	if (number == 335 || number == 336)
		return true;
#endif
	for (size_t i = 0; i < ARRAY_SIZE(needed); i++) {
		if (needed[i].number == number)
			return true;
	}
	return false;
}

/* Also numbers that this kernel lacks: a newer one may have them. */
static void try_all_others(int out)
{
	pid_t self = getpid();

	for (long number = 0; number <= NUMBER_MAX; number++) {
		const struct call c = {"", number, {-1, -1, -1, -1, -1, -1}};
		long r = is_needed(number) ? -1 : make(&c);

		if (getpid() != self)
			_exit(0);
		if (!is_needed(number) && (r != -1 || errno != EPERM))
			dprintf(out, "call %ld: %ld, %s\n", number, r, strerror(errno));
	}
	dprintf(out, "all were tried");
}

/* MSG_FASTOPEN would connect a listening socket without socket() and connect(). */
static void try_fast_open(int out)
{
	struct sockaddr_in to = {};
	socklen_t size = sizeof(to);

	if (getsockname(FD_TARGET, (struct sockaddr *)&to, &size) < 0)
		dprintf(out, "getsockname: %s\n", strerror(errno));
	if (shutdown(FD_LISTENS, SHUT_RDWR) < 0)
		dprintf(out, "shutdown: %s\n", strerror(errno));
	if (sendto(FD_LISTENS, "x", 1, MSG_FASTOPEN | MSG_NOSIGNAL, (const struct sockaddr *)&to,
		   sizeof(to)) >= 0 ||
	    errno != EPERM)
		dprintf(out, "it was connected: %s\n", strerror(errno));
}

static void foreign_x32(void)
{
	syscall(0x40000000 | __NR_getpid);
}

#ifdef __x86_64__
/* getpid() of i386 has the number of writev() of x86_64. */
static void foreign_i386(void)
{
	long number = 20;

	__asm__ volatile("int $0x80" : "+a"(number) : : "memory", "r8", "r9", "r10", "r11");
}
#endif

static int enter(void)
{
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ? -errno : http_system_calls_limit();
}

/* Returns what a filtered child writes. */
static void filtered(void (*try)(int out), char *ret, size_t cap)
{
	int fds[2], status;
	size_t len = 0;
	ssize_t n;
	pid_t pid;

	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		int r;

		alarm(GUARD_S);
		r = enter();
		if (r)
			dprintf(fds[1], "enter: %d\n", r);
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

	filtered(try, said, sizeof(said));
	assert_string_equal(said, "");
}

/* cmocka skips in a test, and not in its setup. */
#define FILTER_TEST(name)                                                                          \
	static void filtered_##name(void);                                                         \
	TEST(name)                                                                                 \
	{                                                                                          \
		if (SANITIZED || !kernel_filters())                                                \
			skip();                                                                    \
		filtered_##name();                                                                 \
	}                                                                                          \
	static void filtered_##name(void)

FILTER_TEST(refused)
{
	assert_nothing_said(try_refused);
}

FILTER_TEST(needed)
{
	assert_nothing_said(try_needed);
}

FILTER_TEST(all_others)
{
	char said[8192];

	filtered(try_all_others, said, sizeof(said));
	assert_string_equal(said, "all were tried");
}

FILTER_TEST(fast_open)
{
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
	socklen_t size = sizeof(to);
	cleanup_close int target = socket(AF_INET, SOCK_STREAM, 0);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	assert_int_equal(bind(target, (const struct sockaddr *)&to, size) | listen(target, 9), 0);
	assert_int_equal(bind(fd, (const struct sockaddr *)&to, size) | listen(fd, 9), 0);
	assert_int_equal(getsockname(target, (struct sockaddr *)&to, &size), 0);
	assert_int_equal(dup2(fd, FD_LISTENS), FD_LISTENS);
	close(fd);
	assert_int_equal(dup2(target, FD_TARGET), FD_TARGET);
	assert_nothing_said(try_fast_open);
	close(FD_LISTENS);
	close(FD_TARGET);
	fcntl(target, F_SETFL, O_NONBLOCK);
	assert_int_equal(accept(target, NULL, NULL), -1);
}

static int ends_how(void (*try)(void), bool filtered)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		/* cmocka's handler would go on with the tests in the child. */
		signal(SIGSEGV, SIG_DFL);
		if (filtered && enter())
			_exit(1);
		try();
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

/* What the filter says to a call, by its instructions; they are of four kinds. */
static uint32_t filter_says(const struct seccomp_data *data)
{
	uint32_t a = 0;

	for (size_t i = 0; i < filter_len; i++) {
		const struct sock_filter *f = &filter[i];
		bool yes = false;

		switch (f->code) {
		case BPF_LD | BPF_W | BPF_ABS:
			memcpy(&a, (const char *)data + f->k, sizeof(a));
			continue;
		case BPF_RET | BPF_K:
			return f->k;
		case BPF_JMP | BPF_JEQ | BPF_K:
			yes = a == f->k;
			break;
		case BPF_JMP | BPF_JGE | BPF_K:
			yes = a >= f->k;
			break;
		case BPF_JMP | BPF_JSET | BPF_K:
			yes = a & f->k;
			break;
		default:
			return 0;
		}
		i += yes ? f->jt : f->jf;
	}
	return 0;
}

/* Where the processor or the kernel has no such calls, the filter's own answer is the proof. */
static void say_foreign(int out)
{
	const uint32_t kill = SECCOMP_RET_KILL_PROCESS;
#ifdef __x86_64__
	const uint32_t own = AUDIT_ARCH_X86_64, foreign = AUDIT_ARCH_I386;
#else
	const uint32_t own = AUDIT_ARCH_AARCH64, foreign = AUDIT_ARCH_ARM;
#endif

	for (int number = 0; number <= NUMBER_MAX; number++) {
		const struct seccomp_data data = {.nr = number, .arch = foreign};

		if (filter_says(&data) != kill)
			dprintf(out, "call %d of another architecture\n", number);
	}
	if (filter_says(&(struct seccomp_data){.nr = __NR_getpid, .arch = own}) !=
	    SECCOMP_RET_ALLOW)
		dprintf(out, "getpid() is refused\n");
}

/* Another architecture has other numbers for the same calls. */
FILTER_TEST(foreign)
{
	assert_nothing_said(say_foreign);
	assert_int_equal(ends_how(foreign_x32, false), 0);
	assert_int_equal(WTERMSIG(ends_how(foreign_x32, true)), SIGSYS);
#ifdef __x86_64__
	/* Only if the kernel supports such calls. */
	if (ends_how(foreign_i386, false) == 0)
		assert_int_equal(WTERMSIG(ends_how(foreign_i386, true)), SIGSYS);
#endif
}

/* Without the filter no call may be refused, or the test could not fail. */
TEST(refused_outside)
{
	if (prctl(PR_GET_SECCOMP) > 0) {
		print_message("the test itself runs with a filter\n");
		skip();
	}
	for (size_t i = 0; i < ARRAY_SIZE(refused); i++) {
		int status;
		pid_t pid = fork();

		if (pid == 0) {
			privilege_leave(65534, 65534);
			_exit(make(&refused[i]) == -1 && errno == EPERM);
		}
		assert_int_equal(waitpid(pid, &status, 0), pid);
		if (status)
			fail_msg("%s (%zu) is refused without the filter, too", refused[i].name, i);
	}
}
