/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the files of src/source share: kinds of sources, and the variants of each kind. */
#ifndef ZMEM_SOURCE_INTERNAL_H
#define ZMEM_SOURCE_INTERNAL_H

#include "load/bpf_load.h"
#include "source/source.h"

struct source_variant;

/* How many readers keep memos (bpf/memo.bpf.h), and how many each: a power of 2, or 0. */
struct memo_plan {
	unsigned readers; /* at most SOURCE_READERS_MAX */
	uint32_t each;
};

/* How the sources of one kind work. `state` is what open() returned. */
struct source_kind {
	enum origin origin;
	/* Returns 0 and *ret_state, or a negative errno and a note in diag. */
	int (*open)(const struct source_variant *variant, const struct procfs *proc,
		    const struct memo_plan *memos, struct diag *diag, void **ret_state);
	/*
	 * Appends all processes to the snapshot and their strings to its arena. Does not finish the
	 * snapshot. Returns 0 or a negative errno.
	 */
	int (*collect)(void *state, unsigned readers, struct snapshot *snapshot);
	/*
	 * The same for one process; -ESRCH if it does not exist, -EOPNOTSUPP if it cannot be read
	 * alone. NULL if every variant is all_only.
	 */
	int (*revisit)(void *state, pid_t pid, struct snapshot *snapshot);
	/* Why PSS does not come from the kernel now, NULL if it does. */
	const char *(*pss_refusal)(const void *state);
	/* From now on it does not: its values were wrong. NULL with pss_refusal. */
	void (*distrust)(void *state);
	/* The link of the iterator, which the source owns. NULL: it has none to be pinned. */
	int (*link)(const void *state);
	/* Where the kernel has its memory. Returns 0 or a negative errno. NULL: not known. */
	int (*layout)(const void *state, struct zmem_layout *ret);
	void (*close)(void *state);
};

extern const struct source_kind source_kind_pin; /* iterators that root pinned */
extern const struct source_kind source_kind_bpf; /* objects that this process loads */
extern const struct source_kind source_kind_proc;

/* A row of the table of sources (source.c). */
struct source_variant {
	const char *name; /* for doctor and messages */
	const struct source_kind *kind;
	bool pages;	    /* walks pages, or has a note in diag that says why not */
	bool all_only;	    /* cannot read one process alone */
	const char *pinned; /* kind pin: the name of the link */
	/* Kind bpf: what is loaded. */
	enum bpf_object_id object;
	enum bpf_loader loader;
	/*
	 * The variant reads kernel memory by bpf_probe_read_kernel(), which
	 * lockdown=confidentiality forbids; else by bpf_rdonly_cast(), since Linux 6.2.
	 */
	bool probes;
};

/*
 * Keeps the link of this source, if it is root's, so that its readings do not end with the pin
 * (pin_source.c). For a process that holds CAP_BPF; state of source_kind_pin. Returns 0, or -ESTALE
 * if the pin was removed since it was opened.
 */
int pin_source_hold(void *state);
/* True if this program, not another build of it, made the pin that is there now (pin_source.c). */
bool pin_source_is_ours(void);

/* ---- counters of one process from /proc/PID/status (proc_source.c) ---- */

/*
 * Reads below the directory of the process (procfs_open_pid()). Sets the counters that p does not
 * have, the effective uid, and counters_source if the resident set is among them. If the leader has
 * exited, reads a live thread. Returns 1, 0 if the process has no memory (any more), or a negative
 * errno without free files or memory.
 */
int status_fill(struct process *p, int pid_fd);

/* The same for /proc/PID/stat, which has only majflt. */
void stat_fill(struct process *p, int pid_fd);

/* The counters that status can have. */
counter_mask status_counters(void);

#endif
