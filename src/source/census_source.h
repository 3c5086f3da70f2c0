/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Counts the frames of RAM by BPF (bpf/census.bpf.c). */
#ifndef ZMEM_SOURCE_CENSUS_SOURCE_H
#define ZMEM_SOURCE_CENSUS_SOURCE_H

#include "base/arena.h"
#include "base/diag.h"
#include "model/census.h"
#include "model/files.h"
#include "model/zones.h"
#include "source/cgroup_path.h"

struct source;
struct census_source;

/* How the frames are counted. */
enum census_method {
	CENSUS_AUTO,   /* exact up to 64 GiB of RAM */
	CENSUS_EXACT,  /* each frame */
	CENSUS_SAMPLE, /* a random part of them, in about 25 ms of CPU time */
};

/*
 * Loads the program. `from` knows where the array of struct page is. Returns 0, or a negative errno
 * and a note why.
 */
int census_source_open(const struct source *from, struct diag *diag, struct census_source **ret);
/* NULL is accepted. */
void census_source_close(struct census_source *s);

/*
 * Counts the frames of all zones. Each run of the program takes less than a millisecond, and other
 * work of this CPU can come in between. Returns 0 or a negative errno.
 */
int census_source_read(struct census_source *s, const struct zones *zones,
		       enum census_method method, struct census *ret);

/* The frames that the last census counted on each node. NULL if zones of nodes overlap. */
const struct census_node *census_source_nodes(const struct census_source *s, size_t *ret_count);

/*
 * The memory cgroups that frames of the last census are charged to, largest first. Names are in the
 * arena. *ret is valid until the next call. Returns 0 or a negative errno.
 */
int census_source_cgroups(struct census_source *s, struct arena *arena,
			  const struct census_cgroup **ret, size_t *ret_count);

/*
 * Counts which memory cgroups the pages of files are charged to, by the addresses of their mappings
 * (struct cached_file); all frames are looked at. Calls fn for each file and cgroup, with a path
 * that is valid during the call, and NULL if it is not known or if no cgroup is charged. Of more
 * than CENSUS_FILES_MAX files the first ones. Returns 0 or a negative errno. The last census is
 * void.
 */
#define CENSUS_FILES_MAX (ZMEM_CENSUS_FILES / 2)
int census_source_files(struct census_source *s, const struct zones *zones, const uint64_t *mapping,
			size_t count,
			int (*fn)(void *arg, size_t file, const struct file_charge *charge),
			void *arg);

/*
 * The path of the memory cgroup of an owner that another program found. Returns 1, 0 if it is not
 * known, or a negative errno.
 */
int census_source_owner(struct census_source *s, uint64_t owner, char ret[OOM_CGROUP_MAX]);

/* Calls fn for each page pool of the last census, with its device and its bytes. Likewise. */
int census_source_pools(struct census_source *s,
			void (*fn)(void *arg, const char *device, uint64_t bytes), void *arg);

#endif
