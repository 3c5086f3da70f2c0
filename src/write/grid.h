/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The table printer: typed cells in aligned columns. All tables and the rows of top use it. The
 * caller provides the cells; the grid formats them, chooses column widths and cuts text.
 */
#ifndef ZMEM_WRITE_GRID_H
#define ZMEM_WRITE_GRID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fields/field.h"
#include "write/line.h"
#include "write/style.h"

/* ---- cells ---- */

enum cell_type {
	CELL_EMPTY,   /* prints nothing */
	CELL_UNKNOWN, /* not measured: "-" */
	CELL_BYTES,   /* a size, or exact bytes (table_style.bytes) */
	CELL_SIGNED,  /* bytes, with '-' below 0 */
	CELL_CHANGE,  /* bytes, with '+' or '-' unless 0 */
	CELL_COUNT,   /* a whole number */
	CELL_GROWTH,  /* a whole number, with '+' or '-' unless 0 */
	CELL_ADDRESS,
	CELL_PERCENT,
	CELL_RATIO, /* in hundredths: "3.25", "1234.5", "12345" */
	CELL_OF,    /* a count of a count: "7/10" */
	CELL_TIME,  /* ms since the epoch */
	CELL_TEXT,  /* any bytes, which are made safe; borrowed until the next row */
};

/* Fits two registers: each cell is made twice for each row. */
struct cell {
	uint8_t type;  /* enum cell_type */
	uint8_t attr;  /* enum line_attr; used where the line has no attribute */
	bool cut;      /* of a text: an ellipsis is appended */
	bool at_least; /* of a size, a count or a percentage: ">=" stands before it */
	union {
		uint64_t bytes; /* also of CELL_ADDRESS and CELL_RATIO */
		int64_t number; /* of the other numbers and of CELL_TIME */
		struct {
			uint32_t part, whole;
		} of;
		double percent;
		const char *text;
	};
};

static inline struct cell cell_bytes(bool known, uint64_t bytes)
{
	return (struct cell){.type = known ? CELL_BYTES : CELL_UNKNOWN, .bytes = bytes};
}

/* CELL_SIGNED, CELL_CHANGE, CELL_COUNT, CELL_GROWTH or CELL_TIME. */
static inline struct cell cell_number(enum cell_type type, bool known, int64_t number)
{
	return (struct cell){.type = known ? type : CELL_UNKNOWN, .number = number};
}

static inline struct cell cell_percent(bool known, double percent)
{
	return (struct cell){.type = known ? CELL_PERCENT : CELL_UNKNOWN, .percent = percent};
}

/* Unknown if the whole is 0. */
static inline struct cell cell_of(uint32_t part, uint32_t whole)
{
	return (struct cell){.type = whole ? CELL_OF : CELL_UNKNOWN, .of = {part, whole}};
}

/* NULL is an unknown text. */
static inline struct cell cell_text(const char *text)
{
	return (struct cell){.type = text ? CELL_TEXT : CELL_UNKNOWN, .text = text};
}

/* Writes a cell that is not a text, inside a sentence. */
void cell_put(struct line *l, struct cell cell, bool exact_bytes);

/* ---- grids ---- */

#define GRID_COLUMNS_MAX FIELDS_MAX

struct grid_column {
	const char *heading;
	enum cell_type type; /* the usual type of its cells; a cell may differ */
	bool left;	     /* aligned to the left */
	bool hidden;	     /* not shown; its cells are skipped */
	bool marked;	     /* its heading is highlighted */
	bool middle;	     /* a text that is too wide is cut in the middle, not at its end */
	bool summed;	     /* the total has a value for it */
	bool at_least;	     /* cells can be lower bounds */
	unsigned min;	     /* minimum width */
	unsigned max;	     /* maximum width, 0: none; the last column has none */
	bool asked;	     /* it was asked for: others are hidden before it */
	bool crowded;	     /* set by grid_fit(): hidden for want of room */
};

/* Row numbers of the sums; other rows are numbered from 0. */
#define GRID_OTHERS SIZE_MAX	   /* the rows that are not shown */
#define GRID_TOTAL  (SIZE_MAX - 1) /* all rows */

/* The cells of a grid. */
struct grid_source {
	/* Fills in the cells of the columns from `first` up to, but not including, `end`. */
	void (*fill)(void *arg, size_t row, size_t first, size_t end, struct cell *ret);
	/* Writes the words after the total. */
	void (*summary)(void *arg, struct line *l);
	/* Writes lines after the table; NULL: none. */
	void (*notes)(void *arg, struct strbuf *out);
	void *arg;
	size_t rows;
	size_t others; /* rows that are not shown */
	bool no_total;
};

struct grid {
	const struct table_style *style;
	struct grid_source source;
	struct grid_column column[GRID_COLUMNS_MAX];
	size_t columns;
	enum line_attr unknown; /* the attribute of cells that were not measured */

	/* Private. */
	size_t first, last; /* the first and the last column that is shown */
	bool words;	    /* the last column is text: in a row of sums, words take its place */
	unsigned width[GRID_COLUMNS_MAX];
};

/*
 * Places the columns. Call it after the columns, the style and the source are set. Widths from an
 * earlier call only grow.
 */
void grid_place(struct grid *g);
/* Widens the columns to fit the cells of the source. */
void grid_measure(struct grid *g);
/*
 * Hides columns from the right, but not the last one, until a row fits `width` and leaves some room
 * for a text in the last column. Those that were asked for are the last to go.
 */
void grid_fit(struct grid *g, unsigned width);

/* The columns that a text in the last column has, once widths are known. 0: not limited. */
unsigned grid_room(const struct grid *g);

/* These functions do not end the line, and keep its attribute. */
void grid_put_heading(const struct grid *g, struct line *l);
void grid_put_row(const struct grid *g, struct line *l, size_t row);
/* A row of sums, up to the column where words may follow. */
void grid_put_sums(const struct grid *g, struct line *l, size_t row);

/*
 * Prints headings, rows, the sums of the rows that are not shown, the total, the notes, and a line
 * that names the columns for which the width had no room. Of the style, bytes, header, only_total,
 * color and width are used. Words after the total are never cut, because they say what is missing.
 * Without header and rows only the values are printed.
 */
void grid_print(struct strbuf *out, struct grid *g);
/* Prints the headings and ends their line, if the style has a header. */
void grid_print_heading(const struct grid *g, struct line *l);
/* Prints a row and ends its line. */
void grid_print_cells(const struct grid *g, struct line *l, const struct cell *cells);

#endif
