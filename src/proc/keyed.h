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

#include "base/parse.h"

struct keyed_line {
	struct text_part key;
	const char *value; /* after the colon */
	const char *end;   /* the line's '\n', or the end of the text without one */
	bool whole;	   /* the line ends with '\n', so it is complete */
};

#define KEYED_NAME(literal)                                                                        \
	{                                                                                          \
		literal, sizeof(literal) - 1                                                       \
	}

/*
 * The names of a file's values in the kernel's order. The index of a value is its bit in `have`.
 */
struct keyed_counters {
	const struct text_part *name;
	unsigned count; /* at most 32 */
	unsigned next;	/* the name that the next line is compared with first */
	uint32_t have;
	uint64_t *value; /* bytes */
};

/* Cuts off the next line; false at the end and for a line without '\n', which may be incomplete. */
bool line_next(struct text_part *rest, struct text_part *ret_line);
/* Finds the next line with a colon and moves *pos to the line after it. False at the end. */
bool keyed_next(const char **pos, const char *end, struct keyed_line *ret_line);
/* The number of a line that is exactly "number kB", in bytes. */
bool keyed_bytes(const struct keyed_line *line, uint64_t *ret_bytes);
/*
 * Stores the number of a line with one of the names if its text is exactly "number kB". The first
 * such line of a name counts. True if the line has one of the names.
 */
bool keyed_counter(const struct keyed_line *line, struct keyed_counters *counters);

/*
 * ---- escaped names ----
 *
 * The kernel writes blanks, newlines and backslashes of names as \ooo (mangle_path(),
 * fs/seq_file.c). The kernel's log and systemd write bytes as \xNN.
 */

/*
 * Decodes \ooo and terminates the text in buf, which is cut off at cap - 1 bytes. Returns the
 * length of the whole, or 0 if it has a NUL, which the kernel never writes.
 */
size_t octal_decode(struct text_part text, char *buf, size_t cap);
/* Cuts the next byte off a text that is not empty, and decodes it if it is written as \xNN. */
char hex_next(struct text_part *text);

#endif
