// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Perf maps: the first bytes are addresses, the others are the text. Each address has the name of
 * the last line that contains it, as a plain search finds it.
 */
#include "code/perf_map.h"
#include "fuzz.h"

#define ADDRESSES 16

static int compare(const void *a, const void *b)
{
	const struct code_name *x = a, *y = b;

	return x->address < y->address ? -1 : x->address > y->address;
}

/* The last whole line with this address. Returns true, and the line. */
static bool search(const char *text, size_t len, uint64_t address, struct perf_line *ret)
{
	bool found = false;

	for (size_t at = 0; at < len;) {
		const char *end = memchr(text + at, '\n', len - at);
		struct perf_line line;
		size_t n;

		if (!end)
			break;
		n = (size_t)(end - text) - at;
		if (perf_line_parse(text + at, n, &line) == 0) {
			fuzz_check_part(line.name, line.name_len, text + at, n);
			FUZZ_CHECK(line.size && line.name_len && line.name_len <= PERF_NAME_MAX);
			FUZZ_CHECK(line.start + line.size >= line.start);
			if (address >= line.start && address - line.start < line.size) {
				*ret = line;
				found = true;
			}
		}
		at += n + 1;
	}
	return found;
}

const unsigned fuzz_changes = 2000;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct code_name item[ADDRESSES] = {};
	struct arena names = {};
	struct perf_line line;
	const char *text;
	uint8_t count;

	fuzz_take(&data, &size, &count, 1);
	count %= ADDRESSES + 1;
	for (uint8_t i = 0; i < count; i++) {
		uint16_t low;

		/* Addresses that short lines reach, and one at the end. */
		fuzz_take(&data, &size, &low, sizeof(low));
		item[i].address = low == UINT16_MAX ? UINT64_MAX : low;
	}
	text = (const char *)data;
	qsort(item, count, sizeof(*item), compare);
	FUZZ_CHECK(perf_map_name(text, size, item, count, &names) == 0);
	for (uint8_t i = 0; i < count; i++) {
		bool found = search(text, size, item[i].address, &line);

		FUZZ_CHECK(found == (item[i].name != NULL));
		if (!found)
			continue;
		FUZZ_CHECK(item[i].start == line.start && strlen(item[i].name) == line.name_len);
		FUZZ_CHECK(memcmp(item[i].name, line.name, line.name_len) == 0);
	}
	arena_done(&names);
	return 0;
}
