/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The input of fuzz_command_snapshot.c, and checks of the table's layout. */
#ifndef ZMEM_TESTS_FUZZ_SNAPSHOT_H
#define ZMEM_TESTS_FUZZ_SNAPSHOT_H

#include "fuzz.h"
#include "write/text.h"
#include "zmem/record.h"
#include "report/report.h"

enum config_flags {
	CONFIG_REVERSE = 1 << 0,
	CONFIG_ROOT = 1 << 1, /* only uid 0 */
	CONFIG_PRUNED = 1 << 2,
	CONFIG_BYTES = 1 << 3,
	CONFIG_HEADER = 1 << 4,
	CONFIG_ONLY_TOTAL = 1 << 5,
	CONFIG_COLOR = 1 << 6,
	CONFIG_WIDE = 1 << 7,
	CONFIG_NUMERIC = 1 << 8,
	CONFIG_CMDLINE = 1 << 9,
};

/* Of the machine; the others are made of these. */
static const enum meminfo_counter config_counters[] = {
	MEMINFO_TOTAL,	   MEMINFO_AVAILABLE,  MEMINFO_ANON,
	MEMINFO_MAPPED,	   MEMINFO_SHMEM,      MEMINFO_SWAP_TOTAL,
	MEMINFO_SWAP_FREE, MEMINFO_ZSWAP_POOL, MEMINFO_ZSWAP_STORED,
};
#define CONFIG_COUNTERS (sizeof(config_counters) / sizeof(config_counters[0]))

struct config {
	uint16_t flags;
	uint8_t ram_shift; /* log 2 of RAM */
	uint8_t shown;	   /* rows at most */
	uint8_t width;
	uint8_t sort[3], column[8]; /* indexes of column_table */
	uint64_t meminfo[CONFIG_COUNTERS];
	uint64_t boot_ms;
	int64_t time_ms;
} __attribute__((packed));

/* The byte before each record. */
enum how {
	HOW_KIND = 3, /* KTHREAD, ZOMBIE, else PROCESS */
	HOW_PAGES = 1 << 2,
	HOW_SETTLED = 1 << 3, /* its walk adds up */
	HOW_SMALL = 1 << 4,   /* with counters that a machine may have */
	HOW_ROLLUP = 1 << 5,  /* smaps_rollup was read; its values follow */
};

static inline void settle(struct zmem_pss_record *r)
{
	r->record.valid |= ZMEM_VALID_RSS | ZMEM_VALID_SHARING;
	r->record.flags &= ~(uint32_t)ZMEM_CUT_THREADS;
	r->pages.flags &= ZMEM_WALK_EXCLUSIVE;
	r->pages.cursor = 0;
	for (int i = 0; i < ZMEM_RSS_COUNT; i++) {
		r->pages.rss[i] = r->record.rss[i];
		r->pages.seen[i] =
			i == ZMEM_RSS_ANON || i == ZMEM_RSS_SWAP ? 0 : (uint64_t)r->record.rss[i];
	}
}

/* Repairs the header of a record. */
static inline void make_record(uint8_t how, struct zmem_pss_record *r)
{
	struct zmem_record *record = &r->record;

	record->version = ZMEM_RECORD_VERSION;
	record->kind = (how & HOW_KIND) == 0 ? ZMEM_PROCESS : how & HOW_KIND;
	record->valid &= ~(uint32_t)ZMEM_VALID_PAGES;
	record->size = record->kind == ZMEM_PROCESS ? sizeof(*record) : ZMEM_RECORD_SHORT;
	for (int i = 0; how & HOW_SMALL && i < ZMEM_RSS_COUNT; i++) {
		record->rss[i] &= 0xffffff;
		record->rss_delta[i] = 0;
	}
	if (!(how & HOW_PAGES) || record->kind != ZMEM_PROCESS)
		return;
	record->valid |= ZMEM_VALID_PAGES;
	record->size = sizeof(*r);
	if (how & HOW_SETTLED)
		settle(r);
}

static inline void make_columns(const uint8_t *index, size_t count, struct field_list *ret)
{
	for (size_t i = 0; i < count; i++)
		if (index[i] < process_fields.since)
			ret->item[ret->count++] = process_fields.item[index[i]];
}

/* The length of an SGR sequence of ours at s, 0 if it is none. */
static inline size_t sgr_length(const char *s, size_t len)
{
	return len >= 4 && !memcmp(s, "\033[", 2) && strchr("0127", s[2]) && s[3] == 'm' ? 4 : 0;
}

/*
 * Checks that there are `lines` lines and at most `more`, that they are printable, and the width of
 * all that have a blank: a word is never cut.
 */
static inline void check_lines(const struct strbuf *out, const struct table_style *style,
			       size_t lines, size_t more)
{
	size_t width = 0, count = 0, n;
	bool blank = false;

	FUZZ_CHECK(out->len && out->data[out->len - 1] == '\n');
	for (size_t i = 0; i < out->len; i += n) {
		uint32_t c;

		n = style->color ? sgr_length(out->data + i, out->len - i) : 0;
		if (n)
			continue;
		n = utf8_decode(out->data + i, out->len - i, &c);
		FUZZ_CHECK(n && (c == '\n' || text_safe(c)));
		width += utf8_width(c);
		blank |= c == ' ';
		if (c != '\n')
			continue;
		count++;
		FUZZ_CHECK(!style->width || !blank || width <= style->width);
		width = 0;
		blank = false;
	}
	FUZZ_CHECK(count >= lines && count - lines <= more);
}

#endif
