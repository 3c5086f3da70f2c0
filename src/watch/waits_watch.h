/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Counts which processes wait for memory and read from swap, from now on (bpf/waits.bpf.c): for
 * machines without delay accounting.
 */
#ifndef ZMEM_WATCH_WAITS_WATCH_H
#define ZMEM_WATCH_WAITS_WATCH_H

#include <stdbool.h>

#include "base/diag.h"
#include "model/snapshot.h"

struct waits_watch;

/*
 * Loads and attaches the programs; needs CAP_BPF and CAP_PERFMON. Returns 0, or a negative errno
 * and notes in diag.
 */
int waits_watch_open(struct diag *diag, struct waits_watch **ret);
/* Whether it counts what is read from swap. */
bool waits_watch_swapins(const struct waits_watch *w);
/*
 * Sets MEM_WAIT, which is the time in reclaim alone, and if it can SWAPINS of all processes of the
 * snapshot. Both count from the opening on. Events that were lost since the last reading leave them
 * unknown.
 */
void waits_watch_read(struct waits_watch *w, struct snapshot *s);
void waits_watch_close(struct waits_watch *w);

#endif
