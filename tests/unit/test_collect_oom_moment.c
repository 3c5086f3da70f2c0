// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What an OOM kill says about the cgroup whose limit was reached, without a line of the log. */
#include "unit.h"

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
	oom_moment_describe(&m, &c, &kill, ret);
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
