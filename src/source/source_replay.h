/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Sources on a tape: what the one that was recorded was, and the kernel's records of it
 * ("PID/record", as they are handed to record_decode). What is read of /proc is procfs's business.
 */
#ifndef ZMEM_SOURCE_RECORDED_H
#define ZMEM_SOURCE_RECORDED_H

#include "source/source.h"

/* ---- recording; a tape that is not being recorded takes nothing ---- */

/* A whole record that record_size() has measured. */
void recorded_keep_record(struct tape *tape, const void *record);
/* A process that was visited and is not there. */
void recorded_keep_missing(struct tape *tape, pid_t pid, int error);
/* Who was there in a collection. Returns 0 or -ENOMEM. */
int recorded_keep_list(struct tape *tape, const struct snapshot *snapshot);

/* What is known of a source once it is open. Played, it lives as long as the recording. */
struct recorded_facts {
	const char *name;
	enum origin origin;
	uint32_t page_size;
	const char *pss_refusal; /* NULL: PSS comes from the kernel */
};

void recorded_keep_facts(struct tape *tape, const struct recorded_facts *facts,
			 const struct diag *diag);
/* What bounds the values of records. */
void recorded_keep_ram(struct tape *tape, uint64_t bytes);

/* ---- playing ---- */

/* Returns 0 or -EBADMSG. */
int recorded_take_facts(struct tape *tape, struct recorded_facts *ret, struct diag *diag);

/* The kernel's records that were recorded, of a procfs that plays them. */
extern const struct source_ops source_recorded;
/* From now on they are read as if no pages had been walked. */
void recorded_leave_pages(void *state);

#endif
