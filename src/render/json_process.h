/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The fields of processes, groups and sums, for every document and line that has them. */
#ifndef ZMEM_RENDER_JSON_PROCESS_H
#define ZMEM_RENDER_JSON_PROCESS_H

#include "render/json_writer.h"
#include "query/result.h"

/* What strings may take between their quotes, encoded; the hex forms: bytes of the text. */
struct json_limits {
	size_t user;
	size_t name;
	size_t name_hex;
	size_t cmdline;
	size_t cmdline_hex;
	size_t cgroup;
	size_t unit;
	size_t container;
	size_t group;
	size_t group_hex;
};

/* The caps of the contract; what it caps not has no limit. */
extern const struct json_limits json_limits_usual;

/* The fields of a row, a process or a group, in an object that is open. */
void json_row(struct json_writer *w, const struct result *r, const struct process *p,
	      const struct json_limits *max);
/* Sums, an object. */
void json_sums(struct json_writer *w, const char *key, const struct totals *t);

#endif
