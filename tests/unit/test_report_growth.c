// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The renderers of growth by stack against golden files. */
#include <limits.h>

#include "golden.h"
#include "sample.h"

#include "fields/growth_fields.h"
#include "report/growth.h"
#include "report/growth_rows.h"
#include "report/growth_text.h"
#include "write/text.h"

#define FRAMES 8
#define STACKS 6

enum frame {
	MALLOC,
	LEAK,
	RUN,
	MAIN,
	START,
	UNNAMED,
	HOSTILE,
	KSWAPD,
};

struct fixture {
	struct sample sample;
	struct growth_frame frame[FRAMES];
	struct growth_stack stack[STACKS];
	struct growth_target target[2];
	struct growth_point point[3];
	struct growth growth;
};

static const uint32_t malloc_leak[] = {MALLOC, LEAK, RUN, MAIN, START};
static const uint32_t direct_leak[] = {LEAK, RUN, MAIN, START};
static const uint32_t unnamed[] = {MALLOC, UNNAMED, MAIN, START};
static const uint32_t hostile[] = {HOSTILE, MAIN, START};
static const uint32_t kswapd[] = {KSWAPD};
static const uint32_t only_malloc[] = {MALLOC};

static void set_stack(struct fixture *f, int i, const uint32_t *frames, size_t count, int64_t anon,
		      uint64_t gross)
{
	f->stack[i] = (struct growth_stack){
		.frame = frames,
		.frames = count,
		.net[GROWTH_ANON] = anon,
		.gross = gross,
		.resident = gross / 2,
		.recent = anon / 2,
		.changes = gross / 4096,
	};
	f->growth.accounted[GROWTH_ANON] += anon;
}

static void growth_init(struct fixture *f)
{
	*f = (struct fixture){};
	sample_init(&f->sample);
	f->frame[MALLOC] = (struct growth_frame){"malloc", "libc.so.6", 0x97310, true};
	f->frame[LEAK] = (struct growth_frame){"leak", "program", 0x1180, false};
	f->frame[RUN] = (struct growth_frame){"shop::Cart::run", "program", 0x1200, false};
	f->frame[MAIN] = (struct growth_frame){"main", "program", 0x1300, false};
	f->frame[START] = (struct growth_frame){"__libc_start_main", "libc.so.6", 0x27110, true};
	f->frame[UNNAMED] = (struct growth_frame){NULL, "stripped", 0x45ff, false};
	f->frame[HOSTILE] = (struct growth_frame){"a;b \x1b[31m\xff", "evil\n", 0x10, false};
	f->frame[KSWAPD] = (struct growth_frame){"[another task: kswapd0]", NULL, 0, false};
	f->growth = (struct growth){
		.snapshot = &f->sample.snapshot,
		.start_ms = f->sample.snapshot.time_ms - 10000,
		.duration_us = 10000000,
		.recent_us = 5000000,
		.resident_known = true,
		.each = true,
		.target = f->target,
		.targets = 1,
		.frame = f->frame,
		.frame_count = FRAMES,
		.stack = f->stack,
		.stacks = STACKS,
		.events = 2000,
		.point = f->point,
		.points = ARRAY_SIZE(f->point),
	};
	for (size_t i = 0; i < ARRAY_SIZE(f->point); i++)
		f->point[i] = (struct growth_point){
			.time_ms = f->growth.start_ms + 5000 * (int64_t)i,
			.net[GROWTH_ANON] = 20 * MIB * (int64_t)i,
			.net[GROWTH_SWAP] = -4096 * (int64_t)i,
		};
	f->target[0] = (struct growth_target){.pid = 100, .name = "program"};
	f->target[1] = (struct growth_target){.pid = 101, .name = "\xff child", .ended = true};
	set_stack(f, 0, malloc_leak, 5, 40 * MIB, 44 * MIB);
	set_stack(f, 1, direct_leak, 4, 8 * MIB, 8 * MIB);
	set_stack(f, 2, unnamed, 4, 2 * MIB, 2 * MIB);
	f->stack[2].truncated = true;
	set_stack(f, 3, only_malloc, 1, 4096, 4096);
	set_stack(f, 4, hostile, 3, 0, 64 * KIB);
	set_stack(f, 5, kswapd, 1, -(int64_t)MIB, 0);
	f->growth.stack[5].net[GROWTH_SWAP] = 512 * KIB;
	f->growth.accounted[GROWTH_SWAP] = 512 * KIB;
	f->growth.change[GROWTH_ANON] = f->growth.accounted[GROWTH_ANON];
	f->growth.change[GROWTH_SWAP] = 512 * KIB;
	f->growth.begin[GROWTH_ANON] = 100 * MIB;
}

FIXTURE(growth_init, no_end)

static const struct table_style usual = {.header = true}, wide = {.header = true, .wide = true};

static void check_view(const char *name, const struct fixture *f, const struct growth_view *view,
		       const struct table_style *how, const char *columns)
{
	struct table_style style = *how;
	struct field_list list = {};
	struct field_error bad;

	growth_list_usual(&list, f->growth.heap.known, false);
	if (columns)
		assert_int_equal(field_list_parse(&list, &growth_columns, columns, &bad), 0);
	style.columns = &list;
	golden_render(name, render_growth_table, &f->growth, view, &style);
}

static void check_rows(const char *name, const struct fixture *f, size_t rows,
		       const struct table_style *how, const char *columns)
{
	const struct growth_view view = {.rows = rows, .chosen = columns && *columns != '+'};

	check_view(name, f, &view, how, columns);
}

static void check_table(const char *name, const struct fixture *f, const struct table_style *style)
{
	check_rows(name, f, SIZE_MAX, style, NULL);
}

FIXTURE_TEST(tables)
{
	const struct table_style narrow = {.header = true, .width = 80, .bytes = true};

	check_table("growth.txt", f, &usual);
	check_rows("growth_narrow.txt", f, 2, &narrow, NULL);
	/* All that a report can lack. */
	f->growth.targets = 2;
	f->growth.resident_known = f->growth.each = false;
	f->growth.lost = 7;
	f->growth.sampled = 1500;
	f->growth.sampled_bytes = 6 * MIB;
	f->growth.no_room = 3;
	f->growth.change[GROWTH_ANON] += 28 * KIB;
	f->growth.change[GROWTH_FILE] = -4096;
	check_table("growth_doubts.txt", f, &usual);
	f->growth.targets = 1;
	f->growth.stacks = 0;
	f->target[0].ended = true;
	check_table("growth_empty.txt", f, &usual);
	f->growth.lost = f->growth.sampled = f->growth.no_room = 0;
	f->growth.each = true;
	f->target[0].ended = false;
	memset(f->growth.change, 0, sizeof(f->growth.change));
	memset(f->growth.accounted, 0, sizeof(f->growth.accounted));
	check_table("growth_nothing.txt", f, &usual);
}

/* A place with pages that have no address goes by what may be there: what it added, at most. */
FIXTURE_TEST(without_addresses)
{
	f->growth.resident_least = true;
	f->stack[0].resident = f->stack[1].resident = 512 * KIB;
	f->stack[2].resident = 4096;
	f->stack[2].unaddressed = 90 * MIB;
	assert_int_equal(growth_still_most(&f->stack[1]), 512 * KIB);
	assert_int_equal(growth_still_most(&f->stack[2]), 2 * MIB);
	check_table("growth_without_addresses.txt", f, &usual);
}

/* At each width the headings are those of the table, with blanks between them. */
TEST(headings)
{
	static const char *const known[] = {"STILL", "GROWTH", "PER_S", "\xc2\xb1",
					    "ADDED", "COPIED", "KIND",	"CODE"};
	const struct growth_view all = {.rows = SIZE_MAX};
	struct field_list columns = {};
	struct fixture f;

	growth_list_usual(&columns, false, true);
	growth_init(&f);
	f.stack[0].net[GROWTH_ANON] = f.stack[1].net[GROWTH_ANON] = INT64_MAX / 4;
	f.stack[0].gross = f.stack[1].gross = UINT64_MAX / 4;
	f.stack[0].copied = 1;
	f.growth.copied_known = true;
	f.stack[0].variance = 1e18;
	for (unsigned width = 20; width <= 160; width++) {
		const struct table_style style = {
			.header = true, .columns = &columns, .width = width, .bytes = width % 2};
		cleanup(strbuf_done) struct strbuf out = {};
		char *rest = NULL, *word;
		size_t at = 0;

		render_growth_table(&out, &f.growth, &all, &style);
		out.data[strcspn(strbuf_str(&out), "\n")] = '\0';
		for (word = strtok_r(out.data, " ", &rest); word;
		     word = strtok_r(NULL, " ", &rest)) {
			while (at < ARRAY_SIZE(known) && strcmp(word, known[at]) != 0)
				at++;
			assert_true(at < ARRAY_SIZE(known));
		}
		assert_int_equal(at, ARRAY_SIZE(known) - 1);
	}
}

static const struct field *column(const char *key)
{
	return fields_find(&growth_columns, key, strlen(key));
}

FIXTURE_TEST(documents)
{
	f->growth.targets = 2;
	golden_json("growth.json", render_growth_json, &f->growth);
	golden_render("growth_folded.txt", render_growth_folded, &f->growth, column("growth"));
	golden_render("growth_added_folded.txt", render_growth_folded, &f->growth, column("added"));
	golden_render("growth.pprof", render_growth_pprof, &f->growth);
	/* Of a process that has ended nothing is still there, and growth says which code it was. */
	for (int i = 0; i < STACKS; i++)
		f->stack[i].resident = 0;
	f->target[0].ended = true;
	check_table("growth_ended.txt", f, &usual);
	golden_render("growth_ended.pprof", render_growth_pprof, &f->growth);
}

/* Only these stacks, with these sizes. */
static void set_stacks(struct fixture *f, const uint32_t *const frames[], const size_t count[],
		       size_t stacks)
{
	static const uint64_t bytes[] = {40 * MIB, 8 * MIB, 2 * MIB, MIB};

	f->growth.accounted[GROWTH_ANON] = f->growth.accounted[GROWTH_SWAP] = 0;
	for (size_t i = 0; i < stacks; i++)
		set_stack(f, (int)i, frames[i], count[i], (int64_t)bytes[i], bytes[i]);
	f->growth.stacks = stacks;
	memcpy(f->growth.change, f->growth.accounted, sizeof(f->growth.change));
}

/* Functions that call themselves are shown once, and a long line ends; -w has all of it. */
FIXTURE_TEST(long_stacks)
{
	uint32_t recursive[64], in_turn[65], deep[120];

	for (size_t i = 0; i < ARRAY_SIZE(recursive); i++)
		recursive[i] = i < 61 ? RUN : i == 61 ? LEAK : i == 62 ? MAIN : START;
	for (size_t i = 0; i < ARRAY_SIZE(in_turn); i++)
		in_turn[i] = i == 64 ? MAIN : i % 2 ? LEAK : RUN;
	/* No part of it comes twice in a row. */
	for (size_t i = 0; i < ARRAY_SIZE(deep); i++) {
		static const uint32_t any[] = {LEAK, RUN, MAIN, UNNAMED, HOSTILE, KSWAPD};

		deep[i] = any[i * (i / 6 % 5 + 1) % ARRAY_SIZE(any)];
	}
	set_stacks(f, (const uint32_t *[]){recursive, in_turn, deep},
		   (size_t[]){ARRAY_SIZE(recursive), ARRAY_SIZE(in_turn), ARRAY_SIZE(deep)}, 3);
	check_table("growth_long.txt", f, &usual);
	check_table("growth_long_wide.txt", f, &wide);
	check_view("growth_long_paths.txt", f, &(struct growth_view){.rows = 2, .paths = true},
		   &usual, NULL);
}

/*
 * A function that is called from many places is one row, with the callers of most of it; --paths
 * has a row for each. What passes memory on is neither a place nor a caller.
 */
FIXTURE_TEST(places)
{
	static const uint32_t most[] = {MALLOC, LEAK, RUN, MAIN, START};
	static const uint32_t less[] = {LEAK, START, HOSTILE, MAIN, START};
	static const uint32_t least[] = {MALLOC, LEAK, KSWAPD, MAIN, START};
	static const uint32_t other[] = {MALLOC, HOSTILE, MAIN};
	const struct table_style narrow = {.header = true, .width = 64};
	struct growth_view view = {.rows = SIZE_MAX};

	f->frame[HOSTILE].name = "dispatch";
	f->frame[KSWAPD].name = "import";
	set_stacks(f, (const uint32_t *[]){other, most, less, least},
		   (size_t[]){ARRAY_SIZE(other), ARRAY_SIZE(most), ARRAY_SIZE(less),
			      ARRAY_SIZE(least)},
		   4);
	f->stack[0].resident = MIB;
	f->stack[1].net[GROWTH_FILE] = 3 * MIB;
	check_view("growth_places.txt", f, &view, &usual, NULL);
	check_view("growth_places_narrow.txt", f, &view, &narrow, NULL);
	check_view("growth_places.txt", f, &view, &wide, NULL);
	view.reverse = true;
	view.keys.item[view.keys.count++] = fields_find(&growth_columns, "growth", 6);
	check_view("growth_places_sorted.txt", f, &view, &usual, "growth,share,per_s,kind,code");
	view = (struct growth_view){.rows = SIZE_MAX, .paths = true};
	check_view("growth_paths.txt", f, &view, &usual, NULL);
}

/* Long names lose the arguments of templates first, then their middle. */
FIXTURE_TEST(long_names)
{
	static const char *const names[] = {
		"void shop::Index<std::map<std::string, int>, 3>::emplace<std::pair<int, int>&>",
		"shop::a_function_with_a_name_that_is_longer_than_a_line_of_the_table_has_room_for",
		"<shop::Cart as core::iter::traits::collect::FromIterator<shop::Order>>::from_iter",
		"py::run:/srv/a directory/of scripts/with a long name, and <arguments>/job.py",
		("\xe4\xb8\xad\xe4\xb8\xad\xe4\xb8\xad\xe4\xb8\xad\xe4\xb8\xad\xe4\xb8\xad\xe4\xb8\xad\xe4\xb8"
		 "\xad\xe4\xb8\xad\xe4\xb8\xad\xe4\xb8\xad\xe4\xb8\xad\xe4\xb8\xad\xe4\xb8\xad\xff\xff\xff"),
	};
	static const uint32_t first[] = {LEAK, RUN, MAIN, UNNAMED};
	static const uint32_t second[] = {RUN, MAIN, UNNAMED}, third[] = {MAIN, UNNAMED};

	f->frame[LEAK].name = names[0];
	f->frame[RUN].name = names[1];
	f->frame[MAIN].name = names[2];
	f->frame[UNNAMED].name = names[3];
	set_stacks(f, (const uint32_t *[]){first, second, third},
		   (size_t[]){ARRAY_SIZE(first), ARRAY_SIZE(second), ARRAY_SIZE(third)}, 3);
	check_table("growth_names.txt", f, &usual);
	check_table("growth_names_wide.txt", f, &wide);
	for (unsigned width = 60; width <= 120; width += 60) {
		const struct table_style style = {.header = true, .width = width};
		char name[64];

		snprintf(name, sizeof(name), "growth_names_%u.txt", width);
		check_table(name, f, &style);
	}
	/* Each width, and no half character. */
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		for (unsigned most = 3; most < 90; most++) {
			cleanup(strbuf_done) struct strbuf out = {};
			unsigned width, columns = growth_put_short(&out, names[i], most);

			assert_int_equal(text_fit(strbuf_str(&out), out.len, UINT_MAX, &width),
					 out.len);
			assert_int_equal(width, columns);
			assert_true(width <= most);
		}
	}
}

/* The sum of the lines of folded stacks, less those that are marked. */
static int64_t sum_folded(const struct growth *g)
{
	static const char mark[] = "[given back];";
	cleanup(strbuf_done) struct strbuf out = {};
	char *rest = NULL;
	int64_t sum = 0;

	render_growth_folded(&out, g, column("growth"));
	strbuf_str(&out);
	for (char *line = strtok_r(out.data, "\n", &rest); line;
	     line = strtok_r(NULL, "\n", &rest)) {
		int64_t bytes = strtoll(strrchr(line, ' ') + 1, NULL, 10);

		assert_true(bytes > 0);
		sum += strncmp(line, mark, sizeof(mark) - 1) == 0 ? -bytes : bytes;
	}
	return sum;
}

/* The parts of each row of the table, of one path or of all of a place, have its growth and sign.
 */
static void check_parts(const struct growth *g)
{
	struct growth_part part[STACKS];
	struct growth_row_list list;

	growth_parts(g, part);
	assert_int_equal(growth_rows_make(g, &(struct growth_rows_request){}, &list), 0);
	assert_true(list.rows > 1);
	for (size_t i = 0; i < list.rows; i++) {
		const struct growth_stack *s = &list.row[i]->sum;
		int64_t growth = growth_sum(s->net), sum = 0;

		for (size_t k = 0; k < g->stacks; k++) {
			if (part[k].stack->frame[part[k].place] != s->frame[0])
				continue;
			sum += part[k].bytes;
			assert_true(part[k].bytes == 0 || (part[k].bytes > 0) == (growth > 0));
		}
		assert_int_equal(sum, growth);
	}
	growth_rows_done(&list);
}

/* Folded stacks add up to the growth, of each place and of all, whatever other code gave back. */
FIXTURE_TEST(sums)
{
	static const uint32_t freed[] = {KSWAPD, LEAK, RUN, MAIN, START};
	static const uint32_t called[] = {MALLOC, LEAK, UNNAMED, MAIN, START};
	uint64_t random = 1;

	f->frame[KSWAPD] = (struct growth_frame){"munmap", "libc.so.6", 0x1000, true};
	f->stack[3].frame = called;
	f->stack[3].frames = ARRAY_SIZE(called);
	f->stack[5].frame = freed;
	f->stack[5].frames = ARRAY_SIZE(freed);
	for (int round = 0; round < 2000; round++) {
		int64_t growth = 0;

		for (int i = 0; i < STACKS; i++) {
			struct growth_stack *s = &f->stack[i];

			random = random * 6364136223846793005u + 1442695040888963407u;
			s->net[GROWTH_SWAP] = 0;
			s->net[GROWTH_ANON] = (int64_t)(random >> 40) - (1 << 23);
			growth += s->net[GROWTH_ANON];
		}
		check_parts(&f->growth);
		assert_int_equal(sum_folded(&f->growth), growth);
	}
	/* The function gives back most of what it took. What is left is of the other callers. */
	f->growth.stacks = 4;
	f->stack[0].net[GROWTH_ANON] = 300 * MIB;
	f->stack[1] = f->stack[5];
	f->stack[1].net[GROWTH_ANON] = -(int64_t)(300 * MIB);
	f->stack[2].net[GROWTH_ANON] = -(int64_t)MIB;
	f->stack[3].net[GROWTH_ANON] = 8 * MIB;
	golden_render("growth_given_back.txt", render_growth_folded, &f->growth, column("growth"));
}

/* Errors, copies and what allocators say have columns where there are some. */
FIXTURE_TEST(errors)
{
	f->growth.sampled = 1500;
	f->growth.resident_least = true;
	f->stack[0].unaddressed = 10 * MIB;
	f->stack[0].variance = 1e12;
	f->stack[1].variance = 4e10;
	f->stack[3].variance = f->stack[4].variance = 1e12;
	check_table("growth_errors.txt", f, &usual);
	f->growth.copied_known = true;
	f->stack[2].copied = 3 * MIB;
	check_table("growth_copied.txt", f, &usual);
	static const struct growth_not_probed not_probed[] = {
		{.function = "operator new(unsigned long)", .reason = "it throws exceptions"},
		{.file = "/home/\033/liballoc.so", .reason = "its file system may not answer"},
		{.function = "operator new[](unsigned long)", .reason = "it throws exceptions"},
		{.pid = 4711, .reason = "its threads refuse system calls"},
	};

	static const struct growth_allocator allocator[] = {
		{.name = "glibc", .file = "/usr/lib/libc.so.6", .functions = 13},
		{.name = "jemalloc", .version = "5.3.0", .file = "/home/\033/x", .functions = 1},
	};

	f->growth.heap = (struct growth_heap){.known = true,
					      .allocator = allocator,
					      .allocators = ARRAY_SIZE(allocator),
					      .sample_bytes = 512 * KIB,
					      .calls = 500000,
					      .samples = 90,
					      .rate = 200000,
					      .price_ns = 1450,
					      .speed_least = 0.6,
					      .speed_most = 0.8,
					      .mean_most = 512 * KIB};
	for (int i = 0; i < STACKS; i++) {
		f->stack[i].allocated = f->stack[i].gross * 3;
		double held = i == 1 ? 30 * MIB : (double)f->stack[i].gross / 4;

		f->stack[i].held = (struct sample_sum){.sum = held,
						       .seen = held / 10,
						       .variance = held * 512 * KIB,
						       .step = 512 * KIB};
	}
	check_table("growth_malloc.txt", f, &usual);
	f->growth.heap.at_least = true;
	f->growth.heap.not_counted = 12;
	f->growth.heap.not_probed = not_probed;
	f->growth.heap.not_probeds = ARRAY_SIZE(not_probed);
	check_rows("growth_malloc_narrow.txt", f, 2,
		   &(struct table_style){.header = true, .width = 80}, NULL);
	golden_json("growth_malloc.json", render_growth_json, &f->growth);
	golden_render("growth_malloc.pprof", render_growth_pprof, &f->growth);
	golden_render("growth_malloc_folded.txt", render_growth_folded, &f->growth, column("held"));
	f->growth.heap.at_least = false;
	f->growth.heap.not_counted = f->growth.heap.not_probeds = 0;
	f->growth.heap.sample_bytes = 1;
	f->growth.heap.mean_most = 1;
	for (int i = 0; i < STACKS; i++)
		f->stack[i].held.variance = f->stack[i].held.step = 0;
	check_table("growth_malloc_all.txt", f, &usual);
}

#define BIG_STACKS 20000
#define BIG_FRAMES 60
#define BIG_NAMES  4000

/* Names are there once, and stacks are a tree: a large program has a small page. */
TEST(large)
{
	cleanup(strbuf_done) struct strbuf page = {}, json = {};
	struct growth_frame *frame = calloc(BIG_NAMES, sizeof(*frame));
	struct growth_stack *stack = calloc(BIG_STACKS, sizeof(*stack));
	uint32_t *number = calloc((size_t)BIG_STACKS * BIG_FRAMES, sizeof(*number));
	const char *left_out;
	char(*name)[600] = calloc(BIG_NAMES, sizeof(*name));
	struct fixture f;

	assert_true(frame && stack && number && name);
	growth_init(&f);
	for (size_t i = 0; i < BIG_NAMES; i++) {
		int len = snprintf(name[i], sizeof(name[i]), "shop::detail::function_%zu<", i);

		while (len < 500)
			len += snprintf(name[i] + len, sizeof(name[i]) - (size_t)len,
					"std::map<std::string, std::vector<int> >, ");
		snprintf(name[i] + len, sizeof(name[i]) - (size_t)len, "int>");
		frame[i] = (struct growth_frame){.name = name[i], .module = "program"};
	}
	/* As calls branch: deeper frames differ more. */
	for (size_t i = 0; i < BIG_STACKS; i++) {
		uint32_t *at = &number[i * BIG_FRAMES];

		for (size_t k = 0; k < BIG_FRAMES; k++) {
			size_t depth = BIG_FRAMES - 1 - k,
			       branch = i >> (depth < 14 ? 14 - depth : 0);

			at[k] = (uint32_t)((branch * 31 + depth) % BIG_NAMES);
		}
		stack[i] = (struct growth_stack){.frame = at,
						 .frames = BIG_FRAMES,
						 .net[GROWTH_ANON] = 4096 * ((int64_t)i % 90 + 1),
						 .gross = 4096 * (i % 90 + 1),
						 .resident = 4096 * (i % 90 + 1),
						 .changes = 1};
		f.growth.accounted[GROWTH_SWAP] = 0;
	}
	f.growth.frame = frame;
	f.growth.frame_count = BIG_NAMES;
	f.growth.stack = stack;
	f.growth.stacks = BIG_STACKS;
	f.growth.accounted[GROWTH_ANON] = f.growth.change[GROWTH_ANON] = INT64_C(1) << 40;
	render_growth_html(&page, &f.growth);
	render_growth_json(&json, &f.growth);
	assert_int_equal(strbuf_error(&page), 0);
	assert_uint_in_range(page.len, 1 << 16, 2 << 20);
	assert_uint_in_range(json.len, 1 << 20, 16 << 20);
	left_out = strstr(strbuf_str(&page), ",\"left_out\":");
	assert_non_null(left_out);
	assert_uint_in_range(atoi(left_out + 12), 1000, 1000000);
	free(frame);
	free(stack);
	free(number);
	free(name);
}

/* Functions of Python are rows without what the interpreter does between them; -w has it. */
FIXTURE_TEST(interpreter)
{
	static const uint32_t list[] = {MALLOC, RUN, LEAK, UNNAMED, RUN, HOSTILE, MAIN, START};
	static const uint32_t string[] = {RUN, RUN, LEAK, UNNAMED, HOSTILE, MAIN, START};
	static const uint32_t module[] = {KSWAPD, RUN, LEAK, MAIN, START};
	static const uint32_t start[] = {MALLOC, RUN, MAIN, START};
	static const enum frame python[] = {RUN, UNNAMED, MAIN};

	for (size_t i = 0; i < ARRAY_SIZE(python); i++)
		f->frame[python[i]].allocator = f->frame[python[i]].interpreter = true;
	f->frame[RUN].name = "_PyEval_EvalFrameDefault";
	f->frame[LEAK] = (struct growth_frame){.name = "py::keep:/app/job.py"};
	f->frame[HOSTILE] = (struct growth_frame){.name = "py::<module>:/app/job.py"};
	f->frame[KSWAPD] = (struct growth_frame){.name = "array_new", .module = "numpy.so"};
	set_stacks(f, (const uint32_t *[]){list, string, module, start},
		   (size_t[]){ARRAY_SIZE(list), ARRAY_SIZE(string), ARRAY_SIZE(module),
			      ARRAY_SIZE(start)},
		   4);
	check_table("growth_python.txt", f, &usual);
	check_table("growth_python_wide.txt", f, &wide);
}

/* A row for each line of the place; of callers the function alone counts. */
FIXTURE_TEST(lines)
{
	enum { FIRST = UNNAMED, SECOND = HOSTILE, CALLED = KSWAPD };
	static const uint32_t first[] = {MALLOC, FIRST, CALLED, START};
	static const uint32_t again[] = {MALLOC, FIRST, MAIN, START};
	static const uint32_t second[] = {MALLOC, SECOND, MAIN, START};
	static const uint32_t none[] = {MALLOC, RUN, MAIN, START};

	f->frame[FIRST] = f->frame[SECOND] = f->frame[LEAK];
	f->frame[CALLED] = f->frame[MAIN];
	f->frame[FIRST].source = f->frame[SECOND].source = "/src/shop/a b;\x1b[31m\xff.c";
	f->frame[FIRST].line = 12;
	f->frame[SECOND].line = 4000000000;
	f->frame[FIRST].function = f->frame[SECOND].function = LEAK;
	f->frame[CALLED].source = "main.c";
	f->frame[CALLED].line = 7;
	f->frame[CALLED].function = MAIN;
	set_stacks(f, (const uint32_t *[]){first, second, again, none},
		   (size_t[]){ARRAY_SIZE(first), ARRAY_SIZE(second), ARRAY_SIZE(again),
			      ARRAY_SIZE(none)},
		   4);
	check_rows("growth_lines.txt", f, SIZE_MAX, &usual, "+line");
	check_rows("growth_lines_chosen.txt", f, SIZE_MAX, &usual, "growth,line");
	check_rows("growth_lines_narrow.txt", f, SIZE_MAX,
		   &(struct table_style){.header = true, .width = 64}, "+line");
	f->growth.lines_left_out = 3;
	check_rows("growth_lines_left_out.txt", f, SIZE_MAX, &usual, "+line");
	golden_json("growth_lines.json", render_growth_json, &f->growth);
	golden_render("growth_lines_folded.txt", render_growth_folded, &f->growth,
		      column("growth"));
	golden_render("growth_lines.pprof", render_growth_pprof, &f->growth);
}

/* What to do where an interpreter's functions have no names. */
FIXTURE_TEST(no_names)
{
	static const uint32_t stack[] = {MALLOC, RUN, MAIN, START};

	set_stacks(f, (const uint32_t *[]){stack}, (size_t[]){ARRAY_SIZE(stack)}, 1);
	f->growth.unnamed_python = f->growth.unnamed_node = true;
	f->growth.unnamed_java = f->growth.unnamed_dotnet = true;
	check_table("growth_no_names.txt", f, &usual);
}

/* The page has the document, and no name of a process can end its script. */
FIXTURE_TEST(page)
{
	cleanup(strbuf_done) struct strbuf out = {};
	const char *text, *data;

	f->frame[LEAK].name = "a</script><script>alert(1)";
	f->target[0].name = "<i>&\x1b";
	render_growth_html(&out, &f->growth);
	text = strbuf_str(&out);
	data = strstr(text, "<script type=\"application/json\" id=\"data\">");
	assert_non_null(data);
	assert_non_null(strstr(data, "\"schema\":\"zmem.grow_page\""));
	assert_null(strstr(text, "<script>alert"));
	assert_null(strstr(text, "<i>"));
	assert_non_null(strstr(text, "&lt;i&gt;&amp;"));
}
