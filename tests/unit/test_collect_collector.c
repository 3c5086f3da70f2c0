// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A collector on the /proc of this machine, without a command line: rows, notices, missing pids. */
#include "unit.h"

#include <signal.h>
#include <sys/wait.h>

#include "collect/collector.h"
#include "collect/maps_read_all.h"
#include "collect/collector_internal.h"
#include "query/query_parse.h"

struct scene {
	struct collector collector;
	struct query query;
	struct result result;
};

static void open_proc(struct scene *s, enum pss_choice pss)
{
	const struct collect_spec spec = {.pss = pss, .source = SOURCE_PROC};

	*s = (struct scene){.collector = COLLECTOR_CLOSED};
	assert_int_equal(collector_open(&s->collector, &spec), 0);
	assert_int_equal(source_origin(s->collector.source), FROM_PROC);
	assert_int_equal(collector_no_proc(&s->collector), COLLECT_PROC_USABLE);
	/* /proc was requested: there is no notice. */
	assert_int_equal(s->collector.notices & COLLECT_NOTICE_FALLBACK, 0);
}

static void scene_done(struct scene *s)
{
	query_done(&s->query);
	collector_close(&s->collector);
}

static void set(struct scene *s, enum query_word word, const char *text)
{
	struct query_error error;

	assert_int_equal(query_set(&s->query, word, text, NULL, &error), 0);
}

static void set_pids(struct scene *s, pid_t a, pid_t b)
{
	char text[64];

	snprintf(text, sizeof(text), "%d,%d,%d", a, b, a);
	set(s, QUERY_PID, text);
}

/* A process that ended and was waited for; its pid is not reused soon. */
static pid_t ended_process(void)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0)
		_exit(0);
	waitpid(pid, NULL, 0);
	return pid;
}

TEST(one_process)
{
	struct scene s;
	pid_t gone = ended_process();

	open_proc(&s, PSS_ROLLUP);
	set(&s, QUERY_SORT, "pss");
	set_pids(&s, getpid(), gone);
	assert_int_equal(collector_collect(&s.collector, &s.query, &s.result), 0);
	assert_int_equal(s.result.row_count, 1);
	assert_int_equal(s.result.rows[0]->pid, getpid());
	assert_true(process_has(s.result.rows[0], COUNTER_PSS));
	assert_int_equal(s.result.rows[0]->pss_source, PSS_FROM_ROLLUP);
	/* No names were requested. */
	assert_null(s.result.rows[0]->cmdline);
	assert_int_equal(s.collector.missing_count, 1);
	assert_int_equal(s.collector.missing[0].pid, gone);
	assert_int_equal(s.collector.missing[0].why, COLLECT_NO_PROCESS);
	/* The missing pid is reported once. */
	assert_int_equal(collector_collect(&s.collector, &s.query, &s.result), 0);
	assert_int_equal(s.collector.missing_count, 1);
	scene_done(&s);
}

TEST(requery)
{
	struct scene s;
	size_t all;
	pid_t child = fork();

	assert_true(child >= 0);
	if (child == 0) {
		pause();
		_exit(0);
	}
	open_proc(&s, PSS_NONE);
	set(&s, QUERY_SORT, "rss");
	assert_int_equal(collector_collect(&s.collector, &s.query, &s.result), 0);
	all = s.result.row_count;
	assert_true(all >= 2);
	set_pids(&s, getpid(), child);
	s.query.needs = NEEDS_CMDLINE;
	assert_int_equal(collector_requery(&s.collector, &s.query, true, &s.result), 0);
	assert_int_equal(s.result.row_count, 2);
	assert_non_null(s.result.rows[0]->cmdline);
	/* Other rows of the same processes. */
	s.query.top = 1;
	s.query.order.reverse = true;
	assert_int_equal(collector_requery(&s.collector, &s.query, false, &s.result), 0);
	assert_int_equal(s.result.row_count, 1);
	assert_int_equal(s.result.others_count, 1);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	scene_done(&s);
}

TEST(lazy_names)
{
	const struct collect_spec spec = {
		.pss = PSS_NONE, .source = SOURCE_PROC, .lazy_names = true};
	struct scene s = {.collector = COLLECTOR_CLOSED};
	struct process *row;

	assert_int_equal(collector_open(&s.collector, &spec), 0);
	set(&s, QUERY_SORT, "rss");
	set_pids(&s, getpid(), getpid());
	s.query.needs = NEEDS_CMDLINE | NEEDS_USER;
	assert_int_equal(collector_collect(&s.collector, &s.query, &s.result), 0);
	row = s.result.rows[0];
	assert_null(row->cmdline);
	assert_int_equal(collector_name_rows(&s.collector, &s.query, &row, 1), 0);
	assert_non_null(strstr(row->cmdline, "test_collect_collector"));
	scene_done(&s);
}

/* Names that the spec asks for, whatever the query shows. */
TEST(names_of_spec)
{
	const struct collect_spec spec = {
		.pss = PSS_NONE, .source = SOURCE_PROC, .names = NEEDS_CMDLINE};
	struct scene s = {.collector = COLLECTOR_CLOSED};

	assert_int_equal(collector_open(&s.collector, &spec), 0);
	set(&s, QUERY_SORT, "rss");
	set_pids(&s, getpid(), getpid());
	assert_int_equal(collector_collect(&s.collector, &s.query, &s.result), 0);
	assert_non_null(s.result.rows[0]->cmdline);
	scene_done(&s);
}

TEST(pss_of_the_kernel_is_refused)
{
	const struct collect_spec spec = {.pss = PSS_KERNEL, .source = SOURCE_PROC};
	struct collector c = COLLECTOR_CLOSED;

	assert_int_equal(collector_open(&c, &spec), -ENOTSUP);
	assert_non_null(collector_pss_refusal(&c));
	collector_close(&c);
}

/* Rows that the filter rejects are counted. */
TEST(pattern_without_match)
{
	struct scene s;

	open_proc(&s, PSS_NONE);
	set(&s, QUERY_SORT, "rss");
	set(&s, QUERY_FILTER, "^nothing of that name$");
	assert_int_equal(collector_collect(&s.collector, &s.query, &s.result), 0);
	assert_int_equal(s.result.row_count, 0);
	assert_true(s.collector.snapshot.collection.filtered > 0);
	scene_done(&s);
}

TEST(maps)
{
	const struct maps_request each = {}, files = {.rows = MAP_ROWS_FILES};
	struct maps_read maps;
	struct scene s;

	open_proc(&s, PSS_NONE);
	set(&s, QUERY_SORT, "rss");
	set_pids(&s, getpid(), getpid());
	assert_int_equal(collector_begin(&s.collector, &s.query), 0);
	assert_int_equal(maps_read_all(&s.collector, &each, &maps), 0);
	assert_int_equal(maps.process[0].status, PSS_OK);
	assert_true(maps.row_count > 3);
	assert_int_equal(maps.row_count, maps.mappings);
	maps_read_done(&maps, s.collector.rows.chosen.count);
	assert_int_equal(maps_read_all(&s.collector, &files, &maps), 0);
	assert_true(maps.row_count > 0 && maps.row_count < maps.mappings);
	maps_read_done(&maps, s.collector.rows.chosen.count);
	scene_done(&s);
}

/* Without PSS from the kernel there is nothing to verify. */
TEST(nothing_to_verify)
{
	struct process *chosen[1];
	struct scene s;

	open_proc(&s, PSS_ROLLUP);
	set(&s, QUERY_SORT, "pss");
	set_pids(&s, getpid(), getpid());
	assert_int_equal(collector_collect(&s.collector, &s.query, &s.result), 0);
	assert_int_equal(verify_choose(&s.collector, VERIFY_ALL, chosen), 0);
	assert_int_equal(s.collector.difference_count, 0);
	assert_false(s.collector.snapshot.collection.cross_check.done);
	scene_done(&s);
}
