/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The JSON fields of processes, groups and sums, which all documents share. */
#ifndef ZMEM_RENDER_JSON_PROCESS_H
#define ZMEM_RENDER_JSON_PROCESS_H

#include "render/json_writer.h"
#include "query/result.h"

/*
 * Maximum lengths of strings: encoded bytes between the quotes, or for the hex forms bytes of the
 * text.
 */
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

/* The limits that the schema states; a string without one is not limited. */
extern const struct json_limits json_limits_usual;

/* The fields of a row, a process or a group, for an open object. */
void json_row(struct json_writer *w, const struct result *r, const struct process *p,
	      const struct json_limits *max);
/* An object of sums. */
void json_sums(struct json_writer *w, const char *key, const struct totals *t);

#endif
