// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The table of the machine: the parts of RAM, swap, and whether the sums of processes agree.
 * src/model/account.c computes the parts.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/count.h"
#include "fields/gpu_fields.h"
#include "fields/system_said.h"
#include "report/findings.h"
#include "report/head.h"
#include "report/report.h"
#include "report/summary.h"
#include "write/field_text.h"
#include "write/format.h"
#include "write/say.h"
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

/* Sentences of the machine, folded: a reason or a command is never cut. */
static void say_of(struct page *p, const struct sentences *sentences)
{
	const struct said said = {sentences, p->r, NULL, p->style->bytes};

	say_all(p->line.out, &said, 0, p->style->width);
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

/* ---- sections with a line for each row ---- */

#define COLUMNS_MOST 8

/* Sizes and a name; `size`: the minimum width of a size. */
static void begin_rows(struct page *p, const struct fields *columns, unsigned size)
{
	struct grid_column column[COLUMNS_MOST];

	for (size_t i = 0; i < columns->count; i++) {
		const struct field *f = columns->item[i];

		column[i] = (struct grid_column){
			.heading = f->heading,
			.type = cell_type_of(f),
			.min = f->type == FIELD_RATIO	? PERCENT_MIN
			       : f->type == FIELD_BYTES ? size + (i ? 0 : 2)
			       : f->type == FIELD_TEXT	? sizeof("partition") - 1
							: 0};
	}
	column[columns->count - 1].left = column[columns->count - 1].middle = true;
	column[columns->count - 1].min = 0;
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

/* ---- RAM ---- */

static struct value figure_value(const struct ram_figure *f)
{
	return value_bytes(f->known, f->bytes);
}

static bool figure_exists(const struct ram_figure *f)
{
	return f->exists || f->reason;
}

static uint64_t total_of(const struct system_report *r)
{
	const struct meminfo *m = &r->snapshot->system.meminfo;

	return meminfo_has(m, MEMINFO_TOTAL) ? m->value[MEMINFO_TOTAL] : 0;
}

static bool is_outside(const struct system_report *r, enum ram_class class)
{
	return ram_is_outside(r->ram, class, total_of(r));
}

/*
 * The classes of MemTotal, the largest first; those that are not known come last. Returns how many.
 */
static size_t sort_figures(const struct page *p, const struct ram_figure *ret[RAM_CLASSES])
{
	size_t count = 0;

	for (int i = 0; i < RAM_CLASSES; i++) {
		const struct ram_figure *f = &p->r->ram->figure[i];
		size_t at = count;

		if (!figure_exists(f) || is_outside(p->r, (enum ram_class)i))
			continue;
		while (at && (f->known ? f->bytes + 1 : 0) >
				     (ret[at - 1]->known ? ret[at - 1]->bytes + 1 : 0)) {
			ret[at] = ret[at - 1];
			at--;
		}
		ret[at] = f;
		count++;
	}
	return count;
}

static void begin_ram(struct page *p)
{
	const struct ram *ram = p->r->ram;

	p->whole = value_bytes(ram->known, ram->frames - ram_outside(ram, total_of(p->r)));
}

/* ---- the long form ---- */

static void put_figure(struct page *p, const char *name, const struct ram_figure *f)
{
	const char *counter = ram_counter_name(p->r->ram, f->class);
	const struct cell row[] = {
		cell_name(name),
		cell_size(figure_value(f)),
		cell_share(figure_value(f), p->whole),
		cell_size(value_bytes(f->known && f->sampled, f->error)),
		cell_size(value_bytes(f->has_counter, f->counter)),
		cell_size(
			value_signed(f->known && f->has_counter, (int64_t)(f->bytes - f->counter))),
		cell_note(f->reason ? f->reason
			  : counter ? counter
				    : ""),
	};

	grid_print_cells(&p->grid, &p->line, row);
	for (unsigned i = 0; i < f->parts; i++) {
		const struct ram_part *part = &p->r->ram->part[f->part + i];
		char part_name[RAM_NAME + 4];
		struct cell cells[ARRAY_SIZE(row)] = {};

		snprintf(part_name, sizeof(part_name), "  %s", part->name);
		for (size_t c = 0; c < ARRAY_SIZE(cells); c++)
			cells[c] = (struct cell){.type = CELL_EMPTY};
		cells[0] = cell_name(part_name);
		cells[1] = cell_size(value_bytes(true, part->bytes));
		cells[2] = cell_share(value_bytes(true, part->bytes), p->whole);
		grid_print_cells(&p->grid, &p->line, cells);
	}
}

#define BESIDES "besides: "

/* Frames that MemTotal leaves out. */
static void put_outside(struct page *p)
{
	for (int i = 0; i < RAM_CLASSES; i++) {
		const struct ram_figure *f = &p->r->ram->figure[i];
		char name[RAM_NAME];

		if (!is_outside(p->r, (enum ram_class)i) || !figure_exists(f) ||
		    (f->known && !f->bytes))
			continue;
		snprintf(name, sizeof(name), BESIDES "%s", ram_class_table[i].title);
		put_figure(p, name, f);
	}
}

static void put_ram_long(struct page *p)
{
	const struct ram *ram = p->r->ram;
	const bool counters = ram->method == RAM_COUNTERS;
	const unsigned size = p->style->bytes ? BYTES_MIN : FORMAT_SIZE_MAX;
	const struct grid_column column[] = {
		{"RAM", CELL_TEXT, .left = true, .min = NAME_MIN + SIZE_MIN - FORMAT_SIZE_MAX,
		 .max = p->style->wide ? 0 : NAME_MIN + SIZE_MIN - FORMAT_SIZE_MAX},
		{"SIZE", CELL_SIGNED, .min = size},
		{"%RAM", CELL_PERCENT, .min = PERCENT_MIN},
		{"+-", CELL_SIGNED, .min = size, .hidden = ram->method != RAM_SAMPLE},
		{"COUNTER", CELL_SIGNED, .min = size, .hidden = counters},
		{"DIFFERENCE", CELL_SIGNED, .min = size, .hidden = counters},
		{"COUNTED BY", CELL_TEXT, .left = true},
	};
	const struct ram_figure *figure[RAM_CLASSES];
	size_t count = sort_figures(p, figure);

	begin_ram(p);
	begin_section(p, column, ARRAY_SIZE(column));
	for (size_t i = 0; i < count; i++)
		put_figure(p, ram_class_table[figure[i]->class].title, figure[i]);
	put_figure(p, "total",
		   &(struct ram_figure){.class = RAM_UNNAMED,
					.known = ram->known,
					.bytes = (uint64_t)p->whole.number});
	for (int i = RAM_CLASSES; i < RAM_FIGURES; i++) {
		char name[RAM_NAME];

		snprintf(name, sizeof(name), "of which %s", ram_class_table[i].title);
		put_figure(p, name, &ram->figure[i]);
	}
	put_outside(p);
}

/* Lines of meminfo that may be in one of the classes, or outside of RAM. */
static void put_unplaced(struct page *p)
{
	const struct meminfo *m = &system_of(p)->meminfo;

	for (size_t i = 0; i < m->unplaced_count; i++)
		put_part(p, m->unplaced[i].name, value_bytes(true, m->unplaced[i].bytes),
			 "in /proc/meminfo; may be in a line above");
}

/* Prints values that overlap the classes. */
static void put_across(struct page *p)
{
	line_end(&p->line);
	begin_parts(p, "OTHER COUNTERS", "%RAM", p->whole);
	for (size_t i = 0; i < system_across.count; i++) {
		const struct field *f = system_across.item[i];
		struct value v = field_value(f, system_of(p), NULL);

		put_part(p, f->heading, v, f->note ? f->note : f->help);
	}
	put_unplaced(p);
}

/* ---- how it was counted; cgroups and nodes ---- */

/* So many cgroups have a line of their own, unless all are asked for. */
#define CGROUPS_SHOWN 20

static const char freeing[] =
	"A deleted cgroup is one that was removed while pages were charged to it. The kernel frees "
	"it with the last of them. What frees page cache: sync; echo 1 > "
	"/proc/sys/vm/drop_caches, or with cgroup v2 a size written to memory.reclaim of the "
	"cgroup above it. What frees shared memory: removing its files.";

static void put_cgroups(struct page *p)
{
	const struct ram *ram = p->r->ram;
	struct census_cgroup rest[] = {{}, {.deleted = true}},
			     gone = {.path = "all deleted ones", .deleted = true};
	char name[32];
	size_t left[ARRAY_SIZE(rest)] = {}, deleted = 0;

	say_of(p, &system_no_cgroups_said);
	if (!ram->cgroup || !ram->cgroups)
		return;
	begin_rows(p, &system_cgroups, p->style->bytes ? BYTES_MIN : FORMAT_SIZE_MAX);
	for (size_t i = 0; i < ram->cgroups; i++) {
		const struct census_cgroup *c = &ram->cgroup[i];

		for (int k = 0; c->deleted && k < ZMEM_CHARGES; k++)
			gone.bytes[k] += c->bytes[k];
		deleted += c->deleted;
		if (i < CGROUPS_SHOWN || p->r->all) {
			put_row(p, &system_cgroups, c);
			continue;
		}
		for (int k = 0; k < ZMEM_CHARGES; k++)
			rest[c->deleted].bytes[k] += c->bytes[k];
		left[c->deleted]++;
	}
	for (size_t i = 0; i < ARRAY_SIZE(rest); i++) {
		snprintf(name, sizeof(name), "(%zu %s: -l)", left[i],
			 count_word(left[i], "other", "others"));
		rest[i].path = name;
		if (left[i])
			put_row(p, &system_cgroups, &rest[i]);
	}
	if (deleted > 1)
		put_row(p, &system_cgroups, &gone);
	if (deleted)
		text_put_folded(p->line.out, freeing, 0, p->style->width);
	say_of(p, &system_method_said);
}

/* `outside`: those that MemTotal leaves out. */
static void put_node_classes(struct page *p, size_t shown, bool outside)
{
	const struct ram_node *node = p->r->ram->node;
	char name[RAM_NAME];

	for (size_t c = 0; c < node[0].classes; c++) {
		enum ram_class class = node[0].class[c].class;
		struct cell row[2 + NODES_SHOWN];

		if (is_outside(p->r, class) != outside ||
		    (outside && !p->r->ram->figure[class].bytes))
			continue;
		snprintf(name, sizeof(name), "%s%s", outside ? BESIDES : "",
			 ram_class_table[class].title);
		row[0] = cell_name(name);
		for (size_t n = 0; n < shown; n++)
			row[1 + n] = cell_size(value_bytes(true, node[n].class[c].bytes));
		row[1 + shown] = (struct cell){.type = CELL_EMPTY};
		grid_print_cells(&p->grid, &p->line, row);
	}
}

static void put_node_total(struct page *p, size_t shown)
{
	struct cell row[2 + NODES_SHOWN] = {cell_name("total")};

	for (size_t n = 0; n < shown; n++) {
		const struct ram_node *node = &p->r->ram->node[n];
		uint64_t sum = 0;

		for (size_t c = 0; c < node->classes; c++)
			sum += is_outside(p->r, node->class[c].class) ? 0 : node->class[c].bytes;
		row[1 + n] = cell_size(value_bytes(true, sum));
	}
	row[1 + shown] = (struct cell){.type = CELL_EMPTY};
	grid_print_cells(&p->grid, &p->line, row);
}

static void put_nodes(struct page *p)
{
	const struct ram *ram = p->r->ram;
	struct grid_column column[2 + NODES_SHOWN] = {
		{"RAM", CELL_TEXT, .left = true, .min = NAME_MIN}};
	char heading[NODES_SHOWN][16];
	size_t shown = ram->nodes < NODES_SHOWN ? ram->nodes : NODES_SHOWN;

	say_of(p, &system_no_nodes_said);
	if (!ram->node)
		return;
	for (size_t n = 0; n < shown; n++) {
		snprintf(heading[n], sizeof(heading[n]), "NODE%u", ram->node[n].node);
		column[1 + n] = (struct grid_column){heading[n], CELL_SIGNED, .min = size_width(p)};
	}
	column[1 + shown] = (struct grid_column){"", CELL_TEXT, .left = true};
	begin_section(p, column, shown + 2);
	put_node_classes(p, shown, false);
	put_node_total(p, shown);
	put_node_classes(p, shown, true);
	say_of(p, &system_nodes_said);
	say_of(p, &system_method_said);
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
	if (!r->swap_used_known || r->swap_used || p->r->all)
		put_swap_parts(p);
	put_swap_field(p, "free_bytes");
	put_swap_field(p, "total_bytes");
}

/* ---- devices ---- */

static void put_devices(struct page *p)
{
	const struct system_info *s = system_of(p);

	if (s->swaps_known && !s->swap_count)
		return;
	line_end(&p->line);
	begin_rows(p, &system_devices, size_width(p));
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
	bool zswap_used = (stored.known && stored.bytes) || (pool.known && pool.bytes) || p->r->all;

	if (!s->zram_count && !zswap_used)
		return;
	line_end(&p->line);
	begin_rows(p, &system_compressed, size_width(p));
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
	summary_print(p->line.out, r->balance, p->style);
}

/* ---- GPUs ---- */

static void put_gpus(struct page *p)
{
	const struct gpu_regions *all = p->r->snapshot->gpu.sums;

	if (all && all->count) {
		line_end(&p->line);
		begin_rows(p, &gpu_columns, size_width(p));
		for (uint32_t i = 0; i < all->count; i++)
			put_row(p, &gpu_columns, &all->item[i]);
	}
	say_of(p, &system_gpus_said);
}

/* ---- the short form ---- */

/* So many lines leave room for the lines below on a screen of 24. */
#define HEAD_LINES 14

/* Hints, which are normal for many, come below. */
static void put_hints(struct page *p, const struct findings *all)
{
	const size_t first = findings_down_to(all, FINDING_WARNING);

	for (size_t i = first; i < all->count; i++)
		finding_print(p->line.out, &all->item[i], p->style);
}

static void put_short(struct page *p, const struct findings *findings)
{
	struct table_style style = *p->style;
	struct head head;

	style.head = true;
	head_begin(&head, p->r->snapshot, p->r->ram, &style);
	head_print(p->line.out, &head, HEAD_LINES);
	put_hints(p, findings);
	say_of(p, &system_gpus_said);
	say_of(p, &system_held_said);
	say_of(p, &system_method_said);
	summary_print(p->line.out, p->r->balance, &style);
	if (!p->r->snapshot->recorded)
		findings_print_next(p->line.out, findings, FINDING_HINT, p->r->self, style.width);
}

static void put_long(struct page *p, const struct findings *findings)
{
	put_ram_long(p);
	put_hints(p, findings);
	say_of(p, &system_held_said);
	say_of(p, &system_method_said);
	put_across(p);
	put_swap(p);
	put_devices(p);
	put_compressed(p);
	put_gpus(p);
	put_files(p);
	put_processes(p);
}

void render_system_table(struct strbuf *out, const struct system_report *r,
			 const struct table_style *style)
{
	cleanup_free struct findings *findings = NULL;
	struct page page = {
		.line = {.out = out, .width = style->width, .color = style->color},
		.r = r,
		.style = style,
	};

	if (r->cgroups || r->nodes) {
		if (r->cgroups)
			put_cgroups(&page);
		else
			put_nodes(&page);
		return;
	}
	findings = malloc(sizeof(*findings));
	if (!findings) {
		out->error = -ENOMEM;
		return;
	}
	findings_find(r->snapshot, NULL, findings);
	findings_print(out, findings, FINDING_WARNING, r->verbose ? SIZE_MAX : FINDINGS_FIRST,
		       style);
	if (r->all)
		put_long(&page, findings);
	else
		put_short(&page, findings);
}
