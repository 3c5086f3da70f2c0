// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The panes of top: prompts, the details of a row, menus, help, and the line of history. */
#include "top_rows.h"

VIEW_TEST(search, sample_ordinary)
{
	assert_int_equal(press(f, "/POST"), 0);
	assert_int_equal(pid_at_cursor(f), 4194304);
	assert_true(fixture_says(f, "$search: POST"));
	/* The next match, wrapping around. */
	assert_int_equal(pid_after(f, "\n/f\n"), 813);
	assert_int_equal(pid_after(f, "/\n"), 812);
	assert_int_equal(pid_after(f, "/\n"), 813);
	assert_true(says_after(f, "/nobody", "nobody: not found"));
	assert_int_equal(pid_at_cursor(f), 813);
	press(f, "\033");
	assert_int_equal(f->view.prompt, PROMPT_NONE);
	/* A message also appears if several keys arrive at once. */
	assert_true(says_after(f, "/nobody\n", "nobody: not found"));
	assert_int_equal(pid_at_cursor(f), 813);
}

/* Characters of several bytes are typed and erased whole; text beyond the limit is ignored. */
VIEW_TEST(typing, sample_ordinary)
{
	assert_int_equal(press(f, "fa"), VIEW_ASK_FILTER);
	view_key(&f->view, 0xe9);
	view_key(&f->view, 0x6f22);
	view_key(&f->view, 0x1f389);
	assert_string_equal(f->view.set.filter, "a\xc3\xa9\xe6\xbc\xa2\xf0\x9f\x8e\x89");
	view_draw(&f->view, &f->screen);
	assert_int_equal(f->screen.cursor, (int)strlen("filter (regular expression): ") + 6);
	view_key(&f->view, TOP_BACKSPACE);
	view_key(&f->view, TOP_BACKSPACE);
	assert_string_equal(f->view.set.filter, "a\xc3\xa9");
	view_key(&f->view, TOP_CTRL('u'));
	view_key(&f->view, TOP_BACKSPACE);
	assert_string_equal(f->view.set.filter, "");
	for (int i = 0; i < 1000; i++)
		view_key(&f->view, i % 2 ? 'x' : 0x1f389);
	assert_true(strlen(f->view.set.filter) < sizeof(f->view.set.filter) - 1);
	/* Characters that could steer a terminal are ignored. */
	view_key(&f->view, TOP_CTRL('u'));
	view_key(&f->view, 0x9b);
	view_key(&f->view, 0x202e);
	view_key(&f->view, TOP_OTHER);
	assert_string_equal(f->view.set.filter, "");
	/* Escape restores the text. */
	press(f, "abc\n");
	press(f, "fdef");
	assert_string_equal(f->view.set.filter, "abcdef");
	assert_int_equal(press(f, "\033"), VIEW_ASK_FILTER);
	assert_string_equal(f->view.set.filter, "abc");
	assert_true(fixture_says(f, "filter abc"));
	/* In the list Escape clears filters. */
	assert_int_equal(press(f, "\033"), VIEW_ASK_FILTER);
	assert_string_equal(f->view.set.filter, "");
}

VIEW_TEST(other_prompts, sample_ordinary)
{
	static const char *const bad[] = {"0", "0.01", "x", "1x", "1e3", ".", "999999999", "-1"};

	assert_int_equal(press(f, "ualice"), 0);
	assert_int_equal(press(f, "\n"), VIEW_ASK_FILTER);
	assert_string_equal(f->view.set.user, "alice");
	assert_int_equal(press(f, "d0.5\n"), VIEW_ASK_INTERVAL);
	assert_int_equal(f->view.set.interval_ms, 500);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		press(f, "d");
		assert_int_equal(press(f, bad[i]), 0);
		assert_int_equal(press(f, "\n"), 0);
		assert_int_equal(f->view.set.interval_ms, 500);
		assert_true(fixture_says(f, "not a number of seconds"));
	}
	assert_int_equal(press(f, "d\n"), 0);
}

static struct map_set *make_maps(void)
{
	static const char *const name[] = {"[anon]", "/usr/lib/libc.so.6", "bad\033[2Jname",
					   "[heap]"};
	struct map_set *set = map_set_new(true);

	for (size_t i = 0; i < ARRAY_SIZE(name); i++) {
		struct mapping m = {.name = name[i],
				    .mappings = 1,
				    .processes = 1,
				    .counters = MAPS_COUNTERS_ZERO};

		m.counters.value[MAPS_SIZE] = m.counters.value[MAPS_RSS] = (i + 1) * MIB;
		m.counters.value[MAPS_PSS] = m.counters.value[MAPS_PRIVATE] = (i + 1) * MIB;
		assert_int_equal(map_set_add(set, &m), 0);
	}
	return set;
}

VIEW_TEST(detail, sample_ordinary)
{
	assert_int_equal(press(f, "\n"), VIEW_ASK_DETAIL);
	fixture_golden(f, "top_detail_unread.txt");
	assert_int_equal(view_set_maps(&f->view, make_maps(), PSS_OK), 0);
	process_set(f->rows[0], COUNTER_MEM_CURRENT, 2 * GIB);
	process_set(f->rows[0], COUNTER_MEM_LIMIT, 4 * GIB);
	view_set_charged(&f->view, f->rows[0]);
	f->sample.snapshot.time_ms += 2000;
	sample_pss(f->rows[0], PSS_FROM_KERNEL);
	f->rows[0]->value[COUNTER_PSS_SWAP] += 500 * MIB;
	fixture_take(f);
	view_resize(&f->view, 100, 30);
	fixture_golden(f, "top_detail.txt");
	/* Mappings scroll no further than the last one. */
	view_resize(&f->view, 100, 19);
	press(f, "jjjjjjjjjj");
	assert_false(fixture_says(f, "[heap]"));
	assert_true(fixture_says(f, "[anon]"));
	/* After the process ends, its last values stay. */
	f->sample.result.row_count = 3;
	f->rows[0] = f->sample.row[3];
	fixture_take(f);
	assert_true(fixture_says(f, "#812 firefox  has ended"));
	assert_int_equal(press(f, "q"), 0);
	assert_int_equal(f->view.mode, VIEW_LIST);
}

VIEW_TEST(detail_of_group, sample_groups)
{
	view_set_charged(&f->view, f->rows[0]);
	press(f, "i");
	view_set_charged(&f->view, f->rows[0]);
	fixture_golden(f, "top_detail_group.txt");
	assert_true(says_after(f, "\033jji", "odd\\xff\"name\\x0a,;\\.service"));
	/* A group without a name. */
	assert_true(says_after(f, "\033ji", "#-  3 processes of one unit"));
}

/* The stacks of what grows; help in front of it does not end it, Escape does. */
VIEW_TEST(growth, sample_ordinary)
{
	static const uint32_t code[] = {0, 1};
	struct growth_frame frame[] = {{"remember", "server", 0x1180, false},
				       {"main", "server", 0x1300, false}};
	struct growth_stack stack = {.frame = code,
				     .frames = 2,
				     .net = {8 * MIB},
				     .gross = 9 * MIB,
				     .resident = 8 * MIB,
				     .recent = 4 * MIB,
				     .changes = 2000};
	struct growth_target target = {.pid = 100, .name = "server"};
	struct growth growth = {.duration_us = 2000000,
				.recent_us = 1000000,
				.each = true,
				.resident_known = true,
				.target = &target,
				.targets = 1,
				.frame = frame,
				.frame_count = 2,
				.events = 2000};

	assert_int_equal(view_key(&f->view, 'w'), VIEW_ASK_GROWTH);
	assert_int_equal(f->view.growing.pid, pid_at_cursor(f));
	assert_true(view_shows_growth(&f->view));
	fixture_golden(f, "top_growth_begins.txt");
	view_set_growth(&f->view, &growth);
	fixture_golden(f, "top_growth_none.txt");
	growth.accounted[GROWTH_ANON] = growth.change[GROWTH_ANON] = 8 * MIB;
	growth.stack = &stack;
	growth.stacks = 1;
	fixture_golden(f, "top_growth.txt");
	press(f, "?");
	assert_true(view_shows_growth(&f->view));
	press(f, "?");
	target.ended = true;
	view_resize(&f->view, 40, 8);
	fixture_golden(f, "top_growth_40x8.txt");
	view_key(&f->view, TOP_ESCAPE);
	assert_false(view_shows_growth(&f->view));
	assert_int_equal(f->view.mode, VIEW_LIST);
	/* From the details, and back to them. It cannot be counted: the caller says why. */
	view_resize(&f->view, 80, 24);
	press(f, "i");
	assert_int_equal(view_key(&f->view, 'w'), VIEW_ASK_GROWTH);
	view_set_growth(&f->view, NULL);
	assert_int_equal(f->view.mode, VIEW_DETAIL);
	press(f, "q");
	f->view.facts.frames = 1;
	assert_int_equal(view_key(&f->view, 'w'), 0);
	assert_non_null(strstr(f->view.message, "a recording has no stacks"));
	fixture_again(f, sample_groups);
	assert_int_equal(view_key(&f->view, 'w'), 0);
	assert_non_null(strstr(f->view.message, "for one process"));
}

VIEW_TEST(help, sample_ordinary)
{
	press(f, "?");
	view_resize(&f->view, 80, 32);
	fixture_golden(f, "top_help.txt");
	view_resize(&f->view, 80, 10);
	assert_false(fixture_says(f, "not measured"));
	view_key(&f->view, TOP_END);
	assert_true(fixture_says(f, "not measured"));
	assert_int_equal(press(f, "q"), 0);
	assert_int_equal(f->view.mode, VIEW_LIST);
	press(f, "o");
	fixture_golden(f, "top_columns.txt");
	view_key(&f->view, TOP_END);
	assert_true(fixture_says(f, "pgtables_change"));
}

/* The line of `width` columns, and the numbers beside it. */
static void assert_history(const struct history *h, unsigned width, const char *want,
			   uint64_t least, uint64_t most, int64_t since)
{
	cleanup(strbuf_done) struct strbuf out = {};
	struct line l = {.out = &out};
	uint64_t is_least, is_most;
	int64_t is_since;
	bool drawn = history_draw(h, &l, width, &is_least, &is_most, &is_since);

	assert_int_equal(drawn, want != NULL);
	if (!want)
		return;
	assert_string_equal(strbuf_str(&out), want);
	assert_int_equal(is_least, least);
	assert_int_equal(is_most, most);
	assert_int_equal(is_since, since);
}

TEST(history)
{
	static struct history h;

	history_clear(&h);
	assert_history(&h, 10, NULL, 0, 0, 0);
	history_add(&h, 1000, false, 0);
	assert_history(&h, 10, NULL, 0, 0, 0);
	for (int i = 0; i < 8; i++)
		history_add(&h, 2000 + i * 1000, true, (100 + (uint64_t)i) * MIB);
	assert_history(&h, 10, "?▁▂▃▄▅▆▇█", 100 * MIB, 107 * MIB, 1000);
	/* The newest points are drawn, and the ring drops the oldest. */
	for (int i = 0; i < 3 * HISTORY_MAX; i++)
		history_add(&h, 10000 + i, true, 5);
	assert_history(&h, 3, "▁▁▁", 5, 5, 10000 + 3 * HISTORY_MAX - 3);
	/* Time goes back: later points are dropped. */
	history_add(&h, 7000, true, 6);
	assert_history(&h, 3, "▁", 6, 6, 7000);
	/* Noise is flat: of a small process below 1 MiB, of a large one below 1 %. */
	for (size_t large = 0; large < 2; large++) {
		uint64_t base = large ? 100 * GIB : 10 * MIB, noise = large ? 50 * MIB : 64 * KIB;

		history_clear(&h);
		for (int i = 0; i < 6; i++)
			history_add(&h, i, true, base + (i % 2 ? noise : 0));
		history_add(&h, 7, true, base + base / 5);
		assert_history(&h, 6, "▁▁▁▁▁█", base, base + base / 5, 1);
	}
}

/* A filter that is not valid stays in the prompt; the caller has put back the one in force. */
VIEW_TEST(bad_filter, sample_ordinary)
{
	press(f, "fx\n");
	press(f, "f(");
	strcpy(f->view.set.filter, "x");
	assert_int_equal(press(f, "\n"), VIEW_ASK_FILTER);
	assert_int_equal(f->view.prompt, PROMPT_FILTER);
	strcpy(f->view.set.filter, "x");
	assert_true(fixture_says(f, "$filter (regular expression): x("));
	assert_true(fixture_says(f, "  filter x  every"));
	view_key(&f->view, TOP_BACKSPACE);
	assert_int_equal(press(f, "\n"), 0);
	assert_int_equal(f->view.prompt, PROMPT_NONE);
	assert_string_equal(f->view.set.filter, "x");
}
