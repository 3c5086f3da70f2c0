// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Finds what holds most of each part of RAM, and lays out the lines above a table. */
#include "report/head.h"

#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/count.h"
#include "model/account.h"
#include "write/line.h"
#include "write/format.h"
#include "write/say.h"

#define HEAD_HOLDERS OVERVIEW_HOLDERS
#define LINES_BEFORE 3 /* the sums, the bar, the headings */
/* Columns. */
#define BAR_WIDTH  36
#define TITLE	   16
#define BYTES_MAX  14
#define BAR_NARROW 5 /* the bar of a part */
#define BAR_PART   12
#define BAR_SIGN   '#'
#define MORE	   12
#define WIDE	   100 /* the width from which on the bar of a part is long */

/* ---- what holds most of a part ---- */

struct holders {
	struct head_holder item[HEAD_HOLDERS];
};

/* Keeps the largest ones. */
static void offer(struct holders *h, const char *name, uint64_t bytes)
{
	struct head_holder new = {name, bytes};

	for (int i = 0; i < HEAD_HOLDERS; i++)
		if (new.bytes > h->item[i].bytes) {
			struct head_holder next = h->item[i];

			h->item[i] = new;
			new = next;
		}
}

/* In a recording of some processes others may hold more. */
static void find_processes(const struct snapshot *s, enum counter c, struct holders *h)
{
	size_t found[OVERVIEW_HOLDERS], count = s->selection ? 0 : overview_holders(s, c, found);

	for (size_t i = 0; i < count; i++) {
		const struct process *p = &s->process[found[i]];

		offer(h, p->name ? p->name : p->comm, p->value[c]);
	}
}

static void find_cgroups(const struct ram *ram, enum zmem_charge charge, struct holders *h)
{
	for (size_t i = 0; i < ram->cgroups; i++)
		if (ram->cgroup[i].path)
			offer(h, ram->cgroup[i].path, ram->cgroup[i].bytes[charge]);
}

static void find_parts(const struct ram *ram, enum ram_class class, struct holders *h)
{
	const struct ram_figure *f = &ram->figure[class];

	for (unsigned i = 0; i < f->parts; i++)
		offer(h, ram->part[f->part + i].name, ram->part[f->part + i].bytes);
}

static void offer_classes(const struct ram *ram, const enum ram_class *class, size_t count,
			  struct holders *h)
{
	for (size_t i = 0; i < count; i++)
		if (ram->figure[class[i]].known)
			offer(h, ram_class_table[class[i]].title, ram->figure[class[i]].bytes);
}

/* Pages that processes hold by descriptors, with the process if one has most of them. */
static void offer_held(const struct ram *ram, struct holders *h)
{
	const struct ram_figure *f = &ram->figure[RAM_DESCRIPTORS];
	const struct ram_part *first = f->parts ? &ram->part[f->part] : NULL;

	if (first && first->bytes > f->bytes / 2)
		offer(h, first->name, first->bytes);
	else
		offer_classes(ram, &f->class, 1, h);
}

static void find_kernel(const struct head *h, struct holders *ret)
{
	static const enum ram_class classes[] = {RAM_SLAB,	  RAM_LARGE_KMALLOC,
						 RAM_PAGE_TABLES, RAM_KERNEL_STACKS,
						 RAM_VMALLOC,	  RAM_PERCPU};
	static const struct {
		enum account_part part;
		const char *name;
	} counter[] = {
		{ACCOUNT_SLAB_RECLAIMABLE, "slab of caches"},
		{ACCOUNT_SLAB_UNRECLAIMABLE, "other slab"},
		{ACCOUNT_PAGE_TABLES, "page tables"},
		{ACCOUNT_STACKS, "kernel stacks"},
		{ACCOUNT_VMALLOC, "vmalloc"},
		{ACCOUNT_PERCPU, "per-CPU memory"},
	};
	struct account a;

	if (h->overview.counted) {
		offer_classes(h->ram, classes, ARRAY_SIZE(classes), ret);
		offer_held(h->ram, ret);
		return;
	}
	account_split(&h->snapshot->system, &a);
	for (size_t i = 0; i < ARRAY_SIZE(counter); i++)
		if (account_has(&a, counter[i].part))
			offer(ret, counter[i].name, (uint64_t)a.value[counter[i].part]);
}

/* A zram device that is no swap has a file system, for example of /tmp or of logs. */
static bool is_swap(const struct system_info *s, const struct zram_device *device)
{
	char path[sizeof(device->name) + sizeof("/dev/")];

	snprintf(path, sizeof(path), "/dev/%s", device->name);
	for (size_t i = 0; i < s->swap_count; i++)
		if (strcmp(s->swap[i].name, path) == 0)
			return true;
	return false;
}

/* What zram and zswap hold, uncompressed. */
static void find_stored(const struct system_info *s, struct holders *ret)
{
	const struct meminfo *m = &s->meminfo;
	uint64_t swap = meminfo_has(m, MEMINFO_ZSWAP_STORED) ? m->value[MEMINFO_ZSWAP_STORED] : 0,
		 other = 0;

	for (size_t i = 0; i < s->zram_count; i++)
		*(is_swap(s, &s->zram[i]) || !s->swaps_known ? &swap : &other) +=
			s->zram[i].stat.stored;
	offer(ret, s->swaps_known ? "holds swap of" : "holds", swap);
	offer(ret, "holds files of", other);
}

/* The kernel counts such pages whole, and the part that processes map is not in this one. */
static uint64_t partly_mapped_most(const struct head *h)
{
	uint64_t bytes = h->snapshot->system.partly_mapped.bytes,
		 part = h->overview.bytes[OVERVIEW_OTHER];

	return bytes < part ? bytes : part;
}

/* Without a census only what was measured anyway is named. */
static void find_holders(const struct head *h, enum overview_part part, struct holders *ret)
{
	static const enum ram_class rest[] = {RAM_UNNAMED, RAM_NET_RINGS, RAM_GPU,
					      RAM_ANON_UNMAPPED, RAM_BALLOON};
	const struct ram *ram = h->overview.counted ? h->ram : NULL;

	if (part == OVERVIEW_PROCESSES)
		find_processes(h->snapshot, h->overview.split ? COUNTER_PSS : COUNTER_RSS_ANON,
			       ret);
	else if (part == OVERVIEW_KERNEL)
		find_kernel(h, ret);
	else if (part == OVERVIEW_COMPRESSED)
		find_stored(&h->snapshot->system, ret);
	else if (!ram && part == OVERVIEW_OTHER)
		offer(ret, "rest of huge pages, up to", partly_mapped_most(h));
	else if (ram && part == OVERVIEW_HUGE)
		find_parts(ram, RAM_HUGETLB, ret);
	else if (ram && part == OVERVIEW_OTHER)
		offer_classes(ram, rest, ARRAY_SIZE(rest), ret);
	else if (ram && part == OVERVIEW_SHMEM && ram->cgroups > 1)
		find_cgroups(ram, ZMEM_CHARGE_SHMEM, ret);
	else if (ram && part == OVERVIEW_SHMEM)
		find_parts(ram, RAM_SHMEM, ret);
	else if (!ram && part == OVERVIEW_CACHE)
		offer(ret, "dirty", h->snapshot->system.meminfo.value[MEMINFO_DIRTY]);
	else if (ram && part == OVERVIEW_CACHE && ram->cgroups > 1)
		find_cgroups(ram, ZMEM_CHARGE_FILE, ret);
	else if (ram && part == OVERVIEW_CACHE)
		find_parts(ram, RAM_PAGE_CACHE, ret);
}

/* The largest first. Returns how many. */
static size_t head_holders(const struct head *h, enum overview_part part,
			   struct head_holder ret[HEAD_HOLDERS])
{
	struct holders found = {};
	size_t count = 0;

	find_holders(h, part, &found);
	/*
	 * What is charged to a cgroup, or dirty, may also be in PSS: a holder of more than the part
	 * is left out. Compressed pages hold more than they take.
	 */
	for (size_t i = 0; i < HEAD_HOLDERS && found.item[i].bytes; i++)
		if (part == OVERVIEW_COMPRESSED || found.item[i].bytes <= h->overview.bytes[part])
			ret[count++] = found.item[i];
	return count;
}

static void say(const struct head *h, struct line *l, const struct sentences *sentences, size_t i)
{
	const struct said said = {sentences, h, NULL, h->style->bytes ? SIZES_EXACT : SIZES_SHORT};

	say_sentence(l, &said, sentences->text[i]);
}

/* "java 1.20G, nginx 20.0M", "cgroup /a 20.0M" */
static void put_held(struct line *l, const struct head_holders *holders)
{
	say_first(l, &(struct said){&head_holders_said, holders, NULL, SIZES_SHORT});
}

static void put_holders(const struct head *h, struct line *l, enum overview_part part)
{
	struct head_holder item[HEAD_HOLDERS];
	const size_t count = head_holders(h, part, item);
	const struct head_holders holders = {
		item, count, count && part != OVERVIEW_PROCESSES && *item->name == '/'};

	if (part == OVERVIEW_REST)
		line_printf(l, "hidden, or changed");
	put_held(l, &holders);
}

/* ---- lines ---- */

static const struct {
	enum line_attr attr;
	const char *more; /* the command that shows more: arguments of zmem-bpf */
} parts[OVERVIEW_PARTS] = {
	[OVERVIEW_PROCESSES] = {ATTR_GREEN, ""},
	[OVERVIEW_REST] = {ATTR_GREEN, ""},
	[OVERVIEW_SHMEM] = {ATTR_CYAN, "files"},
	[OVERVIEW_HUGE] = {ATTR_CYAN, "-s hugetlb"},
	[OVERVIEW_KERNEL] = {ATTR_BOLD, "system -l"},
	[OVERVIEW_COMPRESSED] = {ATTR_CYAN, "-s swap_ram"},
	[OVERVIEW_OTHER] = {ATTR_NORMAL, "system -l"},
	[OVERVIEW_CACHE] = {ATTR_BLUE, "files"},
	[OVERVIEW_FREE] = {ATTR_DIM, ""},
};

void head_begin(struct head *h, const struct snapshot *s, const struct ram *ram,
		const struct table_style *style)
{
	*h = (struct head){.snapshot = s, .ram = ram, .style = style};
	overview_make(s, ram, &h->overview);
}

size_t head_count(const struct head *h)
{
	return h->overview.known ? LINES_BEFORE + h->overview.parts : LINES_BEFORE - 1;
}

/* The whole, which stands out, and its parts. */
static void put_parts(const struct head *h, struct line *l, const struct sentences *sentences,
		      enum line_attr attr)
{
	l->attr = ATTR_BOLD;
	say(h, l, sentences, 0);
	l->attr = attr;
	say(h, l, sentences, 1);
	l->attr = ATTR_NORMAL;
}

/* Red is at its limit, yellow changes now: as findings, and cells of tables. */
static enum line_attr attr_of_ram(const struct head *h)
{
	const struct meminfo *m = &h->snapshot->system.meminfo;

	return meminfo_has(m, MEMINFO_AVAILABLE) &&
			       m->value[MEMINFO_AVAILABLE] < m->value[MEMINFO_TOTAL] / 20
		       ? ATTR_RED
		       : ATTR_NORMAL;
}

static enum line_attr attr_of_swap(const struct head *h)
{
	const struct meminfo *m = &h->snapshot->system.meminfo;
	uint64_t used;

	if (h->rates && (h->rates->in || h->rates->out))
		return ATTR_YELLOW;
	return meminfo_swap_used(m, &used) && used &&
			       m->value[MEMINFO_SWAP_FREE] < m->value[MEMINFO_SWAP_TOTAL] / 10
		       ? ATTR_RED
		       : ATTR_NORMAL;
}

/* Of the sums in the line above, in their order. */
static void put_bar(const struct head *h, struct line *l)
{
	const struct overview *o = &h->overview;
	const struct bar_part bar[] = {
		{"used", '|', ATTR_GREEN, o->sums_known, (int64_t)o->sums.used},
		{"can be freed", ':', ATTR_BLUE, o->sums_known, (int64_t)o->sums.freeable},
		{"free", '.', ATTR_DIM, o->sums_known, (int64_t)o->sums.free},
	};

	bar_put(l, bar, ARRAY_SIZE(bar), o->total, BAR_WIDTH);
	l->attr = system_waits(&h->snapshot->system) ? ATTR_YELLOW : ATTR_NORMAL;
	say(h, l, &head_pressure, 0);
	l->attr = ATTR_NORMAL;
}

static void put_column(struct line *l, const char *text, size_t len, unsigned width, bool right)
{
	unsigned blanks = len < width ? width - (unsigned)len : 0;

	if (right)
		line_blanks(l, blanks);
	line_ascii(l, text, len);
	line_blanks(l, 2 + (right ? 0 : blanks));
}

static unsigned bar_width(const struct head *h)
{
	return h->style->width && h->style->width < WIDE ? BAR_NARROW : BAR_PART;
}

static void put_row(const struct head *h, struct line *l, const char *title, uint64_t bytes,
		    enum overview_part look, const char *more)
{
	double share = h->overview.total ? (double)bytes / (double)h->overview.total : 0;
	unsigned bar = bar_width(h);
	unsigned filled = (unsigned)(share * bar + 0.5);
	char text[FORMAT_MAX], signs[BAR_PART];

	put_column(l, title, strlen(title), TITLE, false);
	put_column(l, text, format_bytes(text, bytes, h->style->bytes),
		   h->style->bytes ? BYTES_MAX : FORMAT_SIZE_MAX, true);
	put_column(l, text, format_percent(text, share * 100), 5, true);
	filled = filled < bar ? filled : bar;
	memset(signs, BAR_SIGN, filled);
	l->attr = parts[look].attr;
	put_column(l, signs, filled, bar, false);
	l->attr = ATTR_DIM;
	put_column(l, more, strlen(more), MORE, false);
	l->attr = ATTR_NORMAL;
}

static void put_headings(const struct head *h, struct line *l)
{
	unsigned size = h->style->bytes ? BYTES_MAX : FORMAT_SIZE_MAX;

	l->attr = ATTR_BOLD;
	line_printf(l, "%-*s  %*s  %5s  %-*s  %-*s  MOST OF IT", TITLE, "RAM", (int)size, "SIZE",
		    "%RAM", (int)bar_width(h), "", MORE, "RUN zmem-bpf");
	l->attr = ATTR_NORMAL;
}

static void put_others(const struct head *h, struct line *l, size_t first)
{
	const struct overview *o = &h->overview;
	struct head_holder item[OVERVIEW_PARTS];
	const struct head_holders others = {item, o->parts - first, false};
	char title[32];
	uint64_t sum = 0;

	for (size_t i = 0; i < others.count; i++) {
		enum overview_part part = o->order[first + i];

		item[i] = (struct head_holder){overview_part_title(o, part), o->bytes[part]};
		sum += o->bytes[part];
	}
	snprintf(title, sizeof(title), "%zu %s", others.count,
		 count_word(others.count, "other", "others"));
	put_row(h, l, title, sum, o->order[first], "system");
	put_held(l, &others);
}

void head_put(const struct head *h, struct line *l, size_t i, size_t lines)
{
	const struct overview *o = &h->overview;
	size_t part = i - LINES_BEFORE;

	if (i == 0) {
		put_parts(h, l, &head_ram, attr_of_ram(h));
	} else if (i == 1) {
		put_bar(h, l);
	} else if (i == 2) {
		put_headings(h, l);
	} else if (i + 1 == lines && part + 1 < o->parts) {
		put_others(h, l, part);
	} else {
		put_row(h, l, overview_part_title(o, o->order[part]), o->bytes[o->order[part]],
			o->order[part], parts[o->order[part]].more);
		put_holders(h, l, o->order[part]);
	}
}

void head_put_swap(const struct head *h, struct line *l)
{
	put_parts(h, l, &head_swap, attr_of_swap(h));
}

/* How much of the limit is used, up to 1. */
static double fullness(const struct head_limit *l)
{
	return 1 - (double)l->limit.left / (double)l->limit.limit;
}

/*
 * The cgroups with the fullest limits of their own, the fullest first, if cgroups were read. A
 * limit above all RAM is none. Returns how many.
 */
static size_t find_limits(const struct head *h, struct head_limit *item, size_t most)
{
	const struct snapshot *s = h->snapshot;
	size_t count = 0;

	/* A recording of some processes has their cgroups alone. */
	for (size_t i = 0; !s->selection && i < s->memcg_count; i++) {
		struct head_limit one = {.memcg = &s->memcg[i]};
		size_t at;

		if (!memcg_nearest(s->memcg, s->memcg_count, one.memcg, s->host.page_size,
				   &one.limit) ||
		    one.limit.up || !one.limit.limit || one.limit.limit > h->overview.total)
			continue;
		for (at = count; at && fullness(&item[at - 1]) < fullness(&one); at--) {
			if (at < most)
				item[at] = item[at - 1];
		}
		if (at < most)
			item[at] = one;
		count += count < most;
	}
	return count;
}

void head_find(const struct head *h, struct head_all *ret)
{
	const struct overview *o = &h->overview;

	*ret = (struct head_all){.head = h, .parts = o->parts};
	for (size_t i = 0; i < o->parts; i++) {
		const enum overview_part part = o->order[i];
		struct head_part *p = &ret->part[i];

		p->key = overview_part_name(part);
		p->title = overview_part_title(o, part);
		p->bytes = o->bytes[part];
		p->holders_known = part != OVERVIEW_PROCESSES || !h->snapshot->selection;
		p->holders = head_holders(h, part, p->holder);
	}
	ret->limits = find_limits(h, ret->limit, HEAD_LIMITS);
}

void head_print(struct strbuf *out, const struct head *h, size_t lines)
{
	struct line l = {.out = out, .width = h->style->width, .color = h->style->color};
	size_t count = head_count(h);

	count = lines < count ? lines : count;
	for (size_t i = 0; i < count; i++) {
		head_put(h, &l, i, count);
		line_end(&l);
	}
	head_put_swap(h, &l);
	line_end(&l);
}
