// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The head of a screen: golden files, what holds most, and swap. */
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

/* "name bytes, name bytes" */
static void assert_holders(const struct sample *s, enum overview_part part, const char *want)
{
	cleanup(strbuf_done) struct strbuf out = {};
	const struct head_part *p;
	struct head_all all;
	struct head head;

	head_begin(&head, &s->snapshot, NULL, &(struct table_style){});
	head_find(&head, &all);
	for (p = all.part; strcmp(p->key, overview_part_name(part)) != 0; p++)
		assert_true(p + 1 < all.part + all.parts);
	for (size_t i = 0; i < p->holders; i++)
		strbuf_printf(&out, "%s%s %llu", i ? ", " : "", p->holder[i].name,
			      (unsigned long long)(p->holder[i].bytes / MIB));
	assert_string_equal(strbuf_str(&out), want);
}

/* A zram device may be a disk: of /tmp, or of logs. */
SAMPLE_TEST(zram, sample_ordinary)
{
	struct system_info *system = &s->snapshot.system;

	sample_parts(s);
	system->meminfo.have &= ~(1u << MEMINFO_ZSWAP_STORED);
	assert_holders(s, OVERVIEW_COMPRESSED, "holds 300");
	system->swaps_known = true;
	system->swap_count = 0;
	assert_holders(s, OVERVIEW_COMPRESSED, "holds files of 300");
	system->swap_count = 1;
	strcpy(system->swap[0].name, "/dev/zram0");
	assert_holders(s, OVERVIEW_COMPRESSED, "holds swap of 300");
	system->zram_count = 2;
	system->zram[1] = (struct zram_device){"zram1", {.stored = 400 * MIB, .used = MIB}};
	assert_holders(s, OVERVIEW_COMPRESSED, "holds files of 400, holds swap of 300");
}

/* A holder of more than the part is no part of it. */
SAMPLE_TEST(holders, sample_ordinary)
{
	struct meminfo *m = &s->snapshot.system.meminfo;
	struct head head;

	sample_parts(s);
	head_begin(&head, &s->snapshot, NULL, &(struct table_style){});
	sample_meminfo(m, MEMINFO_DIRTY, head.overview.bytes[OVERVIEW_CACHE]);
	assert_holders(s, OVERVIEW_CACHE, "dirty 1923");
	m->value[MEMINFO_DIRTY]++;
	assert_holders(s, OVERVIEW_CACHE, "");
	/* The kernel counts huge pages that are mapped in part as a whole. */
	s->snapshot.system.partly_mapped = (struct partly_mapped){true, 4 * MIB};
	assert_holders(s, OVERVIEW_OTHER, "rest of huge pages, up to 4");
	s->snapshot.system.partly_mapped.bytes = GIB;
	assert_holders(s, OVERVIEW_OTHER, "rest of huge pages, up to 635");
}

static void assert_swap(const struct sample *s, const struct swap_rates *rates, const char *want)
{
	cleanup(strbuf_done) struct strbuf out = {};
	struct line l = {.out = &out};
	struct head head;

	head_begin(&head, &s->snapshot, NULL, &(struct table_style){});
	head.rates = rates;
	head_put_swap(&head, &l);
	line_end(&l);
	assert_string_equal(strbuf_str(&out), want);
}

SAMPLE_TEST(swap, sample_ordinary)
{
	const struct swap_rates rates = {1536, 2 * MIB};

	assert_swap(
		s, &rates,
		"Swap 2.00G: used 1.00G = processes 1021M + tmpfs 2.00M + other 1.00M, in 1.50K/s, "
		"out 2.00M/s\n");
	s->snapshot.system.files.shmem_known = false;
	assert_swap(s, NULL, "Swap 2.00G: used 1.00G = processes 1021M + other 3.00M\n");
	s->snapshot.balance.swap_unattributed_known = false;
	assert_swap(s, NULL, "Swap 2.00G: used 1.00G\n");
	sample_meminfo(&s->snapshot.system.meminfo, MEMINFO_SWAP_TOTAL, 0);
	sample_meminfo(&s->snapshot.system.meminfo, MEMINFO_SWAP_FREE, 0);
	assert_swap(s, &rates, "Swap none\n");
	s->snapshot.system.meminfo.have = 0;
	assert_swap(s, NULL, "Swap not known\n");
}
