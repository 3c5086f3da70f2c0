// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* bpf_diagnose_facts_note: each failure names what is missing and what to do about it. */
#include "unit.h"

#include "source/bpf_diagnose.h"

static const struct bpf_diagnose_facts good = {
	.bpf = true, .perfmon = true, .iterators = true, .light = true, .probe_reads = true};

static void expect(int error, const struct bpf_diagnose_facts *facts, const char *why,
		   const char *todo)
{
	cleanup(diag_clear) struct diag diag = {};

	bpf_diagnose_facts_note(&diag, "bpf", "loading the program", error, facts);
	assert_int_equal(diag.count, 1);
	assert_int_equal(diag.note[0].error, error);
	assert_string_equal(diag.note[0].subject, "bpf");
	if (!strstr(diag.note[0].reason, why) || !strstr(diag.note[0].hint, todo))
		fail_msg("'%s' (%s), not '%s' (%s)", diag.note[0].reason, diag.note[0].hint, why,
			 todo);
}

TEST(privileges)
{
	struct bpf_diagnose_facts f = good;

	f.perfmon = false;
	expect(-EPERM, &f, "CAP_PERFMON is missing", "root");
	f.bpf = false;
	expect(-EPERM, &f, "CAP_BPF and CAP_PERFMON are missing", "root");
	f.perfmon = true;
	/* For any error: a missing privilege comes before other reasons. */
	f.iterators = f.probe_reads = false;
	expect(-EINVAL, &f, "CAP_BPF is missing", "root");
}

TEST(refused)
{
	static const struct {
		int error;
		const char *why, *todo;
	} cases[] = {
		{-EMFILE, "loading the program failed: Too many open files", "ulimit -n"},
		{-ENFILE, "loading the program failed: Too many open files", "fs.file-max"},
		{-ENOMEM, "loading the program failed: Cannot allocate memory", "memory.max"},
		{-EPERM, "loading the program was refused: Operation not permitted", "seccomp"},
		{-EACCES, "was refused: Permission denied", "seccomp"},
		{-ENOSYS, "no bpf()", "CONFIG_BPF_SYSCALL"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		expect(cases[i].error, &good, cases[i].why, cases[i].todo);
}

TEST(kernel)
{
	struct bpf_diagnose_facts f = good;

	expect(-ENOENT, &f, "bpf_rdonly_cast() (Linux 6.2)", "6.2 or later");
	expect(-E2BIG, &f, "too large for this kernel's verifier", "doctor -v");
	expect(-ETIME, &f, "verifier takes more than 10 s", "doctor -v");
	f.light = false;
	expect(-E2BIG, &f, "(Linux 5.19)", "5.19 or later");
	expect(-EINVAL, &f, "loading the program failed: Invalid argument", "doctor -v");
	f.probe_reads = false;
	expect(-EINVAL, &f, "lockdown=confidentiality", "6.2 or later");
	expect(-E2BIG, &f, "lockdown=confidentiality", "6.2 or later");
	f.iterators = false;
	expect(-EINVAL, &f, "(Linux 5.8)", "5.8 or later");
	f = good;
	f.btf_error = ENOENT;
	f.probe_reads = false;
	expect(-EINVAL, &f, "no BTF (/sys/kernel/btf/vmlinux: No such file",
	       "CONFIG_DEBUG_INFO_BTF");
}
