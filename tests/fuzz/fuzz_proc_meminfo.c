// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* /proc/meminfo: what was understood, printed again, is understood the same. */
#include "fuzz_figures.h"
#include "zmem/system.h"

static const char *const names[MEMINFO_FIGURES] = {
	[MEMINFO_TOTAL] = "MemTotal",	     [MEMINFO_AVAILABLE] = "MemAvailable",
	[MEMINFO_ANON] = "AnonPages",	     [MEMINFO_MAPPED] = "Mapped",
	[MEMINFO_SHMEM] = "Shmem",	     [MEMINFO_SWAP_TOTAL] = "SwapTotal",
	[MEMINFO_SWAP_FREE] = "SwapFree",    [MEMINFO_ZSWAP_POOL] = "Zswap",
	[MEMINFO_ZSWAP_STORED] = "Zswapped",
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct meminfo m, again;
	char text[1024];
	size_t len;

	meminfo_parse((const char *)data, size, &m);
	len = print_figures(text, 0, sizeof(text), names, MEMINFO_FIGURES, m.have, m.value);
	meminfo_parse(text, len, &again);
	FUZZ_CHECK(again.have == m.have && !memcmp(again.value, m.value, sizeof(m.value)));
	return 0;
}
