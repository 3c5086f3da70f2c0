/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The cursor of a list of rows, and the window on them: what keys move in every pane. */
#ifndef ZMEM_TOP_CURSOR_H
#define ZMEM_TOP_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Identifies a row while rows come and go. */
struct row_id {
	uint64_t owner; /* a pid or the mapping of a file; 0: a group */
	uint64_t key;	/* the start time of a process, or a hash of the group's text */
};

struct cursor {
	size_t at;    /* the selected row */
	size_t first; /* the first row in sight */
	size_t count, page;
	bool scrolls; /* no row is selected: keys move the window */
	bool held;    /* it stays on row `id` while others come and go */
	struct row_id id;
	bool loyal;  /* once that row is gone, it holds no other one */
	bool follow; /* keeps the row in sight */
	bool show;   /* brings the row into sight when the window is placed next */
};

bool row_id_same(struct row_id a, struct row_id b);
/* Places the window on `count` rows, of which `page` fit. Leaves no empty lines below rows. */
void cursor_place(struct cursor *c, size_t count, size_t page);
/* How many rows are in sight. */
static inline size_t cursor_shown(const struct cursor *c)
{
	return c->count - c->first < c->page ? c->count - c->first : c->page;
}
/* Selects the row, and brings it into sight when the window is placed next. */
void cursor_select(struct cursor *c, size_t row);
/* Returns to the first row, and holds none. */
void cursor_reset(struct cursor *c);
/* Whether the key moves the cursor; if so, it has moved. */
bool cursor_key(struct cursor *c, int key);
/*
 * There are new rows, which id_of() identifies: selects the row that is held. False if that row is
 * gone; then another row has its place.
 */
bool cursor_restore(struct cursor *c, size_t count,
		    struct row_id (*id_of)(const void *rows, size_t i), const void *rows);

#endif
