/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The engine of grow: counts the changes of resident memory of some processes by stack. It prints
 * nothing. One thread calls it, and often enough that the ring of messages does not fill.
 */
#ifndef ZMEM_GROW_GROW_H
#define ZMEM_GROW_GROW_H

#include "base/diag.h"
#include "heap/heap.h"
#include "model/growth.h"
#include "model/stack_table.h"
#include "proc/procfs.h"

struct grow_spec {
	enum growth_mode mode;
	bool follow;	       /* children, too */
	bool debuginfod;       /* symbols may come from servers */
	bool lines;	       /* of sources */
	unsigned sample;       /* of so many changes one has its stack taken; 0: by rate, 1: all */
	bool malloc;	       /* what allocators give and get back, too */
	struct heap_spec heap; /* with malloc */
};

struct grow;

/*
 * Loads what counts. Needs CAP_BPF and CAP_PERFMON, the other functions need neither, but
 * CAP_SYS_PTRACE for processes of others. Returns 0, or a negative errno and notes in diag. The
 * procfs must outlive it.
 */
int grow_open(const struct grow_spec *spec, const struct procfs *proc, struct diag *diag,
	      struct grow **ret);
/*
 * Readable when the user wants an end: then nothing that does not answer is waited for. -1, as at
 * first: none. It stays the caller's.
 */
void grow_set_hurry(struct grow *g, int fd);
/* Each change has its own stack. False: before Linux 6.2, about one page fault in 64 has. */
bool grow_is_exact(const struct grow *g);
/*
 * Begins to count for a process; what it holds already is not growth. Returns 0, -ESRCH, -ENOSPC if
 * there are too many, or another negative errno.
 */
int grow_add(struct grow *g, pid_t pid);
/* Readable when grow_pump() should be called at once; it stays the property of the engine. */
int grow_fd(const struct grow *g);
/* Reads what has come. Returns the number of messages, or a negative errno. */
int grow_pump(struct grow *g);
/* True if all processes have ended. */
bool grow_ended(const struct grow *g);
/* What was counted so far, without names: it takes no time. */
struct grow_so_far {
	uint64_t time_us;
	int64_t bytes; /* of all stacks */
	size_t stacks;
};

struct grow_so_far grow_so_far(const struct grow *g);
/* Blocks of allocators; NULL without --malloc. */
const struct heap *grow_heap(const struct grow *g);
/* Notes of what of the allocators is not seen, and why. */
void grow_diagnose(const struct grow *g, struct diag *diag);
/* Ends counting. */
int grow_stop(struct grow *g);

/* The report borrows from the engine what only grow_close() frees. */
struct grow_report {
	struct growth growth;
	struct stack_table merged; /* functions, their lines, and their stacks */
	struct growth_frame *frame;
	struct arena arena;
};

/* What was counted so far. Returns 0 or a negative errno; grow_report_done() in either case. */
int grow_make_report(struct grow *g, struct grow_report *ret);
void grow_report_done(struct grow_report *r);
void grow_close(struct grow *g);

#endif
