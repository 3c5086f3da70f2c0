/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Runs a program that walks processes one visit after another (bpf/visit.bpf.h): an iterator goes
 * over all processes, again and again. In each pass it visits each process that is still in the map
 * BPF_WANTED, for less than a millisecond, and notes where the next pass goes on. A process leaves
 * the map when what was found adds up to its counters. Where it does not, its walk begins anew.
 */
#ifndef ZMEM_SOURCE_VISITS_H
#define ZMEM_SOURCE_VISITS_H

#include "base/diag.h"
#include "load/bpf_load.h"
#include "model/snapshot.h"
#include "source/source.h"
#include "zmem/record.h"

struct visits;

/* A process that is walked. The sums of a kind stand behind it. */
struct walk {
	struct process *process; /* NULL: the process is whichever has this pid */
	pid_t pid;
	unsigned tries;
	bool visited, done, whole;
};

/* A kind of program. */
struct visit_kind {
	const char *subject, *needs; /* of notes; `needs`: why it needs the layout */
	enum bpf_object_id object;
	size_t layout_offset; /* in the struct of BPF_ANSWERS */
	/* After the program was loaded; NULL: nothing is to be done. Returns 0 or a negative errno.
	 */
	int (*set_up)(struct visits *v);
	/* For kinds that begin with visits_begin(): */
	size_t walk_size, record_size; /* a record begins with a struct zmem_visit */
	unsigned tries;		       /* how often a process is read before it is given up */
	/* Adds what a visit found; at the first one of a walk w->visited is false. Returns
	 * likewise. */
	int (*add)(struct visits *v, struct walk *w, const void *record);
	/* Whether what was found of the process is all. */
	bool (*adds_up)(const struct visits *v, const struct walk *w);
};

/* The first member of each source that reads such a program. */
struct visits {
	const struct visit_kind *kind;
	struct bpf_handle handle;
	const struct source *from; /* NULL: no processes are read */
	int link_fd;
	uint32_t page_size;
	char *walk; /* `count` of walk_size, in the order of pids */
	size_t count, pending;
};

/*
 * Loads the program. `from` has calibrated where the kernel has its memory. `pages`: as in struct
 * bpf_sizes. Returns 0, or a negative errno and a note why; visits_close() in either case.
 */
int visits_open(struct visits *v, const struct visit_kind *kind, const struct source *from,
		uint32_t pages, struct diag *diag);
void visits_close(struct visits *v);

/* The source calibrates again when RAM was added or removed. Returns 0 or a negative errno. */
int visits_follow_layout(struct visits *v);

/* These return 0 or a negative errno. */

/* Makes room for the walks of so many processes. */
int visits_begin(struct visits *v, size_t most);
int visits_add(struct visits *v, pid_t pid, struct process *process);
/* Walks them all. */
int visits_run(struct visits *v);

static inline void *visits_walk(const struct visits *v, size_t i)
{
	return v->walk + i * v->kind->walk_size;
}

#endif
