// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * deny_bpf EPERM|ENOSYS COMMAND…: runs the command where bpf(2) fails with that error.
 * deny_bpf kills COMMAND…: where only the tracepoint of OOM kills cannot be opened (EPERM), so that
 * the kills of other tests are not seen.
 */
#include <errno.h>
#include <linux/bpf.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int kills = argc > 2 && strcmp(argv[1], "kills") == 0;
	int error = kills || (argc > 2 && strcmp(argv[1], "EPERM") == 0) ? EPERM
		    : argc > 2 && strcmp(argv[1], "ENOSYS") == 0	 ? ENOSYS
									 : 0;
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_bpf, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args)),
		BPF_JUMP(BPF_JMP | BPF_K | (kills ? BPF_JEQ : BPF_JGE),
			 kills ? BPF_RAW_TRACEPOINT_OPEN : 0, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)error),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog filter = {.len = sizeof(code) / sizeof(*code), .filter = code};

	if (!error) {
		fprintf(stderr, "usage: deny_bpf EPERM|ENOSYS|kills COMMAND...\n");
		return 125;
	}
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, 2, &filter)) {
		perror("deny_bpf: seccomp");
		return 125;
	}
	execvp(argv[2], argv + 2);
	perror(argv[2]);
	return 125;
}
