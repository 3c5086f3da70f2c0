// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The list of top: visible rows, the cursor, the effect of keys; sizes from 1×1 on. */
#include "top_rows.h"

/* Processes 100, 101, …, each smaller than the previous one. */
static void make_many(struct sample *s)
{
	static char name[SAMPLE_MAX][16];

	sample_init(s);
	for (int i = 0; i < SAMPLE_MAX; i++) {
		struct process *p;

		snprintf(name[i], sizeof(name[i]), "prog%02d", i);
		p = sample_add(s, 100 + i, 1000, i % 2 ? "alice" : "bob", name[i]);
		sample_counters(p, (uint64_t)(SAMPLE_MAX - i) * MIB, (uint64_t)i * 4 * KIB);
		sample_pss(p, PSS_FROM_KERNEL);
	}
	s->result.pss = PSS_FROM_KERNEL;
	sample_finish(s, SAMPLE_MAX);
}

static void order_rows_by_pid(struct fixture *f, bool reverse)
{
	for (size_t i = 0; i < SAMPLE_MAX; i++)
		f->rows[i] = f->sample.row[reverse ? SAMPLE_MAX - 1 - i : i];
}

TEST(screens)
{
	static const struct {
		void (*make)(struct sample *s);
		const char *golden;
		unsigned width, height;
	} is[] = {
		{make_many, "top_80x24.txt", 80, 24},  {make_many, "top_120x40.txt", 120, 40},
		{make_many, "top_40x10.txt", 40, 10},  {sample_groups, "top_groups.txt", 80, 24},
		{sample_bare, "top_bare.txt", 80, 24}, {sample_hostile, "top_hostile.txt", 80, 24},
	};
	cleanup(fixture_end) struct fixture f;

	fixture_begin(&f, make_many);
	fixture_golden(&f, "top_nothing.txt");
	for (size_t i = 0; i < ARRAY_SIZE(is); i++) {
		again(&f, is[i].make);
		size(&f, is[i].width, is[i].height);
		fixture_golden(&f, is[i].golden);
	}
}

/*
 * Every size in every pane with hostile text: no line is too wide, and there are not too many
 * lines.
 */
TEST(sizes)
{
	static const unsigned sizes[][2] = {{1, 1},	{1, 2},	      {2, 1},  {3, 3},	{5, 4},
					    {80, 1},	{1, 80},      {20, 5}, {40, 6}, {80, 24},
					    {300, 100}, {2000, 2000}, {0, 0}};
	static const char *const panes[] = {"",	 "<Enter>", "?",  "o", "s", "/x",
					    "w", "f[",	    "d9", "x", "t", "b"};
	struct fixture f;

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		for (size_t k = 0; k < ARRAY_SIZE(panes); k++) {
			fixture_begin(&f, k % 2 ? sample_hostile : make_many);
			size(&f, sizes[i][0], sizes[i][1]);
			new_rows(&f);
			keys(&f, panes[k]);
			assert_true(f.screen.count >= 1);
			assert_true(f.screen.cursor < (int)f.screen.width);
			size(&f, 80, 24);
			fixture_end(&f);
		}
	}
}

SCRIPT(moving, make_many)
{
	keys(f, "jjjk");
	keys(f, "<PgDn>");
	keys(f, "<End><Down>");
	keys(f, "<Home><Up>");
	/* A smaller screen: the cursor stays in sight. */
	keys(f, "<End>");
	size(f, 80, 1);
	/* A screen larger than all rows: no empty lines at the top. */
	size(f, 100, 50);
}

/* The cursor stays on its process when rows move, unless no key has moved it. */
SCRIPT(selection, make_many)
{
	order_rows_by_pid(f, true);
	new_rows(f);
	keys(f, "jj");
	/* The row goes out of sight, and the window stays, */
	order_rows_by_pid(f, false);
	new_rows(f);
	/* unless the row is followed. */
	keys(f, "F");
	/* Another process with the same pid is another row. The one in its place is held now. */
	f->sample.process[29].start_ns++;
	new_rows(f);
	f->sample.result.row_count = 3;
	new_rows(f);
	f->sample.result.row_count = 0;
	new_rows(f);
	keys(f, "jkGF<Enter>");
	keys(f, "q");
}

SCRIPT(order, make_many)
{
	keys(f, ">");
	keys(f, "<<");
	/* After the last column the first one follows. */
	keys(f, "<<");
	keys(f, ">");
	keys(f, "M");
	keys(f, "r");
	keys(f, "I");
	/* The menu opens at the sort column; choosing it again reverses the order. */
	keys(f, "s");
	keys(f, "<Enter>");
	keys(f, "sk<Enter>");
	keys(f, "S");
	keys(f, "N");
}

SCRIPT(groups, make_many)
{
	for (int i = 0; i < 9; i++)
		keys(f, "g");
	keys(f, "gt");
	keys(f, "g");
	/* Rows of another kind: the cursor returns to the first row. */
	keys(f, "ggggggggjjj");
	f->sample.result.group = process_field("user");
	new_rows(f);
	order_rows_by_pid(f, true);
	new_rows(f);
}

static bool has_column(struct fixture *f, bool groups, const char *key)
{
	return field_list_has(&settings(f)->columns[groups], process_field(key));
}

/* Columns that were chosen stay from processes to groups and from one kind to the next. */
TEST(chosen_columns)
{
	static const char *const chosen[] = {"pid", "threads", "rss", "name"};
	cleanup(fixture_end) struct fixture f;
	struct view_settings *set;

	fixture_begin(&f, make_many);
	view_resize(&f.view, 120, 24);
	set = settings(&f);
	keys(&f, "g");
	assert_true(has_column(&f, FOR_GROUPS, "uss") && !has_column(&f, FOR_GROUPS, "threads"));
	/* Escape leaves the groups. */
	keys(&f, "<Esc>");
	assert_null(set->group);
	set->columns[FOR_PROCESSES] = (struct field_list){};
	for (size_t i = 0; i < ARRAY_SIZE(chosen); i++) {
		const struct field *field = process_field(chosen[i]);

		field_list_append(&set->columns[FOR_PROCESSES], &field, 1);
	}
	set->chosen[FOR_PROCESSES] = true;
	keys(&f, "g");
	assert_true(has_column(&f, FOR_GROUPS, "threads") && has_column(&f, FOR_GROUPS, "procs"));
	assert_true(has_column(&f, FOR_GROUPS, "name") && !has_column(&f, FOR_GROUPS, "pid"));
	assert_false(has_column(&f, FOR_GROUPS, "uss"));
	keys(&f, "g");
	assert_true(has_column(&f, FOR_GROUPS, "threads") && has_column(&f, FOR_GROUPS, "user"));
	assert_false(has_column(&f, FOR_GROUPS, "name"));
	keys(&f, "<Esc>");
	keys(&f, "gg");
	assert_true(has_column(&f, FOR_GROUPS, "threads") && has_column(&f, FOR_GROUPS, "user"));
}

/* Enter on a group shows its processes; Escape and Backspace lead back to the same group. */
SCRIPT(within, sample_groups)
{
	static const char *const back[] = {"<Esc>", "<Back>"};

	keys(f, "jjF");
	for (size_t i = 0; i < ARRAY_SIZE(back); i++) {
		keys(f, "S<Enter>");
		f->sample.result.group = NULL;
		new_rows(f);
		keys(f, "Nj");
		keys(f, back[i]);
		f->sample.result.group = process_field("unit");
		new_rows(f);
	}
	/* A group without a name, sorted by what only groups have; then on to the next kind. */
	settings(f)->order.keys.item[0] = process_field("mem_current");
	keys(f, "j<Enter>");
	keys(f, "g");
	/* Backspace has nothing to leave. */
	keys(f, "<Back>");
}

/* A followed group that ends is named. */
SCRIPT(followed_group, sample_groups)
{
	keys(f, "jjF");
	f->sample.result.row_count = 1;
	new_rows(f);
}

/* Makes the tree of the sample with the folds of the view. */
static void new_tree(struct fixture *f, struct sums *tree)
{
	struct sample *s = &f->sample;
	cleanup(process_list_done) struct process_list rows = {};

	assert_int_equal(rows_processes(s->row, s->snapshot.count, &rows), 0);
	assert_int_equal(tree_rows(&settings(f)->order, 0, folds(f), &s->snapshot, &rows, tree), 0);
	s->result.row_count = tree->rows.count;
	memcpy(f->rows, tree->rows.item, tree->rows.count * sizeof(*f->rows));
	new_rows(f);
}

SCRIPT(folds, make_many)
{
	cleanup(sums_done) struct sums tree = {};

	for (int i = 0; i < SAMPLE_MAX; i++)
		f->sample.process[i].ppid = i < 4 ? 0 : 100 + i % 4;
	size(f, 100, 14);
	keys(f, "-");
	keys(f, "+t");
	new_tree(f, &tree);
	/* The folded row has the sum of its subtree. It stays folded at the next tick. */
	keys(f, "-");
	new_tree(f, &tree);
	new_tree(f, &tree);
	/* Its title has neither mark nor branches. */
	keys(f, "<Enter>");
	keys(f, "q");
	keys(f, "-");
	keys(f, "jj");
	keys(f, "-");
	keys(f, "kk");
	keys(f, "+");
	new_tree(f, &tree);
	keys(f, "=");
	/* All rows; another process with the same pid is not folded. */
	keys(f, "*");
	new_tree(f, &tree);
	f->sample.process[1].start_ns++;
	new_tree(f, &tree);
	new_tree(f, &tree);
	keys(f, "*");
	new_tree(f, &tree);
	keys(f, "t");
	keys(f, "*");
}

/* A key without a meaning says so; a key of another pane says which. The next key removes it. */
SCRIPT(unknown_keys, make_many)
{
	static const char *const is[] = {
		"z",	   "m",	      ".", "<F7>", "<C-a>", "<Delete>", "<Tab>", "<U+6f22>",
		"<other>", "<Enter>", "s", "y",	   "j",	    "q",	"?",	 "f",
		"j",	   "?",	      "s", "+",	   "b",	    "<Esc>",	"o",	 "g",
		"p",	   "<Esc>",   "w", "m",	   "<Esc>",
	};

	size(f, 80, 6);
	for (size_t i = 0; i < ARRAY_SIZE(is); i++)
		keys(f, is[i]);
	/* Help opens from the details, and leads back to them. */
	keys(f, "<Enter>?");
	keys(f, "?");
}

/* Available memory, pressure and swap activity; our own cost only in the help. */
SCRIPT(shortage, make_many)
{
	facts(f)->own_known = true;
	facts(f)->own_cpu = 12;
	facts(f)->own_rss = 4 * MIB;
	facts(f)->collect_us = 14250;
	facts(f)->swap_known = true;
	facts(f)->swap_in = 0;
	facts(f)->swap_out = 3 * MIB / 2;
	note(f, "swap");
	keys(f, "?");
	keys(f, "?");
	f->sample.snapshot.system.pressure = (struct memory_pressure){true, 10000, 10000};
	sample_meminfo(&f->sample.snapshot.system.meminfo, MEMINFO_AVAILABLE, 1023 * MIB);
	facts(f)->swap_in = facts(f)->swap_out = 1023 * MIB;
	note(f, "the longest values");
	f->sample.snapshot.system.pressure = (struct memory_pressure){};
	note(f, "a kernel without PSI");
}

SCRIPT(columns, make_many)
{
	size(f, 50, 6);
	size(f, 200, 6);
	keys(f, "c");
	keys(f, "c");
	/* Columns of changes come and go; a narrow screen omits rss_change. */
	keys(f, "x");
	size(f, 80, 6);
	keys(f, "xx");
	/* pid hidden, ppid shown and moved left; the choice stays at any width. */
	keys(f, "o<Enter>j<Enter>-");
	keys(f, "<Esc>");
	size(f, 20, 6);
	size(f, 80, 6);
	/* Scroll right until only the last column is left. */
	keys(f, "<Right>");
	keys(f, "<Right><Right><Right><Right><Right><Right><Right><Right><Right>");
	keys(f, "<Left>");
	keys(f, "<Left><Left><Left><Left><Left><Left><Left><Left><Left>");
}

/* Columns of -o +a and the name have room; a choice in the menu is of all columns. */
SCRIPT(added_columns, make_many)
{
	struct field_error bad;

	assert_int_equal(field_list_parse(&settings(f)->columns[0], &process_fields,
					  "+ppid,threads,uid,swap", &bad),
			 0);
	settings(f)->chosen[0] = true;
	size(f, 80, 6);
	size(f, 60, 6);
	size(f, 20, 6);
	size(f, 80, 6);
	keys(f, "<Right>");
	keys(f, "<Right><Right>");
	keys(f, "<Left><Left><Left>");
	keys(f, "o<Enter><Enter><Esc>");
}

/* All columns but the last one can be hidden. */
SCRIPT(last_column, make_many)
{
	size(f, 80, 6);
	settings(f)->columns[0].count = 1;
	keys(f, "o<Enter>");
	keys(f, " <Esc>");
}

SCRIPT(look, make_many)
{
	keys(f, "b");
	keys(f, " ");
	keys(f, "p");
	keys(f, "+");
	keys(f, "-----------");
	keys(f, "-");
	keys(f, "++++++++++++++++++++");
	keys(f, "d0.25<Enter>");
	/* Only recordings have frames. */
	keys(f, ".,");
	facts(f)->frames = 3;
	keys(f, ".");
	keys(f, ",");
	keys(f, "<C-l>");
	keys(f, "n");
	keys(f, "xx");
	facts(f)->frames = 0;
	keys(f, "Q");
}

/* The time line of a recording, and the keys that go to other moments. */
SCRIPT(timeline, sample_ordinary)
{
	struct time_gap gap = {.from_ms = 0};
	struct time_event event[2] = {{.frame = 2, .number = 2}, {.frame = 3, .number = 1}};
	struct timeline line = {.gap = &gap, .gaps = 1, .event = event, .events = 2};

	/* From 23:29:59 to 00:29:59 of the next day. */
	line.first_ms = f->sample.snapshot.time_ms - 1800000;
	line.last_ms = f->sample.snapshot.time_ms + 1800000;
	gap.from_ms = line.first_ms + 300000;
	gap.to_ms = line.first_ms + 1200000;
	event[0].time_ms = line.first_ms + 60000;
	event[1].time_ms = line.last_ms;
	facts(f)->frames = 5;
	facts(f)->frame = 1;
	facts(f)->timeline = &line;
	view_resize(&f->view, 80, 24);
	fixture_take(f);
	fixture_golden(f, "top_timeline.txt");
	/* The snapshot of an event, on a wide screen. */
	facts(f)->frame = 3;
	line.last_ms = event[1].time_ms = line.first_ms + 120000;
	view_resize(&f->view, 140, 40);
	fixture_golden(f, "top_timeline_wide.txt");
	/* A clock that was set back: times outside are at the ends. */
	line.last_ms = line.first_ms - 5000;
	note(f, "the clock was set back");
	size(f, 80, 17);
	keys(f, "]");
	keys(f, "{");
	keys(f, "e");
	keys(f, "E");
	keys(f, "@03:14");
	keys(f, "<Enter>");
	keys(f, "@<Enter>");
	facts(f)->frames = 0;
	facts(f)->timeline = NULL;
	keys(f, "e[]{}E@");
}
