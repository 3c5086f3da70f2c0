/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What made the resident memory of processes grow, by stack. It does no I/O. */
#ifndef ZMEM_MODEL_GROWTH_H
#define ZMEM_MODEL_GROWTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "model/sample.h"
#include "model/snapshot.h"

enum growth_counter {
	GROWTH_ANON,
	GROWTH_FILE,
	GROWTH_SHMEM,
	GROWTH_SWAP,
	GROWTH_COUNTERS,
};

/* A function, a line of one, or an address that has no name. */
struct growth_frame {
	const char *name;   /* any bytes; NULL: none is known */
	const char *module; /* the last component of its file; NULL: in no file */
	uint64_t offset;    /* of an address without a name: in the file, or absolute */
	bool allocator;	    /* one of an allocator, of the C library, or an interpreter's */
	bool inlined;	    /* its code is in the next function's, which calls it; offset 0 */
	bool interpreter;   /* names of functions that it executes are in the stacks, too */
	bool wrapper;	    /* an allocator because it passes memory on to many callers */
	/* Of a line, where lines were asked for and are known: */
	const char *source; /* the path of its file, any bytes; NULL: it is no line */
	uint64_t line;
	uint32_t function; /* the number of the frame of the function, without a line */
};

/* Why addresses have no names though their files may have some. */
enum growth_out {
	GROWTH_OUT_TIMEOUT, /* the file, or the process, did not answer in time */
	GROWTH_OUT_DENIED,  /* the user of the process may not read the file */
	GROWTH_OUT_LIMIT,   /* the file or the name costs too much time or memory */
	GROWTH_OUT_BUSY,    /* too many files do not answer: no more are tried */
	GROWTH_OUT_REASONS,
};

/* The changes that one stack made. */
struct growth_stack {
	const uint32_t *frame; /* numbers of frames, the innermost first */
	size_t frames;
	bool truncated; /* there are further frames, which the copy of the stack did not reach */
	int64_t net[GROWTH_COUNTERS]; /* bytes */
	uint64_t gross;		      /* bytes that were added, by changes above 0 */
	uint64_t resident;	      /* bytes of added pages that are in RAM or swap now */
	uint64_t unaddressed;	      /* bytes of added pages without an address: not in resident */
	int64_t recent;		      /* net bytes since the last report */
	uint64_t changes;
	double variance;	/* of the sum of net, because stacks are sampled; bytes squared */
	uint64_t copied;	/* bytes of pages that were shared, and copied when written */
	uint64_t allocated;	/* bytes of blocks of the allocator; with growth_heap.known */
	struct sample_sum held; /* of these, what is not freed */
	uint64_t hash;		/* of its frames; private to stack_table.h */
};

/* What would allocate unseen: a probe of its return would harm the program. */
struct growth_not_probed {
	const char *function; /* NULL: all */
	const char *file;     /* NULL: any */
	pid_t pid;	      /* 0: of each process */
	const char *reason;
};

/* A file with functions that are probed. */
struct growth_allocator {
	const char *name;    /* "jemalloc" */
	const char *version; /* NULL: not known */
	const char *file;    /* its path, any bytes */
	size_t functions;
};

/* What the allocators of the processes say, where it was asked for. */
struct growth_heap {
	bool known;
	bool at_least;		 /* blocks are missing: there was no room, or no probe */
	uint64_t sample_bytes;	 /* one sample in so many bytes, on average; 1: each block */
	double mean_most;	 /* the same, where it was largest */
	uint64_t calls, samples; /* of functions that allocate or free */
	uint64_t rate;		 /* calls in a second */
	uint64_t price_ns;	 /* of a call, on average; 0: not known */
	/* Of the speed that the processes have without probes, from 0 to 1: it was between these.
	 */
	double speed_least, speed_most;
	/* Calls that were seen and not counted, because a probe of their return would do harm. */
	uint64_t not_counted;
	const struct growth_allocator *allocator;
	size_t allocators;
	const struct growth_not_probed *not_probed;
	size_t not_probeds;
};

struct growth_target {
	pid_t pid;
	const char *name; /* any bytes; NULL: not known */
	bool ended;
	unsigned execs; /* what was before the last one is not in the report */
};

/* What all stacks have added at a moment, less what they gave back. */
struct growth_point {
	int64_t time_ms; /* since the epoch */
	int64_t net[GROWTH_COUNTERS];
};

/* Of a long run, points are further apart. */
#define GROWTH_POINTS 256

/* How stacks were taken. */
enum growth_mode {
	GROWTH_DWARF, /* unwound from copies, by the tables of the programs */
	GROWTH_FP,    /* by frame pointers */
};

struct growth {
	const struct snapshot *snapshot; /* the machine, and the time of the end */
	int64_t start_ms;		 /* since the epoch */
	uint64_t duration_us, recent_us; /* since the beginning, since the last report */
	enum growth_mode mode;
	/* False: a process has ended, or the kernel does not tell where pages are. */
	bool resident_known;
	bool resident_least; /* `resident` is at least that: some added pages have no address */
	struct growth_heap heap;
	bool copied_known; /* `copied` is measured */
	/* Frames of these have no names: none was written. */
	bool unnamed_python, unnamed_node, unnamed_java, unnamed_dotnet;
	bool each; /* every change is an event; false: before Linux 6.2 */
	struct growth_target *target;
	size_t targets;
	size_t no_room;				   /* processes that could not be counted */
	size_t names_left_out[GROWTH_OUT_REASONS]; /* addresses without a name, by reason */
	size_t lines_left_out; /* without a line: the debugging information costs too much */
	struct growth_frame *frame;
	size_t frame_count;
	struct growth_stack *stack; /* the largest net growth first */
	size_t stacks;
	const struct growth_point *point; /* the oldest first */
	size_t points;
	/* Bytes. The change is exact: what the kernel's counters were, and are. */
	int64_t begin[GROWTH_COUNTERS], change[GROWTH_COUNTERS];
	int64_t accounted[GROWTH_COUNTERS]; /* the sum of all stacks */
	uint64_t events;		    /* changes */
	uint64_t lost;	  /* changes with a stack for which the ring or the table had no room */
	uint64_t sampled; /* changes without a stack, because none of their pages was sampled */
	int64_t sampled_bytes; /* what other changes made, for which stacks stand */
};

/* Adds the numbers of a stack. */
void growth_stack_add(struct growth_stack *to, const struct growth_stack *s);
/* The sum over all counters. */
int64_t growth_sum(const int64_t bytes[GROWTH_COUNTERS]);
/*
 * The most that may still be there of what the stack added: `resident`, and pages without an
 * address, less what the stack has given back.
 */
uint64_t growth_still_most(const struct growth_stack *s);
/* The standard error of a sum with this variance, times 1.96: 95 of 100 are no further off. */
uint64_t growth_error(double variance);
/* What a stack holds is between these, in 95 of 100 cases. */
struct growth_bounds {
	uint64_t least, most;
};
uint64_t growth_held(const struct growth_stack *s);
struct growth_bounds growth_held_bounds(const struct growth *g, const struct growth_stack *s);
/*
 * The first frame that is not an allocator's, else the first wrapper, else the first one of an
 * interpreter, else the innermost one; NULL without frames.
 */
const struct growth_frame *growth_place(const struct growth *g, const struct growth_stack *s,
					size_t *ret_index);
/* What a stack has of the growth of its place. */
struct growth_part {
	const struct growth_stack *stack;
	size_t place; /* its frame that is the place, of the stack */
	int64_t bytes;
};
/*
 * Writes a part for each stack into `ret`, which has room for all. What a function gives back
 * itself is taken off what it added, with the same callers first. So the parts of a place add up to
 * its growth, and no two of them have different signs: areas can show them.
 */
void growth_parts(const struct growth *g, struct growth_part *ret);

#endif
