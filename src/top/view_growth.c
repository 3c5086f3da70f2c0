// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The growth of one process by stack: the table that grow prints. */
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "report/growth.h"
#include "top/view.h"

/* Lines that are not rows: the title, the headings, the others, the total, its notes, the keys. */
#define LINES_AROUND 9
#define ROWS_LEAST   3

bool view_shows_growth(const struct view *v)
{
	return v->mode == VIEW_GROWTH || (v->mode == VIEW_HELP && v->help_from == VIEW_GROWTH);
}

unsigned view_growth_open(struct view *v)
{
	const struct process *p = v->mode == VIEW_DETAIL ? &v->detail.row : view_row(v);

	if (!p)
		return 0;
	if (v->facts.frames) {
		view_set_message(v, "w counts what grows now: a recording has no stacks");
	} else if (!p->pid) {
		view_set_message(v, "w counts for one process: Enter shows those of a group");
	} else if (p->kind == PROCESS_KTHREAD || p->kind == PROCESS_ZOMBIE) {
		view_set_message(v, "%d has no memory that could grow: it is a %s", p->pid,
				 p->kind == PROCESS_ZOMBIE ? "zombie" : "kernel thread");
	} else if (v->mode == VIEW_DETAIL && v->detail.ended) {
		view_set_message(v, "%d has ended", p->pid);
	} else {
		v->growing = (struct view_growing){.pid = p->pid, .from = v->mode};
		snprintf(v->growing.name, sizeof(v->growing.name), "%s",
			 v->mode == VIEW_DETAIL ? v->detail.name : view_row_text(v, p));
		view_hold_row(v);
		v->mode = VIEW_GROWTH;
		return VIEW_ASK_GROWTH;
	}
	return 0;
}

void view_set_growth(struct view *v, const struct growth *g)
{
	v->growing.growth = g;
	if (g || !view_shows_growth(v))
		return;
	v->mode = v->growing.from;
	v->moved = true;
}

unsigned view_growth_key(struct view *v, int key)
{
	switch (key) {
	case TOP_ESCAPE:
	case TOP_ENTER:
	case TOP_LEFT:
	case TOP_BACKSPACE:
	case 'q':
	case 'w':
		v->mode = v->growing.from;
		v->moved = true;
		return 0;
	case 'b':
		v->style.bytes = !v->style.bytes;
		return 0;
	}
	return view_key_anywhere(v, key);
}

static void draw_title(const struct view *v, struct line *l, const struct growth *g)
{
	line_printf(l, "%d ", v->growing.pid);
	line_text(l, v->growing.name, 0);
	line_printf(l, "  which code makes it grow");
	if (g && g->targets && g->target[0].ended)
		line_printf(l, ": it has ended");
	else if (v->set.paused)
		line_printf(l, ": paused");
}

void view_growth_draw(struct view *v, struct screen *s)
{
	cleanup(strbuf_done) struct strbuf text = {};
	const struct table_style style = {
		.bytes = v->style.bytes, .header = true, .color = true, .width = s->width};
	size_t rows = s->height > LINES_AROUND + ROWS_LEAST ? s->height - LINES_AROUND : ROWS_LEAST;
	const struct growth *g = v->growing.growth;

	draw_title(v, &s->pen, g);
	screen_line(s, LOOK_HEADER);
	if (!g) {
		line_printf(&s->pen, "loading the programs that count…");
		screen_line(s, LOOK_PLAIN);
	} else {
		render_growth_table(&text, g, rows, &style);
	}
	for (const char *at = strbuf_str(&text); *at && s->count + 1 < s->height;) {
		size_t len = strcspn(at, "\n");

		screen_add_text(s, at, len,
				at == text.data && g->stacks ? LOOK_HEADER : LOOK_PLAIN);
		at += len + (at[len] == '\n');
	}
	screen_fill(s, s->height - 1);
}
