/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* One file of one process that was seen before. */
#ifndef ZMEM_ENRICH_TARGET_H
#define ZMEM_ENRICH_TARGET_H

#include "enrich/enrich.h"

/* Has no pointer into the snapshot: whoever reads it may outlive that. */
struct target {
	const struct procfs *proc;
	bool has_rollup; /* this /proc has smaps_rollup */
	enum pool_file file;
	pid_t pid;
	uint64_t start_ns;
	bool check_start; /* make sure that it is the process that started then */
	bool leader_exited;
	/* Called after each piece of smaps; false ends it. */
	bool (*go_on)(void *arg);
	void *arg;
};

/* Blocks for as long as the process is stuck. What went wrong is in the result. */
void target_read(const struct target *t, struct pool_result *ret);

#endif
