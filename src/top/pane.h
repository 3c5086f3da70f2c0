/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A pane of top: what the whole screen shows. Panes lie on each other, and the one in front gets
 * the keys. A pane knows nothing of others: it returns what it wants, and the view (view.c) does
 * it.
 */
#ifndef ZMEM_TOP_PANE_H
#define ZMEM_TOP_PANE_H

#include "top/shared.h"
#include "write/say.h"

enum pane_kind {
	PANE_LIST, /* of processes or groups; always below all others */
	PANE_DETAIL,
	PANE_GROWTH, /* of one process, by stack */
	PANE_FILES,
	PANE_HOLDERS, /* of one file */
	PANE_RAM,     /* of the machine, by class */
	PANE_MENU,
	PANE_HELP,
	PANE_KINDS,
};

/* What a function of a pane returns: enum view_ask for the caller, and these for the view. */
#define PANE_CLOSE	(1u << 16)
#define PANE_REFUSE	(1u << 17) /* does not open, or the key has no meaning */
#define PANE_OPEN_SHIFT 20
#define PANE_OPEN(kind) (((kind) + 1u) << PANE_OPEN_SHIFT)

/* What keys do: the first that is set of act, menu, prompt and ask; none: the view knows the key.
 */
struct key_use {
	int key[3]; /* 0: fewer. The one that was pressed is shared.key */
	unsigned (*act)(struct pane *p);
	const struct menu *menu;
	const struct prompt_kind *prompt;
	unsigned ask;
	bool replays;	   /* it has a meaning for a recording alone */
	const char *does;  /* said of the key where it has no meaning; NULL: nothing */
	const char *where; /* said behind it; NULL: that of the class */
};

struct pane_class {
	const struct key_use *keys; /* up to one without a key; NULL: none */
	const char *where;	    /* its keys have a meaning, with a key that leads there */
	bool leaf;		    /* shows one thing: Enter, left and Backspace close it */
	bool modal;		    /* a menu or the help: not paused, no exact bytes */

	/* Each may be NULL, except draw(). */
	unsigned (*open)(struct pane *p);
	unsigned (*close)(struct pane *p);
	void (*place)(struct pane *p); /* places the cursor's window */
	void (*moved)(struct pane *p); /* the cursor was moved */
	bool (*matches)(const struct pane *p, size_t row, const char *text);
	/* Returns what the last line says of keys, as it shows them; "_" is a blank in a key. */
	const char *(*draw)(struct pane *p, struct screen *s);
};

/* Begins the struct of each pane. */
struct pane {
	const struct pane_class *class;
	struct shared *shared;
	struct pane *below; /* the one that it was opened from */
	struct cursor cursor;
};

/* The lines of a menu of a pane. */
struct menu {
	const char *title;
	void (*put_more)(const struct shared *v,
			 struct line *l); /* behind the title; NULL: nothing */
	const char *hints;		  /* as draw() returns them */
	size_t (*count)(const struct pane *owner);
	void (*line)(const struct pane *owner, size_t i, struct line *l);
	size_t (*begin)(const struct pane *owner); /* the line that it opens at; NULL: the first */
	/* NULL: a text without a cursor. */
	unsigned (*choose)(struct pane *owner, size_t i);
	/* Moves what a line stands for; NULL: Space shows the next page, else it chooses. */
	unsigned (*shift)(struct pane *owner, size_t i, int by);
};

/* Does what a key is for. */
unsigned pane_act(struct pane *p, const struct key_use *use);
/* Searches the rows of a pane that has matches(). */
extern const struct prompt_kind search_prompt;

/* Draws each sentence that can be said in a line. */
void pane_say(struct screen *s, const struct said *said, enum screen_look look);
/* The style of tables within a pane. */
struct table_style pane_style(const struct pane *p, const struct screen *s);
/* Draws headings, the rows in sight, and the total, with the cursor of the pane. */
void pane_table(struct pane *p, const struct grid *g, struct screen *s);
/*
 * Draws lines of text up to the last line of the screen; `heading`: the first one is a heading. The
 * cursor scrolls the others; NULL: from the first one on.
 */
void pane_text(struct cursor *c, const char *text, bool heading, struct screen *s);

#endif
