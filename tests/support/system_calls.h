/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* System calls for tests of the seccomp filter of the HTTP process. */
#ifndef ZMEM_TESTS_SYSTEM_CALLS_H
#define ZMEM_TESTS_SYSTEM_CALLS_H

#include <fcntl.h>
#include <linux/futex.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#define CALL(name) #name, __NR_##name

struct call {
	const char *name;
	long number, arg[6];
};

/* Without the filter each of them succeeds, or fails in another way. */
static const struct call refused[] = {
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
	/* Calls that the filter allows with other arguments. */
	{CALL(mmap), {0, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1}},
	{CALL(mmap),
	 {0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1}},
	{CALL(madvise), {0, 0, MADV_WILLNEED}},
	{CALL(fcntl), {0, F_DUPFD, 100}},
	{CALL(fcntl), {-1, F_SETOWN}},
	{CALL(fcntl), {-1, F_ADD_SEALS}},
	{CALL(fcntl), {-1, F_SETLEASE}},
	{CALL(sendto), {-1, 0, 0, MSG_OOB}},
	{CALL(sendto), {-1, 0, 0, MSG_FASTOPEN | MSG_NOSIGNAL}},
	{CALL(sendmsg), {-1, 0, MSG_OOB}},
	{CALL(sendmsg), {-1, 0, MSG_ZEROCOPY}},
	{CALL(recvfrom), {-1, 0, 0, MSG_OOB}},
	{CALL(recvmsg), {-1, 0, MSG_ERRQUEUE}},
	{CALL(setsockopt), {-1, SOL_SOCKET, SO_REUSEADDR}},
	{CALL(setsockopt), {-1, SOL_SOCKET, TCP_NODELAY}},
	{CALL(setsockopt), {-1, IPPROTO_TCP, TCP_ULP}},
	{CALL(getsockopt), {-1, SOL_SOCKET, SO_PEERSEC}},
	{CALL(getsockopt), {-1, IPPROTO_TCP, SO_PEERCRED}},
	{CALL(tgkill), {-1, 1, SIGCONT}},
	{CALL(futex), {0, FUTEX_LOCK_PI}},
	{CALL(futex), {0, FUTEX_REQUEUE}},
};

/* Calls that the process needs: with the filter they succeed or fail for another reason. */
static const struct call needed[] = {
	{CALL(fcntl), {-1, F_GETFD}},
	{CALL(fcntl), {-1, F_SETFD}},
	{CALL(fcntl), {-1, F_GETFL}},
	{CALL(fcntl), {-1, F_SETFL}},
	{CALL(fcntl), {-1, F_GET_SEALS}},
	{CALL(sendto), {-1, 0, 0, MSG_DONTWAIT | MSG_NOSIGNAL}},
	{CALL(sendto), {-1, 0, 0, MSG_MORE | MSG_NOSIGNAL}},
	{CALL(sendmsg), {-1, 0, MSG_NOSIGNAL}},
	{CALL(recvfrom), {-1}},
	{CALL(recvmsg), {-1, 0, MSG_DONTWAIT | MSG_CMSG_CLOEXEC}},
	{CALL(setsockopt), {-1, IPPROTO_TCP, TCP_NODELAY}},
	{CALL(setsockopt), {-1, IPPROTO_TCP, TCP_CORK}},
	{CALL(getsockopt), {-1, SOL_SOCKET, SO_PEERCRED}},
	{CALL(accept4), {-1, 0, 0, SOCK_CLOEXEC}},
	{CALL(getsockname), {-1}},
	{CALL(getpeername), {-1}},
	{CALL(shutdown), {-1}},
	{CALL(epoll_ctl), {-1}},
	{CALL(epoll_pwait), {-1}},
	{CALL(ppoll), {0, -1}},
	{CALL(read), {-1}},
	{CALL(pread64), {-1}},
	{CALL(write), {-1}},
	{CALL(writev), {-1}},
	{CALL(lseek), {-1}},
	{CALL(close), {-1}},
	{CALL(mmap), {0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1}},
	{CALL(madvise), {0, 0, MADV_DONTNEED}},
	{CALL(munmap), {1}},
	{CALL(mremap), {1}},
	{CALL(brk), {}},
	{CALL(clock_gettime), {-1}},
	{CALL(gettimeofday), {}},
	{CALL(getrandom), {}},
	{CALL(restart_syscall), {}},
	{CALL(sysinfo), {}},
	{CALL(getpid), {}},
	{CALL(tgkill), {-1}},
	{CALL(futex), {0, FUTEX_WAKE_PRIVATE}},
	{CALL(futex), {0, FUTEX_WAIT_PRIVATE}},
#ifdef __NR_open
	{CALL(poll), {0, -1}},
	{CALL(epoll_wait), {-1}},
	{CALL(time), {}},
#endif
};

#endif
