/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* --replay FILE: the frames of a recording. */
#ifndef ZMEM_CLI_REPLAY_H
#define ZMEM_CLI_REPLAY_H

#include "recording/recording_file.h"

struct replay {
	const char *path;
	struct recording_reader *reader; /* NULL: there is none */
	uint32_t frames;
	bool has_cmdlines;
	int fd;	    /* of a file, -1 of a pipe, which is read into memory */
	char *data; /* of a pipe */
};

/* Returns 0, or an exit code after a message. replay_close() in either case. */
int replay_open(struct replay *r, const char *path, bool quiet);
/* Decodes frame 1, 2, …, r->frames into *ret. Returns likewise. */
int replay_frame(struct replay *r, uint32_t frame, struct snapshot *ret);
void replay_close(struct replay *r);

#endif
