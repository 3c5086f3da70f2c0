// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Explains errors of bpf(2) to a user. */
#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "load/bpf_diagnose.h"
#include "privilege/privilege.h"

static const char *missing_privilege(const struct bpf_diagnose_facts *facts)
{
	if (facts->bpf && facts->perfmon)
		return NULL;
	if (facts->in_namespace)
		return "CAP_BPF and CAP_PERFMON have no effect outside of the initial user "
		       "namespace";
	if (!facts->bpf && !facts->perfmon)
		return "CAP_BPF and CAP_PERFMON are missing";
	return facts->bpf ? "CAP_PERFMON is missing" : "CAP_BPF is missing";
}

/* For errors that come from the kernel's age or configuration. */
static void note_kernel(struct diag *diag, const char *what, const char *step, int error,
			const struct bpf_diagnose_facts *facts)
{
	if (!facts->iterators)
		diag_add(diag, what, error, "use Linux 5.8 or later",
			 "this kernel has no BPF iterators over tasks (Linux 5.8)");
	else if (!facts->probe_reads)
		diag_add(diag, what, error, "use Linux 6.2 or later",
			 "lockdown=confidentiality forbids the probe reads it needs; programs that "
			 "need none take bpf_rdonly_cast() (Linux 6.2)");
	else if (facts->missing)
		diag_add(diag, what, -ENODATA, NULL,
			 "this kernel lacks %s, which the program reads", facts->missing);
	else if (error == -E2BIG && !facts->light && !facts->libbpf)
		diag_add(diag, what, error, "use Linux 5.19 or later",
			 "this kernel cannot load it without libbpf (Linux 5.19)");
	else if (error == -E2BIG)
		diag_add(diag, what, error, "see zmem-bpf doctor -v",
			 "%s failed: it is too large for this kernel's verifier", step);
	else if (error == -ETIME)
		diag_add(diag, what, error, "see zmem-bpf doctor -v",
			 "%s failed: this kernel's verifier takes more than 10 s", step);
	else
		diag_add(diag, what, error, "see zmem-bpf doctor -v", "%s failed: %s", step,
			 strerror(-error));
}

void bpf_diagnose_facts_note(struct diag *diag, const char *what, const char *step, int error,
			     const struct bpf_diagnose_facts *facts)
{
	const char *missing = missing_privilege(facts);

	if (missing)
		diag_add(diag, what, error,
			 facts->in_namespace
				 ? BPF_DIAGNOSE_OUTSIDE
				 : "run as root or with CAP_BPF, CAP_PERFMON and CAP_SYS_PTRACE",
			 "%s", missing);
	else if (file_exhausted(error))
		diag_add(diag, what, error, file_exhausted_hint(error), "%s failed: %s", step,
			 strerror(-error));
	else if (error == -EAGAIN)
		diag_add(diag, what, error, "try again",
			 "%s failed: signals interrupted it each time", step);
	else if (facts->btf_error)
		diag_add(diag, what, error,
			 "mount /sys, or use a kernel built with CONFIG_DEBUG_INFO_BTF",
			 "this kernel shows no BTF (%s: %s)", BTF_PATH, strerror(facts->btf_error));
	else if (error == -EPERM || error == -EACCES)
		diag_add(diag, what, error, "allow bpf() (seccomp, LSM, lockdown)",
			 "%s was refused: %s", step, strerror(-error));
	else if (error == -ENOSYS)
		diag_add(diag, what, error,
			 "use a kernel with CONFIG_BPF_SYSCALL, or allow bpf() (seccomp)",
			 "this kernel has no bpf(), or it is blocked");
	else if (error == -ENOENT)
		diag_add(diag, what, error, "use Linux 6.2 or later",
			 "this kernel has no bpf_rdonly_cast() (Linux 6.2)");
	else
		note_kernel(diag, what, step, error, facts);
}

/* False if BTF has no such name; true if BTF cannot be read. */
static bool btf_has(const char *name, size_t size)
{
	cleanup_close int fd = open(BTF_PATH, O_RDONLY | O_CLOEXEC);
	cleanup_free char *text = NULL;
	struct stat st;
	ssize_t len;

	if (fd < 0 || fstat(fd, &st) < 0 || st.st_size <= 0)
		return true;
	text = malloc((size_t)st.st_size);
	if (!text)
		return true;
	len = file_read_at(fd, 0, text, (size_t)st.st_size);
	return len < st.st_size || memmem(text, (size_t)len, name, size);
}

/*
 * Asks the verifier, which works without securityfs, by a program that is valid otherwise:
 * libbpf_probe_bpf_helper() of libbpf 1.1 does not understand the message of Linux 6.10 and later.
 */
bool bpf_diagnose_probe_reads_allowed(void)
{
	/* bpf_probe_read_kernel(fp - 8, 8, NULL); return 0; */
	static const struct bpf_insn program[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = BPF_REG_1, .src_reg = BPF_REG_10},
		{.code = BPF_ALU64 | BPF_ADD | BPF_K, .dst_reg = BPF_REG_1, .imm = -8},
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_2, .imm = 8},
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_3, .imm = 0},
		{.code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_probe_read_kernel},
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = 0},
		{.code = BPF_JMP | BPF_EXIT},
	};
	cleanup_close int fd = bpf_prog_load(BPF_PROG_TYPE_KPROBE, NULL, "Dual BSD/GPL", program,
					     sizeof(program) / sizeof(*program), NULL);

	return fd != -EINVAL;
}

bool bpf_diagnose_has_name(const char *name)
{
	char whole[64];
	int len = snprintf(whole, sizeof(whole), "%c%s", '\0', name);

	return len < 0 || (size_t)len >= sizeof(whole) || btf_has(whole, (size_t)len + 1);
}

/*
 * Takes it from a line of libbpf (bpf_core_format_spec(), src/relo_core.c): "failed to resolve
 * CO-RE relocation <byte_off> [8] struct mm_struct___old.mm_rb.rb_node (0:1:0 @ offset 8)".
 */
void bpf_diagnose_missing(const char *log, struct bpf_missing *ret)
{
	const char *at = strstr(log, "failed to resolve CO-RE relocation <");
	size_t len = 0;

	at = at ? strstr(at, "] ") : NULL;
	at = at ? strchr(at + 2, ' ') : NULL; /* behind "struct" */
	if (!at) {
		/* What does not exist calls this helper; libbpf before 0.8 says no more. */
		if (strstr(log, "unknown#195896080"))
			snprintf(ret->name, sizeof(ret->name), "a type or member");
		return;
	}
	for (at++; !strchr(" \n", *at) && len < sizeof(ret->name) - 1;) {
		/* CO-RE drops ___ and the rest of a name. */
		if (strncmp(at, "___", 3) == 0)
			at += strcspn(at, ".:[ \n");
		else
			ret->name[len++] = *at++;
	}
	ret->name[len] = '\0';
}

void bpf_diagnose_note(struct diag *diag, const char *what, const char *step, int error,
		       const struct bpf_missing *missing)
{
	struct bpf_diagnose_facts facts = {
		.bpf = privilege_held(PRIVILEGE_BPF),
		.perfmon = privilege_held(PRIVILEGE_PERFMON),
		.iterators = true,
		.light = true,
		.libbpf = missing && missing->libbpf,
		.probe_reads = true,
		.in_namespace = !privilege_is_first_namespace(),
		.missing = missing && missing->name[0] ? missing->name : NULL,
	};

	if (access(BTF_PATH, R_OK) < 0)
		facts.btf_error = errno;
	else if (error == -EBADMSG)
		facts.btf_error = EBADMSG;
	/* Checked only for these errors, because the checks take one or two milliseconds. */
	if (error == -EINVAL || error == -E2BIG) {
		facts.iterators = bpf_diagnose_has_name("bpf_iter_task");
		facts.light = bpf_diagnose_has_name("BPF_FUNC_map_lookup_percpu_elem");
		facts.probe_reads = bpf_diagnose_probe_reads_allowed();
	}
	bpf_diagnose_facts_note(diag, what, step, error, &facts);
}

void bpf_diagnose_programs(struct diag *diag, const char *subject, const char *command, int error,
			   const struct bpf_missing *missing)
{
	char step[64];

	snprintf(step, sizeof(step), "loading the programs of %s", command);
	if (error < 0 && privilege_loads() && !bpf_diagnose_has_name("bpf_iter_task_type"))
		diag_add(diag, subject, error, "use Linux 6.1 or later",
			 "%s: this kernel has no BPF iterators over one process (Linux 6.1)",
			 command);
	else if (error < 0)
		bpf_diagnose_note(diag, subject, step, error, missing);
}
