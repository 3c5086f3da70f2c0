// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* proc_stat_parse(): names that look like the rest of the line, and lines that end early. */
#include "test_proc.h"

#include <sys/prctl.h>

#include "proc/status.h"

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

#define LINE(head, ppid, flags, start)                                                             \
	head " " ppid " 1 1 0 -1 " flags " 0 0 0 0 0 0 0 0 20 -19 3 0 " start " 9 0 0 0 0 8 \n"

TEST(refused)
{
	static const char *const good[] = {
		LINE("1 (x) S", "0", "0", "18446744073709551615"),
		LINE("1 (x) S", "1", "0", "4"),
	};
	static const char *const bad[] = {
		LINE("1 (x) S", "0", "0", "18446744073709551616"),
		LINE("1 (x) S", "0", "4294967296", "1"),
		LINE("1 (x) S", "-1", "0", "1"),
		LINE("1 (x) S", "2147483648", "0", "1"),
		LINE(" (x) S", "1", "0", "1"),
		LINE("2147483648 (x) S", "1", "0", "1"),
		LINE("1x (x) S", "1", "0", "1"),
		LINE("1 (x) S", "", "0", "1"),
		LINE("1 (x) S", "1 ", "0", "1"),
		LINE("1 (x) SS", "1", "0", "4"),
		LINE("1 (x) 5", "1", "0", "4"),
		LINE("1 (x)-S", "1", "0", "4"),
		LINE("1(x) S", "1", "0", "4"),
		/* An empty field would shift all later ones. */
		"1 (x) S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 -19 3 0 4 9 0  0 0 8 9\n",
		"1 (x)",
		"1 (x) ",
		"1 )x( S 1 1 ",
	};
	struct proc_stat s;

	for (size_t i = 0; i < ARRAY_SIZE(good); i++)
		assert_int_equal(proc_stat_parse(good[i], strlen(good[i]), &s), 0);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		cleanup_free char *copy = exact_copy(bad[i], strlen(bad[i]));

		assert_int_equal(proc_stat_parse(copy, strlen(bad[i]), &s), -EINVAL);
	}
}
