/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Text formats of several files of /proc: lines "Key:   number kB" (status, smaps, meminfo), and
 * escaped names. Private to src/proc.
 */
#ifndef ZMEM_PROC_KEYED_H
#define ZMEM_PROC_KEYED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct keyed_line {
	const char *key;
	size_t key_len;
	const char *value; /* after the colon */
	const char *end;   /* the line's '\n', or the end of the text without one */
	bool whole;	   /* the line ends with '\n', so it is complete */
};

struct keyed_name {
	const char *s;
	size_t len;
};

#define KEYED_NAME(literal)                                                                        \
	{                                                                                          \
		literal, sizeof(literal) - 1                                                       \
	}

/*
 * The names of a file's values in the kernel's order. The index of a value is its bit in `have`.
 */
struct keyed_counters {
	const struct keyed_name *name;
	unsigned count; /* at most 32 */
	unsigned next;	/* the name that the next line is compared with first */
	uint32_t have;
	uint64_t *value; /* bytes */
};

/* Finds the next line with a colon and moves *pos to the line after it. False at the end. */
bool keyed_next(const char **pos, const char *end, struct keyed_line *ret_line);
bool keyed_is(const struct keyed_line *line, const char *name, size_t len);
/* The number of a line whose text is exactly "number kB", in bytes. */
bool keyed_bytes(const struct keyed_line *line, uint64_t *ret_bytes);
/*
 * Stores the number of a line with one of the names if its text is exactly "number kB". The first
 * such line of a name counts. True if the line has one of the names.
 */
bool keyed_counter(const struct keyed_line *line, struct keyed_counters *counters);

/*
 * ---- escaped names ----
 *
 * The kernel writes blanks, newlines and backslashes as \ooo (mangle_path(), fs/seq_file.c).
 */

static inline bool is_octal(char c)
{
	return c >= '0' && c <= '7';
}

/* Decodes the byte at s. Returns the number of characters it takes; len must not be 0. */
static inline size_t octal_byte(const char *s, size_t len, char *ret)
{
	*ret = s[0];
	if (len < 4 || s[0] != '\\' || s[1] > '3' || !is_octal(s[1]) || !is_octal(s[2]) ||
	    !is_octal(s[3]))
		return 1;
	*ret = (char)((s[1] - '0') * 64 + (s[2] - '0') * 8 + (s[3] - '0'));
	return 4;
}

#endif
