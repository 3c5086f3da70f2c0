/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Names of code that a program makes while it runs: the text of /tmp/perf-PID.map, which runtimes
 * write for perf. Each line is "START SIZE NAME", with hexadecimal numbers. Pure.
 */
#ifndef ZMEM_CODE_PERF_MAP_H
#define ZMEM_CODE_PERF_MAP_H

#include <stdint.h>

#include "base/arena.h"
#include "code/code_space.h"

#define PERF_NAME_MAX 1023 /* bytes; longer names are cut */

struct perf_line {
	uint64_t start, size;
	const char *name; /* in the line; not terminated */
	size_t name_len;
};

/* A line without its newline. Returns 0, or -EINVAL if it is malformed. */
int perf_line_parse(const char *line, size_t len, struct perf_line *ret);

/*
 * Names addresses, which are in ascending order. Of several lines with an address the last one
 * counts: code took the place of older code. Malformed lines, and a last line without an end, are
 * ignored. The names are in the arena. Returns 0 or -ENOMEM.
 */
int perf_map_name(const char *text, size_t len, struct code_name *item, size_t count,
		  struct arena *names);

#endif
