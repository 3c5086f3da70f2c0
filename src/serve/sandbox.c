// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Sets the limits and drops the rights of the HTTP process, in the order that the kernel needs: the
 * user and the capabilities, Landlock, seccomp.
 */
#include "serve/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "serve/user.h"
#include "privilege/privilege.h"

/* ---- Landlock ---- */

/* From include/uapi/linux/landlock.h of Linux 7.1; the installed header may be older. */
#define FS_REFER       (UINT64_C(1) << 13)
#define FS_TRUNCATE    (UINT64_C(1) << 14)
#define FS_IOCTL_DEV   (UINT64_C(1) << 15)
#define FS_UNIX	       (UINT64_C(1) << 16) /* connect to a Unix socket that has a path */
#define NET_TCP	       (UINT64_C(3))	   /* bind, connect */
#define SCOPE_ABSTRACT (UINT64_C(1) << 0)  /* Unix sockets that have no path */
#define SCOPE_SIGNAL   (UINT64_C(1) << 1)

static const struct {
	int abi; /* the first that has these rights */
	struct landlock_rights rights;
} added[] = {
	{1, {.fs = 2 * LANDLOCK_ACCESS_FS_MAKE_SYM - 1}},
	{2, {.fs = FS_REFER}},
	{3, {.fs = FS_TRUNCATE}},
	{4, {.net = NET_TCP}},
	{5, {.fs = FS_IOCTL_DEV}},
	{6, {.scoped = SCOPE_ABSTRACT | SCOPE_SIGNAL}},
	{9, {.fs = FS_UNIX}},
};

int landlock_abi(void)
{
	long abi = syscall(__NR_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);

	return abi < 0 ? 0 : (int)abi;
}

struct landlock_rights landlock_rights(int abi)
{
	struct landlock_rights all = {};

	for (size_t i = 0; i < ARRAY_SIZE(added) && added[i].abi <= abi; i++) {
		all.fs |= added[i].rights.fs;
		all.net |= added[i].rights.net;
		all.scoped |= added[i].rights.scoped;
	}
	return all;
}

int landlock_enter(void)
{
	int abi = landlock_abi();
	const struct landlock_rights all = landlock_rights(abi);
	cleanup_close int fd = -1;

	if (!abi)
		return 0;
	fd = (int)syscall(__NR_landlock_create_ruleset, &all, sizeof(all), 0);
	/* A ruleset without rules denies every right that it handles. */
	return fd < 0 || syscall(__NR_landlock_restrict_self, fd, 0) < 0 ? -errno : 0;
}

/* ---- seccomp ---- */

/*
 * The filter has the system calls that libmicrohttpd, the C library and our own code make once the
 * sockets listen. All others fail with EPERM: a newer library that tries one more call can fall
 * back or report an error, while SIGSYS would end the service. A call of another architecture ends
 * the process.
 */

#if defined(__x86_64__)
#define ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define ARCH AUDIT_ARCH_AARCH64
#else
#define ARCH 0 /* no filter */
#endif

/* x32 has other numbers for the same calls; they begin here. */
#define FIRST_FOREIGN 0x40000000

#define CHECKS_MAX    2

enum check_kind {
	CHECK_NONE,
	CHECK_EQUAL,
	CHECK_WITHOUT, /* none of these bits is set */
};

/* Every checked argument is an int, so its lower 32 bits suffice. */
struct check {
	enum check_kind kind;
	unsigned arg;
	uint32_t value;
};

#define EQUAL(arg, value)                                                                          \
	{                                                                                          \
		CHECK_EQUAL, arg, (uint32_t)(value)                                                \
	}
#define WITHOUT(arg, value)                                                                        \
	{                                                                                          \
		CHECK_WITHOUT, arg, (uint32_t)(value)                                              \
	}
#define ONLY(arg, value) WITHOUT(arg, ~(uint32_t)(value))

/*
 * No MSG_OOB: out-of-band data of Unix sockets was exploitable (CVE-2025-38236). No MSG_FASTOPEN:
 * it can connect a listening socket to another machine.
 */
#define SENDING	  (MSG_DONTWAIT | MSG_NOSIGNAL | MSG_MORE)
#define RECEIVING (MSG_DONTWAIT | MSG_NOSIGNAL | MSG_CMSG_CLOEXEC)

static const struct rule {
	uint32_t number;
	struct check check[CHECKS_MAX]; /* all must hold; a later rule may still allow the call */
} rules[] = {
	/* Connections, and the socket to the collector process. */
	{__NR_fcntl, {EQUAL(1, F_GETFD)}},
	{__NR_fcntl, {EQUAL(1, F_SETFD)}},
	{__NR_fcntl, {EQUAL(1, F_GETFL)}},
	{__NR_fcntl, {EQUAL(1, F_SETFL)}},
	{__NR_fcntl, {EQUAL(1, F_GET_SEALS)}},
	{__NR_sendto, {ONLY(3, SENDING)}},
	{__NR_sendmsg, {ONLY(2, SENDING)}},
	{__NR_recvfrom, {ONLY(3, RECEIVING)}},
	{__NR_recvmsg, {ONLY(2, RECEIVING)}},
	{__NR_setsockopt, {EQUAL(1, IPPROTO_TCP), EQUAL(2, TCP_NODELAY)}},
	{__NR_setsockopt, {EQUAL(1, IPPROTO_TCP), EQUAL(2, TCP_CORK)}},
	{__NR_getsockopt, {EQUAL(1, SOL_SOCKET), EQUAL(2, SO_PEERCRED)}},
	{__NR_accept4},
	{__NR_getsockname},
	{__NR_getpeername},
	{__NR_shutdown},
	{__NR_epoll_ctl},
	{__NR_epoll_pwait},
	{__NR_ppoll},
#ifdef __NR_poll /* only older architectures have these */
	{__NR_poll},
	{__NR_epoll_wait},
	{__NR_time},
#endif
	/* Open files: the snapshot's memfd, /proc/self/statm, stderr. */
	{__NR_read},
	{__NR_pread64},
	{__NR_write},
	{__NR_writev},
	{__NR_lseek},
	{__NR_close},
	/* Memory, never executable. */
	{__NR_mmap, {WITHOUT(2, PROT_EXEC)}},
	{__NR_madvise, {EQUAL(2, MADV_DONTNEED)}},
	{__NR_munmap},
	{__NR_mremap},
	{__NR_brk},
	/* Time, random numbers, and poll() resumed after SIGSTOP. */
	{__NR_clock_gettime},
	{__NR_gettimeofday},
	{__NR_getrandom},
	{__NR_restart_syscall},
	/* qsort() of glibc 2.36 reads the RAM size and does not check for failure. */
	{__NR_sysinfo},
	{__NR_getpid},
	/* Locks of the libraries. */
	{__NR_futex, {EQUAL(1, FUTEX_WAIT_PRIVATE)}},
	{__NR_futex, {EQUAL(1, FUTEX_WAKE_PRIVATE)}},
	{__NR_exit_group},
};

#define LOAD(at)	     BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)(at))
#define LOAD_NUMBER	     LOAD(offsetof(struct seccomp_data, nr))
#define LOAD_ARG(i)	     LOAD(offsetof(struct seccomp_data, args) + 8 * (i))
#define RETURN(what)	     BPF_STMT(BPF_RET | BPF_K, what)
#define JUMP(op, k, yes, no) BPF_JUMP(BPF_JMP | (op) | BPF_K, k, yes, no)

#define RULE_MAX	     (2 + 2 * CHECKS_MAX + 1)

struct code {
	struct sock_filter at[6 + RULE_MAX * ARRAY_SIZE(rules) + 1];
	unsigned short len;
};

static void emit(struct code *c, struct sock_filter what)
{
	c->at[c->len++] = what;
}

/* Allows the call if the rule matches; else the filter goes on with the next rule. */
static void emit_rule(struct code *c, const struct rule *rule)
{
	uint8_t left = 1; /* instructions until the end of the rule */

	for (size_t i = 0; i < CHECKS_MAX; i++)
		left += rule->check[i].kind ? 2 : 0;
	emit(c, (struct sock_filter)LOAD_NUMBER);
	emit(c, (struct sock_filter)JUMP(BPF_JEQ, rule->number, 0, left));
	for (size_t i = 0; i < CHECKS_MAX && rule->check[i].kind; i++) {
		const struct check *check = &rule->check[i];

		left -= 2;
		emit(c, (struct sock_filter)LOAD_ARG(check->arg));
		if (check->kind == CHECK_EQUAL)
			emit(c, (struct sock_filter)JUMP(BPF_JEQ, check->value, 0, left));
		else
			emit(c, (struct sock_filter)JUMP(BPF_JSET, check->value, left, 0));
	}
	emit(c, (struct sock_filter)RETURN(SECCOMP_RET_ALLOW));
}

int system_calls_limit(void)
{
	struct code code = {};
	struct sock_fprog program = {.filter = code.at};

	/* With filter support, a NULL program fails with EFAULT. A kernel without is no error. */
	if (!ARCH ||
	    (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, NULL, 0, 0) < 0 && errno != EFAULT))
		return 0;
	emit(&code, (struct sock_filter)LOAD(offsetof(struct seccomp_data, arch)));
	emit(&code, (struct sock_filter)JUMP(BPF_JEQ, ARCH, 1, 0));
	emit(&code, (struct sock_filter)RETURN(SECCOMP_RET_KILL_PROCESS));
	emit(&code, (struct sock_filter)LOAD_NUMBER);
	emit(&code, (struct sock_filter)JUMP(BPF_JGE, FIRST_FOREIGN, 0, 1));
	emit(&code, (struct sock_filter)RETURN(SECCOMP_RET_KILL_PROCESS));
	for (size_t i = 0; i < ARRAY_SIZE(rules); i++)
		emit_rule(&code, &rules[i]);
	emit(&code, (struct sock_filter)RETURN(SECCOMP_RET_ERRNO | EPERM));
	program.len = code.len;
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) < 0 ? -errno : 0;
}

/* ---- all of it ---- */

static int limit(__rlimit_resource_t what, rlim_t max)
{
	struct rlimit limits, now;

	/* Keep a limit that is lower already. */
	if (getrlimit(what, &now) == 0 && now.rlim_max < max)
		max = now.rlim_max;
	limits = (struct rlimit){max, max};
	return setrlimit(what, &limits) < 0 ? -errno : 0;
}

int sandbox_enter(size_t fds, size_t memory)
{
	struct user user = {};
	int r = privilege_can_leave() ? user_pick("", &user) : 0;

	if (r == 0)
		r = limit(RLIMIT_NOFILE, fds);
	if (r == 0)
		r = limit(RLIMIT_CORE, 0);
	/* A sanitizer reserves terabytes of address space. */
	if (r == 0 && !SANITIZED)
		r = limit(RLIMIT_AS, memory);
	if (r == 0)
		r = privilege_leave(user.uid, user.gid);
	if (r == 0 && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		r = -errno;
	/* At exit, a leak sanitizer reads its own memory, which needs /proc and ptrace(). */
	if (r < 0 || SANITIZED)
		return r;
	r = landlock_enter();
	return r < 0 ? r : system_calls_limit();
}
