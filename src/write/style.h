/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* How output looks: what the command line chooses, and what the terminal has room for. */
#ifndef ZMEM_WRITE_STYLE_H
#define ZMEM_WRITE_STYLE_H

#include <stdbool.h>

struct field;
struct field_list;

struct table_style {
	const struct field_list *columns;
	bool bytes; /* exact bytes, not KiB MiB GiB */
	bool header;
	bool only_total;	    /* no rows */
	bool color;		    /* SGR sequences */
	unsigned width;		    /* maximum width of a line, 0: not limited */
	bool wide;		    /* texts are cut to the line, not to their column */
	bool numeric;		    /* uids instead of user names */
	bool tabs;		    /* of csv: TSV */
	bool timed;		    /* of csv: the time of the snapshot is the first column */
	const struct field *group;  /* of html: the initial grouping; NULL: none */
	const struct field *sorted; /* its heading is highlighted; NULL: none */
	bool head;		    /* the machine is shown above the table: not again below */
	bool recorded;		    /* the time of the snapshot is told */
	const char *nothing;	    /* what to say if no process is left; NULL: nothing special */
};

/* Between two fields of CSV or TSV. */
static inline char style_separator(const struct table_style *style)
{
	return style->tabs ? '\t' : ',';
}

#endif
