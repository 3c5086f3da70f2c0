/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Objects as the kernel takes them, relocated for this kernel, which root keeps until the next boot
 * in a directory that it alone can enter. Loading one takes neither the loader program of a light
 * skeleton nor the search for names in the kernel's BTF, which are a third of a short run.
 *
 * The cache is never needed: a file that is not exactly ours is ignored and replaced. The first run
 * leaves an empty file and the second one fills it, so a machine on which zmem-bpf runs once has no
 * work with it. That takes libbpf, and so 20 MiB: a run fills it only where there are more to be
 * had, and only one tries until the next boot.
 */
#ifndef ZMEM_LOAD_BPF_CACHE_H
#define ZMEM_LOAD_BPF_CACHE_H

#include <stdint.h>

#include <bpf/libbpf.h>

#define CACHE_PLACE "/run/zmem-bpf-cache"
#define CACHE_FDS   48 /* the most maps and programs of an object */

struct bpf_cache_use {
	void *arg;
	/* The entries that the map gets, which has had `entries`. */
	uint32_t (*entries)(void *arg, const char *map, uint32_t entries);
	/* Takes a map or a program, also where the object then fails to load. */
	void (*found)(void *arg, const char *name, int fd);
};

/*
 * Loads an object; `object` is the sum of its file, which names it. Returns 0, -ENODATA if the
 * caller is to keep the object, or another negative errno.
 */
int bpf_cache_load(uint64_t object, const struct bpf_cache_use *use);
/* Keeps an object that libbpf has loaded. */
void bpf_cache_keep(uint64_t object, const struct bpf_object *loaded);

#endif
