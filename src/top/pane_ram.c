// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The RAM of the machine by class, and what changed since the pane was first shown. */
#include <stdlib.h>

#include "base/count.h"
#include "top/head.h"
#include "top/panes.h"
#include "write/format.h"

#define TITLE_WIDE   22
#define PERCENT_WIDE 6

static unsigned ram_open(struct pane *p)
{
	p->cursor = (struct cursor){.scrolls = true};
	return VIEW_ASK_RAM;
}

void ram_set(struct ram_pane *r, const struct ram *ram)
{
	r->known = ram;
	if (!ram)
		return;
	r->ram = *ram;
	if (!ram_is_counted(&r->first) && ram_is_counted(ram))
		r->first = *ram;
}

/* ---- drawing ---- */

static int by_size(const void *pa, const void *pb)
{
	const struct ram_figure *a = *(const struct ram_figure *const *)pa,
				*b = *(const struct ram_figure *const *)pb;

	if (a->bytes != b->bytes)
		return a->bytes < b->bytes ? 1 : -1;
	return a->class < b->class ? -1 : 1;
}

/* The classes that have memory, largest first. */
static size_t sort_figures(const struct ram *ram, const struct ram_figure *ret[RAM_CLASSES])
{
	size_t count = 0;

	for (int i = 0; i < RAM_CLASSES; i++) {
		if (ram->figure[i].known && ram->figure[i].bytes)
			ret[count++] = &ram->figure[i];
	}
	qsort(ret, count, sizeof(*ret), by_size);
	return count;
}

static void put_right(struct line *l, const char *text, size_t len, unsigned width)
{
	line_blanks(l, len < width ? width - (unsigned)len : 0);
	line_ascii(l, text, len);
}

static unsigned size_wide(const struct ram_pane *r)
{
	return r->pane.shared->style.bytes ? 15 : 10;
}

/* What it has more than at first, with a sign; "-": that is not known. */
static void put_change(const struct ram_pane *r, const struct ram_figure *f, struct line *l)
{
	const struct ram_figure *first = &r->first.figure[f->class];
	char buf[FORMAT_MAX + 1] = "-";
	size_t len = 1;

	if (ram_is_counted(&r->ram) && ram_is_counted(&r->first) && first->known) {
		bool less = f->bytes < first->bytes;

		buf[0] = less ? '-' : '+';
		len += format_bytes(buf + 1,
				    less ? first->bytes - f->bytes : f->bytes - first->bytes,
				    r->pane.shared->style.bytes);
		if (f->bytes == first->bytes)
			len = 0;
	}
	put_right(l, buf, len, size_wide(r) + 3);
}

static void draw_class(const struct ram_pane *r, const struct ram_figure *f, struct screen *s)
{
	struct line *l = &s->pen;
	char buf[FORMAT_MAX];
	double whole = (double)r->ram.frames;

	line_printf(l, "%-*s", TITLE_WIDE, ram_class_table[f->class].title);
	put_right(l, buf, format_bytes(buf, f->bytes, r->pane.shared->style.bytes), size_wide(r));
	put_right(l, buf, format_percent(buf, whole > 0 ? 100 * (double)f->bytes / whole : 0),
		  PERCENT_WIDE + 2);
	put_change(r, f, l);
	screen_line(s, LOOK_PLAIN);
}

static void draw_state(const struct ram_pane *r, struct screen *s)
{
	struct line *l = &s->pen;
	char buf[FORMAT_MAX];

	head_put_paused(r->pane.shared, l);
	if (!ram_is_counted(&r->ram)) {
		line_printf(l, "RAM by counters of the kernel: %s", r->ram.reason);
	} else if (format_time(buf, r->ram.taken_ms, TIME_TABLE) > 19) {
		line_printf(l, "RAM by page frames, counted ");
		line_ascii(l, buf + 11, 8);
		format_time(buf, r->first.taken_ms, TIME_TABLE);
		line_printf(l, "; changes since ");
		line_ascii(l, buf + 11, 8);
	}
	screen_line(s, LOOK_PLAIN);
}

static void draw_deleted(const struct ram_pane *r, struct screen *s)
{
	if (!r->ram.deleted_cgroups)
		return;
	line_printf(&s->pen, "%llu deleted %s ", (unsigned long long)r->ram.deleted_cgroups,
		    count_word(r->ram.deleted_cgroups, "cgroup still holds", "cgroups still hold"));
	cell_put(&s->pen, cell_bytes(true, r->ram.deleted_bytes), r->pane.shared->style.bytes);
	screen_line(s, LOOK_PLAIN);
}

static const char *ram_draw(struct pane *p, struct screen *s)
{
	const struct ram_pane *r = (const struct ram_pane *)p;
	const struct ram_figure *figure[RAM_CLASSES];
	struct line *l = &s->pen;
	size_t count;

	head_draw(p->shared, s, true, r->known ? &r->ram : NULL);
	if (!r->known) {
		line_printf(l, "this recording has no page frames near this snapshot");
		screen_line(s, LOOK_PLAIN);
		return "Esc back  ? help";
	}
	draw_state(r, s);
	draw_deleted(r, s);
	line_printf(l, "%-*s%*s%*s%*s", TITLE_WIDE, "RAM", size_wide(r), "SIZE", PERCENT_WIDE + 2,
		    "%RAM", size_wide(r) + 3, "CHANGE");
	screen_line(s, LOOK_HEADER);
	count = sort_figures(&r->ram, figure);
	cursor_place(&p->cursor, count, s->height - 1 > s->count ? s->height - 1 - s->count : 0);
	for (size_t i = p->cursor.first; i < p->cursor.first + cursor_shown(&p->cursor); i++)
		draw_class(r, figure[i], s);
	return "Esc back  up_down more  b bytes  Space pause  ? help";
}

static const struct key_use keys[] = {{{'R'}, .ask = PANE_CLOSE}, {{0}}};

const struct pane_class ram_pane_class = {
	.keys = keys,
	.leaf = true,
	.open = ram_open,
	.draw = ram_draw,
};
