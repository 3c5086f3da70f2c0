/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The lines above the rows. */
#ifndef ZMEM_TOP_HEAD_H
#define ZMEM_TOP_HEAD_H

#include "top/shared.h"

/*
 * RAM, swap and limits of the machine, as many lines as the height has room for; `low`: few.
 * `ram`: a census to show; NULL: what the snapshot's counters say.
 */
unsigned head_lines(const struct shared *v, bool low);
void head_draw(const struct shared *v, struct screen *s, bool low, const struct ram *ram);

/* Further lines, and whether the height has room for them. */
enum head_line {
	HEAD_COLLECTION,
	HEAD_STATE,    /* each pane draws its own */
	HEAD_TIMELINE, /* of a recording */
};
bool head_has(const struct shared *v, enum head_line line);
void head_collection(const struct shared *v, struct screen *s);
void head_timeline(const struct shared *v, struct screen *s);
/* Parts of the line of the state: that it is paused, what was typed, if anything. */
void head_put_paused(const struct shared *v, struct line *l);
void head_put_text(struct line *l, const char *name, const char *text);

#endif
