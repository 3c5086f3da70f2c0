/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What belongs to a session and to no reader, on its tape, if it has one. */
#ifndef ZMEM_CLI_SESSION_TAPE_H
#define ZMEM_CLI_SESSION_TAPE_H

#include "cli/session.h"

/* The chapters of a frame. */
#define CHAPTER_SNAPSHOT "snapshot"
#define CHAPTER_COMPARE	 "compare"

/* Who reads, and what for; once, when it is opened. */
void session_tape_keep(const struct session *s);
void session_tape_play(struct session *s);
/* When a frame begins: ms since the epoch, now or then. */
int64_t session_tape_time(const struct session *s);
/* When it is complete: how long it took, and who its users are. */
void session_tape_end(struct session *s);

#endif
