/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds the members of zmem/members.h in the BTF of the kernel, in as much of the file as it needs.
 * Most kernels have those types among the first 1,000 of 130,000: 0.1 ms. Others were made by
 * several threads or have their types sorted (7.3): 0.3 to 1.1 ms. libbpf reads all of them
 * (btf__parse(), 5 ms).
 */
#ifndef ZMEM_LOAD_KERNEL_MEMBERS_H
#define ZMEM_LOAD_KERNEL_MEMBERS_H

struct bpf_object;
struct zmem_members;

/*
 * `path` is a file of BTF (Documentation/bpf/btf.rst). Returns 0 or a negative errno; -EBADMSG: it
 * is not BTF.
 */
int kernel_members_find(const char *path, struct zmem_members *ret);
/* Sets those of the running kernel in an object that libbpf has not loaded yet. */
int kernel_members_set(const struct bpf_object *object);

#endif
