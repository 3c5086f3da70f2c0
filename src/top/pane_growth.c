// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The growth of one process by stack: the table that grow prints. */
#include <stdio.h>

#include "base/cleanup.h"
#include "fields/growth_fields.h"
#include "report/growth.h"
#include "top/panes.h"

/* Lines that are not rows: the title, the headings, the others, the total, its notes, the keys. */
#define LINES_AROUND 10
#define ROWS_LEAST   3

static unsigned growth_open(struct pane *p)
{
	struct growth_pane *g = (struct growth_pane *)p;
	struct shared *v = p->shared;
	const struct process *row = listing_process(&v->rows);

	if (!row)
		return PANE_REFUSE;
	if (v->facts.frames)
		return PANE_REFUSE |
		       show_message(v, "w counts what grows now: a recording has no stacks");
	if (!row->pid)
		return PANE_REFUSE |
		       show_message(v, "w counts for one process: Enter shows those of a group");
	if (row->kind == PROCESS_KTHREAD || row->kind == PROCESS_ZOMBIE)
		return PANE_REFUSE |
		       show_message(v, "%d has no memory that could grow: it is a %s", row->pid,
				    row->kind == PROCESS_ZOMBIE ? "zombie" : "kernel thread");
	p->cursor = (struct cursor){.scrolls = true};
	g->pid = row->pid;
	g->growth = NULL;
	snprintf(g->name, sizeof(g->name), "%s", listing_text(&v->rows, row));
	listing_hold(&v->rows);
	return VIEW_ASK_GROWTH;
}

static void draw_title(const struct growth_pane *p, struct line *l)
{
	const struct growth *g = p->growth;

	line_printf(l, "%d ", p->pid);
	line_text(l, p->name, 0);
	line_printf(l, "  which code makes it grow");
	if (g && g->targets && g->target[0].ended)
		line_printf(l, ": it has ended");
	else if (p->pane.shared->set.paused)
		line_printf(l, ": paused");
}

static const char *growth_draw(struct pane *p, struct screen *s)
{
	cleanup(strbuf_done) struct strbuf text = {};
	struct growth_pane *g = (struct growth_pane *)p;
	struct table_style style = pane_style(p, s);
	struct field_list columns;
	size_t rows = s->height > LINES_AROUND + ROWS_LEAST ? s->height - LINES_AROUND : ROWS_LEAST;

	growth_list_usual(&columns, false, true);
	style.columns = &columns;
	draw_title(g, &s->pen);
	screen_line(s, LOOK_HEADER);
	if (g->growth) {
		render_growth_table(&text, g->growth, &(struct growth_view){.rows = rows}, &style);
		pane_text(&p->cursor, strbuf_str(&text), g->growth->stacks, s);
	} else {
		line_printf(&s->pen, "loading the programs that count…");
		screen_line(s, LOOK_PLAIN);
	}
	return "Esc back, and end counting  b bytes  Space pause  ? help";
}

static const struct key_use keys[] = {{{'w'}, .ask = PANE_CLOSE}, {{0}}};

const struct pane_class growth_class = {
	.keys = keys,
	.leaf = true,
	.open = growth_open,
	.draw = growth_draw,
};
