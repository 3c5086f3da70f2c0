/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Explains to the user why BPF does not work on this machine. */
#ifndef ZMEM_LOAD_BPF_DIAGNOSE_H
#define ZMEM_LOAD_BPF_DIAGNOSE_H

#include <stdbool.h>

#include "base/diag.h"

/* The types of the running kernel; without it no BPF object can be loaded. */
#define BTF_PATH "/sys/kernel/btf/vmlinux"

/* What helps in a user namespace. */
#define BPF_DIAGNOSE_OUTSIDE "run as root of the machine, outside of the container"

/* What a program reads and this kernel lacks: TYPE.MEMBER, a type or a value; "": unknown. */
struct bpf_missing {
	char name[160];
	bool libbpf; /* it was libbpf that loaded it */
};

/* Facts that explain an error. */
struct bpf_diagnose_facts {
	bool bpf, perfmon; /* privileges held */
	int btf_error;	   /* errno, 0 if there is BTF */
	bool iterators;	   /* there are iterators over tasks */
	bool light;	   /* the kernel can load light skeletons */
	bool libbpf;	   /* it was no light skeleton */
	bool probe_reads; /* bpf_probe_read_kernel() is allowed: lockdown=confidentiality forbids it
			   */
	bool in_namespace;   /* this is not the first user namespace */
	const char *missing; /* see struct bpf_missing; NULL: unknown */
};

/*
 * Adds a note that `step` of the source `what` failed with `error` (a negative errno). `missing`
 * may be NULL. The error of a note that names what is missing is -ENODATA.
 */
void bpf_diagnose_note(struct diag *diag, const char *what, const char *step, int error,
		       const struct bpf_missing *missing);
/* The same of the programs of a command, which need iterators over one process. 0 is no error. */
void bpf_diagnose_programs(struct diag *diag, const char *subject, const char *command, int error,
			   const struct bpf_missing *missing);
/* The same with the given facts. */
void bpf_diagnose_facts_note(struct diag *diag, const char *what, const char *step, int error,
			     const struct bpf_diagnose_facts *facts);
/* Finds it in the log of the verifier and libbpf. */
void bpf_diagnose_missing(const char *log, struct bpf_missing *ret);
/* False if programs may not call bpf_probe_read_kernel(); true if that is unknown. */
bool bpf_diagnose_probe_reads_allowed(void);
/* False if the kernel's BTF has no such name; true if it cannot be read. */
bool bpf_diagnose_has_name(const char *name);

#endif
