// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Builds a Landlock ruleset without rules, and a seccomp filter from a list of system calls. */
#include "privilege/sandbox.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"

int sandbox_limit(int what, rlim_t max)
{
	struct rlimit limits, now;

	if (getrlimit(what, &now) == 0 && now.rlim_max < max)
		max = now.rlim_max;
	limits = (struct rlimit){max, max};
	return setrlimit(what, &limits) < 0 ? -errno : 0;
}

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

int landlock_enter(bool reads)
{
	int abi = landlock_abi();
	struct landlock_rights all = landlock_rights(abi);
	cleanup_close int fd = -1;

	if (!abi)
		return 0;
	if (reads)
		all.fs &= ~(uint64_t)(LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR);
	fd = (int)syscall(__NR_landlock_create_ruleset, &all, sizeof(all), 0);
	/* A ruleset without rules denies every right that it handles. */
	return fd < 0 || syscall(__NR_landlock_restrict_self, fd, 0) < 0 ? -errno : 0;
}

/* ---- seccomp ---- */

#if defined(__x86_64__)
#define ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define ARCH AUDIT_ARCH_AARCH64
#else
#define ARCH 0 /* no filter */
#endif

/* x32 has other numbers for the same calls; they begin here. */
#define FIRST_FOREIGN	     0x40000000

#define LOAD(at)	     ((struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)(at)))
#define LOAD_NUMBER	     LOAD(offsetof(struct seccomp_data, nr))
#define LOAD_ARG(i)	     LOAD(offsetof(struct seccomp_data, args) + 8 * (i))
#define RETURN(what)	     ((struct sock_filter)BPF_STMT(BPF_RET | BPF_K, what))
#define JUMP(op, k, yes, no) ((struct sock_filter)BPF_JUMP(BPF_JMP | (op) | BPF_K, k, yes, no))

#define CALL_MAX	     (2 + 2 * SYSTEM_CALL_CHECKS + 1)

struct code {
	struct sock_filter at[6 + CALL_MAX * SYSTEM_CALLS_MAX + 1];
	unsigned short len;
};

static void emit(struct code *c, struct sock_filter what)
{
	c->at[c->len++] = what;
}

/* Allows the call if all its checks hold; else the filter goes on with the next entry. */
static void emit_call(struct code *c, const struct system_call *call)
{
	uint8_t left = 1; /* instructions until its end */

	for (size_t i = 0; i < SYSTEM_CALL_CHECKS; i++)
		left += call->check[i].kind ? 2 : 0;
	emit(c, LOAD_NUMBER);
	emit(c, JUMP(BPF_JEQ, call->number, 0, left));
	for (size_t i = 0; i < SYSTEM_CALL_CHECKS && call->check[i].kind; i++) {
		left -= 2;
		emit(c, LOAD_ARG(call->check[i].arg));
		if (call->check[i].kind == CHECK_EQUAL)
			emit(c, JUMP(BPF_JEQ, call->check[i].value, 0, left));
		else
			emit(c, JUMP(BPF_JSET, call->check[i].value, left, 0));
	}
	emit(c, RETURN(SECCOMP_RET_ALLOW));
}

int system_calls_limit(const struct system_call *allowed, size_t count)
{
	struct code code = {};
	struct sock_fprog program = {.filter = code.at};

	if (count > SYSTEM_CALLS_MAX)
		return -E2BIG;
	/* With filters, a NULL program fails with EFAULT. A kernel without filters is no error. */
	if (!ARCH ||
	    (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, NULL, 0, 0) < 0 && errno != EFAULT))
		return 0;
	emit(&code, LOAD(offsetof(struct seccomp_data, arch)));
	emit(&code, JUMP(BPF_JEQ, ARCH, 1, 0));
	emit(&code, RETURN(SECCOMP_RET_KILL_PROCESS));
	emit(&code, LOAD_NUMBER);
	emit(&code, JUMP(BPF_JGE, FIRST_FOREIGN, 0, 1));
	emit(&code, RETURN(SECCOMP_RET_KILL_PROCESS));
	for (size_t i = 0; i < count; i++)
		emit_call(&code, &allowed[i]);
	emit(&code, RETURN(SECCOMP_RET_ERRNO | EPERM));
	program.len = code.len;
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) < 0 ? -errno : 0;
}
