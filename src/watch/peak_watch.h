/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Has the kernel add up the resident memory of some processes and all their descendants
 * (bpf/peak.bpf.c): the highest sum is exact, whatever time user space takes.
 */
#ifndef ZMEM_WATCH_PEAK_WATCH_H
#define ZMEM_WATCH_PEAK_WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/diag.h"
#include "zmem/peak.h"

struct peak_watch;

/*
 * Loads and attaches the programs; needs CAP_BPF and CAP_PERFMON, as peak_watch_add() does. Returns
 * 0, or a negative errno and notes in diag.
 */
int peak_watch_open(struct diag *diag, struct peak_watch **ret);
/* Each change is an event. False: before Linux 6.2, where threads hold some of them back. */
bool peak_watch_each(const struct peak_watch *w);
/*
 * From now on the process and what it forks are in the sum; `later`: its memory is from its next
 * exec on. Returns 0, -ESRCH if it has no memory or does not exist, -ENOSPC without room for it, or
 * another negative errno. One that is in the sum already is no error.
 */
int peak_watch_add(struct peak_watch *w, pid_t pid, bool later);
/* The program changes it all the time. */
const struct zmem_peak_state *peak_watch_state(const struct peak_watch *w);
/* The highest sum since the last call, in pages. */
int64_t peak_watch_take_recent(struct peak_watch *w);
/* The highest of all; zeros if there is none. */
struct zmem_peak_high peak_watch_high(const struct peak_watch *w);
/* Calls fn for each message that has come. Returns 0 or a negative errno, also of fn. */
int peak_watch_read(struct peak_watch *w,
		    int (*fn)(void *arg, const struct zmem_peak_message *message), void *arg);
/*
 * Calls fn for each address space that has not ended, and for each process; `target`: NULL if its
 * memory is not known, or is another one's. Each returns 0 or a negative errno, also of fn.
 */
int peak_watch_each_target(const struct peak_watch *w,
			   int (*fn)(void *arg, const struct zmem_peak_target *target), void *arg);
int peak_watch_each_process(const struct peak_watch *w,
			    int (*fn)(void *arg, const struct zmem_peak_process *process,
				      const struct zmem_peak_target *target),
			    void *arg);
/* Events that came while the same CPU was in another one. */
uint64_t peak_watch_missed(const struct peak_watch *w);
/* Nothing is added any more. */
void peak_watch_stop(struct peak_watch *w);
void peak_watch_close(struct peak_watch *w);

#endif
