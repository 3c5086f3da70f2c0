/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Parts of a command line: names and words. */
#ifndef ZMEM_MODEL_PART_H
#define ZMEM_MODEL_PART_H

#include <stdbool.h>
#include <string.h>

#include "base/text_part.h"

typedef struct text_part part;

static inline part part_of(const char *s)
{
	return (part){s, strlen(s)};
}

static inline bool same(part a, part b)
{
	return a.len == b.len && memcmp(a.s, b.s, a.len) == 0;
}

static inline bool begins(part whole, const char *with)
{
	size_t len = strlen(with);

	return whole.len >= len && memcmp(whole.s, with, len) == 0;
}

/* What is left of it behind `len` bytes. */
static inline part behind(part whole, size_t len)
{
	return (part){whole.s + len, whole.len - len};
}

static inline part base_of(part path)
{
	const char *slash;

	while (path.len > 1 && path.s[path.len - 1] == '/')
		path.len--;
	slash = memrchr(path.s, '/', path.len);
	return slash ? behind(path, (size_t)(slash - path.s) + 1) : path;
}

/* Whether it is one of words that are separated by blanks. */
static inline bool is_one_of(part word, const char *list)
{
	for (size_t n; *list; list += n + (list[n] == ' ')) {
		n = strcspn(list, " ");
		if (same(word, (part){list, n}))
			return true;
	}
	return false;
}

static inline bool has(const char *letters, char c)
{
	return letters && c && strchr(letters, c);
}

/* ---- words of a command line ---- */

struct words {
	const char *pos, *end;
};

static inline bool next_word(struct words *w, part *ret)
{
	if (w->pos >= w->end)
		return false;
	ret->s = w->pos;
	ret->len = strnlen(w->pos, (size_t)(w->end - w->pos));
	w->pos += ret->len;
	w->pos += w->pos < w->end;
	return true;
}

/* Nothing but the ends of words: what setproctitle() leaves behind a title. */
static inline bool no_more(struct words w)
{
	while (w.pos < w.end && !*w.pos)
		w.pos++;
	return w.pos >= w.end;
}

#endif
