// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Draws the lines above the rows: the machine's RAM and swap, how near it is to a shortage, the
 * collection, and the time line of a recording.
 */
#include "top/head.h"

#include <string.h>

#include "base/array.h"
#include "model/account.h"
#include "report/summary.h"
#include "write/format.h"

#define BAR_LEAST	 10
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

static void put_known(struct line *l, bool known, uint64_t bytes)
{
	if (known)
		put_short(l, bytes);
	else
		line_ascii(l, "-", 1);
}

static void put_legend(struct line *l, const struct bar_part *part, size_t count, bool rare)
{
	for (size_t i = 0; i < count; i++) {
		if (!part[i].known || part[i].rare != rare)
			continue;
		bar_put_name(l, &part[i]);
		if (part[i].bytes < 0)
			line_ascii(l, "-", 1);
		put_short(l,
			  part[i].bytes < 0 ? -(uint64_t)part[i].bytes : (uint64_t)part[i].bytes);
	}
}

/* A bar, if there is room, and what it means. */
static void put_parts(struct screen *s, const struct bar_part *part, size_t count, uint64_t total)
{
	unsigned width = s->width > LEGEND + BAR_LEAST ? s->width - LEGEND : BAR_LEAST;

	if (s->width >= NO_BAR && total) {
		line_blanks(&s->pen, 1);
		bar_put(&s->pen, part, count, total, width < BAR_MOST ? width : BAR_MOST);
	}
	put_legend(&s->pen, part, count, false);
	put_legend(&s->pen, part, count, true);
}

/* The parts sum to all RAM (model/account.h). */
static void put_ram(const struct shared *v, struct screen *s)
{
	const struct meminfo *m = &v->rows.r->snapshot->system.meminfo;
	uint64_t total = m->value[MEMINFO_TOTAL];
	struct account a;

	account_split(&v->rows.r->snapshot->system, &a);
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
	put_known(&s->pen, meminfo_has(m, MEMINFO_TOTAL), total);
	put_parts(s, shown, count, total);
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

static void put_swap(const struct shared *v, struct screen *s)
{
	const struct system_info *system = &v->rows.r->snapshot->system;
	const struct meminfo *m = &system->meminfo;
	const struct machine_balance *balance = &v->rows.r->snapshot->balance;
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
		put_parts(s, part, ARRAY_SIZE(part), total);
		put_compressed(system, &s->pen);
	} else {
		line_printf(&s->pen, known ? "none" : "-");
	}
	screen_line(s, LOOK_PLAIN);
}

/* How near the machine is to a shortage: available memory, pressure, swap activity. */
static void put_shortage(const struct shared *v, struct screen *s)
{
	const struct system_info *system = &v->rows.r->snapshot->system;
	const struct meminfo *m = &system->meminfo;
	const struct memory_pressure *p = &system->pressure;
	struct line *l = &s->pen;

	line_printf(l, "Avail ");
	put_known(l, meminfo_has(m, MEMINFO_AVAILABLE), m->value[MEMINFO_AVAILABLE]);
	if (p->known)
		line_printf(l, "  pressure some %u.%02u %% full %u.%02u %%", p->some_avg10 / 100,
			    p->some_avg10 % 100, p->full_avg10 / 100, p->full_avg10 % 100);
	else
		line_printf(l, "  pressure -");
	line_printf(l, "  swap in ");
	put_known(l, v->facts.swap_known, v->facts.swap_in);
	line_printf(l, v->facts.swap_known ? "/s out " : " out ");
	put_known(l, v->facts.swap_known, v->facts.swap_out);
	line_printf(l, v->facts.swap_known ? "/s" : "");
	screen_line(s, LOOK_PLAIN);
}

/* The time, the number of processes, sources, and completeness. */
static void put_collection(const struct shared *v, struct screen *s)
{
	char buf[FORMAT_MAX];
	size_t len = format_time(buf, v->rows.r->snapshot->time_ms, TIME_TABLE);

	/* The date is shown only for recordings. */
	if (len > 11 && !v->facts.frames)
		line_ascii(&s->pen, buf + 11, len - 11);
	else
		line_ascii(&s->pen, buf, len);
	line_blanks(&s->pen, 2);
	summary_write(&s->pen, v->rows.r);
	screen_line(s, LOOK_PLAIN);
}

unsigned head_lines(const struct shared *v)
{
	/* The minimum height of the terminal for each line. */
	static const unsigned from[] = {
		[HEAD_RAM] = 8,		[HEAD_SWAP] = 10,  [HEAD_SHORTAGE] = 12,
		[HEAD_COLLECTION] = 14, [HEAD_STATE] = 16, [HEAD_TIMELINE] = 18,
	};
	unsigned lines = 0, most = ARRAY_SIZE(from) - !v->facts.timeline;

	while (lines < most && v->height >= from[lines])
		lines++;
	return lines;
}

void head_draw(const struct shared *v, struct screen *s, unsigned lines)
{
	static void (*const put[])(const struct shared *v, struct screen *s) = {
		[HEAD_RAM] = put_ram,
		[HEAD_SWAP] = put_swap,
		[HEAD_SHORTAGE] = put_shortage,
		[HEAD_COLLECTION] = put_collection,
	};

	for (unsigned i = 0; i < lines && i < ARRAY_SIZE(put); i++)
		put[i](v, s);
}

void head_put_paused(const struct shared *v, struct line *l)
{
	if (!v->set.paused)
		return;
	l->attr = ATTR_REVERSE;
	line_printf(l, "paused");
	l->attr = ATTR_NORMAL;
	line_blanks(l, 2);
}

/* With as many digits as it has. */
void head_put_interval(struct line *l, unsigned ms)
{
	unsigned part = ms % 1000;

	line_printf(l, "  every %u", ms / 1000);
	if (part % 100)
		line_printf(l, part % 10 ? ".%03u" : ".%02u", part % 10 ? part : part / 10);
	else
		line_printf(l, ".%u", part / 100);
	line_printf(l, " s");
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

static void put_line_of_time(const struct shared *v, struct line *l, unsigned width)
{
	const struct timeline *t = v->facts.timeline;
	unsigned now = timeline_column(t, v->rows.r->snapshot->time_ms, width);
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
static size_t event_shown(const struct shared *v)
{
	const struct timeline *t = v->facts.timeline;

	for (size_t i = t->events; i-- > 0;) {
		if (t->event[i].frame == v->facts.frame)
			return t->events - i;
	}
	return 0;
}

void head_timeline(const struct shared *v, struct screen *s)
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
