/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where output goes: stdout, or a file. `struct output` is for a command that ends: its file
 * appears whole or not at all. `struct append` is for a command without an end: it appends.
 */
#ifndef ZMEM_SESSION_OUTPUT_H
#define ZMEM_SESSION_OUTPUT_H

#include <stdbool.h>

#include "base/file.h"
#include "base/strbuf.h"
#include "report/report.h"
#include "session/options.h"
#include "session/ticker.h"

struct output {
	struct strbuf buf; /* write here */
	struct file_atomic file;
	const char *path; /* NULL: stdout, or stderr */
	int fd;
	bool terminal;
	bool color;
	unsigned width, height; /* of the terminal, 0: none */
};

/*
 * How many rows fit on a terminal of that size beside `lines` other lines and `columns` columns of
 * text that is not cut; 0: it is no terminal.
 */
size_t output_rows(unsigned width, unsigned height, unsigned lines, unsigned columns);
/* The style of a table, without columns. `width`: of the terminal, 0: none. */
struct table_style output_style(const struct options *o, bool color, unsigned width);
/* Whether output has colours. */
bool output_color(const struct options *o, bool terminal);
/* Returns 0 or an exit code after a message. output_close() in either case. */
int output_open(struct output *out, const struct options *o);
/* The same, but without --output it is stderr: a command that runs has stdout. */
int output_open_beside(struct output *out, const struct options *o);
/* The same for a file that no other user can read. */
int output_open_private(struct output *out, const char *path);
/* Writes the buffer. Returns 0 or an exit code after a message. */
int output_flush(struct output *out);
/*
 * Writes the buffer and makes the file appear. Returns 0 or an exit code after a message. A closed
 * pipe is no error.
 */
int output_finish(struct output *out);
void output_close(struct output *out);

/* Lines are written whole. What a full disk left of a tick is removed again where possible. */
struct append {
	struct strbuf buf;  /* write here */
	struct strbuf line; /* lines to be written; the last one may be incomplete */
	const char *path;   /* NULL: stdout */
	int fd;
	bool terminal, color, regular;
	unsigned width, height; /* of the terminal, 0: none */
	off_t begin;		/* the size of the file before this tick */
	off_t written;		/* bytes in this tick */
	struct ticker *ticker;	/* its signals end the wait for a reader */
	bool ended;		/* the reader is gone, or a signal came while it did not read */
};

/* Returns 0 or an exit code after a message. append_close() in either case. */
int append_open(struct append *a, const struct options *o, struct ticker *ticker);
/* Reads the terminal's size again. */
void append_resize(struct append *a);
/* To be called before the output of a tick. */
void append_begin(struct append *a);
/*
 * Writes the buffer. Returns 0, or an exit code after a message. A closed pipe is no error: it sets
 * `ended`.
 */
int append_flush(struct append *a);
void append_close(struct append *a);

#endif
