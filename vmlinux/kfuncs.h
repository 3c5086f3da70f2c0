/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Kernel functions that our BPF programs call. They are strong symbols on purpose: bpftool 7.1
 * silently resolves a weak one in a light skeleton to "absent". A program that needs a kfunc which
 * older kernels lack is an object of its own.
 */
#ifndef ZMEM_KFUNCS_H
#define ZMEM_KFUNCS_H

/* Since Linux 6.2 (a35b9af4ec2c). Any value may be cast; loads through the result cannot fault. */
extern void *bpf_rdonly_cast(const void *obj, __u32 btf_id) __ksym;

#endif
