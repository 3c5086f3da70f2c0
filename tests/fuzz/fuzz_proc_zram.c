// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* zram's mm_stat: parsed values, printed and parsed again, are the same. */
#include <errno.h>
#include <inttypes.h>

#include "fuzz.h"
#include "model/system.h"

const unsigned fuzz_changes = 2000;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct zram_stat stat = {.stored = 42}, again;
	char text[80], *copy, *p;
	int len, r = zram_stat_parse((const char *)data, size, &stat);

	if (r < 0) {
		FUZZ_CHECK(r == -EINVAL && stat.stored == 42);
		return 0;
	}
	copy = p = fuzz_string(data, size);
	FUZZ_CHECK(strtoull(p, &p, 10) == stat.stored && strtoull(p, &p, 10) == stat.compressed &&
		   strtoull(p, &p, 10) == stat.used);
	free(copy);
	len = sprintf(text, "%" PRIu64 " %" PRIu64 " %" PRIu64 "\n", stat.stored, stat.compressed,
		      stat.used);
	FUZZ_CHECK(zram_stat_parse(text, (size_t)len, &again) == 0);
	FUZZ_CHECK(!memcmp(&stat, &again, sizeof(stat)));
	/* In a cut text, the third number may be incomplete. */
	FUZZ_CHECK(zram_stat_parse(text, (size_t)len - 1, &again) == -EINVAL);
	return 0;
}
