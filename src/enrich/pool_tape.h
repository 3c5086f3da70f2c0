/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What workers read: what it means, and how it is put on a tape and played. */
#ifndef ZMEM_ENRICH_POOL_TAPE_H
#define ZMEM_ENRICH_POOL_TAPE_H

#include "base/text_part.h"
#include "enrich/enrich.h"

/* The longest text that is read of a process. */
#define POOL_TEXT_MAX (POOL_CMDLINE_MAX * 2)

/* Below /proc/PID. */
const char *pool_file_name(enum pool_file file);

/*
 * Makes a result of what was read, or of a negative errno. A text that nobody asked for is kept all
 * the same with keep_text.
 */
void pool_understand(enum pool_file file, bool keep_text, const char *text, ssize_t len_or_error,
		     struct pool_result *ret);

/* Makes a result of a negative errno. */
void pool_fail(struct pool_result *ret, int error);

/* What a process is called, out of its command line; a part of that, of its name or of comm. */
struct text_part pool_program_name(const struct process *p, const char *cmdline, size_t len);

/*
 * Makes names of the command lines that were read for POOL_PROGRAM. Takes results down, and frees
 * the texts that nobody asked for.
 */
void pool_keep(struct tape *tape, enum pool_file file, struct process *const *rows, size_t count,
	       struct pool_result *results);
/* The results on the tape. Returns how many of them were read and not given out before. */
size_t pool_play(struct tape *tape, enum pool_file file, struct process *const *rows, size_t count,
		 struct pool_result *results);
bool pool_has_played(const struct tape *tape, enum pool_file file, const struct process *p);

#endif
