// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* bpf_diagnose_facts_note: each failure names what is missing and what to do about it. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "source/bpf_diagnose.h"

static const struct bpf_diagnose_facts good = {
	.bpf = true, .perfmon = true, .iterators = true, .probe_reads = true};

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

static void test_privileges(void **state)
{
	struct bpf_diagnose_facts f = good;

	(void)state;
	f.perfmon = false;
	expect(-EPERM, &f, "CAP_PERFMON is missing", "root");
	f.bpf = false;
	expect(-EPERM, &f, "CAP_BPF and CAP_PERFMON are missing", "root");
	f.perfmon = true;
	/* For any error: a missing privilege comes before other reasons. */
	f.iterators = f.probe_reads = false;
	expect(-EINVAL, &f, "CAP_BPF is missing", "root");
}

static void test_btf(void **state)
{
	struct bpf_diagnose_facts f = good;

	(void)state;
	f.btf_error = ENOENT;
	f.probe_reads = false;
	expect(-EINVAL, &f, "no BTF (/sys/kernel/btf/vmlinux: No such file",
	       "CONFIG_DEBUG_INFO_BTF");
}

static void test_exhausted(void **state)
{
	(void)state;
	expect(-EMFILE, &good, "loading the program failed: Too many open files", "ulimit -n");
	expect(-ENFILE, &good, "loading the program failed: Too many open files", "fs.file-max");
	expect(-ENOMEM, &good, "loading the program failed: Cannot allocate memory", "memory.max");
}

static void test_refused(void **state)
{
	(void)state;
	expect(-EPERM, &good, "loading the program was refused: Operation not permitted",
	       "seccomp");
	expect(-EACCES, &good, "was refused: Permission denied", "seccomp");
	expect(-ENOSYS, &good, "no bpf()", "CONFIG_BPF_SYSCALL");
}

static void test_kernel(void **state)
{
	struct bpf_diagnose_facts f = good;

	(void)state;
	expect(-ENOENT, &f, "bpf_rdonly_cast() (Linux 6.2)", "6.2 or later");
	expect(-E2BIG, &f, "(Linux 5.19)", "5.19 or later");
	expect(-EINVAL, &f, "loading the program failed: Invalid argument", "doctor -v");
	f.probe_reads = false;
	expect(-EINVAL, &f, "lockdown=confidentiality", "6.2 or later");
	expect(-E2BIG, &f, "lockdown=confidentiality", "6.2 or later");
	f.iterators = false;
	expect(-EINVAL, &f, "(Linux 5.8)", "5.8 or later");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_privileges), cmocka_unit_test(test_btf),
		cmocka_unit_test(test_exhausted),  cmocka_unit_test(test_refused),
		cmocka_unit_test(test_kernel),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
