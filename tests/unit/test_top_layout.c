// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The layout of top: its text, options that win over it, and the file, which may be hostile. */
#include "unit.h"

#include "top/layout.h"

static unsigned parse(const char *text, struct layout *l)
{
	cleanup_free char *copy = malloc(strlen(text) + 1);

	/* Memory of the exact size: a sanitizer detects reads behind it. */
	memcpy(copy, text, strlen(text));
	return layout_parse(copy, strlen(text), l);
}

static void assert_text(const struct layout *l, const char *want)
{
	cleanup(strbuf_done) struct strbuf out = {};

	layout_write(l, &out);
	/* Behind the comment. */
	assert_string_equal(strchr(strbuf_str(&out), '\n') + 1, want);
}

TEST(text)
{
	static const char whole[] = "columns pid,pss,name\n"
				    "group-columns procs,pss,unit\n"
				    "sort swap,pid\n"
				    "reverse\n"
				    "group-by unit\n"
				    "interval 2.05\n";
	static const struct {
		const char *text, *again;
	} is[] = {
		{"", ""},
		{"# tree\n\n \t\r\n", ""},
		{"tree", "tree\n"},
		{"tree\ngroup-by name\n", "group-by name\n"},
		{"group-by user\ntree  \r\n", "tree\n"},
		{"sort   -rss\n", "sort rss\n"},
		{"interval .1\n", "interval 0.1\n"},
		{"interval 86400\n", "interval 86400\n"},
		{"interval 1\ninterval 1.25\n", "interval 1.25\n"},
		{"columns res\n", "columns rss\n"},
	};
	struct layout l;

	assert_int_equal(parse(whole, &l), 0);
	assert_text(&l, whole);
	assert_int_equal(l.interval_ms, 2050);
	for (size_t i = 0; i < ARRAY_SIZE(is); i++) {
		assert_int_equal(parse(is[i].text, &l), 0);
		assert_text(&l, is[i].again);
	}
}

/* Lines that are not understood are counted and change nothing. */
TEST(bad_lines)
{
	static const char *const bad[] = {
		"x",
		"tree yes",
		"reverse 1",
		"columns",
		"columns \v",
		"columns no_such",
		"columns mem_current",
		"sort",
		"sort pss,no_such",
		"group-by pss",
		"group-by",
		"interval 0",
		"interval 0.09",
		"interval 86400.001",
		"interval 1s",
		"interval -1",
		"interval 99999999999999999999",
		"interval 1e3",
		"Tree",
		"\033[2J",
		"\xff\xfe",
		" tree",
	};
	cleanup_free char *large = malloc(LAYOUT_MAX);
	struct layout l;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		assert_int_equal(parse(bad[i], &l), 1);
		assert_int_equal(l.have, 0);
	}
	assert_int_equal(layout_parse("tree\0\nreverse\n", 14, &l), 1);
	assert_int_equal(l.have, LAYOUT_REVERSE);
	assert_int_equal(layout_parse(NULL, 0, &l), 0);
	/* One long line; a list with more columns than there are. */
	memset(large, 'x', LAYOUT_MAX);
	assert_int_equal(layout_parse(large, LAYOUT_MAX, &l), 1);
	memcpy(large, "columns ", 8);
	for (size_t i = 8; i + 4 <= LAYOUT_MAX; i += 4)
		memcpy(large + i, "pid,", 4);
	assert_int_equal(layout_parse(large, 2000, &l), 1);
	assert_int_equal(l.have, 0);
}

static struct view_settings usual_settings(void)
{
	struct view_settings set = {.interval_ms = 1000};

	column_list_default(&set.columns[0], NULL);
	set.order.keys = (struct column_list){.item = {column_find("pss", 3)}, .count = 1};
	return set;
}

TEST(options_win)
{
	struct view_settings set = usual_settings();
	struct layout l;

	parse("columns pid\nsort rss\nreverse\ngroup-by user\ninterval 5\n", &l);
	layout_apply(&l,
		     LAYOUT_COLUMNS | LAYOUT_SORT | LAYOUT_REVERSE | LAYOUT_ROWS | LAYOUT_INTERVAL,
		     &set);
	assert_false(set.chosen[0] || set.order.reverse || set.group);
	assert_string_equal(set.order.keys.item[0]->key, "pss");
	assert_int_equal(set.interval_ms, 1000);
	layout_apply(&l, LAYOUT_ROWS, &set);
	assert_true(set.chosen[0] && set.order.reverse && !set.group);
	assert_string_equal(set.order.keys.item[0]->key, "rss");
	assert_int_equal(set.interval_ms, 5000);
	layout_apply(&l, 0, &set);
	assert_string_equal(set.group->key, "user");
	assert_false(set.chosen[1]);
	/* Columns of memory cgroups only for groups that have them. */
	set = usual_settings();
	parse("group-by user\ngroup-columns procs,mem_current\nsort mem_limit\n", &l);
	layout_apply(&l, 0, &set);
	assert_false(set.chosen[1]);
	assert_string_equal(set.order.keys.item[0]->key, "pss");
	parse("group-by unit\ngroup-columns procs,mem_current\nsort mem_limit\n", &l);
	layout_apply(&l, 0, &set);
	assert_true(set.chosen[1]);
	assert_string_equal(set.order.keys.item[0]->key, "mem_limit");
}

/* Only what the user changed is added; what options gave is not. */
TEST(update)
{
	struct view_settings begun = usual_settings(), now;
	struct layout l;

	parse("sort rss\ninterval 5\n", &l);
	begun.group = column_find("name", 4);
	begun.order.keys.item[0] = column_find("uss", 3);
	now = begun;
	assert_false(layout_update(&l, &begun, &now));
	now.paused = true;
	strcpy(now.filter, "x");
	assert_false(layout_update(&l, &begun, &now));
	now.interval_ms = 500;
	assert_true(layout_update(&l, &begun, &now));
	assert_text(&l, "sort rss\ninterval 0.5\n");
	now.order.reverse = true;
	now.group = NULL;
	now.tree = true;
	now.columns[0].count = 2;
	now.chosen[0] = true;
	assert_true(layout_update(&l, &begun, &now));
	assert_text(&l, "columns pid,user\nsort rss\nreverse\ntree\ninterval 0.5\n");
	/* Back to no groups and no tree: no line. */
	begun = now;
	now.tree = false;
	assert_true(layout_update(&l, &begun, &now));
	assert_text(&l, "columns pid,user\nsort rss\nreverse\ninterval 0.5\n");
}

/* ---- the file ---- */

struct home {
	char dir[64];
	struct layout_file file;
};

static void run(const struct home *h, const char *command)
{
	char text[256];

	snprintf(text, sizeof(text), "cd %s && %s", h->dir, command);
	assert_int_equal(system(text), 0);
}

static void home_begin(struct home *h)
{
	strcpy(h->dir, "/tmp/zmem-layout-XXXXXX");
	assert_non_null(mkdtemp(h->dir));
	layout_file_find(&h->file, NULL, h->dir);
}

static void home_end(struct home *h)
{
	run(h, "rm -rf .config target other");
	assert_int_equal(rmdir(h->dir), 0);
}

static int read_file(const struct home *h, char *ret, const char **ret_why)
{
	cleanup(strbuf_done) struct strbuf text = {};
	int r = layout_file_read(&h->file, &text, ret_why);

	if (r == 0)
		snprintf(ret, 64, "%s", strbuf_str(&text));
	return r;
}

static int write_file(const struct home *h, const char *content, const char **ret_why)
{
	cleanup(strbuf_done) struct strbuf text = {};

	strbuf_puts(&text, content);
	return layout_file_write(&h->file, &text, ret_why);
}

TEST(place)
{
	static char longest[PATH_MAX];
	static const struct {
		const char *config, *home, *path;
	} is[] = {
		{"/c", "/h", "/c/zmem-bpf/top"},
		{"c", "/h", "/h/.config/zmem-bpf/top"},
		{"", "h", ""},
		{NULL, NULL, ""},
		{longest, NULL, ""},
		{NULL, longest, ""},
	};
	struct layout_file f;

	memset(longest, '/', sizeof(longest) - 1);
	for (size_t i = 0; i < ARRAY_SIZE(is); i++) {
		layout_file_find(&f, is[i].config, is[i].home);
		assert_string_equal(f.path, is[i].path);
	}
}

TEST(file)
{
	const char *why;
	struct stat st;
	cleanup(home_end) struct home h;
	char text[64];

	home_begin(&h);
	assert_int_equal(read_file(&h, text, &why), -ENOENT);
	umask(0);
	assert_int_equal(write_file(&h, "tree\n", &why), 0);
	assert_int_equal(stat(h.file.path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	assert_int_equal(stat(h.file.base, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0700);
	assert_int_equal(read_file(&h, text, &why), 0);
	assert_string_equal(text, "tree\n");
	assert_int_equal(write_file(&h, "reverse\n", &why), 0);
	assert_int_equal(read_file(&h, text, &why), 0);
	assert_string_equal(text, "reverse\n");
	umask(022);
}

/* A file that another user could have made is neither read nor replaced. */
TEST(refusals)
{
	static const struct {
		const char *make, *why;
		bool as_root;
	} is[] = {
		{"chmod g+w .config/zmem-bpf/top", "other users can write to it"},
		{"chmod o+w .config/zmem-bpf/top", "other users can write to it"},
		{"chmod 777 .config/zmem-bpf", "other users can write to its directory"},
		{"chmod 1777 .config", "other users can write to its directory"},
		{"cp .config/zmem-bpf/top target && ln -sf ../../target .config/zmem-bpf/top",
		 "it is a symbolic link"},
		{"rm .config/zmem-bpf/top && mkfifo .config/zmem-bpf/top",
		 "it is not a regular file"},
		{"rm .config/zmem-bpf/top && mkdir .config/zmem-bpf/top",
		 "it is not a regular file"},
		{"head -c 16385 /dev/zero >.config/zmem-bpf/top", "it is too large"},
		{"chown 65534 .config/zmem-bpf/top", "it belongs to another user", true},
		{"chown 65534 .config/zmem-bpf", "its directory belongs to another user", true},
		{"chown 65534 .config", "its directory belongs to another user", true},
	};

	for (size_t i = 0; i < ARRAY_SIZE(is); i++) {
		const char *why = NULL;
		cleanup(home_end) struct home h;
		char text[64];

		if (is[i].as_root && geteuid() != 0)
			continue;
		home_begin(&h);
		assert_int_equal(write_file(&h, "tree\n", &why), 0);
		run(&h, is[i].make);
		assert_true(read_file(&h, text, &why) < 0);
		assert_string_equal(why, is[i].why);
		why = NULL;
		assert_true(write_file(&h, "reverse\n", &why) < 0);
		assert_string_equal(why, is[i].why);
	}
}

/* With sudo, $HOME may be another user's: nothing is made there. */
TEST(foreign_home)
{
	const char *why;
	cleanup(home_end) struct home h;

	if (geteuid() != 0)
		return;
	home_begin(&h);
	assert_int_equal(chown(h.dir, 65534, 65534), 0);
	assert_int_equal(write_file(&h, "tree\n", &why), -EPERM);
	assert_string_equal(why, "its directory belongs to another user");
	assert_int_equal(access(h.file.base, F_OK), -1);
}
