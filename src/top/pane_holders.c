// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* One file and the processes that hold it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "top/panes.h"

void holders_done(struct holders_pane *h)
{
	free(TAKE_PTR(h->holder));
	free(TAKE_PTR(h->label));
	free(TAKE_PTR(h->mount));
	arena_done(&h->names);
	h->file = (struct cached_file){};
}

int holders_set(struct holders_pane *h, const struct cached_file *file)
{
	char buf[FILE_LABEL_MAX];
	cleanup_free struct file_holder *holder = calloc(file->holder_count + 1, sizeof(*holder));
	cleanup_free char *label = strdup(file_label(file, buf));
	cleanup_free char *mount = file->mount ? strdup(file->mount) : NULL;

	if (!holder || !label || (file->mount && !mount))
		return -ENOMEM;
	if (file->holder_count)
		memcpy(holder, file->holder, file->holder_count * sizeof(*holder));
	holders_done(h);
	for (uint32_t i = 0; i < file->holder_count; i++)
		holder[i].name = holder[i].name ? arena_strndup(&h->names, holder[i].name,
								strlen(holder[i].name))
						: NULL;
	h->pane.cursor = (struct cursor){.scrolls = true};
	h->file = *file;
	h->file.holder = h->holder = TAKE_PTR(holder);
	h->label = TAKE_PTR(label);
	h->mount = TAKE_PTR(mount);
	/* The type of the file system is borrowed from the set, which is read again later. */
	h->file.name = h->file.path = h->file.mount = h->file.fs = h->file.label = NULL;
	return 0;
}

/* The files are read again if it is time. */
static unsigned holders_close(__attribute__((unused)) struct pane *p)
{
	return VIEW_ASK_FILES;
}

static const struct key_use keys[] = {
	{{'m'}, .ask = VIEW_ASK_HOLDERS},
	{{'l'}, .ask = PANE_CLOSE},
	{{0}},
};

static void put_bytes(const struct holders_pane *h, struct line *l, const char *name, bool known,
		      uint64_t bytes)
{
	line_printf(l, "%s ", name);
	cell_put(l, cell_bytes(known, bytes), h->pane.shared->style.bytes);
	line_blanks(l, 2);
}

static void draw_facts(const struct holders_pane *h, struct screen *s)
{
	const struct cached_file *file = &h->file;
	char state[FILE_STATE_MAX];
	struct line *l = &s->pen;

	line_text(l, h->label, 0);
	screen_line(s, LOOK_HEADER);
	put_bytes(h, l, "in RAM", true, file->resident);
	put_bytes(h, l, "in swap", true, file->swapped);
	put_bytes(h, l, "size", !file->size_unknown, file->size);
	screen_line(s, LOOK_PLAIN);
	line_printf(l, "kind %s  device %u:%u  inode %llu", file_kind_name(file->kind),
		    FILE_MAJOR(file->device), FILE_MINOR(file->device),
		    (unsigned long long)file->inode);
	if (*file_state(file, state))
		line_printf(l, "  %s", state);
	if (h->mount) {
		line_printf(l, "  mount ");
		line_text(l, h->mount, 0);
	}
	screen_line(s, LOOK_PLAIN);
}

static const char *holders_draw(struct pane *p, struct screen *s)
{
	const struct holders_pane *h = (const struct holders_pane *)p;
	struct cursor *c = &p->cursor;
	struct line *l = &s->pen;
	size_t count = h->file.holder_count;

	draw_facts(h, s);
	if (!h->file.holders_known)
		line_printf(l, "holders: too many mappings to be read");
	else if (h->file.holders_hidden)
		line_printf(l, "%zu process%s, and others that are not seen here, hold it", count,
			    count == 1 ? "" : "es");
	else if (!count)
		line_printf(l, "no process of this pid namespace has it open or maps it");
	else
		line_printf(l, "%zu process%s it open or map%s it", count,
			    count == 1 ? " has" : "es have", count == 1 ? "s" : "");
	screen_line(s, LOOK_PLAIN);
	cursor_place(c, count, s->height - 1 > s->count ? s->height - 1 - s->count : 0);
	for (size_t i = c->first; i < c->first + cursor_shown(c); i++) {
		line_printf(l, "%7d  ", h->holder[i].pid);
		line_text(l, file_holder_name(&h->holder[i]), 0);
		screen_line(s, LOOK_PLAIN);
	}
	return "Esc back  m read again  up_down more  ? help";
}

const struct pane_class holders_class = {
	.keys = keys,
	.leaf = true,
	.close = holders_close,
	.draw = holders_draw,
};
