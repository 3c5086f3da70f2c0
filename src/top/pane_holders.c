// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The pane with one file and the processes that hold it. */
#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "fields/file_said.h"
#include "top/panes.h"

void holders_done(struct holders_pane *h)
{
	arena_done(&h->arena);
	h->file = (struct cached_file){};
}

/* NULL stays NULL. False: no memory. */
static bool copy_text(struct arena *a, const char **text)
{
	if (!*text)
		return true;
	*text = arena_strndup(a, *text, strlen(*text));
	return *text;
}

int holders_set(struct holders_pane *h, const struct cached_file *file)
{
	struct arena arena = {};
	struct cached_file copy = *file;
	const char **const texts[] = {&copy.fs, &copy.name, &copy.path, &copy.mount, &copy.label};
	struct file_holder *holder = arena_zalloc(&arena, copy.holder_count + 1, sizeof(*holder));
	bool whole = holder;

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		whole &= copy_text(&arena, texts[i]);
	for (uint32_t i = 0; whole && i < copy.holder_count; i++) {
		holder[i] = file->holder[i];
		whole &= copy_text(&arena, &holder[i].name);
	}
	if (!whole) {
		arena_done(&arena);
		return -ENOMEM;
	}
	holders_done(h);
	h->pane.cursor = (struct cursor){.scrolls = true};
	h->arena = arena;
	h->file = copy;
	h->file.holder = holder;
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

static const char *holders_draw(struct pane *p, struct screen *s)
{
	const struct holders_pane *h = (const struct holders_pane *)p;
	const struct cached_file *file = &h->file;
	struct cursor *c = &p->cursor;
	struct line *l = &s->pen;
	size_t count = file->holder_count;
	char label[FILE_LABEL_MAX];
	struct file_texts texts;

	line_text(l, file_label(file, label), 0);
	screen_line(s, LOOK_HEADER);
	pane_say(s, &(struct said){&file_held_said, &file, &texts, p->shared->style.bytes},
		 LOOK_PLAIN);
	cursor_place(c, count, s->height - 1 > s->count ? s->height - 1 - s->count : 0);
	for (size_t i = c->first; i < c->first + cursor_shown(c); i++) {
		line_printf(l, "%7d  ", file->holder[i].pid);
		line_text(l, file_holder_name(&file->holder[i]), 0);
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
