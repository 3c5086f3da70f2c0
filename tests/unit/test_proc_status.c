// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* proc_status_parse(): a name cannot forge lines, in prepared texts and on this kernel. */
#include "test_proc.h"

#include <sys/prctl.h>
#include <sys/syscall.h>

#include "proc/status.h"

#define ALL (BIT(STATUS_COUNTERS) - 1)

/* Of the captured process, kB. */
static const uint64_t captured[STATUS_COUNTERS] = {
	61316, 64, 4, 58480, 7764, 6684, 44032, 160, 8200, 2048,
};

TEST(kernels)
{
	const uint32_t newer = BIT(STATUS_VM_PIN) | BIT(STATUS_RSS_ANON) | BIT(STATUS_RSS_FILE) |
			       BIT(STATUS_RSS_SHMEM);
	const struct {
		const char *name;
		const char *without, *last;
		uint32_t have;
		uid_t euid;
		uint32_t threads;
	} files[] = {
		{"status-6.18", "", NULL, ALL, 1001, 7},
		{"status-6.18", " VmPin RssAnon RssFile RssShmem ", NULL, ALL & ~newer, 1001, 7},
		{"status-6.18", "", "VmSwap:\t    82", BIT(STATUS_VM_SWAP) - 1, 1001, 0},
		{"status-kthread", "", NULL, 0, 0, 1},
		{"status-zombie", "", NULL, 0, 1001, 1},
	};

	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		size_t len;
		cleanup_free char *text = fixture(files[i].name, &len);
		struct proc_status s;

		len = without_keys(text, len, files[i].without);
		if (files[i].last)
			len = length_through(text, len, files[i].last);
		assert_int_equal(proc_status_parse(text, len, &s), 0);
		assert_kib(s.have, s.value, files[i].have, captured, STATUS_COUNTERS);
		assert_int_equal(s.euid, files[i].euid);
		assert_int_equal(s.threads, files[i].threads);
		assert_true(i || s.own_pid == 812);
	}
}

/* The same with this kernel. */
TEST(forged_name_live)
{
	static const char *const forged[] = {
		"\nUid:\t7\t7\t7\t7", "x\nVmSwap: 9 kB", "\r\nUid:\t7 7 7 7", "\n\n\n", "Uid:\t7",
		"\\\nUid:\t7 7 7 7",
	};
	char old[16];

	prctl(PR_GET_NAME, old);
	for (size_t i = 0; i < ARRAY_SIZE(forged); i++) {
		char text[16384];
		struct proc_status s;
		ssize_t n;
		const char *line;

		prctl(PR_SET_NAME, forged[i]);
		n = file_read(AT_FDCWD, "/proc/thread-self/status", text, sizeof(text));
		prctl(PR_SET_NAME, old);
		assert_true(n > 0);
		assert_int_equal(proc_status_parse(text, (size_t)n, &s), 0);
		assert_int_equal(s.euid, geteuid());
		assert_int_equal(s.egid, getegid());
		assert_int_equal(s.threads, 1);
		assert_int_equal(s.own_pid, syscall(SYS_gettid));
		/* Any name is one line, so the second line is always the same. */
		line = strchr(text, '\n');
		assert_non_null(line);
		assert_memory_equal(line + 1, "Umask:", 6);
	}
}

TEST(refused)
{
	static const char *const bad[] = {"Uid:\t1\t2\n", "Uid:\t1 4294967296 1 1\n",
					  "Uid:\t1 -2 1 1\n", "Name:\tx\nVmSwap:\t1 kB\n"};
	struct proc_status s;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_int_equal(proc_status_parse(bad[i], strlen(bad[i]), &s), -EINVAL);
}

TEST(odd)
{
	/* The largest uid; more threads than fit; the first line of a key counts. */
	static const char text[] = "Uid:\t0\t4294967295\t0\t0\nUid:\t1\t1\t1\t1\n"
				   "Threads:\t4294967296\nThreads:\t3\nThreads:\t4\n"
				   "VmSwap:\t 18446744073709551616 kB\nVmSwap 3 kB\nVmSwapX: 4 kB\n"
				   "VmLck:\t5 kB\r\nVmPin:\t6 KB\nThreads:\t9";
	static const struct {
		const char *text;
		pid_t own_pid;
		uint32_t threads;
	} lines[] = {
		/* The last pid is its own one; what is no pid, or has no end, is not known. */
		{"NSpid:\t4711\t12\t3\n", 3, 0},
		{"NSpid:\t4711\n", 4711, 0},
		{"NSpid:\t\n", 0, 0},
		{"NSpid:\t4711\t2147483648\n", 0, 0},
		{"NSpid:\t4711\t0\n", 0, 0},
		{"NSpid:\t4711\t12", 0, 0},
		{"NStgid:\t4711\n", 0, 0},
		/* Without its end, "1" may be half of "12". */
		{"Threads:\t1", 0, 0},
		{"Threads:\t1\n", 0, 1},
	};
	struct proc_status s;

	assert_int_equal(proc_status_parse(text, sizeof(text) - 1, &s), 0);
	assert_int_equal(s.euid, UINT32_MAX);
	assert_int_equal(s.threads, 3);
	assert_int_equal(s.have, BIT(STATUS_VM_LCK));
	assert_int_equal(s.value[STATUS_VM_LCK], KB(5));

	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		char with_uid[64];
		int len = snprintf(with_uid, sizeof(with_uid), "Uid:\t0 0 0 0\n%s", lines[i].text);

		assert_int_equal(proc_status_parse(with_uid, (size_t)len, &s), 0);
		assert_int_equal(s.own_pid, lines[i].own_pid);
		assert_int_equal(s.threads, lines[i].threads);
	}
}
