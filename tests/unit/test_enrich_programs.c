// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Names of programs, from a tape: whose command line is read, and what of it is kept. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "pool_of_tape.h"
#include "enrich/enrich.h"

#define PUT(tape, key, words) tape_put(tape, key, 0, words, sizeof(words))

static void test_programs(void **state)
{
	struct process p[] = {
		{.pid = 1, .name = "bash", .comm = "bash"},
		{.pid = 2, .name = "python3.11", .comm = "python3"},
		{.pid = 3, .name = "python3.11", .comm = "python3"},
		{.pid = 4, .name = "postgres", .comm = "postgres"},
		{.pid = 5, .name = "python3 (deleted)", .comm = "python3"},
		{.pid = 6, .name = "python3", .comm = "python3", .kind = PROCESS_KTHREAD},
		{.pid = 7, .name = "python3", .comm = "python3", .program_known = true},
		{.pid = 8, .comm = "x"},
	};
	struct process *row[ARRAY_SIZE(p)];
	cleanup(snapshot_done) struct snapshot s = {};
	cleanup(round_done) struct round r = {};
	cleanup(pool_free) struct proc_pool *pool = NULL;
	struct rows rows = {row, ARRAY_SIZE(p)};
	struct tape *t = tape_blank();

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(p); i++)
		row[i] = &p[i];
	PUT(t, "1/cmdline", "bash\0-e\0/opt/a.sh\0secret");
	PUT(t, "2/cmdline", "python3\0b.py");
	tape_put(t, "3/cmdline", -EACCES, NULL, 0);
	/* Of whom the rest is, nobody asks. */
	PUT(t, "4/cmdline", "python3\0c.py");
	PUT(t, "6/cmdline", "python3\0c.py");
	PUT(t, "7/cmdline", "python3\0c.py");
	round_play(&r, t);
	pool = pool_of(&r);
	assert_int_equal(enrich_programs(pool, &s, &rows), 0);
	assert_string_equal(p[0].name, "a.sh");
	assert_string_equal(p[1].name, "b.py");
	assert_string_equal(p[2].name, "python3.11");
	assert_string_equal(p[3].name, "postgres");
	assert_string_equal(p[4].name, "python3");
	assert_string_equal(p[5].name, "python3");
	assert_string_equal(p[6].name, "python3");
	assert_null(p[7].name);
	for (size_t i = 0; i < ARRAY_SIZE(p); i++) {
		assert_null(p[i].cmdline);
		assert_int_equal(p[i].program_known, i != 7);
		assert_int_equal(tape_has_next(r.tape, i == 3 ? "4/cmdline" : "2/cmdline"), i == 3);
	}
	/* Once is enough. */
	p[0].name = "bash";
	assert_int_equal(enrich_programs(pool, &s, &rows), 0);
	assert_string_equal(p[0].name, "bash");
}

/* Where command lines are wanted as well, one reading is enough for both. */
static void test_with_cmdlines(void **state)
{
	struct process p = {.pid = 1, .name = "bash", .comm = "bash"}, *row[] = {&p};
	cleanup(snapshot_done) struct snapshot s = {};
	cleanup(round_done) struct round r = {};
	cleanup(pool_free) struct proc_pool *pool = NULL;
	struct rows rows = {row, 1};
	struct tape *t = tape_blank();

	(void)state;
	PUT(t, "1/cmdline", "bash\0a.sh");
	PUT(t, "1/cmdline", "bash\0b.sh");
	round_play(&r, t);
	pool = pool_of(&r);
	assert_int_equal(enrich_cmdlines(pool, &s, &rows), 0);
	assert_int_equal(enrich_programs(pool, &s, &rows), 0);
	assert_string_equal(p.name, "a.sh");
	assert_string_equal(p.cmdline, "bash a.sh");
	assert_true(tape_has_next(r.tape, "1/cmdline"));
}

/* A word that was cut off is nobody's name. */
static void test_cut(void **state)
{
	struct process p[] = {{.pid = 1, .name = "bash", .comm = "bash"},
			      {.pid = 2, .name = "bash", .comm = "bash"},
			      {.pid = 3, .name = "python3", .comm = "python3"}};
	struct process *row[] = {&p[0], &p[1], &p[2]};
	char text[POOL_CMDLINE_MAX] = "bash";
	cleanup(snapshot_done) struct snapshot s = {};
	cleanup(round_done) struct round r = {};
	cleanup(pool_free) struct proc_pool *pool = NULL;
	struct rows rows = {row, 3};
	struct tape *t = tape_blank();

	(void)state;
	memset(text + 5, 'x', sizeof(text) - 5);
	memcpy(text + sizeof(text) - 6, "/a.sh", 6);
	tape_put(t, "1/cmdline", 0, text, sizeof(text));
	memcpy(text + sizeof(text) - 6, "/a.shx", 6);
	tape_put(t, "2/cmdline", 0, text, sizeof(text));
	memset(text, 'y', sizeof(text));
	tape_put(t, "3/cmdline", 0, text, sizeof(text));
	round_play(&r, t);
	pool = pool_of(&r);
	assert_int_equal(enrich_programs(pool, &s, &rows), 0);
	assert_string_equal(p[0].name, "a.sh");
	assert_string_equal(p[1].name, "bash");
	assert_string_equal(p[2].name, "python3");
}

/* What is taken down of a process are no arguments, only what they made of its name. */
static void test_recorded(void **state)
{
	char dir[] = "/tmp/zmem-programs-XXXXXX", command[256];
	struct process p[] = {{.pid = 1000, .name = "bash", .comm = "bash"},
			      {.pid = 1001, .name = "bash", .comm = "bash"}};
	struct process *row[] = {&p[0], &p[1]};
	cleanup(snapshot_done) struct snapshot s = {};
	cleanup(round_done) struct round r = {};
	cleanup(pool_free) struct proc_pool *pool = NULL;
	struct procfs proc = {.trusted = true, .tape = tape_blank()};
	struct pool_result result[2];
	struct rows rows = {row, 2};

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(command, sizeof(command),
		 "cd %s && mkdir 1000 && printf 'bash\\0/a/b.sh\\0secret\\0' >1000/cmdline && "
		 "ln -s 1000 self",
		 dir);
	assert_int_equal(system(command), 0);
	proc.fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	pool = proc_pool_new(&proc, 1, 5000);
	assert_int_equal(pool_read(pool, POOL_PROGRAM, false, row, 2, result), 0);
	assert_string_equal(result[0].text, "b.sh");
	assert_int_equal(result[1].status, PSS_GONE);
	free(result[0].text);
	proc_pool_free(pool);
	round_play(&r, proc.tape);
	assert_null(memmem(r.file.data, r.file.len, "secret", 6));
	pool = pool_of(&r);
	assert_int_equal(enrich_programs(pool, &s, &rows), 0);
	assert_string_equal(p[0].name, "b.sh");
	assert_string_equal(p[1].name, "bash");
	close(proc.fd);
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	assert_int_equal(system(command), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_programs),
		cmocka_unit_test(test_with_cmdlines),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_recorded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
