/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The screen of top without a terminal: the panes that lie on each other, the effect of keys, and
 * the text of each line. Pure: it requests data through enum view_ask, and its caller provides
 * them.
 */
#ifndef ZMEM_TOP_VIEW_H
#define ZMEM_TOP_VIEW_H

#include "top/panes.h"

struct view {
	struct shared shared;
	struct list_pane list;
	struct detail_pane detail;
	struct growth_pane growth;
	struct files_pane files;
	struct holders_pane holders;
	struct ram_pane ram;
	struct menu_pane menu, help;
	struct pane *pane[PANE_KINDS]; /* all of them */
	struct pane *front;	       /* gets the keys; the others lie below it */
};

/* It stays at its place: its panes point to it. */
void view_init(struct view *v, const struct view_settings *set);
void view_done(struct view *v);
void view_resize(struct view *v, unsigned width, unsigned height);
/* Handles a key. Returns requests (enum view_ask). */
unsigned view_key(struct view *v, int key);
/* Draws everything. */
void view_draw(struct view *v, struct screen *s);

/* Whether the pane is in front. */
bool view_in_front(const struct view *v, enum pane_kind kind);
/* Whether the pane is open, be it behind others. */
bool view_has(const struct view *v, enum pane_kind kind);

/*
 * Sets new rows: all rows in order, borrowed until the next call. `tick`: the rows are a new
 * snapshot, not the old one in another order.
 */
void view_set_rows(struct view *v, const struct result *r, const struct row *rows, size_t count,
		   bool tick);
/* The rows in sight, so that the caller looks up their names. */
struct rows view_rows_in_sight(struct view *v);
/* Forgets the rows, which are about to be freed. */
void view_clear_rows(struct view *v);
/* Sets what has grown, borrowed until the next call; NULL: it could not be counted. */
void view_set_growth(struct view *v, const struct growth *g);
/* Sets the file that VIEW_ASK_HOLDERS requested, with its holders. Returns 0 or -ENOMEM. */
int view_set_holders(struct view *v, const struct cached_file *file);

#endif
