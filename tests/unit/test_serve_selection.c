// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Rows, groups and history of snapshots; memory stays bounded however long serve runs. */
#include "golden.h"
#include "heap.h"
#include "metrics_text.h"
#include "sample.h"

#include "serve/history_ring.h"
#include "serve/selection.h"
#include "report/report.h"

#define SECOND UINT64_C(1000000)

static struct process *add(struct sample *s, pid_t pid, const char *name, const char *unit,
			   uint64_t pss)
{
	struct process *p = sample_add(s, pid, 0, "root", name);

	p->unit = unit;
	p->pss_status = PSS_OK;
	p->pss_source = PSS_FROM_KERNEL;
	process_set(p, COUNTER_RSS, pss * 2);
	process_set(p, COUNTER_PSS, pss);
	return p;
}

static const char *label(const struct selection *v, size_t i)
{
	return v->result.group->group(v->result.rows[i].process);
}

SAMPLE_TEST(query, sample_init)
{
	struct http_query q;
	struct selection v;

	add(s, 1, "a", "x.service", MIB);
	add(s, 2, "b", "x.service", 3 * MIB);
	add(s, 3, "c", NULL, 2 * MIB)->uid = 7;
	s->snapshot.collection.seen = 3;
	assert_int_equal(http_query_parse(&q, "top=1&user=0", false), 0);
	assert_int_equal(http_query_resolve(&q, &s->snapshot), 0);
	assert_int_equal(selection_query(&v, &s->snapshot, &q.query), 0);
	assert_int_equal(v.result.row_count, 1);
	assert_int_equal(v.result.rows[0].process->pid, 2);
	assert_int_equal(v.result.others_count, 1);
	assert_int_equal(v.result.totals.value[COUNTER_PSS], 4 * MIB);
	assert_int_equal(v.snapshot.collection.filtered, 1);
	assert_int_equal(v.snapshot.collection.reported, 1);
	assert_int_equal(v.result.pss, PSS_FROM_KERNEL);
	selection_done(&v);
	http_query_done(&q);
	assert_int_equal(http_query_parse(&q, "group_by=unit&min=3M", false), 0);
	assert_int_equal(selection_query(&v, &s->snapshot, &q.query), 0);
	assert_int_equal(v.result.row_count, 1);
	assert_string_equal(label(&v, 0), "x.service");
	selection_done(&v);
	http_query_done(&q);
}

SAMPLE_TEST(unit_then_name, sample_init)
{
	struct memcg c = {"/system.slice/x.service", true, false, 5 * MIB, 0};
	struct group_tracker t;
	struct process *p;
	struct selection v;

	assert_int_equal(group_tracker_init(&t, 10, 1), 0);
	p = add(s, 1, "a", "x.service", MIB);
	p->cgroup = c.path;
	p->controlled = true;
	p = add(s, 2, "bash", NULL, 3 * MIB);
	p->cgroup = c.path;
	p->controlled = true;
	s->snapshot.memcg = &c;
	s->snapshot.memcg_count = 1;
	assert_int_equal(selection_metrics(&v, &s->snapshot, NULL, &t, SECOND), 0);
	assert_int_equal(v.result.row_count, 2);
	assert_string_equal(label(&v, 0), "bash");
	assert_string_equal(label(&v, 1), "x.service");
	/* A group without a unit has no cgroup. */
	assert_false(process_has(v.result.rows[0].process, COUNTER_MEM_CURRENT));
	assert_int_equal(process_value(v.result.rows[1].process, COUNTER_MEM_CURRENT), 5 * MIB);
	selection_done(&v);
	group_tracker_done(&t);
}

/* A group that was large keeps its series for minutes; a new large group gets one at once. */
TEST(stays)
{
	struct group_tracker t;
	struct selection v;

	assert_int_equal(group_tracker_init(&t, 2, 1), 0);
	for (int round = 0; round < 3; round++) {
		uint64_t now = (uint64_t)(1 + round * 15) * SECOND;
		struct sample s;

		sample_init(&s);
		add(&s, 1, "old", NULL, round ? 1 * MIB : 100 * MIB);
		add(&s, 2, "second", NULL, 50 * MIB);
		add(&s, 3, "third", NULL, 40 * MIB);
		if (round == 2)
			add(&s, 4, "new", NULL, 200 * MIB);
		assert_int_equal(selection_metrics(&v, &s.snapshot, NULL, &t, now), 0);
		assert_int_equal(v.result.row_count, 2);
		assert_string_equal(label(&v, 0), round == 2 ? "new" : round ? "second" : "old");
		assert_string_equal(label(&v, 1), round == 1 ? "old" : round ? "old" : "second");
		/* Values are of the newest snapshot, and the sums are complete. */
		assert_int_equal(v.result.totals.value[COUNTER_PSS],
				 (round ? 91 : 190) * MIB + (round == 2 ? 200 * MIB : 0));
		selection_done(&v);
	}
	group_tracker_done(&t);
}

#define ROUNDS 1000
#define EACH   1000

/* A million names, each seen once, through the table and the text. */
TEST(a_million_names)
{
	static char names[EACH][24];
	struct group_tracker t;
	struct history_ring *h = calloc(1, sizeof(*h));
	size_t before = 0;

	assert_non_null(h);
	assert_int_equal(group_tracker_init(&t, 100, 5), 0);
	for (int round = 0; round < ROUNDS; round++) {
		cleanup(strbuf_done) struct strbuf out = {0};
		struct snapshot snapshot = {};
		struct selection v;

		for (int i = 0; i < EACH; i++) {
			struct process *p = snapshot_add(&snapshot);

			assert_non_null(p);
			snprintf(names[i], sizeof(names[i]), "job-%d", round * EACH + i);
			p->pid = i + 1;
			p->name = i ? names[i] : "postgres";
			process_set(p, COUNTER_RSS, i ? MIB : 50 * MIB);
			process_set(p, COUNTER_PSS, i ? MIB : 50 * MIB);
		}
		assert_int_equal(
			selection_metrics(&v, &snapshot, NULL, &t, (uint64_t)(round + 1) * SECOND),
			0);
		assert_int_equal(v.result.row_count, 100);
		assert_string_equal(label(&v, 0), "postgres");
		history_ring_add(h, &v.result);
		render_metrics(&out, &v.result, false, true, NULL);
		assert_int_equal(strbuf_error(&out), 0);
		selection_done(&v);
		snapshot_done(&snapshot);
		if (round == 10)
			before = heap_in_use();
	}
	assert_true(heap_in_use() <= before + 4096);
	assert_int_equal(t.groups.count, 400);
	assert_int_equal(h->count, HISTORY_POINTS);
	group_tracker_done(&t);
	free(h);
}

/* A result without groups. */
static const struct result none;

static void add_kill(struct kill_log *l, pid_t pid, const char *name, const char *unit,
		     unsigned missed)
{
	struct event_record e = {};

	e.time_ms = 1000 + pid;
	event_set(&e, EVENT_KIND, EVENT_OOM_KILL);
	event_set(&e, EVENT_PID, (uint64_t)pid);
	event_set(&e, EVENT_UID, 0);
	event_set(&e, EVENT_MISSED, missed);
	event_set_text(&e, EVENT_NAME, name);
	event_set_text(&e, EVENT_UNIT, unit);
	kill_log_add(l, &e, &none);
}

SAMPLE_TEST(history, sample_init)
{
	static struct history_ring h;
	cleanup(strbuf_done) struct strbuf out = {0}, unwatched = {0};
	cleanup(kill_log_done) struct kill_log kills;
	struct group_tracker t;
	struct selection v;

	assert_int_equal(group_tracker_init(&t, 100, 5), 0);
	assert_int_equal(kill_log_init(&kills, selection_group(NULL), 100), 0);
	add(s, 1, "big", NULL, 3 * MIB);
	add(s, 2, "a\"\\<\n\xff\xe2\x80\xae", NULL, MIB);
	for (int i = 0; i < 10; i++)
		add(s, 10 + i, i % 2 ? "x" : "y", NULL, KIB);
	s->snapshot.system.meminfo.have &= ~(1u << MEMINFO_SWAP_FREE);
	sample_meminfo(&s->snapshot.system.meminfo, MEMINFO_FREE, 5 * GIB);
	for (int i = 0; i < HISTORY_POINTS + 5; i++) {
		s->snapshot.time_ms = i;
		assert_int_equal(selection_metrics(&v, &s->snapshot, NULL, &t, SECOND), 0);
		history_ring_add(&h, &v.result);
		selection_done(&v);
	}
	assert_int_equal(h.count, HISTORY_POINTS);
	h.count = 1;
	history_ring_json(&h, &kills, "", true, &out);
	assert_string_equal(
		strbuf_str(&out),
		"{\"step_s\":15,\"points\":[\n{\"time_ms\":244,\"ram_used_bytes\":7516192768,"
		"\"ram_available_bytes\":9663676416,\"swap_used_bytes\":null,\"pss_bytes\":4204544,"
		"\"groups\":[{\"name\":\"big\",\"bytes\":3145728},"
		"{\"name\":\"a\\\"\\\\\\u003c\\u000a\xef\xbf\xbd\\u202e\",\"bytes\":1048576},"
		"{\"name\":\"x\",\"bytes\":5120},{\"name\":\"y\",\"bytes\":5120}]}],\"events\":[],"
		"\"events_reason\":null,\"files\":true}\n");
	h.count = 0;
	history_ring_json(&h, &kills, "no <BTF>", false, &unwatched);
	assert_string_equal(strbuf_str(&unwatched),
			    "{\"step_s\":15,\"points\":[],\"events\":null,"
			    "\"events_reason\":\"no \\u003cBTF\\u003e\",\"files\":false}\n");
	group_tracker_done(&t);
}

/* The metrics of serve itself. */
SAMPLE_TEST(self, sample_init)
{
	struct metrics_self self = {
		.collected = {11, 12, 13, 14, 15, .collections = 20, .failures = 2},
		.process = {{"collector", {1500000, 4096, 9}}, {"http", {20, 0, 8}}},
		.start_ms = 1767225599987,
		.responses = {{200, 5}, {404, 1}},
		.connections = 3,
		.groups_tracked = 7,
		.groups_error = 1234.5,
	};
	struct process process = {.kind = PROCESS_SUM, .name = "idle"};
	struct row row = {.process = &process};
	const struct result shown = {.rows = &row, .row_count = 1};
	cleanup(kill_log_done) struct kill_log log;
	struct result kills;

	assert_int_equal(kill_log_init(&log, selection_group(NULL), 2), 0);
	add_kill(&log, 1, "x", "db.service", 0);
	add_kill(&log, 2, "a\"\\\n\xff", NULL, 0);
	add_kill(&log, 3, "y", "db.service", 0);
	add_kill(&log, 4, "third", NULL, 0);
	add_kill(&log, 5, "x", "db.service", 6);
	kill_log_result(&log, &shown, &kills);
	self.kills = &kills;
	for (int open = 0; open < 2; open++) {
		cleanup(strbuf_done) struct strbuf out = {0}, end = {0};
		struct metrics_text t;
		const char *text;

		render_metrics(&out, &s->result, false, open, &self);
		text = strbuf_str(&out);
		t = metrics_read(text, out.len, open);
		if (t.wrong)
			fail_msg("%s: %.*s", t.wrong, (int)strcspn(t.at, "\n"), t.at);
		assert_non_null(strstr(text, "zmem_collect_errors_total{reason=\"raced\"} 14\n"));
		assert_non_null(
			strstr(text, "zmem_collect_errors_total{reason=\"not_seen\"} 15\n"));
		assert_non_null(strstr(text, "process_cpu_seconds_total{role=\"collector\"} 1.5"));
		assert_non_null(strstr(text, "zmem_http_requests_total{code=\"404\"} 1\n"));
		assert_non_null(strstr(text, "zmem_groups_error_bytes 1234\n"));
		assert_null(strstr(text, "process_resident_memory_bytes{role=\"http\"}"));
		strbuf_puts(&end, strstr(text, "# HELP zmem_oom_kills_watched"));
		golden_check(open ? "openmetrics_serve.txt" : "prometheus_serve.txt", &end);
		/* Kills that are not watched have no counter, not even a 0. */
		self.kills = NULL;
		strbuf_clear(&out);
		render_metrics(&out, &s->result, false, open, &self);
		text = strbuf_str(&out);
		assert_non_null(strstr(text, "zmem_oom_kills_watched 0\n"));
		assert_null(strstr(text, "zmem_oom_kills_total"));
		self.kills = &kills;
	}
}

/* ---- OOM kills ---- */

static void assert_kills(struct kill_log *l, size_t row, const char *name, unsigned kills)
{
	struct result r;

	kill_log_result(l, &none, &r);
	assert_true(row < r.row_count);
	assert_string_equal(r.group->group(r.rows[row].process), name);
	assert_int_equal(r.rows[row].procs, kills);
}

/* Kills are those of a group, or of the others if their victim is not known. */
TEST(kills)
{
	cleanup(kill_log_done) struct kill_log l;
	struct event_record unknown = {};
	struct result r;

	assert_int_equal(kill_log_init(&l, selection_group(NULL), 2), 0);
	kill_log_result(&l, &none, &r);
	assert_int_equal(r.row_count, 0);
	assert_int_equal(r.others.processes, 0);
	for (pid_t i = 0; i < 300; i++)
		add_kill(&l, i, i % 3 ? i % 3 == 1 ? "b" : "a" : "c", i % 3 ? NULL : "c.service",
			 0);
	assert_kills(&l, 0, "c.service", 100);
	assert_kills(&l, 1, "b", 100);
	assert_kills(&l, 2, "a", 100);
	/* Kills of which nothing came, and one of an unknown victim. */
	add_kill(&l, 300, "b", NULL, 7);
	event_set(&unknown, EVENT_KIND, EVENT_OOM_KILL);
	kill_log_add(&l, &unknown, &none);
	assert_kills(&l, 1, "b", 101);
	kill_log_result(&l, &none, &r);
	assert_int_equal(r.row_count, 3);
	assert_int_equal(r.others.processes, 8);
}

/* A group that is shown has a count of 0 before its first kill, and a row of its own after it. */
TEST(kills_of_shown)
{
	struct process process[] = {{.name = "x", .unit = "web.service"}, {}, {.name = "idle"}};
	struct row rows[] = {{.process = &process[0], .procs = 9},
			     {.process = &process[1], .procs = 9},
			     {.process = &process[2], .procs = 9}};
	const struct result shown = {.rows = rows, .row_count = 3};
	const unsigned want[] = {2, 1, 0, 1};
	cleanup(kill_log_done) struct kill_log l;
	struct result r;

	assert_int_equal(kill_log_init(&l, selection_group(NULL), 3), 0);
	kill_log_result(&l, &shown, &r);
	assert_int_equal(r.row_count, 3);
	for (size_t i = 0; i < r.row_count; i++)
		assert_int_equal(r.rows[i].procs, 0);
	add_kill(&l, 1, "y", "web.service", 0);
	add_kill(&l, 2, NULL, NULL, 0);
	add_kill(&l, 3, "late", NULL, 0);
	add_kill(&l, 4, "z", "web.service", 0);
	kill_log_result(&l, &shown, &r);
	assert_int_equal(r.row_count, ARRAY_SIZE(want));
	for (size_t i = 0; i < ARRAY_SIZE(want); i++)
		assert_int_equal(r.rows[i].procs, want[i]);
	assert_string_equal(r.rows[3].process->name, "late");
	/* The labels are those of the result. */
	assert_ptr_equal(r.rows[0].process, &process[0]);
	/* When it is no longer shown, its kills stay. */
	kill_log_result(&l, &none, &r);
	assert_int_equal(r.row_count, 3);
	assert_kills(&l, 0, "web.service", 2);
}

/* The kills of all rows, and of the others. */
static uint64_t sum_of_kills(const struct result *r)
{
	uint64_t sum = r->others.processes;

	for (size_t i = 0; i < r->row_count; i++)
		sum += r->rows[i].procs;
	return sum;
}

static void add_kill_beside(struct kill_log *l, const char *name, const struct result *shown)
{
	struct event_record e = {};

	event_set(&e, EVENT_PID, 1);
	event_set_text(&e, EVENT_NAME, name);
	kill_log_add(l, &e, shown);
}

/*
 * A new group takes the place of the one that is silent for the longest time and is not shown. Its
 * kills are then among the others.
 */
TEST(kills_of_forgotten)
{
	struct process process = {.name = "a"};
	struct row row = {.process = &process};
	const struct result shown = {.rows = &row, .row_count = 1};
	cleanup(kill_log_done) struct kill_log l;
	struct result r;

	assert_int_equal(kill_log_init(&l, selection_group(NULL), 1), 0);
	add_kill_beside(&l, "a", &none);
	add_kill_beside(&l, "b", &none);
	add_kill_beside(&l, "a", &none);
	add_kill_beside(&l, "c", &none);
	assert_kills(&l, 0, "a", 2);
	assert_kills(&l, 1, "c", 1);
	kill_log_result(&l, &none, &r);
	assert_int_equal(r.others.processes, 1);
	add_kill_beside(&l, "d", &shown);
	assert_kills(&l, 0, "a", 2);
	assert_kills(&l, 1, "d", 1);
	kill_log_result(&l, &none, &r);
	assert_int_equal(r.row_count, 2);
	assert_int_equal(r.others.processes, 2);
}

/* However many groups there are, no kill is lost, and no memory. */
TEST(kills_of_many_groups)
{
	cleanup(kill_log_done) struct kill_log l;
	size_t before = 0;
	struct result r;

	assert_int_equal(kill_log_init(&l, selection_group(NULL), 5), 0);
	for (unsigned i = 1; i <= 1000; i++) {
		char name[32];

		snprintf(name, sizeof(name), "group-%u", i);
		add_kill_beside(&l, i % 3 ? name : "often", &none);
		kill_log_result(&l, &none, &r);
		assert_true(r.row_count <= 10);
		assert_int_equal(sum_of_kills(&r), i);
		if (i == 20)
			before = heap_in_use();
	}
	assert_true(heap_in_use() <= before + 4096);
	assert_kills(&l, 2, "often", 333);
}

/* The names of a container and its pod stand beside the group. */
SAMPLE_TEST(kills_of_pods, sample_init)
{
	cleanup(kill_log_done) struct kill_log l;
	cleanup(strbuf_done) struct strbuf out = {0};
	struct event_record e = {};
	struct metrics_self self = {.process = {{.role = "collector"}, {.role = "http"}}};
	struct result kills;

	assert_int_equal(kill_log_init(&l, process_field("container"), 10), 0);
	event_set(&e, EVENT_PID, 1);
	event_set_text(&e, EVENT_CONTAINER, "prod/web-0/app");
	event_set_text(&e, EVENT_POD, "prod/web-0");
	event_set_text(&e, EVENT_NAMESPACE, "prod");
	kill_log_add(&l, &e, &none);
	kill_log_result(&l, &none, &kills);
	self.kills = &kills;
	render_metrics(&out, &s->result, false, false, &self);
	assert_non_null(strstr(strbuf_str(&out),
			       "zmem_oom_kills_total{group=\"prod/web-0/app\",namespace=\"prod\","
			       "pod=\"web-0\",container=\"app\"} 1\n"));
}

/* Users without a name differ by their number. */
TEST(kills_of_users)
{
	cleanup(kill_log_done) struct kill_log l;
	struct event_record e = {};
	struct result r;

	assert_int_equal(kill_log_init(&l, process_field("user"), 10), 0);
	for (unsigned i = 0; i < 6; i++) {
		e = (struct event_record){};
		event_set(&e, EVENT_PID, i + 1);
		event_set(&e, EVENT_UID, 1000 + i % 3);
		event_set_text(&e, EVENT_USER, i % 3 ? NULL : "anna");
		kill_log_add(&l, &e, &none);
	}
	assert_kills(&l, 0, "anna", 2);
	kill_log_result(&l, &none, &r);
	assert_int_equal(r.row_count, 3);
	assert_int_equal(r.rows[2].process->uid, 1002);
	assert_int_equal(r.rows[2].procs, 2);
}

/* The newest kills, oldest first. */
TEST(newest_kills)
{
	cleanup(kill_log_done) struct kill_log l;
	cleanup(strbuf_done) struct strbuf out = {0};
	struct json_writer w = {.out = &out, .html = true};
	const char *text;
	size_t count = 0;

	assert_int_equal(kill_log_init(&l, selection_group(NULL), 2), 0);
	for (pid_t i = 0; i < KILL_LOG_NEWEST + 5; i++)
		add_kill(&l, i, "</script>", NULL, 0);
	kill_log_json(&l, &w);
	text = strbuf_str(&out);
	assert_null(strstr(text, "<"));
	assert_non_null(strstr(text, "[\n{\"kind\":\"oom_kill\",\"time_ms\":1005,"));
	for (const char *at = text; (at = strstr(at, "\"victim\":{\"pid\":")); at++)
		count++;
	assert_int_equal(count, KILL_LOG_NEWEST);
}
