// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Program names: which command lines are read, and which part is kept. */
#include "unit.h"

#include <sys/inotify.h>

#include "base/strbuf.h"
#include "enrich/enrich.h"
#include "proc_tree.h"

#define PUT(f, name, words) proc_tree_put(&(f)->tree, name, words, sizeof(words))

struct fixture {
	struct proc_tree tree;
	struct proc_pool *pool;
	struct snapshot snapshot;
	struct process *row[8];
	struct process_list rows;
};

static void begin(struct fixture *f)
{
	proc_tree_init(&f->tree);
	f->pool = proc_pool_new(&f->tree.proc, 2, 5000);
	f->rows.item = f->row;
}

static void end(struct fixture *f)
{
	proc_pool_free(f->pool);
	snapshot_done(&f->snapshot);
	proc_tree_done(&f->tree);
}

FIXTURE(begin, end)

/* They are the rows, and in the tree. */
static void set_rows(struct fixture *f, struct process *p, size_t count)
{
	for (f->rows.count = 0; f->rows.count < count; f->rows.count++) {
		f->row[f->rows.count] = &p[f->rows.count];
		proc_tree_add(&f->tree, p[f->rows.count].pid);
	}
}

static void name_programs(struct fixture *f)
{
	assert_int_equal(enrich_programs(f->pool, &f->snapshot, &f->rows), 0);
}

static void name_apps(struct fixture *f, struct app_rules *rules)
{
	assert_int_equal(enrich_apps(f->pool, rules, &f->snapshot, &f->rows), 0);
}

/* A descriptor that counts opens of the file from now on. */
static int watch_file(const struct fixture *f, const char *name)
{
	int fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", f->tree.dir, name);
	assert_true(inotify_add_watch(fd, path, IN_OPEN | IN_CLOSE) >= 0);
	return fd;
}

static size_t opened(int fd)
{
	struct inotify_event events[16];
	ssize_t n = read(fd, events, sizeof(events));

	close(fd);
	/* Two events each, because the kernel merges equal consecutive ones. */
	return n > 0 ? (size_t)n / sizeof(*events) / 2 : 0;
}

FIXTURE_TEST(programs)
{
	struct process p[] = {
		{.pid = 1, .name = "bash", .comm = "bash"},
		{.pid = 2, .name = "python3.11", .comm = "python3"},
		{.pid = 3, .name = "python3.11", .comm = "python3"},
		{.pid = 4, .name = "postgres", .comm = "postgres"},
		{.pid = 5, .name = "python3", .comm = "python3"},
		{.pid = 6, .name = "python3", .comm = "python3", .kind = PROCESS_KTHREAD},
		{.pid = 7, .name = "python3", .comm = "python3", .program_known = true},
		{.pid = 8, .comm = "x"},
	};
	static const char *const want[] = {"a.sh",    "b.py",	 "python3.11", "postgres",
					   "python3", "python3", "python3",    "none"};
	int watched[2];

	set_rows(f, p, ARRAY_SIZE(p));
	PUT(f, "1/cmdline", "bash\0-e\0/opt/a.sh\0secret");
	PUT(f, "2/cmdline", "python3\0b.py");
	/* Those of 3 and 5 cannot be read, those of the others are not read. */
	PUT(f, "4/cmdline", "python3\0c.py");
	PUT(f, "6/cmdline", "python3\0c.py");
	PUT(f, "7/cmdline", "python3\0c.py");
	watched[0] = watch_file(f, "2/cmdline");
	watched[1] = watch_file(f, "4/cmdline");
	name_programs(f);
	for (size_t i = 0; i < ARRAY_SIZE(p); i++) {
		assert_string_equal(p[i].name ? p[i].name : "none", want[i]);
		assert_null(p[i].cmdline);
		assert_int_equal(p[i].program_known, i != 7);
	}
	assert_int_equal(opened(watched[0]), 1);
	assert_int_equal(opened(watched[1]), 0);
	/* A file is read only once. */
	p[0].name = "bash";
	name_programs(f);
	assert_string_equal(p[0].name, "bash");
}

/* Command lines and names need only one read. */
FIXTURE_TEST(with_cmdlines)
{
	struct process p[] = {{.pid = 1, .name = "bash", .comm = "bash"},
			      {.pid = 2, .name = "bash", .comm = "bash"}};
	struct pool_result result[2];
	int watched;

	set_rows(f, p, 1);
	f->row[1] = &p[1];
	PUT(f, "1/cmdline", "bash\0a.sh");
	watched = watch_file(f, "1/cmdline");
	assert_int_equal(enrich_cmdlines(f->pool, &f->snapshot, &f->rows), 0);
	name_programs(f);
	assert_string_equal(p[0].name, "a.sh");
	assert_string_equal(p[0].cmdline, "bash a.sh");
	assert_int_equal(opened(watched), 1);
	/* A command line may have secrets: the result has only the name. */
	p[0].name = "bash";
	PUT(f, "1/cmdline", "bash\0/a/b.sh\0secret");
	assert_int_equal(pool_read(f->pool, POOL_PROGRAM, false, f->row, 2, result), 0);
	assert_string_equal(result[0].text, "b.sh");
	assert_int_equal(result[0].len, 4);
	assert_int_equal(result[1].status, PSS_GONE);
	free(result[0].text);
}

/* A word that was cut off is no name. */
FIXTURE_TEST(cut)
{
	struct process p[] = {{.pid = 1, .name = "bash", .comm = "bash"},
			      {.pid = 2, .name = "bash", .comm = "bash"}};
	char text[POOL_CMDLINE_MAX] = "bash";

	set_rows(f, p, ARRAY_SIZE(p));
	memset(text + 5, 'x', sizeof(text) - 5);
	memcpy(text + sizeof(text) - 6, "/a.sh", 6);
	proc_tree_put(&f->tree, "1/cmdline", text, sizeof(text));
	memcpy(text + sizeof(text) - 6, "/a.shx", 6);
	proc_tree_put(&f->tree, "2/cmdline", text, sizeof(text));
	name_programs(f);
	assert_string_equal(p[0].name, "a.sh");
	assert_string_equal(p[1].name, "bash");
}

/* The command line of process 1: a class behind a class path of this length. */
static void put_java(struct fixture *f, size_t path, const char *class)
{
	cleanup(strbuf_done) struct strbuf line = {};

	strbuf_put(&line, "java\0-cp", 9);
	strbuf_fill(&line, 'x', path);
	strbuf_printf(&line, "%c%s%c--prod", '\0', class, '\0');
	proc_tree_put(&f->tree, "1/cmdline", strbuf_str(&line), line.len + 1);
}

/* Only command lines that an app may be in are read, each once; the name of a program comes with
 * it. */
FIXTURE_TEST(apps)
{
	struct process p[] = {
		{.pid = 1, .name = "java", .comm = "java"},
		{.pid = 2, .name = "python3.11", .comm = "python3"},
		{.pid = 3, .name = "cat", .comm = "cat"},
		{.pid = 4, .name = "nginx", .comm = "nginx"},
		{.pid = 5,
		 .name = "b.py",
		 .exe_name = "node",
		 .comm = "node",
		 .program_known = true},
		{.pid = 6, .name = "java", .comm = "java", .app = "known"},
		{.pid = 7, .name = "java", .comm = "java", .kind = PROCESS_KTHREAD},
		{.pid = 8, .comm = "x"},
	};
	static const char *const want[][2] = {
		{"java", "acme.Main"},	   {"b.py", "b.py"},  {"cat", "cat"},	{"nginx", "nginx"},
		{"b.py", "shop/index.js"}, {"java", "known"}, {"java", "java"}, {"none", "none"},
	};
	int watched[2];

	set_rows(f, p, ARRAY_SIZE(p));
	put_java(f, 50000, "com.acme.Main");
	PUT(f, "2/cmdline", "python3\0b.py");
	PUT(f, "3/cmdline", "cat\0secret");
	PUT(f, "5/cmdline", "node\0/srv/shop/index.js");
	PUT(f, "6/cmdline", "java\0Other");
	PUT(f, "7/cmdline", "java\0Other");
	watched[0] = watch_file(f, "2/cmdline");
	watched[1] = watch_file(f, "3/cmdline");
	name_apps(f, NULL);
	name_programs(f);
	for (size_t i = 0; i < ARRAY_SIZE(p); i++) {
		assert_string_equal(p[i].name ? p[i].name : "none", want[i][0]);
		assert_string_equal(p[i].app ? p[i].app : "none", want[i][1]);
		assert_null(p[i].cmdline);
	}
	assert_int_equal(opened(watched[0]), 1);
	assert_int_equal(opened(watched[1]), 0);
	/* A class that is cut off is none: what is behind POOL_APP_MAX is not read. */
	p[0].app = NULL;
	put_java(f, POOL_APP_MAX - 14, "com.acme.Main");
	name_apps(f, NULL);
	assert_string_equal(p[0].app, "java");
}

/* A rule sees as much of a command line as an app without rules. */
FIXTURE_TEST(rules)
{
	static const char text[] = "billing: java .*com\\.acme\\.Billing --prod$\nnode: ^node$";
	struct process p[] = {{.pid = 1, .name = "java", .comm = "java"},
			      {.pid = 2, .name = "node", .comm = "node"}};
	struct app_rules *rules;
	const char *why;
	size_t line;

	assert_int_equal(app_rules_parse(text, strlen(text), &rules, &line, &why), 0);
	set_rows(f, p, ARRAY_SIZE(p));
	put_java(f, 20480, "com.acme.Billing");
	PUT(f, "2/cmdline", "node\0a.js");
	name_apps(f, rules);
	assert_string_equal(p[0].app, "billing");
	assert_string_equal(p[1].app, "node");
	assert_string_equal(p[1].name, "a.js");
	p[0].app = NULL;
	put_java(f, POOL_APP_MAX, "com.acme.Billing");
	name_apps(f, rules);
	assert_string_equal(p[0].app, "java");
	app_rules_free(rules);
}
