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

static void reverse_rows(struct fixture *f)
{
	for (size_t i = 0; i < SAMPLE_MAX; i++)
		f->rows[i] = f->sample.row[SAMPLE_MAX - 1 - i];
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
		fixture_again(&f, is[i].make);
		view_resize(&f.view, is[i].width, is[i].height);
		fixture_golden(&f, is[i].golden);
	}
}

/*
 * Every size in every mode with hostile text: no line is too wide, and there are not too many
 * lines.
 */
TEST(sizes)
{
	static const unsigned sizes[][2] = {{1, 1},	{1, 2},	      {2, 1},  {3, 3},	{5, 4},
					    {80, 1},	{1, 80},      {20, 5}, {40, 6}, {80, 24},
					    {300, 100}, {2000, 2000}, {0, 0}};
	static const char *const modes[] = {"",	 "\n", "?",  "o", "s", "/x",
					    "w", "f[", "d9", "x", "t", "b"};
	struct fixture f;

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		for (size_t k = 0; k < ARRAY_SIZE(modes); k++) {
			struct strbuf out = {};

			fixture_begin(&f, k % 2 ? sample_hostile : make_many);
			view_resize(&f.view, sizes[i][0], sizes[i][1]);
			fixture_take(&f);
			press(&f, modes[k]);
			fixture_text(&f, &out);
			assert_true(f.screen.count >= 1);
			assert_true(f.screen.cursor < (int)f.screen.width);
			strbuf_done(&out);
			view_resize(&f.view, 80, 24);
			fixture_text(&f, &out);
			strbuf_done(&out);
			fixture_end(&f);
		}
	}
}

static void assert_place(struct fixture *f, size_t first, size_t count)
{
	size_t is_first, is_count;

	view_place(&f->view, &is_first, &is_count);
	assert_int_equal(is_first, first);
	assert_int_equal(is_count, count);
}

VIEW_TEST(moving, make_many)
{
	assert_int_equal(view_page(&f->view), 24 - 8);
	assert_int_equal(pid_at_cursor(f), 100);
	assert_int_equal(pid_after(f, "jjjk"), 102);
	view_key(&f->view, TOP_PAGE_DOWN);
	assert_int_equal(pid_at_cursor(f), 118);
	assert_place(f, 3, 16);
	view_key(&f->view, TOP_END);
	assert_int_equal(pid_at_cursor(f), 131);
	view_key(&f->view, TOP_DOWN);
	assert_int_equal(pid_at_cursor(f), 131);
	view_key(&f->view, TOP_HOME);
	view_key(&f->view, TOP_UP);
	assert_int_equal(pid_at_cursor(f), 100);
	assert_place(f, 0, 16);
	/* A smaller screen: the cursor stays in sight. */
	view_key(&f->view, TOP_END);
	view_resize(&f->view, 80, 1);
	assert_place(f, 31, 1);
	/* A screen larger than all rows: no empty lines at the top. */
	view_resize(&f->view, 300, 100);
	assert_place(f, 0, SAMPLE_MAX);
}

/* The cursor stays on its process when rows move, unless no key has moved it. */
VIEW_TEST(selection, make_many)
{
	reverse_rows(f);
	fixture_take(f);
	assert_int_equal(pid_at_cursor(f), 131);
	assert_int_equal(pid_after(f, "jj"), 129);
	for (size_t i = 0; i < SAMPLE_MAX; i++)
		f->rows[i] = f->sample.row[i];
	fixture_take(f);
	assert_int_equal(pid_at_cursor(f), 129);
	/* The row went out of sight, and the window stays, */
	assert_place(f, 0, 16);
	/* unless the row is followed. */
	press(f, "F");
	assert_place(f, 14, 16);
	assert_true(fixture_says(f, "following 129"));
	/* Another process with the same pid is another row. */
	f->sample.process[29].start_ns++;
	fixture_take(f);
	assert_false(f->view.follow);
	assert_true(fixture_says(f, "!129 is gone"));
	/* The row that took its place is held now. */
	assert_int_equal(pid_at_cursor(f), 129);
	f->sample.result.row_count = 3;
	fixture_take(f);
	assert_int_equal(pid_at_cursor(f), 102);
	f->sample.result.row_count = 0;
	fixture_take(f);
	assert_int_equal(pid_at_cursor(f), -1);
	assert_int_equal(press(f, "jkGF\nq"), VIEW_ASK_QUIT);
	assert_true(fixture_says(f, "no rows"));
}

static const char *sorted_by(struct fixture *f, const char *keys)
{
	press(f, keys);
	return f->view.set.order.keys.item[0]->key;
}

VIEW_TEST(order_keys, make_many)
{
	assert_int_equal(press(f, ">"), VIEW_ASK_ROWS);
	assert_string_equal(sorted_by(f, ""), "%pss");
	assert_string_equal(sorted_by(f, "<<"), "user");
	/* After the last column the first one follows. */
	assert_string_equal(sorted_by(f, "<<"), "name");
	assert_string_equal(sorted_by(f, ">"), "pid");
	assert_string_equal(sorted_by(f, "M"), "pss");
	assert_int_equal(press(f, "r"), VIEW_ASK_ROWS);
	assert_true(f->view.set.order.reverse);
	press(f, "I");
	assert_false(f->view.set.order.reverse);
	/* The menu opens at the sort column; choosing it again reverses the order. */
	press(f, "s\n");
	assert_true(f->view.set.order.reverse);
	assert_int_equal(f->view.mode, VIEW_LIST);
	assert_string_equal(sorted_by(f, "sk\n"), "uss");
}

VIEW_TEST(group_keys, make_many)
{
	static const char *const key[] = {"name", "user",      "unit",	"container",
					  "pod",  "namespace", "cgroup"};

	for (size_t i = 0; i < ARRAY_SIZE(key); i++) {
		assert_int_equal(press(f, "g"), VIEW_ASK_ROWS);
		assert_string_equal(f->view.set.group->key, key[i]);
		assert_ptr_equal(f->view.fitting.item[f->view.fitting.count - 1],
				 f->view.set.group);
	}
	press(f, "g");
	assert_null(f->view.set.group);
	press(f, "gt");
	assert_null(f->view.set.group);
	assert_true(f->view.set.tree);
	press(f, "g");
	assert_false(f->view.set.tree);
	/* Rows of another kind: the cursor returns to the first row. */
	press(f, "ggggggg");
	press(f, "jjj");
	f->sample.result.group = column_find("user", 4);
	fixture_take(f);
	assert_int_equal(f->view.cursor, 0);
	assert_false(f->view.held);
}

/* Enter on a group shows its processes; Escape and Backspace lead back to the same group. */
VIEW_TEST(within, sample_groups)
{
	static const int back[] = {TOP_ESCAPE, TOP_BACKSPACE};

	for (size_t i = 0; i < ARRAY_SIZE(back); i++) {
		struct row_id id;

		press(f, i ? "" : "jjF");
		assert_true(i || fixture_says(f, "following unit odd\\xff"));
		assert_false(fixture_says(f, "following 0"));
		id = view_id(&f->view, view_row(&f->view));
		press(f, "S");
		assert_int_equal(press(f, "\n"), VIEW_ASK_FILTER);
		assert_null(f->view.set.group);
		assert_string_equal(f->view.within.group.key->key, "unit");
		assert_string_equal(f->view.within.group.text, view_row(&f->view)->unit);
		f->sample.result.group = NULL;
		fixture_take(f);
		assert_int_equal(f->view.cursor, 0);
		assert_true(fixture_says(f, "by swap  unit odd\\xff"));
		assert_true(fixture_says(f, "Esc groups"));
		press(f, "Nj");
		assert_int_equal(view_key(&f->view, back[i]), VIEW_ASK_FILTER);
		assert_null(f->view.within.group.key);
		f->sample.result.group = f->view.set.group;
		fixture_take(f);
		assert_true(view_same_id(view_id(&f->view, view_row(&f->view)), id));
		assert_string_equal(f->view.set.order.keys.item[0]->key, "swap");
		assert_true(fixture_says(f, "Enter processes"));
	}
	/* A group without a name, sorted by what only groups have; then on to the next kind. */
	f->view.set.order.keys.item[0] = column_find("mem_current", 11);
	press(f, "j\n");
	assert_null(f->view.within.group.text);
	assert_string_equal(f->view.set.order.keys.item[0]->key, "pss");
	assert_true(fixture_says(f, "  no unit"));
	assert_int_equal(press(f, "g"), VIEW_ASK_FILTER);
	assert_string_equal(f->view.set.group->key, "container");
	assert_null(f->view.within.group.key);
	/* Backspace has nothing to leave. */
	view_key(&f->view, TOP_BACKSPACE);
	assert_true(fixture_says(f, "!Backspace leads from"));
}

/* A followed group that ends is named. */
VIEW_TEST(followed_group, sample_groups)
{
	press(f, "jjF");
	f->sample.result.row_count = 1;
	fixture_take(f);
	assert_true(fixture_says(f, "!odd\\xff"));
	assert_true(fixture_says(f, "service is gone"));
}

/* Makes the tree of the sample with the folds of the view. Returns the number of rows. */
static size_t take_tree(struct fixture *f, struct sums *tree)
{
	struct sample *s = &f->sample;
	struct process_list rows = {s->row, s->snapshot.count, 0};

	assert_int_equal(
		tree_rows(&f->view.set.order, 0, &f->view.folds, &s->snapshot, &rows, tree), 0);
	s->result.row_count = tree->rows.count;
	memcpy(f->rows, tree->rows.item, tree->rows.count * sizeof(*f->rows));
	fixture_take(f);
	return f->view.count;
}

VIEW_TEST(folds, make_many)
{
	cleanup(sums_done) struct sums tree = {};

	for (int i = 0; i < SAMPLE_MAX; i++)
		f->sample.process[i].ppid = i < 4 ? 0 : 100 + i % 4;
	fixture_take(f);
	press(f, "-");
	assert_int_equal(f->view.set.interval_ms, 500);
	press(f, "+t");
	assert_int_equal(take_tree(f, &tree), SAMPLE_MAX);
	assert_int_equal(pid_at_cursor(f), 100);
	assert_int_equal(press(f, "-"), VIEW_ASK_ROWS);
	assert_int_equal(take_tree(f, &tree), SAMPLE_MAX - 7);
	assert_int_equal(pid_at_cursor(f), 100);
	assert_true(fixture_says(f, "[+7] prog00"));
	/* The folded row has the sum of its subtree. */
	assert_int_equal(view_row(&f->view)->procs, 8);
	assert_int_equal(view_row(&f->view)->value[COUNTER_RSS],
			 (32 + 28 + 24 + 20 + 16 + 12 + 8 + 4) * MIB);
	assert_int_equal(f->view.set.interval_ms, 1000);
	/* It stays folded at the next tick; its title has neither mark nor branches. */
	assert_int_equal(take_tree(f, &tree), SAMPLE_MAX - 7);
	assert_true(says_after(f, "\n", "#100 prog00  with 7 below it"));
	press(f, "q");
	assert_int_equal(press(f, "-"), 0);
	assert_true(fixture_says(f, "!100 is folded"));
	press(f, "jj");
	assert_int_equal(press(f, "-"), 0);
	assert_true(fixture_says(f, "has no processes below it"));
	press(f, "kk");
	assert_int_equal(press(f, "+"), VIEW_ASK_ROWS);
	assert_int_equal(take_tree(f, &tree), SAMPLE_MAX);
	assert_int_equal(press(f, "="), 0);
	assert_true(fixture_says(f, "!100 is not folded"));
	/* All rows; another process with the same pid is not folded. */
	press(f, "*");
	assert_int_equal(take_tree(f, &tree), 4);
	assert_int_equal(f->view.folds.count, 4);
	f->sample.process[1].start_ns++;
	take_tree(f, &tree);
	assert_int_equal(take_tree(f, &tree), 4 + 7);
	assert_int_equal(f->view.folds.count, 3);
	press(f, "*");
	assert_int_equal(take_tree(f, &tree), SAMPLE_MAX);
	press(f, "t");
	assert_true(says_after(f, "*", "of a tree (t shows it)"));
}

/* A key without a meaning says so; a key of another mode says which. */
VIEW_TEST(unknown_keys, make_many)
{
	static const struct {
		const char *keys;
		int key;
		const char *says;
	} is[] = {
		{"", 'z', "!z does nothing; ? lists the keys"},
		{"", 'm', "!m reads the mappings in the details (i shows them)"},
		{"", '.', "!. goes to another snapshot of a recording"},
		{"", TOP_F(7), "!F7 does nothing"},
		{"", TOP_CTRL('a'), "!Ctrl-A does nothing"},
		{"", TOP_DELETE, "!Delete does nothing"},
		{"", '\t', "!Tab does nothing"},
		{"", 0x6f22, "!this key does nothing"},
		{"", TOP_OTHER, "!this key does nothing"},
		{"\n", 's', "!s chooses the sort column in the list (Esc goes there)"},
		{"\n", 'y', "!y does nothing; ? lists the keys"},
		{"?", 'f', "!f filters in the list"},
		{"s", '+', "!+ moves a column in the list of columns (o shows it)"},
		{"o", 'g', "!g makes groups in the list"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(is); i++) {
		fixture_again(f, make_many);
		press(f, is[i].keys);
		assert_int_equal(view_key(&f->view, is[i].key), 0);
		assert_true(fixture_says(f, is[i].says));
		/* The next key removes it. */
		assert_false(says_after(f, "j", is[i].says));
	}
	/* Help opens from the details, and leads back to them. */
	fixture_again(f, make_many);
	press(f, "\n?");
	assert_int_equal(f->view.mode, VIEW_HELP);
	press(f, "?");
	assert_int_equal(f->view.mode, VIEW_DETAIL);
}

/* Available memory, pressure and swap activity; our own cost only in the help. */
VIEW_TEST(shortage, make_many)
{
	f->view.facts.own_known = true;
	f->view.facts.own_cpu = 12;
	f->view.facts.own_rss = 4 * MIB;
	f->view.facts.collect_us = 14250;
	fixture_take(f);
	assert_true(
		fixture_says(f, "Avail 9.00G  pressure some 1.23 % full 0.45 %  swap in - out -"));
	f->view.facts.swap_known = true;
	f->view.facts.swap_in = 0;
	f->view.facts.swap_out = 3 * MIB / 2;
	assert_true(fixture_says(f, "  swap in 0/s out 1.50M/s"));
	assert_false(fixture_says(f, "of a CPU"));
	press(f, "?");
	assert_true(fixture_says(
		f, "#Keys   this program: 1.2 % of a CPU, 4.00 MiB, 14.2 ms to collect"));
	press(f, "?");
	/* The longest values fit into 80 columns. */
	f->sample.snapshot.system.pressure = (struct memory_pressure){true, 10000, 10000};
	sample_meminfo(&f->sample.snapshot.system.meminfo, MEMINFO_AVAILABLE, 1023 * MIB);
	f->view.facts.swap_in = f->view.facts.swap_out = 1023 * MIB;
	assert_true(fixture_says(f, "full 100.00 %  swap in 1023M/s out 1023M/s\n"));
	/* A kernel without PSI. */
	f->sample.snapshot.system.pressure = (struct memory_pressure){};
	assert_true(fixture_says(f, "Avail 1023M  pressure -  swap"));
}

static bool has_column(const struct fixture *f, const char *key)
{
	for (size_t i = 0; i < f->view.fitting.count; i++) {
		if (strcmp(f->view.fitting.item[i]->key, key) == 0)
			return true;
	}
	return false;
}

VIEW_TEST(columns, make_many)
{
	assert_true(has_column(f, "uss"));
	view_resize(&f->view, 50, 24);
	assert_false(has_column(f, "uss"));
	view_resize(&f->view, 200, 24);
	assert_true(has_column(f, "uss"));
	assert_int_equal(press(f, "c"), VIEW_ASK_ROWS);
	assert_true(has_column(f, "cmdline") && !has_column(f, "name"));
	press(f, "c");
	/* Columns of changes come and go; a narrow screen omits rss_change. */
	assert_int_equal(press(f, "x"), VIEW_ASK_ROWS | VIEW_ASK_CHANGES);
	assert_true(has_column(f, "pss_change") && has_column(f, "rss_change"));
	view_resize(&f->view, 80, 24);
	assert_true(has_column(f, "pss_change") && !has_column(f, "rss_change"));
	press(f, "xx");
	assert_false(has_column(f, "pss_change"));
	/* pid hidden, ppid shown and moved left; the choice stays at any width. */
	press(f, "o\nj\n-");
	press(f, "\033");
	assert_int_equal(f->view.mode, VIEW_LIST);
	assert_true(has_column(f, "ppid") && !has_column(f, "pid"));
	assert_true(has_column(f, "uss"));
	view_resize(&f->view, 20, 24);
	assert_true(has_column(f, "uss"));
	/* Scroll right until only the last column is left. */
	for (int i = 0; i < 30; i++)
		view_key(&f->view, TOP_RIGHT);
	assert_int_equal(f->view.fitting.count, 1);
	assert_true(has_column(f, "name"));
	for (int i = 0; i < 30; i++)
		view_key(&f->view, TOP_LEFT);
	assert_int_equal(f->view.left, 0);
}

/* All columns but the last one can be hidden. */
VIEW_TEST(last_column, make_many)
{
	f->view.set.columns[0].count = 1;
	press(f, "o\n");
	assert_int_equal(f->view.set.columns[0].count, 1);
}

VIEW_TEST(look_keys, make_many)
{
	assert_true(fixture_says(f, "24.0 MiB"));
	assert_true(says_after(f, "b", "25165824"));
	assert_int_equal(press(f, " "), VIEW_ASK_INTERVAL);
	assert_true(f->view.set.paused && fixture_says(f, " paused"));
	press(f, "p");
	assert_false(f->view.set.paused);
	assert_int_equal(press(f, "+"), VIEW_ASK_INTERVAL);
	assert_int_equal(f->view.set.interval_ms, 2000);
	press(f, "-----------");
	assert_int_equal(f->view.set.interval_ms, 100);
	assert_int_equal(press(f, "-"), 0);
	assert_true(fixture_says(f, "!the interval is at least 0.1 s"));
	press(f, "++++++++++++++++++++");
	assert_int_equal(f->view.set.interval_ms, 86400000);
	assert_true(fixture_says(f, "!the interval is at most 86,400 s"));
	assert_true(says_after(f, "d0.25\n", "every 0.25 s"));
	/* Only recordings have frames. */
	assert_int_equal(press(f, ".,"), 0);
	f->view.facts.frames = 3;
	assert_int_equal(press(f, "."), VIEW_ASK_FORWARD);
	assert_int_equal(press(f, ","), VIEW_ASK_BACK);
	assert_int_equal(view_key(&f->view, TOP_CTRL('l')), VIEW_ASK_REDRAW);
	assert_int_equal(press(f, "n"), VIEW_ASK_ROWS | VIEW_ASK_CHANGES);
	assert_true(f->view.set.only_changed && f->view.set.changes == CHANGES_LAST);
	press(f, "xx");
	assert_false(f->view.set.only_changed);
}

/* The time line of a recording, and the keys that go to other moments. */
VIEW_TEST(timeline, sample_ordinary)
{
	struct time_gap gap = {.from_ms = 0};
	struct time_event event[2] = {{.frame = 2}, {.frame = 3}};
	struct timeline line = {.gap = &gap, .gaps = 1, .event = event, .events = 2};

	/* From 23:29:59 to 00:29:59 of the next day. */
	line.first_ms = f->sample.snapshot.time_ms - 1800000;
	line.last_ms = f->sample.snapshot.time_ms + 1800000;
	gap.from_ms = line.first_ms + 300000;
	gap.to_ms = line.first_ms + 1200000;
	event[0].time_ms = line.first_ms + 60000;
	event[1].time_ms = line.last_ms;
	f->view.facts.frames = 5;
	f->view.facts.frame = 1;
	f->view.facts.timeline = &line;
	fixture_take(f);
	fixture_golden(f, "top_timeline.txt");
	/* The snapshot of an event, on a wide screen. */
	f->view.facts.frame = 3;
	line.last_ms = event[1].time_ms = line.first_ms + 120000;
	view_resize(&f->view, 140, 40);
	fixture_golden(f, "top_timeline_wide.txt");
	/* A clock that was set back: times outside are at the ends. */
	line.last_ms = line.first_ms - 5000;
	assert_true(fixture_says(f, "["));
	view_resize(&f->view, 80, 17);
	assert_false(fixture_says(f, "event:2"));
	assert_int_equal(press(f, "]"), VIEW_ASK_GO);
	assert_int_equal(f->view.go, GO_MINUTES);
	assert_int_equal(f->view.go_minutes, 1);
	press(f, "{");
	assert_int_equal(f->view.go_minutes, -10);
	press(f, "e");
	assert_int_equal(f->view.go, GO_NEXT_EVENT);
	press(f, "E");
	assert_int_equal(f->view.go, GO_PREVIOUS_EVENT);
	assert_int_equal(press(f, "@03:14"), 0);
	assert_int_equal(view_key(&f->view, TOP_ENTER), VIEW_ASK_GO);
	assert_int_equal(f->view.go, GO_TIME);
	assert_string_equal(f->view.typed, "03:14");
	press(f, "@");
	assert_int_equal(view_key(&f->view, TOP_ENTER), 0);
	f->view.facts.frames = 0;
	f->view.facts.timeline = NULL;
	assert_int_equal(press(f, "e[]{}E@"), 0);
	assert_true(fixture_says(f, "!@ goes to another snapshot of a recording"));
}
