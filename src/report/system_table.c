// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The table of the machine: the parts of RAM, swap, and whether the sums of processes agree.
 * src/model/account.c computes the parts.
 */
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "report/report.h"
#include "report/summary.h"
#include "write/field_text.h"
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
	struct value whole; /* of the shares in the current section */
	char zero[512];	    /* names of the parts that are 0 and have no line */
};

static const struct system_info *system_of(const struct page *p)
{
	return &p->r->snapshot->system;
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
	return (struct cell){
		.type = *note ? CELL_TEXT : CELL_EMPTY, .attr = ATTR_DIM, .text = note};
}

static struct cell cell_size(struct value v)
{
	return cell_number(CELL_SIGNED, v.known, v.number);
}

static struct cell cell_share(struct value part, struct value whole)
{
	bool known = part.known && whole.known && whole.number > 0;

	return cell_percent(known, known ? (double)part.number * 100 / (double)whole.number : 0);
}

/* ---- sections with a line for each part of a whole ---- */

static void begin_parts(struct page *p, const char *name, const char *share, struct value whole)
{
	const struct grid_column column[] = {
		{name, CELL_TEXT, .left = true, .min = NAME_MIN},
		{"SIZE", CELL_SIGNED, .min = size_width(p)},
		{share, CELL_PERCENT, .min = PERCENT_MIN},
		{"", CELL_TEXT, .left = true},
	};

	p->whole = whole;
	begin_section(p, column, ARRAY_SIZE(column));
}

static void put_part(struct page *p, const char *name, struct value v, const char *note)
{
	const struct cell row[] = {cell_name(name), cell_size(v), cell_share(v, p->whole),
				   cell_note(note)};

	grid_print_cells(&p->grid, &p->line, row);
}

/* ---- RAM ---- */

static void put_memory(struct page *p, const char *name, struct value v, const char *note)
{
	if (!left_out(p, name, v.known, v.number))
		put_part(p, name, v, note);
}

static void put_memory_field(struct page *p, const struct field *f, const void *row)
{
	put_memory(p, f->heading, field_value(f, row, NULL), f->note ? f->note : f->help);
}

static void put_unaccounted(struct page *p, const struct field *f)
{
	struct value v = field_value(f, &p->r->account, NULL);

	put_memory(p, f->heading, v,
		   !v.known	  ? ""
		   : v.number < 0 ? "counters lag, or count twice"
				  : "no counter: drivers, network");
}

/* Lines of meminfo that may be in the line above. */
static void put_unplaced(struct page *p)
{
	const struct meminfo *m = &system_of(p)->meminfo;

	for (size_t i = 0; i < m->unplaced_count; i++) {
		char name[sizeof(m->unplaced[i].name) + 2];

		snprintf(name, sizeof(name), "  %s", m->unplaced[i].name);
		put_memory(p, name, value_bytes(true, m->unplaced[i].bytes),
			   "may be in the line above");
	}
}

/* Few kernels have these. */
static bool is_rare(const struct field *f)
{
	return f->counter == ACCOUNT_GPU_ACTIVE || f->counter == ACCOUNT_GPU_RECLAIM;
}

static void put_ram(struct page *p)
{
	const struct account *a = &p->r->account;

	begin_parts(p, "RAM", "%RAM",
		    value_signed(account_has(a, ACCOUNT_TOTAL), a->value[ACCOUNT_TOTAL]));
	for (size_t i = 0; i < system_ram.count; i++) {
		const struct field *f = system_ram.item[i];

		if (is_rare(f) && !account_has(a, (enum account_part)f->counter) && !p->style->wide)
			continue;
		if (f->counter != ACCOUNT_UNACCOUNTED) {
			put_memory_field(p, f, a);
			continue;
		}
		put_unaccounted(p, f);
		put_unplaced(p);
	}
}

/* Prints values that overlap the parts. */
static void put_across(struct page *p)
{
	const struct cell title[4] = {cell_name("of which")};

	grid_print_cells(&p->grid, &p->line, title);
	for (size_t i = 0; i < system_across.count; i++)
		put_memory_field(p, system_across.item[i], system_of(p));
	end_parts(p);
}

/* ---- swap ---- */

static void put_field(struct page *p, const struct fields *all, const char *key, const void *row)
{
	const struct field *f = fields_find(all, key, strlen(key));

	put_part(p, f->heading, field_value(f, row, NULL), f->note ? f->note : f->help);
}

static void put_swap_field(struct page *p, const char *key)
{
	put_field(p, &system_swap, key, p->r);
}

/* What swap has of files; the rest has no owner but the kernel. */
static void put_swap_files(struct page *p, const struct machine_files *f)
{
	const struct system_report *r = p->r;
	uint64_t mapped = f->shmem_swapped - f->swapped_tmpfs - f->swapped_unmapped;
	int64_t rest;

	put_field(p, &system_files, "swap_tmpfs_bytes", system_of(p));
	put_part(p, "    shared memory", value_bytes(true, mapped), "mapped by processes");
	put_field(p, &system_files, "swap_shmem_unmapped_bytes", system_of(p));
	if (swap_rest(r, &rest)) {
		put_swap_field(p, "swap_cache_bytes");
		put_swap_field(p, "rest_bytes");
		return;
	}
	put_part(p, "    swap cache and others",
		 value_bytes(r->unattributed_known && r->unattributed >= f->shmem_swapped,
			     r->unattributed - f->shmem_swapped),
		 "also what changed meanwhile");
}

/* What compressed swap takes in RAM, which is a part of the memory above. */
static void put_swap_ram(struct page *p)
{
	const struct system_report *r = p->r;
	const struct machine_files *f = &system_of(p)->files;

	if (!r->swap_ram_known || !(r->swap_ram || (f->swap_ram_known && f->swap_ram)))
		return;
	put_swap_field(p, "swap_ram_bytes");
	put_swap_field(p, "swap_ram_files_bytes");
}

static void put_swap_parts(struct page *p)
{
	const struct machine_files *files = &system_of(p)->files;

	put_swap_field(p, "swap_pss_bytes");
	if (p->r->snapshot->collection.hidden)
		put_part(p, "  unattributed",
			 value_bytes(p->r->unattributed_known, p->r->unattributed),
			 "shmem, tmpfs, hidden processes");
	else
		put_swap_field(p, "unattributed_bytes");
	if (files->shmem_known)
		put_swap_files(p, files);
	else
		put_swap_field(p, "swap_shmem_bytes");
	put_swap_ram(p);
}

static void put_swap(struct page *p)
{
	const struct system_report *r = p->r;
	const struct meminfo *m = &system_of(p)->meminfo;
	struct value total =
		value_bytes(meminfo_has(m, MEMINFO_SWAP_TOTAL), m->value[MEMINFO_SWAP_TOTAL]);

	line_end(&p->line);
	if (total.known && !total.bytes) {
		line_printf(&p->line, "This machine has no swap.");
		line_end(&p->line);
		return;
	}
	begin_parts(p, "SWAP", "%SWAP", total);
	put_swap_field(p, "used_bytes");
	if (!r->swap_used_known || r->swap_used || p->style->wide)
		put_swap_parts(p);
	put_swap_field(p, "free_bytes");
	put_swap_field(p, "total_bytes");
}

/* ---- devices ---- */

#define COLUMNS_MOST 5

/* Sizes and a name. */
static void begin_rows(struct page *p, const struct fields *columns)
{
	struct grid_column column[COLUMNS_MOST];
	unsigned size = size_width(p);

	for (size_t i = 0; i < columns->count; i++) {
		const struct field *f = columns->item[i];

		column[i] = (struct grid_column){
			.heading = f->heading,
			.type = cell_type_of(f),
			.min = f->type == FIELD_RATIO ? PERCENT_MIN : size + (i ? 0 : 2)};
	}
	column[columns->count - 1].left = true;
	column[columns->count - 1].min = 0;
	line_end(&p->line);
	begin_section(p, column, columns->count);
}

/* `row` NULL: nothing is known. */
static void put_row(struct page *p, const struct fields *columns, const void *row)
{
	struct cell cell[COLUMNS_MOST];

	for (size_t i = 0; i < columns->count; i++) {
		const struct field *f = columns->item[i];
		struct value v = row ? field_value(f, row, NULL) : (struct value){};

		cell[i] = cell_of_value(f, v);
		cell[i].cut = v.cut;
	}
	grid_print_cells(&p->grid, &p->line, cell);
}

static void put_devices(struct page *p)
{
	const struct system_info *s = system_of(p);

	if (s->swaps_known && !s->swap_count)
		return;
	begin_rows(p, &system_devices);
	for (size_t i = 0; i < s->swap_count; i++)
		put_row(p, &system_devices, &s->swap[i]);
	if (!s->swaps_known)
		put_row(p, &system_devices, NULL);
}

/* Why USED of a device is more than STORED (swap_writeout(), mm/page_io.c). */
static const char stored_note[] =
	"STORED is what was written to it. USED also has slots that were not: of pages full of "
	"zeros, and of pages that are in zswap.";

static void put_compressed(struct page *p)
{
	const struct system_info *s = system_of(p);
	const struct field *const *f = system_zswap.item;
	struct value pool = field_value(f[0], s, NULL), stored = field_value(f[1], s, NULL);
	const struct cell zswap[] = {
		cell_of_value(f[1], stored), cell_bytes(false, 0),
		cell_of_value(f[0], pool),   cell_of_value(f[2], field_value(f[2], s, NULL)),
		cell_text("zswap"),
	};
	bool zswap_used =
		(stored.known && stored.bytes) || (pool.known && pool.bytes) || p->style->wide;

	if (!s->zram_count && !zswap_used)
		return;
	begin_rows(p, &system_compressed);
	for (size_t i = 0; i < s->zram_count; i++)
		put_row(p, &system_compressed, &s->zram[i]);
	if (zswap_used)
		grid_print_cells(&p->grid, &p->line, zswap);
	if (s->swap_count)
		text_put_folded(p->line.out, stored_note, 0, p->style->width);
}

/* ---- whether the machine agrees with its files and with its processes ---- */

static void begin_balance(struct page *p, const char *name, const char *sum)
{
	unsigned size = size_width(p);
	const struct grid_column column[] = {
		{name, CELL_TEXT, .left = true, .min = NAME_MIN},
		{"MACHINE", CELL_SIGNED, .min = size},
		{sum, CELL_SIGNED, .min = size},
		{"LEFT OVER", CELL_SIGNED, .min = size},
		{"", CELL_TEXT, .left = true},
	};

	line_end(&p->line);
	begin_section(p, column, ARRAY_SIZE(column));
}

static void put_balance(struct page *p, const char *name, struct value kernel, struct value sum,
			const char *note)
{
	const struct cell row[] = {
		cell_text(name),
		cell_size(kernel),
		cell_size(sum),
		cell_size(value_signed(kernel.known && sum.known,
				       (int64_t)(kernel.bytes - sum.bytes))),
		cell_note(note),
	};

	grid_print_cells(&p->grid, &p->line, row);
}

static void put_files_account(struct page *p, const char *name, enum file_account account,
			      uint64_t sum, const char *note)
{
	uint64_t kernel = 0;
	bool has = files_kernel_sum(&system_of(p)->meminfo, account, &kernel);

	put_balance(p, name, value_bytes(has, kernel), value_bytes(true, sum), note);
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
	const struct machine_files *f = &system_of(p)->files;

	if (!f->shmem_known)
		return;
	begin_balance(p, "FILES", "FILES");
	put_files_account(p, "shared memory", FILE_IN_SHMEM, f->shmem, "Shmem");
	for (int kind = 0; kind < FILE_KINDS; kind++)
		put_unmapped(p, (enum file_kind)kind);
	if (f->cache_known)
		put_files_account(p, "page cache", FILE_IN_CACHE, f->cache, "");
}

static void put_processes(struct page *p)
{
	const struct system_report *r = p->r;
	const struct meminfo *m = &system_of(p)->meminfo;

	begin_balance(p, "BALANCE", "PROCESSES");
	put_balance(p, "anonymous",
		    value_bytes(meminfo_has(m, MEMINFO_ANON), m->value[MEMINFO_ANON]),
		    value_bytes(r->pss_anon_known, r->pss_anon), "");
	put_balance(p, "mapped",
		    value_bytes(meminfo_has(m, MEMINFO_MAPPED), m->value[MEMINFO_MAPPED]),
		    value_bytes(r->pss_mapped_known, r->pss_mapped), "");
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

	put_ram(&page);
	put_across(&page);
	put_swap(&page);
	put_devices(&page);
	put_compressed(&page);
	put_files(&page);
	put_processes(&page);
}
