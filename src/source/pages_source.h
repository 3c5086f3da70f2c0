/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads pages one by one (bpf/pages.bpf.c): PSS by node, lazily freed memory, the share of hugetlb
 * pages. All pages of a process are looked at, so it takes longer than PSS.
 */
#ifndef ZMEM_SOURCE_PAGES_SOURCE_H
#define ZMEM_SOURCE_PAGES_SOURCE_H

#include "base/diag.h"
#include "model/snapshot.h"
#include "model/zones.h"
#include "source/source.h"
#include "zmem/pages.h"

struct pages_source;

/*
 * Loads the program. `from` has calibrated where the kernel has its memory, and is asked again
 * before each reading. Returns 0, or a negative errno and a note why.
 */
int pages_source_open(const struct source *from, struct diag *diag, struct pages_source **ret);
/* NULL is accepted. */
void pages_source_close(struct pages_source *s);

/*
 * Sets what is asked for (enum zmem_pages_asked) of these processes of the snapshot, in the order
 * of pids, and the status of what is missing. `s`: NULL if the program could not be loaded.
 * `zones`: with ZMEM_PAGES_NODES. Returns 0 or a negative errno.
 */
int pages_source_read(struct pages_source *s, unsigned asked, const struct zones *zones,
		      struct snapshot *snapshot, struct process *const *process, size_t count);

/* A mapping of a process. */
struct pages_mapping {
	uint64_t start;
	uint64_t bytes[NODES_MAX]; /* resident, by node */
	uint64_t rest;		   /* as COUNTER_THP_REST */
	bool rest_known;
};

/*
 * The nodes of frames, before pages_source_maps() with ZMEM_PAGES_NODES. Returns 0, or -ENODATA if
 * they are not known (pages_source_refusal()).
 */
int pages_source_follow_nodes(struct pages_source *s, const struct zones *zones);

/*
 * The mappings of one process in the order of their addresses, valid until the next call; those
 * without a page may be missing. `asked`: ZMEM_PAGES_NODES, ZMEM_PAGES_REST. Returns how many, or a
 * negative errno: -EAGAIN if they changed each time.
 */
ssize_t pages_source_maps(struct pages_source *s, unsigned asked, pid_t pid,
			  const struct pages_mapping **ret);

/* Why nodes are not known; NULL: they are. A constant text. */
const char *pages_source_refusal(const struct pages_source *s);

#endif
