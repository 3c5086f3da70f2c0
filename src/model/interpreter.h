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

/* True if only NULs are left, as setproctitle() leaves them behind a title. */
static inline bool no_words_left(struct words w)
{
	while (w.pos < w.end && !*w.pos)
		w.pos++;
	return w.pos >= w.end;
}

/* ---- interpreters ---- */

struct interpreter;

/*
 * Finds the interpreter of that name, with or without a version ("python3.11"). NULL: it is not an
 * interpreter ("node_exporter", "php-fpm").
 */
const struct interpreter *interpreter_find(struct text_part name);
/* True if its options are known; if not, comm names the script. */
bool interpreter_has_options(const struct interpreter *i);
/* True if programs that it runs may set a title (setproctitle). */
bool interpreter_has_titles(const struct interpreter *i);
/* True for BusyBox and similar binaries, which run the program that they are named after. */
bool is_multi_call(struct text_part name);
/* True for the dynamic loader, which runs its argument. */
bool is_loader(struct text_part name);
extern const struct interpreter *const interpreter_loader;

/* Finds the script. `w` starts behind argv[0] and ends behind the script. */
bool interpreter_script(const struct interpreter *i, struct words *w, struct text_part *ret);

#endif
