// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The table of the machine: the parts of RAM, swap, and whether the sums of processes agree.
 * src/query/account.c computes the parts.
 */
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "report/report.h"
#include "report/summary.h"
#include "write/grid.h"
#include "write/text.h"

/* Minimum widths of a name, a size ("1023 GiB"), exact bytes and a percentage. */
#define NAME_MIN    26
#define SIZE_MIN    10
#define BYTES_MIN   16
#define PERCENT_MIN 6

struct page {
	struct line line;
	struct grid grid; /* of the current section */
	const struct system_report *r;
	const struct table_style *style;
	char zero[512]; /* names of the parts that are 0 and have no line */
};

static const struct system_info *system_of(const struct page *p)
{
	return &p->r->balance->snapshot->system;
}

static unsigned size_width(const struct page *p)
{
	return p->style->bytes ? BYTES_MIN : SIZE_MIN;
}

/* Begins a section and prints its headings. */
static void begin_section(struct page *p, const struct grid_column *column, size_t count)
{
	p->grid = (struct grid){.style = p->style, .columns = count};
	memcpy(p->grid.column, column, count * sizeof(*column));
	grid_place(&p->grid);
	grid_print_heading(&p->grid, &p->line);
}

/* True if a part has no line, because it is 0. Its name is noted. */
static bool left_out(struct page *p, const char *name, bool known, int64_t bytes)
{
	size_t len = strlen(p->zero);

	if (p->style->wide || !known || bytes)
		return false;
	snprintf(p->zero + len, sizeof(p->zero) - len, "%s%s",
		 len ? ", " : "zero: ", name + strspn(name, " "));
	return true;
}

/* Ends a section: names the parts that are 0. */
static void end_parts(struct page *p)
{
	if (*p->zero)
		text_put_folded(p->line.out, p->zero, 0, p->style->width);
	*p->zero = '\0';
}

/* The name of a part. Names that are not indented are bold. */
static struct cell cell_name(const char *name)
{
	struct cell cell = cell_text(name);

	cell.attr = *name == ' ' ? ATTR_NORMAL : ATTR_BOLD;
	return cell;
}

static struct cell cell_note(const char *note)
{
	return (struct cell){.type = note ? CELL_TEXT : CELL_EMPTY, .attr = ATTR_DIM, .text = note};
}

static struct cell cell_share(bool known, int64_t part, bool whole_known, int64_t whole)
{
	known = known && whole_known && whole > 0;
	return cell_percent(known, known ? (double)part * 100 / (double)whole : 0);
}

static struct cell cell_ratio(bool known, uint64_t larger, uint64_t smaller)
{
	uint64_t hundredths = 0;

	known = known && account_ratio(larger, smaller, &hundredths);
	return (struct cell){.type = known ? CELL_RATIO : CELL_UNKNOWN, .bytes = hundredths};
}

/* ---- RAM ---- */

static void put_memory_row(struct page *p, const char *name, bool known, int64_t bytes,
			   const char *note)
{
	const struct account *a = &p->r->account;
	const struct cell row[] = {
		cell_name(name),
		cell_number(CELL_SIGNED, known, bytes),
		cell_share(known, bytes, account_has(a, ACCOUNT_TOTAL), a->value[ACCOUNT_TOTAL]),
		cell_note(note),
	};

	if (!left_out(p, name, known, bytes))
		grid_print_cells(&p->grid, &p->line, row);
}

static void put_part(struct page *p, enum account_part part, const char *name, const char *note)
{
	const struct account *a = &p->r->account;

	/* Few kernels have these. */
	if ((part == ACCOUNT_GPU_ACTIVE || part == ACCOUNT_GPU_RECLAIM) && !account_has(a, part) &&
	    !p->style->wide)
		return;
	put_memory_row(p, name, account_has(a, part), a->value[part], note);
}

static const char *unaccounted_note(const struct page *p)
{
	if (!account_has(&p->r->account, ACCOUNT_UNACCOUNTED))
		return NULL;
	return p->r->account.value[ACCOUNT_UNACCOUNTED] < 0 ? "counters lag, or count twice"
							    : "no counter: drivers, network";
}

/* Lines of meminfo that may be in the line above. */
static void put_unplaced(struct page *p)
{
	const struct meminfo *m = &system_of(p)->meminfo;

	for (size_t i = 0; i < m->unplaced_count; i++) {
		char name[sizeof(m->unplaced[i].name) + 2];

		snprintf(name, sizeof(name), "  %s", m->unplaced[i].name);
		put_memory_row(p, name, true, (int64_t)m->unplaced[i].bytes,
			       "may be in the line above");
	}
}

static void put_memory(struct page *p)
{
	static const struct {
		enum account_part part;
		const char *name, *note;
	} parts[] = {
		{ACCOUNT_KERNEL, "kernel", NULL},
		{ACCOUNT_SLAB_RECLAIMABLE, "  slab, reclaimable", "SReclaimable"},
		{ACCOUNT_SLAB_UNRECLAIMABLE, "  slab, unreclaimable", "SUnreclaim"},
		{ACCOUNT_PAGE_TABLES, "  page tables", "PageTables"},
		{ACCOUNT_SEC_PAGE_TABLES, "  secondary page tables", "SecPageTables"},
		{ACCOUNT_STACKS, "  stacks", "KernelStack"},
		{ACCOUNT_VMALLOC, "  vmalloc", "VmallocUsed without stacks"},
		{ACCOUNT_PERCPU, "  per CPU", "Percpu"},
		{ACCOUNT_COMPRESSED_SWAP, "  compressed swap", "zram and zswap"},
		{ACCOUNT_GPU_ACTIVE, "  GPU in use", "GPUActive"},
		{ACCOUNT_GPU_RECLAIM, "  GPU kept", "GPUReclaim: for the next use"},
		{ACCOUNT_OTHER, "  other", "KReclaimable, bounce, bad pages"},
		{ACCOUNT_USER, "user", NULL},
		{ACCOUNT_ANON, "  anonymous", "AnonPages"},
		{ACCOUNT_SHMEM, "  shared memory", "Shmem: with tmpfs"},
		{ACCOUNT_CACHE, "cache", "Cached and Buffers less Shmem"},
		{ACCOUNT_HUGETLB, "hugetlb", "Hugetlb"},
		{ACCOUNT_FREE, "free", "MemFree"},
	};
	const struct grid_column column[] = {
		{"RAM", CELL_TEXT, .left = true, .min = NAME_MIN},
		{"SIZE", CELL_SIGNED, .min = size_width(p)},
		{"%RAM", CELL_PERCENT, .min = PERCENT_MIN},
		{"", CELL_TEXT, .left = true},
	};

	begin_section(p, column, ARRAY_SIZE(column));
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		put_part(p, parts[i].part, parts[i].name, parts[i].note);
	put_part(p, ACCOUNT_UNACCOUNTED, "not accounted for", unaccounted_note(p));
	put_unplaced(p);
	put_part(p, ACCOUNT_TOTAL, "total", "MemTotal");
}

/* Prints values that overlap the parts. */
static void put_across(struct page *p)
{
	static const struct {
		enum meminfo_counter field;
		const char *name, *note;
	} across[] = {
		{MEMINFO_AVAILABLE, "  available", "MemAvailable: without swapping"},
		{MEMINFO_MAPPED, "  mapped", "Mapped: of cache, Shmem, drivers"},
		{MEMINFO_BUFFERS, "  buffers", "Buffers: block devices"},
		{MEMINFO_SWAP_CACHED, "  swap cache", "SwapCached"},
	};
	const struct meminfo *m = &system_of(p)->meminfo;
	const struct cell title[4] = {cell_name("of which")};

	grid_print_cells(&p->grid, &p->line, title);
	for (size_t i = 0; i < ARRAY_SIZE(across); i++)
		put_memory_row(p, across[i].name, meminfo_has(m, across[i].field),
			       (int64_t)m->value[across[i].field], across[i].note);
	put_memory_row(p, "  sockets", system_of(p)->sockets.known,
		       (int64_t)system_of(p)->sockets.bytes, "TCP, UDP: slab, or no counter");
	end_parts(p);
}

/* ---- swap ---- */

static void put_swap_row(struct page *p, const char *name, bool known, uint64_t bytes,
			 const char *note)
{
	const struct meminfo *m = &system_of(p)->meminfo;
	const struct cell row[] = {
		cell_name(name),
		cell_number(CELL_SIGNED, known, (int64_t)bytes),
		cell_share(known, (int64_t)bytes, meminfo_has(m, MEMINFO_SWAP_TOTAL),
			   (int64_t)m->value[MEMINFO_SWAP_TOTAL]),
		cell_note(note),
	};

	grid_print_cells(&p->grid, &p->line, row);
}

/* What swap has of files; the rest has no owner but the kernel. */
static void put_swap_files(struct page *p, const struct machine_files *f)
{
	const struct system_report *r = p->r;
	uint64_t mapped = f->shmem_swapped - f->swapped_tmpfs - f->swapped_unmapped;
	int64_t rest;

	put_swap_row(p, "    tmpfs", true, f->swapped_tmpfs, "zmem-bpf files -s swapped");
	put_swap_row(p, "    shared memory", true, mapped, "mapped by processes");
	put_swap_row(p, "    shared memory", true, f->swapped_unmapped, "not mapped");
	if (swap_rest(r, &rest)) {
		put_swap_row(p, "    swap cache", true, system_of(p)->swap_cache.bytes,
			     "of no process and no file");
		put_swap_row(p, "    others", true, (uint64_t)rest, "changed meanwhile");
		return;
	}
	put_swap_row(p, "    swap cache and others",
		     r->unattributed_known && r->unattributed >= f->shmem_swapped,
		     r->unattributed - f->shmem_swapped, "also what changed meanwhile");
}

/* What compressed swap takes in RAM, which is a part of the memory above. */
static void put_swap_ram(struct page *p)
{
	const struct system_report *r = p->r;
	const struct machine_files *f = &system_of(p)->files;

	if (!r->swap_ram_known || !(r->swap_ram || (f->swap_ram_known && f->swap_ram)))
		return;
	put_swap_row(p, "  RAM for processes", true, r->swap_ram,
		     "compressed: zmem-bpf -s swap_ram");
	put_swap_row(p, "  RAM for files", f->swap_ram_known, f->swap_ram,
		     "zmem-bpf files -s swap_ram");
}

static void put_swap_parts(struct page *p)
{
	const struct system_report *r = p->r;
	const struct machine_files *files = &system_of(p)->files;

	put_swap_row(p, "  of processes", r->swap_pss_known, r->swap_pss,
		     "SwapPss: shared entries divided");
	put_swap_row(p, "  unattributed", r->unattributed_known, r->unattributed,
		     r->balance->snapshot->collection.hidden ? "shmem, tmpfs, hidden processes"
							     : "shmem, tmpfs and swap cache");
	if (files->shmem_known)
		put_swap_files(p, files);
	else
		put_swap_row(p, "    shared memory", r->swap_shmem_known, r->swap_shmem,
			     "mapped; once for each process");
	put_swap_ram(p);
}

static void put_swap(struct page *p)
{
	const struct grid_column column[] = {
		{"SWAP", CELL_TEXT, .left = true, .min = NAME_MIN},
		{"SIZE", CELL_SIGNED, .min = size_width(p)},
		{"%SWAP", CELL_PERCENT, .min = PERCENT_MIN},
		{"", CELL_TEXT, .left = true},
	};
	const struct system_report *r = p->r;
	const struct meminfo *m = &system_of(p)->meminfo;

	line_end(&p->line);
	if (meminfo_has(m, MEMINFO_SWAP_TOTAL) && !m->value[MEMINFO_SWAP_TOTAL]) {
		line_printf(&p->line, "This machine has no swap.");
		line_end(&p->line);
		return;
	}
	begin_section(p, column, ARRAY_SIZE(column));
	put_swap_row(p, "used", r->swap_used_known, r->swap_used, NULL);
	if (!r->swap_used_known || r->swap_used || p->style->wide)
		put_swap_parts(p);
	put_swap_row(p, "free", meminfo_has(m, MEMINFO_SWAP_FREE), m->value[MEMINFO_SWAP_FREE],
		     NULL);
	put_swap_row(p, "total", meminfo_has(m, MEMINFO_SWAP_TOTAL), m->value[MEMINFO_SWAP_TOTAL],
		     NULL);
}

static void put_device(struct page *p, const struct swap_device *d)
{
	static const char *const kind[] = {[SWAP_PARTITION] = "partition", [SWAP_FILE] = "file"};
	struct cell row[] = {
		cell_bytes(true, d->size),
		cell_bytes(true, d->used),
		cell_number(CELL_COUNT, true, d->priority),
		cell_text(d->kind == SWAP_OTHER ? NULL : kind[d->kind]),
		cell_text(d->name),
	};

	row[4].cut = d->name_cut;
	grid_print_cells(&p->grid, &p->line, row);
}

static void put_devices(struct page *p)
{
	static const struct cell unknown = {.type = CELL_UNKNOWN};
	unsigned size = size_width(p);
	const struct grid_column column[] = {
		{"SIZE", CELL_BYTES, .min = size + 2},	  {"USED", CELL_BYTES, .min = size},
		{"PRIORITY", CELL_COUNT, .min = size},	  {"KIND", CELL_TEXT, .min = size},
		{"SWAP DEVICE", CELL_TEXT, .left = true},
	};
	const struct system_info *s = system_of(p);

	if (s->swaps_known && !s->swap_count)
		return;
	line_end(&p->line);
	begin_section(p, column, ARRAY_SIZE(column));
	for (size_t i = 0; i < s->swap_count; i++)
		put_device(p, &s->swap[i]);
	if (!s->swaps_known)
		grid_print_cells(&p->grid, &p->line,
				 (struct cell[]){unknown, unknown, unknown, unknown, unknown});
}

/* Why USED of a device is more than STORED (swap_writeout(), mm/page_io.c). */
static const char stored_note[] =
	"STORED is what was written to it. USED also has slots that were not: of pages full of "
	"zeros, and of pages that are in zswap.";

static void put_compressed(struct page *p)
{
	unsigned size = size_width(p);
	const struct grid_column column[] = {
		{"STORED", CELL_BYTES, .min = size + 2},
		{"COMPRESSED", CELL_BYTES, .min = size},
		{"MEMORY", CELL_BYTES, .min = size},
		{"RATIO", CELL_RATIO, .min = PERCENT_MIN},
		{"COMPRESSED BY", CELL_TEXT, .left = true},
	};
	const struct system_info *s = system_of(p);
	uint64_t stored = s->meminfo.value[MEMINFO_ZSWAP_STORED];
	uint64_t pool = s->meminfo.value[MEMINFO_ZSWAP_POOL];
	bool stored_known = meminfo_has(&s->meminfo, MEMINFO_ZSWAP_STORED);
	bool pool_known = meminfo_has(&s->meminfo, MEMINFO_ZSWAP_POOL);
	const struct cell zswap[] = {
		cell_bytes(stored_known, stored),
		cell_bytes(false, 0),
		cell_bytes(pool_known, pool),
		cell_ratio(stored_known && pool_known, stored, pool),
		cell_text("zswap"),
	};

	bool zswap_used = (stored_known && stored) || (pool_known && pool) || p->style->wide;

	if (!s->zram_count && !zswap_used)
		return;
	line_end(&p->line);
	begin_section(p, column, ARRAY_SIZE(column));
	for (size_t i = 0; i < s->zram_count; i++) {
		const struct zram_stat *z = &s->zram[i].stat;
		const struct cell row[] = {
			cell_bytes(z->stored <= INT64_MAX, z->stored),
			cell_bytes(z->compressed <= INT64_MAX, z->compressed),
			cell_bytes(z->used <= INT64_MAX, z->used),
			cell_ratio(true, z->stored, z->compressed),
			cell_text(s->zram[i].name),
		};

		grid_print_cells(&p->grid, &p->line, row);
	}
	if (zswap_used)
		grid_print_cells(&p->grid, &p->line, zswap);
	if (s->swap_count)
		text_put_folded(p->line.out, stored_note, 0, p->style->width);
}

/* ---- whether the machine and its files agree ---- */

static void put_files_account(struct page *p, const char *name, enum file_account account,
			      uint64_t sum, const char *note)
{
	uint64_t kernel = 0;
	bool has = files_kernel_sum(&system_of(p)->meminfo, account, &kernel);
	const struct cell row[] = {
		cell_text(name),
		cell_number(CELL_SIGNED, has, (int64_t)kernel),
		cell_number(CELL_SIGNED, true, (int64_t)sum),
		cell_number(CELL_SIGNED, has, (int64_t)(kernel - sum)),
		cell_note(note),
	};

	grid_print_cells(&p->grid, &p->line, row);
}

/* Shared memory of one kind that no process maps. */
static void put_unmapped(struct page *p, enum file_kind kind)
{
	const uint64_t bytes = system_of(p)->files.unmapped[kind];
	char name[NAME_MIN];
	const struct cell row[] = {
		cell_text(name),
		{.type = CELL_EMPTY},
		cell_number(CELL_SIGNED, true, (int64_t)bytes),
		{.type = CELL_EMPTY},
		cell_note("not mapped"),
	};

	snprintf(name, sizeof(name), "  of which %s", file_kind_name(kind));
	if (bytes)
		grid_print_cells(&p->grid, &p->line, row);
}

static void put_files(struct page *p)
{
	unsigned size = size_width(p);
	const struct grid_column column[] = {
		{"FILES", CELL_TEXT, .left = true, .min = NAME_MIN},
		{"MACHINE", CELL_SIGNED, .min = size},
		{"FILES", CELL_SIGNED, .min = size},
		{"LEFT OVER", CELL_SIGNED, .min = size},
		{"", CELL_TEXT, .left = true},
	};
	const struct machine_files *f = &system_of(p)->files;

	if (!f->shmem_known)
		return;
	line_end(&p->line);
	begin_section(p, column, ARRAY_SIZE(column));
	put_files_account(p, "shared memory", FILE_IN_SHMEM, f->shmem, "Shmem");
	for (int kind = 0; kind < FILE_KINDS; kind++)
		put_unmapped(p, (enum file_kind)kind);
	if (f->cache_known)
		put_files_account(p, "page cache", FILE_IN_CACHE, f->cache, NULL);
}

/* ---- whether the machine and its processes agree ---- */

static void put_balance_row(struct page *p, const char *name, enum meminfo_counter field,
			    bool known, uint64_t sum)
{
	const struct meminfo *m = &system_of(p)->meminfo;
	bool has = meminfo_has(m, field);
	const struct cell row[] = {
		cell_text(name),
		cell_number(CELL_SIGNED, has, (int64_t)m->value[field]),
		cell_number(CELL_SIGNED, known, (int64_t)sum),
		cell_number(CELL_SIGNED, known && has, (int64_t)(m->value[field] - sum)),
	};

	grid_print_cells(&p->grid, &p->line, row);
}

static void put_balance(struct page *p)
{
	unsigned size = size_width(p);
	const struct grid_column column[] = {
		{"BALANCE", CELL_TEXT, .left = true, .min = NAME_MIN},
		{"MACHINE", CELL_SIGNED, .min = size},
		{"PROCESSES", CELL_SIGNED, .min = size},
		{"LEFT OVER", CELL_SIGNED, .min = size},
	};
	const struct system_report *r = p->r;

	line_end(&p->line);
	begin_section(p, column, ARRAY_SIZE(column));
	put_balance_row(p, "anonymous", MEMINFO_ANON, r->pss_anon_known, r->pss_anon);
	put_balance_row(p, "mapped", MEMINFO_MAPPED, r->pss_mapped_known, r->pss_mapped);
	summary_print(p->line.out, r->balance, p->style->width, NULL);
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
	put_files(&page);
	put_balance(&page);
}
