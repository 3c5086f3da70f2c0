// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Program names: which command lines are read, and which part is kept. */
#include "unit.h"

#include <sys/inotify.h>

#include "enrich/enrich.h"
#include "proc_tree.h"

#define PUT(tree, name, words) proc_tree_put(tree, name, words, sizeof(words))

/* A descriptor that counts opens of the file from now on. */
static int watch_file(const struct proc_tree *t, const char *name)
{
	int fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", t->dir, name);
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

/* A tree of these processes, and the list of them. */
static void make_tree(struct proc_tree *t, struct process *p, const struct process_list *rows)
{
	proc_tree_init(t);
	for (size_t i = 0; i < rows->count; i++) {
		rows->item[i] = &p[i];
		proc_tree_add(t, p[i].pid);
	}
}

TEST(programs)
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
	struct process *row[ARRAY_SIZE(p)];
	cleanup(snapshot_done) struct snapshot s = {};
	cleanup(proc_tree_done) struct proc_tree t;
	struct proc_pool *pool;
	struct process_list rows = {row, ARRAY_SIZE(p)};
	int watched[2];

	make_tree(&t, p, &rows);
	PUT(&t, "1/cmdline", "bash\0-e\0/opt/a.sh\0secret");
	PUT(&t, "2/cmdline", "python3\0b.py");
	/* Those of 3 and 5 cannot be read, those of the others are not read. */
	PUT(&t, "4/cmdline", "python3\0c.py");
	PUT(&t, "6/cmdline", "python3\0c.py");
	PUT(&t, "7/cmdline", "python3\0c.py");
	watched[0] = watch_file(&t, "2/cmdline");
	watched[1] = watch_file(&t, "4/cmdline");
	pool = proc_pool_new(&t.proc, 2, 5000);
	assert_int_equal(enrich_programs(pool, &s, &rows), 0);
	for (size_t i = 0; i < ARRAY_SIZE(p); i++) {
		assert_string_equal(p[i].name ? p[i].name : "none", want[i]);
		assert_null(p[i].cmdline);
		assert_int_equal(p[i].program_known, i != 7);
	}
	assert_int_equal(opened(watched[0]), 1);
	assert_int_equal(opened(watched[1]), 0);
	/* A file is read only once. */
	p[0].name = "bash";
	assert_int_equal(enrich_programs(pool, &s, &rows), 0);
	assert_string_equal(p[0].name, "bash");
	proc_pool_free(pool);
}

/* Command lines and names need only one read. */
TEST(with_cmdlines)
{
	struct process p = {.pid = 1, .name = "bash", .comm = "bash"};
	struct process gone = {.pid = 2, .name = "bash", .comm = "bash"}, *row[] = {&p, &gone};
	struct pool_result result[2];
	cleanup(snapshot_done) struct snapshot s = {};
	cleanup(proc_tree_done) struct proc_tree t;
	struct proc_pool *pool;
	struct process_list rows = {row, 1};
	int watched;

	proc_tree_init(&t);
	proc_tree_add(&t, 1);
	PUT(&t, "1/cmdline", "bash\0a.sh");
	watched = watch_file(&t, "1/cmdline");
	pool = proc_pool_new(&t.proc, 2, 5000);
	assert_int_equal(enrich_cmdlines(pool, &s, &rows), 0);
	assert_int_equal(enrich_programs(pool, &s, &rows), 0);
	assert_string_equal(p.name, "a.sh");
	assert_string_equal(p.cmdline, "bash a.sh");
	assert_int_equal(opened(watched), 1);
	/* A command line may have secrets: the result has only the name. */
	p = gone;
	p.pid = 1;
	PUT(&t, "1/cmdline", "bash\0/a/b.sh\0secret");
	assert_int_equal(pool_read(pool, POOL_PROGRAM, false, row, 2, result), 0);
	assert_string_equal(result[0].text, "b.sh");
	assert_int_equal(result[0].len, 4);
	assert_int_equal(result[1].status, PSS_GONE);
	free(result[0].text);
	proc_pool_free(pool);
}

/* A word that was cut off is no name. */
TEST(cut)
{
	struct process p[] = {{.pid = 1, .name = "bash", .comm = "bash"},
			      {.pid = 2, .name = "bash", .comm = "bash"},
			      {.pid = 3, .name = "python3", .comm = "python3"}};
	struct process *row[ARRAY_SIZE(p)];
	char text[POOL_CMDLINE_MAX] = "bash";
	cleanup(snapshot_done) struct snapshot s = {};
	cleanup(proc_tree_done) struct proc_tree t;
	struct proc_pool *pool;
	struct process_list rows = {row, 3};

	make_tree(&t, p, &rows);
	memset(text + 5, 'x', sizeof(text) - 5);
	memcpy(text + sizeof(text) - 6, "/a.sh", 6);
	proc_tree_put(&t, "1/cmdline", text, sizeof(text));
	memcpy(text + sizeof(text) - 6, "/a.shx", 6);
	proc_tree_put(&t, "2/cmdline", text, sizeof(text));
	memset(text, 'y', sizeof(text));
	proc_tree_put(&t, "3/cmdline", text, sizeof(text));
	pool = proc_pool_new(&t.proc, 2, 5000);
	assert_int_equal(enrich_programs(pool, &s, &rows), 0);
	assert_string_equal(p[0].name, "a.sh");
	assert_string_equal(p[1].name, "bash");
	assert_string_equal(p[2].name, "python3");
	proc_pool_free(pool);
}

/* Only command lines that an app may be in are read, each once; the name of a program comes with
 * it. */
TEST(apps)
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
	/* The class stands behind a long class path; what is behind POOL_APP_MAX is not read. */
	static char java[POOL_APP_MAX + 100] = "java";
	struct process *row[ARRAY_SIZE(p)];
	cleanup(snapshot_done) struct snapshot s = {};
	cleanup(proc_tree_done) struct proc_tree t;
	struct proc_pool *pool;
	struct process_list rows = {row, ARRAY_SIZE(p)};
	int watched[2];

	make_tree(&t, p, &rows);
	strcpy(java + 5, "-cp");
	memset(java + 9, 'x', 50000);
	strcpy(java + 50010, "com.acme.Main");
	memset(java + 50024, 'y', sizeof(java) - 50024);
	proc_tree_put(&t, "1/cmdline", java, sizeof(java));
	PUT(&t, "2/cmdline", "python3\0b.py");
	PUT(&t, "3/cmdline", "cat\0secret");
	PUT(&t, "5/cmdline", "node\0/srv/shop/index.js");
	PUT(&t, "6/cmdline", "java\0Other");
	PUT(&t, "7/cmdline", "java\0Other");
	watched[0] = watch_file(&t, "2/cmdline");
	watched[1] = watch_file(&t, "3/cmdline");
	pool = proc_pool_new(&t.proc, 2, 5000);
	assert_int_equal(enrich_apps(pool, NULL, &s, &rows), 0);
	assert_int_equal(enrich_programs(pool, &s, &rows), 0);
	for (size_t i = 0; i < ARRAY_SIZE(p); i++) {
		assert_string_equal(p[i].name ? p[i].name : "none", want[i][0]);
		assert_string_equal(p[i].app ? p[i].app : "none", want[i][1]);
		assert_null(p[i].cmdline);
	}
	assert_int_equal(opened(watched[0]), 1);
	assert_int_equal(opened(watched[1]), 0);
	/* A class that is cut off is none. */
	p[0].app = NULL;
	memset(java + 9, 'x', POOL_APP_MAX - 14);
	strcpy(java + POOL_APP_MAX - 4, "com.acme.Main");
	proc_tree_put(&t, "1/cmdline", java, sizeof(java));
	assert_int_equal(enrich_apps(pool, NULL, &s, &rows), 0);
	assert_string_equal(p[0].app, "java");
	proc_pool_free(pool);
}

/* A rule sees as much of a command line as an app without rules: the class is behind 20 KiB. */
TEST(rules)
{
	static const char text[] = "billing: java .*com\\.acme\\.Billing --prod$\nnode: ^node$";
	static char java[POOL_APP_MAX + 100] = "java";
	struct process p[] = {{.pid = 1, .name = "java", .comm = "java"},
			      {.pid = 2, .name = "node", .comm = "node"}};
	struct process *row[ARRAY_SIZE(p)];
	cleanup(snapshot_done) struct snapshot s = {};
	cleanup(proc_tree_done) struct proc_tree t;
	struct process_list rows = {row, ARRAY_SIZE(p)};
	struct app_rules *rules;
	struct proc_pool *pool;
	const char *why;
	size_t line;

	make_tree(&t, p, &rows);
	assert_int_equal(app_rules_parse(text, strlen(text), &rules, &line, &why), 0);
	strcpy(java + 5, "-cp");
	memset(java + 9, 'x', 20480);
	strcpy(java + 20490, "com.acme.Billing");
	strcpy(java + 20507, "--prod");
	proc_tree_put(&t, "1/cmdline", java, 20514);
	PUT(&t, "2/cmdline", "node\0a.js");
	pool = proc_pool_new(&t.proc, 2, 5000);
	assert_int_equal(enrich_apps(pool, rules, &s, &rows), 0);
	assert_string_equal(p[0].app, "billing");
	assert_string_equal(p[1].app, "node");
	assert_string_equal(p[1].name, "a.js");
	/* What is behind POOL_APP_MAX is not read. */
	p[0].app = NULL;
	memset(java + 9, 'x', POOL_APP_MAX);
	strcpy(java + POOL_APP_MAX + 10, "com.acme.Billing");
	strcpy(java + POOL_APP_MAX + 27, "--prod");
	proc_tree_put(&t, "1/cmdline", java, POOL_APP_MAX + 34);
	assert_int_equal(enrich_apps(pool, rules, &s, &rows), 0);
	assert_string_equal(p[0].app, "java");
	proc_pool_free(pool);
	app_rules_free(rules);
}
