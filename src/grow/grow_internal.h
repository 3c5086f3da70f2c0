/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the engine of grow holds: grow.c counts, grow_report.c makes the report. */
#ifndef ZMEM_GROW_GROW_INTERNAL_H
#define ZMEM_GROW_GROW_INTERNAL_H

#include "code/jit.h"
#include "code/unwind.h"
#include "demangle/demangler.h"
#include "grow/grow.h"
#include "grow/recall.h"
#include "grow/stack_queue.h"
#include "grow/touched.h"
#include "model/program.h"
#include "watch/grow_watch.h"

#define TARGETS ZMEM_GROW_TARGETS

struct grow_process {
	struct address_space space;
	struct recall recall;
	struct touched touched;
	char name[PROGRAM_NAME_MAX + 1];
	uint32_t target;
	unsigned execs;
	uint32_t jit, jit_parent; /* numbers of its map of JIT code, and of its parent's; 0: none */
	bool live;		  /* its target counts */
	bool unmapped;		  /* pages of files, since its mappings were read */
	bool child;		  /* of one that was to be counted */
	uint32_t heap_end;	  /* see heap_blocks_end(); 0: none */
	uint64_t opened_us, updated_us;
	uint64_t checked_us; /* the time that it took to read them because of that */
};

struct grow {
	const struct procfs *proc;
	struct grow_spec spec;
	struct libdw dw;
	struct debuginfod *debuginfod; /* NULL: no server is asked */
	struct grow_watch *watch;
	struct heap *heap; /* NULL: allocators are not asked */
	struct code_sources code;
	struct stack_table stacks;
	struct jit_maps jit;
	struct demangler demangler;
	struct stack_queue queue;
	struct unwound unwound[UNWIND_BATCH];
	struct grow_process *process[TARGETS]; /* by target; NULL: none */
	struct grow_process **all;
	size_t count, capacity;
	struct grow_sums past; /* of address spaces that have ended */
	size_t no_room;
	int64_t page_size;
	int64_t start_ms;
	uint64_t start_us, report_us;
	uint64_t stop_us;  /* 0: it still counts */
	uint64_t ended_us; /* when an address space ended last */
	bool heap_error;   /* no memory for a block */
	uint64_t unstored; /* changes for which the table of stacks had no room */
	int64_t sampled_pages;
	/* Pages that the report has without a stack, less those for which the table had no room. */
	int64_t skipped[ZMEM_RSS_COUNT];
	uint64_t copied; /* likewise, of pages that were copied */
	bool copied_known;
	int64_t net[GROWTH_COUNTERS]; /* bytes, of all stacks */
	struct growth_point point[GROWTH_POINTS];
	size_t points;
	uint64_t point_us, next_us; /* between points, of the next one */
};

void grow_add_pages(struct grow *g, uint32_t stack, uint32_t member, int64_t pages);
int grow_label_stack(struct grow *g, const char *text, uint32_t *ret);
void grow_add_point(struct grow *g, uint64_t now);
void grow_add_sums(struct grow_sums *to, const struct grow_sums *s);

static inline enum growth_counter grow_counter(uint32_t member)
{
	static const enum growth_counter counter[ZMEM_RSS_COUNT] = {
		[ZMEM_RSS_FILE] = GROWTH_FILE,
		[ZMEM_RSS_ANON] = GROWTH_ANON,
		[ZMEM_RSS_SWAP] = GROWTH_SWAP,
		[ZMEM_RSS_SHMEM] = GROWTH_SHMEM,
	};

	return counter[member % ZMEM_RSS_COUNT];
}

#endif
