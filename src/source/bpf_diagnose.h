/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Why BPF does not work here, in words for the person who can change it. */
#ifndef ZMEM_SOURCE_BPF_DIAGNOSE_H
#define ZMEM_SOURCE_BPF_DIAGNOSE_H

#include <stdbool.h>

#include "base/diag.h"

/* What is looked at beside the error. */
struct bpf_diagnose_facts {
	bool bpf, perfmon; /* privileges held */
	int btf_error;	   /* errno, 0 if there is BTF */
	bool iterators;	   /* over tasks */
	bool probe_reads;  /* bpf_probe_read_kernel(): lockdown=confidentiality takes it away */
};

/* Adds a note on the failure `error` (negative errno) of `step` of source `what`. */
void bpf_diagnose_note(struct diag *diag, const char *what, const char *step, int error);
/* The same from known facts. */
void bpf_diagnose_tell(struct diag *diag, const char *what, const char *step, int error,
		       const struct bpf_diagnose_facts *facts);
/* Whether a program may call bpf_probe_read_kernel(); true if that cannot be found out. */
bool bpf_diagnose_probe_reads_allowed(void);

#endif
