/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Values of the whole machine: meminfo, swap devices, zram, memory pressure, swap activity. */
#ifndef ZMEM_MODEL_SYSTEM_H
#define ZMEM_MODEL_SYSTEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum meminfo_counter {
#define ZMEM_MEMINFO(id, number, name) MEMINFO_##id,
#include "model/meminfo.def"
#undef ZMEM_MEMINFO
	MEMINFO_COUNTERS,
};

#define MEMINFO_UNPLACED_MAX 8

/*
 * A line "name: number kB" of which it is not known whether other lines count the same pages:
 * "Balloon" (a driver may have taken them out of MemTotal), and each name that we do not know.
 */
struct meminfo_line {
	char name[32]; /* any bytes; a longer name is cut */
	uint64_t bytes;
};

struct meminfo {
	uint32_t have;			  /* a bit for each enum meminfo_counter */
	uint64_t value[MEMINFO_COUNTERS]; /* bytes */
	struct meminfo_line unplaced[MEMINFO_UNPLACED_MAX];
	size_t unplaced_count;
};

/*
 * Parses /proc/meminfo by exact keys; missing values have no bit. Lines that are no memory, or that
 * only count pages of other lines, are left out.
 */
void meminfo_parse(const char *text, size_t len, struct meminfo *ret);
/* Reads the file in this /proc. What cannot be read has no values. */
struct meminfo meminfo_read(int proc_fd);

static inline bool meminfo_has(const struct meminfo *m, enum meminfo_counter f)
{
	return m->have >> f & 1;
}

/* Returns swap in use. False if it is not known, or if the values contradict each other. */
static inline bool meminfo_swap_used(const struct meminfo *m, uint64_t *ret)
{
	uint64_t total = m->value[MEMINFO_SWAP_TOTAL], free = m->value[MEMINFO_SWAP_FREE];

	/* The kernel does not read both at one moment: swapoff may come in between. */
	if (!meminfo_has(m, MEMINFO_SWAP_TOTAL) || !meminfo_has(m, MEMINFO_SWAP_FREE) ||
	    free > total)
		return false;
	*ret = total - free;
	return true;
}

enum swap_kind {
	SWAP_OTHER = 0, /* an unknown word */
	SWAP_PARTITION = 1,
	SWAP_FILE = 2,
	SWAP_KINDS,
};

/* "partition", "file": the words in JSON. NULL: another one. */
const char *swap_kind_name(enum swap_kind kind);

/* The most that a CPU holds back of a counter, pages (calculate_normal_threshold(), mm/vmstat.c).
 */
#define CPU_DRIFT 125

/* What the free counters of /proc/meminfo leave out, bytes (/proc/zoneinfo). */
struct free_memory {
	bool known;
	/*
	 * On the free lists of CPUs: neither in MemFree nor in MemAvailable. Since Linux 6.7 up to
	 * an eighth of a zone.
	 */
	uint64_t listed;
	uint64_t reserve; /* free, but not in MemAvailable: the kernel keeps so much */
};

/*
 * Anonymous huge pages of all sizes of which processes map a part, bytes of the whole pages
 * (nr_anon_partially_mapped, Documentation/admin-guide/mm/transhuge.rst).
 */
struct partly_mapped {
	bool known; /* false: not in this kernel (before 6.12) */
	uint64_t bytes;
};

#define SWAP_NAME_MAX 255

/* A line of /proc/swaps. */
struct swap_device {
	char name[SWAP_NAME_MAX + 1]; /* unescaped, any bytes; may be cut */
	enum swap_kind kind;
	bool name_cut;	     /* name is the beginning of a longer one */
	uint64_t size, used; /* bytes */
	int priority;
};

/*
 * Parses /proc/swaps: at most `max` devices, in its order. Skips lines that are not understood or
 * that may be cut off. Returns the number of devices, or -EINVAL without the header line.
 */
int swaps_parse(const char *text, size_t len, struct swap_device *ret, size_t max);

struct zram_stat {
	uint64_t stored, compressed, used; /* bytes: the first three of mm_stat */
};

/*
 * Parses /sys/block/zramN/mm_stat (Documentation/admin-guide/blockdev/zram.rst). Returns 0 or
 * -EINVAL.
 */
int zram_stat_parse(const char *text, size_t len, struct zram_stat *ret);

/*
 * Calls fn for every initialised zram device below sys_block (/sys/block), in the order of their
 * numbers. Returns 0 or the first negative errno; readable devices are reported in any case. A
 * machine without devices is not an error.
 */
int zram_each(const char *sys_block,
	      void (*fn)(void *arg, const char *name, const struct zram_stat *stat), void *arg);

/*
 * How long tasks waited for memory (PSI, Documentation/accounting/psi.rst): some of them, or all
 * that are not idle.
 */
struct memory_pressure {
	bool known;			 /* false: not in this kernel (before 4.20, psi=0) */
	uint32_t some_avg10, full_avg10; /* of the last ten seconds, hundredths of a percent */
	uint64_t some_total_us, full_total_us; /* since boot */
};

/*
 * Parses /proc/pressure/memory. Sets everything, or nothing and returns -EINVAL if a line is
 * missing or not understood.
 */
int memory_pressure_parse(const char *text, size_t len, struct memory_pressure *ret);

/* What was read from and written to swap devices since boot. zswap's own traffic is not in it. */
struct swap_activity {
	bool known;
	uint64_t in, out; /* bytes */
};

/* Parses /proc/vmstat (pswpin, pswpout). Returns 0, or -EINVAL and *ret is unchanged. */
int swap_activity_parse(const char *text, uint32_t page_size, struct swap_activity *ret);

/* Processes that were killed for want of memory since boot: of the machine and of cgroups. */
struct oom_kills {
	bool known; /* false: not in this kernel (before 4.13) */
	uint64_t count;
};

/* Parses /proc/vmstat (oom_kill). Returns 0, or -EINVAL and *ret is unchanged. */
int oom_kills_parse(const char *text, struct oom_kills *ret);

/*
 * Memory of sockets, bytes: buffers of TCP and UDP, and packets that wait for their other
 * fragments. It is in slab, or in pages without a counter. It is that of all network namespaces,
 * but fragments.
 */
struct socket_memory {
	bool known;
	uint64_t bytes;
};

/* Parses /proc/net/sockstat (net/ipv4/proc.c). Returns 0, or -EINVAL and *ret is unchanged. */
int sockstat_parse(const char *text, size_t len, uint32_t page_size, struct socket_memory *ret);

/* ---- files ---- */

enum file_kind {
	FILE_TMPFS = 0,	      /* of a tmpfs, also of devtmpfs */
	FILE_MEMFD = 1,	      /* memfd_create(2) */
	FILE_SYSV = 2,	      /* shmget(2) */
	FILE_SHARED_ANON = 3, /* MAP_SHARED | MAP_ANONYMOUS */
	FILE_DRM = 4,	      /* buffers of graphics */
	FILE_REGULAR = 5,     /* a file of another file system */
	FILE_BLOCK = 6,	      /* a block device: mostly metadata of file systems (Buffers) */
	FILE_HUGETLB = 7,     /* of a hugetlbfs, also memfds and segments of huge pages */
	FILE_OTHER = 8,
	FILE_RAMFS = 9,	     /* of a ramfs: the kernel cannot free its pages */
	FILE_SECRETMEM = 10, /* memfd_secret(2); likewise */
	FILE_KINDS,
};

/* "tmpfs" */
const char *file_kind_name(enum file_kind kind);
/*
 * Whether the kernel can neither free nor swap pages of this kind: their mapping is marked
 * (mapping_set_unevictable(), in ramfs_get_inode() and secretmem_file_create()).
 */
bool file_kind_is_unevictable(enum file_kind kind);
/* Whether shared memory can be of this kind. */
bool file_kind_is_shmem(enum file_kind kind);

/* Sums over all files of the machine, bytes. */
struct machine_files {
	bool shmem_known;	/* all files of shared memory and tmpfs were listed */
	bool cache_known;	/* likewise all other files */
	uint64_t shmem, cache;	/* in RAM */
	uint64_t shmem_swapped; /* in swap, of shared memory and tmpfs */
	/* Of the same, what no process maps: in RAM, by the kinds of shared memory. */
	uint64_t unmapped[FILE_KINDS];
	/* In swap: of tmpfs; of other shared memory that no process maps. */
	uint64_t swapped_tmpfs, swapped_unmapped;
	bool swap_ram_known;
	uint64_t swap_ram; /* what the pages in swap take in RAM, in zram and zswap */
};

/* Swap in use that only the swap cache has, bytes: no entry of a process or of a file. */
struct swap_cache {
	bool known;
	uint64_t bytes;
};

/*
 * Bytes since boot that were read again soon after they were dropped or swapped out
 * (workingset_refault of /proc/vmstat). Returns 0, or -EINVAL and *ret is unchanged.
 */
int refaults_parse(const char *text, uint32_t page_size, uint64_t *ret);
/*
 * Bytes since boot that the kernel looked through for memory to take, because the machine was short
 * of it (pgscan_kswapd of /proc/vmstat). kswapd does nothing for the limit of a cgroup;
 * pgscan_direct of Linux 7.3 has that as well. Returns as refaults_parse().
 */
int scans_parse(const char *text, uint32_t page_size, uint64_t *ret);

/* What happens in the machine in a second: the differences between two readings of vmstat, bytes.
 */
struct machine_rates {
	bool known;
	uint64_t swapped_in, swapped_out, refaulted, scanned;
};

/* Totals that rates are made of. */
struct machine_totals {
	bool known;
	uint64_t read_us; /* CLOCK_MONOTONIC */
	struct swap_activity swapped;
	uint64_t refaulted, scanned;
};

/*
 * The rates between two readings. Not known if one of them is not, or if less than a tenth of a
 * second is between them.
 */
void machine_rates_make(const struct machine_totals *before, const struct machine_totals *now,
			struct machine_rates *ret);

/* OOM kills of the last hour. */
struct recent_kills {
	bool known;
	uint64_t count;	     /* of processes */
	uint64_t unrecorded; /* of them, those that no recording has */
	bool recorded;	     /* there is a recording of this machine */
	int64_t since_ms;    /* since the epoch: of a shorter time than the hour; 0: of the hour */
	/* Of the last one in the recording; 0 and empty: none. */
	int64_t last_ms;
	char name[64], cgroup[256]; /* any bytes; may be cut */
};

/* OOM kills that a series of snapshots saw. */
#define KILLS_KEPT 32
struct kill_history {
	struct recent_kills before; /* what was known of the hour before it began */
	bool began;
	int64_t begin_ms; /* since the epoch, as is the next one */
	uint64_t last;
	struct {
		int64_t time_ms;
		uint64_t count;
	} item[KILLS_KEPT]; /* the oldest first */
	size_t count;
};

/* The kills of the hour up to a snapshot of a machine that booted at that time; 0: not known. */
void kill_history_add(struct kill_history *h, const struct oom_kills *now, int64_t now_ms,
		      int64_t boot_ms, struct recent_kills *ret);

/*
 * What the tmpfs mounts hold that this process sees, in RAM and in swap. Some of it processes may
 * map.
 */
struct tmpfs_use {
	bool known;
	uint64_t bytes;
	const char *largest; /* where the one is mounted that holds most; NULL: none */
	uint64_t largest_bytes;
};

/* Directory entries that the kernel keeps (/proc/sys/fs/dentry-state). */
struct dentries {
	bool known;
	uint64_t negative; /* bytes of those of names that do not exist, since Linux 5.0 */
};

/* Returns 0, or -EINVAL and *ret is unchanged. */
int dentries_parse(const char *text, size_t len, struct dentries *ret);

/* The pid of the newest process or thread: the last value of /proc/loadavg; 0 without one. */
uint64_t loadavg_parse_last_pid(const char *text, size_t len);
/*
 * The number of tasks on the machine, idle tasks excluded, of all pid namespaces: the number behind
 * the slash (fs/proc/loadavg.c); 0 without one.
 */
uint64_t loadavg_parse_tasks(const char *text, size_t len);

#endif
