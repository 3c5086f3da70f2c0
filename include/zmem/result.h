/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a command found and a renderer shows. It borrows everything it points to. */
#ifndef ZMEM_RESULT_H
#define ZMEM_RESULT_H

#include "zmem/change.h"
#include "zmem/query.h"
#include "zmem/snapshot.h"

enum pss_engine {
	PSS_ENGINE_NONE,
	PSS_ENGINE_ROLLUP,
	PSS_ENGINE_KERNEL,
	PSS_ENGINE_MIXED,
};

struct result {
	const struct snapshot *snapshot;
	enum pss_engine pss;
	/* Rows are groups of processes that have this column in common; NULL: they are processes.
	 */
	const struct column *group;
	struct process *const *rows; /* shown, in order */
	size_t row_count;
	size_t others_count; /* matched and not shown */
	struct totals others;
	struct totals totals; /* shown and others */
	/* Swap in use that no process's SwapPss accounts for, bytes; may be unknown. */
	bool swap_unattributed_known;
	uint64_t swap_unattributed;
	/*
	 * Whether the books close, bytes: AnonPages less all Pss_Anon, Mapped less all Pss_File and
	 * Pss_Shmem. Not 0 where a process is hidden from us, and for what moved meanwhile. Unknown
	 * unless every process has its PSS.
	 */
	bool residual_known;
	int64_t anon_residual;
	int64_t mapped_residual;
	const struct change *change; /* since an earlier one; NULL: there is none */
};

#endif
