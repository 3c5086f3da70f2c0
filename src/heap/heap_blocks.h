/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Sampled blocks of allocators, and how coarse samples are. A message brings each block with its
 * stack. No message says that a block was freed: the kernel's map has the blocks that are there
 * (bpf/malloc.bpf.h), and is read for each report, and when the list has become much longer.
 */
#ifndef ZMEM_HEAP_HEAP_BLOCKS_H
#define ZMEM_HEAP_HEAP_BLOCKS_H

#include "model/stack_table.h"
#include "watch/grow_watch.h"

struct heap_block {
	uint64_t address, time, size;
	uint32_t target, stack;
	uint32_t coarser; /* n: it was sampled with 2^n times the bytes */
	uint32_t end;	  /* of its address space (heap_blocks_end()); 0: it is there */
};

/* With `watch` and `sample_bytes`, else zeroed, it is empty. */
struct heap_blocks {
	struct grow_watch *watch;
	uint64_t sample_bytes; /* one sample in so many bytes; 1: each block */
	uint32_t coarser;      /* n: or in 2^n times as many */
	uint32_t thinned;      /* at least that: the map was too full */
	struct heap_block *block;
	size_t count, capacity;
	size_t kept;   /* of them when the list was looked through last */
	uint32_t ends; /* address spaces that are gone */
	/* Bytes, by stack: for which the samples stand; and of all stacks. */
	double *allocated, all;
	size_t stacks;
};

/* More samples in a second, and they become coarser; fewer than a quarter, and finer. */
#define HEAP_SAMPLES_MAX 2000

void heap_blocks_done(struct heap_blocks *list);
/* Makes samples coarser or finer, by how many there were in some time. */
void heap_blocks_adapt(struct heap_blocks *list, uint64_t samples, uint64_t us);
/* The mean of the bytes from one sample to the next. */
double heap_blocks_mean(const struct heap_blocks *list, uint32_t coarser);
/* A block was allocated by a stack. Returns 0 or a negative errno. */
int heap_blocks_add(struct heap_blocks *list, const struct zmem_grow_head *m, uint32_t stack);
/*
 * An address space is gone. Its blocks are counted as held at that moment until they are forgotten
 * with the number of this end, which is above 0.
 */
uint32_t heap_blocks_end(struct heap_blocks *list, uint32_t target);
/* The program goes on without them: they are gone. */
void heap_blocks_forget(struct heap_blocks *list, uint32_t end);
/* Nothing was allocated so far. */
void heap_blocks_clear(struct heap_blocks *list);
/* Sets what the stacks have allocated, and hold. Returns 0 or a negative errno. */
int heap_blocks_sum(struct heap_blocks *list, struct stack_table *stacks);

#endif
