/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the allocators of processes hold: probes of their functions, and the sampled blocks that are
 * not freed. A block of s bytes is sampled with a probability p, and stands for s / p bytes.
 */
#ifndef ZMEM_HEAP_HEAP_H
#define ZMEM_HEAP_HEAP_H

#include "base/diag.h"
#include "code/address_space.h"
#include "heap/heap_blocks.h"
#include "heap/probe_helper.h"
#include "model/growth.h"
#include "model/stack_table.h"
#include "watch/grow_watch.h"

struct heap;

struct heap_spec {
	uint64_t sample_bytes; /* one sample in so many bytes; 1: each block */
	bool adapts;	       /* or in more, where they would be too many in a second */
	bool any_price;	       /* however slow the programs become */
};

/* `watch` was opened with these bytes. All outlive it. Returns 0 or -ENOMEM. */
int heap_open(struct grow_watch *watch, const struct heap_spec *spec, struct code_sources *code,
	      struct heap **ret);
void heap_close(struct heap *h);

/*
 * Attaches to what a process, a target, maps and was not attached to before. `late`: it may have
 * called functions of that before, and what it got is to be counted.
 */
void heap_attach(struct heap *h, const struct address_space *s, uint32_t target, bool late);
/* The report begins now: nothing was allocated. */
void heap_begin_anew(struct heap *h);
/* To be called often. `live` says whether a process is there. */
void heap_turn(struct heap *h, bool (*live)(const void *arg, pid_t pid), const void *arg);

/* What calls of probed functions cost. */
struct heap_slow {
	uint64_t rate;	   /* calls in a second */
	uint64_t price_ns; /* of one, on average */
	unsigned percent;  /* of its speed, at which a program runs with them */
};

/* True if the programs ran at less than half of their speed, and may not. NULL is accepted. */
bool heap_is_slow(const struct heap *h, struct heap_slow *ret);
/* Ends counting. */
void heap_stop(struct heap *h);
/* After that: closes the probes, for which the kernel takes its time. */
void heap_detach(struct heap *h);

/* The sampled blocks. */
struct heap_blocks *heap_blocks(struct heap *h);
/* Sets what the stacks hold, and *ret. */
int heap_report(struct heap *h, struct stack_table *stacks, struct growth_heap *ret);
/* 0, or why no probe could be opened though there are functions. NULL is accepted. */
int heap_error(const struct heap *h);
/* To open probes again: enum privilege_later. NULL is accepted. */
unsigned heap_needs_later(const struct heap *h);
/* Adds a note for each thing that is not seen. */
void heap_diagnose(const struct heap *h, struct diag *diag);

#endif
