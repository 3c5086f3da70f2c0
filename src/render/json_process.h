/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The keys of a process and of sums, for every document and line that has them. */
#ifndef ZMEM_RENDER_JSON_PROCESS_H
#define ZMEM_RENDER_JSON_PROCESS_H

#include "render/json_writer.h"
#include "zmem/query.h"

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

/* The keys of a process, in an object that is open. */
void json_process_keys(struct json_writer *w, const struct process *p, uint64_t boot_ms,
		       const struct json_limits *max);
/* The keys of a group of processes that have this column in common. */
void json_group_keys(struct json_writer *w, const struct column *key, const struct process *p,
		     const struct json_limits *max);
/* Sums, an object. */
void json_sums(struct json_writer *w, const struct totals *t);
/* "totals":{…} */
void json_totals(struct json_writer *w, const struct totals *t);

#endif
