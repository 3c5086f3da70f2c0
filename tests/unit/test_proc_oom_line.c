// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The line of the kernel's log about a kill, also with hostile names in it. */
#include "unit.h"

#include "proc/oom_line.h"

static const char memcg[] =
	"6,1234,45132464302,-;oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=/,"
	"mems_allowed=0,oom_memcg=/a.slice,task_memcg=/a.slice/b,task=python3,pid=25291,uid=0\n"
	" SUBSYSTEM=memory\n";

TEST(lines)
{
	static const char global[] =
		"6,9,1,-;oom-kill:constraint=CONSTRAINT_NONE,nodemask=(null),cpuset=/,mems_allowed=0,"
		"global_oom,task_memcg=/x,task=a,pid=7,uid=1\n";
	static const char hostile[] =
		"6,9,1,-;oom-kill:constraint=CONSTRAINT_MEMORY_POLICY,nodemask=0,cpuset=/,"
		"mems_allowed=0,global_oom,task_memcg=/x,pid=9,task=x,pid=1,uid=2,pid=77,uid=1\n";
	struct oom_line line;

	assert_int_equal(oom_line_parse(memcg, strlen(memcg), &line), 0);
	assert_int_equal(line.pid, 25291);
	assert_string_equal(line.constraint, "memcg");
	assert_string_equal(line.cgroup, "/a.slice");
	assert_string_equal(line.task_cgroup, "/a.slice/b");
	assert_int_equal(oom_line_parse(global, strlen(global), &line), 0);
	assert_int_equal(line.pid, 7);
	assert_string_equal(line.constraint, "none");
	assert_string_equal(line.cgroup, "");
	assert_string_equal(line.task_cgroup, "/x");
	assert_int_equal(oom_line_parse(hostile, strlen(hostile), &line), 0);
	assert_int_equal(line.pid, 77);
	assert_string_equal(line.constraint, "memory_policy");
}

TEST(others)
{
	static const char *const other[] = {
		"",
		"6",
		"6,1,1,-;",
		"6,1,1,-;Killed process 7",
		/* Written by a process. */
		"12,9,1,-;oom-kill:constraint=CONSTRAINT_NONE,global_oom,pid=7,uid=1\n",
		"6,9,1,-;x oom-kill:constraint=CONSTRAINT_NONE,global_oom,pid=7,uid=1\n",
	};
	static const char *const bad[] = {
		"6,9,1,-;oom-kill:constraint=CONSTRAINT_NONE,global_oom,uid=1\n",
		"6,9,1,-;oom-kill:constraint=CONSTRAINT_NONE,global_oom,pid=x,uid=1\n",
		"6,9,1,-;oom-kill:constraint=CONSTRAINT_NONE,global_oom,pid=99999999999,uid=1\n",
		"6,9,1,-;oom-kill:constraint=CONSTRAINT_,pid=7,uid=1\n",
		"6,9,1,-;oom-kill:constraint=CONSTRAINT_ABCDEFGHIJKLMNOPQ,pid=7,uid=1\n",
	};
	struct oom_line line;

	for (size_t i = 0; i < ARRAY_SIZE(other); i++)
		assert_int_equal(oom_line_parse(other[i], strlen(other[i]), &line), -ENOENT);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_int_equal(oom_line_parse(bad[i], strlen(bad[i]), &line), -EINVAL);
}

TEST(requests)
{
	static const char usual[] =
		"4,9,1,-;tail invoked oom-killer: gfp_mask=0x140cca(GFP_HIGHUSER_MOVABLE|"
		"__GFP_COMP), order=3, oom_score_adj=-5\n";
	static const char hostile[] =
		"4,9,1,-;x invoked oom-killer: gfp_mask=0x1(A), order=9, invoked "
		"oom-killer: gfp_mask=0x0(GFP_NOWAIT), order=1, oom_score_adj=0\n";
	static const char *const other[] = {
		"", "4,9,1,-;", "4,9,1,-; invoked oom-killer:",
		"14,9,1,-;tail invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=0\n"};
	static const char *const bad[] = {
		"4,9,1,-;a invoked oom-killer: gfp_mask=0xcc0, order=0\n",
		"4,9,1,-;a invoked oom-killer: gfp_mask=0xcc0(X), order=x\n",
		"4,9,1,-;a invoked oom-killer: gfp_mask=0xcc0(X), order=99999999999\n"};
	char large[256];
	struct oom_request r;

	assert_int_equal(oom_request_parse(usual, strlen(usual), &r), 0);
	assert_string_equal(r.gfp, "GFP_HIGHUSER_MOVABLE|__GFP_COMP");
	assert_int_equal(r.order, 3);
	assert_int_equal(oom_request_parse(hostile, strlen(hostile), &r), 0);
	assert_string_equal(r.gfp, "GFP_NOWAIT");
	assert_int_equal(r.order, 1);
	for (size_t i = 0; i < ARRAY_SIZE(other); i++)
		assert_int_equal(oom_request_parse(other[i], strlen(other[i]), &r), -ENOENT);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_int_equal(oom_request_parse(bad[i], strlen(bad[i]), &r), -EINVAL);
	/* The longest flags that fit, and one byte more. */
	snprintf(large, sizeof(large),
		 "4,1,1,-;a invoked oom-killer: gfp_mask=0x0(%095d), order=0\n", 0);
	assert_int_equal(oom_request_parse(large, strlen(large), &r), 0);
	assert_int_equal(strlen(r.gfp), 95);
	snprintf(large, sizeof(large),
		 "4,1,1,-;a invoked oom-killer: gfp_mask=0x0(%096d), order=0\n", 0);
	assert_int_equal(oom_request_parse(large, strlen(large), &r), -EINVAL);
}
