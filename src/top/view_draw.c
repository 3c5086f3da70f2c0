// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Draws the screen: the lines above the rows (the machine's RAM and swap, the collection, the state
 * of the view), the list of rows, and the last line.
 */
#include <string.h>

#include "base/array.h"
#include "query/account.h"
#include "report/summary.h"
#include "top/view.h"
#include "write/format.h"

#define BAR_MOST	 60
#define LEGEND		 80 /* approximate width of the text beside a bar */
#define NO_BAR		 76 /* narrower screens have no bar */

#define SCREEN_WIDTH_MAX 512 /* columns of a time line */

/* ---- bars ---- */

/* Each part ends at the rounded sum so far, so that rounding errors do not add up. */
void bar_put(struct line *l, const struct bar_part *part, size_t count, uint64_t total,
	     unsigned width)
{
	uint64_t sum = 0;
	unsigned at = 0;

	line_ascii(l, "[", 1);
	for (size_t i = 0; i < count; i++) {
		unsigned end;

		if (!part[i].known || part[i].bytes <= 0)
			continue;
		sum += (uint64_t)part[i].bytes;
		end = sum < total ? (unsigned)((double)sum / (double)total * width + 0.5) : width;
		l->attr = part[i].attr;
		for (; at < end && at < width; at++)
			line_ascii(l, &part[i].sign, 1);
	}
	l->attr = ATTR_NORMAL;
	line_blanks(l, width - at);
	line_ascii(l, "]", 1);
}

void bar_put_name(struct line *l, const struct bar_part *part)
{
	line_blanks(l, 1);
	l->attr = part->attr;
	line_ascii(l, &part->sign, 1);
	line_text(l, part->name, 0);
	l->attr = ATTR_NORMAL;
	line_blanks(l, 1);
}

/* ---- the lines above the rows ---- */

/* Writes a size without blank and "iB" to save room: "1.20G". */
static void put_short(struct line *l, uint64_t bytes)
{
	char buf[FORMAT_MAX];
	size_t len = format_size(buf, bytes), number = 0;

	while (number < len && buf[number] != ' ')
		number++;
	line_ascii(l, buf, number);
	if (number < len)
		line_ascii(l, buf + number + 1, 1);
}

static void put_signed(struct line *l, int64_t bytes)
{
	if (bytes < 0)
		line_ascii(l, "-", 1);
	put_short(l, bytes < 0 ? -(uint64_t)bytes : (uint64_t)bytes);
}

static unsigned bar_width(const struct screen *s)
{
	unsigned width;

	if (s->width < NO_BAR)
		return 0;
	width = s->width - LEGEND;
	if (width < 10)
		width = 10;
	return width < BAR_MOST ? width : BAR_MOST;
}

static void put_bar(struct screen *s, const struct bar_part *part, size_t count, uint64_t total)
{
	unsigned width = bar_width(s);

	if (!width || !total)
		return;
	line_blanks(&s->pen, 1);
	bar_put(&s->pen, part, count, total, width);
}

static void put_legend(struct line *l, const struct bar_part *part, size_t count, bool rare)
{
	for (size_t i = 0; i < count; i++) {
		if (!part[i].known || part[i].rare != rare)
			continue;
		bar_put_name(l, &part[i]);
		put_signed(l, part[i].bytes);
	}
}

/* The parts sum to all RAM (query/account.h). */
static void put_ram(const struct view *v, struct screen *s)
{
	const struct meminfo *m = &v->r->snapshot->system.meminfo;
	bool known = meminfo_has(m, MEMINFO_TOTAL);
	uint64_t total = m->value[MEMINFO_TOTAL];
	struct account a;

	account_split(&v->r->snapshot->system, &a);
#define PART(name, sign, attr, part, rare)                                                         \
	{                                                                                          \
		name, sign, attr, account_has(&a, part), a.value[part], rare                       \
	}
	const struct bar_part part[] = {
		PART("kernel", '#', ATTR_RED, ACCOUNT_KERNEL, false),
		PART("user", '|', ATTR_GREEN, ACCOUNT_USER, false),
		PART("huge", '=', ATTR_CYAN, ACCOUNT_HUGETLB, true),
		PART("other", '?', ATTR_YELLOW, ACCOUNT_UNACCOUNTED, true),
		PART("cache", ':', ATTR_BLUE, ACCOUNT_CACHE, false),
		PART("free", '.', ATTR_DIM, ACCOUNT_FREE, false),
	};
	struct bar_part shown[ARRAY_SIZE(part)];
	size_t count = 0;

	for (size_t i = 0; i < ARRAY_SIZE(part); i++) {
		/* Small rare parts are left out. */
		if (!part[i].rare || part[i].bytes > (int64_t)(total / 100))
			shown[count++] = part[i];
	}
	line_printf(&s->pen, "RAM  ");
	if (known)
		put_short(&s->pen, total);
	else
		line_printf(&s->pen, "-");
	put_bar(s, shown, count, total);
	put_legend(&s->pen, shown, count, false);
	put_legend(&s->pen, shown, count, true);
	screen_line(s, LOOK_PLAIN);
}

static void put_compressed(const struct system_info *system, struct line *l)
{
	const struct meminfo *m = &system->meminfo;
	uint64_t stored = 0, used = 0;

	for (size_t i = 0; i < system->zram_count; i++) {
		stored += system->zram[i].stat.stored;
		used += system->zram[i].stat.used;
	}
	if (system->zram_count) {
		line_printf(l, " zram ");
		put_short(l, stored);
		line_printf(l, " in ");
		put_short(l, used);
	}
	if (meminfo_has(m, MEMINFO_ZSWAP_STORED) && m->value[MEMINFO_ZSWAP_STORED] &&
	    meminfo_has(m, MEMINFO_ZSWAP_POOL)) {
		line_printf(l, " zswap ");
		put_short(l, m->value[MEMINFO_ZSWAP_STORED]);
		line_printf(l, " in ");
		put_short(l, m->value[MEMINFO_ZSWAP_POOL]);
	}
}

static void put_swap(const struct view *v, struct screen *s)
{
	const struct system_info *system = &v->r->snapshot->system;
	const struct meminfo *m = &system->meminfo;
	const struct machine_balance *balance = &v->r->snapshot->balance;
	uint64_t total = m->value[MEMINFO_SWAP_TOTAL], used = 0;
	uint64_t unattributed = balance->swap_unattributed;
	bool known = meminfo_swap_used(m, &used);
	bool split = known && balance->swap_unattributed_known && unattributed <= used;
	const struct bar_part part[] = {
		{"processes", '|', ATTR_YELLOW, split, (int64_t)(used - unattributed)},
		{"shmem, tmpfs", ':', ATTR_CYAN, split, (int64_t)unattributed},
		{"used", '|', ATTR_YELLOW, known && !split, (int64_t)used},
		{"free", '.', ATTR_DIM, known, (int64_t)(total - used)},
	};

	line_printf(&s->pen, "Swap ");
	if (known && total) {
		put_short(&s->pen, total);
		put_bar(s, part, ARRAY_SIZE(part), total);
		put_legend(&s->pen, part, ARRAY_SIZE(part), false);
		put_compressed(system, &s->pen);
	} else {
		line_printf(&s->pen, known ? "none" : "-");
	}
	screen_line(s, LOOK_PLAIN);
}

static void put_hundredths(struct line *l, uint32_t v)
{
	line_printf(l, " %u.%02u %%", v / 100, v % 100);
}

static void put_rate(struct line *l, const char *name, bool known, uint64_t bytes)
{
	line_printf(l, " %s ", name);
	if (!known) {
		line_printf(l, "-");
		return;
	}
	put_short(l, bytes);
	line_printf(l, "/s");
}

/* How near the machine is to a shortage: available memory, pressure, swap activity. */
static void put_shortage(const struct view *v, struct screen *s)
{
	const struct system_info *system = &v->r->snapshot->system;
	const struct meminfo *m = &system->meminfo;
	const struct memory_pressure *p = &system->pressure;
	struct line *l = &s->pen;

	line_printf(l, "Avail ");
	if (meminfo_has(m, MEMINFO_AVAILABLE))
		put_short(l, m->value[MEMINFO_AVAILABLE]);
	else
		line_printf(l, "-");
	line_printf(l, "  pressure");
	if (p->known) {
		line_printf(l, " some");
		put_hundredths(l, p->some_avg10);
		line_printf(l, " full");
		put_hundredths(l, p->full_avg10);
	} else {
		line_printf(l, " -");
	}
	line_printf(l, "  swap");
	put_rate(l, "in", v->facts.swap_known, v->facts.swap_in);
	put_rate(l, "out", v->facts.swap_known, v->facts.swap_out);
	screen_line(s, LOOK_PLAIN);
}

/* The time, the number of processes, sources, and completeness. */
static void put_collection(const struct view *v, struct screen *s)
{
	char buf[FORMAT_MAX];
	size_t len = format_time(buf, v->r->snapshot->time_ms, TIME_TABLE);

	/* The date is shown only for recordings. */
	if (len > 11 && !v->facts.frames)
		line_ascii(&s->pen, buf + 11, len - 11);
	else
		line_ascii(&s->pen, buf, len);
	line_blanks(&s->pen, 2);
	summary_write(&s->pen, v->r);
	screen_line(s, LOOK_PLAIN);
}

static void put_order(const struct view *v, struct line *l)
{
	const struct order *o = &v->set.order;

	line_printf(l, "by ");
	for (size_t i = 0; i < o->keys.count; i++)
		line_printf(l, "%s%s", i ? "," : "", o->keys.item[i]->key);
	if (o->reverse)
		line_printf(l, " reversed");
	if (v->set.group)
		line_printf(l, "  groups of one %s", v->set.group->key);
	if (v->within.group.key && v->within.group.text) {
		line_printf(l, "  %s ", v->within.group.key->key);
		line_text(l, v->within.group.text, 40);
	} else if (v->within.group.key) {
		line_printf(l, "  no %s", v->within.group.key->key);
	}
	if (v->set.tree)
		line_printf(l, "  tree");
	if (*v->set.filter) {
		line_printf(l, "  filter ");
		line_text(l, v->set.filter, 30);
	}
	if (*v->set.user) {
		line_printf(l, "  user ");
		line_text(l, v->set.user, 20);
	}
	if (v->set.changes)
		line_printf(l, v->set.changes == CHANGES_LAST ? "  changes per second"
							      : "  changes since start");
	if (v->set.only_changed)
		line_printf(l, "  only changed");
	if (v->follow && v->id.pid)
		line_printf(l, "  following %d", v->id.pid);
	if (v->follow && !v->id.pid) {
		line_printf(l, "  following %s ", v->kind ? v->kind->key : "");
		line_text(l, v->followed, 30);
	}
}

/* The interval with as many digits as it has. */
void view_interval_put(struct line *l, unsigned ms)
{
	unsigned part = ms % 1000;

	line_printf(l, "  every %u", ms / 1000);
	if (part % 100)
		line_printf(l, part % 10 ? ".%03u" : ".%02u", part % 10 ? part : part / 10);
	else
		line_printf(l, ".%u", part / 100);
	line_printf(l, " s");
}

/* The state of the view and the interval. */
static void put_state(const struct view *v, struct screen *s)
{
	const struct view_facts *f = &v->facts;
	struct line *l = &s->pen;

	if (v->set.paused) {
		l->attr = ATTR_REVERSE;
		line_printf(l, "paused");
		l->attr = ATTR_NORMAL;
		line_blanks(l, 2);
	}
	if (f->frames)
		line_printf(l, "snapshot %u of %u  ", f->frame, f->frames);
	put_order(v, l);
	view_interval_put(l, v->set.interval_ms);
	if (snapshot_is_cut(v->r->snapshot) && !v->r->snapshot->collection.not_seen_known)
		line_printf(l, "  incomplete: some not read");
	else if (v->r->snapshot->collection.not_seen)
		line_printf(l, "  incomplete: %u not seen", v->r->snapshot->collection.not_seen);
	if (f->missed)
		line_printf(l, ", %llu missed", (unsigned long long)f->missed);
	screen_line(s, LOOK_PLAIN);
}

/* ---- the time line of a recording ---- */

#define TIMELINE_LEAST 10 /* columns */
#define MINUTES_MS     600000
#define EVENT_TEXT_MAX 12 /* columns: "  event:1234" */

/* The time of day; with the date if the line has several days, and with seconds if it is short. */
static void put_moment(struct line *l, const struct timeline *t, int64_t time_ms)
{
	char first[FORMAT_MAX], last[FORMAT_MAX], buf[FORMAT_MAX];
	bool known = format_time(first, t->first_ms, TIME_TABLE) > 19 &&
		     format_time(last, t->last_ms, TIME_TABLE) > 19 &&
		     format_time(buf, time_ms, TIME_TABLE) > 19;

	if (!known)
		line_ascii(l, "?", 1);
	else if (memcmp(first, last, 10) != 0)
		line_ascii(l, buf + 5, 11);
	else
		line_ascii(l, buf + 11, t->last_ms - t->first_ms < MINUTES_MS ? 8 : 5);
}

/* The column of a time, on a line of `width` columns. */
static unsigned timeline_column(const struct timeline *t, int64_t time_ms, unsigned width)
{
	double span = (double)t->last_ms - (double)t->first_ms + 1;
	double at = ((double)time_ms - (double)t->first_ms) / span * width;

	/* A clock that was set back may give times outside. */
	if (!(span > 0) || !(at > 0))
		return 0;
	return at < width ? (unsigned)at : width - 1;
}

/* The columns that lie within a gap, without its ends, where there are snapshots. */
static void mark_gaps(const struct timeline *t, char *sign, unsigned width)
{
	for (size_t i = 0; i < t->gaps; i++) {
		unsigned from = timeline_column(t, t->gap[i].from_ms, width);
		unsigned to = timeline_column(t, t->gap[i].to_ms, width);

		for (unsigned at = from + 1; at < to; at++)
			sign[at] = ' ';
	}
}

static void put_line_of_time(const struct view *v, struct line *l, unsigned width)
{
	const struct timeline *t = v->facts.timeline;
	unsigned now = timeline_column(t, v->r->snapshot->time_ms, width);
	char sign[SCREEN_WIDTH_MAX];

	memset(sign, '-', width);
	mark_gaps(t, sign, width);
	for (size_t i = 0; i < t->events; i++)
		sign[timeline_column(t, t->event[i].time_ms, width)] = '!';
	for (unsigned at = 0; at < width; at++) {
		l->attr = at == now ? ATTR_REVERSE : sign[at] == '!' ? ATTR_RED : ATTR_NORMAL;
		/* Without colours, too, the place of the snapshot is seen. */
		line_ascii(l, at == now && sign[at] != '!' ? "#" : &sign[at], 1);
	}
	l->attr = ATTR_NORMAL;
}

/* The event whose snapshot is shown, as --at takes it; 0: none. */
static size_t event_shown(const struct view *v)
{
	const struct timeline *t = v->facts.timeline;

	for (size_t i = t->events; i-- > 0;) {
		if (t->event[i].frame == v->facts.frame)
			return t->events - i;
	}
	return 0;
}

static void put_timeline(const struct view *v, struct screen *s)
{
	const struct timeline *t = v->facts.timeline;
	struct line *l = &s->pen;
	unsigned around = 2 * 11 + 4 + EVENT_TEXT_MAX;
	unsigned width = s->width > around + TIMELINE_LEAST ? s->width - around : TIMELINE_LEAST;
	size_t event = event_shown(v);

	if (width > SCREEN_WIDTH_MAX)
		width = SCREEN_WIDTH_MAX;
	put_moment(l, t, t->first_ms);
	line_printf(l, " [");
	put_line_of_time(v, l, width);
	line_printf(l, "] ");
	put_moment(l, t, t->last_ms);
	if (event)
		line_printf(l, "  event:%zu", event);
	else if (t->events)
		line_printf(l, "  %zu event%s", t->events, t->events == 1 ? "" : "s");
	screen_line(s, LOOK_PLAIN);
}

static void draw_head(const struct view *v, struct screen *s, unsigned lines)
{
	static void (*const put[])(const struct view *v, struct screen *s) = {
		put_ram, put_swap, put_shortage, put_collection, put_state, put_timeline};

	for (unsigned i = 0; i < lines; i++)
		put[i](v, s);
}

void view_machine_draw(const struct view *v, struct screen *s)
{
	unsigned lines = view_head_lines(v);

	draw_head(v, s, lines < 3 ? lines : 3);
}

/* ---- the list and the last line ---- */

struct key_help {
	const char *key, *text;
};

static void draw_keys(const struct view *v, struct screen *s)
{
	static const struct key_help list[] = {
		{"?", "help"},	  {"q", "quit"},	{"/", "search"}, {"f", "filter"},
		{"s", "sort"},	  {"g", "groups"},	{"t", "tree"},	 {"o", "columns"},
		{"x", "changes"}, {"Enter", "details"}, {"w", "growth"}, {"l", "files"},
		{"F", "follow"},  {"Space", "pause"},
	};
	static const struct key_help groups[] = {
		{"?", "help"},	 {"q", "quit"},	   {"Enter", "processes"}, {"g", "next groups"},
		{"/", "search"}, {"f", "filter"},  {"s", "sort"},	   {"i", "details"},
		{"t", "tree"},	 {"o", "columns"}, {"x", "changes"},	   {"F", "follow"},
	};
	static const struct key_help tree[] = {
		{"?", "help"}, {"q", "quit"},	     {"-", "fold"},   {"+", "open"},
		{"*", "all"},  {"t", "list"},	     {"/", "search"}, {"f", "filter"},
		{"s", "sort"}, {"Enter", "details"}, {"F", "follow"}, {"Space", "pause"},
	};
	static const struct key_help within[] = {
		{"?", "help"},	  {"Esc", "groups"}, {"q", "quit"},	 {"/", "search"},
		{"f", "filter"},  {"s", "sort"},     {"t", "tree"},	 {"Enter", "details"},
		{"x", "changes"}, {"F", "follow"},   {"Space", "pause"},
	};
	static const struct key_help detail[] = {
		{"Esc", "back"}, {"up down", "mappings"}, {"m", "read again"}, {"w", "growth"},
		{"b", "bytes"},	 {"Space", "pause"},	  {"?", "help"},
	};
	static const struct key_help growth[] = {
		{"Esc", "back, and end counting"},
		{"b", "bytes"},
		{"Space", "pause"},
		{"?", "help"},
	};
	static const struct key_help columns[] = {
		{"Esc", "back"},
		{"Enter", "show or hide"},
		{"+ -", "move"},
	};
	static const struct key_help sort[] = {
		{"Esc", "back"},
		{"Enter", "sort, again: reverse"},
	};
	static const struct key_help help[] = {{"Esc", "back"}, {"up down", "more"}};
	static const struct key_help files[] = {
		{"?", "help"},	 {"l", "processes"}, {"Enter", "holders"}, {"g", "groups"},
		{"f", "filter"}, {"s", "sort"},	     {"/", "search"},	   {"r", "reverse"},
		{"b", "bytes"},	 {"Space", "pause"},
	};
	static const struct key_help file_groups[] = {
		{"?", "help"},	 {"l", "processes"}, {"Enter", "files"}, {"g", "next groups"},
		{"f", "filter"}, {"s", "sort"},	     {"/", "search"},	 {"r", "reverse"},
	};
	static const struct key_help holders[] = {
		{"Esc", "back"}, {"m", "read again"}, {"up down", "more"}, {"?", "help"}};
	static const struct key_list {
		const struct key_help *item;
		size_t count;
	} of_mode[] = {
		[VIEW_LIST] = {list, ARRAY_SIZE(list)},
		[VIEW_DETAIL] = {detail, ARRAY_SIZE(detail)},
		[VIEW_GROWTH] = {growth, ARRAY_SIZE(growth)},
		[VIEW_HELP] = {help, ARRAY_SIZE(help)},
		[VIEW_COLUMNS] = {columns, ARRAY_SIZE(columns)},
		[VIEW_SORT] = {sort, ARRAY_SIZE(sort)},
		[VIEW_FILES] = {files, ARRAY_SIZE(files)},
		[VIEW_HOLDERS] = {holders, ARRAY_SIZE(holders)},
		[VIEW_FILE_SORT] = {sort, ARRAY_SIZE(sort)},
	};
	struct key_list keys = of_mode[v->mode];
	size_t at = 0;

	if (v->mode == VIEW_LIST && v->set.group)
		keys = (struct key_list){groups, ARRAY_SIZE(groups)};
	else if (v->mode == VIEW_LIST && v->set.tree)
		keys = (struct key_list){tree, ARRAY_SIZE(tree)};
	else if (v->mode == VIEW_LIST && v->within.group.key)
		keys = (struct key_list){within, ARRAY_SIZE(within)};
	else if (v->mode == VIEW_FILES && v->files.set.group != FILE_GROUP_NONE)
		keys = (struct key_list){file_groups, ARRAY_SIZE(file_groups)};
	for (size_t i = 0; i < keys.count; i++) {
		size_t len = strlen(keys.item[i].key) + 1 + strlen(keys.item[i].text);

		/* The first ones are the most useful: whole hints, as many as fit. */
		if (i && at + 2 + len > s->width)
			break;
		at += len + (i ? 2 : 0);
		line_blanks(&s->pen, i ? 2 : 0);
		s->pen.attr = ATTR_BOLD;
		line_text(&s->pen, keys.item[i].key, 0);
		s->pen.attr = ATTR_NORMAL;
		line_printf(&s->pen, " %s", keys.item[i].text);
	}
	screen_line(s, LOOK_KEYS);
}

static void draw_last(const struct view *v, struct screen *s)
{
	if (v->prompt) {
		view_prompt_draw(v, s);
	} else if (*v->message) {
		line_text(&s->pen, v->message, 0);
		screen_line(s, LOOK_MESSAGE);
	} else if (v->height >= 6) {
		draw_keys(v, s);
	}
}

static void draw_sums(struct view *v, struct screen *s, size_t first, size_t shown)
{
	s->pen.attr = ATTR_BOLD;
	grid_put_sums(&v->table.grid, &s->pen, GRID_TOTAL);
	if (!v->count)
		line_printf(&s->pen, "no rows");
	else if (shown < v->count)
		line_printf(&s->pen, "rows %zu to %zu of %zu", first + 1, first + shown, v->count);
	else
		line_printf(&s->pen, "%zu row%s", v->count, v->count == 1 ? "" : "s");
	screen_line(s, LOOK_PLAIN);
}

static void draw_list(struct view *v, struct screen *s)
{
	struct table *t = &v->table;
	size_t first, count;

	view_place(v, &first, &count);
	t->r = v->r;
	t->style = &v->style;
	t->rows = v->rows + first;
	t->row_count = count;
	t->marked = v->set.order.keys.count ? v->set.order.keys.item[0] : NULL;
	table_place(t);
	grid_measure(&t->grid);
	draw_head(v, s, view_head_lines(v));
	if (v->height >= 3) {
		s->pen.attr = ATTR_BOLD;
		grid_put_heading(&t->grid, &s->pen);
		screen_line(s, LOOK_HEADER);
	}
	for (size_t i = 0; i < count; i++) {
		grid_put_row(&t->grid, &s->pen, i);
		screen_line(s, first + i == v->cursor ? LOOK_SELECTED : LOOK_PLAIN);
	}
	screen_fill(s, view_head_lines(v) + (v->height >= 3) + (unsigned)view_page(v));
	if (v->height >= 4)
		draw_sums(v, s, first, count);
}

void view_draw(struct view *v, struct screen *s)
{
	screen_begin(s, v->width, v->height);
	if (!v->r) {
		line_printf(&s->pen, "reading…");
		screen_line(s, LOOK_PLAIN);
		return;
	}
	switch (v->mode) {
	case VIEW_LIST:
		draw_list(v, s);
		break;
	case VIEW_DETAIL:
		view_detail_draw(v, s);
		break;
	case VIEW_GROWTH:
		view_growth_draw(v, s);
		break;
	case VIEW_HELP:
	case VIEW_COLUMNS:
	case VIEW_SORT:
	case VIEW_FILE_SORT:
		view_menu_draw(v, s);
		break;
	case VIEW_FILES:
		view_files_draw(v, s);
		break;
	case VIEW_HOLDERS:
		view_holders_draw(v, s);
		break;
	}
	/* Messages and prompts replace the last line if no line is free. */
	if (s->count == s->height && (v->prompt || *v->message))
		screen_remove_line(s);
	draw_last(v, s);
}
