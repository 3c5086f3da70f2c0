// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Draws the lines above the rows: the machine (report/head.h), the collection, the time line. */
#include "top/head.h"

#include <string.h>

#include "base/count.h"
#include "report/ended.h"
#include "report/findings.h"
#include "report/head.h"
#include "report/summary.h"
#include "write/format.h"

#define SCREEN_WIDTH_MAX 512 /* columns of a time line */
#define TYPED_WIDE	 30

/* ---- the machine ---- */

/* From this height on, RAM has a line for each part. */
#define TALL 24

static unsigned ram_lines(const struct shared *v, const struct head *h, bool low)
{
	unsigned lines = v->height >= 12 ? 2 : v->height >= 8, all = (unsigned)head_count(h);

	if (v->height >= TALL && !low)
		lines = v->height / 3 - 1;
	return lines < all ? lines : all;
}

/* What is wrong comes first; on a low screen, the worst of it. */
static unsigned finding_lines(const struct shared *v)
{
	const size_t count = findings_down_to(&v->facts.findings, FINDING_WARNING);
	const size_t most = v->height >= TALL ? FINDINGS_FIRST : v->height >= 14;

	return (unsigned)(count < most ? count : most);
}

/* Of a recording: which processes ended since the snapshot before. */
static bool shows_ended(const struct shared *v, bool low)
{
	return v->rows.r->snapshot->system.ended && v->height >= TALL && !low;
}

unsigned head_lines(const struct shared *v, bool low)
{
	struct head h;

	if (!v->rows.r)
		return 0;
	head_begin(&h, v->rows.r->snapshot, NULL, &v->style);
	return ram_lines(v, &h, low) + (v->height >= 10) + finding_lines(v) + shows_ended(v, low);
}

void head_draw(const struct shared *v, struct screen *s, bool low, const struct ram *ram)
{
	const struct swap_rates rates = {v->facts.swap_in, v->facts.swap_out};
	struct table_style style = v->style;
	struct head h;
	unsigned lines;

	style.width = s->width;
	head_begin(&h, v->rows.r->snapshot, ram, &style);
	if (v->facts.swap_known)
		h.rates = &rates;
	for (unsigned i = 0; i < finding_lines(v); i++) {
		finding_put(&s->pen, &v->facts.findings.item[i],
			    style.bytes ? SIZES_EXACT : SIZES_SHORT);
		screen_line(s, LOOK_PLAIN);
	}
	lines = ram_lines(v, &h, low);
	for (unsigned i = 0; i < lines; i++) {
		head_put(&h, &s->pen, i, lines);
		screen_line(s, LOOK_PLAIN);
	}
	if (v->height >= 10) {
		head_put_swap(&h, &s->pen);
		screen_line(s, LOOK_PLAIN);
	}
	if (shows_ended(v, low)) {
		ended_put(&s->pen, h.snapshot->system.ended,
			  style.bytes ? SIZES_EXACT : SIZES_SHORT);
		screen_line(s, LOOK_PLAIN);
	}
}

/* ---- the list ---- */

bool head_has(const struct shared *v, enum head_line line)
{
	static const unsigned from[] = {
		[HEAD_COLLECTION] = 14, [HEAD_STATE] = 16, [HEAD_TIMELINE] = 18};

	return v->height >= from[line] && (line != HEAD_TIMELINE || v->facts.timeline);
}

/* The time, the number of processes, sources, and completeness. */
void head_collection(const struct shared *v, struct screen *s)
{
	/* The date is shown only for recordings. */
	const size_t from = v->facts.frames ? 0 : strlen("2026-11-22 ");

	line_printf(&s->pen, "%s  ", time_text(v->rows.r->snapshot->time_ms).text + from);
	summary_write(&s->pen, v->rows.r);
	screen_line(s, LOOK_PLAIN);
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

void head_put_text(struct line *l, const char *name, const char *text)
{
	if (!*text)
		return;
	line_printf(l, "  %s ", name);
	line_text(l, text, TYPED_WIDE);
}

/* ---- the time line of a recording ---- */

#define TIMELINE_LEAST 10 /* columns */
#define MINUTES_MS     600000
#define EVENT_TEXT_MAX 12 /* columns: "  event:1234" */

/* The time of day; with the date if the line has several days, and with seconds if it is short. */
static void put_moment(struct line *l, const struct timeline *t, int64_t time_ms)
{
	const struct format_text first = time_text(t->first_ms), last = time_text(t->last_ms),
				 at = time_text(time_ms);

	if (!*at.text)
		line_ascii(l, "?", 1);
	else if (memcmp(first.text, last.text, 10) != 0)
		line_ascii(l, at.text + 5, 11);
	else
		line_ascii(l, at.text + 11, t->last_ms - t->first_ms < MINUTES_MS ? 8 : 5);
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

/* The event of the snapshot that is shown, as --at takes it; 0: none. */
static unsigned event_shown(const struct shared *v)
{
	const struct timeline *t = v->facts.timeline;

	for (size_t i = t->events; i-- > 0;) {
		if (t->event[i].number && t->event[i].frame == v->facts.frame)
			return t->event[i].number;
	}
	return 0;
}

void head_timeline(const struct shared *v, struct screen *s)
{
	const struct timeline *t = v->facts.timeline;
	struct line *l = &s->pen;
	unsigned around = 2 * 11 + 4 + EVENT_TEXT_MAX;
	unsigned width = s->width > around + TIMELINE_LEAST ? s->width - around : TIMELINE_LEAST;
	unsigned event = event_shown(v);

	if (width > SCREEN_WIDTH_MAX)
		width = SCREEN_WIDTH_MAX;
	put_moment(l, t, t->first_ms);
	line_printf(l, " [");
	put_line_of_time(v, l, width);
	line_printf(l, "] ");
	put_moment(l, t, t->last_ms);
	if (event)
		line_printf(l, "  event:%u", event);
	else if (t->events)
		line_printf(l, "  %zu %s", t->events, count_word(t->events, "event", "events"));
	screen_line(s, LOOK_PLAIN);
}
