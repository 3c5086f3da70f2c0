/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Output of a command that stays: stdout, or a file that is appended to. Lines are written whole,
 * and what a full disk left of a tick is taken back where that can be done.
 */
#ifndef ZMEM_CLI_APPEND_H
#define ZMEM_CLI_APPEND_H

#include <stdbool.h>

#include "cli/options.h"
#include "cli/ticker.h"
#include "base/strbuf.h"

struct append {
	struct strbuf buf;  /* write here */
	struct strbuf line; /* whole lines, and the beginning of one that is not */
	const char *path;   /* NULL: stdout */
	int fd;
	bool terminal, color, regular;
	unsigned width, height; /* of the terminal, 0: none */
	off_t begin;		/* where a file ended before this tick */
	off_t written;		/* in this tick */
	struct ticker *ticker;	/* whose signals end waiting for a reader */
	bool ended;		/* nobody reads any more, or we were told to end while nobody did */
};

/* Returns 0 or an exit code after a message. append_close() in either case. */
int append_open(struct append *a, const struct options *o, struct ticker *ticker);
/* Reads the terminal's size again. */
void append_resize(struct append *a);
/* Before what belongs together is written. */
void append_begin(struct append *a);
/*
 * Writes what there is. Returns 0, or an exit code after a message. Nobody who reads is no error:
 * then it has ended.
 */
int append_flush(struct append *a);
void append_close(struct append *a);

#endif
