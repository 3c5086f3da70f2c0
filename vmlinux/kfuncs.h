/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Kernel functions our BPF programs call. They are strong on purpose: bpftool 7.1 resolves a weak
 * one in a light skeleton to "absent" without a word. What needs a kfunc that an older kernel lacks
 * is an object of its own.
 */
#ifndef ZMEM_KFUNCS_H
#define ZMEM_KFUNCS_H

/* Since Linux 6.2 (a35b9af4ec2c). Any value may be cast; loads through the result cannot fault. */
extern void *bpf_rdonly_cast(const void *obj, __u32 btf_id) __ksym;

#endif
