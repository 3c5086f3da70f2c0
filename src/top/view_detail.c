// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The details of one row: identity, all counters, the parts of PSS, the cgroup and its limit,
 * history, and mappings by file, which are read on request. A process that has ended keeps its last
 * values.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "top/view.h"
#include "write/format.h"

#define SPAN_LEAST (1024 * 1024) /* smaller changes do not fill the height of the history */

static int by_pss(const void *pa, const void *pb)
{
	const struct mapping *a = *(struct mapping *const *)pa, *b = *(struct mapping *const *)pb;
	uint64_t x = a->counters.value[MAPS_PSS] + a->counters.value[MAPS_SWAP_PSS];
	uint64_t y = b->counters.value[MAPS_PSS] + b->counters.value[MAPS_SWAP_PSS];

	if (x != y)
		return x < y ? 1 : -1;
	return strcmp(a->name, b->name);
}

int view_set_maps(struct view *v, struct map_set *maps, enum pss_status status)
{
	struct detail *d = &v->detail;

	map_set_free(d->maps);
	free(d->mapping);
	d->maps = maps;
	d->mapping = NULL;
	d->reading = false;
	d->maps_status = status;
	if (!maps)
		return 0;
	d->mapping = calloc(maps->count + 1, sizeof(*d->mapping));
	if (!d->mapping) {
		map_set_free(maps);
		d->maps = NULL;
		return -ENOMEM;
	}
	memcpy(d->mapping, maps->item, maps->count * sizeof(*d->mapping));
	qsort(d->mapping, maps->count, sizeof(*d->mapping), by_pss);
	return 0;
}

void view_set_charged(struct view *v, const struct process *p)
{
	v->detail.charged = *p;
}

const char *view_row_text(const struct view *v, const struct process *p)
{
	const char *name = NULL;

	/* In a tree the branches are part of the name. */
	if (p->pid && p->kind == PROCESS_SUM)
		p = snapshot_find(v->r->snapshot, p->pid);
	if (p && p->pid)
		name = p->name;
	else if (p && v->r->group)
		name = v->r->group->text(p);
	return name ? name : "-";
}

void view_detail_open(struct view *v)
{
	view_hold_row(v);
	view_set_maps(v, NULL, PSS_SKIPPED);
	v->mode = VIEW_DETAIL;
	v->detail.id = v->id;
	v->detail.ended = false;
	v->detail.scroll = 0;
	v->detail.charged.have = 0;
	*v->detail.name = '\0';
	view_detail_update(v);
}

/* Copies what is shown after the row has ended: counters and the name. */
static void copy_process(struct detail *d, const char *name, const struct process *p)
{
	/* A zombie has lost its executable, and with it a better name. */
	if (p->kind != PROCESS_ZOMBIE || !*d->name)
		snprintf(d->name, sizeof(d->name), "%s", name);
	d->row = *p;
	d->row.name = d->name;
	d->row.user = d->row.cgroup = d->row.unit = d->row.container = d->row.cmdline = NULL;
	d->row.before = NULL;
}

void view_detail_update(struct view *v)
{
	struct process *p = view_row(v);

	v->detail.ended = !p || !view_same_id(view_id(v, p), v->detail.id);
	if (!v->detail.ended)
		copy_process(&v->detail, view_row_text(v, p), p);
}

unsigned view_detail_key(struct view *v, int key)
{
	struct detail *d = &v->detail;
	size_t page = v->height / 2 + 1;

	switch (key) {
	case TOP_ESCAPE:
	case TOP_ENTER:
	case TOP_LEFT:
	case 'q':
		v->mode = VIEW_LIST;
		v->moved = true;
		return 0;
	case TOP_UP:
	case 'k':
		d->scroll -= d->scroll > 0;
		return 0;
	case TOP_DOWN:
	case 'j':
		d->scroll++;
		return 0;
	case TOP_PAGE_UP:
		d->scroll -= d->scroll < page ? d->scroll : page;
		return 0;
	case TOP_PAGE_DOWN:
		d->scroll += page;
		return 0;
	case TOP_HOME:
		d->scroll = 0;
		return 0;
	case 'm':
		return VIEW_ASK_DETAIL;
	case 'w':
		return view_growth_open(v);
	case 'b':
		v->style.bytes = !v->style.bytes;
		return 0;
	}
	return view_key_anywhere(v, key);
}

/* ---- history ---- */

void history_clear(struct history *h)
{
	h->next = h->count = 0;
}

/* The i-th of the last `count` points. */
static const struct history_point *history_at(const struct history *h, size_t count, size_t i)
{
	return &h->point[(h->next + HISTORY_MAX - count + i) % HISTORY_MAX];
}

void history_add(struct history *h, int64_t time_ms, bool known, uint64_t bytes)
{
	/* Time went back (a frame back, or the clock was set): drop later points. */
	if (h->count && history_at(h, 1, 0)->time_ms > time_ms)
		history_clear(h);
	h->point[h->next] = (struct history_point){time_ms, known, bytes};
	h->next = (h->next + 1) % HISTORY_MAX;
	h->count += h->count < HISTORY_MAX;
}

bool history_draw(const struct history *h, struct line *l, unsigned width, uint64_t *ret_least,
		  uint64_t *ret_most, int64_t *ret_since_ms)
{
	static const char bar[8][4] = {"\xe2\x96\x81", "\xe2\x96\x82", "\xe2\x96\x83",
				       "\xe2\x96\x84", "\xe2\x96\x85", "\xe2\x96\x86",
				       "\xe2\x96\x87", "\xe2\x96\x88"};
	size_t count = h->count < width ? h->count : width;
	uint64_t least = UINT64_MAX, most = 0, span;

	for (size_t i = 0; i < count; i++) {
		const struct history_point *p = history_at(h, count, i);

		if (!p->known)
			continue;
		least = p->bytes < least ? p->bytes : least;
		most = p->bytes > most ? p->bytes : most;
	}
	if (!count || least > most)
		return false;
	span = most - least;
	if (span < SPAN_LEAST)
		span = SPAN_LEAST;
	if (span < most / 100)
		span = most / 100;
	for (size_t i = 0; i < count; i++) {
		const struct history_point *p = history_at(h, count, i);
		double part = p->known ? (double)(p->bytes - least) / (double)span : 0;

		line_text(l, p->known ? bar[(size_t)(part * 7 + 0.5)] : "?", 0);
	}
	*ret_least = least;
	*ret_most = most;
	*ret_since_ms = history_at(h, count, 0)->time_ms;
	return true;
}

/* ---- drawing ---- */

static void put_bytes(const struct view *v, struct line *l, bool known, uint64_t bytes)
{
	cell_put(l, cell_bytes(known, bytes), v->style.bytes);
}

static void put_counter(const struct view *v, struct line *l, const struct process *p,
			enum counter c)
{
	put_bytes(v, l, process_has(p, c), p->value[c]);
}

static void draw_title(struct view *v, struct screen *s, const struct process *p)
{
	char buf[FORMAT_MAX];
	struct line *l = &s->pen;

	if (p->pid)
		line_printf(l, "%d ", p->pid);
	line_text(l, v->detail.name, 0);
	if (!p->pid)
		line_printf(l, "  %u processes of one %s", p->procs, v->r->group->key);
	else if (p->kind == PROCESS_SUM && p->procs > 1)
		line_printf(l, "  with %u below it", p->procs - 1);
	if (v->detail.ended)
		line_printf(l, "  has ended or is filtered out");
	screen_line(s, LOOK_HEADER);
	if (!p->pid)
		return;
	if (p->user) {
		line_printf(l, "user ");
		line_text(l, p->user, 32);
	} else {
		line_printf(l, "uid %u", p->uid);
	}
	line_printf(l, "  parent %d  threads %u  oom_score_adj %d", p->ppid, p->threads,
		    p->oom_score_adj);
	if (v->r->snapshot->host.boot_ms) {
		int64_t ms = (int64_t)(v->r->snapshot->host.boot_ms + p->start_ns / 1000000);

		line_printf(l, "  started ");
		line_ascii(l, buf, format_time(buf, ms, TIME_TABLE));
	}
	screen_line(s, LOOK_PLAIN);
}

/* What fills the cgroup, if this kernel says so. */
static void draw_charged(struct view *v, struct screen *s, const struct process *p)
{
	static const struct {
		const char *name;
		enum counter counter;
	} part[] = {{"anon", COUNTER_MEM_ANON},	  {"file", COUNTER_MEM_FILE},
		    {"shmem", COUNTER_MEM_SHMEM}, {"slab", COUNTER_MEM_SLAB},
		    {"swap", COUNTER_MEM_SWAP},	  {"zswap", COUNTER_MEM_ZSWAP}};
	struct line *l = &s->pen;

	if (!process_has(p, COUNTER_MEM_ANON))
		return;
	line_printf(l, "      ");
	for (size_t i = 0; i < ARRAY_SIZE(part); i++) {
		if (!process_has(p, part[i].counter))
			continue;
		line_printf(l, " %s ", part[i].name);
		put_counter(v, l, p, part[i].counter);
		line_printf(l, " ");
	}
	if (process_has(p, COUNTER_PSI_SOME_10))
		line_printf(l, " waited %.1f %% of 10 s",
			    (double)p->value[COUNTER_PSI_SOME_10] / 100);
	screen_line(s, LOOK_PLAIN);
}

static void draw_cgroup(struct view *v, struct screen *s, const struct process *p)
{
	struct line *l = &s->pen;

	if (v->set.cmdline && p->cmdline) {
		line_text(l, p->cmdline, 0);
		screen_line(s, LOOK_PLAIN);
	}
	if (!p->cgroup)
		return;
	line_printf(l, "cgroup ");
	line_text(l, p->cgroup, 0);
	screen_line(s, LOOK_PLAIN);
	p = &v->detail.charged;
	if (!(p->have & (COUNTER_BIT(COUNTER_MEM_CURRENT) | COUNTER_BIT(COUNTER_MEM_LIMIT))))
		return;
	line_printf(l, "       charged ");
	put_counter(v, l, p, COUNTER_MEM_CURRENT);
	if (process_has(p, COUNTER_MEM_LIMIT)) {
		line_printf(l, " of ");
		put_counter(v, l, p, COUNTER_MEM_LIMIT);
	} else {
		line_printf(l, ", no limit");
	}
	if (p->memcg_above)
		line_printf(l, ", of a cgroup above");
	if (snapshot_is_kill(v->r->snapshot))
		line_printf(l, ": " NO_CHARGE_AT_KILL);
	screen_line(s, LOOK_PLAIN);
	draw_charged(v, s, p);
}

/* Draws the parts of PSS and swap as a bar. */
static void draw_parts(struct view *v, struct screen *s, const struct process *p)
{
	static const enum counter counter[] = {COUNTER_PSS_ANON, COUNTER_PSS_FILE,
					       COUNTER_PSS_SHMEM, COUNTER_SWAP_PSS};
	struct bar_part part[ARRAY_SIZE(counter)] = {{"anon", '|', ATTR_GREEN},
						     {"file", '#', ATTR_BLUE},
						     {"shmem", ':', ATTR_CYAN},
						     {"swap", '~', ATTR_YELLOW}};
	struct line *l = &s->pen;
	uint64_t total = 0;

	for (size_t i = 0; i < ARRAY_SIZE(part); i++) {
		part[i].known = process_has(p, counter[i]);
		part[i].bytes = (int64_t)p->value[counter[i]];
		total += part[i].known ? p->value[counter[i]] : 0;
	}
	bar_put(l, part, ARRAY_SIZE(part), total, s->width > 100 ? 40 : s->width / 4);
	for (size_t i = 0; i < ARRAY_SIZE(part); i++) {
		bar_put_name(l, &part[i]);
		put_counter(v, l, p, counter[i]);
	}
	screen_line(s, LOOK_PLAIN);
}

/* Draws the counters, without the parts of swap_ram and of swap, in as many columns as fit. */
static void draw_counters(struct view *v, struct screen *s, const struct process *p)
{
	unsigned cell = v->style.bytes ? 36 : 26, columns = s->width / cell, at = 0;

	columns = columns ? columns : 1;
	for (int c = 0; c < COUNTERS_OF_PROCESS; c++) {
		char buf[FORMAT_MAX];
		size_t len = 1;

		if (COUNTER_BIT(c) & COUNTERS_OF_SWAP_COSTS && c != COUNTER_SWAP_RAM)
			continue;
		buf[0] = '-';
		if (process_has(p, c))
			len = format_bytes(buf, p->value[c],
					   v->style.bytes || counter_table[c].is_count);
		line_printf(&s->pen, "%-11s", counter_table[c].key);
		line_blanks(&s->pen, cell - 11 - 3 - (unsigned)len);
		line_ascii(&s->pen, buf, len);
		if (++at % columns == 0 || c + 1 == COUNTERS_OF_PROCESS)
			screen_line(s, LOOK_PLAIN);
		else
			line_blanks(&s->pen, 3);
	}
	if (p->pss_status != PSS_OK && p->kind != PROCESS_SUM) {
		line_printf(&s->pen, "no PSS: %s", pss_status_name(p->pss_status));
		screen_line(s, LOOK_PLAIN);
	}
}

static void draw_history(struct view *v, struct screen *s)
{
	uint64_t least, most;
	int64_t since_ms;
	unsigned width = s->width > 60 ? s->width - 50 : s->width / 4 + 1;
	struct line *l = &s->pen;

	line_printf(l, "PSS+SWAP ");
	if (!history_draw(&v->history, l, width, &least, &most, &since_ms)) {
		line_printf(l, "-");
	} else {
		line_printf(l, " ");
		put_bytes(v, l, true, least);
		line_printf(l, " to ");
		put_bytes(v, l, true, most);
		line_printf(l, " in %lld s",
			    (long long)(v->r->snapshot->time_ms - since_ms + 500) / 1000);
	}
	screen_line(s, LOOK_PLAIN);
}

static const char *missing_maps_text(const struct view *v)
{
	if (!v->detail.id.pid)
		return "mappings: shown for processes, not for groups";
	if (!v->facts.can_map)
		return "mappings: recordings do not contain them";
	if (v->detail.reading)
		return "mappings: reading…";
	switch (v->detail.maps_status) {
	case PSS_GONE:
		return "mappings: the process has ended";
	case PSS_DENIED:
		return "mappings: permission denied (run as root, or with CAP_SYS_PTRACE)";
	case PSS_TIMEOUT:
		return "mappings: the process is stuck, they cannot be read";
	case PSS_KERNEL_THREAD:
		return "mappings: a kernel thread has none";
	case PSS_SKIPPED:
		return "mappings: not read (press m to read them)";
	default:
		return "mappings: not supported here";
	}
}

/* Draws the visible part of the table that maps --by-file prints. */
static void draw_maps(struct view *v, struct screen *s)
{
	cleanup(strbuf_done) struct strbuf text = {};
	struct detail *d = &v->detail;
	const struct table_style style = {
		.bytes = v->style.bytes, .header = true, .color = true, .width = s->width};
	const struct maps_process one = {.process = &d->row, .status = PSS_OK, .counted = true};
	struct maps_report r = {.snapshot = v->r->snapshot,
				.kind = MAP_ROWS_FILES,
				.process = &one,
				.process_count = 1};
	size_t room = s->height - 1 > s->count ? s->height - 1 - s->count : 0;
	size_t rows = room > 3 ? room - 3 : 0; /* headings, the total, and what it sums */

	if (!d->maps) {
		line_printf(&s->pen, "%s", missing_maps_text(v));
		screen_line(s, LOOK_PLAIN);
		return;
	}
	if (d->scroll + rows > d->maps->count)
		d->scroll = d->maps->count > rows ? d->maps->count - rows : 0;
	r.rows = d->mapping + d->scroll;
	r.row_count = d->maps->count - d->scroll < rows ? d->maps->count - d->scroll : rows;
	r.total = d->maps->total;
	r.mappings = d->maps->mappings;
	render_maps_table(&text, &r, &style);
	for (const char *at = strbuf_str(&text); *at && room; room--) {
		size_t len = strcspn(at, "\n");

		screen_add_text(s, at, len, s->count && at == text.data ? LOOK_HEADER : LOOK_PLAIN);
		at += len + (at[len] == '\n');
	}
}

void view_detail_draw(struct view *v, struct screen *s)
{
	struct process *row = view_row(v);
	const struct process *p = v->detail.ended || !row ? &v->detail.row : row;

	draw_title(v, s, p);
	draw_cgroup(v, s, p);
	draw_history(v, s);
	draw_parts(v, s, p);
	draw_counters(v, s, p);
	draw_maps(v, s);
	screen_fill(s, s->height - 1);
}
