/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Keys of lines in /proc files, independent of src/proc. */
#ifndef ZMEM_TESTS_PROC_KEYS_H
#define ZMEM_TESTS_PROC_KEYS_H

#include "proc/status.h"
#include "proc/smaps.h"
#include "model/system.h"

static const char *const meminfo_keys[MEMINFO_COUNTERS] = {
	[MEMINFO_TOTAL] = "MemTotal",
	[MEMINFO_FREE] = "MemFree",
	[MEMINFO_AVAILABLE] = "MemAvailable",
	[MEMINFO_BUFFERS] = "Buffers",
	[MEMINFO_CACHED] = "Cached",
	[MEMINFO_SWAP_CACHED] = "SwapCached",
	[MEMINFO_UNEVICTABLE] = "Unevictable",
	[MEMINFO_MLOCKED] = "Mlocked",
	[MEMINFO_SWAP_TOTAL] = "SwapTotal",
	[MEMINFO_SWAP_FREE] = "SwapFree",
	[MEMINFO_ZSWAP_POOL] = "Zswap",
	[MEMINFO_ZSWAP_STORED] = "Zswapped",
	[MEMINFO_ANON] = "AnonPages",
	[MEMINFO_MAPPED] = "Mapped",
	[MEMINFO_SHMEM] = "Shmem",
	[MEMINFO_KERNEL_RECLAIMABLE] = "KReclaimable",
	[MEMINFO_SLAB_RECLAIMABLE] = "SReclaimable",
	[MEMINFO_SLAB_UNRECLAIMABLE] = "SUnreclaim",
	[MEMINFO_KERNEL_STACK] = "KernelStack",
	[MEMINFO_PAGE_TABLES] = "PageTables",
	[MEMINFO_SEC_PAGE_TABLES] = "SecPageTables",
	[MEMINFO_BOUNCE] = "Bounce",
	[MEMINFO_WRITEBACK_TMP] = "WritebackTmp",
	[MEMINFO_COMMIT_LIMIT] = "CommitLimit",
	[MEMINFO_COMMITTED] = "Committed_AS",
	[MEMINFO_VMALLOC_USED] = "VmallocUsed",
	[MEMINFO_PERCPU] = "Percpu",
	[MEMINFO_HARDWARE_CORRUPTED] = "HardwareCorrupted",
	[MEMINFO_HUGETLB] = "Hugetlb",
	[MEMINFO_GPU_ACTIVE] = "GPUActive",
	[MEMINFO_GPU_RECLAIM] = "GPUReclaim",
	[MEMINFO_DIRTY] = "Dirty",
};

static const char *const rollup_keys[SMAPS_KEYS] = {
	[SMAPS_RSS] = "Rss",
	[SMAPS_PSS] = "Pss",
	[SMAPS_PSS_ANON] = "Pss_Anon",
	[SMAPS_PSS_FILE] = "Pss_File",
	[SMAPS_PSS_SHMEM] = "Pss_Shmem",
	[SMAPS_SHARED_CLEAN] = "Shared_Clean",
	[SMAPS_SHARED_DIRTY] = "Shared_Dirty",
	[SMAPS_PRIVATE_CLEAN] = "Private_Clean",
	[SMAPS_PRIVATE_DIRTY] = "Private_Dirty",
	[SMAPS_LAZYFREE] = "LazyFree",
	[SMAPS_ANON_HUGE] = "AnonHugePages",
	[SMAPS_SHMEM_PMD] = "ShmemPmdMapped",
	[SMAPS_FILE_PMD] = "FilePmdMapped",
	[SMAPS_SHARED_HUGETLB] = "Shared_Hugetlb",
	[SMAPS_PRIVATE_HUGETLB] = "Private_Hugetlb",
	[SMAPS_SWAP] = "Swap",
	[SMAPS_SWAP_PSS] = "SwapPss",
	[SMAPS_LOCKED] = "Locked",
};

static const char *const status_keys[STATUS_COUNTERS] = {
	[STATUS_VM_SIZE] = "VmSize",	 [STATUS_VM_LCK] = "VmLck",
	[STATUS_VM_PIN] = "VmPin",	 [STATUS_VM_HWM] = "VmHWM",
	[STATUS_RSS_ANON] = "RssAnon",	 [STATUS_RSS_FILE] = "RssFile",
	[STATUS_RSS_SHMEM] = "RssShmem", [STATUS_VM_PTE] = "VmPTE",
	[STATUS_VM_SWAP] = "VmSwap",	 [STATUS_HUGETLB] = "HugetlbPages",
};

#endif
