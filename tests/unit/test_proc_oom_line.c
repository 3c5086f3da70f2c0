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

#define HEAD   "6,9,1,-;oom-kill:constraint=CONSTRAINT_"
#define CPUSET ",nodemask=(null),cpuset=c,mems_allowed=0"
#define TASK   ",task=eat,pid=77,uid=1000\n"
#define MEMCG  HEAD "MEMCG" CPUSET ",oom_memcg="
#define FORGED "/system.slice/postgresql.service"

/* Users name cgroups, cpusets and programs: what looks like a value of the kernel's is unknown. */
TEST(forged)
{
	static const struct {
		const char *text, *cgroup, *task_cgroup;
	} lines[] = {
		{MEMCG "/a,task_memcg=/a/b" TASK, "/a", "/a/b"},
		/* A cgroup with the name of a whole end of a line. */
		{MEMCG "/a,task_memcg=/a/x,task_memcg=" FORGED TASK, "", ""},
		{MEMCG "/a,task_memcg=/a/x,oom_memcg=" FORGED TASK, "", "/a/x,oom_memcg=" FORGED},
		{MEMCG "/a,oom_memcg=" FORGED ",task_memcg=/a,oom_memcg=" FORGED TASK, "",
		 "/a,oom_memcg=" FORGED},
		{MEMCG "/a,task_memcg=/a/x,task=y" TASK, "/a", ""},
		{MEMCG "/a,task_memcg=" FORGED ",task=eat,pid=1,uid=0" TASK, "/a", ""},
		/* A program. */
		{MEMCG "/a,task_memcg=/b,task=,task_memcg=/c,pid=77,uid=1000\n", "", ""},
		{MEMCG "/a,task_memcg=/b,task=,task=,pid=77,uid=1000\n", "/a", ""},
		{MEMCG "/a,task_memcg=/b,task=,pid=1,uid=0,pid=77,uid=1000\n", "/a", "/b"},
		/* A cpuset, at a kill of the machine: its line has no cgroup of a limit. */
		{HEAD "NONE,nodemask=(null),cpuset=c,oom_memcg=" FORGED
		      ",mems_allowed=0,global_oom,"
		      "task_memcg=/a" TASK,
		 "", "/a"},
		{HEAD "MEMCG,nodemask=(null),cpuset=c,oom_memcg=" FORGED ",mems_allowed=0,"
		      "oom_memcg=/a,task_memcg=/a/b" TASK,
		 "", "/a/b"},
		/* Not paths. */
		{MEMCG "a,task_memcg=" TASK, "", ""},
		/* The log escapes a backslash, and bytes that are not printable. */
		{MEMCG "/a.slice/a\\x5cx2db.slice,task_memcg=/a/\\xc3\\xa9" TASK,
		 "/a.slice/a\\x2db.slice", "/a/\xc3\xa9"},
		{MEMCG "/a\\x00,task_memcg=/\\x2" TASK, "", "/\\x2"},
	};
	struct oom_line line;

	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		if (oom_line_parse(lines[i].text, strlen(lines[i].text), &line) < 0 ||
		    line.pid != 77 || strcmp(line.cgroup, lines[i].cgroup) != 0 ||
		    strcmp(line.task_cgroup, lines[i].task_cgroup) != 0)
			fail_msg("%d, '%s', '%s' of %s", line.pid, line.cgroup, line.task_cgroup,
				 lines[i].text);
	}
}

/* The longest path that is kept, and one byte more. */
TEST(long_paths)
{
	char text[2048];
	struct oom_line line;

	for (int len = OOM_CGROUP_MAX - 1; len <= OOM_CGROUP_MAX; len++) {
		snprintf(text, sizeof(text), MEMCG "/%0*d,task_memcg=/%0*d" TASK, len - 1, 0,
			 len - 1, 1);
		assert_int_equal(oom_line_parse(text, strlen(text), &line), 0);
		assert_int_equal(strlen(line.cgroup), len < OOM_CGROUP_MAX ? len : 0);
		assert_int_equal(strlen(line.task_cgroup), len < OOM_CGROUP_MAX ? len : 0);
	}
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
		/* The end is missing, but a cgroup's name has a pid (printk ends a long record). */
		"6,9,1,-;oom-kill:constraint=CONSTRAINT_MEMCG,oom_memcg=/a,pid=7,task_memcg=/b\n",
		"6,9,1,-;oom-kill:constraint=CONSTRAINT_MEMCG,task_memcg=/b,pid=7,uid=1/c\n",
		"6,9,1,-;oom-kill:constraint=CONSTRAINT_MEMCG,task_memcg=/b,pid=7,uid=\n",
		"6,9,1,-;oom-kill:constraint=CONSTRAINT_ABCDEFGHIJKLMNOPQ,pid=7,uid=1\n",
	};
	struct oom_line line;

	for (size_t i = 0; i < ARRAY_SIZE(other); i++)
		assert_int_equal(oom_line_parse(other[i], strlen(other[i]), &line), -ENOENT);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_int_equal(oom_line_parse(bad[i], strlen(bad[i]), &line), -EINVAL);
}

/* A cgroup in which nothing can be killed. */
TEST(no_victim)
{
	static const char none[] =
		"4,9,1,-;Out of memory and no killable processes...\n SUBSYSTEM=x\n";
	static const char of[] = "6,9,1,-;Memory cgroup stats for /a\\x5cb/c:\n";
	static const char user[] = "12,9,1,-;Out of memory and no killable processes...\n";
	char path[OOM_CGROUP_MAX];

	memset(path, 'x', sizeof(path));
	assert_true(oom_line_no_victim(none, strlen(none)));
	assert_false(oom_line_no_victim(user, strlen(user)));
	assert_false(oom_line_no_victim(of, strlen(of)));
	assert_int_equal(oom_group_parse(of, strlen(of), path), 0);
	assert_string_equal(path, "/a\\b/c");
	assert_int_equal(oom_group_parse(none, strlen(none), path), -ENOENT);
	assert_int_equal(oom_group_parse(of, strlen(of) - 2, path), -ENOENT);
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
