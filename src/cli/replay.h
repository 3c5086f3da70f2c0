/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* --replay FILE: a recording in memory, and the tape that plays it. */
#ifndef ZMEM_CLI_REPLAY_H
#define ZMEM_CLI_REPLAY_H

#include "recording/recording.h"

struct replay {
	const char *path;
	char *data;
	struct recording recording;
	struct tape *tape; /* NULL: there is none */
};

/* Returns 0, or an exit code after a message. replay_close() in either case. */
int replay_open(struct replay *r, const char *path);
/* Likewise. */
int replay_turn_to(struct replay *r, uint32_t frame, const char *chapter);
void replay_close(struct replay *r);

#endif
