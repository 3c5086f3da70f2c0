/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The table printer: typed cells in aligned columns. All tables are made with it, and so are the
 * rows of top. What a cell holds is for the caller; how it is written, how wide a column is and
 * what is cut is decided here.
 */
#ifndef ZMEM_RENDER_GRID_H
#define ZMEM_RENDER_GRID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "render/line.h"
#include "render/render.h"

/* ---- cells ---- */

enum cell_type {
	CELL_EMPTY,   /* there is nothing to say */
	CELL_UNKNOWN, /* not measured: "-" */
	CELL_BYTES,   /* a size, or exact bytes (table_style.bytes) */
	CELL_SIGNED,  /* bytes, with '-' below 0 */
	CELL_CHANGE,  /* bytes, with '+' or '-' unless 0 */
	CELL_COUNT,   /* a whole number */
	CELL_PERCENT,
	CELL_RATIO, /* in hundredths: "3.25", "1234.5", "12345" */
	CELL_TIME,  /* ms since the epoch */
	CELL_TEXT,  /* any bytes, which are made safe; borrowed until the next row */
};

/* Two registers: they are made twice for each row and column. */
struct cell {
	uint16_t type; /* enum cell_type */
	uint8_t attr;  /* enum line_attr; counts where the line has none */
	bool cut;      /* of a text: an ellipsis follows */
	union {
		uint64_t bytes; /* also of CELL_RATIO */
		int64_t number; /* of CELL_SIGNED, CELL_CHANGE, CELL_COUNT, CELL_TIME */
		double percent;
		const char *text;
	};
};

static inline struct cell cell_bytes(bool known, uint64_t bytes)
{
	return (struct cell){.type = known ? CELL_BYTES : CELL_UNKNOWN, .bytes = bytes};
}

/* CELL_SIGNED, CELL_CHANGE, CELL_COUNT or CELL_TIME. */
static inline struct cell cell_number(enum cell_type type, bool known, int64_t number)
{
	return (struct cell){.type = known ? type : CELL_UNKNOWN, .number = number};
}

static inline struct cell cell_percent(bool known, double percent)
{
	return (struct cell){.type = known ? CELL_PERCENT : CELL_UNKNOWN, .percent = percent};
}

/* NULL is not known. */
static inline struct cell cell_text(const char *text)
{
	return (struct cell){.type = text ? CELL_TEXT : CELL_UNKNOWN, .text = text};
}

/* Writes a cell that is no text where it stands in a sentence. */
void cell_put(struct line *l, struct cell cell, bool exact_bytes);

/* ---- grids ---- */

struct grid_column {
	const char *heading;
	enum cell_type type; /* of its cells; others may stand among them */
	bool left;	     /* aligned to the left */
	bool hidden;	     /* has no place; its cells are skipped */
	bool marked;	     /* its heading stands out */
	bool summed;	     /* the total has a value for it */
	unsigned min;	     /* columns of the terminal that it has at least */
	unsigned max; /* text and heading are cut to so many, 0: never; nor in the last column */
};

/* The rows that are sums, beside those that are numbered from 0. */
#define GRID_OTHERS SIZE_MAX	   /* of the rows that are not shown */
#define GRID_TOTAL  (SIZE_MAX - 1) /* of all */

/* Where a grid takes its cells from. */
struct grid_source {
	/* Fills in the cells of the columns from `first` to before `end`. */
	void (*fill)(void *arg, size_t row, size_t first, size_t end, struct cell *ret);
	/* Writes the words of the total. */
	void (*summary)(void *arg, struct line *l);
	void *arg;
	size_t rows;
	size_t others; /* rows that are not shown */
};

struct grid {
	const struct table_style *style;
	struct grid_source source;
	struct grid_column column[COLUMNS_MAX];
	size_t columns;
	enum line_attr unknown; /* of cells that were not measured */

	/* Private. */
	size_t first, last; /* of the columns that are not hidden */
	bool words;	    /* the last one is text: sums have words in its place */
	unsigned width[COLUMNS_MAX];
};

/*
 * Decides where columns are: after they, the style and the source were set. Widths that the grid
 * has from a call before can only grow.
 */
void grid_place(struct grid *g);
/* Makes the columns wide enough for the cells of the source. */
void grid_measure(struct grid *g);

/* These leave the line open and keep its attribute. */
void grid_put_heading(const struct grid *g, struct line *l);
void grid_put_cells(const struct grid *g, struct line *l, const struct cell *cells);
void grid_put_row(const struct grid *g, struct line *l, size_t row);
/* A row of sums, up to where words may follow. */
void grid_put_sums(const struct grid *g, struct line *l, size_t row);

/*
 * Prints everything: headings, rows, the sums of those that are not shown, the total. Of the style
 * bytes, header, only_total, color and width count. The total is never cut to the width: its words
 * say what is missing. Without header and rows it is values alone.
 */
void grid_print(struct strbuf *out, struct grid *g);
/* Prints the headings and ends their line, if the style has a header. */
void grid_print_heading(const struct grid *g, struct line *l);
/* Prints a row and ends its line. */
void grid_print_cells(const struct grid *g, struct line *l, const struct cell *cells);

#endif
