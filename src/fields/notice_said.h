/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a session says of a snapshot on stderr. */
#ifndef ZMEM_FIELDS_NOTICE_SAID_H
#define ZMEM_FIELDS_NOTICE_SAID_H

#include "fields/sentence.h"
#include "model/snapshot.h"

/* A snapshot, and why something was not read; NULL: it was, or was not asked for. */
struct notice_said {
	const struct snapshot *snapshot;
	const char *recording; /* its path */
	const char *freed, *pages, *kernel, *ptrace;
	bool pss_of_kernel;	   /* PSS was to come from the kernel alone */
	size_t readable, verified; /* processes with PSS from the kernel */
};

/* A notice each, in the order of session/notices.c. */
extern const struct sentences notices_said;

#endif
