// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The panes of top: prompts, the details of a row, menus, help, and the line of history. */
#include "top_rows.h"

SCRIPT(search, sample_ordinary)
{
	keys(f, "/POST");
	/* The next match, wrapping around. */
	keys(f, "<Enter>/f<Enter>");
	keys(f, "/<Enter>");
	keys(f, "/<Enter>");
	keys(f, "/f<Down>");
	keys(f, "<Esc>");
	keys(f, "/nobody");
	keys(f, "<Esc>");
	/* A message also appears if several keys arrive at once. */
	keys(f, "/nobody<Enter>");
}

/* Characters of several bytes are typed and erased whole; text beyond the limit is ignored. */
SCRIPT(typing, sample_ordinary)
{
	keys(f, "fa<U+e9><U+6f22><U+1f389>");
	keys(f, "<Back><Back>");
	keys(f, "<C-u><Back>");
	for (int i = 0; i < 500; i++)
		press(f, "<U+1f389>x");
	size(f, 400, 10);
	/* Characters that could steer a terminal are ignored. */
	keys(f, "<C-u><U+9b><U+202e><other>");
	/* Escape restores the text. */
	keys(f, "abc<Enter>");
	keys(f, "fdef");
	keys(f, "<Esc>");
	/* In the list Escape clears filters. */
	keys(f, "<Esc>");
	keys(f, "ualice");
	keys(f, "<Enter>");
}

SCRIPT(interval, sample_ordinary)
{
	static const char *const bad[] = {"0", "0.01", "x", "1x", "1e3", ".", "999999999", "-1"};

	keys(f, "d0.5<Enter>");
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		press(f, "d");
		press(f, bad[i]);
		keys(f, "<Enter>");
	}
	keys(f, "d<Enter>");
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

SCRIPT(detail, sample_ordinary)
{
	view_resize(&f->view, 80, 24);
	keys(f, "<Enter>");
	fixture_golden(f, "top_detail_unread.txt");
	assert_int_equal(detail_set_maps(&f->view.detail, make_maps(), PSS_OK), 0);
	f->rows[0].process->charged = &f->view.detail.charges;
	process_set(f->rows[0].process, COUNTER_MEM_CURRENT, 2 * GIB);
	process_set(f->rows[0].process, COUNTER_MEM_LIMIT, 4 * GIB);
	process_set(f->rows[0].process, COUNTER_NEAREST_LIMIT, 8 * GIB);
	process_set(f->rows[0].process, COUNTER_MEM_LEFT, 1 * GIB);
	process_set(f->rows[0].process, COUNTER_LIMIT_UP, 2);
	process_set(f->rows[0].process, COUNTER_REFAULTS_S, 60000);
	process_set(f->rows[0].process, COUNTER_LIMIT_HITS_S, 12);
	f->view.detail.charged = *f->rows[0].process;
	f->sample.snapshot.time_ms += 2000;
	sample_pss(f->rows[0].process, PSS_FROM_KERNEL);
	f->rows[0].process->value[COUNTER_PSS_SWAP] += 500 * MIB;
	fixture_take(f);
	view_resize(&f->view, 100, 30);
	fixture_golden(f, "top_detail.txt");
	/* Mappings scroll no further than the last one. */
	size(f, 100, 19);
	keys(f, "jjjjjjjjjj");
	keys(f, "<Home><C-f>");
	keys(f, "<C-b>G");
	/* After the process ends, its last values stay. */
	f->sample.result.row_count = 3;
	f->rows[0] = f->sample.row[3];
	new_rows(f);
	keys(f, "w");
	keys(f, "q");
}

SCRIPT(detail_of_group, sample_groups)
{
	f->view.detail.charged = *f->rows[0].process;
	press(f, "i");
	view_resize(&f->view, 80, 24);
	f->view.detail.charged = *f->rows[0].process;
	fixture_golden(f, "top_detail_group.txt");
	size(f, 80, 4);
	keys(f, "<Esc>jji");
	/* A group without a name. */
	keys(f, "<Esc>ki");
}

/* The stacks of what grows; help in front of it does not end it, Escape does. */
SCRIPT(growth, sample_ordinary)
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

	keys(f, "w");
	view_resize(&f->view, 80, 24);
	assert_true(view_has(&f->view, PANE_GROWTH));
	fixture_golden(f, "top_growth_begins.txt");
	view_set_growth(&f->view, &growth);
	fixture_golden(f, "top_growth_none.txt");
	growth.accounted[GROWTH_ANON] = growth.change[GROWTH_ANON] = 8 * MIB;
	growth.stack = &stack;
	growth.stacks = 1;
	fixture_golden(f, "top_growth.txt");
	press(f, "?");
	assert_true(view_has(&f->view, PANE_GROWTH));
	press(f, "?");
	target.ended = true;
	view_resize(&f->view, 40, 8);
	fixture_golden(f, "top_growth_40x8.txt");
	/* What does not fit is reached by the keys that move the cursor. */
	keys(f, "G");
	keys(f, "k");
	keys(f, "<Esc>");
	assert_false(view_has(&f->view, PANE_GROWTH));
	/* From the details, and back to them. It cannot be counted: the caller says why. */
	view_resize(&f->view, 80, 24);
	keys(f, "iw");
	view_set_growth(&f->view, NULL);
	note(f, "cannot be counted");
	keys(f, "q");
	facts(f)->frames = 1;
	keys(f, "w");
	again(f, sample_groups);
	keys(f, "w");
}

/* The RAM of the machine, and what changed since it was first shown. */
SCRIPT(ram, sample_ordinary)
{
	struct ram *ram = &f->sample.ram;

	keys(f, "R");
	sample_census(&f->sample);
	ram_set(&f->view.ram, ram);
	note(f, "the first census");
	ram->taken_ms += 61000;
	ram->figure[RAM_SLAB].bytes += 3 * GIB;
	ram->figure[RAM_FREE].bytes -= 3 * GIB;
	ram_set(&f->view.ram, ram);
	note(f, "another one");
	keys(f, "b");
	keys(f, "b");
	size(f, 40, 9);
	keys(f, "G");
	size(f, 80, 16);
	/* Closed and opened again, the changes are those since the first one. */
	keys(f, "R");
	keys(f, "R");
	ram->method = RAM_COUNTERS;
	strcpy(ram->reason, "the frames were not counted: no BPF");
	ram->deleted_cgroups = 0;
	ram_set(&f->view.ram, ram);
	note(f, "counters");
	ram_set(&f->view.ram, NULL);
	note(f, "a recording without a census");
	keys(f, "<Esc>");
}

SCRIPT(help, sample_ordinary)
{
	press(f, "?");
	view_resize(&f->view, 80, 32);
	fixture_golden(f, "top_help.txt");
	size(f, 80, 10);
	keys(f, "<End>");
	keys(f, "<Home> ");
	keys(f, "G");
	keys(f, "q");
	size(f, 80, 10);
	press(f, "o");
	fixture_golden(f, "top_columns.txt");
	keys(f, "<End>");
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

/* The keys that lead back are the same in all panes: the screen is the list again. */
SCRIPT(back, sample_ordinary)
{
	static const char *const pressed[] = {"iq",	 "wQ",	      "?<F10>",		"s<Esc>",
					      "o<F10>",	 "i?sq<Esc>", "w?<Esc>q",	"i<Enter>",
					      "w<Left>", "i<Back>",   "iw<Enter><Left>"};

	for (size_t i = 0; i < ARRAY_SIZE(pressed); i++)
		keys(f, pressed[i]);
}

/* A filter that is not valid stays in the prompt; the caller has put back the one in force. */
SCRIPT(bad_filter, sample_ordinary)
{
	keys(f, "fx<Enter>f(");
	strcpy(settings(f)->filter, "x");
	keys(f, "<Enter>");
	strcpy(settings(f)->filter, "x");
	note(f, "the filter before");
	keys(f, "<Back><Enter>");
}
