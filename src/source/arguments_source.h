/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads the command lines of many processes (bpf/arguments.bpf.c): the same bytes as in
 * /proc/PID/cmdline, without a lock of the process and without its files.
 */
#ifndef ZMEM_SOURCE_ARGUMENTS_SOURCE_H
#define ZMEM_SOURCE_ARGUMENTS_SOURCE_H

#include "base/diag.h"
#include "model/snapshot.h"
#include "proc/procfs.h"
#include "source/source.h"

struct arguments_source;

/*
 * Loads the program in a thread, if there is one, while the caller loads others. Returns NULL
 * without memory.
 */
struct arguments_source *arguments_source_begin(void);
/*
 * Waits until it is loaded, and compares what it reads of this process with /proc. `from` has found
 * where the kernel has its memory; if it did not need to, the program finds out. `readers`: threads
 * that read; 0: as many as pay. Returns 0, or a negative errno and a note why: -ENOTSUP on other
 * architectures than x86-64.
 */
int arguments_source_open(struct arguments_source *s, const struct source *from,
			  const struct procfs *proc, unsigned readers, struct diag *diag);
/* NULL is accepted. */
void arguments_source_close(struct arguments_source *s);

/*
 * Calls fn for each of these processes that it can tell, with the first `most` bytes: `text` ends
 * with a NUL behind `len`, and is to be freed. `source`: a struct arguments_source. Of the others,
 * and of all after an error, /proc has to be asked. Returns 0 or a negative errno.
 */
int arguments_source_read(void *source, struct process *const *process, size_t count, size_t most,
			  void (*fn)(void *arg, size_t i, char *text, size_t len), void *arg);

#endif
