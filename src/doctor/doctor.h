/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The rows of doctor: each part that zmem-bpf uses is tried as a run would use it. Those before
 * doctor_check_source() need the capabilities, which that function gives up.
 */
#ifndef ZMEM_DOCTOR_DOCTOR_H
#define ZMEM_DOCTOR_DOCTOR_H

#include "base/diag.h"
#include "base/strbuf.h"
#include "privilege/privilege.h"
#include "proc/procfs.h"
#include "source/source.h"
#include "write/format.h"

#define DOCTOR_WIDTH 80

/* How a row's part is. */
enum state {
	WORKS,
	FAILS,
	UNUSED, /* it is not there, and nothing needs it */
};

struct part_rows {
	int width; /* of the names */
	struct strbuf text;
	unsigned failed; /* rows with "no" */
};

struct doctor {
	struct procfs proc;
	bool verbose, works;
	bool best;		    /* snapshots use the best that there is */
	bool held[PRIVILEGE_COUNT]; /* at the start */
	struct diag diag;	    /* why the sources before the used one did not open */
	struct part_rows rows, watched, variants, dropped;
	char verdict[512];
	const char *hint; /* what to do; NULL: nothing */
};

__attribute__((format(printf, 4, 5))) void doctor_add(struct part_rows *rows, const char *name,
						      enum state state, const char *fmt, ...);
/* A row with "no", and why: "reason (hint)" of a note that may be NULL, else the error. */
void doctor_add_failure(struct part_rows *rows, const char *name, const struct diag_note *n,
			int error);
/* A row of a part that either works, with these words, or has a note why not, the last one. */
void doctor_add_part(struct part_rows *rows, const char *name, int error, const struct diag *diag,
		     const char *works);
/* How long it is since that time of CLOCK_MONOTONIC. */
struct format_text doctor_since(uint64_t start_us);
const char *doctor_proc_problem(const struct procfs *proc);

/* ---- what a snapshot uses (doctor_source.c) ---- */

void doctor_add_kernel(struct doctor *d);
/* Tries a way to read counters by itself. */
void doctor_try_variant(struct doctor *d, const struct source_variant *variant);
/* Opens the source that a snapshot would open here. `held`: capabilities at the start. */
void doctor_check_source(struct doctor *d, uint64_t held);
void doctor_add_proc(struct doctor *d);
void doctor_done(struct doctor *d);

/* ---- what other commands use (doctor_parts.c) ---- */

void doctor_add_files(struct doctor *d);
void doctor_add_gpus(struct doctor *d);
void doctor_add_kernel_memory(struct doctor *d);
void doctor_add_swap(struct doctor *d);
void doctor_add_frames(struct doctor *d);
void doctor_add_pin(struct doctor *d);
void doctor_add_serve(struct doctor *d);
void doctor_add_recorder(struct doctor *d);
void doctor_add_grow(struct doctor *d);
void doctor_add_peak(struct doctor *d);

/* ---- swap slots, on memory of our own (swap_trial.c) ---- */

struct swap_source;

struct swap_trial {
	bool swapped; /* false: no page could be swapped out, so nothing was tried */
	bool agrees;
	uint64_t slots, rollup; /* SWAP_PSS of the child, bytes */
};

/*
 * `source` gives PSS from page tables; `swap` has begun (swap_source_begin()). Returns 0 or a
 * negative errno.
 */
int swap_trial(const struct procfs *proc, struct source *source, struct swap_source *swap,
	       struct swap_trial *ret);

#endif
