/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where processes and their counters come from. A source is opened once and read many times. The
 * first variant that opens is used; `diag` has the reasons why the variants before it did not open.
 */
#ifndef ZMEM_SOURCE_H
#define ZMEM_SOURCE_H

#include <stdbool.h>

#include "base/diag.h"
#include "model/snapshot.h"
#include "proc/procfs.h"
#include "proc/status.h"

enum source_choice {
	SOURCE_AUTO, /* BPF, else /proc */
	SOURCE_BPF,
	SOURCE_PROC,
};

/* Whether BPF counters may come from the pin (source/pin.h). */
enum pin_choice {
	PIN_MAY,
	PIN_MUST,
	PIN_NOT,
};

#define SOURCE_READERS_MAX 8

/* What the caller needs of a source. */
struct source_request {
	enum source_choice choice;
	enum pin_choice pin;
	bool pss; /* PSS from the kernel if possible; the source also opens without it */
	/* Threads that read at once, at most SOURCE_READERS_MAX; 0: chosen by tasks and page
	 * tables. */
	unsigned readers;
	/* What the caller needs and no pin has, for a process that can load; NULL: nothing. */
	const char *beyond_pin;
	bool memos;	 /* count shared tables once; costs memory where there are many */
	bool continuous; /* the source stays open: there may be more tables later */
};

struct source;

/* A way to read counters: a BPF object with its loader, a pin, or /proc. */
struct source_variant;

/* The variants in the order they are tried; NULL after the last. */
const struct source_variant *source_variant(size_t i);
const char *source_variant_name(const struct source_variant *variant);
/* Opens this variant alone, with one reader. */
int source_open_variant(const struct source_variant *variant, const struct procfs *proc,
			struct diag *diag, struct source **ret_source);

/*
 * Opens the first variant that works. A process that can load programs uses a pin only if it gives
 * all that they would, unless request->pin is PIN_MUST. If no BPF variant works, the last one is
 * loaded once more by libbpf, and the verifier's log goes into diag. The procfs must outlive the
 * source. Returns 0 and *ret_source, or the negative errno of the last attempt.
 */
int source_open(const struct source_request *request, const struct procfs *proc, struct diag *diag,
		struct source **ret_source);
/*
 * For a variant that did not open: loads its object once more by libbpf with the verifier's log on,
 * and adds the log to the newest note.
 */
void source_explain(const struct source_variant *variant, struct diag *diag);
/* The note that says why BPF is not used, NULL if there is none. */
const struct diag_note *source_reason(const struct diag *diag);
/* The name of the variant in use. */
const char *source_name(const struct source *source);
enum origin source_origin(const struct source *source);
/* True if the source reads the pin. */
bool source_is_pinned(const struct source *source);
/*
 * Why a process that can load programs does better without the pin: it has no PSS, or another build
 * of zmem-bpf made it. NULL if it does not.
 */
const char *source_pin_lacks(const struct source *source);
/*
 * True if processes map much of the same memory in small pages: reading the tables of each, without
 * memos, takes longer than loading a program that has them.
 */
bool source_memos_pay(const struct procfs *proc, const struct meminfo *m);
/* The link of the iterator, which the source owns; or a negative errno. */
int source_link(const struct source *source);
/*
 * NULL if PSS comes from the kernel; else why it does not, valid as long as the source. It can
 * change with each collection. A process may still lack it (process.pss_source).
 */
const char *source_pss_refusal(const struct source *source);
/* True if PSS came from the kernel, and does not now: RAM was added, or it was wrong. */
bool source_pss_lost(const struct source *source);
/* PSS was wrong: it does not come from the kernel from now on. Returns 0 or -ENOMEM. */
int source_distrust_pss(struct source *source, const char *reason);
struct zmem_layout;

/*
 * Where the kernel has its memory, for other programs that walk page tables. Returns 0, or -ENOTSUP
 * if the source walks none or is pinned.
 */
int source_layout(const struct source *source, struct zmem_layout *ret);
/* Clears the snapshot, fills it and finishes it (snapshot_finish). */
int source_collect(struct source *source, struct snapshot *snapshot);
/*
 * The same for the processes in `rows` that still exist. Reads all processes if that is cheaper or
 * if the source cannot read one alone.
 */
int source_collect_some(struct source *source, struct process *const *rows, size_t count,
			struct snapshot *snapshot);
void source_close(struct source *source);

/* Sets the counters that status has and p does not have. Pure. */
void status_apply(struct process *p, const struct proc_status *status);

#endif
