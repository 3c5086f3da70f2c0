/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A part of somebody else's text: nothing is copied, and nothing is terminated. */
#ifndef ZMEM_BASE_TEXT_PART_H
#define ZMEM_BASE_TEXT_PART_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct text_part {
	const char *s; /* NULL: none */
	size_t len;
};

static inline bool part_is(struct text_part part, const char *s)
{
	return part.len == strlen(s) && memcmp(part.s, s, part.len) == 0;
}

/* The part up to the next `separator`, or all; what is behind it stays in *rest. */
static inline struct text_part part_split(struct text_part *rest, char separator)
{
	const char *at = memchr(rest->s, separator, rest->len);
	struct text_part first = {rest->s, at ? (size_t)(at - rest->s) : rest->len};
	size_t taken = at ? first.len + 1 : first.len;

	rest->s += taken;
	rest->len -= taken;
	return first;
}

/* Whether a list, with commas between its items, has that one. */
static inline bool part_lists(struct text_part list, const char *item)
{
	while (list.len) {
		if (part_is(part_split(&list, ','), item))
			return true;
	}
	return false;
}

#endif
