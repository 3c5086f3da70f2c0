// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The head of a screen: golden files, and the commands to type next. */
#include "unit.h"

#include "golden.h"
#include "report/head.h"
#include "sample.h"

TEST(screens)
{
	static const struct {
		const char *golden;
		unsigned width;
		size_t lines;
		bool census, color, bytes;
	} is[] = {
		{"head_80.txt", 80, 8, false, false, false},
		{"head_120.txt", 120, 20, true, false, false},
		{"head_color.txt", 80, 20, true, true, false},
		{"head_bytes.txt", 0, 20, true, false, true},
	};
	struct sample s;

	for (size_t i = 0; i < ARRAY_SIZE(is); i++) {
		cleanup(strbuf_done) struct strbuf out = {};
		const struct table_style style = {
			.width = is[i].width, .color = is[i].color, .bytes = is[i].bytes};
		struct head head;

		sample_ordinary(&s);
		sample_census(&s);
		sample_parts(&s);
		head_begin(&head, &s.snapshot, is[i].census ? &s.ram : NULL, &style);
		head_print(&out, &head, is[i].lines);
		golden_compare(is[i].golden, out.data, out.len, __FILE__, __LINE__);
	}
}

static void assert_next(const struct sample *s, const char *want)
{
	cleanup(strbuf_done) struct strbuf out = {};
	struct head head;

	head_begin(&head, &s->snapshot, NULL, &(struct table_style){});
	head_print_next(&out, &head);
	assert_string_equal(strbuf_str(&out), want);
}

static void set(struct sample *s, enum meminfo_counter f, uint64_t bytes)
{
	sample_meminfo(&s->snapshot.system.meminfo, f, bytes);
}

TEST(next)
{
	struct sample s;

	sample_ordinary(&s);
	s.snapshot.system = (struct system_info){};
	assert_next(&s, "");
	set(&s, MEMINFO_TOTAL, 16 * GIB);
	set(&s, MEMINFO_FREE, 8 * GIB);
	set(&s, MEMINFO_AVAILABLE, 12 * GIB);
	set(&s, MEMINFO_ANON, 4 * GIB);
	set(&s, MEMINFO_CACHED, 4 * GIB);
	set(&s, MEMINFO_SLAB_UNRECLAIMABLE, 1 * MIB);
	set(&s, MEMINFO_SWAP_TOTAL, 4 * GIB);
	set(&s, MEMINFO_SWAP_FREE, 4 * GIB);
	assert_next(&s, "");
	set(&s, MEMINFO_SHMEM, 3 * GIB);
	assert_next(&s, "next: zmem-bpf files\n");
	set(&s, MEMINFO_SWAP_FREE, 1 * GIB);
	set(&s, MEMINFO_FREE, 5 * GIB);
	set(&s, MEMINFO_AVAILABLE, 1 * GIB / 2);
	assert_next(&s, "next: zmem-bpf -s swap_pss   zmem-bpf files   zmem-bpf system   "
			"zmem-bpf watch --grow\n");
}
