// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Knows limits, Landlock and seccomp. */
#include "serve/jail.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/sanitized.h"
#include "zmem/privilege.h"

#if defined(__x86_64__)
#define ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCH AUDIT_ARCH_AARCH64
#else
#define ARCH 0 /* no filter */
#endif

/* x32 has numbers of its own for the same calls. */
#define FIRST_FOREIGN 0x40000000

static const uint32_t refused[] = {
	__NR_openat,
	__NR_openat2,
	__NR_execve,
	__NR_execveat,
	__NR_socket,
	__NR_socketpair,
	__NR_connect,
	__NR_bind,
	__NR_ptrace,
	__NR_process_vm_readv,
	__NR_process_vm_writev,
	__NR_bpf,
	__NR_perf_event_open,
	__NR_clone,
	__NR_clone3,
	__NR_unshare,
	__NR_setns,
	__NR_mount,
	__NR_umount2,
	__NR_pivot_root,
	__NR_chroot,
	__NR_io_uring_setup,
	__NR_userfaultfd,
	__NR_keyctl,
	__NR_add_key,
	__NR_request_key,
	__NR_init_module,
	__NR_finit_module,
	__NR_kexec_load,
	__NR_open_by_handle_at,
	__NR_pidfd_getfd,
	__NR_pidfd_open,
	__NR_unlinkat,
	__NR_linkat,
	__NR_renameat2,
	__NR_mknodat,
	__NR_mkdirat,
	__NR_symlinkat,
	__NR_fchmod,
	__NR_fchmodat,
	__NR_fchown,
	__NR_fchownat,
	__NR_setxattr,
	__NR_lsetxattr,
	__NR_fsetxattr,
	__NR_utimensat,
	__NR_shmget,
	__NR_msgget,
	__NR_semget,
	__NR_mq_open,
	__NR_memfd_create,
	__NR_prlimit64,
	__NR_truncate,
#ifdef __NR_open
	__NR_open,
	__NR_creat,
	__NR_fork,
	__NR_vfork,
	__NR_unlink,
	__NR_link,
	__NR_rename,
	__NR_mknod,
	__NR_mkdir,
	__NR_symlink,
	__NR_rmdir,
	__NR_chmod,
	__NR_chown,
	__NR_lchown,
#endif
};

#define LOAD(member) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, member))
#define RETURN(what) BPF_STMT(BPF_RET | BPF_K, what)

/* What comes next is passed over unless the number is that one. */
#define IF_EQUAL(k)    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, k, 0, 1)
#define IF_AT_LEAST(k) BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, k, 0, 1)

static int refuse_calls(void)
{
	struct sock_filter code[6 + 2 * ARRAY_SIZE(refused) + 1] = {
		LOAD(arch),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCH, 1, 0),
		RETURN(SECCOMP_RET_KILL_PROCESS),
		LOAD(nr),
		IF_AT_LEAST(FIRST_FOREIGN),
		RETURN(SECCOMP_RET_KILL_PROCESS),
	};
	size_t n = 6;
	struct sock_fprog program = {.filter = code};

	/* A sanitizer looks at its own memory when it ends. */
	if (!ARCH || SANITIZED)
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(refused); i++) {
		code[n++] = (struct sock_filter)IF_EQUAL(refused[i]);
		code[n++] = (struct sock_filter)RETURN(SECCOMP_RET_ERRNO | EPERM);
	}
	code[n++] = (struct sock_filter)RETURN(SECCOMP_RET_ALLOW);
	program.len = (unsigned short)n;
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) < 0)
		/* A kernel without it is no error. */
		return errno == EINVAL ? 0 : -errno;
	return 0;
}

/* No file system at all: everything is forbidden and nothing allowed. */
static int hide_files(void)
{
	const struct landlock_ruleset_attr all = {.handled_access_fs =
							  (LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1};
	cleanup_close int fd = (int)syscall(__NR_landlock_create_ruleset, &all, sizeof(all), 0);

	if (fd < 0 || SANITIZED)
		return 0;
	return syscall(__NR_landlock_restrict_self, fd, 0) < 0 ? -errno : 0;
}

static int limit(__rlimit_resource_t what, rlim_t max)
{
	struct rlimit limits, now;

	/* Whoever has less may have all of that. */
	if (getrlimit(what, &now) == 0 && now.rlim_max < max)
		max = now.rlim_max;
	limits = (struct rlimit){max, max};
	return setrlimit(what, &limits) < 0 ? -errno : 0;
}

int jail_enter(size_t fds, size_t memory)
{
	int r = limit(RLIMIT_NOFILE, fds);

	if (r == 0)
		r = limit(RLIMIT_CORE, 0);
	/* A sanitizer reserves terabytes. */
	if (r == 0 && !SANITIZED)
		r = limit(RLIMIT_AS, memory);
	if (r == 0)
		r = privilege_leave();
	if (r == 0 && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		r = -errno;
	if (r == 0)
		r = hide_files();
	return r ? r : refuse_calls();
}
