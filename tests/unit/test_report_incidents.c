// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What incidents says of memory that was short, and of cgroups at a limit. */
#include "golden.h"
#include "sample.h"

#include <time.h>

#include "base/strbuf.h"
#include "report/incidents.h"

#define BEGAN 1763781255000 /* 2025-11-22 03:14:15 UTC */

static const struct table_style style = {.header = true};
static const struct incident_columns columns = {.when = 20};

/* In the line of the incident, and in its report before the signs. */
static void check(const struct incident *i, const char *line, const char *first)
{
	cleanup(strbuf_done) struct strbuf out = {}, report = {};
	const char *rest;

	render_incident_line(&out, i, &columns, &style);
	assert_string_equal(strbuf_str(&out), line);
	render_incident(&report, i, 5, &style);
	rest = strstr(strbuf_str(&report), "\n  signs:");
	assert_non_null(rest);
	report.len = (size_t)(rest - report.data);
	assert_string_equal(strbuf_str(&report), first);
}

static void check_text(const struct incident *i, const char *expected)
{
	cleanup(strbuf_done) struct strbuf out = {};

	render_incident(&out, i, 5, &style);
	if (!strstr(strbuf_str(&out), expected))
		fail_msg("no '%s' in '%s'", expected, strbuf_str(&out));
}

static void set_swap(struct meminfo *m, uint64_t bytes)
{
	m->have |= 1U << MEMINFO_SWAP_TOTAL | 1U << MEMINFO_SWAP_FREE;
	m->value[MEMINFO_SWAP_TOTAL] = m->value[MEMINFO_SWAP_FREE] = bytes;
}

TEST(pressure)
{
	static struct event_record event = {.time_ms = BEGAN}, end;
	static struct snapshot then;
	struct incident i = {.number = 1, .event = &event};

	setenv("TZ", "UTC", 1);
	tzset();
	event_set(&event, EVENT_KIND, EVENT_PRESSURE);
	event_set(&event, EVENT_AVAILABLE, 64 << 20);
	event_set(&event, EVENT_CAUSES, 1);
	event_set(&end, EVENT_CAUSES, 1);
	check(&i, "    1  2025-11-22 03:14:15Z  memory was short; no end was recorded\n",
	      "event:1  memory was short from 2025-11-22 03:14:15Z; no end was recorded");
	i.goes_on = i.recorded_now = true;
	check(&i, "    1  2025-11-22 03:14:15Z  memory was short; it goes on\n",
	      "event:1  memory was short from 2025-11-22 03:14:15Z; it goes on");
	i.recorded_now = false;
	check(&i,
	      "    1  2025-11-22 03:14:15Z  memory was short; not over at the end of the recording\n",
	      "event:1  memory was short from 2025-11-22 03:14:15Z; not over at the end of the "
	      "recording");
	event_set(&end, EVENT_ENDED, BEGAN + 10000);
	i.end = &end;
	i.goes_on = false;
	check(&i, "    1  2025-11-22 03:14:15Z  memory was short for 10 s\n",
	      "event:1  memory was short for 10 s, from 2025-11-22 03:14:15Z");
	/* A snapshot before it is not of its worst moment. */
	i.during = &then;
	then.time_ms = BEGAN - 1000;
	check_text(&i, "\n  at the worst: RAM available ");
	then.time_ms = BEGAN + 1000;
	check_text(&i, "\n  at the worst (2025-11-22 03:14:16Z): RAM available ");
	/* The swap of the machine then. */
	check_text(&i, "; swap not known\n");
	set_swap(&then.system.meminfo, 0);
	check_text(&i, "; no swap\n");
	set_swap(&then.system.meminfo, 1 << 20);
	check_text(&i, "; swap 0 of 1.00 MiB\n");
}

/* Of a path that is too long the end stays. */
static void check_path(const struct incident *of, struct limit_events e)
{
	static struct event_record event = {.time_ms = BEGAN};
	const struct table_style at = {.header = true, .width = 60};
	cleanup(strbuf_done) struct strbuf out = {};
	struct incident i = *of;

	event_set(&event, EVENT_KIND, EVENT_OOM_KILL);
	e.cgroup = "/kubepods.slice/kubepods-pod1.slice/cri-containerd-0123456789ab.scope";
	i.event = &event;
	i.limit[0] = e;
	i.limits = 1;
	render_incident(&out, &i, 5, &at);
	assert_non_null(strstr(strbuf_str(&out), "          0  cri-container…56789ab.scope\n"));
}

/* A counter that is lower than before belongs to another cgroup of that name. */
TEST(limits)
{
	struct memcg before = {.path = "/a",
			       .max_known = true,
			       .max = 9,
			       .limit_known = true,
			       .limit = 1 << 20},
		     now = before;
	struct snapshot earlier = {.memcg = &before, .memcg_count = 1};
	struct snapshot then = {.memcg = &now, .memcg_count = 1};
	const struct incident i = {.during = &then, .baseline = &earlier};
	struct limit_events e;

	assert_int_equal(incident_limit_events(&i, &e, 1), 0);
	now.max = 12;
	assert_int_equal(incident_limit_events(&i, &e, 1), 1);
	assert_int_equal(e.max, 3);
	assert_false(e.since_made);
	check_path(&i, e);
	/* Another cgroup of that name, and one that was not there. */
	now.max = 2;
	assert_int_equal(incident_limit_events(&i, &e, 1), 1);
	assert_int_equal(e.max, 2);
	assert_true(e.since_made);
	before.path = "/b";
	assert_int_equal(incident_limit_events(&i, &e, 1), 1);
	assert_int_equal(e.max, 2);
	assert_true(e.since_made);
	before.path = "/a";
	/* One that has no limit counts those of cgroups below it. */
	now.limit_known = false;
	assert_int_equal(incident_limit_events(&i, &e, 1), 0);
	now.high_known = true;
	now.high = 7;
	assert_int_equal(incident_limit_events(&i, &e, 1), 1);
	assert_int_equal(e.high, 7);
	assert_int_equal(e.max, 0);
}

/* In v1 the kills of cgroups below the one at its limit are counted in them alone. */
TEST(limits_of_v1)
{
	static struct event_record event = {.time_ms = BEGAN};
	struct memcg tree[] = {
		{.path = "/a", .max_known = true, .max = 9, .limit_known = true, .limit = 1 << 20},
		{.path = "/a/b", .oom_kills_known = true, .oom_kills = 3},
		{.path = "/ab", .oom_kills_known = true, .oom_kills = 4},
	};
	struct snapshot earlier = {}, then = {.memcg = tree, .memcg_count = 3};
	const struct incident i = {.event = &event, .during = &then, .baseline = &earlier};
	struct limit_events e;

	event_set(&event, EVENT_KIND, EVENT_OOM_KILL);
	event_set_text(&event, EVENT_LIMIT_CGROUP, "/a");
	event_set(&event, EVENT_V2, 1);
	assert_int_equal(incident_limit_events(&i, &e, 1), 1);
	assert_int_equal(e.oom_kills, 0);
	event_set(&event, EVENT_V2, 0);
	assert_int_equal(incident_limit_events(&i, &e, 1), 1);
	assert_int_equal(e.oom_kills, 3);
}

/* Equal kills in a row are one line: of a day, of two, and of a minute. */
TEST(equal_kills)
{
	static struct event_record event = {.time_ms = BEGAN};
	struct incident i = {
		.number = 1,
		.event = &event,
		.burst = {.kills = 21,
			  .calls = 21,
			  .since_ms = BEGAN - 23 * 60000,
			  .until_ms = BEGAN},
	};
	static const char line[] =
		"    1  2025-11-22 03:14:15Z  -                    -           -  ";
	static const char *const end[] = {"-, 21 kills from 02:51 to 03:14\n",
					  "-, 21 kills in 4 groups from 2025-11-21 23:14 to 03:14, "
					  "and 7 more that were only counted\n",
					  "-, 21 kills at 03:14\n"};

	setenv("TZ", "UTC", 1);
	tzset();
	event_set(&event, EVENT_KIND, EVENT_OOM_KILL);
	for (size_t n = 0; n < ARRAY_SIZE(end); n++) {
		cleanup(strbuf_done) struct strbuf out = {};

		render_incident_line(&out, &i, &columns, &style);
		assert_memory_equal(strbuf_str(&out), line, sizeof(line) - 1);
		assert_string_equal(strbuf_str(&out) + sizeof(line) - 1, end[n]);
		i.burst.since_ms = n ? BEGAN - 14000 : BEGAN - 4 * 60 * 60000;
		i.burst.missed = n ? 0 : 7;
		i.burst.groups = n ? 0 : 4;
	}
}

/* The list at a width and in a time zone: its heading is above its values, and no note is cut. */
TEST(list)
{
	static struct event_record event[3];
	static const struct {
		unsigned width;
		const char *zone, *expected;
	} cases[] = {
		{0, "CET-1",
		 "EVENT  WHEN                       LIMIT OF           PID        HELD  CGROUP           "
		 "     NAME\n"
		 "    1  2025-11-22 04:14:15+01:00  memcg             4321           -  app.service      "
		 "     tail, 21 kills from 03:51 to 04:14\n"
		 "    2  2025-11-22 04:14:15+01:00  memcg             4321           -  "
		 "database-i…f-the-pod  a-longer-name, 9 processes killed as a group\n"
		 "    3  2025-11-22 04:14:15+01:00  memcg             4321           -  web              "
		 "     a-longer-name\n"},
		{80, "UTC",
		 "EVENT  WHEN                  LIMIT OF           PID        HELD  NAME\n"
		 "    1  2025-11-22 03:14:15Z  memcg             4321           -  tail\n"
		 "       21 kills from 02:51 to 03:14 in app.service\n"
		 "    2  2025-11-22 03:14:15Z  memcg             4321           -  a-longer-name\n"
		 "       9 processes killed as a group in database-is-the-name-of-the-pod\n"
		 "    3  2025-11-22 03:14:15Z  memcg             4321           -  a-longer-name\n"},
		{102, "UTC",
		 "EVENT  WHEN                  LIMIT OF           PID        HELD  NAME\n"
		 "    1  2025-11-22 03:14:15Z  memcg             4321           -  tail, 21 kills "
		 "from 02:51 to 03:14\n"
		 "    2  2025-11-22 03:14:15Z  memcg             4321           -  a-longer-name\n"
		 "       9 processes killed as a group in database-is-the-name-of-the-pod\n"
		 "    3  2025-11-22 03:14:15Z  memcg             4321           -  a-longer-name\n"},
	};

	for (size_t n = 0; n < ARRAY_SIZE(event); n++) {
		event[n].time_ms = BEGAN;
		event_set(&event[n], EVENT_KIND, EVENT_OOM_KILL);
		event_set(&event[n], EVENT_PID, 4321);
		event_set_text(&event[n], EVENT_CONSTRAINT, "memcg");
		event_set_text(&event[n], EVENT_CGROUP, "/system.slice/web");
		event_set_text(&event[n], EVENT_NAME, n ? "a-longer-name" : "tail");
	}
	event_set_text(&event[0], EVENT_UNIT, "app.service");
	event_set_text(&event[1], EVENT_UNIT, "kubelet.service");
	event_set_text(&event[1], EVENT_POD, "database-is-the-name-of-the-pod");
	for (size_t c = 0; c < ARRAY_SIZE(cases); c++) {
		const struct table_style at = {.header = true, .width = cases[c].width};
		cleanup(strbuf_done) struct strbuf out = {};
		struct incident_columns list;

		setenv("TZ", cases[c].zone, 1);
		tzset();
		list = incident_columns(strcmp(cases[c].zone, "UTC") == 0 ? 20 : 25, &at);
		render_incident_heading(&out, &list, &at);
		for (size_t n = 0; n < ARRAY_SIZE(event); n++) {
			static const struct burst burst[] = {
				{21, 21, 0, 0, 0, BEGAN - 23 * 60000, BEGAN}, {9, 1, 1}, {1, 1}};
			const struct incident i = {
				.number = (unsigned)n + 1, .event = &event[n], .burst = burst[n]};

			render_incident_line(&out, &i, &list, &at);
		}
		assert_string_equal(strbuf_str(&out), cases[c].expected);
	}
}

/* The table of a kill may be left out without a kill before it. */
TEST(left_out)
{
	static struct event_record event = {.time_ms = BEGAN};
	static struct snapshot then = {.time_ms = BEGAN - 1};
	struct incident i = {.number = 1, .event = &event, .burst = {3, 1, 1}};

	event_set(&event, EVENT_KIND, EVENT_OOM_KILL);
	event_set(&event, EVENT_LISTED, 1);
	check_text(&i, "\n  killed as a group: 3 processes, of which this one was the first\n");
	check_text(&i, "\n  within a second of another kill: only the victim was read\n");
	event_set(&event, EVENT_LISTED, 12);
	check_text(&i, "\n  12 processes were read in the kernel at that moment; the "
		       "table of this kill was not recorded\n");
	i.during = &then;
	check_text(&i, "; the table of this kill was not recorded: kills had used up their room in "
		       "the recording\n");
	then.time_ms = BEGAN + 1;
	event_set(&event, EVENT_LATE, 1);
	then.collection.earlier = 5; /* of another kill */
	check_text(&i, "; the table of this kill was not recorded: a later snapshot was recorded "
		       "before it; others were not read in time\n");
}

/* Kills while no recorder ran: the line fits 80 columns. */
TEST(unrecorded)
{
	static struct event_record event = {.time_ms = BEGAN};
	const struct incident i = {.number = 2, .event = &event};
	const struct table_style at = {.header = true, .width = 80};
	cleanup(strbuf_done) struct strbuf out = {};

	setenv("TZ", "UTC", 1);
	tzset();
	event_set(&event, EVENT_KIND, EVENT_UNRECORDED);
	event_set(&event, EVENT_KILLS, 4);
	event_set(&event, EVENT_SINCE, BEGAN - 60000);
	event_set_text(&event, EVENT_ID, "20251122T031415Z-1");
	render_incident_line(&out, &i, &columns, &at);
	assert_string_equal(
		strbuf_str(&out),
		"    2  2025-11-22 03:14:15Z  4 OOM kills not recorded, 2025-11-22 03:13 to then\n");
	check_text(&i, "event:2  4 OOM kills not recorded  (event:20251122T031415Z-1)\n"
		       "  between 2025-11-22 03:13:15Z and 2025-11-22 03:14:15Z: no recorder ran, "
		       "or it could not watch kills\n");
	event_set_text(&event, EVENT_LIMIT_CGROUP, "/a/b");
	check_text(&i, "\n  all of them were in /a/b\n");
}

/* Neither the sum of a line nor the name of an event is cut. */
TEST(folded)
{
	static struct event_record event = {.time_ms = BEGAN}, end;
	const struct incident i = {.number = 1,
				   .event = &event,
				   .end = &end,
				   .workload = "unit httpd.service",
				   .burst = {.kills = 30, .bytes = 600 * MIB}};
	const struct table_style at = {.header = true, .width = 80};
	cleanup(strbuf_done) struct strbuf out = {};

	setenv("TZ", "UTC", 1);
	tzset();
	event_set(&event, EVENT_KIND, EVENT_SIGNAL);
	event_set(&event, EVENT_SIGNAL_NUMBER, 9);
	event_set_text(&event, EVENT_SENDER_NAME, "systemd-oomd");
	event_set_text(&event, EVENT_ID, "20251122T031415Z-1");
	render_incident_line(&out, &i, &columns, &at);
	assert_string_equal(
		strbuf_str(&out),
		"    1  2025-11-22 03:14:15Z  systemd-oomd sent SIGKILL to unit httpd.service: 30\n"
		"       processes, 600 MiB\n");
	event_set(&event, EVENT_KIND, EVENT_PRESSURE);
	event_set(&end, EVENT_ENDED, BEGAN + 10000);
	strbuf_clear(&out);
	render_incident(&out, &i, 5, &at);
	assert_non_null(strstr(strbuf_str(&out),
			       "event:1  memory was short for 10 s, from 2025-11-22 03:14:15Z\n"
			       "  (event:20251122T031415Z-1)\n"));
}

/* A limit that was lowered below what is in use; processes for which the time was over. */
TEST(lowered)
{
	static struct event_record event = {.time_ms = BEGAN};
	static struct snapshot then = {.time_ms = BEGAN};
	struct incident i = {.number = 1, .event = &event, .during = &then, .table_known = true};

	event_set(&event, EVENT_KIND, EVENT_OOM_KILL);
	event_set(&event, EVENT_TABLE, 1);
	event_set_text(&event, EVENT_CONSTRAINT, "memcg");
	event_set_text(&event, EVENT_LIMIT_CGROUP, "/a");
	event_set(&event, EVENT_LIMIT, 100 * MIB);
	event_set(&event, EVENT_AT_LEVEL, 0);
	event_set(&event, EVENT_PART_ANON, 90 * MIB);
	event.levels = 1;
	event.level[0] = (struct event_level){.usage = 100 * MIB,
					      .limit = 100 * MIB,
					      .swap_usage = EVENT_UNLIMITED,
					      .swap_limit = EVENT_UNLIMITED};
	incident_add_charges(&i);
	check_text(&i, "\n  limit reached: memcg /a, 100 MiB\n"
		       "  filled by: processes 90.0 MiB, other 10.0 MiB\n");
	event.level[0].usage = 131 * MIB;
	then.collection.seen = 1;
	incident_add_charges(&i);
	check_text(&i, "\n  limit reached: memcg /a, 100 MiB, 131 MiB in use\n"
		       "  filled by: processes 90.0 MiB, not read 41.0 MiB\n");
}

static void check_next(const struct incident *i, const char *dir, bool usual, const char *expected)
{
	cleanup(strbuf_done) struct strbuf out = {};

	render_incident_next(&out, i, dir, usual);
	assert_string_equal(strbuf_str(&out), expected);
}

/* Commands that a shell takes as they are, at most 80 columns wide where names have room. */
TEST(next)
{
	static struct event_record event = {.time_ms = BEGAN};
	static struct snapshot then = {.time_ms = BEGAN};
	struct incident i = {.number = 2, .event = &event};

	check_next(&i, "/r", false, "");
	i.during = &then;
	check_next(&i, "/r", false, "next: zmem-bpf top --replay /r --at event:2\n");
	event_set_text(&event, EVENT_ID, "20251122T031415Z-1");
	i.grew_known[INCIDENT_MINUTE] = i.grew_known[INCIDENT_RECORDED] = true;
	i.recorded_ms = 90000;
	check_next(
		&i, "/var/lib/zmem-bpf", true,
		"next: zmem-bpf top --at event:20251122T031415Z-1\n"
		"      zmem-bpf diff --from 2025-11-22T03:12:45Z --to event:20251122T031415Z-1\n");
	i.grew_known[INCIDENT_RECORDED] = false;
	check_next(
		&i, "/var/lib/recording", false,
		"next: zmem-bpf top --replay /var/lib/recording --at event:20251122T031415Z-1\n"
		"      zmem-bpf diff /var/lib/recording --from 2025-11-22T03:13:15Z \\\n        --to event:20251122T031415Z-1\n");
	check_next(&i, "/a b", false, "");
	event_set_text(&event, EVENT_ID, "$(x)");
	check_next(&i, "r", true,
		   "next: zmem-bpf top --at event:2\n"
		   "      zmem-bpf diff --from 2025-11-22T03:13:15Z --to event:2\n");
}

/* Kills of one call are a group, also if all processes were read twice; else those of a burst. */
TEST(groups)
{
	static struct event_record a, b;

	event_set(&a, EVENT_KIND, EVENT_OOM_KILL);
	event_set_text(&a, EVENT_LIMIT_CGROUP, "/a");
	b = a;
	b.time_ms = 1000;
	assert_true(event_same_group(&a, &b));
	event_set(&b, EVENT_TABLE, 1);
	assert_false(event_same_group(&a, &b));
	event_set(&a, EVENT_CALL, 7);
	event_set(&b, EVENT_CALL, 7);
	b.time_ms = 5000;
	assert_true(event_same_group(&a, &b));
	/* Several victims without memory.oom.group have one memory. */
	event_set(&b, EVENT_OOM_GROUP, 0);
	assert_false(event_same_group(&a, &b));
	event_set(&b, EVENT_OOM_GROUP, 1);
	assert_true(event_same_group(&a, &b));
	event_set(&b, EVENT_CALL, 8);
	assert_false(event_same_group(&a, &b));
	event_set(&b, EVENT_KIND, EVENT_SIGNAL);
	assert_false(event_same_group(&a, &b));
}

static void check_json(const struct incident *i, const char *expected)
{
	cleanup(strbuf_done) struct strbuf out = {};
	struct incidents_json json = {.out = &out};

	render_incidents_json(&json, i);
	if (!strstr(strbuf_str(&out), expected))
		fail_msg("no '%s' in '%s'", expected, strbuf_str(&out));
}

/* Not all processes were read at a kill: how many, as far as they were counted. */
TEST(unread)
{
	static struct event_record event = {.time_ms = BEGAN};
	static struct snapshot then;
	struct incident i = {.number = 1, .event = &event, .during = &then};

	event_set(&event, EVENT_KIND, EVENT_OOM_KILL);
	event_set(&event, EVENT_LISTED, 900);
	check_json(&i, "\"processes_unread\":null");
	event_set(&event, EVENT_TABLE, 1);
	check_json(&i, "\"processes_unread\":0");
	event_set(&event, EVENT_LOST, 2);
	event_set(&event, EVENT_LATE, 1);
	then.collection.seen = 902;
	/* As an older version recorded it. */
	check_json(&i, "\"processes_unread\":null");
	check_text(&i, "; 2 did not fit the buffer; others were not read in time\n");
	then.collection.not_seen = 102;
	check_json(&i, "\"processes_unread\":null");
	check_text(&i, "; more than 100 others were not read in time\n");
	then.collection.not_seen_known = true;
	check_json(&i, "\"processes_unread\":100");
	check_text(&i, "; 100 others were not read in time\n");
}

static void set_meminfo(struct snapshot *s, enum meminfo_counter c, uint64_t mib)
{
	s->system.meminfo.value[c] = mib * MIB;
	s->system.meminfo.have |= UINT64_C(1) << c;
}

/* Where the RAM was at a kill of the machine: in the snapshot with less of it available. */
TEST(where_it_was)
{
	static struct event_record event = {.time_ms = BEGAN};
	static struct snapshot then = {.time_ms = BEGAN}, before = {.time_ms = BEGAN - 2000};
	struct process exempt[] = {{.kind = PROCESS_USER, .mm_owner = true, .oom_score_adj = -1000},
				   {.kind = PROCESS_USER, .mm_owner = true, .oom_score_adj = -999}};
	struct incident i = {.number = 1, .event = &event, .during = &then, .table_known = true};

	event_set(&event, EVENT_KIND, EVENT_OOM_KILL);
	event_set_text(&event, EVENT_CONSTRAINT, "none");
	process_set(&exempt[0], COUNTER_RSS_ANON, 30 * MIB);
	process_set(&exempt[1], COUNTER_RSS_ANON, 60 * MIB);
	process_set(&exempt[0], COUNTER_SWAP, 3 * MIB);
	then.process = exempt;
	then.count = 2;
	set_meminfo(&then, MEMINFO_TOTAL, 968);
	set_meminfo(&then, MEMINFO_AVAILABLE, 100);
	set_meminfo(&then, MEMINFO_HUGETLB, 700);
	before.system = then.system;
	set_meminfo(&before, MEMINFO_AVAILABLE, 90);
	set_meminfo(&before, MEMINFO_MLOCKED, 62);
	incident_find_ram(&i, NULL);
	check_text(&i, "exempt from OOM kills (oom_score_adj -1000): 1 process, 33.0 MiB\n");
	check_json(&i, "\"exempt_processes\":1,\"exempt_bytes\":34603008");
	assert_int_equal(i.where.time_ms, BEGAN);
	assert_int_equal(i.where.pool, 700 * MIB);
	incident_find_ram(&i, &before);
	assert_int_equal(i.where.time_ms, BEGAN - 2000);
	assert_int_equal(i.where.locked, 62 * MIB);
	i.where.parts = 2;
	i.where.part[0] = (struct incident_ram_part){"huge", "huge pages", 700 * MIB};
	i.where.part[1] = (struct incident_ram_part){"kernel", "kernel", 40 * MIB};
	check_text(
		&i,
		"  RAM use at 2025-11-22 03:14:13Z: huge pages 700 MiB, kernel 40.0 MiB; of it no kill frees "
		"the pool of huge pages, 700 MiB; processes have locked 62.0 MiB in RAM\n");
	check_json(&i, "{\"part\":\"huge\",\"title\":\"huge pages\",\"bytes\":734003200}");
	set_meminfo(&before, MEMINFO_AVAILABLE, 100);
	incident_find_ram(&i, &before);
	assert_int_equal(i.where.time_ms, BEGAN);
	/* Of processes that were not all read, no number is known. */
	i.table_known = false;
	incident_find_ram(&i, NULL);
	check_json(&i, "\"exempt_processes\":null,\"exempt_bytes\":null");
	/* A cgroup at its limit says nothing of the machine. */
	event_set_text(&event, EVENT_LIMIT_CGROUP, "/a");
	i.table_known = true;
	incident_find_ram(&i, &before);
	check_json(&i, "\"where\":null,\"exempt_processes\":null");
	then.process = NULL;
}

/* ---- all of it, to the byte ---- */

/* Each member is set; `add`: to the numbers. */
static struct event_record *make_event(enum event_kind kind, uint64_t add)
{
	struct event_record *e = test_calloc(1, sizeof(*e));
	char text[] = "<m00>\xff\x1b";

	e->time_ms = BEGAN;
	for (enum event_member m = EVENT_PID; m < EVENT_TEXTS; m++)
		event_set(e, m, 1000 * m + add);
	for (enum event_member m = EVENT_MORE; m < EVENT_MEMBERS; m++)
		event_set(e, m, 1000 * m + add);
	for (enum event_member m = EVENT_COMM; m < EVENT_TEXTS_END; m++) {
		snprintf(text + 2, 3, "%02d", (int)m);
		text[4] = '>';
		event_set_text(e, m, text);
	}
	event_set(e, EVENT_KIND, kind);
	return e;
}

static void put(struct strbuf *out, struct incidents_json *json, struct incident *i)
{
	incident_add_charges(i);
	incident_find_ram(i, NULL);
	render_incidents_json(json, i);
	render_incident_line(out, i, &columns, &style);
	render_incident(out, i, 2, &style);
	render_incident_next(out, i, "/r", false);
}

/* Groups by two columns: one list of them, and the columns are keys of JSON. */
static void check_asked(const struct sample *then, const struct event_record *kill,
			const struct event_record *pressure)
{
	struct process member[] = {{.user = "www", .name = "web"}, {.name = "a / b"}};
	struct group_change held[] = {
		{.group = "www / web", .member = &member[0], .procs_after = 2, .after = 9 * MIB},
		{.group = "- / a / b", .member = &member[1], .procs_after = 1, .after = 4 * MIB}};
	cleanup(strbuf_done) struct strbuf text = {}, document = {};
	struct incidents_json json = {.out = &document, .group_by = "user,name"};
	struct incident i = {.number = 1,
			     .event = kill,
			     .during = &then->snapshot,
			     .table_known = true,
			     .group_by = "user,name",
			     .grew_known = {true},
			     .largest_inside = {held, 2},
			     .shmem_inside = {held + 1, 1},
			     .grew_inside = {{held, 1}}};

	i.largest[INCIDENT_NAME] = (struct group_changes){held, 1};
	i.largest[INCIDENT_ASKED] = (struct group_changes){held, 2};
	render_incidents_json_begin(&json);
	put(&text, &json, &i);
	i.event = pressure;
	put(&text, &json, &i);
	render_incidents_json_end(&json);
	golden_compare("incidents_asked.txt", strbuf_str(&text), text.len, __FILE__, __LINE__);
	golden_compare("incidents_asked.json.txt", strbuf_str(&document), document.len, __FILE__,
		       __LINE__);
}

TEST(document)
{
	cleanup(strbuf_done) struct strbuf out = {}, document = {};
	struct incidents_json json = {.out = &document};
	struct group_change groups[12];
	struct memcg before[] = {{.path = "/a", .max_known = true, .max = 9}, {.path = "/a/b"}};
	struct memcg now[] = {{.path = "/a",
			       .max_known = true,
			       .max = 12,
			       .limit_known = true,
			       .limit = 128 * MIB},
			      {.path = "/a/b",
			       .oom_kills_known = true,
			       .oom_kills = 1,
			       .limit_known = true,
			       .limit = 64 * MIB}};
	struct sample earlier, then;
	struct event_record *event[] = {make_event(EVENT_OOM_KILL, 0),
					make_event(EVENT_OOM_KILL, UINT64_MAX - 31000),
					make_event(EVENT_PRESSURE, 0),
					make_event(EVENT_PRESSURE, INT64_MAX),
					make_event(EVENT_SIGNAL, 0),
					test_calloc(1, sizeof(struct event_record)),
					test_calloc(1, sizeof(struct event_record))};
	struct incident few = {
		.number = 1, .baseline = &earlier.snapshot, .during = &then.snapshot};
	const struct incidents_text page = {
		.style = style, .columns = columns, .rows = 2, .dir = "/r"};
	struct incident whole, i;

	sample_init(&earlier);
	sample_init(&then);
	earlier.snapshot.time_ms -= 7 * 60000;
	earlier.snapshot.memcg = before;
	then.snapshot.memcg = now;
	earlier.snapshot.memcg_count = then.snapshot.memcg_count = 2;
	for (size_t n = 0; n < ARRAY_SIZE(groups); n++)
		groups[n] = (struct group_change){.group = n ? "<g>\xff" : NULL,
						  .procs_after = 3,
						  .missing = n == 2,
						  .before = 100 * n,
						  .after = 1000 * MIB - 100 * n};
	groups[11].before = 2000 * MIB;
	sample_census(&earlier);
	sample_census(&then);
	then.ram.figure[RAM_ANON].bytes += 20 * MIB;
	few.file[0] = (struct shared_file){"/dev/shm/<\xff\x1b[31m \n", "/a/b", FILE_TMPFS, 4 * MIB,
					   2 * MIB};
	few.file[1] = (struct shared_file){"memfd:frames", NULL, FILE_MEMFD, 3 * MIB, 0};
	few.file[2] = few.file[3] = (struct shared_file){"/SYSV0", "/a/b/c", FILE_SYSV, MIB, 0};
	whole = few;
	for (int key = 0; key < INCIDENT_ASKED; key++)
		whole.largest[key] = (struct group_changes){groups, (size_t)key * 6};
	for (int window = 0; window < INCIDENT_WINDOWS; window++) {
		whole.grew_known[window] = window != INCIDENT_TEN_MINUTES;
		whole.grew[window] =
			(struct group_changes){groups + (window % 3) * 5 % 10, window ? 2 : 12};
		whole.grew_inside[window] = (struct group_changes){groups + 10, 2};
	}
	whole.stall[0] = (struct incident_stall){"/a/b", "unit", "web\xff.service", 9300, 4500};
	whole.stall[1] = (struct incident_stall){"/c", "cgroup", "/c", 700, 0};
	whole.stalls = 2;
	whole.stalls_known = true;
	whole.recorded_ms = 90000;
	whole.largest_inside = (struct group_changes){groups + 10, 2};
	whole.shmem_inside = (struct group_changes){groups + 11, 1};
	whole.limits = incident_limit_events(&whole, whole.limit, INCIDENT_LIMITS);
	ram_changes_make(&earlier.ram, &then.ram, &whole.ram);
	/* Kills of a cgroup of v2, and for the limit of memory and swap of v1. */
	for (size_t n = 0; n < 2; n++) {
		event[n]->levels = 3;
		event[n]->level[0] =
			(struct event_level){30 * MIB, EVENT_UNLIMITED, 0, EVENT_UNLIMITED};
		event[n]->level[1] = (struct event_level){64 * MIB, 64 * MIB, 10 * MIB, 20 * MIB};
		event[n]->level[2] =
			(struct event_level){90 * MIB, 128 * MIB, 10 * MIB, EVENT_UNLIMITED};
		event_set(event[n], EVENT_AT_LEVEL, 1);
		event_set(event[n], EVENT_V2, n == 0);
		event_set(event[n], EVENT_SOURCE, EVENT_FROM_KERNEL + n);
		event_set_text(event[n], EVENT_LIMIT_CGROUP, "/a/b");
		event_set_text(event[n], EVENT_CGROUP, "/a/b/c");
	}
	event[1]->level[1] = (struct event_level){30 * MIB, 64 * MIB, 80 * MIB, 80 * MIB};
	/* Files of its cgroup, of the machine, and too small ones. */
	event_set(event[0], EVENT_LIMIT, 64 * MIB);
	event_set(event[1], EVENT_LIMIT, 128 * MIB);
	/* A sender that is known, and one that is not. */
	event_set(event[4], EVENT_SIGNAL_NUMBER, 9);
	event_set(event[5], EVENT_SIGNAL_NUMBER, 15);
	event_set(event[5], EVENT_KIND, EVENT_SIGNAL);
	render_incidents_json_begin(&json);
	for (size_t n = 0; n < ARRAY_SIZE(event); n++) {
		i = n == 0 || n == 2 ? whole : few;
		i.event = event[n];
		i.table_known = true;
		/* A kill right behind that of the table. */
		i.table_age_ms = n == 1 ? 400 : 0;
		i.limit_before = n == 1 ? 256 * MIB : 0;
		i.limit_before_ms = 40000;
		i.burst = n == 0   ? (struct burst){3, 1, 1, 0, 0, BEGAN, BEGAN + 40}
			  : n == 4 ? (struct burst){50, 0, 0, 18, 1044 * MIB, BEGAN, BEGAN + 900}
				   : (struct burst){1, 1};
		i.workload = n ? "/a/b/c" : "pod shop/web-0";
		i.end = n == 2 ? event[n] : NULL;
		/* Of a page: with the lines of the text. */
		json.text = n == 1 ? &page : NULL;
		i.stalls_known = n == 2 || n == 3;
		i.files = n == 3 ? 0 : 4;
		i.files_of_machine = n == 1;
		i.files_ms = n == 3 ? 0 : n ? BEGAN + 20 : BEGAN - 12000;
		put(&out, &json, &i);
	}
	i.during = NULL;
	put(&out, &json, &i);
	render_incidents_json_end(&json);
	render_incidents_point(&document, true, &then.snapshot, &whole.largest[INCIDENT_CONTAINER]);
	check_asked(&then, event[0], event[3]);
	golden_compare("incidents.txt", strbuf_str(&out), out.len, __FILE__, __LINE__);
	golden_compare("incidents.json.txt", strbuf_str(&document), document.len, __FILE__,
		       __LINE__);
	for (size_t n = 0; n < ARRAY_SIZE(event); n++)
		test_free(event[n]);
}
