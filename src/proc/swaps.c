// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Knows /proc/swaps: a line of headings, then "name kind size used priority", sizes in kB, blanks
 * and backslashes of the name as \ooo (swap_show(), mm/swapfile.c). Refuses to know what a name
 * stands for, and to believe half a line.
 */
#include <errno.h>
#include <limits.h>
#include <string.h>

#include "base/parse.h"
#include "proc/octal.h"
#include "model/system.h"

#define HEADING "Filename"

/* Of larger values not even two could be added: they are none. */
#define KB_MAX ((uint64_t)1 << 52)

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* The next word of the line, NULL if there is none. */
static const char *next_word(const char **pos, const char *end, size_t *ret_len)
{
	const char *word;

	while (*pos < end && is_blank(**pos))
		++*pos;
	word = *pos;
	while (*pos < end && !is_blank(**pos))
		++*pos;
	*ret_len = (size_t)(*pos - word);
	return *ret_len ? word : NULL;
}

/* A NUL cannot be in a name of the kernel's: whoever wrote it wants to hide the rest. */
static bool copy_name(const char *s, size_t len, struct swap_device *d)
{
	size_t n = 0;

	for (size_t i = 0; i < len; n++) {
		char c;

		i += octal_byte(s + i, len - i, &c);
		if (c == '\0')
			return false;
		if (n < SWAP_NAME_MAX)
			d->name[n] = c;
	}
	d->name_cut = n > SWAP_NAME_MAX;
	d->name[d->name_cut ? SWAP_NAME_MAX : n] = '\0';
	return true;
}

static enum swap_kind kind_of(const char *s, size_t len)
{
	if (len == 9 && memcmp(s, "partition", 9) == 0)
		return SWAP_PARTITION;
	return len == 4 && memcmp(s, "file", 4) == 0 ? SWAP_FILE : SWAP_OTHER;
}

static bool next_number(const char **pos, const char *end, uint64_t max, uint64_t *ret)
{
	size_t len;
	const char *word = next_word(pos, end, &len);

	return word && parse_u64(word, len, max, ret) == 0;
}

static bool next_priority(const char **pos, const char *end, int *ret)
{
	size_t len;
	const char *word = next_word(pos, end, &len);
	bool below = word && *word == '-';
	uint64_t value;

	if (!word || parse_u64(word + below, len - below, INT_MAX, &value) < 0)
		return false;
	*ret = below ? -(int)value : (int)value;
	return true;
}

static bool parse_line(const char *pos, const char *end, struct swap_device *d)
{
	size_t name_len, kind_len, len;
	const char *name = next_word(&pos, end, &name_len);
	const char *kind = next_word(&pos, end, &kind_len);
	uint64_t size, used;

	if (!name || !kind || !next_number(&pos, end, KB_MAX, &size) ||
	    !next_number(&pos, end, KB_MAX, &used) || !next_priority(&pos, end, &d->priority) ||
	    next_word(&pos, end, &len))
		return false;
	d->kind = kind_of(kind, kind_len);
	d->size = size * 1024;
	d->used = used * 1024;
	return copy_name(name, name_len, d);
}

int swaps_parse(const char *text, size_t len, struct swap_device *ret, size_t max)
{
	const char *pos = text, *end, *newline;
	size_t count = 0;

	if (len < sizeof(HEADING) - 1 || memcmp(text, HEADING, sizeof(HEADING) - 1) != 0)
		return -EINVAL;
	end = text + len;
	for (bool heading = true; (newline = memchr(pos, '\n', (size_t)(end - pos)));
	     pos = newline + 1, heading = false) {
		struct swap_device d = {};

		if (heading || count == max || !parse_line(pos, newline, &d))
			continue;
		ret[count++] = d;
	}
	return (int)count;
}
