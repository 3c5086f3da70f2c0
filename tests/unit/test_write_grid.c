// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The table printer: every type of cell, colours, marks and cut texts, rows without a source. The
 * golden files of tables have positions, widths, hidden columns and sums.
 */
#include "unit.h"

#include "write/field_text.h"

#define KIB UINT64_C(1024)

static void check_cell(struct cell cell, bool exact, const char *want)
{
	cleanup(strbuf_done) struct strbuf out = {0};
	struct line line = {.out = &out};

	cell_put(&line, cell, exact);
	assert_string_equal(strbuf_str(&out), want);
}

TEST(cells)
{
	check_cell(cell_bytes(true, 5632), false, "5.50 KiB");
	check_cell(cell_bytes(true, 5632), true, "5632");
	check_cell(cell_bytes(true, 0), false, "0");
	check_cell(cell_bytes(false, 5632), false, "-");
	check_cell(cell_number(CELL_SIGNED, true, -4096), false, "-4 KiB");
	check_cell(cell_number(CELL_SIGNED, true, 4096), false, "4 KiB");
	check_cell(cell_number(CELL_SIGNED, true, INT64_MIN), true, "-9223372036854775808");
	check_cell(cell_number(CELL_CHANGE, true, 4096), false, "+4 KiB");
	check_cell(cell_number(CELL_CHANGE, true, 4096), true, "+4096");
	check_cell(cell_number(CELL_CHANGE, true, -4096), true, "-4096");
	check_cell(cell_number(CELL_CHANGE, true, 0), false, "0");
	check_cell(cell_number(CELL_COUNT, true, -17), false, "-17");
	check_cell(cell_number(CELL_COUNT, false, -17), false, "-");
	check_cell(cell_number(CELL_TIME, true, 0), false, "1970-01-01 00:00:00Z");
	check_cell(cell_number(CELL_TIME, true, INT64_MIN), false, "-");
	check_cell(cell_percent(true, 12.34), false, "12.3");
	check_cell(cell_percent(true, -12.34), false, "-12.3");
	check_cell(cell_percent(true, -0.04), false, "0.0");
	check_cell(cell_percent(true, 0.0 / 0.0), false, "-");
	check_cell(cell_percent(true, -1e300), false, "-");
	check_cell(cell_percent(false, 1), false, "-");
	check_cell((struct cell){.type = CELL_RATIO, .bytes = 325}, false, "3.25");
	check_cell((struct cell){.type = CELL_RATIO, .bytes = 99999}, false, "999.99");
	check_cell((struct cell){.type = CELL_RATIO, .bytes = 100000}, false, "1000.0");
	check_cell((struct cell){.type = CELL_RATIO, .bytes = 1000000}, false, "10000");
}

/* ---- a grid of three rows ---- */

enum { NUMBER, NAME, SIZE, SHARE, WORDS, COLUMNS };

struct row {
	int64_t number;
	const char *name;
	uint64_t size;
	bool known;
	const char *words;
};

static const struct row rows[] = {
	{7, "a", 512, true, "the first one"},
	{1234, "a name of twenty cols", 9 * KIB, false, "a\nb"},
	{42, NULL, 1023 * KIB, true, ""},
};

static void fill(void *arg, size_t row, size_t first, size_t end, struct cell *ret)
{
	const struct row *r = row < ARRAY_SIZE(rows) ? &rows[row] : NULL;
	struct cell all[COLUMNS];

	(void)arg;
	if (r) {
		all[NUMBER] = cell_number(CELL_COUNT, true, r->number);
		all[NAME] = cell_text(r->name);
		all[SIZE] = cell_bytes(true, r->size);
		all[SHARE] = cell_percent(r->known, (double)r->size / 1024);
		all[WORDS] = cell_text(r->words);
	} else {
		assert_true(row == GRID_TOTAL || row == GRID_OTHERS);
		/* Only summed columns are requested. */
		assert_true(first == SIZE && end == SIZE + 1);
		all[SIZE] = cell_bytes(true, row == GRID_TOTAL ? 2048 * KIB : 3 * KIB);
	}
	for (size_t i = first; i < end; i++)
		*ret++ = all[i];
}

static void put_summary(void *arg, struct line *l)
{
	(void)arg;
	line_printf(l, "total of all");
}

static struct grid make_grid(const struct table_style *style)
{
	return (struct grid){
		.style = style,
		.source = {.fill = fill, .summary = put_summary, .rows = ARRAY_SIZE(rows)},
		.column = {[NUMBER] = {"NO", CELL_COUNT},
			   [NAME] = {"NAME", CELL_TEXT, .left = true, .max = 8},
			   [SIZE] = {"SIZE", CELL_BYTES, .summed = true},
			   [SHARE] = {"%", CELL_PERCENT, .min = 8},
			   [WORDS] = {"WORDS", CELL_TEXT, .left = true}},
		.columns = COLUMNS,
	};
}

static void check_grid(struct grid grid, const char *want)
{
	cleanup(strbuf_done) struct strbuf out = {0};

	grid_place(&grid);
	grid_print(&out, &grid);
	assert_int_equal(strbuf_error(&out), 0);
	assert_string_equal(strbuf_str(&out), want);
}

TEST(colors)
{
	const struct table_style style = {.header = true, .color = true};
	struct grid grid = make_grid(&style);

	grid.source.rows = 2;
	grid.unknown = ATTR_DIM;
	grid.column[NUMBER].hidden = grid.column[WORDS].hidden = true;
	grid.column[SHARE].marked = true;
	check_grid(grid, "\033[1mNAME          SIZE         \033[0m\033[7m%\033[0m\n"
			 "a            512 B       0.5\n"
			 "a name …     9 KiB         \033[2m-\033[0m\n"
			 "          \033[1m2.00 MiB            total of all\033[0m\n");
}

/* Rows without a source; cells with a colour or an ellipsis. */
TEST(given_cells)
{
	const struct table_style style = {.header = true, .color = true};
	cleanup(strbuf_done) struct strbuf out = {0};
	struct line line = {.out = &out, .color = true};
	struct grid grid = {
		.style = &style,
		.column = {{"PART", CELL_TEXT, .left = true, .min = 6},
			   {"KIND", CELL_TEXT},
			   {"NOTE", CELL_TEXT, .left = true}},
		.columns = 3,
	};
	struct cell cells[] = {cell_text("ram"), cell_text("file"), cell_text("see")};

	cells[0].attr = ATTR_BOLD;
	cells[0].cut = cells[2].cut = true;
	grid_place(&grid);
	grid_print_heading(&grid, &line);
	grid_print_cells(&grid, &line, cells);
	/* The colour of the line has priority. */
	line.attr = ATTR_DIM;
	cells[1] = cell_text(NULL);
	cells[2] = (struct cell){.type = CELL_EMPTY};
	grid_print_cells(&grid, &line, cells);
	assert_string_equal(strbuf_str(&out), "\033[1mPART    KIND  NOTE\033[0m\n"
					      "\033[1mram…    \033[0mfile  see…\n"
					      "\033[2mram…       -\033[0m\n");
}
