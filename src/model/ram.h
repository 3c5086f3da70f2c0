/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where the machine's RAM is, in classes that have no page in common and add up to all of it.
 *
 * The frames of RAM are those that the zones call present. MemTotal is less by what was reserved at
 * boot (the kernel's image, the array of struct page) and by what a balloon took.
 *
 * From a census (bpf/census.bpf.c) each frame is in the class of its mark. Kernel stacks, vmalloc
 * and memory of GPUs have no mark: they are taken from the kernel's counters, and subtracted from
 * the frames without a mark. The rest of these is the class "unnamed_kernel". The first chunk of
 * per-CPU memory is reserved at boot, so "percpu" is less than its counter.
 *
 * Without a census all classes are counters of /proc/meminfo (fs/proc/meminfo.c), and what they
 * leave of MemTotal is "unnamed_kernel". Those counters overlap, so a class is a counter or the
 * rest of one:
 * - Cached and Buffers are the page cache and shared memory with tmpfs (Shmem). Mapped says how
 * much of them processes map, but it also counts pages of drivers that processes map
 *   (vm_insert_page(), a packet ring), which Cached does not: no class is made of it.
 * - With CONFIG_VMAP_STACK (x86-64 since 4.9) VmallocUsed includes kernel stacks.
 * - Slab includes large allocations by kmalloc(), which are no slabs.
 * - No counter includes zswap and zram.
 */
#ifndef ZMEM_MODEL_RAM_H
#define ZMEM_MODEL_RAM_H

#include <sys/types.h>

#include "model/census.h"
#include "model/system.h"
#include "model/zones.h"

struct system_info;

/* The words are in ram_class_table[]. */
enum ram_class {
	RAM_FREE,
	RAM_ANON,
	RAM_ANON_UNMAPPED,
	RAM_PAGE_CACHE,
	RAM_SHMEM,
	RAM_SLAB,
	RAM_LARGE_KMALLOC,
	RAM_PAGE_TABLES,
	RAM_KERNEL_STACKS,
	RAM_VMALLOC,
	RAM_PERCPU,
	RAM_HUGETLB,
	RAM_ZRAM_ZSWAP,
	RAM_NET_RINGS,
	RAM_BALLOON,
	RAM_DRIVER_MAPPED,
	RAM_GPU,
	RAM_RESERVED,
	RAM_DESCRIPTORS,
	RAM_UNNAMED,
	RAM_CLASSES,
	/* These overlap the classes above. */
	RAM_SOCKETS = RAM_CLASSES,
	RAM_CGROUP_KERNEL,
	RAM_FIGURES,
};

struct ram_class_info {
	const char *key;     /* in JSON and metrics */
	const char *title;   /* in tables */
	const char *counter; /* what the kernel calls it; NULL: it has no counter */
	const char *help;
};

extern const struct ram_class_info ram_class_table[RAM_FIGURES];

#define RAM_NAME    64
#define RAM_PROCESS 33 /* with the end of the text */

/*
 * Parts of page cache and of shared memory. A page that is in no page table may be of a file that a
 * process maps: it was not touched through the mapping.
 */
#define RAM_IN_TABLES	"in page tables"
#define RAM_IN_NO_TABLE "in no page table"

/* A part of a class. Parts may overlap, and need not be all of it. */
struct ram_part {
	char name[RAM_NAME]; /* any bytes; a longer name is cut */
	uint64_t bytes;
	pid_t pid; /* of the process that has it; 0: none does, or it is not known */
	char process[RAM_PROCESS]; /* its name, also in `name` */
};

#define RAM_PARTS_MAX 160
#define RAM_REASON    160

struct ram_figure {
	enum ram_class class;
	bool exists; /* this kernel can have it */
	bool known;
	bool sampled;	  /* `error` counts */
	bool has_counter; /* `counter` counts */
	uint64_t bytes;
	uint64_t error;	  /* bytes: half of the interval in which it is with 95 % */
	uint64_t counter; /* bytes; of two readings, before and after the census, the nearer one */
	const char *reason;   /* why it is not known, or what it lacks; NULL */
	uint16_t part, parts; /* in ram.part[] */
};

enum ram_method {
	RAM_NONE = 0, /* not asked for */
	RAM_COUNTERS = 1,
	RAM_EXACT = 2,
	RAM_SAMPLE = 3,
};

/* "exact" */
const char *ram_method_name(enum ram_method method);

/* The classes of one node by their marks: "unnamed_kernel" is all that has none. */
struct ram_node {
	uint32_t node;
	uint64_t frames; /* bytes: the sum */
	struct ram_node_class {
		enum ram_class class;
		uint64_t bytes;
	} class[RAM_CLASSES];
	size_t classes;
};

/* Until 6.11: which bits are these types; below 0: none is known. */
struct ram_types {
	int table, slab, hugetlb;
};

struct ram {
	enum ram_method method;
	bool known;		 /* there is a sum */
	char reason[RAM_REASON]; /* why the frames were not counted; empty: they were */
	uint64_t frames;	 /* bytes: the sum of all classes */
	uint64_t duration_us;	 /* of the census */
	int64_t taken_ms;	 /* its end, since the epoch */
	uint64_t unused;	 /* bytes that the kernel did not set up yet */
	struct ram_figure figure[RAM_FIGURES];
	struct ram_part part[RAM_PARTS_MAX];
	size_t parts;
	struct ram_types types;
	/* Memory cgroups that were removed and still hold memory, and how much. */
	bool deleted_known;
	uint64_t deleted_cgroups, deleted_bytes;
	/* Borrowed. NULL: not known. */
	const struct ram_node *node;
	size_t nodes;
	const struct census_cgroup *cgroup; /* largest first */
	size_t cgroups;
};

/* What the kernel calls a class; NULL: it has no counter. */
const char *ram_counter_name(const struct ram *ram, enum ram_class class);

/* The part RAM_IN_TABLES of a class. False if it is not known. */
bool ram_in_tables(const struct ram *ram, enum ram_class class, uint64_t *ret);

/*
 * Whether MemTotal leaves a class out: what was reserved at boot, and a balloon, but not one that
 * deflates when memory is short (VIRTIO_BALLOON_F_DEFLATE_ON_OOM, fill_balloon(),
 * drivers/virtio/virtio_balloon.c). `total`: MemTotal; 0: not known.
 */
bool ram_is_outside(const struct ram *ram, enum ram_class class, uint64_t total);
/* The sum of these classes, bytes. */
uint64_t ram_outside(const struct ram *ram, uint64_t total);

/* Whether its sizes are those of page frames. */
static inline bool ram_is_counted(const struct ram *ram)
{
	return ram && (ram->method == RAM_EXACT || ram->method == RAM_SAMPLE);
}

/* What the classes are made of. */
struct ram_sources {
	const struct system_info *system; /* its meminfo was read before the census */
	const struct meminfo *after;	  /* read after the census */
	const struct zones *zones;
	uint32_t page_size, cpus;
	/*
	 * Bytes of vmalloc that processes can map: maps of BPF, buffers of drivers. What is mapped
	 * is "driver_mapped", and in VmallocUsed as well.
	 */
	uint64_t vmalloc_mappable;
	/* Pages without a mark that processes hold by descriptors: packet rings that are not
	 * mapped, pipes, rings of events. */
	bool descriptors_known;
	uint64_t descriptors; /* bytes */
	/* Why they are not known, or what is missing. NULL: nothing, or they were not asked for. */
	const char *descriptors_reason;
};

/*
 * Splits all RAM by its frames. Returns false if the census contradicts the counters by more than
 * what can have changed: ret->reason says which, and the rest of *ret is void.
 */
bool ram_from_census(const struct census *census, const struct ram_sources *from, struct ram *ret);
/* Splits the frames of one node; `ram` is that of all. */
void ram_from_node(const struct census *census, const struct census_node *node,
		   const struct ram_sources *from, const struct ram *ram, struct ram_node *ret);
/* Splits all RAM by the counters. `reason`: why there is no census. */
void ram_from_counters(const struct ram_sources *from, const char *reason, struct ram *ret);

/* Appends a part to a class; without room it is left out. The parts of a class come in a row. */
void ram_add_part(struct ram *ram, enum ram_class class, const char *name, uint64_t bytes);
/* The same of a part that may have a process. */
void ram_add_part_of(struct ram *ram, enum ram_class class, const struct ram_part *part);

#endif
