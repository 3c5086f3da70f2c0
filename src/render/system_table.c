// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The machine for people: where its RAM is, its swap, and whether the processes' sums close. Knows
 * words and their order; what may be added to what is known in src/query/account.c.
 */
#include <string.h>

#include "base/array.h"
#include "render/format.h"
#include "render/line.h"
#include "render/summary.h"
#include "zmem/render.h"

/* Columns that a name, a figure ("1023 GiB", exact bytes) and a percentage take. */
#define NAME_WIDTH    26
#define FIGURE_WIDTH  10
#define BYTES_WIDTH   16
#define PERCENT_WIDTH 6

struct page {
	struct line line;
	const struct system_report *r;
	const struct table_style *style;
};

static const struct system_info *system_of(const struct page *p)
{
	return &p->r->books->snapshot->system;
}

static unsigned width(const struct page *p)
{
	return p->style->bytes ? BYTES_WIDTH : FIGURE_WIDTH;
}

/* Aligned to the right, behind a gap. */
static void put_right(struct page *p, const char *text, size_t len, unsigned columns)
{
	line_blanks(&p->line, 2 + (columns > len ? columns - (unsigned)len : 0));
	line_ascii(&p->line, text, len);
}

/* '-' if it is not known. */
static void put_size(struct page *p, bool known, int64_t bytes)
{
	char buf[FORMAT_MAX + 1] = "-";
	size_t len = bytes < 0;
	uint64_t size = bytes < 0 ? -(uint64_t)bytes : (uint64_t)bytes;

	len = known ? len + format_bytes(buf + len, size, p->style->bytes) : 1;
	put_right(p, buf, len, width(p));
}

static void put_percent(struct page *p, bool known, int64_t part, bool whole_known, int64_t whole)
{
	char buf[FORMAT_MAX + 1] = "-";
	size_t len = 1;

	known &= whole_known && whole > 0;
	if (known) {
		double percent = (double)part * 100 / (double)whole;
		/* What is shown as 0.0 has no sign. */
		bool below = percent <= -0.05;

		len = below + format_percent(buf + below, percent < 0 ? -percent : percent);
	}
	put_right(p, buf, len ? len : 1, PERCENT_WIDTH);
}

/* For hundredths, of what is large for fewer digits: nobody wants them, and they would not fit. */
static void put_ratio(struct page *p, bool known, uint64_t larger, uint64_t smaller)
{
	char buf[FORMAT_MAX + 1] = "-";
	size_t len = 1;
	uint64_t percent;

	if (known && account_ratio(larger, smaller, &percent)) {
		len = format_u64(buf, percent / 100);
		if (percent < 10000 * 100) {
			buf[len++] = '.';
			buf[len++] = (char)('0' + percent / 10 % 10);
		}
		if (percent < 1000 * 100)
			buf[len++] = (char)('0' + percent % 10);
	}
	put_right(p, buf, len, PERCENT_WIDTH);
}

static void put_name(struct page *p, const char *name, unsigned indent)
{
	unsigned len = (unsigned)strlen(name) + 2 * indent;

	line_blanks(&p->line, 2 * indent);
	line_ascii(&p->line, name, strlen(name));
	line_blanks(&p->line, NAME_WIDTH > len ? NAME_WIDTH - len : 0);
}

static void put_note(struct page *p, const char *note)
{
	if (note) {
		p->line.attr = ATTR_DIM;
		line_blanks(&p->line, 2);
		line_ascii(&p->line, note, strlen(note));
	}
	line_end(&p->line);
}

/* The names of columns; the first one is left-aligned if `first` says so. NULL ends them. */
static void put_header(struct page *p, const char *first, const char *const *heading)
{
	if (!p->style->header)
		return;
	p->line.attr = ATTR_BOLD;
	if (first)
		put_name(p, first, 0);
	for (; *heading; heading++) {
		bool narrow = **heading == '%' || strcmp(*heading, "RATIO") == 0;

		put_right(p, *heading, strlen(*heading), narrow ? PERCENT_WIDTH : width(p));
	}
	p->line.attr = ATTR_NORMAL;
}

/* ---- RAM ---- */

static void put_part(struct page *p, enum account_part part, unsigned indent, const char *name,
		     const char *note)
{
	const struct account *a = &p->r->account;
	bool known = account_has(a, part);

	p->line.attr = indent ? ATTR_NORMAL : ATTR_BOLD;
	put_name(p, name, indent);
	p->line.attr = ATTR_NORMAL;
	put_size(p, known, a->value[part]);
	put_percent(p, known, a->value[part], account_has(a, ACCOUNT_TOTAL),
		    a->value[ACCOUNT_TOTAL]);
	put_note(p, note);
}

static const char *unaccounted_note(const struct page *p)
{
	if (!account_has(&p->r->account, ACCOUNT_UNACCOUNTED))
		return NULL;
	return p->r->account.value[ACCOUNT_UNACCOUNTED] < 0
		       ? "counters lag, or drivers' pages are mapped: counted late or twice"
		       : "nothing counts it: drivers, network, CPUs' free lists, swap cache";
}

static void put_memory(struct page *p)
{
	static const char *const heading[] = {"SIZE", "%RAM", NULL};
	static const struct {
		enum account_part part;
		unsigned indent;
		const char *name, *note;
	} parts[] = {
		{ACCOUNT_KERNEL, 0, "kernel", NULL},
		{ACCOUNT_SLAB_RECLAIMABLE, 1, "slab, reclaimable", "SReclaimable"},
		{ACCOUNT_SLAB_UNRECLAIMABLE, 1, "slab, unreclaimable", "SUnreclaim"},
		{ACCOUNT_PAGE_TABLES, 1, "page tables", "PageTables"},
		{ACCOUNT_SEC_PAGE_TABLES, 1, "page tables, secondary", "SecPageTables"},
		{ACCOUNT_STACKS, 1, "stacks", "KernelStack"},
		{ACCOUNT_VMALLOC, 1, "vmalloc", "VmallocUsed without stacks"},
		{ACCOUNT_PERCPU, 1, "per CPU", "Percpu"},
		{ACCOUNT_COMPRESSED_SWAP, 1, "compressed swap", "zram and zswap"},
		{ACCOUNT_OTHER, 1, "other", "the rest of KReclaimable, bounce buffers, bad pages"},
		{ACCOUNT_USER, 0, "user", NULL},
		{ACCOUNT_ANON, 1, "anonymous", "AnonPages"},
		{ACCOUNT_MAPPED, 1, "mapped", "Mapped: files and shared memory"},
		{ACCOUNT_CACHE, 0, "cache", "Cached and Buffers that are not mapped"},
		{ACCOUNT_HUGETLB, 0, "hugetlb", "Hugetlb"},
		{ACCOUNT_FREE, 0, "free", "MemFree"},
	};

	put_header(p, "RAM", heading);
	if (p->style->header)
		line_end(&p->line);
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		put_part(p, parts[i].part, parts[i].indent, parts[i].name, parts[i].note);
	put_part(p, ACCOUNT_UNACCOUNTED, 0, "not accounted for", unaccounted_note(p));
	put_part(p, ACCOUNT_TOTAL, 0, "total", "MemTotal");
}

static void put_figure(struct page *p, enum meminfo_figure f, const char *name, const char *note)
{
	const struct meminfo *m = &system_of(p)->meminfo;
	const struct account *a = &p->r->account;

	put_name(p, name, 1);
	put_size(p, meminfo_has(m, f), (int64_t)m->value[f]);
	put_percent(p, meminfo_has(m, f), (int64_t)m->value[f], account_has(a, ACCOUNT_TOTAL),
		    a->value[ACCOUNT_TOTAL]);
	put_note(p, note);
}

/* What lies across the parts. */
static void put_across(struct page *p)
{
	p->line.attr = ATTR_BOLD;
	put_name(p, "of that", 0);
	line_end(&p->line);
	put_figure(p, MEMINFO_AVAILABLE, "available", "MemAvailable: without swapping");
	put_figure(p, MEMINFO_CACHED, "page cache", "Cached: mapped or not, shared memory too");
	put_figure(p, MEMINFO_BUFFERS, "buffers", "Buffers: of block devices");
	put_figure(p, MEMINFO_SHMEM, "shared memory", "Shmem: and tmpfs, mapped or not");
	put_figure(p, MEMINFO_SWAP_CACHED, "swap cache", "SwapCached: mapped or not");
}

/* ---- swap ---- */

static void put_swap_line(struct page *p, unsigned indent, const char *name, bool known,
			  uint64_t bytes, const char *note)
{
	const struct meminfo *m = &system_of(p)->meminfo;

	p->line.attr = indent ? ATTR_NORMAL : ATTR_BOLD;
	put_name(p, name, indent);
	p->line.attr = ATTR_NORMAL;
	put_size(p, known, (int64_t)bytes);
	put_percent(p, known, (int64_t)bytes, meminfo_has(m, MEMINFO_SWAP_TOTAL),
		    (int64_t)m->value[MEMINFO_SWAP_TOTAL]);
	put_note(p, note);
}

static void put_swap(struct page *p)
{
	static const char *const heading[] = {"SIZE", "%SWAP", NULL};
	const struct system_report *r = p->r;
	const struct meminfo *m = &system_of(p)->meminfo;

	line_end(&p->line);
	put_header(p, "SWAP", heading);
	if (p->style->header)
		line_end(&p->line);
	put_swap_line(p, 0, "used", r->swap_used_known, r->swap_used, NULL);
	put_swap_line(p, 1, "of processes", r->swap_pss_known, r->swap_pss,
		      "SwapPss: what they share divided by its sharers");
	put_swap_line(p, 1, "unattributed", r->unattributed_known, r->unattributed,
		      r->books->snapshot->collection.hidden
			      ? "of hidden processes, shared memory and tmpfs, swap cache"
			      : "swapped shared memory and tmpfs, swap cache");
	put_swap_line(p, 2, "shared memory", r->swap_shmem_known, r->swap_shmem,
		      "that processes map; what several map counts for each");
	put_swap_line(p, 0, "free", meminfo_has(m, MEMINFO_SWAP_FREE), m->value[MEMINFO_SWAP_FREE],
		      NULL);
	put_swap_line(p, 0, "total", meminfo_has(m, MEMINFO_SWAP_TOTAL),
		      m->value[MEMINFO_SWAP_TOTAL], NULL);
}

static void put_last_heading(struct page *p, const char *text)
{
	if (!p->style->header)
		return;
	p->line.attr = ATTR_BOLD;
	line_blanks(&p->line, 2);
	line_ascii(&p->line, text, strlen(text));
	line_end(&p->line);
	p->line.attr = ATTR_NORMAL;
}

static void put_devices(struct page *p)
{
	static const char *const heading[] = {"SIZE", "USED", "PRIORITY", "KIND", NULL};
	static const char *const kind[] = {
		[SWAP_OTHER] = "-", [SWAP_PARTITION] = "partition", [SWAP_FILE] = "file"};
	const struct system_info *s = system_of(p);

	if (s->swaps_known && !s->swap_count)
		return;
	line_end(&p->line);
	put_header(p, NULL, heading);
	put_last_heading(p, "SWAP DEVICE");
	for (size_t i = 0; i < s->swap_count; i++) {
		const struct swap_device *d = &s->swap[i];
		char buf[FORMAT_MAX];

		put_size(p, true, (int64_t)d->size);
		put_size(p, true, (int64_t)d->used);
		put_right(p, buf, format_i64(buf, d->priority), width(p));
		put_right(p, kind[d->kind], strlen(kind[d->kind]), width(p));
		line_blanks(&p->line, 2);
		line_text(&p->line, d->name, 0);
		if (d->name_cut)
			line_printf(&p->line, TEXT_ELLIPSIS);
		line_end(&p->line);
	}
	if (s->swaps_known)
		return;
	for (int i = 0; i < 4; i++)
		put_right(p, "-", 1, width(p));
	put_right(p, "-", 1, 1);
	line_end(&p->line);
}

static void put_compressed(struct page *p)
{
	static const char *const heading[] = {"STORED", "COMPRESSED", "MEMORY", "RATIO", NULL};
	const struct system_info *s = system_of(p);
	const uint64_t *figure = s->meminfo.value;
	bool pool = meminfo_has(&s->meminfo, MEMINFO_ZSWAP_POOL);
	bool stored = meminfo_has(&s->meminfo, MEMINFO_ZSWAP_STORED);

	line_end(&p->line);
	put_header(p, NULL, heading);
	put_last_heading(p, "COMPRESSED BY");
	for (size_t i = 0; i < s->zram_count; i++) {
		const struct zram_stat *z = &s->zram[i].stat;

		put_size(p, z->stored <= INT64_MAX, (int64_t)z->stored);
		put_size(p, z->compressed <= INT64_MAX, (int64_t)z->compressed);
		put_size(p, z->used <= INT64_MAX, (int64_t)z->used);
		put_ratio(p, true, z->stored, z->compressed);
		line_blanks(&p->line, 2);
		line_text(&p->line, s->zram[i].name, 0);
		line_end(&p->line);
	}
	put_size(p, stored, (int64_t)figure[MEMINFO_ZSWAP_STORED]);
	put_size(p, false, 0);
	put_size(p, pool, (int64_t)figure[MEMINFO_ZSWAP_POOL]);
	put_ratio(p, pool && stored, figure[MEMINFO_ZSWAP_STORED], figure[MEMINFO_ZSWAP_POOL]);
	line_printf(&p->line, "  zswap");
	line_end(&p->line);
}

/* ---- the books ---- */

static void put_balance(struct page *p, const char *name, enum meminfo_figure f, bool known,
			uint64_t sum, const char *note)
{
	const struct meminfo *m = &system_of(p)->meminfo;
	bool both = known && meminfo_has(m, f);

	put_name(p, name, 0);
	put_size(p, meminfo_has(m, f), (int64_t)m->value[f]);
	put_size(p, known, (int64_t)sum);
	put_size(p, both, (int64_t)(m->value[f] - sum));
	put_note(p, note);
}

static void put_books(struct page *p)
{
	static const char *const heading[] = {"MACHINE", "PROCESSES", "LEFT OVER", NULL};
	const struct system_report *r = p->r;

	line_end(&p->line);
	put_header(p, "BOOKS", heading);
	if (p->style->header)
		line_end(&p->line);
	put_balance(p, "anonymous", MEMINFO_ANON, r->pss_anon_known, r->pss_anon,
		    "AnonPages less all PSS_ANON");
	put_balance(p, "mapped", MEMINFO_MAPPED, r->pss_mapped_known, r->pss_mapped,
		    "Mapped less all PSS_FILE and PSS_SHMEM");
	/* Never cut: its words say what is missing or wrong. */
	p->line.width = 0;
	summary_write(&p->line, r->books);
	line_end(&p->line);
}

void render_system_table(struct strbuf *out, const struct system_report *r,
			 const struct table_style *style)
{
	struct page page = {
		.line = {.out = out, .width = style->width, .color = style->color},
		.r = r,
		.style = style,
	};

	put_memory(&page);
	put_across(&page);
	put_swap(&page);
	put_devices(&page);
	put_compressed(&page);
	put_books(&page);
}
