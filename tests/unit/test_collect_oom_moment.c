// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What an OOM kill says about the victim's cgroup and the one that reached its limit, with a line
 * of the log that agrees with what the kernel side found, with another one, and without.
 */
#include "unit.h"

#include "collect/collector.h"
#include "collect/oom_moment.h"

#define LEVELS_MOST (2 * MEMCG_DEPTH_MAX)

/* Cgroups that lie in one another, "/d", "/d/d", …, as they were and as they are. */
struct fixture {
	char path[LEVELS_MOST][2 * LEVELS_MOST + 1];
	struct memcg before[LEVELS_MOST], now[LEVELS_MOST];
	struct process victim;
};

/* The cgroup of `level`, and with it those above, ran out of memory; `read` levels are known. */
static void describe(struct fixture *f, unsigned levels, unsigned level, unsigned read,
		     struct event_record *ret)
{
	struct collector c = COLLECTOR_CLOSED;
	struct oom_moment m = {};
	const struct oom_kill kill = {.pid = 7};

	for (unsigned i = 0; i < levels; i++) {
		for (unsigned k = 0; k <= i; k++)
			memcpy(f->path[i] + 2 * k, "/d", 3);
		f->before[i] = f->now[i] = (struct memcg){.path = f->path[i],
							  .oom_known = true,
							  .limit_known = true,
							  .limit = 1000 + i};
		f->now[i].oom += i < level;
	}
	f->victim = (struct process){.pid = 7, .cgroup = f->path[levels - 1], .controlled = true};
	c.snapshot.memcg = f->before;
	m.snapshot.memcg = f->now;
	c.snapshot.memcg_count = m.snapshot.memcg_count = read;
	m.snapshot.process = &f->victim;
	m.snapshot.count = 1;
	oom_moment_find_reason(&m, &kill);
	assert_int_equal(oom_moment_infer_reason(&m, &c, &kill), 0);
	oom_moment_describe(&m, &kill, ret);
	arena_done(&m.snapshot.scratch);
}

TEST(lowest_cgroup_that_was_out)
{
	static struct fixture f;
	struct event_record e;

	describe(&f, 5, 3, 5, &e);
	assert_string_equal(event_text(&e, EVENT_LIMIT_CGROUP), "/d/d/d");
	assert_string_equal(event_text(&e, EVENT_CONSTRAINT), "memcg");
	assert_int_equal(e.number[EVENT_LIMIT], 1002);
	describe(&f, 5, 0, 5, &e);
	assert_null(event_text(&e, EVENT_LIMIT_CGROUP));
	describe(&f, MEMCG_DEPTH_MAX, MEMCG_DEPTH_MAX, MEMCG_DEPTH_MAX, &e);
	assert_string_equal(event_text(&e, EVENT_LIMIT_CGROUP), f.path[MEMCG_DEPTH_MAX - 1]);
}

/* Of a deeper victim the lowest ones are not read: it may be one of them. */
TEST(cgroup_that_is_not_read)
{
	static struct fixture f;
	struct event_record e;

	describe(&f, LEVELS_MOST, LEVELS_MOST, MEMCG_DEPTH_MAX, &e);
	assert_string_equal(event_text(&e, EVENT_CGROUP), f.path[LEVELS_MOST - 1]);
	assert_null(event_text(&e, EVENT_LIMIT_CGROUP));
	assert_null(event_text(&e, EVENT_CONSTRAINT));
	assert_false(event_has(&e, EVENT_LIMIT));
}

/* ---- the line of the log, and the cgroup that the kernel side found ---- */

#define HOSTILE "/a/x,task_memcg=y"

static struct oom_kill kill_in(const char *path, const char *memory, const char *root)
{
	struct oom_kill kill = {.pid = 7, .cgroup.status = ZMEM_OOM_PATH_KNOWN};

	snprintf(kill.cgroup.path, sizeof(kill.cgroup.path), "%s", path);
	snprintf(kill.cgroup.memory, sizeof(kill.cgroup.memory), "%s", memory);
	snprintf(kill.cgroup.root, sizeof(kill.cgroup.root), "%s", root);
	return kill;
}

static void add_line(struct oom_kill *kill, const char *limit, const char *cgroup)
{
	kill->line_known = true;
	kill->line =
		(struct oom_line){.pid = 7, .constraint = "memcg", .request.gfp = "GFP_KERNEL"};
	snprintf(kill->line.cgroup, sizeof(kill->line.cgroup), "%s", limit);
	snprintf(kill->line.task_cgroup, sizeof(kill->line.task_cgroup), "%s", cgroup);
}

static void describe_kill(const struct oom_kill *kill, struct event_record *ret)
{
	static struct memcg memcg = {.path = "/a", .limit_known = true, .limit = 4096};
	struct process victim = {.pid = 7};
	struct oom_moment m = {.log_read = true};

	m.snapshot.process = &victim;
	m.snapshot.count = 1;
	m.snapshot.memcg = &memcg;
	m.snapshot.memcg_count = 1;
	oom_moment_find_reason(&m, kill);
	oom_moment_describe(&m, kill, ret);
}

/* Whether the line is used, and which limit was reached. */
static void assert_line(const struct oom_kill *kill, bool used, const char *limit)
{
	struct event_record e;

	describe_kill(kill, &e);
	assert_int_equal(e.number[EVENT_LOG_READ], used ? EVENT_LOG_OPEN : EVENT_LOG_OTHER);
	assert_int_equal(event_has(&e, EVENT_CONSTRAINT), used);
	assert_int_equal(event_has(&e, EVENT_GFP), used);
	assert_int_equal(event_has(&e, EVENT_LIMIT_CGROUP), !!limit);
	assert_int_equal(event_has(&e, EVENT_LIMIT), limit && strcmp(limit, "/a") == 0);
	if (limit)
		assert_string_equal(event_text(&e, EVENT_LIMIT_CGROUP), limit);
}

TEST(line_of_the_log)
{
	static const struct {
		const char *path, *memory, *root, *limit, *cgroup;
		bool used;
		const char *seen;
	} cases[] = {
		{"/a/b", "/a/b", "/", "/a", "/a/b", true, "/a"},
		{"/a/b", "/a/b", "/", "/a/b", "/a/b", true, "/a/b"},
		{"/a/b", "/a/b", "/", "/", "/a/b", true, "/"},
		/* The controller is at one above. */
		{"/a/b/c", "/a/b", "/", "/a", "/a/b", true, "/a"},
		/* What the line does not tell. */
		{HOSTILE, HOSTILE, "/", "", "", true, NULL},
		{HOSTILE, HOSTILE, "/", "/a", "", true, "/a"},
		/* The line of another kill, or a name that looks like a line. */
		{"/a/b", "/a/b", "/", "/a", "/a/c", false, NULL},
		{"/a/b", "/a/b", "/", "/a", "/a/b/c", false, NULL},
		{"/a/b", "/a/b", "/", "/c", "/a/b", false, NULL},
		{"/a/b", "/a/b", "/", "/a/b/c", "/a/b", false, NULL},
		{"/ab", "/ab", "/", "/a", "", false, NULL},
		/* In a cgroup namespace. */
		{"/r/a/b", "/r/a/b", "/r", "/r/a", "/r/a/b", true, "/a"},
		{"/a/b", "/a/b", "/a/r", "/a", "/a/b", true, "/.."},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct oom_kill kill = kill_in(cases[i].path, cases[i].memory, cases[i].root);

		add_line(&kill, cases[i].limit, cases[i].cgroup);
		assert_line(&kill, cases[i].used, cases[i].seen);
		/* Of what was not found, the line is not doubted, and has the paths of the host. */
		kill.cgroup = (struct oom_cgroup){};
		assert_line(&kill, true, *cases[i].limit ? cases[i].limit : NULL);
	}
}

/* The moment of a kill, without /proc: the victim's cgroup, or why it is not known. */
static void assert_victim(const struct oom_kill *kill, const char *cgroup, const char *reason)
{
	struct collector c = COLLECTOR_CLOSED;
	struct oom_moment m = {.log_read = true};
	struct event_record e;
	struct process *p;

	c.users = user_table_new();
	assert_non_null(c.users);
	p = snapshot_add(&m.snapshot);
	assert_non_null(p);
	*p = (struct process){.pid = 7, .name = "eat", .comm = "eat"};
	assert_int_equal(oom_moment_complete(&m, &c, kill), 0);
	oom_moment_describe(&m, kill, &e);
	assert_int_equal(event_has(&e, EVENT_CGROUP), !!cgroup);
	if (cgroup)
		assert_string_equal(event_text(&e, EVENT_CGROUP), cgroup);
	assert_int_equal(event_has(&e, EVENT_CGROUP_REASON), !!reason);
	if (reason && !strstr(event_text(&e, EVENT_CGROUP_REASON), reason))
		fail_msg("%s", event_text(&e, EVENT_CGROUP_REASON));
	snapshot_done(&m.snapshot);
	collector_close(&c);
}

TEST(victim)
{
	struct oom_kill kill = kill_in(HOSTILE, HOSTILE, "/");

	assert_victim(&kill, HOSTILE, NULL);
	/* The log does not name it. */
	add_line(&kill, "/a", "/system.slice/postgresql.service");
	assert_victim(&kill, HOSTILE, NULL);
	kill.cgroup = (struct oom_cgroup){.status = ZMEM_OOM_PATH_LONG};
	assert_victim(&kill, NULL, "levels");
	kill.cgroup.status = ZMEM_OOM_PATH_RACED;
	assert_victim(&kill, NULL, "renamed");
	/* But where the kernel side has nothing. */
	kill.cgroup.status = ZMEM_OOM_PATH_NONE;
	assert_victim(&kill, "/system.slice/postgresql.service", NULL);
	/* The root, and namespaces. */
	kill = kill_in("/", "/", "/");
	assert_victim(&kill, "/", NULL);
	kill = kill_in("/r/a/b", "/r/a", "/r");
	assert_victim(&kill, "/a/b", NULL);
	kill = kill_in("/a/b", "/a/b", "/r/s");
	assert_victim(&kill, "/../../a/b", NULL);
}

/* A sender that is known, and one that is not. */
TEST(sender)
{
	const struct oom_kill kill = {.signal = 15, .pid = 7, .sender = 8, .missed = 3};
	struct process process[] = {
		{.pid = 7, .name = "eat"},
		{.pid = 8, .uid = 9, .comm = "a comm", .name = "oomd", .unit = "oomd.service"}};
	struct oom_moment m = {.snapshot = {.process = process, .time_ms = 5}};
	struct event_record e;

	for (size_t known = 1; known <= 2; known++) {
		m.snapshot.count = known;
		oom_moment_describe_signal(&m, &kill, &e);
		assert_int_equal(e.time_ms, 5);
		assert_int_equal(e.number[EVENT_KIND], EVENT_SIGNAL);
		assert_int_equal(e.number[EVENT_SIGNAL_NUMBER], 15);
		assert_int_equal(e.number[EVENT_SIGNALS_MISSED], 3);
		assert_int_equal(e.number[EVENT_PID], 7);
		assert_string_equal(event_text(&e, EVENT_NAME), "eat");
		assert_int_equal(event_has(&e, EVENT_SENDER_PID), known == 2);
	}
	assert_int_equal(e.number[EVENT_SENDER_PID], 8);
	assert_int_equal(e.number[EVENT_SENDER_UID], 9);
	assert_string_equal(event_text(&e, EVENT_SENDER_COMM), "a comm");
	assert_string_equal(event_text(&e, EVENT_SENDER_NAME), "oomd");
	assert_string_equal(event_text(&e, EVENT_SENDER_UNIT), "oomd.service");
	assert_null(event_text(&e, EVENT_SENDER_CONTAINER));
}
