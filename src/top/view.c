// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The panes of top that lie on each other: opens and closes them, and gives each key to one. */
#include "top/view.h"

#include <stdio.h>
#include <string.h>

#include "base/array.h"

void view_init(struct view *v, const struct view_settings *set)
{
	struct {
		struct pane *pane;
		const struct pane_class *class;
	} is[PANE_KINDS] = {
		[PANE_LIST] = {&v->list.pane, &list_class},
		[PANE_DETAIL] = {&v->detail.pane, &detail_class},
		[PANE_GROWTH] = {&v->growth.pane, &growth_class},
		[PANE_FILES] = {&v->files.pane, &files_class},
		[PANE_HOLDERS] = {&v->holders.pane, &holders_class},
		[PANE_RAM] = {&v->ram.pane, &ram_pane_class},
		[PANE_MENU] = {&v->menu.pane, &menu_class},
		[PANE_HELP] = {&v->help.pane, &menu_class},
	};

	*v = (struct view){.shared.set = *set, .front = &v->list.pane};
	for (int i = 0; i < PANE_KINDS; i++) {
		v->pane[i] = is[i].pane;
		v->pane[i]->class = is[i].class;
		v->pane[i]->shared = &v->shared;
	}
	v->shared.rows.cursor = &v->list.pane.cursor;
	v->shared.style.columns = &v->list.fitting;
	v->shared.style.header = true;
	v->shared.style.color = true;
	view_resize(v, 80, 24);
}

void view_done(struct view *v)
{
	detail_set_maps(&v->detail, NULL, PSS_SKIPPED);
	holders_done(&v->holders);
	files_done(&v->files);
	list_done(&v->list);
}

static void place(struct view *v)
{
	if (v->front->class->place)
		v->front->class->place(v->front);
}

void view_resize(struct view *v, unsigned width, unsigned height)
{
	v->shared.width = width ? width : 1;
	v->shared.height = height ? height : 1;
	for (struct pane *p = v->front; p; p = p->below)
		p->cursor.show = true;
	list_columns_changed(&v->list);
	place(v);
}

/* ---- the panes that are open ---- */

bool view_in_front(const struct view *v, enum pane_kind kind)
{
	return v->front == v->pane[kind];
}

bool view_has(const struct view *v, enum pane_kind kind)
{
	const struct pane *p = v->front;

	while (p && p != v->pane[kind])
		p = p->below;
	return p;
}

static unsigned open_pane(struct view *v, enum pane_kind kind)
{
	struct pane *p = v->pane[kind];
	unsigned ask;

	p->below = v->front;
	ask = p->class->open ? p->class->open(p) : 0;
	if (ask & PANE_REFUSE)
		return 0;
	v->front = p;
	return ask;
}

/* The list is not closed: that quits. */
static unsigned close_pane(struct view *v)
{
	struct pane *p = v->front;

	if (!p->below)
		return VIEW_ASK_QUIT;
	v->front = p->below;
	v->front->cursor.show = true;
	return p->class->close ? p->class->close(p) : 0;
}

/* ---- keys ---- */

static const struct key_use *find_use(const struct pane_class *class, int key)
{
	for (const struct key_use *use = class->keys; use && use->key[0]; use++) {
		for (size_t i = 0; i < ARRAY_SIZE(use->key) && use->key[i]; i++) {
			if (use->key[i] == key)
				return use;
		}
	}
	return NULL;
}

static const char *key_name(int key, char *buf, size_t size)
{
	static const char *const special[] = {"up",   "down", "left", "right", "PgUp",
					      "PgDn", "Home", "End",  "Delete"};

	if (key == TOP_BACKSPACE || key == TOP_CTRL('h'))
		return "Backspace";
	if (key == '\t')
		return "Tab";
	if (key == TOP_ESCAPE)
		return "Esc";
	if (key >= TOP_F1 && key <= TOP_F12)
		snprintf(buf, size, "F%d", key - TOP_F1 + 1);
	else if (key >= TOP_UP && key <= TOP_DELETE)
		return special[key - TOP_UP];
	else if (key > 0 && key < ' ')
		snprintf(buf, size, "Ctrl-%c", key + 'A' - 1);
	else if (key > ' ' && key < 0x7f)
		snprintf(buf, size, "%c", key);
	else
		return "this key";
	return buf;
}

/* Says that the key has no meaning here, and where it has one. */
static unsigned unknown_key(struct view *v, int key)
{
	char buf[16];
	const char *name = key_name(key, buf, sizeof(buf));

	for (int i = 0; i < PANE_KINDS; i++) {
		const struct pane_class *class = v->pane[i]->class;
		const struct key_use *use = find_use(class, key);
		const char *where = use && use->where ? use->where : class->where;

		if (use && use->does)
			return show_message(&v->shared, "%s %s%s%s", name, use->does,
					    *where ? " " : "", where);
	}
	return show_message(&v->shared, "%s does nothing; ? lists the keys", name);
}

/* Keys that are the same in all panes, or in all of a sort. */
static unsigned common_key(struct view *v, const struct pane_class *class, int key)
{
	switch (key) {
	case TOP_ESCAPE:
	case 'q':
	case 'Q':
	case TOP_F(10):
		return PANE_CLOSE;
	case TOP_ENTER:
	case TOP_LEFT:
	case TOP_BACKSPACE:
	case TOP_CTRL('h'):
		return class->leaf ? PANE_CLOSE : PANE_REFUSE;
	case TOP_CTRL('l'):
		return VIEW_ASK_REDRAW;
	case '?':
	case 'h':
	case TOP_F1:
		return view_in_front(v, PANE_HELP) ? PANE_CLOSE : PANE_OPEN(PANE_HELP);
	}
	if (class->modal)
		return PANE_REFUSE;
	switch (key) {
	case ' ':
	case 'p':
	case 'Z':
		v->shared.set.paused = !v->shared.set.paused;
		return VIEW_ASK_INTERVAL;
	case 'b':
		v->shared.style.bytes = !v->shared.style.bytes;
		list_columns_changed(&v->list);
		return 0;
	}
	return PANE_REFUSE;
}

static unsigned pane_key(struct view *v, struct pane *p, int key)
{
	const struct key_use *use = find_use(p->class, key);

	if (use && (use->act || use->menu || use->prompt || use->ask))
		return pane_act(p, use);
	if (!cursor_key(&p->cursor, key))
		return common_key(v, p->class, key);
	if (p->class->moved)
		p->class->moved(p);
	return 0;
}

unsigned view_key(struct view *v, int key)
{
	struct shared *s = &v->shared;
	struct pane *p = v->front;
	unsigned ask;

	*s->message = '\0';
	s->key = key;
	if (s->prompt.kind) {
		ask = prompt_key(&s->prompt, p, key);
		p->cursor.show = true;
	} else {
		ask = pane_key(v, p, key);
	}
	if (ask & PANE_REFUSE)
		ask |= unknown_key(v, key);
	if (ask & PANE_CLOSE)
		ask |= close_pane(v);
	if (ask >> PANE_OPEN_SHIFT)
		ask |= open_pane(v, (ask >> PANE_OPEN_SHIFT) - 1);
	/* Place after each key, so that several keys at once act as they would one by one. */
	place(v);
	return ask & VIEW_ASK_ALL;
}

/* ---- what the caller provides ---- */

void view_set_rows(struct view *v, const struct result *r, const struct row *rows, size_t count,
		   bool tick)
{
	list_set_rows(&v->list, r, rows, count, tick);
	if (view_has(v, PANE_DETAIL))
		detail_update(&v->detail);
}

struct rows view_rows_in_sight(struct view *v)
{
	const struct cursor *c = &v->list.pane.cursor;
	size_t behind;

	place(v);
	behind = c->count - c->first;
	return (struct rows){(struct row *)v->shared.rows.item + c->first,
			     behind < c->page ? behind : c->page, 0};
}

void view_clear_rows(struct view *v)
{
	v->shared.rows.item = NULL;
	v->shared.rows.count = 0;
	v->shared.facts.findings.count = 0;
}

void view_set_growth(struct view *v, const struct growth *g)
{
	v->growth.growth = g;
	while (!g && view_has(v, PANE_GROWTH))
		close_pane(v);
}

int view_set_holders(struct view *v, const struct cached_file *file)
{
	int r = holders_set(&v->holders, file);

	if (r == 0 && !view_has(v, PANE_HOLDERS))
		open_pane(v, PANE_HOLDERS);
	return r;
}

/* ---- drawing ---- */

/* The first ones are the most useful: whole hints, as many as fit. */
static void draw_hints(const char *hint, struct screen *s)
{
	size_t len, at = 0;

	for (; *hint; hint += len + 2 * (hint[len] != '\0')) {
		const char *end = strstr(hint, "  ");
		size_t key = strcspn(hint, " ");

		len = end ? (size_t)(end - hint) : strlen(hint);
		if (at && at + 2 + len > s->width)
			break;
		line_blanks(&s->pen, at ? 2 : 0);
		at += len + (at ? 2 : 0);
		s->pen.attr = ATTR_BOLD;
		for (size_t i = 0; i < key; i++)
			line_printf(&s->pen, "%c", hint[i] == '_' ? ' ' : hint[i]);
		s->pen.attr = ATTR_NORMAL;
		line_printf(&s->pen, "%.*s", (int)(len - key), hint + key);
	}
	screen_line(s, LOOK_KEYS);
}

void view_draw(struct view *v, struct screen *s)
{
	const struct shared *shared = &v->shared;
	const char *hints;

	screen_begin(s, shared->width, shared->height);
	if (!shared->rows.r) {
		line_printf(&s->pen, "reading…");
		screen_line(s, LOOK_PLAIN);
		return;
	}
	hints = v->front->class->draw(v->front, s);
	screen_fill(s, s->height - shared_last_line(shared));
	/* Messages and prompts replace the last line if no line is free. */
	if (s->count == s->height && (shared->prompt.kind || *shared->message))
		screen_remove_line(s);
	if (shared->prompt.kind) {
		prompt_draw(&shared->prompt, shared->message, s);
	} else if (*shared->message) {
		line_text(&s->pen, shared->message, 0);
		screen_line(s, LOOK_MESSAGE);
	} else if (shared_last_line(shared)) {
		draw_hints(hints, s);
	}
}
