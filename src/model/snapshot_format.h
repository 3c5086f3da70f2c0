/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The format of an encoded snapshot: the numbers of blocks, of counters and of enumerators, and the
 * members of structs that are columns. A number is never reused. Only the codec includes it.
 */
#ifndef ZMEM_MODEL_SNAPSHOT_FORMAT_H
#define ZMEM_MODEL_SNAPSHOT_FORMAT_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/ram.h"
#include "model/snapshot.h"

/* Ids of blocks. They are part of the format: a new column gets a new number. */
enum block_id {
	ID_ROWS = 1, /* number of new rows, rows of the reference, time of the reference */
	ID_GONE = 2, /* rows of the reference that have ended */
	ID_PIDS = 3, /* of new processes */
	ID_MACHINE = 0x10,
	ID_PROCESS = 0x80,
	ID_MM = ID_PROCESS + 0x20,
	ID_HAVE = ID_PROCESS + 0x21,
	ID_STATUS = ID_PROCESS + 0x30, /* plus a number of its own */
	ID_COUNTER = 0x100,	       /* plus the number of the counter */
	ID_MEMINFO_HAVE = 0x140,
	ID_MEMINFO = 0x141,
	ID_SWAP = 0x150,
	ID_ZRAM = 0x160,
	ID_UNPLACED = 0x168,
	ID_MEMCG = 0x170,
	ID_MEMCG_DETAIL = ID_MEMCG + 14, /* plus the number of the counter */
	ID_RAM = 0x1a0,
	ID_SHARED = 0x1c0,
	ID_GPU = 0x1e0,
	ID_KERNEL = 0x1f6,
	ID_STRINGS = 0x200,
	ID_ENDED = 0x210,
};

/* ---- numbers: part of the format ---- */

#define MEMINFO_NUMBERS 64

static const uint8_t meminfo_number[MEMINFO_COUNTERS] = {
#define ZMEM_MEMINFO(id, number, name) [MEMINFO_##id] = number,
#include "model/meminfo.def"
#undef ZMEM_MEMINFO
};

#define RAM_NUMBERS 64

_Static_assert(RAM_FIGURES == 22, "give the new class a number");
static const uint8_t ram_number[RAM_FIGURES] = {
	[RAM_FREE] = 0,		  [RAM_ANON] = 1,	 [RAM_ANON_UNMAPPED] = 2,
	[RAM_PAGE_CACHE] = 3,	  [RAM_SHMEM] = 4,	 [RAM_SLAB] = 5,
	[RAM_LARGE_KMALLOC] = 6,  [RAM_PAGE_TABLES] = 7, [RAM_KERNEL_STACKS] = 8,
	[RAM_VMALLOC] = 9,	  [RAM_PERCPU] = 10,	 [RAM_HUGETLB] = 11,
	[RAM_ZRAM_ZSWAP] = 12,	  [RAM_NET_RINGS] = 13,	 [RAM_BALLOON] = 14,
	[RAM_DRIVER_MAPPED] = 15, [RAM_GPU] = 16,	 [RAM_RESERVED] = 17,
	[RAM_UNNAMED] = 18,	  [RAM_SOCKETS] = 19,	 [RAM_CGROUP_KERNEL] = 20,
	[RAM_DESCRIPTORS] = 21,
};

/* ---- members of structs as columns: enumerators with numbers are part of the format ---- */

enum member_kind {
	MEMBER_INT,
	MEMBER_TEXT,  /* const char *, NULL: none */
	MEMBER_NAME,  /* the same, predicted by the comm; without a name it is the comm */
	MEMBER_CHARS, /* char[], terminated */
};

struct member {
	uint16_t id;
	uint8_t kind, size;
	bool is_signed;
	uint32_t offset;
	uint64_t limit; /* an integer must be less; 0: any value of its type */
};

#define MEMBER_OF(type, m) (((type *)0)->m)
#define INT(id_, type, m, limit_)                                                                  \
	{                                                                                          \
		.id = (id_), .kind = MEMBER_INT, .size = sizeof(MEMBER_OF(type, m)),               \
		.is_signed = ((__typeof__(MEMBER_OF(type, m)))-1) < 1,                             \
		.offset = offsetof(type, m), .limit = (limit_)                                     \
	}
#define TEXT(id_, type, m)                                                                         \
	{                                                                                          \
		.id = (id_), .kind = MEMBER_TEXT, .offset = offsetof(type, m)                      \
	}
#define CHARS(id_, type, m)                                                                        \
	{                                                                                          \
		.id = (id_), .kind = MEMBER_CHARS, .size = sizeof(MEMBER_OF(type, m)) - 1,         \
		.offset = offsetof(type, m)                                                        \
	}

#define MACHINE(n, m, limit) INT(ID_MACHINE + (n), struct snapshot, m, limit)
static const struct member machine_members[] = {
	MACHINE(0, time_ms, 0),
	MACHINE(1, counters_source, FROM_PROC + 1),
	MACHINE(2, pinned, 2),
	TEXT(ID_MACHINE + 3, struct snapshot, fallback_reason),
	TEXT(ID_MACHINE + 4, struct snapshot, pss_fallback_reason),
	CHARS(ID_MACHINE + 5, struct snapshot, host.name),
	CHARS(ID_MACHINE + 6, struct snapshot, host.boot_id),
	CHARS(ID_MACHINE + 7, struct snapshot, host.kernel_release),
	CHARS(ID_MACHINE + 8, struct snapshot, host.arch),
	MACHINE(9, host.page_size, 0),
	MACHINE(10, host.cpus, 0),
	MACHINE(11, host.boot_ms, 0),
	MACHINE(12, system.swaps_known, 2),
	MACHINE(13, system.swap_count, SWAP_MAX + 1),
	MACHINE(14, system.zram_count, ZRAM_MAX + 1),
	MACHINE(15, memcg_count, 0),
	MACHINE(16, collection.duration_us, 0),
	MACHINE(17, collection.seen, 0),
	MACHINE(18, collection.reported, 0),
	MACHINE(19, collection.filtered, 0),
	MACHINE(20, collection.kernel_threads, 0),
	MACHINE(21, collection.zombies, 0),
	MACHINE(22, collection.gone, 0),
	MACHINE(23, collection.denied, 0),
	MACHINE(24, collection.timeout, 0),
	MACHINE(25, collection.raced, 0),
	MACHINE(26, collection.shared_mm, 0),
	MACHINE(27, collection.shared_mm_unknown, 2),
	MACHINE(28, collection.hidden, 2),
	MACHINE(29, collection.complete, 2),
	MACHINE(30, collection.cross_check.checked, 0),
	MACHINE(31, collection.cross_check.same, 0),
	MACHINE(32, collection.cross_check.moved, 0),
	MACHINE(33, collection.cross_check.different, 0),
	MACHINE(34, collection.cross_check.gone, 0),
	MACHINE(35, collection.cross_check.done, 2),
	MACHINE(36, balance.swap_unattributed_known, 2),
	MACHINE(37, balance.swap_unattributed, 0),
	MACHINE(38, balance.residual_known, 2),
	MACHINE(39, balance.anon_residual, 0),
	MACHINE(40, balance.mapped_residual, 0),
	/* Minor version 1. */
	MACHINE(41, system.pressure.known, 2),
	MACHINE(42, system.pressure.some_avg10, 0),
	MACHINE(43, system.pressure.full_avg10, 0),
	MACHINE(44, system.pressure.some_total_us, 0),
	MACHINE(45, system.pressure.full_total_us, 0),
	MACHINE(46, system.swapped.known, 2),
	MACHINE(47, system.swapped.in, 0),
	MACHINE(48, system.swapped.out, 0),
	MACHINE(49, system.max_map_count, 0),
	MACHINE(50, collection.not_seen, 0),
	MACHINE(51, collection.not_seen_known, 2),
	TEXT(ID_MACHINE + 52, struct snapshot, selection),
	MACHINE(53, self, INT_MAX),
	MACHINE(54, balance.shmem_not_in_pss_known, 2),
	MACHINE(55, balance.shmem_not_in_pss, 0),
	/* Sums of files. */
	MACHINE(56, system.files.shmem_known, 2),
	MACHINE(57, system.files.cache_known, 2),
	MACHINE(58, system.files.shmem, 0),
	MACHINE(59, system.files.cache, 0),
	MACHINE(60, system.files.shmem_swapped, 0),
	MACHINE(61, system.files.swapped_tmpfs, 0),
	MACHINE(62, system.files.swapped_unmapped, 0),
	MACHINE(63, system.files.unmapped[FILE_TMPFS], 0),
	MACHINE(64, system.files.unmapped[FILE_MEMFD], 0),
	MACHINE(65, system.files.unmapped[FILE_SYSV], 0),
	MACHINE(66, system.files.unmapped[FILE_SHARED_ANON], 0),
	MACHINE(67, system.files.unmapped[FILE_DRM], 0),
	MACHINE(68, system.files.unmapped[FILE_OTHER], 0),
	MACHINE(69, system.files.swap_ram_known, 2),
	MACHINE(70, system.files.swap_ram, 0),
	MACHINE(71, system.swap_cache.known, 2),
	MACHINE(72, system.swap_cache.bytes, 0),
	MACHINE(73, system.sockets.known, 2),
	MACHINE(74, system.sockets.bytes, 0),
	MACHINE(75, system.meminfo.unplaced_count, MEMINFO_UNPLACED_MAX + 1),
	MACHINE(76, system.partly_mapped.known, 2),
	MACHINE(77, system.partly_mapped.bytes, 0),
	MACHINE(78, collection.cross_check.snapshots_ago, 0),
	MACHINE(80, system.rates.known, 2),
	MACHINE(81, system.rates.swapped_in, 0),
	MACHINE(82, system.rates.swapped_out, 0),
	MACHINE(83, system.rates.refaulted, 0),
	MACHINE(84, system.rates.scanned, 0),
	MACHINE(85, system.hugetlb_unused_known, 2),
	MACHINE(86, system.hugetlb_unused, 0),
	MACHINE(87, system.overcommit_strict, 2),
	MACHINE(88, system.dentries.known, 2),
	MACHINE(89, system.dentries.negative, 0),
	MACHINE(90, collection.not_seen_pid[0], INT_MAX),
	MACHINE(91, collection.not_seen_pid[1], INT_MAX),
	MACHINE(92, collection.not_seen_pid[2], INT_MAX),
	MACHINE(93, collection.not_seen_pid[3], INT_MAX),
	MACHINE(94, collection.not_seen_pid[4], INT_MAX),
	MACHINE(95, collection.cross_check.all, 2),
	MACHINE(96, collection.cross_check.ended, 0),
	MACHINE(97, collection.cross_check.denied, 0),
	MACHINE(98, collection.cross_check.unread, 0),
	MACHINE(99, collection.cross_check.self, 0),
	MACHINE(100, collection.cgroups_left_out[MEMCG_BOUND_DEPTH], 0),
	MACHINE(101, collection.cgroups_left_out[MEMCG_BOUND_BYTES], 0),
	MACHINE(102, collection.cgroups_left_out[MEMCG_BOUND_TIME], 0),
	MACHINE(103, collection.cgroups_dying, 0),
	MACHINE(104, system.oom_kills.known, 2),
	MACHINE(105, system.oom_kills.count, 0),
	MACHINE(106, system.delay_accounting_known, 2),
	MACHINE(107, system.delay_accounting, 2),
	MACHINE(79, system.waits, WAITS_WATCHED + 1),
	MACHINE(108, collection.earlier, 0),
	MACHINE(109, system.free.known, 2),
	MACHINE(110, system.free.listed, 0),
	MACHINE(111, system.free.reserve, 0),
};

#define PROCESS(n, m, limit) INT(ID_PROCESS + (n), struct process, m, limit)
#define STATUS(n, of)	     INT(ID_STATUS + (n), struct process, status[VALUE_##of], PSS_REFERENCED)
static const struct member process_members[] = {
	PROCESS(0, ppid, INT_MAX),
	PROCESS(1, uid, 0),
	PROCESS(2, threads, 0),
	PROCESS(3, oom_score_adj, 0),
	PROCESS(4, start_ns, 0),
	PROCESS(5, kind, PROCESS_SUM), /* a sum is computed, not collected */
	PROCESS(6, raced, 2),
	PROCESS(7, controlled, 2),
	PROCESS(8, name_cut, 2),
	PROCESS(9, cmdline_truncated, 2),
	PROCESS(10, counters_source, FROM_EARLIER + 1),
	PROCESS(11, pss_source, PSS_FROM_BOTH + 1),
	PROCESS(12, pss_status, PSS_STATUS_COUNT),
	PROCESS(13, unit_path, 0),
	PROCESS(14, container_path, 0),
	CHARS(ID_PROCESS + 15, struct process, comm),
	{.id = ID_PROCESS + 16, .kind = MEMBER_NAME, .offset = offsetof(struct process, name)},
	TEXT(ID_PROCESS + 17, struct process, user),
	TEXT(ID_PROCESS + 18, struct process, cgroup),
	TEXT(ID_PROCESS + 19, struct process, unit),
	TEXT(ID_PROCESS + 20, struct process, container),
	TEXT(ID_PROCESS + 21, struct process, cmdline),
	PROCESS(22, exe, EXE_DELETED + 1),
	/* Minor version 2. */
	TEXT(ID_PROCESS + 23, struct process, container_id),
	TEXT(ID_PROCESS + 24, struct process, pod),
	TEXT(ID_PROCESS + 25, struct process, namespace),
	PROCESS(26, container_status, CONTAINER_STATUS_COUNT),
	PROCESS(27, pod_path, 0),
	TEXT(ID_PROCESS + 28, struct process, app),
	/* Why values that are stored are not known. FREED is not stored. */
	STATUS(0, SWAP_SHMEM),
	STATUS(1, LAZYFREE),
	STATUS(2, HUGETLB_PSS),
	STATUS(3, THP_REST),
	STATUS(4, NODES),
	STATUS(5, GPU),
	STATUS(6, DMABUF),
	STATUS(7, EXE),
	STATUS(8, KERNEL),
};

static const struct member swap_members[] = {
	CHARS(ID_SWAP, struct swap_device, name),
	INT(ID_SWAP + 1, struct swap_device, kind, SWAP_FILE + 1),
	INT(ID_SWAP + 2, struct swap_device, name_cut, 2),
	INT(ID_SWAP + 3, struct swap_device, size, 0),
	INT(ID_SWAP + 4, struct swap_device, used, 0),
	INT(ID_SWAP + 5, struct swap_device, priority, 0),
};

static const struct member zram_members[] = {
	CHARS(ID_ZRAM, struct zram_device, name),
	INT(ID_ZRAM + 1, struct zram_device, stat.stored, 0),
	INT(ID_ZRAM + 2, struct zram_device, stat.compressed, 0),
	INT(ID_ZRAM + 3, struct zram_device, stat.used, 0),
	INT(ID_ZRAM + 4, struct zram_device, size, 0),
};

static const struct member unplaced_members[] = {
	CHARS(ID_UNPLACED, struct meminfo_line, name),
	INT(ID_UNPLACED + 1, struct meminfo_line, bytes, 0),
};

/* A census. A frame without one has the method RAM_NONE, and nothing else of it. */
static const struct member ram_method = INT(ID_RAM, struct ram, method, RAM_SAMPLE + 1);
static const struct member ram_members[] = {
	INT(ID_RAM + 1, struct ram, frames, 0),
	INT(ID_RAM + 2, struct ram, duration_us, 0),
	INT(ID_RAM + 3, struct ram, taken_ms, 0),
	INT(ID_RAM + 4, struct ram, deleted_known, 2),
	INT(ID_RAM + 5, struct ram, deleted_cgroups, 0),
	INT(ID_RAM + 6, struct ram, deleted_bytes, 0),
};

/* The figures of struct ram, by their numbers; what a class does not have is 0. */
static const struct member ram_figure_members[] = {
	INT(ID_RAM + 7, struct ram_figure, exists, 2),
	INT(ID_RAM + 8, struct ram_figure, known, 2),
	INT(ID_RAM + 9, struct ram_figure, sampled, 2),
	INT(ID_RAM + 10, struct ram_figure, has_counter, 2),
	INT(ID_RAM + 11, struct ram_figure, bytes, 0),
	INT(ID_RAM + 12, struct ram_figure, error, 0),
	INT(ID_RAM + 13, struct ram_figure, counter, 0),
	TEXT(ID_RAM + 14, struct ram_figure, reason),
	INT(ID_RAM + 15, struct ram_figure, parts, RAM_PARTS_MAX + 1),
};

/* The parts of its figures, in the order of their numbers. */
static const struct member ram_part_members[] = {
	CHARS(ID_RAM + 16, struct ram_part, name),
	INT(ID_RAM + 17, struct ram_part, bytes, 0),
	INT(ID_RAM + 18, struct ram_part, pid, INT_MAX),
	CHARS(ID_RAM + 19, struct ram_part, process),
};

/* Files of shared memory. A frame without a list has the time 0. */
static const struct member shared_members[] = {
	INT(ID_SHARED, struct shared_files, taken_ms, 0),
	INT(ID_SHARED + 1, struct shared_files, count, SHARED_FILES_MAX + 1),
};
static const struct member shared_file_members[] = {
	TEXT(ID_SHARED + 2, struct shared_file, name),
	TEXT(ID_SHARED + 3, struct shared_file, cgroup),
	INT(ID_SHARED + 4, struct shared_file, kind, FILE_KINDS),
	INT(ID_SHARED + 5, struct shared_file, resident, 0),
	INT(ID_SHARED + 6, struct shared_file, swapped, 0),
};

/* Processes that ended. A frame without them has the time 0. */
static const struct member ended_members[] = {
	INT(ID_ENDED, struct ended_processes, over_ms, 0),
	INT(ID_ENDED + 1, struct ended_processes, others, 0),
	INT(ID_ENDED + 2, struct ended_processes, others_peak, 0),
	INT(ID_ENDED + 3, struct ended_processes, missed, 0),
	INT(ID_ENDED + 4, struct ended_processes, count, ENDED_MAX + 1),
};
static const struct member ended_row_members[] = {
	TEXT(ID_ENDED + 5, struct ended_row, name),
	TEXT(ID_ENDED + 6, struct ended_row, cgroup),
	INT(ID_ENDED + 7, struct ended_row, count, 0),
	INT(ID_ENDED + 8, struct ended_row, peak, 0),
};

/* Memory of GPUs. A frame without it has neither `known` nor a reason. */
struct gpu_head {
	uint64_t count; /* of parts */
	bool known, none, unheld_known;
	uint32_t unheld;
	uint64_t unheld_bytes;
	const char *reason;
};
static const struct member gpu_members[] = {
	INT(ID_GPU, struct gpu_head, count, UINT32_MAX),
	INT(ID_GPU + 1, struct gpu_head, known, 2),
	INT(ID_GPU + 2, struct gpu_head, none, 2),
	INT(ID_GPU + 3, struct gpu_head, unheld_known, 2),
	INT(ID_GPU + 4, struct gpu_head, unheld, 0),
	INT(ID_GPU + 5, struct gpu_head, unheld_bytes, 0),
	TEXT(ID_GPU + 6, struct gpu_head, reason),
};
static const struct member gpu_part_members[] = {
	INT(ID_GPU + 7, struct gpu_part, pid, INT_MAX),
	INT(ID_GPU + 8, struct gpu_part, holders, 0),
	INT(ID_GPU + 9, struct gpu_part, id, 0),
	INT(ID_GPU + 10, struct gpu_part, first, 2),
	INT(ID_GPU + 11, struct gpu_part, has_id, 2),
	INT(ID_GPU + 12, struct gpu_part, resident_known, 2),
	INT(ID_GPU + 13, struct gpu_part, shared_known, 2),
	INT(ID_GPU + 14, struct gpu_part, kind, GPU_KINDS),
	INT(ID_GPU + 15, struct gpu_part, resident, 0),
	INT(ID_GPU + 16, struct gpu_part, shared, 0),
	INT(ID_GPU + 17, struct gpu_part, share, 0),
	CHARS(ID_GPU + 18, struct gpu_part, driver),
	CHARS(ID_GPU + 19, struct gpu_part, device),
	CHARS(ID_GPU + 20, struct gpu_part, region),
};

/* Kernel memory by descriptors. A frame without it is neither `known` nor has a reason. */
struct kernel_head {
	uint64_t count; /* of shares */
	uint32_t left_out;
	bool known;
	const char *reason;
};
struct kernel_row {
	pid_t pid;
	struct kernel_share share;
};
static const struct member kernel_members[] = {
	INT(ID_KERNEL, struct kernel_head, count, UINT32_MAX),
	INT(ID_KERNEL + 1, struct kernel_head, left_out, 0),
	INT(ID_KERNEL + 2, struct kernel_head, known, 2),
	TEXT(ID_KERNEL + 3, struct kernel_head, reason),
};
static const struct member kernel_row_members[] = {
	INT(ID_KERNEL + 4, struct kernel_row, pid, INT_MAX),
	INT(ID_KERNEL + 5, struct kernel_row, share.kind, KERNEL_KINDS),
	INT(ID_KERNEL + 6, struct kernel_row, share.bytes, UINT64_C(1) << 56),
	INT(ID_KERNEL + 7, struct kernel_row, share.mapped, UINT64_C(1) << 56),
	INT(ID_KERNEL + 8, struct kernel_row, share.descriptors, 0),
};

static const struct member memcg_path = TEXT(ID_MEMCG, struct memcg, path);
static const struct member memcg_members[] = {
	INT(ID_MEMCG + 1, struct memcg, current_known, 2),
	INT(ID_MEMCG + 2, struct memcg, limit_known, 2),
	INT(ID_MEMCG + 3, struct memcg, current, 0),
	INT(ID_MEMCG + 4, struct memcg, limit, 0),
	/* In recordings of record --keep. */
	INT(ID_MEMCG + 5, struct memcg, high_known, 2),
	INT(ID_MEMCG + 6, struct memcg, high, 0),
	INT(ID_MEMCG + 7, struct memcg, max_known, 2),
	INT(ID_MEMCG + 8, struct memcg, max, 0),
	INT(ID_MEMCG + 9, struct memcg, oom_known, 2),
	INT(ID_MEMCG + 10, struct memcg, oom, 0),
	INT(ID_MEMCG + 11, struct memcg, oom_kills_known, 2),
	INT(ID_MEMCG + 12, struct memcg, oom_kills, 0),
	INT(ID_MEMCG + 13, struct memcg, details, 0),
};

#endif
