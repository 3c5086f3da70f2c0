// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The files of top: rows, the cursor, the effect of keys, holders; sizes from 1×1 on. */
#include "top_rows.h"

#define FILES 40

struct files_fixture {
	struct fixture f;
	struct file_set set;
	struct files_report report;
	struct field_list columns;
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
		.columns = &t->columns,
		.rows = t->rows,
		.row_count = FILES,
		.total = {.files = FILES,
			  .resident = 820 * MIB,
			  .swapped = 3 * MIB,
			  .size = 820 * MIB},
		.account = {[FILE_IN_SHMEM] = {.files = 20,
					       .resident = 610 * MIB,
					       .swapped = 3 * MIB,
					       .size = 610 * MIB},
			    [FILE_IN_CACHE] = {.files = 20,
					       .resident = 210 * MIB,
					       .size = 210 * MIB}},
	};
	file_list_usual(&t->columns, false);
}

static void end(struct files_fixture *t)
{
	file_set_done(&t->set);
	fixture_end(&t->f);
}

static void new_files(struct files_fixture *t)
{
	t->f.view.files.time_ms = INT64_C(1795436654400);
	t->f.view.files.read_us = 34567;
	t->f.view.files.every_us = 2000000;
	files_set(&t->f.view.files, &t->report, NULL);
	note(&t->f, "files");
}

/* The caller gives what the view asks for at the cursor. */
static void new_holders(struct files_fixture *t)
{
	const struct cached_file *file = files_row(&t->f.view.files);

	assert_int_equal(view_set_holders(&t->f.view, file ? file : t->rows[0]), 0);
	note(&t->f, "holders");
}

/* A script with a view that waits for its files. */
#define FILES_SCRIPT(name)                                                                         \
	static void with_##name(struct files_fixture *t, struct fixture *f);                       \
	TEST(name)                                                                                 \
	{                                                                                          \
		cleanup(end) struct files_fixture t;                                               \
                                                                                                   \
		begin(&t);                                                                         \
		keys(&t.f, "l");                                                                   \
		with_##name(&t, &t.f);                                                             \
		golden_check("top_files_script_" #name ".txt", &t.f.log);                          \
	}                                                                                          \
	static void with_##name(struct files_fixture *t, struct fixture *f)

FILES_SCRIPT(screens)
{
	assert_true(view_in_front(&f->view, PANE_FILES));
	files_set(&f->view.files, &t->report, NULL);
	new_files(t);
	fixture_golden(f, "top_files_80x24.txt");
	view_resize(&f->view, 140, 40);
	fixture_golden(f, "top_files_140x40.txt");
	view_resize(&f->view, 40, 10);
	fixture_golden(f, "top_files_40x10.txt");
	view_resize(&f->view, 80, 24);
	press(f, "s");
	fixture_golden(f, "top_files_sort.txt");
	keys(f, "<Esc>l");
	assert_false(view_in_front(&f->view, PANE_FILES));
}

/* Every size in every pane: no line is too wide, and there are not too many lines. */
TEST(sizes)
{
	static const unsigned sizes[][2] = {{1, 1},	{1, 2},	      {2, 1},  {3, 3},	 {5, 4},
					    {80, 1},	{1, 80},      {40, 6}, {20, 13}, {80, 24},
					    {300, 100}, {2000, 2000}, {0, 0}};
	static const char *const pressed[] = {"", "s", "?", "/x", "f[", "b", "z"};
	struct files_fixture t;

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		for (size_t k = 0; k < ARRAY_SIZE(pressed); k++) {
			begin(&t);
			view_resize(&t.f.view, sizes[i][0], sizes[i][1]);
			press(&t.f, "l");
			files_set(&t.f.view.files, NULL, "names of files are private");
			if (k)
				new_files(&t);
			keys(&t.f, pressed[k]);
			assert_true(t.f.screen.count >= 1);
			if (k) {
				keys(&t.f, "<Esc>");
				new_holders(&t);
			}
			end(&t);
		}
	}
}

/* The cursor stays on its file when rows move. */
FILES_SCRIPT(cursor)
{
	size(f, 80, 10);
	/* Keys before the first reading. */
	keys(f, "jkG<Enter>");
	new_files(t);
	keys(f, "jjjk");
	for (int i = 0; i < FILES; i++)
		t->rows[i] = &t->set.file[FILES - 1 - i];
	new_files(t);
	/* The kernel uses the memory of the file again, for another one. */
	t->set.file[5].mapping = t->set.file[2].mapping;
	t->set.file[2].mapping = 0x2000;
	new_files(t);
	keys(f, "<End>");
	keys(f, "<Down>");
	/* The file is gone: the cursor stays in the list. */
	t->report.row_count = 6;
	new_files(t);
	keys(f, "<Home>");
	t->report.row_count = 0;
	new_files(t);
}

FILES_SCRIPT(order)
{
	size(f, 80, 16);
	new_files(t);
	keys(f, ">");
	keys(f, "<<");
	/* Of the menu: the second line, again: reversed. */
	keys(f, "<");
	keys(f, "sjj<Enter>");
	keys(f, "s<Home>j<Enter>");
	keys(f, "s<Enter>");
	keys(f, "r");
	/* A column that groups lack. */
	keys(f, ">>>");
	keys(f, "g");
}

/* Groups in turn; Enter shows the files of one, Escape leads back to it. */
FILES_SCRIPT(groups)
{
	size(f, 80, 16);
	new_files(t);
	for (int i = FILE_GROUP_FS; i <= FILE_GROUPS; i++)
		keys(f, "g");
	keys(f, "g");
	t->set.file[0].name = "tmpfs";
	t->set.file[1].name = "ext4";
	t->report.group = "fs";
	t->report.row_count = 2;
	new_files(t);
	keys(f, "j<Enter>");
	t->report.group = NULL;
	new_files(t);
	keys(f, "<Esc>");
	t->report.group = "fs";
	new_files(t);
	/* From the files of a group on to the next kind. */
	keys(f, "<Enter>g");
}

FILES_SCRIPT(filter)
{
	size(f, 80, 16);
	new_files(t);
	/* The filter of processes is another one. */
	keys(f, "fusr");
	assert_string_equal(settings(f)->filter, "");
	keys(f, "<Enter>");
	/* Escape clears it, and leaves then. */
	keys(f, "<Esc>");
	keys(f, "/FILE07<Enter>");
	keys(f, "/nobody<Enter>");
	keys(f, "<Esc>");
}

FILES_SCRIPT(holders)
{
	static const struct file_holder holder[] = {{.pid = 71, .comm = "x", .name = "bash"},
						    {.pid = 93, .comm = "\x1b[31m"}};
	struct cached_file *file = &t->set.file[1];

	new_files(t);
	keys(f, "j<Enter>");
	file->holders_known = true;
	new_holders(t);
	file->holder = holder;
	file->holder_count = ARRAY_SIZE(holder);
	file->deleted = true;
	new_holders(t);
	/* Nothing is borrowed. */
	memset(t->path[1], 'x', 10);
	file->holder = NULL;
	fixture_golden(f, "top_files_holders.txt");
	keys(f, "m");
	size(f, 80, 6);
	keys(f, "jjjj");
	keys(f, "<Esc>");
	assert_true(view_in_front(&f->view, PANE_FILES));
}

/* Why there are no files; a recording has none. */
FILES_SCRIPT(none)
{
	size(f, 80, 10);
	files_set(&t->f.view.files, NULL, "names of files are private (run as root)");
	note(f, "no files");
	keys(f, "jG<Enter>g/x<Enter>");
	keys(f, "l");
	facts(f)->frames = 3;
	keys(f, "l");
}
