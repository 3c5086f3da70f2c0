// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A collector on the /proc of this machine, without a command line: rows, notices, missing pids. */
#include "unit.h"

#include <signal.h>
#include <sys/wait.h>

#include "collect/collector.h"
#include "collect/maps_read_all.h"
#include "query/query_parse.h"

struct fixture {
	struct collector collector;
	struct query query;
	struct result result;
};

static void begin(struct fixture *f)
{
	f->collector = (struct collector)COLLECTOR_CLOSED;
}

static void end(struct fixture *f)
{
	query_done(&f->query);
	collector_close(&f->collector);
}

FIXTURE(begin, end)

static void set(struct fixture *f, enum query_word word, const char *text)
{
	struct query_error error;

	assert_int_equal(query_set(&f->query, word, text, NULL, &error), 0);
}

static void set_pids(struct fixture *f, pid_t a, pid_t b)
{
	char text[64];

	snprintf(text, sizeof(text), "%d,%d,%d", a, b, a);
	set(f, QUERY_PID, text);
}

/* /proc was requested: there is no notice. */
static void open_with(struct fixture *f, const struct collect_spec *spec, const char *sort)
{
	assert_int_equal(collector_open(&f->collector, spec), 0);
	assert_int_equal(source_origin(f->collector.source), FROM_PROC);
	assert_int_equal(collector_no_proc(&f->collector), COLLECT_PROC_USABLE);
	assert_int_equal(f->collector.notices & COLLECT_NOTICE_FALLBACK, 0);
	set(f, QUERY_SORT, sort);
}

static void open_proc(struct fixture *f, enum pss_choice pss)
{
	open_with(f, &(struct collect_spec){.pss = pss, .source = SOURCE_PROC},
		  pss == PSS_NONE ? "rss" : "pss");
}

static void collect(struct fixture *f)
{
	assert_int_equal(collector_collect(&f->collector, &f->query, &f->result), 0);
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

FIXTURE_TEST(one_process)
{
	pid_t gone = ended_process();

	open_proc(f, PSS_ROLLUP);
	set_pids(f, getpid(), gone);
	collect(f);
	assert_int_equal(f->result.row_count, 1);
	assert_int_equal(f->result.rows[0].process->pid, getpid());
	assert_true(process_has(f->result.rows[0].process, COUNTER_PSS));
	assert_int_equal(f->result.rows[0].process->pss_source, PSS_FROM_ROLLUP);
	/* No names were requested. */
	assert_null(f->result.rows[0].process->cmdline);
	assert_int_equal(f->collector.missing_count, 1);
	assert_int_equal(f->collector.missing[0].pid, gone);
	assert_int_equal(f->collector.missing[0].why, COLLECT_NO_PROCESS);
	/* The missing pid is reported once. */
	collect(f);
	assert_int_equal(f->collector.missing_count, 1);
}

FIXTURE_TEST(requery)
{
	size_t all;
	pid_t child = fork();

	assert_true(child >= 0);
	if (child == 0) {
		pause();
		_exit(0);
	}
	open_proc(f, PSS_NONE);
	collect(f);
	all = f->result.row_count;
	assert_true(all >= 2);
	set_pids(f, getpid(), child);
	f->query.needs = NEEDS_CMDLINE;
	assert_int_equal(collector_requery(&f->collector, &f->query, true, &f->result), 0);
	assert_int_equal(f->result.row_count, 2);
	assert_non_null(f->result.rows[0].process->cmdline);
	/* Other rows of the same processes. */
	f->query.top = 1;
	f->query.order.reverse = true;
	assert_int_equal(collector_requery(&f->collector, &f->query, false, &f->result), 0);
	assert_int_equal(f->result.row_count, 1);
	assert_int_equal(f->result.others_count, 1);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

FIXTURE_TEST(lazy_names)
{
	const struct collect_spec spec = {
		.pss = PSS_NONE, .source = SOURCE_PROC, .lazy_names = true};
	struct process *p;

	open_with(f, &spec, "rss");
	set_pids(f, getpid(), getpid());
	f->query.needs = NEEDS_CMDLINE | NEEDS_USER;
	collect(f);
	p = f->result.rows[0].process;
	assert_null(p->cmdline);
	assert_int_equal(collector_name_rows(&f->collector, &f->query, f->result.rows, 1), 0);
	assert_non_null(strstr(p->cmdline, "test_collect_collector"));
}

TEST(pss_of_the_kernel_is_refused)
{
	const struct collect_spec spec = {.pss = PSS_KERNEL, .source = SOURCE_PROC};
	struct collector c = COLLECTOR_CLOSED;

	assert_int_equal(collector_open(&c, &spec), -ENOTSUP);
	assert_non_null(source_pss_refusal(c.source));
	collector_close(&c);
}

/* Rows that the filter rejects are counted. */
FIXTURE_TEST(pattern_without_match)
{
	open_proc(f, PSS_NONE);
	set(f, QUERY_FILTER, "^nothing of that name$");
	collect(f);
	assert_int_equal(f->result.row_count, 0);
	assert_true(f->collector.snapshot.collection.filtered > 0);
}

FIXTURE_TEST(maps)
{
	const struct maps_request each = {}, files = {.rows = MAP_ROWS_FILES};
	struct maps_read maps;

	open_proc(f, PSS_NONE);
	set_pids(f, getpid(), getpid());
	assert_int_equal(collector_begin(&f->collector, &f->query), 0);
	assert_int_equal(maps_read_all(&f->collector, &each, &maps), 0);
	assert_int_equal(maps.process[0].status, PSS_OK);
	assert_true(maps.row_count > 3);
	assert_int_equal(maps.row_count, maps.mappings);
	maps_read_done(&maps, f->collector.rows.matched.count);
	assert_int_equal(maps_read_all(&f->collector, &files, &maps), 0);
	assert_true(maps.row_count > 0 && maps.row_count < maps.mappings);
	maps_read_done(&maps, f->collector.rows.matched.count);
}

/* Without PSS from the kernel there is nothing to verify. */
FIXTURE_TEST(nothing_to_verify)
{
	open_proc(f, PSS_ROLLUP);
	set_pids(f, getpid(), getpid());
	collect(f);
	assert_int_equal(f->collector.check.verify_count, 0);
	assert_int_equal(f->collector.check.difference_count, 0);
	assert_false(f->collector.snapshot.collection.cross_check.done);
}
