/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Measures the peak of processes and all their descendants: from the sums that the kernel keeps
 * (watch/peak_watch.h), or where that does not work by reading /proc again and again. PSS is read
 * beside it, after new highest sums, and at most so often that it takes a twentieth of the time.
 */
#ifndef ZMEM_COLLECT_PEAK_H
#define ZMEM_COLLECT_PEAK_H

#include "base/diag.h"
#include "model/peak.h"
#include "proc/procfs.h"
#include "source/source.h"

struct peak_meter;

/*
 * `choice`: SOURCE_BPF measures by BPF alone, SOURCE_PROC by samples. The procfs outlives the
 * meter. Returns 0, or a negative errno; notes in diag say why BPF is not used.
 */
int peak_meter_open(enum source_choice choice, const struct procfs *proc, struct diag *diag,
		    struct peak_meter **ret);
enum peak_method peak_meter_method(const struct peak_meter *m);
/* Each change counts at once: false before Linux 6.2, and of samples. */
bool peak_meter_each(const struct peak_meter *m);
/*
 * Adds a process. `later`: its own memory is from its next exec on. To be called with the rights to
 * load programs. Returns 0, -ESRCH, -ENOSPC or another negative errno.
 */
int peak_meter_add(struct peak_meter *m, pid_t pid, bool later);
/* Likewise what the added processes have forked so far. Returns 0 or a negative errno. */
int peak_meter_add_descendants(struct peak_meter *m);
/* Time counts from here on. */
void peak_meter_begin(struct peak_meter *m);
/* To be called again after *ret_wait_us. Returns 0 or a negative errno. */
int peak_meter_tick(struct peak_meter *m, uint64_t *ret_wait_us);
/* True when all processes that were added have ended. */
bool peak_meter_ended(const struct peak_meter *m);
/* The highest sum so far, bytes of RSS. */
uint64_t peak_meter_so_far(const struct peak_meter *m);
/*
 * Ends it. Lists in *ret are the meter's. Command, exit code, signal and snapshot are left to the
 * caller. Returns 0 or a negative errno.
 */
int peak_meter_finish(struct peak_meter *m, struct peak *ret);
void peak_meter_close(struct peak_meter *m);

#endif
