/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What is measured, and from where; which rows are made of it is the query's business. */
#ifndef ZMEM_COLLECT_SPEC_H
#define ZMEM_COLLECT_SPEC_H

#include "source/source.h"

enum pss_choice {
	PSS_AUTO,   /* from the kernel's page tables, else from smaps_rollup */
	PSS_KERNEL, /* from the kernel's page tables alone */
	PSS_ROLLUP,
	PSS_NONE,
};

#define VERIFY_ALL   (-1)
#define VERIFY_USUAL 3 /* processes, for one snapshot */

/* Zeroed memory asks for one snapshot with PSS from any source, without names. */
struct collect_spec {
	enum pss_choice pss;
	enum source_choice source;
	enum pin_choice pin;
	unsigned readers;  /* threads that read from BPF; 0: as many as pay */
	bool continuous;   /* snapshot after snapshot: what is read once is kept */
	int verify;	   /* rows whose PSS is compared with smaps_rollup: N, VERIFY_ALL */
	unsigned names;	   /* enum column_needs that must be known of every process that is shown */
	bool lazy_names;   /* rows are named by collector_name_rows() alone */
	struct tape *tape; /* what is read is recorded on it, or comes from it; NULL: neither */
};

#endif
