/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What top says of a process and of a group. */
#ifndef ZMEM_FIELDS_TOP_SAID_H
#define ZMEM_FIELDS_TOP_SAID_H

#include "fields/row.h"
#include "fields/sentence.h"

/* The details of a process, or of a group that has no pid, of a struct snapshot. */
struct detail_said {
	struct row row, charged;
	const char *name, *group; /* group: the key that it has in common */
	bool ended, shows_cmdline;
	uint64_t least, most; /* of its history; most 0: there is none */
	int64_t history_ms;
};
/* One line; parts of a line; lines; parts behind the history; a line below the counters. */
extern const struct sentences detail_title, detail_facts, detail_cgroup, detail_history,
	detail_no_pss, detail_kernel;

#endif
