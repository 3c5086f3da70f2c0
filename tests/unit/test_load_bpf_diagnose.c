// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* bpf_diagnose_facts_note: each failure names what is missing and what to do about it. */
#include "unit.h"

#include "load/bpf_diagnose.h"

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
	f.libbpf = true;
	expect(-E2BIG, &f, "too large for this kernel's verifier", "doctor -v");
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
	/* What can be changed now comes first. */
	expect(-EMFILE, &f, "Too many open files", "ulimit -n");
	expect(-EAGAIN, &f, "signals interrupted it each time", "try again");
}

TEST(user_namespace)
{
	struct bpf_diagnose_facts f = good;

	f.bpf = f.perfmon = false;
	f.in_namespace = true;
	expect(-EPERM, &f, "CAP_BPF and CAP_PERFMON have no effect outside", "outside");
}

/* ---- what the kernel lacks ---- */

static void expect_missing(const char *log, const char *name)
{
	struct bpf_missing missing = {};

	bpf_diagnose_missing(log, &missing);
	assert_string_equal(missing.name, name);
}

/* Lines of libbpf 1.1 to 1.5. */
TEST(missing)
{
	expect_missing("120: (b7) r1 = 0\n"
		       "121: <invalid CO-RE relocation>\n"
		       "failed to resolve CO-RE relocation <byte_off> [104] struct "
		       "task_struct___pre62.rss_stat.count (0:0:0 @ offset 0)\n"
		       "processed 117 insns\n",
		       "task_struct.rss_stat.count");
	expect_missing("failed to resolve CO-RE relocation <byte_off> [7] struct "
		       "pid.numbers[0].ns (0:1:0:1 @ offset 16)\n",
		       "pid.numbers[0].ns");
	expect_missing("failed to resolve CO-RE relocation <enumval_value> [9] enum "
		       "pageflags___old::PG_double_map___old = 0\n",
		       "pageflags::PG_double_map");
	expect_missing("failed to resolve CO-RE relocation <target_type_id> [7] struct folio\n",
		       "folio");
	/* libbpf before 0.8. */
	expect_missing("14: (85) call unknown#195896080\ninvalid func unknown#195896080\n",
		       "a type or member");
	/* Another failure, and a log that is cut off. */
	expect_missing("R1 invalid mem access 'scalar'\n", "");
	expect_missing("", "");
	expect_missing("failed to resolve CO-RE relocation <byte_off> [1", "");
	expect_missing("failed to resolve CO-RE relocation <byte_off> [1] struct", "");
	expect_missing("failed to resolve CO-RE relocation <byte_off> [1] struct a___", "a");
}
