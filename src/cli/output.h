/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Where output goes: stdout, or a file that appears whole or not at all. */
#ifndef ZMEM_CLI_OUTPUT_H
#define ZMEM_CLI_OUTPUT_H

#include <stdbool.h>

#include "cli/options.h"
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

#endif
