/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Interpreters and other programs that run what their arguments name. */
#ifndef ZMEM_MODEL_INTERPRETER_H
#define ZMEM_MODEL_INTERPRETER_H

#include "base/text_part.h"

/* ---- words of a command line ---- */

struct words {
	const char *pos, *end;
};

static inline bool next_word(struct words *w, struct text_part *ret)
{
	if (w->pos >= w->end)
		return false;
	ret->s = w->pos;
	ret->len = strnlen(w->pos, (size_t)(w->end - w->pos));
	w->pos += ret->len;
	w->pos += w->pos < w->end;
	return true;
}

static inline bool has_letter(const char *letters, char c)
{
	return letters && c && strchr(letters, c);
}

/* Nothing but the ends of words: what setproctitle() leaves behind a title. */
static inline bool no_more(struct words w)
{
	while (w.pos < w.end && !*w.pos)
		w.pos++;
	return w.pos >= w.end;
}

/* ---- interpreters ---- */

struct interpreter;

/* NULL: it is none. With or without a version: "python3.11", no "node_exporter", no "php-fpm". */
const struct interpreter *interpreter_find(struct text_part name);
/* Whether its arguments are understood; if not, it is comm that tells a script. */
bool interpreter_has_options(const struct interpreter *i);
/* Whether a program that it runs may call itself what it likes (setproctitle). */
bool interpreter_has_titles(const struct interpreter *i);
/* BusyBox and the like: a program for each name it has. */
bool is_multi_call(struct text_part name);
/* The dynamic loader, which runs its argument. */
bool is_loader(struct text_part name);
extern const struct interpreter *const interpreter_loader;

/* Finds what is run; `w` is behind argv[0], and then behind what was found. */
bool interpreter_script(const struct interpreter *i, struct words *w, struct text_part *ret);

#endif
