// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Knows what the errors of bpf(2) mean to a user. Prints nothing, changes nothing. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "source/why.h"
#include "zmem/privilege.h"

#define BTF_PATH "/sys/kernel/btf/vmlinux"

static const char *missing_privilege(void)
{
	bool bpf = privilege_held(PRIVILEGE_BPF), perfmon = privilege_held(PRIVILEGE_PERFMON);

	if (bpf && perfmon)
		return NULL;
	if (!bpf && !perfmon)
		return "CAP_BPF and CAP_PERFMON are missing";
	return bpf ? "CAP_PERFMON is missing" : "CAP_BPF is missing";
}

void why_note(struct diag *diag, const char *what, const char *step, int error)
{
	const char *missing = missing_privilege();

	if (missing)
		diag_add(diag, what, error,
			 "run as root or with CAP_BPF, CAP_PERFMON and CAP_SYS_PTRACE, "
			 "or use --source proc",
			 "%s", missing);
	else if (access(BTF_PATH, R_OK) < 0)
		diag_add(diag, what, error,
			 "use a kernel built with CONFIG_DEBUG_INFO_BTF, or --source proc",
			 "this kernel has no BTF (%s: %s)", BTF_PATH, strerror(errno));
	else if (error == -EPERM || error == -EACCES)
		diag_add(diag, what, error,
			 "allow bpf() (seccomp, LSM, lockdown), or use --source proc",
			 "%s was refused: %s", step, strerror(-error));
	else if (error == -ENOSYS)
		diag_add(diag, what, error, "use --source proc",
			 "this kernel has no bpf(), or it is blocked");
	else
		diag_add(diag, what, error, "see zmem-bpf doctor -v, or use --source proc",
			 "%s failed: %s", step, strerror(-error));
}
