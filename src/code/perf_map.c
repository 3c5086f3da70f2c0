// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Reads the text from its end, so that each address is named once: by the last line that has it.
 * The text belongs to the measured program. Its cost is that of its lines, whatever they say.
 */
#include "code/perf_map.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/parse.h"

#define HEX_DIGITS 16

/* A number, and the blanks behind it. */
static int split_hex(struct text_part *rest, uint64_t *ret)
{
	uint64_t value = 0;
	size_t digits = 0;

	if (part_begins(*rest, "0x"))
		*rest = part_behind(*rest, 2);
	for (; digits < rest->len; digits++) {
		int digit = hex_value(to_lower(rest->s[digits]));

		if (digit < 0)
			break;
		if (digits == HEX_DIGITS)
			return -EINVAL;
		value = value << 4 | (uint64_t)digit;
	}
	*rest = part_behind(*rest, digits);
	if (!digits || !rest->len || *rest->s != ' ')
		return -EINVAL;
	while (rest->len && *rest->s == ' ')
		*rest = part_behind(*rest, 1);
	*ret = value;
	return 0;
}

int perf_line_parse(const char *line, size_t len, struct perf_line *ret)
{
	struct text_part rest = {line, len};
	uint64_t start, size;

	if (split_hex(&rest, &start) < 0 || split_hex(&rest, &size) < 0)
		return -EINVAL;
	if (!size || size > UINT64_MAX - start || !rest.len || memchr(rest.s, '\0', rest.len))
		return -EINVAL;
	*ret = (struct perf_line){
		.start = start,
		.size = size,
		.name = rest.s,
		.name_len = rest.len < PERF_NAME_MAX ? rest.len : PERF_NAME_MAX,
	};
	return 0;
}

/* The first item from `i` on without a name. The links that it follows become shorter. */
static size_t skip_named(size_t *next, size_t i)
{
	while (next[i] != i) {
		next[i] = next[next[i]];
		i = next[i];
	}
	return i;
}

/* Returns how many addresses the line has named, or -ENOMEM. */
static ssize_t name_by_line(const struct perf_line *line, struct code_name *item, size_t count,
			    size_t *next, struct arena *names)
{
	size_t i = skip_named(next, code_names_from(item, count, line->start));
	const char *name = NULL;
	ssize_t named = 0;

	for (; i < count && item[i].address - line->start < line->size; i = skip_named(next, i)) {
		if (!name)
			name = arena_strndup(names, line->name, line->name_len);
		if (!name)
			return -ENOMEM;
		item[i].name = name;
		item[i].start = line->start;
		next[i] = i + 1;
		named++;
	}
	return named;
}

int perf_map_name(const char *text, size_t len, struct code_name *item, size_t count,
		  struct arena *names)
{
	cleanup_free size_t *next = calloc(count + 1, sizeof(*next));
	const char *end = len ? memrchr(text, '\n', len) : NULL;
	size_t left = count;

	if (!next)
		return -ENOMEM;
	for (size_t i = 0; i <= count; i++)
		next[i] = i;
	for (size_t i = 0; i < count; i++)
		item[i].name = NULL;
	while (end && left) {
		const char *before = memrchr(text, '\n', (size_t)(end - text));
		const char *begin = before ? before + 1 : text;
		struct perf_line line;
		ssize_t named = 0;

		if (perf_line_parse(begin, (size_t)(end - begin), &line) == 0)
			named = name_by_line(&line, item, count, next, names);
		if (named < 0)
			return (int)named;
		left -= (size_t)named;
		end = before;
	}
	return 0;
}
