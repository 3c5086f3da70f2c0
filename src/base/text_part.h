/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Slices of a text that another object owns: not copied and without terminator. */
#ifndef ZMEM_BASE_TEXT_PART_H
#define ZMEM_BASE_TEXT_PART_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct text_part {
	const char *s; /* NULL: none */
	size_t len;
};

static inline struct text_part part_of(const char *s)
{
	return (struct text_part){s, strlen(s)};
}

static inline bool part_same(struct text_part a, struct text_part b)
{
	return a.len == b.len && memcmp(a.s, b.s, a.len) == 0;
}

static inline bool part_is(struct text_part part, const char *s)
{
	return part_same(part, part_of(s));
}

static inline bool part_begins(struct text_part part, const char *with)
{
	size_t len = strlen(with);

	return part.len >= len && memcmp(part.s, with, len) == 0;
}

/* The slice without its first `len` bytes. */
static inline struct text_part part_behind(struct text_part part, size_t len)
{
	return (struct text_part){part.s + len, part.len - len};
}

/* The last component of a path. */
static inline struct text_part part_base(struct text_part path)
{
	const char *slash;

	while (path.len > 1 && path.s[path.len - 1] == '/')
		path.len--;
	slash = memrchr(path.s, '/', path.len);
	return slash ? part_behind(path, (size_t)(slash - path.s) + 1) : path;
}

/* Returns the slice up to the next `separator`, or all; *rest becomes what follows. */
static inline struct text_part part_split(struct text_part *rest, char separator)
{
	const char *at = memchr(rest->s, separator, rest->len);
	struct text_part first = {rest->s, at ? (size_t)(at - rest->s) : rest->len};
	size_t taken = at ? first.len + 1 : first.len;

	rest->s += taken;
	rest->len -= taken;
	return first;
}

/* True if the list contains the item. */
static inline bool part_lists(struct text_part list, char separator, struct text_part item)
{
	while (list.len) {
		if (part_same(part_split(&list, separator), item))
			return true;
	}
	return false;
}

#endif
