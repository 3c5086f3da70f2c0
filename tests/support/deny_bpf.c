// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * deny_bpf EPERM|ENOSYS COMMAND…: runs the command where bpf(2) fails with that error.
 * deny_bpf kills COMMAND…: where only the tracepoint of OOM kills cannot be opened (EPERM), so that
 * the kills of other tests are not seen.
 * deny_bpf docker COMMAND…: where the system calls fail that Docker's profile allows with more
 * capabilities than a container has by default (profiles/seccomp/default.json of moby).
 */
#include <errno.h>
#include <linux/bpf.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ALLOW	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
#define REFUSE(err) BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (err))
#define NUMBER	    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr))
#define FIRST_ARG   BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args))
/* If the value is `k`, the next instruction; else the one behind it. */
#define IS(k) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (k), 0, 1)

#define NEW_NAMESPACES                                                                             \
	(CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER |             \
	 CLONE_NEWPID | CLONE_NEWNET)

/* Runs the command with this filter. Without CAP_SYS_ADMIN the kernel wants no_new_privs. */
static int run(const struct sock_filter *code, size_t count, char **command)
{
	struct sock_fprog filter = {(unsigned short)count, (struct sock_filter *)code};

	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) &&
	    (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	     prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter))) {
		perror("deny_bpf: seccomp");
		return 125;
	}
	execvp(*command, command);
	perror(*command);
	return 125;
}

/* bpf(2) fails for the commands from `first` to `last`. */
static int run_without_bpf(unsigned error, unsigned first, unsigned last, char **command)
{
	const struct sock_filter code[] = {
		NUMBER,
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_bpf, 0, 4),
		FIRST_ARG,
		BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, first, 0, 2),
		BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, last, 1, 0),
		REFUSE(error),
		ALLOW,
	};

	return run(code, sizeof(code) / sizeof(*code), command);
}

static int run_as_docker(char **command)
{
	static const long refused[] = {
		SYS_bpf,
		SYS_perf_event_open,
		SYS_mount,
		SYS_umount2,
		SYS_unshare,
		SYS_setns,
		SYS_pivot_root,
		SYS_move_mount,
		SYS_open_tree,
		SYS_fsopen,
		SYS_fsconfig,
		SYS_fsmount,
		SYS_fspick,
		SYS_quotactl,
		SYS_swapon,
		SYS_swapoff,
		SYS_add_key,
		SYS_request_key,
		SYS_keyctl,
		SYS_userfaultfd,
		SYS_io_uring_setup,
		SYS_io_uring_enter,
		SYS_acct,
		SYS_syslog,
		SYS_fanotify_init,
		SYS_lookup_dcookie,
		SYS_init_module,
		SYS_finit_module,
		SYS_delete_module,
		SYS_reboot,
		SYS_settimeofday,
		SYS_clock_settime,
		SYS_get_mempolicy,
		SYS_set_mempolicy,
		SYS_mbind,
		SYS_move_pages,
		SYS_open_by_handle_at,
	};
	enum { CALLS = sizeof(refused) / sizeof(*refused) };
	struct sock_filter code[2 * CALLS + 8] = {NUMBER};
	size_t n = 1;

	for (size_t i = 0; i < CALLS; i++) {
		code[n++] = (struct sock_filter)IS((unsigned)refused[i]);
		code[n++] = (struct sock_filter)REFUSE(EPERM);
	}
	code[n++] = (struct sock_filter)IS(SYS_clone3);
	code[n++] = (struct sock_filter)REFUSE(ENOSYS);
	code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 3);
	code[n++] = (struct sock_filter)FIRST_ARG;
	code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, NEW_NAMESPACES, 0, 1);
	code[n++] = (struct sock_filter)REFUSE(EPERM);
	code[n++] = (struct sock_filter)ALLOW;
	return run(code, n, command);
}

int main(int argc, char **argv)
{
	const char *what = argc > 2 ? argv[1] : "";

	if (strcmp(what, "EPERM") == 0)
		return run_without_bpf(EPERM, 0, ~0u, argv + 2);
	if (strcmp(what, "ENOSYS") == 0)
		return run_without_bpf(ENOSYS, 0, ~0u, argv + 2);
	if (strcmp(what, "kills") == 0)
		return run_without_bpf(EPERM, BPF_RAW_TRACEPOINT_OPEN, BPF_RAW_TRACEPOINT_OPEN,
				       argv + 2);
	if (strcmp(what, "docker") == 0)
		return run_as_docker(argv + 2);
	fprintf(stderr, "usage: deny_bpf EPERM|ENOSYS|kills|docker COMMAND...\n");
	return 125;
}
