// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* /proc/zoneinfo, which is read in parts. */
#include <inttypes.h>

#include "fuzz_file.h"
#include "model/zones.h"

static struct zones zones;

static uint64_t end_of(const char *text, size_t len)
{
	zones_read(fuzz_file("zoneinfo", (const uint8_t *)text, len), &zones);
	return zones.end;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data, *pos;
	uint64_t pfn_end = end_of(text, size), most = 0;
	struct frame_span span[ZONES_MAX];
	bool mixed;
	size_t count = zones_spans(&zones, span, &mixed);
	char line[128];
	int len;

	/* A prefix of a text never yields more than the text, and only whole lines count. */
	pos = size ? memrchr(text, '\n', size) : NULL;
	FUZZ_CHECK(end_of(text, pos ? (size_t)(pos - text) + 1 : 0) == pfn_end);
	FUZZ_CHECK(end_of(text, size / 2) <= pfn_end);
	for (size_t i = 0; i < size; i++)
		if (text[i] >= '0' && text[i] <= '9')
			most++;
	FUZZ_CHECK(!pfn_end || most >= 1);
	/* Spans are in order and do not overlap. */
	for (size_t i = 0; i < count; i++)
		FUZZ_CHECK(span[i].first < span[i].end && (!i || span[i - 1].end <= span[i].first));
	if (pfn_end) {
		len = sprintf(line, "Node 0, zone Normal\n spanned %" PRIu64 "\n start_pfn: 0\n",
			      pfn_end);
		FUZZ_CHECK(end_of(line, (size_t)len) == pfn_end);
	}
	return 0;
}
