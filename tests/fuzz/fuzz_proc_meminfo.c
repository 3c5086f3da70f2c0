// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* /proc/meminfo: what was understood, printed again, is understood the same. */
#include "fuzz_figures.h"
#include "zmem/system.h"

static const char *const names[MEMINFO_FIGURES] = {
	[MEMINFO_TOTAL] = "MemTotal",
	[MEMINFO_FREE] = "MemFree",
	[MEMINFO_AVAILABLE] = "MemAvailable",
	[MEMINFO_BUFFERS] = "Buffers",
	[MEMINFO_CACHED] = "Cached",
	[MEMINFO_SWAP_CACHED] = "SwapCached",
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
	[MEMINFO_VMALLOC_USED] = "VmallocUsed",
	[MEMINFO_PERCPU] = "Percpu",
	[MEMINFO_HARDWARE_CORRUPTED] = "HardwareCorrupted",
	[MEMINFO_HUGETLB] = "Hugetlb",
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct meminfo m, again;
	char text[2048];
	size_t len;

	meminfo_parse((const char *)data, size, &m);
	len = print_figures(text, 0, sizeof(text), names, MEMINFO_FIGURES, m.have, m.value);
	meminfo_parse(text, len, &again);
	FUZZ_CHECK(again.have == m.have && !memcmp(again.value, m.value, sizeof(m.value)));
	return 0;
}
