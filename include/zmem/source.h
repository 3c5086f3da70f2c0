/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where processes and their counters come from. A source is opened once and collected from as often
 * as one likes; the first of the chain that opens does the work, and `diag` keeps why those before
 * it did not.
 */
#ifndef ZMEM_SOURCE_H
#define ZMEM_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

#include "zmem/procfs.h"
#include "zmem/diag.h"
#include "zmem/snapshot.h"

enum source_choice {
	SOURCE_AUTO, /* BPF, else /proc */
	SOURCE_BPF,
	SOURCE_PROC,
};

struct source;

struct source_ops {
	const char *name; /* for doctor and messages */
	/* Returns 0 and *ret_state, or a negative errno and a note in diag. */
	int (*open)(const struct procfs *proc, struct diag *diag, void **ret_state);
	/*
	 * Appends all processes to the snapshot, whose arena it uses for strings. Does not finish
	 * it. Returns 0 or a negative errno.
	 */
	int (*collect)(void *state, struct snapshot *snapshot);
	void (*close)(void *state);
};

extern const struct source_ops source_bpf;	/* bpf_rdonly_cast: 6.2 and later */
extern const struct source_ops source_bpf_full; /* the same, where lockdown forbids the light one */
extern const struct source_ops source_bpf_probe; /* probe reads: 5.17 and later */
extern const struct source_ops source_proc;

/*
 * Opens the first source that works. Where no BPF source does, the reason is looked for with libbpf
 * and the verifier's log, which goes into diag. The procfs must outlive the source.
 * Returns 0 and *ret_source, or the negative errno of the last attempt.
 */
int source_open(enum source_choice choice, const struct procfs *proc, struct diag *diag,
		struct source **ret_source);
/*
 * For a source that did not open: loads its program once more by libbpf, with the verifier's log
 * on, and adds the log to the newest note.
 */
void source_explain(const struct source_ops *ops, struct diag *diag);
/* The note that says why BPF is not at work, NULL if there is none. */
const struct diag_note *source_reason(const struct diag *diag);
/* The name of the source at work. */
const char *source_name(const struct source *source);
enum origin source_origin(const struct source *source);
/* Clears the snapshot and fills it, finished (snapshot_finish). */
int source_collect(struct source *source, struct snapshot *snapshot);
void source_close(struct source *source);

#endif
