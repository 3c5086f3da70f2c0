/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads the peaks of processes that ended, which the kernel side keeps (bpf/ended.bpf.c). */
#ifndef ZMEM_WATCH_ENDED_WATCH_H
#define ZMEM_WATCH_ENDED_WATCH_H

#include "base/diag.h"
#include "model/ended.h"

struct ended_watch;

/* Loads and attaches the program. Returns 0, or a negative errno and notes in diag. */
int ended_watch_open(struct diag *diag, struct ended_watch **ret);
/*
 * Processes that end from now on are in the next turn, unless the turn before was not read yet.
 * Those that end on another CPU at this moment may still be added to the turn before: some work
 * lies between this call and the next one.
 */
void ended_watch_turn(struct ended_watch *w);
/*
 * The processes of the turn before, which are valid until the next call. Returns 0 or a negative
 * errno; -EAGAIN: they were read.
 */
int ended_watch_read(struct ended_watch *w, const struct ended_processes **ret);
/* What was read last was not recorded: the next reading has it, too. */
void ended_watch_keep(struct ended_watch *w);
void ended_watch_close(struct ended_watch *w);

#endif
