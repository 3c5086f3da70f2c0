/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The options there are, and how each is read. */
#ifndef ZMEM_CLI_OPTIONS_TABLE_H
#define ZMEM_CLI_OPTIONS_TABLE_H

#include "cli/options.h"

enum option_kind {
	FLAG,	       /* bool */
	STRING,	       /* const char *, the last one counts */
	LIST,	       /* char *, owned; added to what was given before */
	COUNT,	       /* int, 1 and up */
	SECONDS,       /* int, milliseconds, 0.1 s and up */
	NUMBER_OR_ALL, /* int, 0 and up, VERIFY_ALL */
	CHOICE,	       /* int, the index of a word */
	NICE,	       /* int, 0 to 19 */
	SIZE,	       /* uint64_t, bytes */
	SET,	       /* int, `value`: a flag that stands for a choice */
};

struct option_entry {
	struct option_info info;
	enum option_kind kind;
	size_t offset;
	const char *const *words; /* of a CHOICE */
	int value;		  /* of a SET */
};

#define OPTIONS_MAX 64

extern const struct option_entry option_table[];
extern const size_t option_count;

#endif
