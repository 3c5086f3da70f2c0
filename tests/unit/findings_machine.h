/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A healthy machine, for tests of what is found wrong. */
#ifndef TESTS_FINDINGS_MACHINE_H
#define TESTS_FINDINGS_MACHINE_H

#include "findings/findings.h"
#include "sample.h"

#define TOTAL (16 * GIB)
#define PAGE  UINT64_C(4096)

static inline void set_meminfo(struct sample *s, enum meminfo_counter f, uint64_t bytes)
{
	sample_meminfo(&s->snapshot.system.meminfo, f, bytes);
}

static inline void forget_meminfo(struct sample *s, enum meminfo_counter f)
{
	s->snapshot.system.meminfo.have &= ~(UINT32_C(1) << f);
}

/* A memory cgroup; a limit of 0 is none. */
static inline struct memcg memcg_of(const char *path, uint64_t current, uint64_t limit)
{
	return (struct memcg){.path = path,
			      .current_known = true,
			      .current = current,
			      .limit_known = limit,
			      .limit = limit};
}

/* They are in the order of their paths. */
static inline void set_memcgs(struct sample *s, struct memcg *memcg, size_t count)
{
	s->snapshot.memcg = memcg;
	s->snapshot.memcg_count = count;
}

/* The files that are largest. */
static inline struct shared_files files_of(const char *name, enum file_kind kind, uint64_t resident)
{
	return (struct shared_files){1, 1, {{.name = name, .kind = kind, .resident = resident}}};
}

/*
 * All of it was measured, and is no fault, though it may look like one: RAM is full of page cache,
 * much was swapped long ago, and processes map large shared memory.
 */
static inline void sample_healthy(struct sample *s)
{
	struct system_info *system = &s->snapshot.system;

	sample_ordinary(s);
	set_meminfo(s, MEMINFO_TOTAL, TOTAL);
	set_meminfo(s, MEMINFO_FREE, TOTAL / 100);
	set_meminfo(s, MEMINFO_AVAILABLE, TOTAL / 20);
	set_meminfo(s, MEMINFO_CACHED, TOTAL / 2);
	set_meminfo(s, MEMINFO_SHMEM, 4 * GIB);
	set_meminfo(s, MEMINFO_SWAP_TOTAL, 2 * GIB);
	set_meminfo(s, MEMINFO_SWAP_FREE, GIB / 2);
	set_meminfo(s, MEMINFO_SLAB_UNRECLAIMABLE, 300 * MIB);
	set_meminfo(s, MEMINFO_SLAB_RECLAIMABLE, GIB);
	set_meminfo(s, MEMINFO_UNEVICTABLE, 64 * MIB);
	set_meminfo(s, MEMINFO_COMMIT_LIMIT, 10 * GIB);
	set_meminfo(s, MEMINFO_COMMITTED, 20 * GIB);
	system->files.unmapped[FILE_TMPFS] = 20 * MIB;
	system->files.unmapped[FILE_DRM] = 3 * GIB;
	system->pressure = (struct memory_pressure){.known = true};
	system->rates = (struct machine_rates){.known = true, .scanned = 300 * MIB};
	system->recent_kills = (struct recent_kills){.known = true};
	system->hugetlb_unused_known = true;
	system->partly_mapped = (struct partly_mapped){true, 64 * MIB};
	system->max_map_count = 65530;
	system->dentries = (struct dentries){true, 100 * MIB};
}

#endif
