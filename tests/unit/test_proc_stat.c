// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* proc_stat_parse(): names that look like the rest of the line, and lines that end early. */
#include "test_proc.h"

#include <sys/prctl.h>

#include "proc/status.h"

static struct proc_stat parse(const char *name)
{
	size_t len;
	cleanup_free char *text = fixture(name, &len);
	struct proc_stat stat;

	assert_int_equal(proc_stat_parse(text, len, &stat), 0);
	return stat;
}

static void assert_captured(const struct proc_stat *s, const char *comm)
{
	assert_int_equal(s->pid, 812);
	assert_string_equal(s->comm, comm);
	assert_int_equal(s->state, 'R');
	assert_int_equal(s->ppid, 1);
	assert_int_equal(s->flags, 4194304);
	assert_int_equal(s->majflt, 1);
	assert_int_equal(s->threads, 7);
	assert_int_equal(s->start_ticks, 123456);
	assert_int_equal(s->vsize, 62787584);
	assert_int_equal(s->start_stack, 140729139945232);
}

TEST(names)
{
	struct proc_stat s;

	s = parse("stat-6.18");
	assert_captured(&s, "worker");
	s = parse("stat-closing-bracket");
	assert_captured(&s, "a) R 1 (b) S 9");
	s = parse("stat-newline");
	assert_captured(&s, "x\n7 (y) Z 3");
	s = parse("stat-long-name");
	assert_captured(&s, "kworker/u8:2-ev");
}

TEST(kinds)
{
	struct proc_stat s = parse("stat-kthread");

	assert_int_equal(s.pid, 57);
	assert_int_equal(s.state, 'I');
	assert_int_equal(s.ppid, 2);
	assert_true(s.flags & PROC_PF_KTHREAD);
	assert_int_equal(s.vsize, 0);
	assert_int_equal(s.start_stack, 0);

	s = parse("stat-not-permitted");
	assert_int_equal(s.start_ticks, 123456);
	assert_int_equal(s.start_stack, 0);
}

/* A text cut before the blank after field 28 is refused; a longer one is complete. */
TEST(truncated)
{
	size_t len, whole;
	cleanup_free char *text = fixture("stat-truncated", &whole);
	cleanup_free char *full = fixture("stat-6.18", &len);
	struct proc_stat s, before;

	memset(&s, 0xa5, sizeof(s));
	before = s;
	assert_true(whole < len);
	assert_int_equal(proc_stat_parse(text, whole, &s), -EINVAL);
	for (size_t n = 0; n <= whole; n++) {
		cleanup_free char *part = exact_copy(full, n);

		assert_int_equal(proc_stat_parse(part, n, &s), -EINVAL);
	}
	assert_memory_equal(&s, &before, sizeof(s));
	for (size_t n = whole + 1; n <= len; n++) {
		cleanup_free char *part = exact_copy(full, n);

		assert_int_equal(proc_stat_parse(part, n, &s), 0);
		assert_captured(&s, "worker");
	}
}

static int parse_with(const char *pid, const char *ppid, const char *flags, const char *start)
{
	char text[512];
	struct proc_stat s;
	int n = snprintf(text, sizeof(text),
			 "%s (x) S %s 1 1 0 -1 %s 0 0 0 0 0 0 0 0 20 -19 3 0 %s 9 0 0 0 0 8 \n",
			 pid, ppid, flags, start);

	return proc_stat_parse(text, (size_t)n, &s);
}

#define NUMBERS " 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 -19 3 0 4 9 0 0 0 0 8 \n"

static int parse_line(const char *text)
{
	struct proc_stat s;

	return proc_stat_parse(text, strlen(text), &s);
}

TEST(refused)
{
	struct proc_stat s;
	size_t len;
	cleanup_free char *garbage = fixture("garbage", &len);
	cleanup_free char *line = malloc(65536);

	assert_int_equal(proc_stat_parse(garbage, len, &s), -EINVAL);
	assert_int_equal(proc_stat_parse(NULL, 0, &s), -EINVAL);
	assert_int_equal(parse_with("1", "0", "0", "18446744073709551615"), 0);
	assert_int_equal(parse_with("1", "0", "0", "18446744073709551616"), -EINVAL);
	assert_int_equal(parse_with("1", "0", "4294967296", "1"), -EINVAL);
	assert_int_equal(parse_with("1", "-1", "0", "1"), -EINVAL);
	assert_int_equal(parse_with("1", "2147483648", "0", "1"), -EINVAL);
	assert_int_equal(parse_with("", "1", "0", "1"), -EINVAL);
	assert_int_equal(parse_with("2147483648", "1", "0", "1"), -EINVAL);
	assert_int_equal(parse_with("1x", "1", "0", "1"), -EINVAL);
	assert_int_equal(parse_with("1", "", "0", "1"), -EINVAL);
	assert_int_equal(parse_with("1", "1 ", "0", "1"), -EINVAL);
	assert_int_equal(parse_line("1 (x) S" NUMBERS), 0);
	assert_int_equal(parse_line("1 (x) SS" NUMBERS), -EINVAL);
	assert_int_equal(parse_line("1 (x) 5" NUMBERS), -EINVAL);
	assert_int_equal(parse_line("1 (x)-S" NUMBERS), -EINVAL);
	assert_int_equal(parse_line("1(x) S" NUMBERS), -EINVAL);
	/* An empty field would shift all later ones. */
	assert_int_equal(
		parse_line("1 (x) S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 -19 3 0 4 9 0  0 0 8 9\n"),
		-EINVAL);
	assert_int_equal(proc_stat_parse("1 (x)", 5, &s), -EINVAL);
	assert_int_equal(proc_stat_parse("1 (x) ", 6, &s), -EINVAL);
	assert_int_equal(proc_stat_parse("1 )x( S 1 1 ", 12, &s), -EINVAL);
	assert_non_null(line);
	for (const char *c = "7() )\n"; *c; c++) {
		memset(line, *c, 65536);
		assert_int_equal(proc_stat_parse(line, 65536, &s), -EINVAL);
		memcpy(line, "1 (", 3);
		assert_int_equal(proc_stat_parse(line, 65536, &s), -EINVAL);
	}
}

/* This kernel writes the name unescaped, including newlines and parentheses. */
TEST(live)
{
	static const char name[] = "a) S 1\n(b) R";
	char text[2048], old[16];
	struct proc_stat s;
	ssize_t n;

	prctl(PR_GET_NAME, old);
	prctl(PR_SET_NAME, name);
	n = file_read(AT_FDCWD, "/proc/self/stat", text, sizeof(text));
	prctl(PR_SET_NAME, old);
	assert_true(n > 0);
	assert_int_equal(proc_stat_parse(text, (size_t)n, &s), 0);
	assert_string_equal(s.comm, name);
	assert_int_equal(s.ppid, getppid());
	assert_int_equal(s.threads, 1);
	assert_int_equal(s.state, 'R');
	assert_true(s.start_ticks > 0);
	assert_true(s.vsize > 0);
	assert_true(s.start_stack > 0);
}
