/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * BPF objects that are relocated for this kernel. Root keeps them until the next boot in a
 * directory that it alone can enter. To load one needs neither the loader program of a light
 * skeleton nor a search for names in the kernel's BTF. These two take a third of a short run.
 *
 * The cache is never needed: a file that does not fit is ignored and replaced. The first run leaves
 * an empty file, and the second one fills it. So a machine on which zmem-bpf runs once does not pay
 * for it. To fill it takes libbpf, and so 20 MiB: a run does it only where more than that is free,
 * and only one run tries until the next boot.
 */
#ifndef ZMEM_LOAD_BPF_CACHE_H
#define ZMEM_LOAD_BPF_CACHE_H

#include <stdint.h>

#include <bpf/libbpf.h>

#define CACHE_PLACE "/run/zmem-bpf-cache"
#define CACHE_FDS   48 /* the most maps and programs of an object */

struct bpf_cache_use {
	void *arg;
	/* How many entries the map gets. It had `entries` when it was kept. */
	uint32_t (*entries)(void *arg, const char *map, uint32_t entries);
	/* Takes a map or a program, and owns it even if the object then fails to load. */
	void (*found)(void *arg, const char *name, int fd);
};

/*
 * Loads an object from the cache. `object` is the sum of the ELF file, and names the file in the
 * cache. Returns 0, -ENODATA if the caller is to load and keep the object, or another negative
 * errno.
 */
int bpf_cache_load(uint64_t object, const struct bpf_cache_use *use);
/* Writes an object that libbpf has loaded to the cache. */
void bpf_cache_keep(uint64_t object, const struct bpf_object *loaded);

#endif
