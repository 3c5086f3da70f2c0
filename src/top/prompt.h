/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A line that the user types, for the pane that opened it. */
#ifndef ZMEM_TOP_PROMPT_H
#define ZMEM_TOP_PROMPT_H

#include "top/screen.h"

#define PROMPT_MAX 128 /* bytes of a text, with the 0 */

struct pane;

/* What a prompt is for. The functions return what is asked for (top/pane.h). */
struct prompt_kind {
	const char *label;
	/* The text has changed; NULL: only Enter has an effect. */
	unsigned (*typed)(struct pane *p, const char *text);
	/* Enter; with PANE_REFUSE the prompt stays open. */
	unsigned (*done)(struct pane *p, const char *text);
	/* Down and F3; NULL: they do nothing. */
	unsigned (*next)(struct pane *p, const char *text);
};

struct prompt {
	const struct prompt_kind *kind;		    /* NULL: there is none */
	char typed[PROMPT_MAX], before[PROMPT_MAX]; /* before: the text that Escape restores */
};

void prompt_open(struct prompt *q, const struct prompt_kind *kind, const char *text);
/* Returns what the functions return. */
unsigned prompt_key(struct prompt *q, struct pane *p, int key);
/* Draws the prompt; a message follows the typed text. */
void prompt_draw(const struct prompt *q, const char *message, struct screen *s);

#endif
