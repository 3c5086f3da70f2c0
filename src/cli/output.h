/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where output goes: stdout, or a file. `struct output` is for a command that ends: its file
 * appears whole or not at all. `struct append` is for a command that runs on and on: it appends.
 */
#ifndef ZMEM_CLI_OUTPUT_H
#define ZMEM_CLI_OUTPUT_H

#include <stdbool.h>

#include "cli/options.h"
#include "cli/ticker.h"
#include "base/file.h"
#include "base/strbuf.h"
#include "render/render.h"

struct output {
	struct strbuf buf; /* write here */
	struct file_atomic file;
	const char *path; /* NULL: stdout */
	int fd;
	bool terminal;
	bool color;
	unsigned width, height; /* of the terminal, 0: none */
};

/* How a table is to look; without columns. `width`: of the terminal, 0: none. */
struct table_style output_style(const struct options *o, bool color, unsigned width);
/* Whether colours are wanted on what is a terminal, or not. */
bool output_color(const struct options *o, bool terminal);
/* Returns 0 or an exit code after a message. output_close() in either case. */
int output_open(struct output *out, const struct options *o);
/* The same for a file that no other user may read. */
int output_open_private(struct output *out, const char *path);
/* Writes what there is. Returns 0 or an exit code after a message. */
int output_flush(struct output *out);
/*
 * Writes what is left and makes a file appear. Returns 0 or an exit code after a message; a reader
 * that went away is no error.
 */
int output_finish(struct output *out);
void output_close(struct output *out);

/* Lines are written whole. What a full disk left of a tick is removed again where possible. */
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
