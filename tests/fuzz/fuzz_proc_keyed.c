// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Lines "Key:   number kB"; some keys are prefixes of others. */
#include "base/array.h"
#include "print_counters.h"
#include "proc/keyed.h"

static const struct text_part names[] = {KEYED_NAME("A"), KEYED_NAME("Swap"),
					 KEYED_NAME("SwapPss")};
static const char *const words[] = {"A", "Swap", "SwapPss"};

struct reading {
	struct keyed_counters counters;
	uint64_t value[ARRAY_SIZE(names)];
};

static void read_all(const char *text, size_t size, struct reading *r)
{
	const char *pos = text, *end = text + size, *last = text;
	struct keyed_line line;

	*r = (struct reading){.counters = {names, ARRAY_SIZE(names)}};
	r->counters.value = r->value;
	while (pos < end && keyed_next(&pos, end, &line)) {
		uint32_t had = r->counters.have;
		bool known = false;

		FUZZ_CHECK(line.key.s >= last && pos > line.key.s && pos <= end);
		fuzz_check_part(line.key.s, line.key.len, text, size);
		fuzz_check_part(line.value, (size_t)(line.end - line.value), text, size);
		FUZZ_CHECK(line.value == line.key.s + line.key.len + 1 && line.value[-1] == ':');
		FUZZ_CHECK(!memchr(line.key.s, ':', line.key.len));
		FUZZ_CHECK(!memchr(line.key.s, '\n', (size_t)(line.end - line.key.s)));
		FUZZ_CHECK(line.whole ? *line.end == '\n' : line.end == end);
		last = pos;
		for (size_t i = 0; i < ARRAY_SIZE(names); i++)
			known |= part_is(line.key, words[i]);
		FUZZ_CHECK(keyed_counter(&line, &r->counters) == known);
		FUZZ_CHECK((r->counters.have & had) == had && (known || r->counters.have == had));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct reading first, again;
	char text[256];
	size_t len;

	read_all((const char *)data, size, &first);
	check_counters(data, size, words, ARRAY_SIZE(words), first.counters.have, first.value);
	len = print_counters(text, 0, sizeof(text), words, ARRAY_SIZE(words), first.counters.have,
			     first.value);
	read_all(text, len, &again);
	FUZZ_CHECK(again.counters.have == first.counters.have &&
		   !memcmp(again.value, first.value, sizeof(first.value)));
	return 0;
}
