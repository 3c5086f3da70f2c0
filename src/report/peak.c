// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The document zmem.peak, as specified in src/dist/documents.txt, and its table:
 *
 *	peak RSS 1.92 GiB  14.2 s after the start, by 9 processes (2026-11-28 08:20:11Z)
 *	         1.80 GiB  anonymous
 *	…
 *	  AT_PEAK       PEAK   PID  PPID  NAME
 */
#include "report/peak.h"

#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/count.h"
#include "fields/peak_fields.h"
#include "fields/peak_said.h"
#include "report/json.h"
#include "report/page_parts.h"
#include "report/report.h"
#include "write/field_text.h"
#include "write/format.h"
#include "write/say.h"
#include "write/text.h"

#define ARGUMENT_MAX 1024 /* bytes of one in JSON */
#define CURVE_W	     1000 /* units of SVG */
#define CURVE_H	     240
#define CURVE_TOP    10
#define COMMAND_MAX  200 /* columns of it in a title */

static void put_document(struct json_writer *w, const struct peak *p)
{
	json_document_begin(w, "zmem.peak", "1.0", p->snapshot);
	json_newline(w);
	if (p->command)
		json_array(w, "command");
	else
		json_null(w, "command");
	for (size_t i = 0; p->command && p->command[i]; i++)
		json_put_string_max(w, p->command[i], ARGUMENT_MAX);
	if (p->command)
		json_end(w, ']');
	json_lines(w, &peak_document, p, NULL);
	json_document_end(w);
}

void render_peak_json(struct strbuf *out, const struct peak *p)
{
	struct json_writer w = {.out = out};

	put_document(&w, p);
}

/* ---- the table ---- */

/* Adds a sentence to a text. Returns false if it cannot be said. */
static bool say_of(struct strbuf *out, const struct peak *p, const struct sentences *sentences,
		   const struct table_style *style)
{
	return say_first(&(struct line){.out = out},
			 &(struct said){sentences, p, NULL, style->bytes});
}

static unsigned size_width(const struct table_style *style)
{
	return style->bytes ? 15 : FORMAT_SIZE_MAX + 1;
}

/* The column of the words of a line. */
static unsigned words_at(const struct table_style *style)
{
	return 8 + 1 + size_width(style) + 2;
}

/* A line: a size in a column, and words behind it. */
static void put_line(struct strbuf *out, const struct table_style *style, const char *what,
		     uint64_t bytes, const struct strbuf *words)
{
	strbuf_printf(out, "%-8s %*s", what, (int)size_width(style),
		      size_text(bytes, style->bytes).text);
	if (words)
		strbuf_take_error(out, words);
	if (words && words->len) {
		strbuf_puts(out, "  ");
		strbuf_put(out, words->data, words->len);
	}
	strbuf_putc(out, '\n');
}

static void put_part(struct strbuf *out, const struct table_style *style, const char *what,
		     const char *name, uint64_t bytes)
{
	cleanup(strbuf_done) struct strbuf words = {};

	strbuf_puts(&words, name);
	if (bytes)
		put_line(out, style, what, bytes, &words);
}

static void put_peak(struct strbuf *out, const struct peak *p, const struct table_style *style)
{
	cleanup(strbuf_done) struct strbuf words = {}, time = {};

	if (p->unseen) {
		strbuf_puts(out, "peak RSS         -  it ended before a sample met any memory\n");
		return;
	}
	say_of(&words, p, &peak_when_said, style);
	say_of(&time, p, &peak_time_said, style);
	if (!style->width || words_at(style) + words.len + time.len <= style->width)
		strbuf_puts(&words, strbuf_str(&time));
	put_line(out, style, "peak RSS", p->at.rss, &words);
	put_part(out, style, "", "anonymous", p->at.anon);
	put_part(out, style, "", "of files", p->at.file);
	put_part(out, style, "", "shared memory and tmpfs", p->at.shmem);
	put_part(out, style, "swap", "beside it, at that moment", p->at.swap);
}

static void put_pss(struct strbuf *out, const struct peak *p, const struct table_style *style)
{
	cleanup(strbuf_done) struct strbuf words = {};

	if (say_of(&words, p, &peak_pss_said, style))
		put_line(out, style, "PSS", p->pss, &words);
	else
		strbuf_printf(out, "PSS              -  %s\n", p->pss_reason ? p->pss_reason : "");
}

struct peak_rows {
	const struct peak *p;
	struct field_list list;
};

static void fill(void *arg, size_t row, size_t first, size_t end, struct cell *ret)
{
	const struct peak_rows *t = arg;

	for (size_t i = first; i < end; i++) {
		const struct field *f = t->list.item[i];

		if (row < t->p->processes)
			ret[i - first] =
				cell_of_value(f, field_value(f, &t->p->process[row], t->p));
		else
			ret[i - first] = (struct cell){.type = CELL_EMPTY};
	}
}

/* The columns that have a value in some row. */
static struct peak_rows list_columns(const struct peak *p)
{
	struct peak_rows t = {.p = p};
	bool swap = false, pss = false;

	for (size_t i = 0; i < p->processes; i++) {
		swap |= p->process[i].at.swap > 0;
		pss |= p->process[i].pss_known;
	}
	for (size_t i = 0; i < peak_columns.count; i++) {
		const struct field *f = peak_columns.item[i];

		if ((strcmp(f->key, "swap") != 0 || swap) && (strcmp(f->key, "pss") != 0 || pss))
			t.list.item[t.list.count++] = f;
	}
	return t;
}

static void put_rows(struct strbuf *out, const struct peak *p, size_t rows,
		     const struct table_style *style)
{
	struct peak_rows t = list_columns(p);
	struct grid grid = {.style = style, .unknown = ATTR_DIM};

	for (size_t i = 0; i < t.list.count; i++)
		grid_add(&grid, t.list.item[i]);
	grid.source = (struct grid_source){
		.fill = fill,
		.arg = &t,
		.rows = p->processes < rows ? p->processes : rows,
		.no_total = true,
	};
	grid_place(&grid);
	grid_print(out, &grid);
	if (p->processes > rows)
		strbuf_printf(out, "%zu more %s)\n", p->processes - rows,
			      count_word(p->processes - rows, "process (-a shows it",
					 "processes (-a shows them"));
}

static void put_lines(struct strbuf *out, const struct peak *p, const struct table_style *style)
{
	put_peak(out, p, style);
	put_pss(out, p, style);
	say_all(out, &(struct said){&peak_end_said, p, NULL, style->bytes}, 0, 0);
}

void render_peak_table(struct strbuf *out, const struct peak *p, size_t rows,
		       const struct table_style *style)
{
	put_lines(out, p, style);
	if (p->processes && !p->unseen) {
		strbuf_putc(out, '\n');
		put_rows(out, p, rows, style);
	}
}

/* ---- the page ---- */

/* Each point is the highest sum since the one before: a step. */
static void put_curve(struct strbuf *out, const struct peak *p)
{
	const struct table_style style = {};
	double width = p->duration_us ? (double)p->duration_us : 1;
	double height = p->at.rss ? (double)p->at.rss : 1;
	double at = CURVE_W * (double)p->offset_us / width;

	strbuf_printf(out,
		      "<svg class=\"curve\" viewBox=\"0 0 %d %d\" preserveAspectRatio=\"none\" "
		      "role=\"img\" aria-label=\"RSS of all processes over time, the peak: ",
		      CURVE_W, CURVE_H);
	say_of(out, p, &peak_page_said, &style);
	strbuf_printf(out, "\"><path d=\"M0 %d", CURVE_H);
	for (size_t i = 0; i < p->points; i++) {
		double y = (double)p->point[i].rss / height;

		strbuf_printf(out, "V%.1fH%.1f", CURVE_H - (CURVE_H - CURVE_TOP) * (y > 1 ? 1 : y),
			      CURVE_W * (double)p->point[i].offset_us / width);
	}
	strbuf_printf(out,
		      "V%dZ\"/><line x1=\"%.1f\" x2=\"%.1f\" y1=\"0\" y2=\"%d\"/></svg>"
		      "<p class=\"ends muted small\"><span>0 s</span><span>the peak, dashed: ",
		      CURVE_H, at, at, CURVE_H);
	say_of(out, p, &peak_page_said, &style);
	strbuf_puts(out, "</span><span>");
	say_of(out, p, &peak_length_said, &style);
	strbuf_puts(out, "</span></p>");
}

/* A table of the rows from `first` up to, but not including, `end`. The keyboard scrolls it. */
static void put_html_rows(struct strbuf *out, const struct peak_rows *t, size_t first, size_t end)
{
	struct line line = {.out = out};

	strbuf_puts(out, "<div class=\"wide\" role=\"region\" aria-label=\"Processes\" "
			 "tabindex=\"0\"><table><thead><tr>");
	for (size_t i = 0; i < t->list.count; i++)
		strbuf_printf(out, "<th scope=\"col\">%s</th>", t->list.item[i]->heading);
	strbuf_puts(out, "</tr></thead><tbody>\n");
	for (size_t row = first; row < end; row++) {
		struct cell cell[ARRAY_SIZE(t->list.item)];

		fill((void *)t, row, 0, t->list.count, cell);
		strbuf_puts(out, "<tr>");
		for (size_t i = 0; i < t->list.count; i++) {
			strbuf_puts(out, "<td>");
			if (cell[i].type == CELL_TEXT)
				html_put_text(out, cell[i].text);
			else
				cell_put(&line, cell[i], false);
			strbuf_puts(out, "</td>");
		}
		strbuf_puts(out, "</tr>\n");
	}
	strbuf_puts(out, "</tbody></table></div>");
}

/* Writes processes that held memory at the peak and, behind a line that opens, the others. */
static void put_processes(struct strbuf *out, const struct peak *p)
{
	const struct peak_rows t = list_columns(p);
	size_t holders = p->processes - peak_holds_nothing(p);

	strbuf_puts(out, "<section class=\"card\"><h2>Processes at the peak</h2>");
	put_html_rows(out, &t, 0, holders);
	if (p->processes > holders) {
		strbuf_puts(out, "<details><summary>");
		say_of(out, p, &peak_nothing_said, &(struct table_style){});
		strbuf_puts(out, "</summary>");
		put_html_rows(out, &t, holders, p->processes);
		strbuf_puts(out, "</details>");
	}
	strbuf_puts(out, "</section>\n");
}

static void put_command(struct strbuf *out, const struct peak *p)
{
	cleanup(strbuf_done) struct strbuf words = {}, safe = {};
	struct line line = {.out = &safe};

	for (size_t i = 0; p->command && p->command[i] && words.len < COMMAND_MAX; i++)
		strbuf_printf(&words, "%s%s", i ? " " : "", p->command[i]);
	line_text(&line, p->command ? strbuf_str(&words) : p->snapshot->host.name, COMMAND_MAX);
	strbuf_take_error(out, &words);
	strbuf_take_error(out, &safe);
	html_put_text(out, strbuf_str(&safe));
}

void render_peak_html(struct strbuf *out, const struct peak *p)
{
	struct json_writer w = {.out = out, .html = true};
	cleanup(strbuf_done) struct strbuf text = {};

	put_lines(&text, p, &(struct table_style){});
	unpack(out, &peak_head);
	put_command(out, p);
	unpack(out, &peak_title);
	strbuf_puts(out, "<header class=\"top\"><h1>");
	put_command(out, p);
	strbuf_puts(out, "</h1></header>\n<main>\n<section class=\"card\"><h2>RSS over time</h2>");
	put_curve(out, p);
	strbuf_puts(out, "<pre>");
	for (char *line = (char *)strbuf_str(&text), *end; *line; line = end) {
		end = strchr(line, '\n');
		*end++ = '\0';
		html_put_text(out, line);
		strbuf_putc(out, '\n');
	}
	strbuf_puts(out, "</pre></section>\n");
	if (!p->unseen)
		put_processes(out, p);
	strbuf_puts(out, "</main>\n");
	strbuf_take_error(out, &text);
	unpack(out, &peak_body);
	put_document(&w, p);
	unpack(out, &peak_tail);
}
