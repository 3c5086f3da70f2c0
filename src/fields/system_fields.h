/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The fields of the machine: of the document zmem.system and its table, and of "system" in
 * snapshots. A field of a line of the table has its name as the heading and words beside it as the
 * note.
 */
#ifndef ZMEM_FIELDS_SYSTEM_FIELDS_H
#define ZMEM_FIELDS_SYSTEM_FIELDS_H

#include "fields/field.h"
#include "model/account.h"
#include "model/ram.h"

/* The machine, and the rest of its memory beyond the sums of the processes. */
struct system_report {
	const struct snapshot *snapshot;
	const struct result *balance; /* the sums of its rows */
	struct account account;
	const struct ram *ram;
	const uint64_t *kills_today; /* OOM kills in a recording; NULL: not known */
	struct ram counters;	     /* where there is no other */
	bool nodes, cgroups;	     /* RAM by them was asked for */
	bool all;		     /* every part, in a table */
	bool verbose;		     /* and every finding */
	const char *self;	     /* the arguments of the command that runs; NULL: another one */
	size_t processes;	     /* with memory of their own; each address space once */
	size_t pss_missing;	     /* those without PSS */
	bool swap_used_known;	     /* bytes, from here on */
	bool swap_pss_known;
	bool swap_shmem_known;
	bool swap_ram_known;
	bool unattributed_known;
	bool pss_anon_known, pss_mapped_known; /* to be compared with AnonPages, Mapped */
	uint64_t swap_used;
	uint64_t swap_pss;   /* of all processes */
	uint64_t swap_shmem; /* likewise; shared memory counts for each process that maps it */
	uint64_t swap_ram;   /* likewise: what their swap takes in RAM */
	uint64_t unattributed;
	uint64_t pss_anon, pss_mapped;
};

/*
 * Swap in use that belongs to no process, to no file and not to the swap cache: what changed
 * meanwhile. False if a part is not known.
 */
bool swap_rest(const struct system_report *r, int64_t *ret);

/* ---- zmem.system: the row is struct system_report ---- */

extern const struct fields system_document;
/* The parts of RAM, objects of the document: struct account. */
extern const struct fields system_parts;
extern const struct fields system_swap;

/* ---- parts of the table ---- */

/* Columns: rows are struct census_cgroup. */
extern const struct fields system_cgroups;
/* Values that overlap them: struct system_info is the row. */
extern const struct fields system_across;
/* Swap of files; zswap: likewise. */
extern const struct fields system_files, system_zswap;
/* Columns: rows are struct swap_device, struct zram_device. */
extern const struct fields system_devices, system_compressed;

/* ---- "system" of a snapshot: the row is struct snapshot ---- */

extern const struct fields system_values;
/* These are in documents, but not in lines of NDJSON, which must be short. */
extern const struct fields system_ram;
extern const struct fields ram_fields; /* rows are struct ram */

#endif
