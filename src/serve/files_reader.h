/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The files of the machine, as the document zmem.files with the largest of them. The collector
 * process reads them for the pages that show them.
 */
#ifndef ZMEM_SERVE_FILES_READER_H
#define ZMEM_SERVE_FILES_READER_H

#include "base/diag.h"
#include "base/strbuf.h"
#include "model/files.h"
#include "proc/procfs.h"
#include "source/files_source.h"
#include "source/swap_source.h"

#define FILES_READER_ROWS 2000 /* files in the document */

struct files_reader {
	struct files_source *source;
	struct procfs proc;
	struct snapshot snapshot; /* host, time and meminfo alone */
	struct strbuf document;
	uint64_t taken_us; /* when it was read (CLOCK_MONOTONIC); 0: never */
	uint64_t due_us;   /* before that time it is not read again */
};

#define FILES_READER_CLOSED                                                                        \
	{                                                                                          \
		.proc.fd = -1                                                                      \
	}

/* Returns 0, or a negative errno and a note why. */
int files_reader_open(struct files_reader *r, struct diag *diag);
void files_reader_close(struct files_reader *r);
/*
 * Makes a document no older than `age_us`, or the newest that its cost allows. `swap`: what swap
 * takes in RAM; NULL: that is not read. Returns 1 with a new document, 0 with the one before, or a
 * negative errno.
 */
int files_reader_read(struct files_reader *r, uint64_t age_us, struct swap_source *swap);

#endif
