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
	/* The text that is edited, PROMPT_MAX bytes; NULL: a new one, for the functions below. */
	char *(*text)(struct pane *p);
	unsigned ask; /* when it has changed */
	bool at_once; /* it changes with each key, and Escape restores it; else Enter changes it */

	unsigned (*typed)(struct pane *p, const char *text); /* a key has changed it */
	unsigned (*next)(struct pane *p, const char *text);  /* Down or F3 */
	unsigned (*done)(struct pane *p, const char *text);  /* Enter */
};

struct prompt {
	const struct prompt_kind *kind;		    /* NULL: there is none */
	char typed[PROMPT_MAX], before[PROMPT_MAX]; /* before: the text that Escape restores */
};

void prompt_open(struct prompt *q, const struct prompt_kind *kind, struct pane *p);
/* Returns what is asked for. */
unsigned prompt_key(struct prompt *q, struct pane *p, int key);
/* Draws the prompt; a message follows the typed text. */
void prompt_draw(const struct prompt *q, const char *message, struct screen *s);

#endif
