/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Parses text: characters, slices, numbers and lists. It ignores the locale. Text that is partly
 * valid is refused.
 */
#ifndef ZMEM_BASE_PARSE_H
#define ZMEM_BASE_PARSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* ---- ASCII characters ---- */

static inline bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static inline bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static inline char to_lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static inline char to_upper(char c)
{
	return c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c;
}

/*
 * The value of a lower-case hexadecimal digit, as the kernel writes them; -1 for other characters.
 */
static inline int hex_value(char c)
{
	if (is_digit(c))
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* ---- slices of a text that another object owns: not copied, without terminator ---- */

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

/* Cuts the prefix off; false if the slice does not begin with it or is nothing else. */
static inline bool part_cut_prefix(struct text_part *part, const char *prefix)
{
	size_t len = strlen(prefix);

	if (part->len <= len || memcmp(part->s, prefix, len) != 0)
		return false;
	*part = part_behind(*part, len);
	return true;
}

/* Cuts the suffix off; false if the slice does not end with it or is nothing else. */
static inline bool part_cut_suffix(struct text_part *part, const char *suffix)
{
	size_t len = strlen(suffix);

	if (part->len <= len || memcmp(part->s + part->len - len, suffix, len) != 0)
		return false;
	part->len -= len;
	return true;
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

/* True if the slice begins with an item of the list, which has commas between its items. */
static inline bool part_begins_any(struct text_part part, const char *list)
{
	struct text_part rest = part_of(list);

	while (rest.len) {
		struct text_part item = part_split(&rest, ',');

		if (part.len >= item.len && memcmp(part.s, item.s, item.len) == 0)
			return true;
	}
	return false;
}

/* ---- numbers and lists ---- */

/*
 * Parses a decimal number without sign that fills the text. Returns 0, -EINVAL, or -ERANGE above
 * `max`; *ret is untouched on failure.
 */
int parse_u64(const char *s, size_t len, uint64_t max, uint64_t *ret);

/*
 * Parses a size that fills the text: a number with an optional unit (K M G T, powers of 1024;
 * "KiB", "KB" and "k" are the same), such as 100M and 1.5G. Returns 0, -EINVAL, or -ERANGE above
 * UINT64_MAX.
 */
int parse_size(const char *s, size_t len, uint64_t *ret);
/*
 * Parses "1", "1.5" or ".25" at the beginning of the text; digits after the third are ignored.
 * Returns the length, -EINVAL or -ERANGE.
 */
int parse_thousandths(const char *s, size_t len, uint64_t *ret_number, unsigned *ret_thousandths);

#define PARSE_NEAR_MAX 24 /* bytes of the longest text that is compared */
/* How many letters to insert, delete, replace or exchange with the next one to make the word of the
 * text, ignoring case. */
unsigned parse_distance(const char *word, const char *text, size_t len);
/*
 * Whether a mistyped text may mean the word, and the word is nearer than *least, which it then
 * sets; 0 before the first word. Two letters may be wrong, one in a text of up to four.
 */
bool parse_is_nearer(const char *word, const char *text, size_t len, unsigned *least);

/*
 * Walks a list of items separated by commas or blanks: returns the next item and its length, NULL
 * at the end. *pos starts at the text and moves on. Empty items are skipped.
 */
const char *parse_item(const char **pos, size_t *ret_len);

/* True if the list contains the item. */
bool parse_has_item(const char *items, const char *item);

/*
 * True if the text equals the word, which is all lower or all upper case. Case is ignored for ASCII
 * alone: in a Turkish locale "PID" and "pid" would differ.
 */
bool parse_same_word(const char *word, const char *s, size_t len);

/*
 * Scans a decimal number at *pos, after blanks and before end, and moves *pos behind it. False if
 * there is none or it does not fit.
 */
bool scan_u64(const char **pos, const char *end, uint64_t *ret);

/* The number behind a name at the beginning of a line, up to its end. False: there is none. */
bool line_number(const char *text, const char *name, uint64_t *ret);

/*
 * Parses a CPU list of the kernel ("0-3,5") and calls fn for each CPU. Returns their number, or
 * -EINVAL.
 */
int parse_cpu_list(const char *s, size_t len, void (*fn)(void *arg, unsigned cpu), void *arg);

#endif
