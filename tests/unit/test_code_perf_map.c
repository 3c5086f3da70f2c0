// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Names of JIT code: lines, and large texts. Lines that overlap and lie: fuzz_code_perf_map. */
#include "unit.h"

#include "base/strbuf.h"
#include "code/perf_map.h"

TEST(lines)
{
	static const struct {
		const char *text, *name;
		uint64_t start, size;
	} lines[] = {
		{"7f0913ebc000 b py::serve:/app/job.py", "py::serve:/app/job.py", 0x7f0913ebc000,
		 0xb},
		{"0x10 0xFf name with blanks ", "name with blanks ", 0x10, 0xff},
		{"10  20   three blanks", "three blanks", 0x10, 0x20},
		{"ffffffffffffffff 0 empty", NULL, 0, 0},
		{"fffffffffffffff0 f end", "end", 0xfffffffffffffff0, 0xf},
		{"fffffffffffffff0 10 over the end", NULL, 0, 0},
		{"00000000000000001 1 more digits than an address has", NULL, 0, 0},
		{"10 20", NULL, 0, 0},
		{"10 20 ", NULL, 0, 0},
		{"10", NULL, 0, 0},
		{"", NULL, 0, 0},
		{"0x 1 no digits", NULL, 0, 0},
		{" 10 20 name", NULL, 0, 0},
		{"10\t20\tname", NULL, 0, 0},
		{"-10 20 name", NULL, 0, 0},
		{"name 10 20", NULL, 0, 0},
	};
	struct perf_line line;

	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		int r = perf_line_parse(lines[i].text, strlen(lines[i].text), &line);

		assert_int_equal(r, lines[i].name ? 0 : -EINVAL);
		if (r < 0)
			continue;
		assert_int_equal(line.start, lines[i].start);
		assert_int_equal(line.size, lines[i].size);
		assert_int_equal(line.name_len, strlen(lines[i].name));
		assert_memory_equal(line.name, lines[i].name, line.name_len);
	}
	assert_int_equal(perf_line_parse("1 1 a\0b", 7, &line), -EINVAL);
}

/* Each of many lines has all of many addresses: each address is named once. */
TEST(many)
{
	enum { LINES = 200000, ADDRESSES = 50000 };
	cleanup(strbuf_done) struct strbuf text = {};
	cleanup(arena_done) struct arena names = {};
	cleanup_free struct code_name *item = calloc(ADDRESSES, sizeof(*item));

	assert_non_null(item);
	for (unsigned i = 0; i < LINES; i++)
		strbuf_printf(&text, "0 7fffffffffffffff f%u\n", i);
	for (unsigned i = 0; i < ADDRESSES; i++)
		item[i].address = i / 2;
	assert_int_equal(perf_map_name(text.data, text.len, item, ADDRESSES, &names), 0);
	for (unsigned i = 0; i < ADDRESSES; i++)
		assert_string_equal(item[i].name, "f199999");
}
