// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "report/ended.h"

#include "write/format.h"

#define INDENT	   4
#define PEAK_WIDTH 11

void ended_put(struct line *l, const struct ended_processes *e, enum said_sizes sizes)
{
	say_first(l, &(struct said){&ended_line, e, NULL, sizes});
}

static void put_row(struct strbuf *out, const struct ended_row *row,
		    const struct table_style *style)
{
	struct line l = {.out = out, .width = style->width, .color = style->color};
	char text[FORMAT_MAX];
	const size_t len = format_bytes(text, row->peak, style->bytes);

	line_blanks(&l, INDENT + (len < PEAK_WIDTH ? PEAK_WIDTH - (unsigned)len : 0));
	line_ascii(&l, text, len);
	line_printf(&l, "  %5llu  ", (unsigned long long)row->count);
	line_text(&l, row->name, 0);
	if (row->cgroup) {
		line_blanks(&l, 2);
		line_text(&l, row->cgroup, 0);
	}
	line_end(&l);
}

void render_ended(struct strbuf *out, const struct ended_processes *e,
		  const struct sentences *heading, size_t rows, const struct table_style *style)
{
	const struct ended_row others = {"(others)", NULL, e->others, e->others_peak};

	say_all(out, &(struct said){heading, e, NULL, style->bytes}, INDENT, style->width);
	for (uint32_t i = 0; i < e->count && i < rows; i++)
		put_row(out, &e->row[i], style);
	if (e->count <= rows && others.count)
		put_row(out, &others, style);
	say_all(out, &(struct said){&ended_missed_said, e, NULL, style->bytes}, INDENT,
		style->width);
}
