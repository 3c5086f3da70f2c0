/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Files of lines "Key:   number kB": status, smaps_rollup, meminfo. Private to src/proc. */
#ifndef ZMEM_PROC_KEYED_H
#define ZMEM_PROC_KEYED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct keyed_line {
	const char *key;
	size_t key_len;
	const char *value; /* behind the colon */
	const char *end;   /* of the line: its '\n', or the end of the text if it has none */
	bool whole;	   /* it ends with '\n': nothing of it is missing */
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
 * The names of a file's values, in the order in which the kernel writes them. A value is known by
 * its index, which is its bit in `have`, too.
 */
struct keyed_counters {
	const struct keyed_name *name;
	unsigned count; /* at most 32 */
	unsigned next;	/* where the next line's name is looked for first */
	uint32_t have;
	uint64_t *value; /* bytes */
};

/* Finds the next line that has a colon and moves *pos behind it. False at the end. */
bool keyed_next(const char **pos, const char *end, struct keyed_line *ret_line);
bool keyed_is(const struct keyed_line *line, const char *name, size_t len);
/*
 * Stores the line's number if it is one of the values and "number kB" is all there is to it. The
 * first line of a name that is understood counts. True if the name is one of them.
 */
bool keyed_counter(const struct keyed_line *line, struct keyed_counters *counters);

#endif
