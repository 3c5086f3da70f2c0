/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What differs between the variants of a walk (kread.bpf.h): its limits, how functions get it, and
 * how they loop over it. walk_room.bpf.h has the rest.
 *
 *   walk_ref            what functions pass; see walk_room.bpf.h
 *   WALK_STEP_FUNCTION(name)  begins int name(walk_ref walk), a step of walk_loop(); 1 ends the
 *                       loop. WALK_STEP_LONG(name) behind it: also of walk_loop_long()
 *   walk_loop(max, count, name, walk)  takes up to `count` steps; never more than `max`, a constant
 *   walk_loop_long      the same for a `max` of more than 4096
 */
#ifndef ZMEM_WALK_VARIANT_BPF_H
#define ZMEM_WALK_VARIANT_BPF_H

#include "entry.bpf.h"

/*
 * Table entries that a visit may look at, so that its time stays well below a millisecond; the cost
 * of a step itself, in entries; and the entries that are read at once, for speed.
 */
#define WALK_BUDGET (16 * 1024)
#ifdef ZMEM_PROBE_READS
#define WALK_STEP_COST 3
#define WALK_GROUP     8
#else
#define WALK_STEP_COST 2
#define WALK_GROUP     4
#endif
/* The cost of a swap slot, in entries. */
#define SWAP_SLOT_WORK 4

struct page_walk;

/* Whether the walk looks at all pages, also at those that no other process can have. */
#ifdef ZMEM_EACH_PAGE
#define EVERY_PAGE true
#else
#define EVERY_PAGE false
#endif

#ifdef ZMEM_OLD

/* Global functions take no pointers before 5.12: this is the number of a room. */
typedef __u32 walk_ref;

#define WALK_STEP_FUNCTION(name) __noinline int name(walk_ref walk)
#define walk_loop(max, count, name, walk)                                                          \
	do {                                                                                       \
		const __u32 count_ = (__u32)(count);                                               \
                                                                                                   \
		for (__u32 turn_ = 0; turn_ < (max) && turn_ < count_; turn_++) {                  \
			if (name(walk))                                                            \
				break;                                                             \
		}                                                                                  \
	} while (0)

/*
 * A loop of loops, because the verifier follows at most 8192 jumps of one function. The inner one
 * takes LOOP_TURNS steps, so a loop may take nearly that many more than its `count`.
 */
#define LOOP_TURNS 256
#define WALK_STEP_LONG(name)                                                                       \
	__noinline int name##_turns(walk_ref walk)                                                 \
	{                                                                                          \
		for (__u32 i = 0; i < LOOP_TURNS; i++) {                                           \
			if (name(walk))                                                            \
				return 1;                                                          \
		}                                                                                  \
		return 0;                                                                          \
	}
#define walk_loop_long(max, count, name, walk)                                                     \
	walk_loop((max) / LOOP_TURNS, ((count) + LOOP_TURNS - 1) / LOOP_TURNS, name##_turns, walk)

/*
 * The most steps of a walk: those that cost the whole budget, one for each page of a huge page,
 * which is finished in any case, and what the inner loop rounds up.
 */
#define WALK_STEPS_MAX (WALK_BUDGET / WALK_STEP_COST + PMD_PAGES_MOST + LOOP_TURNS)

#else

typedef struct page_walk *walk_ref;

#define WALK_STEP_FUNCTION(name)                                                                   \
	static __always_inline int name(walk_ref walk);                                            \
	static long name##_turn(__u32 index, walk_ref *walk)                                       \
	{                                                                                          \
		return name(*walk);                                                                \
	}                                                                                          \
	static __always_inline int name(walk_ref walk)
#define walk_loop(max, count, name, walk)                                                          \
	do {                                                                                       \
		walk_ref walk_ = walk;                                                             \
		bpf_loop((__u32)(count), name##_turn, &walk_, 0);                                  \
	} while (0)
#define WALK_STEP_LONG(name)
#define walk_loop_long walk_loop
#define WALK_STEPS_MAX WALK_BUDGET

#endif

#endif
