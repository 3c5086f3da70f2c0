/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Pointers and indexes as the verifier takes them for numbers. */
#ifndef ZMEM_NUMBER_BPF_H
#define ZMEM_NUMBER_BPF_H

/*
 * A pointer that the verifier tracks as a number, which functions take: to the verifier the
 * difference of two pointers is one.
 */
static __always_inline __u64 as_number(__u64 pointer)
{
	__u64 difference = pointer - (__u64)bpf_get_current_task_btf();

	barrier_var(difference);
	return bpf_get_current_task() + difference;
}

/* Hides earlier checks, so that the verifier sees the bound on the register that indexes. */
static __always_inline __u64 bounded(__u64 member)
{
	asm volatile("%0 &= 3" : "+r"(member));
	return member;
}

#endif
