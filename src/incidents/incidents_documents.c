// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The JSON of incidents, and the page: charts of the whole time, events, snapshots of moments. */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "incidents/incidents.h"
#include "query/change.h"
#include "report/incidents.h"
#include "session/log.h"
#include "session/session.h"
#include "write/format.h"

#define ROWS_USUAL 5

/* A time in UTC is shorter than others; with summer time there may be both. */
unsigned incidents_widest_time(struct incidents *s)
{
	size_t most = strlen("WHEN");

	for (size_t i = 0; i < recording_reader_info(s->replay.reader)->events; i++) {
		int64_t time_ms = recording_reader_event_time(s->replay.reader, i);
		size_t len = incidents_in_range(s, i) ? strlen(time_text(time_ms).text) : 0;

		most = len > most ? len : most;
	}
	return (unsigned)most;
}

size_t incidents_rows(const struct incidents *s)
{
	return s->options->top ? (size_t)s->options->top : ROWS_USUAL;
}

int incidents_write_json(struct incidents *s, const struct incidents_text *text,
			 bool (*wanted)(struct incidents *s, size_t i))
{
	struct incidents_json json = {
		.out = &s->out.buf, .text = text, .group_by = s->incident.group_by};
	size_t events = recording_reader_info(s->replay.reader)->events;
	int r = 0;

	render_incidents_json_begin(&json);
	for (size_t i = 0; r == 0 && i < events; i++) {
		int is = wanted(s, i) ? incidents_read_event(s, i) : 0;

		if (is < 0)
			return EXIT_FAILED;
		if (!is || (text && incidents_is_told(s)))
			continue;
		r = incidents_read(s, i);
		if (r == 0)
			render_incidents_json(&json, &s->incident);
		if (s->frames)
			s->frames[i] = s->incident.during ? s->frame + 1 : 0;
	}
	render_incidents_json_end(&json);
	return r;
}

/* ---- the page ---- */

/* The charts have at most so many points, and the page so many snapshots beside those of events. */
#define PAGE_POINTS  300
#define PAGE_MOMENTS 40
#define PAGE_EVENTS  40 /* the newest; each has its snapshot in the page */

enum page_use {
	PAGE_POINT = 1 << 0,  /* a point of the charts */
	PAGE_MOMENT = 1 << 1, /* a snapshot that the page has */
};

struct page {
	struct incidents *incidents;
	struct options options; /* the same recording as a source of snapshots */
	struct session session;
	struct table_style style;
	uint32_t first, last; /* frames, from 1 */
	uint8_t *use;	      /* enum page_use of each frame from `first` on */
	struct group_changes by_name;
};

static void page_done(struct page *p)
{
	group_changes_done(&p->by_name);
	free(p->use);
	session_close(&p->session);
}

static int open_page(struct page *p)
{
	const struct collect_spec spec = session_spec(&p->options);
	int r = session_open(&p->session, &p->options, &spec);

	if (r)
		return r;
	p->style = session_style(&p->session, false, 0);
	p->style.columns = &p->session.columns;
	p->style.recorded = true;
	r = session_range(&p->session, &p->first, &p->last);
	p->incidents->replay.noted |= p->session.replay.noted;
	return r;
}

/* Frame number `i` of `count` that are spread over the range. */
static uint32_t spread(const struct page *p, uint32_t i, uint32_t count)
{
	uint64_t span = p->last - p->first;

	return count > 1 ? p->first + (uint32_t)(span * i / (count - 1)) : p->last;
}

static uint32_t count_of(const struct page *p, uint32_t most)
{
	uint32_t frames = p->last - p->first + 1;

	return frames < most ? frames : most;
}

/* Whether the page has the event: in the range, and among the newest ones. */
static bool page_has_event(struct incidents *s, size_t i)
{
	size_t events = recording_reader_info(s->replay.reader)->events, newer = 0;

	for (size_t k = i + 1; k < events && newer < PAGE_EVENTS; k++)
		newer += incidents_in_range(s, k);
	return incidents_in_range(s, i) && newer < PAGE_EVENTS;
}

/* The events with the lines of the text, which the page shows as they are. */
static int page_events(struct incidents *s)
{
	const struct table_style style = output_style(s->options, false, 0);
	const struct incidents_text text = {
		.style = style,
		.columns = incident_columns(incidents_widest_time(s), &style),
		.rows = incidents_rows(s),
		.dir = s->replay.path,
		.usual = !s->options->word,
	};

	strbuf_puts(&s->out.buf, "{\"incidents\":");
	return incidents_write_json(s, &text, page_has_event);
}

static void use_spread(struct page *p, uint32_t most, uint8_t use)
{
	uint32_t count = count_of(p, most);

	for (uint32_t i = 0; i < count; i++)
		p->use[spread(p, i, count) - p->first] |= use;
}

/* Chooses frames of the whole range, and those of the events that were read. */
static int choose_frames(struct page *p)
{
	struct incidents *s = p->incidents;

	p->use = calloc(p->last - p->first + 1, sizeof(*p->use));
	if (!p->use)
		return log_error("making the page: out of memory");
	use_spread(p, PAGE_POINTS, PAGE_POINT);
	use_spread(p, PAGE_MOMENTS, PAGE_MOMENT);
	for (size_t i = 0; i < recording_reader_info(s->replay.reader)->events; i++) {
		const size_t frame = s->frames[i];

		/* At the kill there is no PSS: the snapshot before it has it. */
		for (size_t at = frame - 1; frame && at <= frame; at++) {
			if (at >= p->first && at <= p->last)
				p->use[at - p->first] |= PAGE_POINT | PAGE_MOMENT;
		}
	}
	return 0;
}

static int page_frame(struct page *p, uint32_t frame, struct result *ret)
{
	int r = session_turn_to(&p->session, frame);

	return r ? r : session_collect(&p->session, ret);
}

static int page_point(struct page *p, uint32_t frame, bool first)
{
	const struct snapshot *s = &p->session.collector.snapshot;
	const struct change_side none = {}, side = {s};
	struct result result;
	int r = page_frame(p, frame, &result);

	if (r)
		return r;
	group_changes_done(&p->by_name);
	r = group_changes_make(&none, &side, process_field("name"), INCIDENT_COUNTERS, &p->by_name);
	if (r < 0)
		return log_errno(r, "making the page");
	group_changes_by_size(&p->by_name);
	render_incidents_point(&p->incidents->out.buf, first, s, &p->by_name);
	return 0;
}

/* The page leaves frames out that cannot be read, and those that the clock put out of the range. */
static bool page_uses(struct page *p, uint32_t frame, enum page_use use)
{
	struct incidents *s = p->incidents;

	if (!(p->use[frame - p->first] & use))
		return false;
	if (session_readable(&p->session, frame, 0))
		return true;
	if (*p->session.collector.reason)
		replay_note_lost(&s->replay, s->options->quiet, p->session.collector.reason);
	return false;
}

static int page_points(struct page *p)
{
	struct strbuf *out = &p->incidents->out.buf;
	bool first = true;

	strbuf_puts(out, ",\"points\":[");
	for (uint32_t frame = p->first; frame <= p->last; frame++) {
		int r = 0;

		if (page_uses(p, frame, PAGE_POINT)) {
			r = page_point(p, frame, first);
			first = false;
		}
		if (r)
			return r;
	}
	strbuf_puts(out, "]");
	return 0;
}

static int page_moments(struct page *p)
{
	struct strbuf *out = &p->incidents->out.buf;
	const char *comma = "";

	strbuf_puts(out, ",\"moments\":[\n");
	for (uint32_t frame = p->first; frame <= p->last; frame++) {
		struct result result;
		int r;

		if (!page_uses(p, frame, PAGE_MOMENT))
			continue;
		r = page_frame(p, frame, &result);
		if (r)
			return r;
		strbuf_puts(out, comma);
		render_page_json(out, &result, &p->style);
		comma = ",";
	}
	strbuf_puts(out, "]}\n");
	return 0;
}

/* Whether the range has events, and none of its snapshots can be read. */
static bool has_only_events(struct incidents *s)
{
	struct recording_reader *r = s->replay.reader;
	const struct snapshot *snapshot;
	char why[RECORDING_REASON];
	bool events = false;

	for (size_t i = 0; i < s->replay.frames; i++) {
		int64_t time_ms = recording_reader_time(r, i);

		if (time_ms < s->range.first_ms || time_ms > s->range.last_ms)
			continue;
		if (recording_reader_frame(r, i, &snapshot, why) == 0)
			return false;
		if (recording_reader_lost(r, i))
			replay_note_lost(&s->replay, s->options->quiet, why);
	}
	for (size_t i = 0; !events && i < recording_reader_info(r)->events; i++)
		events = incidents_in_range(s, i);
	return events;
}

/* The page without snapshots. */
static int show_events_page(struct incidents *s)
{
	const struct snapshot snapshot = {};
	const struct field_list columns = {};
	const struct result result = {.snapshot = &snapshot};
	struct table_style style = output_style(s->options, false, 0);
	struct strbuf *out = &s->out.buf;
	int r;

	style.columns = &columns;
	render_past_page_begin(out, &result, &style);
	r = page_events(s);
	strbuf_puts(out, ",\"points\":[],\"moments\":[]}\n");
	render_past_page_end(out);
	return r;
}

int incidents_write_page(struct incidents *s)
{
	cleanup(page_done) struct page p = {
		.incidents = s,
		.options = *s->options,
		.session = SESSION_CLOSED,
	};
	struct result result;
	int r;

	if (has_only_events(s))
		return show_events_page(s);
	p.options.replay = s->replay.path;
	p.options.at = NULL;
	p.options.top = 0;
	p.options.opened = &s->replay;
	s->frames = calloc(recording_reader_info(s->replay.reader)->events + 1, sizeof(*s->frames));
	if (!s->frames)
		return log_error("making the page: out of memory");
	r = open_page(&p);
	if (r == 0)
		r = page_frame(&p, p.last, &result);
	if (r)
		return r;
	render_past_page_begin(&s->out.buf, &result, &p.style);
	r = page_events(s);
	if (r == 0)
		r = choose_frames(&p);
	if (r == 0)
		r = page_points(&p);
	if (r == 0)
		r = page_moments(&p);
	render_past_page_end(&s->out.buf);
	return r;
}
