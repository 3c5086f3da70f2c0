/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Watches the resident counters of some processes from inside the kernel (bpf/grow.bpf.c): each
 * change comes with the stack that made it, and the sums are exact.
 */
#ifndef ZMEM_WATCH_GROW_WATCH_H
#define ZMEM_WATCH_GROW_WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/diag.h"
#include "zmem/grow.h"

struct grow_watch;

struct grow_request {
	bool walk;	  /* return addresses by frame pointers, in place of copies of stacks */
	bool follow;	  /* children, too */
	unsigned sample;  /* of so many pages one is sampled; 0: by rate */
	unsigned targets; /* how many processes at once; at most ZMEM_GROW_TARGETS */
	struct zmem_layout at; /* of the kernel; 0: pages that are copied are not known */
	uint64_t heap; /* bytes: blocks of allocators are sampled so often; 0: they are not */
};

/*
 * Loads and attaches the programs; needs CAP_BPF and CAP_PERFMON, the other functions need neither.
 * Returns 0, or a negative errno and notes in diag.
 */
int grow_watch_open(const struct grow_request *request, struct diag *diag, struct grow_watch **ret);
/* Each change is an event. False: before Linux 6.2, about every 64th page fault is one. */
bool grow_watch_each(const struct grow_watch *w);
/* Messages have addresses of page faults. */
bool grow_watch_addresses(const struct grow_watch *w);
/*
 * Begins to count for a process. Returns 0 and its target number, -ESRCH if it has no memory or
 * does not exist, -ENOSPC without room for it, or another negative errno.
 */
int grow_watch_add(struct grow_watch *w, pid_t pid, uint32_t *ret_target);
/*
 * Calls fn for each message that has come: one of the structs of zmem/grow.h behind struct
 * zmem_grow_head, `len` bytes. Returns their number, or a negative errno, also of fn.
 */
int grow_watch_read(struct grow_watch *w,
		    int (*fn)(void *arg, const struct zmem_grow_head *message, size_t len),
		    void *arg);
/* Readable when a process has begun or executed; it stays the property of the watch. */
int grow_watch_fd(const struct grow_watch *w);
/* Ends counting for all targets: what follows is only read from `sums`. Messages stay readable. */
int grow_watch_stop(struct grow_watch *w);
/*
 * Reads the counters of a process where events do not tell them. `last`: also what no event told;
 * to be called before grow_watch_stop().
 */
int grow_watch_visit(struct grow_watch *w, pid_t pid, bool last);

/* Pages, by enum zmem_rss. */
struct grow_sums {
	int64_t begin[ZMEM_RSS_COUNT];
	int64_t end[ZMEM_RSS_COUNT];	 /* at the last event or visit */
	int64_t net[ZMEM_RSS_COUNT];	 /* of all events */
	int64_t settled[ZMEM_RSS_COUNT]; /* of none */
	int64_t skipped[ZMEM_RSS_COUNT]; /* of events, less what their stacks stand for */
	uint64_t events, taken, lost_messages;
	uint64_t lost_processes; /* children and new programs of which no message tells */
	uint64_t copied;	 /* pages of which no message tells */
	bool ended;
};

int grow_watch_sums(const struct grow_watch *w, uint32_t target, struct grow_sums *ret);
/* Forgets a target that has ended: its number may be given to another one. */
int grow_watch_free(struct grow_watch *w, uint32_t target);
void grow_watch_close(struct grow_watch *w);

/* ---- blocks of allocators, with grow_request.heap ---- */

/* The descriptors of programs to attach to functions of allocators. */
struct grow_heap_programs {
	int session, enter, leave;
};
struct grow_heap_programs grow_watch_heap_programs(const struct grow_watch *w);
/* From now on one sample in 2^n times grow_request.heap bytes. Returns 0 or a negative errno. */
int grow_watch_heap_coarser(struct grow_watch *w, uint32_t n);
/*
 * What threads of the target refuse, of enum zmem_heap_refuses: a probe of a return could end them.
 */
uint32_t grow_watch_heap_refuses(const struct grow_watch *w, uint32_t target);
/* Filters do harm on this kernel: from now on no call of a thread with one is looked at. */
int grow_watch_heap_spare_filters(struct grow_watch *w);
/*
 * Which file a process maps at an address: a number that no other file has while it is in use. 0:
 * it is not known.
 */
uint64_t grow_watch_heap_mapping(struct grow_watch *w, pid_t pid, uint64_t address);
/*
 * Calls fn with a struct zmem_grow_lock for each address space of which the mmap_lock is held just
 * now, without taking it; of those that map this file, or of all (0). Returns their number or a
 * negative errno, also of fn.
 */
ssize_t grow_watch_heap_locks(struct grow_watch *w, uint64_t mapping,
			      int (*fn)(void *arg, const void *lock), void *arg);
/* What all CPUs have counted since the beginning. */
int grow_watch_heap_counts(const struct grow_watch *w, struct zmem_heap_cpu *ret);

/* A sampled block that is not freed. */
struct grow_live_block {
	uint64_t address, time;
	uint32_t target;
};

/* All of them, in no order; the caller frees the list. Returns 0 or a negative errno. */
int grow_watch_heap_list(const struct grow_watch *w, struct grow_live_block **ret,
			 size_t *ret_count);
/* True if this block is one of them. */
bool grow_watch_heap_has(const struct grow_watch *w, uint32_t target, uint64_t address,
			 uint64_t time);
/* Forgets a sampled block: its process is gone. */
void grow_watch_heap_forget(const struct grow_watch *w, uint32_t target, uint64_t address);

#endif
