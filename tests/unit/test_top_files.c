// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The files of top: rows, the cursor, the effect of keys, holders; sizes from 1×1 on. */
#include "top_rows.h"

#define FILES 40

struct files_fixture {
	struct fixture f;
	struct file_set set;
	struct files_report report;
	const struct cached_file *rows[FILES];
	char path[FILES][64];
};

static void begin(struct files_fixture *t)
{
	memset(t, 0, sizeof(*t));
	fixture_begin(&t->f, sample_ordinary);
	fixture_take(&t->f);
	for (int i = 0; i < FILES; i++) {
		struct cached_file *file = file_set_add(&t->set);

		assert_non_null(file);
		snprintf(t->path[i], sizeof(t->path[i]), i ? "/run/file%02d" : "/run/\x1b[31m\xff",
			 i);
		*file = (struct cached_file){.kind = i < 20 ? FILE_TMPFS : FILE_REGULAR,
					     .account = i < 20 ? FILE_IN_SHMEM : FILE_IN_CACHE,
					     .resident = (uint64_t)(FILES - i) * MIB,
					     .swapped = i == 1 ? 3 * MIB : 0,
					     .size = (uint64_t)(FILES - i) * MIB,
					     .inode = 100 + (uint64_t)i,
					     .mapping = 0x1000 + (uint64_t)i,
					     .files = 1,
					     .fs = i < 20 ? "tmpfs" : "ext4",
					     .path = t->path[i],
					     .mount = i < 20 ? "/run" : "/"};
	}
	for (int i = 0; i < FILES; i++)
		t->rows[i] = &t->set.file[i];
	t->report = (struct files_report){
		.snapshot = &t->f.sample.snapshot,
		.rows = t->rows,
		.row_count = FILES,
		.total = {FILES, 820 * MIB, 3 * MIB, 820 * MIB},
		.account = {[FILE_IN_SHMEM] = {20, 610 * MIB, 3 * MIB, 610 * MIB},
			    [FILE_IN_CACHE] = {20, 210 * MIB, 0, 210 * MIB}},
	};
	file_columns_default(&t->report.columns, false);
}

static void take(struct files_fixture *t)
{
	t->f.view.files.time_ms = INT64_C(1795436654400);
	t->f.view.files.read_us = 34567;
	t->f.view.files.every_us = 2000000;
	view_set_files(&t->f.view, &t->report, NULL);
}

static void end(struct files_fixture *t)
{
	file_set_done(&t->set);
	fixture_end(&t->f);
}

/* A test of a view that waits for its files. */
#define FILES_TEST(name)                                                                           \
	static void with_##name(struct files_fixture *t);                                          \
	TEST(name)                                                                                 \
	{                                                                                          \
		cleanup(end) struct files_fixture t;                                               \
                                                                                                   \
		begin(&t);                                                                         \
		assert_int_equal(press(&t.f, "l"), VIEW_ASK_FILES);                                \
		with_##name(&t);                                                                   \
	}                                                                                          \
	static void with_##name(struct files_fixture *t)

static uint64_t inode_at_cursor(const struct files_fixture *t)
{
	return view_file(&t->f.view) ? view_file(&t->f.view)->inode : 0;
}

FILES_TEST(screens)
{
	assert_true(view_shows_files(&t->f.view));
	assert_true(fixture_says(&t->f, "files: reading"));
	take(t);
	fixture_golden(&t->f, "top_files_80x24.txt");
	view_resize(&t->f.view, 140, 40);
	fixture_golden(&t->f, "top_files_140x40.txt");
	view_resize(&t->f.view, 40, 10);
	fixture_golden(&t->f, "top_files_40x10.txt");
	view_resize(&t->f.view, 80, 24);
	press(&t->f, "s");
	fixture_golden(&t->f, "top_files_sort.txt");
	assert_int_equal(press(&t->f, "\033l"), VIEW_ASK_FILES);
	assert_false(view_shows_files(&t->f.view));
	assert_null(t->f.view.files.report);
}

/* Every size in every mode: no line is too wide, and there are not too many lines. */
TEST(sizes)
{
	static const unsigned sizes[][2] = {{1, 1},	{1, 2},	      {2, 1},  {3, 3},	 {5, 4},
					    {80, 1},	{1, 80},      {40, 6}, {20, 13}, {80, 24},
					    {300, 100}, {2000, 2000}, {0, 0}};
	static const char *const keys[] = {"", "s", "?", "/x", "f[", "b", "z"};
	struct files_fixture t;

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		for (size_t k = 0; k < ARRAY_SIZE(keys); k++) {
			struct strbuf out = {};

			begin(&t);
			view_resize(&t.f.view, sizes[i][0], sizes[i][1]);
			press(&t.f, "l");
			if (k)
				take(&t);
			else
				view_set_files(&t.f.view, NULL, "names of files are private");
			press(&t.f, keys[k]);
			fixture_text(&t.f, &out);
			assert_true(t.f.screen.count >= 1);
			strbuf_clear(&out);
			if (k) {
				view_key(&t.f.view, TOP_ESCAPE);
				assert_int_equal(view_set_holders(&t.f.view, t.rows[0]), 0);
				fixture_text(&t.f, &out);
			}
			strbuf_done(&out);
			end(&t);
		}
	}
}

/* The cursor stays on its file when rows move. */
FILES_TEST(cursor)
{
	/* Keys before the first reading. */
	press(&t->f, "jkG\n");
	assert_int_equal(inode_at_cursor(t), 0);
	take(t);
	assert_int_equal(inode_at_cursor(t), 100);
	press(&t->f, "jjjk");
	assert_int_equal(inode_at_cursor(t), 102);
	for (int i = 0; i < FILES; i++)
		t->rows[i] = &t->set.file[FILES - 1 - i];
	take(t);
	assert_int_equal(inode_at_cursor(t), 102);
	/* The kernel uses the memory of the file again, for another one. */
	t->set.file[5].mapping = t->set.file[2].mapping;
	t->set.file[2].mapping = 0x2000;
	take(t);
	assert_int_equal(inode_at_cursor(t), 102);
	view_key(&t->f.view, TOP_END);
	assert_int_equal(inode_at_cursor(t), 100);
	view_key(&t->f.view, TOP_DOWN);
	assert_int_equal(inode_at_cursor(t), 100);
	/* The file is gone: the cursor stays in the list. */
	t->report.row_count = 3;
	take(t);
	assert_int_equal(inode_at_cursor(t), 137);
	view_key(&t->f.view, TOP_HOME);
	assert_int_equal(inode_at_cursor(t), 139);
	t->report.row_count = 0;
	take(t);
	assert_int_equal(inode_at_cursor(t), 0);
	assert_true(fixture_says(&t->f, "no rows"));
}

FILES_TEST(order)
{
	struct file_settings *set = &t->f.view.files.set;

	take(t);
	assert_int_equal(set->sort, -1);
	assert_int_equal(press(&t->f, ">"), VIEW_ASK_FILE_ROWS);
	assert_int_equal(set->sort, FILE_COLUMN_RESIDENT);
	press(&t->f, "<<");
	assert_int_equal(set->sort, FILE_COLUMN_NAME);
	/* Of the menu: the second line, again: reversed. */
	press(&t->f, "<");
	assert_int_equal(press(&t->f, "sjj\n"), VIEW_ASK_FILE_ROWS);
	assert_int_equal(set->sort, FILE_COLUMN_NAME);
	press(&t->f, "s");
	view_key(&t->f.view, TOP_HOME);
	press(&t->f, "j\n");
	assert_int_equal(set->sort, FILE_COLUMN_RESIDENT);
	assert_false(set->reverse);
	press(&t->f, "s\n");
	assert_true(set->reverse);
	assert_true(fixture_says(&t->f, "by RESIDENT reversed"));
	press(&t->f, "r");
	assert_false(set->reverse);
	/* A column that groups lack. */
	set->sort = FILE_COLUMN_KIND;
	press(&t->f, "g");
	assert_int_equal(set->sort, -1);
}

/* Groups in turn; Enter shows the files of one, Escape leads back to it. */
FILES_TEST(groups)
{
	struct file_settings *set = &t->f.view.files.set;

	take(t);
	for (int i = FILE_GROUP_FS; i < FILE_GROUPS; i++) {
		assert_int_equal(press(&t->f, "g"), VIEW_ASK_FILE_ROWS);
		assert_int_equal(set->group, i);
	}
	press(&t->f, "g");
	assert_int_equal(set->group, FILE_GROUP_NONE);
	press(&t->f, "g");
	t->set.file[0].name = "tmpfs";
	t->set.file[1].name = "ext4";
	t->report.group = "fs";
	t->report.row_count = 2;
	take(t);
	assert_int_equal(press(&t->f, "j\n"), VIEW_ASK_FILE_ROWS);
	assert_int_equal(set->group, FILE_GROUP_NONE);
	assert_int_equal(set->within, FILE_GROUP_FS);
	assert_string_equal(set->within_name, "ext4");
	t->report.group = NULL;
	take(t);
	assert_true(fixture_says(&t->f, "fs ext4"));
	assert_int_equal(press(&t->f, "\033"), VIEW_ASK_FILE_ROWS);
	assert_int_equal(set->group, FILE_GROUP_FS);
	assert_int_equal(set->within, FILE_GROUP_NONE);
	t->report.group = "fs";
	take(t);
	assert_string_equal(view_file(&t->f.view)->name, "ext4");
	/* From the files of a group on to the next kind. */
	press(&t->f, "\ng");
	assert_int_equal(set->group, FILE_GROUP_MOUNT);
	assert_null(set->within_name);
}

FILES_TEST(filter)
{
	take(t);
	assert_int_equal(press(&t->f, "fusr"), VIEW_ASK_FILE_ROWS);
	assert_string_equal(t->f.view.files.set.filter, "usr");
	/* The filter of processes is another one. */
	assert_string_equal(t->f.view.set.filter, "");
	assert_true(says_after(&t->f, "\n", "filter usr"));
	/* Escape clears it, and leaves then. */
	assert_int_equal(press(&t->f, "\033"), VIEW_ASK_FILE_ROWS);
	assert_true(view_shows_files(&t->f.view));
	press(&t->f, "/FILE07\n");
	assert_int_equal(inode_at_cursor(t), 107);
	assert_true(says_after(&t->f, "/nobody\n", "nobody: not found"));
	assert_int_equal(press(&t->f, "\033"), VIEW_ASK_FILES);
	assert_false(view_shows_files(&t->f.view));
}

FILES_TEST(holders)
{
	static const struct file_holder holder[] = {{71, "bash"}, {93, "\x1b[31m"}};
	struct cached_file *file;

	take(t);
	press(&t->f, "j");
	assert_int_equal(press(&t->f, "\n"), VIEW_ASK_HOLDERS);
	file = &t->set.file[1];
	file->holders_known = true;
	assert_int_equal(view_set_holders(&t->f.view, file), 0);
	assert_true(fixture_says(&t->f, "no process of this pid namespace"));
	file->holder = holder;
	file->holder_count = ARRAY_SIZE(holder);
	file->deleted = true;
	assert_int_equal(view_set_holders(&t->f.view, file), 0);
	/* Nothing is borrowed. */
	memset(t->path[1], 'x', 10);
	file->holder = NULL;
	fixture_golden(&t->f, "top_files_holders.txt");
	assert_int_equal(press(&t->f, "m"), VIEW_ASK_HOLDERS);
	assert_true(says_after(&t->f, "jjjj", "bash"));
	assert_int_equal(press(&t->f, "\033"), VIEW_ASK_FILES);
	assert_true(view_shows_files(&t->f.view));
	assert_int_equal(inode_at_cursor(t), 101);
}

/* Why there are no files; a recording has none. */
FILES_TEST(none)
{
	view_set_files(&t->f.view, NULL, "names of files are private (run as root)");
	assert_true(fixture_says(&t->f, " files: names of files are private (run as root)"));
	assert_true(says_after(&t->f, "jG\ng/x\n", "x: not found"));
	press(&t->f, "l");
	t->f.view.facts.frames = 3;
	assert_int_equal(press(&t->f, "l"), 0);
	assert_int_equal(t->f.view.mode, VIEW_LIST);
	assert_true(fixture_says(&t->f, "!files are not in a recording"));
}
