/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads the files that top shows. The programs are loaded at the start, since capabilities are
 * given up then; the files are read only while they are shown.
 */
#ifndef ZMEM_TOP_FILES_H
#define ZMEM_TOP_FILES_H

#include "query/files.h"
#include "source/files_source.h"
#include "source/holders_source.h"
#include "top/view.h"

struct proc_pool;

struct top_files {
	struct files_source *source; /* NULL: `why` */
	struct holders_source *holders;
	char why[256];	       /* the programs were not loaded, */
	char failed[256];      /* or the last reading failed */
	char holders_why[256]; /* holders cannot be read */
	struct procfs proc;
	struct snapshot snapshot; /* host and meminfo alone */
	struct file_set set;
	struct files_result result;
	struct files_report report;
	struct field_list columns; /* of it */
	struct pattern *pattern;
	char filter[128]; /* of the pattern */
	uint64_t due_us;  /* CLOCK_MONOTONIC: when they are to be read again */
	bool read;	  /* the set has files */
};

#define TOP_FILES_CLOSED ((struct top_files){.proc.fd = -1})

/* Call it before capabilities are given up. What is missing becomes the text of the view. */
void top_files_open(struct top_files *t);
void top_files_close(struct top_files *t);
/* Reads the files if they are shown, and `now` or it is time; forgets them if they are not. */
void top_files_read(struct top_files *t, struct view *v, bool now);
/* Makes the rows of the same files again. */
void top_files_rows(struct top_files *t, struct view *v);
/* Reads the holders of the file at the cursor. `pool` reads their names; NULL: nothing does. */
void top_files_holders(struct top_files *t, struct proc_pool *pool, struct view *v);

#endif
