// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Sets the limits and drops the rights of the HTTP process, in the order that the kernel needs: the
 * user and the capabilities, Landlock, seccomp.
 */
#include "serve/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "base/array.h"
#include "privilege/privilege.h"
#include "serve/user.h"

/*
 * No MSG_OOB: out-of-band data of Unix sockets was exploitable (CVE-2025-38236). No MSG_FASTOPEN:
 * it can connect a listening socket to another machine.
 */
#define SENDING	  (MSG_DONTWAIT | MSG_NOSIGNAL | MSG_MORE)
#define RECEIVING (MSG_DONTWAIT | MSG_NOSIGNAL | MSG_CMSG_CLOEXEC)

/*
 * The system calls that libmicrohttpd, the C library and our own code make once the sockets listen.
 */
static const struct system_call allowed[] = {
	/* Connections, and the socket to the collector process. */
	{__NR_fcntl, {CALL_EQUAL(1, F_GETFD)}},
	{__NR_fcntl, {CALL_EQUAL(1, F_SETFD)}},
	{__NR_fcntl, {CALL_EQUAL(1, F_GETFL)}},
	{__NR_fcntl, {CALL_EQUAL(1, F_SETFL)}},
	{__NR_fcntl, {CALL_EQUAL(1, F_GET_SEALS)}},
	{__NR_sendto, {CALL_ONLY(3, SENDING)}},
	{__NR_sendmsg, {CALL_ONLY(2, SENDING)}},
	{__NR_recvfrom, {CALL_ONLY(3, RECEIVING)}},
	{__NR_recvmsg, {CALL_ONLY(2, RECEIVING)}},
	{__NR_setsockopt, {CALL_EQUAL(1, IPPROTO_TCP), CALL_EQUAL(2, TCP_NODELAY)}},
	{__NR_setsockopt, {CALL_EQUAL(1, IPPROTO_TCP), CALL_EQUAL(2, TCP_CORK)}},
	{__NR_getsockopt, {CALL_EQUAL(1, SOL_SOCKET), CALL_EQUAL(2, SO_PEERCRED)}},
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
	{__NR_mmap, {CALL_WITHOUT(2, PROT_EXEC)}},
	{__NR_madvise, {CALL_EQUAL(2, MADV_DONTNEED)}},
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
	/* Signal 0: of which process a number is a thread. */
	{__NR_tgkill, {CALL_EQUAL(2, 0)}},
	/* Locks of the libraries. */
	{__NR_futex, {CALL_EQUAL(1, FUTEX_WAIT_PRIVATE)}},
	{__NR_futex, {CALL_EQUAL(1, FUTEX_WAKE_PRIVATE)}},
	{__NR_exit_group},
};

int http_system_calls_limit(void)
{
	return system_calls_limit(allowed, ARRAY_SIZE(allowed));
}

/* ---- all of it ---- */

int sandbox_enter(size_t fds, size_t memory)
{
	struct user user = {};
	int r = privilege_can_leave() ? user_pick("", &user) : 0;

	if (r == 0)
		r = sandbox_limit(RLIMIT_NOFILE, fds);
	if (r == 0)
		r = sandbox_limit(RLIMIT_CORE, 0);
	/* A sanitizer reserves terabytes of address space. */
	if (r == 0 && !SANITIZED)
		r = sandbox_limit(RLIMIT_AS, memory);
	if (r == 0)
		r = privilege_leave(user.uid, user.gid);
	if (r == 0 && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		r = -errno;
	/* At exit, a leak sanitizer reads its own memory, which needs /proc and ptrace(). */
	if (r < 0 || SANITIZED)
		return r;
	r = landlock_enter(false);
	return r < 0 ? r : http_system_calls_limit();
}
