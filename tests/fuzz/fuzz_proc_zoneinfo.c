// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* /proc/zoneinfo, as a text and as a file that is read in parts. */
#include <inttypes.h>

#include "fuzz_file.h"
#include "model/system.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data, *pos;
	uint64_t pfn_end = zoneinfo_parse(text, size), most = 0;
	char line[128];
	int len;

	/* A prefix of a text never yields more than the text, and only whole lines count. */
	pos = size ? memrchr(text, '\n', size) : NULL;
	FUZZ_CHECK(zoneinfo_parse(text, pos ? (size_t)(pos - text) + 1 : 0) == pfn_end);
	FUZZ_CHECK(zoneinfo_parse(text, size / 2) <= pfn_end);
	for (size_t i = 0; i < size; i++)
		if (text[i] >= '0' && text[i] <= '9')
			most++;
	FUZZ_CHECK(!pfn_end || most >= 1);
	FUZZ_CHECK(zoneinfo_read(fuzz_file("zoneinfo", data, size)) == pfn_end);
	if (pfn_end) {
		len = sprintf(line, "Node 0, zone Normal\n spanned %" PRIu64 "\n start_pfn: 0\n",
			      pfn_end);
		FUZZ_CHECK(zoneinfo_parse(line, (size_t)len) == pfn_end);
	}
	return 0;
}
