/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The layout of top that is kept from one run to the next: columns, order, groups or tree,
 * interval. Its file has a line for each word of the options: "sort swap", "tree".
 */
#ifndef ZMEM_TOP_LAYOUT_H
#define ZMEM_TOP_LAYOUT_H

#include <limits.h>

#include "base/strbuf.h"
#include "top/shared.h"

enum layout_part {
	LAYOUT_COLUMNS = 1 << 0,       /* of processes */
	LAYOUT_GROUP_COLUMNS = 1 << 1, /* of groups */
	LAYOUT_SORT = 1 << 2,
	LAYOUT_REVERSE = 1 << 3,
	LAYOUT_ROWS = 1 << 4, /* groups, a tree, or neither */
	LAYOUT_INTERVAL = 1 << 5,
};

struct layout {
	unsigned have; /* enum layout_part */
	struct column_list columns[2];
	struct column_list sort;
	bool reverse;
	const struct column *group;
	bool tree;
	unsigned interval_ms;
};

/* ---- text ---- */

#define LAYOUT_MAX (16 * 1024) /* bytes of a file */

/* Parses any bytes. Returns the number of lines that were not understood and ignored. */
unsigned layout_parse(const char *text, size_t len, struct layout *ret);
/* Writes what layout_parse() reads. */
void layout_write(const struct layout *l, struct strbuf *out);

/* ---- settings ---- */

/* Changes the settings to the layout, except for the parts that options have given. */
void layout_apply(const struct layout *l, unsigned given, struct view_settings *set);
/* Adds to the layout what the user has changed since the start. Returns whether there is any. */
bool layout_update(struct layout *l, const struct view_settings *begun,
		   const struct view_settings *now);

/* ---- the file (layout_file.c) ---- */

struct layout_file {
	char path[PATH_MAX]; /* "": there is no place for one */
	char base[PATH_MAX]; /* $XDG_CONFIG_HOME or ~/.config, which may have to be made */
	char home[PATH_MAX]; /* "": not needed */
};

/* `config`, `home`: $XDG_CONFIG_HOME and $HOME, or NULL. Relative paths are ignored. */
void layout_file_find(struct layout_file *f, const char *config, const char *home);
/*
 * Reads the file: a regular one, ours or root's, not a link, which no other user can write to or
 * replace. Returns 0, -ENOENT, or a negative errno and the reason.
 */
int layout_file_read(const struct layout_file *f, struct strbuf *ret, const char **ret_why);
/*
 * Replaces the file, and makes its directories. Only we may read it. Returns 0, or a negative errno
 * and the reason, which may be NULL.
 */
int layout_file_write(const struct layout_file *f, const struct strbuf *text, const char **ret_why);

#endif
