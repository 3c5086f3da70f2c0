/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where processes and their counters come from. A source is opened once and collected from as often
 * as one likes; the first of the chain that opens does the work, and `diag` keeps why those before
 * it did not.
 */
#ifndef ZMEM_SOURCE_H
#define ZMEM_SOURCE_H

#include <stdbool.h>

#include "base/diag.h"
#include "proc/status.h"
#include "proc/procfs.h"
#include "model/snapshot.h"

/* The types of the kernel that runs; without it there is no BPF source. */
#define BTF_PATH "/sys/kernel/btf/vmlinux"

enum source_choice {
	SOURCE_AUTO, /* BPF, else /proc */
	SOURCE_BPF,
	SOURCE_PROC,
};

/* Whether the pin (zmem/pin.h) may be used, where BPF may. */
enum pin_choice {
	PIN_MAY,
	PIN_MUST,
	PIN_NOT,
};

/* What a source is wanted for. */
struct source_request {
	enum source_choice choice;
	enum pin_choice pin;
	bool pss; /* PSS from the kernel where it can be had; the source opens without, too */
	unsigned readers; /* threads that read at once; 0: as many as pay */
};

struct source;

struct source_ops {
	const char *name; /* for doctor and messages */
	enum origin origin;
	bool pss; /* it walks pages, too, or has a note in diag that says why not */
	bool pinned;
	/* Returns 0 and *ret_state, or a negative errno and a note in diag. */
	int (*open)(const struct procfs *proc, struct diag *diag, void **ret_state);
	/*
	 * Appends all processes to the snapshot, whose arena it uses for strings. Does not finish
	 * it. Returns 0 or a negative errno.
	 */
	int (*collect)(void *state, unsigned readers, struct snapshot *snapshot);
	/* The same for one process; -ESRCH if it is not there. NULL: only all at once. */
	int (*revisit)(void *state, pid_t pid, struct snapshot *snapshot);
	/* NULL, or why PSS does not come from the kernel although `pss`. */
	const char *(*pss_refusal)(const void *state);
	/* NULL, or the link of its iterator, to be pinned: a descriptor that it owns. */
	int (*link)(const void *state);
	void (*close)(void *state);
};

extern const struct source_ops source_pinned_pss; /* what others loaded; it walks pages */
extern const struct source_ops source_pinned;	  /* counters alone */
extern const struct source_ops source_pss;	  /* walks pages: 6.2 and later; aarch64: 6.10 */
extern const struct source_ops source_pss_full; /* the same, where lockdown forbids the light one */
extern const struct source_ops source_bpf;	/* counters alone: bpf_rdonly_cast, 6.2 and later */
extern const struct source_ops source_bpf_full; /* the same, where lockdown forbids the light one */
extern const struct source_ops source_bpf_probe; /* probe reads: 5.19 and later */
extern const struct source_ops source_bpf_old;	 /* probe reads, loaded by libbpf: 5.8 and later */
extern const struct source_ops source_proc;

/*
 * Opens the first source that works. Where no BPF source does, the reason is looked for with libbpf
 * and the verifier's log, which goes into diag. The procfs must outlive the source.
 * Returns 0 and *ret_source, or the negative errno of the last attempt.
 */
int source_open(const struct source_request *request, const struct procfs *proc, struct diag *diag,
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
/* Whether it reads the pin. */
bool source_is_pinned(const struct source *source);
/* The link of its iterator (source_ops.link), or a negative errno. */
int source_link(const struct source *source);
/*
 * NULL if PSS comes from the kernel; else why it does not, valid as long as the source. Single
 * processes may be without all the same (process.pss_source).
 */
const char *source_pss_refusal(const struct source *source);
/* Clears the snapshot and fills it, finished (snapshot_finish). */
int source_collect(struct source *source, struct snapshot *snapshot);
/*
 * Likewise with those processes alone, as far as they are there; with all where that is cheaper, or
 * the source cannot do otherwise.
 */
int source_collect_some(struct source *source, struct process *const *rows, size_t count,
			struct snapshot *snapshot);
void source_close(struct source *source);

/* Sets the counters that /proc/PID/status has and p has not. Pure. */
void status_apply(struct process *p, const struct proc_status *status);

#endif
