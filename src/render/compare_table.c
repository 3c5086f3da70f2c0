// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A comparison for people: what does not agree, counter by counter, and what it comes to. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "render/format.h"
#include "render/line.h"
#include "zmem/render.h"

/* Columns that a figure takes: "1023 GiB", exact bytes, a number of cells. */
#define FIGURE_WIDTH 10
#define BYTES_WIDTH  15
#define COUNT_WIDTH  11
#define COUNT_NARROW 5

/* A narrower terminal has the first reading of /proc only, and room for the name. */
#define WIDE_ENOUGH 100

struct page {
	struct line line;
	const struct compare_report *r;
	const struct table_style *style;
};

static unsigned width(const struct page *p)
{
	return p->style->bytes ? BYTES_WIDTH : FIGURE_WIDTH;
}

static bool narrow(const struct page *p)
{
	return p->style->width && p->style->width < WIDE_ENOUGH;
}

static size_t size_text(const struct page *p, int64_t bytes, char *buf)
{
	size_t len = bytes < 0;

	buf[0] = '-';
	return len + format_bytes(buf + len, (uint64_t)llabs(bytes), p->style->bytes);
}

/* A figure, aligned to the right and behind a gap; '-' if it is not known. */
static void put_size(struct page *p, bool known, int64_t bytes)
{
	char buf[FORMAT_MAX + 1] = "-";
	size_t len = known ? size_text(p, bytes, buf) : 1;

	line_blanks(&p->line, 2 + (width(p) > len ? width(p) - (unsigned)len : 0));
	line_ascii(&p->line, buf, len);
}

static void put_right(struct page *p, const char *text, unsigned columns)
{
	unsigned len = (unsigned)strlen(text);

	line_blanks(&p->line, 2 + (columns > len ? columns - len : 0));
	line_ascii(&p->line, text, len);
}

static void put_left(struct page *p, const char *text, unsigned columns)
{
	unsigned len = (unsigned)strlen(text);

	line_ascii(&p->line, text, len);
	line_blanks(&p->line, columns > len ? columns - len : 0);
}

/* ---- the cells ---- */

static void cell_header(struct page *p)
{
	p->line.attr = ATTR_BOLD;
	put_left(p, "    PID  COUNTER  ", 18);
	put_right(p, "BPF", width(p));
	put_right(p, "PROC", width(p));
	if (!narrow(p))
		put_right(p, "PROC AFTER", width(p));
	put_right(p, "DIFFERENCE", width(p));
	line_blanks(&p->line, 2);
	put_left(p, "VERDICT", 13);
	line_printf(&p->line, "NAME");
	line_end(&p->line);
	p->line.attr = ATTR_NORMAL;
}

static void put_cell(struct page *p, const struct process *process, const struct compare_cell *cell)
{
	int64_t difference = 0;
	bool known = compare_difference(cell, &difference);

	if (cell->verdict == COMPARE_DIFFERENT)
		p->line.attr = ATTR_BOLD;
	else if (cell->verdict == COMPARE_SAME)
		p->line.attr = ATTR_DIM;
	line_printf(&p->line, "%7d", process->pid);
	line_blanks(&p->line, 2);
	put_left(p, counter_table[cell->counter].header, 9);
	put_size(p, cell->bpf_known, (int64_t)cell->bpf);
	put_size(p, cell->proc_known, (int64_t)cell->proc_before);
	if (!narrow(p))
		put_size(p, cell->proc_known, (int64_t)cell->proc_after);
	put_size(p, known, difference);
	line_blanks(&p->line, 2);
	put_left(p, compare_verdict_name(cell->verdict), 13);
	line_text(&p->line, process->name ? process->name : "-", 0);
	line_end(&p->line);
	p->line.attr = ATTR_NORMAL;
}

/* The verdict that all cells of a process have, if there is nothing else to say of it; or -1. */
static int verdict_of_all(const struct compare_row *row)
{
	int verdict = -1;

	for (size_t k = 0; k < row->count; k++) {
		const struct compare_cell *cell = &row->cell[k];

		if (cell->left_out)
			continue;
		if (cell->bpf_known || cell->proc_known ||
		    (verdict >= 0 && verdict != cell->verdict))
			return -1;
		verdict = cell->verdict;
	}
	return verdict;
}

static void put_whole(struct page *p, const struct process *process, int verdict)
{
	line_printf(&p->line, "%7d", process->pid);
	line_blanks(&p->line, 2);
	put_left(p, "all", 9);
	for (int i = 0; i < (narrow(p) ? 3 : 4); i++)
		put_size(p, false, 0);
	line_blanks(&p->line, 2);
	put_left(p, compare_verdict_name(verdict), 13);
	line_text(&p->line, process->name ? process->name : "-", 0);
	line_end(&p->line);
}

static void put_row(struct page *p, const struct compare_row *row, bool *header)
{
	int whole = verdict_of_all(row);

	for (size_t k = 0; k < row->count; k++) {
		const struct compare_cell *cell = &row->cell[k];

		if (!compare_shown(cell, p->r->all))
			continue;
		if (*header)
			cell_header(p);
		*header = false;
		if (whole >= 0) {
			put_whole(p, row->process, whole);
			return;
		}
		put_cell(p, row->process, cell);
	}
}

static void put_cells(struct page *p)
{
	const struct comparison *c = p->r->comparison;
	bool header = p->style->header;

	for (size_t i = 0; i < c->count; i++)
		put_row(p, &c->row[i], &header);
	if (header != p->style->header)
		line_end(&p->line);
}

/* ---- the counters ---- */

static const char *against(enum compare_policy policy)
{
	return policy == POLICY_ROLLUP || policy == POLICY_SHARE ? "smaps_rollup" : "status";
}

/* The verdicts of one counter. Returns how many cells it has. */
static size_t sum_counter(const struct comparison *c, int counter, size_t *ret_verdict,
			  int64_t *ret_largest)
{
	size_t cells = 0;

	memset(ret_verdict, 0, COMPARE_VERDICTS * sizeof(*ret_verdict));
	*ret_largest = 0;
	for (size_t i = 0; i < c->count; i++) {
		for (size_t k = 0; k < c->row[i].count; k++) {
			const struct compare_cell *cell = &c->row[i].cell[k];
			int64_t difference;

			if (cell->counter != counter || cell->left_out)
				continue;
			cells++;
			ret_verdict[cell->verdict]++;
			if (compare_difference(cell, &difference) &&
			    llabs(difference) > llabs(*ret_largest))
				*ret_largest = difference;
		}
	}
	return cells;
}

/* Verdicts that nothing has stay without a column. */
static bool has_column(const struct compare_sums *all, int verdict)
{
	return all->verdict[verdict] || verdict == COMPARE_SAME || verdict == COMPARE_MOVED ||
	       verdict == COMPARE_DIFFERENT;
}

static unsigned count_width(const struct page *p, const char *heading)
{
	unsigned len = (unsigned)strlen(heading);

	if (!narrow(p))
		return COUNT_WIDTH;
	return len > COUNT_NARROW ? len : COUNT_NARROW;
}

static void put_count(struct page *p, size_t count, const char *heading)
{
	char buf[FORMAT_MAX + 1];

	buf[format_u64(buf, count)] = '\0';
	put_right(p, buf, count_width(p, heading));
}

static void counters_header(struct page *p, const struct compare_sums *all)
{
	p->line.attr = ATTR_BOLD;
	put_left(p, "COUNTER    AGAINST     ", 23);
	put_right(p, "FIGURES", count_width(p, "FIGURES"));
	for (int v = 0; v < COMPARE_VERDICTS; v++) {
		const char *heading = compare_verdict_name(v);

		if (has_column(all, v))
			put_right(p, heading, count_width(p, heading));
	}
	put_right(p, "LARGEST", width(p));
	line_end(&p->line);
	p->line.attr = ATTR_NORMAL;
}

static void put_counters(struct page *p, const struct compare_sums *all)
{
	size_t verdict[COMPARE_VERDICTS], cells;
	int64_t largest;

	counters_header(p, all);
	for (int c = 0; c < COUNTER_COUNT; c++) {
		cells = sum_counter(p->r->comparison, c, verdict, &largest);
		if (!cells)
			continue;
		put_left(p, counter_table[c].header, 11);
		put_left(p, against(counter_table[c].policy), 12);
		put_count(p, cells, "FIGURES");
		for (int v = 0; v < COMPARE_VERDICTS; v++) {
			if (has_column(all, v))
				put_count(p, verdict[v], compare_verdict_name(v));
		}
		put_size(p, true, largest);
		line_end(&p->line);
	}
	line_end(&p->line);
}

/* ---- what it comes to ---- */

static void put_named_size(struct page *p, const char *name, int64_t bytes)
{
	char buf[FORMAT_MAX + 1];

	buf[size_text(p, bytes, buf)] = '\0';
	line_printf(&p->line, "%s %s", name, buf);
}

static void put_cost(struct page *p)
{
	const struct compare_cost *cost = &p->r->cost;

	line_printf(&p->line, "read once: BPF %.1f ms", (double)cost->bpf_us / 1000);
	if (cost->reads_known)
		line_printf(&p->line, ", %" PRIu64 " reads", cost->bpf_reads);
	line_printf(&p->line, "; /proc %.1f ms, %" PRIu64 " files", (double)cost->proc_us / 1000,
		    cost->proc_files);
	if (cost->reads_known)
		line_printf(&p->line, ", %" PRIu64 " reads", cost->proc_reads);
	line_end(&p->line);
}

static void put_books(struct page *p)
{
	const struct snapshot *s = p->r->books->snapshot;
	const struct machine_balance *balance = &s->balance;
	const uint64_t *figure = s->system.meminfo.value;
	int64_t anon = (int64_t)figure[MEMINFO_ANON], mapped = (int64_t)figure[MEMINFO_MAPPED];

	if (!balance->residual_known) {
		line_printf(&p->line, "machine: its totals are not compared, some PSS is missing");
		line_end(&p->line);
		return;
	}
	put_named_size(p, "machine: AnonPages", anon);
	put_named_size(p, ", all PSS_ANON", anon - balance->anon_residual);
	put_named_size(p, ", left over", balance->anon_residual);
	put_named_size(p, "; Mapped", mapped);
	put_named_size(p, ", all PSS_FILE and PSS_SHMEM", mapped - balance->mapped_residual);
	put_named_size(p, ", left over", balance->mapped_residual);
	line_end(&p->line);
}

static void put_approximate(struct page *p)
{
	const struct comparison *c = p->r->comparison;

	if (!c->approximate)
		return;
	put_named_size(p,
		       "/proc/PID/status is approximate on this kernel: its counters lag by up to",
		       (int64_t)c->bound);
	line_printf(&p->line, " for each %s", c->per_thread ? "thread" : "process");
	line_end(&p->line);
}

static void put_verdict(struct page *p, const struct compare_sums *sums)
{
	size_t different = sums->verdict[COMPARE_DIFFERENT];

	p->line.attr = ATTR_BOLD;
	line_printf(&p->line, "%zu process%s, %zu figures: ", sums->processes,
		    sums->processes == 1 ? "" : "es", sums->cells);
	for (int v = 0; v < COMPARE_DIFFERENT; v++) {
		if (v == COMPARE_SAME || sums->verdict[v])
			line_printf(&p->line, "%s%zu %s", v ? ", " : "", sums->verdict[v],
				    compare_verdict_name(v));
	}
	if (different)
		line_printf(&p->line, "; %zu DIFFERENT", different);
	else
		line_printf(&p->line, "; no difference that is not explained");
	line_end(&p->line);
	p->line.attr = ATTR_NORMAL;
}

void render_compare_table(struct strbuf *out, const struct compare_report *r,
			  const struct table_style *style)
{
	struct page page = {
		.line = {.out = out, .width = style->width, .color = style->color},
		.r = r,
		.style = style,
	};
	struct compare_sums sums;

	compare_sum(r->comparison, &sums);
	put_cells(&page);
	put_counters(&page, &sums);
	/* What is a sentence is not cut. */
	page.line.width = 0;
	put_cost(&page);
	put_books(&page);
	put_approximate(&page);
	put_verdict(&page, &sums);
}
