/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a collector itself knows, on a tape: its pid, its choice of PSS, the time. */
#ifndef ZMEM_COLLECT_SESSION_TAPE_H
#define ZMEM_COLLECT_SESSION_TAPE_H

#include "collect/collector.h"

#define CHAPTER_SNAPSHOT "snapshot"
#define CHAPTER_COMPARE	 "compare"

void session_tape_play(struct collector *c);
void session_tape_keep(const struct collector *c);
/* ms since the epoch: now, or of the frame. */
int64_t session_tape_time(const struct collector *c);
/* Ends a frame. */
void session_tape_end(struct collector *c);

#endif
