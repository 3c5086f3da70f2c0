// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* zmem-bpf incidents: OOM kills, signals and times of short memory in a recording. */
#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "command/table.h"
#include "incidents/incidents.h"
#include "report/incidents.h"
#include "session/log.h"
#include "session/output.h"
#include "session/query_args.h"
#include "session/secure.h"
#include "session/session.h"
#include "write/format.h"

/* Reads an event that no other one stands for. Returns as incidents_read_event(). */
static int read_standing(struct incidents *s, size_t i)
{
	int is = incidents_read_event(s, i);

	return is > 0 && incidents_is_told(s) ? 0 : is;
}

/* The event that is shown behind the list. */
struct shown {
	size_t event;
	bool any, kill, signal;
	int64_t since_ms;
	char workload[EVENT_WORKLOAD];
};

/* Whether a signal is of one incident with the one that is shown: who sent the first one began it.
 */
static bool begins(const struct shown *shown, const struct incidents *s)
{
	const char *workload = s->incident.workload;

	return shown->signal && incident_is_signal(&s->incident) && workload &&
	       strcmp(shown->workload, workload) == 0 &&
	       shown->since_ms - s->incident.burst.until_ms <= INCIDENT_SIGNALS_MS;
}

static void choose(struct shown *shown, const struct incidents *s, size_t event)
{
	const char *workload = s->incident.workload;
	const bool kill = s->event.number[EVENT_KIND] == EVENT_OOM_KILL;

	if (shown->any && !(kill && !shown->kill) && !begins(shown, s))
		return;
	*shown = (struct shown){
		.event = event,
		.any = true,
		.kill = kill,
		.signal = incident_is_signal(&s->incident),
		.since_ms = s->incident.burst.since_ms,
	};
	snprintf(shown->workload, sizeof(shown->workload), "%s", workload ? workload : "");
}

/*
 * The list of events, newest first. Sets the newest OOM kill of it, or the newest event without
 * one.
 */
static int show_list(struct incidents *s, const struct table_style *style, size_t *ret_newest,
		     size_t *ret_count)
{
	const size_t most = s->options->top ? (size_t)s->options->top : SIZE_MAX;
	const struct incident_columns columns = incident_columns(incidents_widest_time(s), style);
	struct shown shown = {};
	size_t lines = 0, earlier = 0;

	*ret_count = 0;
	for (size_t i = recording_reader_info(s->replay.reader)->events; i-- > 0;) {
		int is = incidents_in_range(s, i) ? read_standing(s, i) : 0;

		if (is < 0)
			return EXIT_FAILED;
		if (!is)
			continue;
		if (!*ret_count)
			render_incident_heading(&s->out.buf, &columns, style);
		choose(&shown, s, i);
		++*ret_count;
		if (lines == most) {
			earlier++;
			continue;
		}
		render_incident_line(&s->out.buf, &s->incident, &columns, style);
		lines++;
	}
	*ret_newest = shown.event;
	if (earlier)
		strbuf_printf(&s->out.buf, "… and %zu earlier event%s\n", earlier,
			      earlier == 1 ? "" : "s");
	return 0;
}

static int show_one(struct incidents *s, size_t i, const struct table_style *style)
{
	const struct options *o = s->options;
	int r = incidents_read_event(s, i);

	if (r < 0)
		return EXIT_FAILED;
	r = incidents_read(s, i);
	if (r == 0)
		render_incident(&s->out.buf, &s->incident, incidents_rows(s), style);
	if (r == 0 && style->header && !o->quiet)
		render_incident_next(&s->out.buf, &s->incident, s->replay.path, !o->word);
	return r;
}

/* The number of frames up to a time; what cannot be read may be of that time. */
static size_t frames_by(const struct incidents *s, int64_t time_ms)
{
	const struct recording_reader *r = s->replay.reader;
	size_t end = 0;

	if (recording_reader_find(r, time_ms, &end))
		end++;
	while (end < s->replay.frames && recording_reader_lost(r, end) &&
	       recording_reader_time(r, end) <= time_ms)
		end++;
	return end;
}

/* Likewise, but each kill has a moment of its own. */
static int read_near(struct incidents *s, size_t i)
{
	int is = incidents_read_event(s, i);

	return is > 0 && incident_is_signal(&s->incident) && incidents_is_told(s) ? 0 : is;
}

/*
 * Finds the event nearest to a time: the newest one that began by then, or else the first one after
 * it. *ret_count: 0 if there is none.
 */
static int find_nearest(struct incidents *s, int64_t time_ms, size_t *ret, size_t *ret_count)
{
	const struct recording_reader *r = s->replay.reader;
	const size_t events = recording_reader_info(r)->events, end = frames_by(s, time_ms);
	size_t later = 0, frame;
	int is = 0;

	for (; later < events; later++) {
		frame = recording_reader_event_frame(r, later);
		if (frame > end ||
		    (frame == end && recording_reader_event_time(r, later) > time_ms))
			break;
	}
	for (size_t i = later; !is && i-- > 0; *ret = i)
		is = read_near(s, i);
	for (size_t i = later; !is && i < events; i++) {
		is = read_near(s, i);
		*ret = i;
	}
	*ret_count = is > 0;
	return is < 0 ? EXIT_FAILED : 0;
}

static int find_event(struct incidents *s, size_t *ret, size_t *ret_count)
{
	const struct options *o = s->options;
	struct moment moment;
	int r = replay_event(&s->replay, o->at, ret);

	*ret_count = r == 0;
	if (r >= 0)
		return r;
	r = replay_moment(&s->replay, o, "at", o->at, MOMENT_LATEST, &moment);
	return r ? r : find_nearest(s, moment.last_ms, ret, ret_count);
}

/* ---- what was not recorded ---- */

struct gaps {
	size_t count;
	int64_t from_ms, to_ms; /* of the longest one */
};

static void add_gap(struct gaps *g, const struct moment *range, int64_t from_ms, int64_t to_ms)
{
	from_ms = from_ms > range->first_ms ? from_ms : range->first_ms;
	to_ms = to_ms < range->last_ms ? to_ms : range->last_ms;
	/* Less than a second has one time in words. */
	if (to_ms - from_ms < 1000)
		return;
	if (!g->count++ || to_ms - from_ms > g->to_ms - g->from_ms) {
		g->from_ms = from_ms;
		g->to_ms = to_ms;
	}
}

/* The times of the range in which nothing was recorded; without a range those of the recording. */
static struct gaps find_gaps(const struct incidents *s)
{
	const struct recording_reader *r = s->replay.reader;
	struct moment range = s->range;
	struct gaps gaps = {};
	int64_t first_ms, last_ms;

	recording_reader_range(r, &first_ms, &last_ms);
	if (range.last_ms > s->now_ms)
		range.last_ms = s->now_ms;
	if (range.first_ms != MOMENT_LATEST)
		add_gap(&gaps, &range, INT64_MIN, first_ms);
	for (size_t i = 1; i < s->replay.frames; i++) {
		if (recording_reader_gap(r, i))
			add_gap(&gaps, &range, recording_reader_time(r, i - 1),
				recording_reader_time(r, i));
	}
	if (s->range.last_ms != INT64_MAX && recording_reader_ended(r, range.last_ms))
		add_gap(&gaps, &range, last_ms, INT64_MAX);
	return gaps;
}

static void show_none(struct incidents *s)
{
	const struct gaps gaps = find_gaps(s);
	const bool range = s->options->since || s->options->until;
	struct strbuf *out = &s->out.buf;

	strbuf_printf(out, "no OOM kill, no shortage of memory and no signal was recorded%s\n",
		      range ? " in this time" : "");
	if (!gaps.count)
		return;
	strbuf_printf(out, "nothing at all was recorded from %s to %s",
		      time_text(gaps.from_ms).text, time_text(gaps.to_ms).text);
	if (gaps.count > 1)
		strbuf_printf(out, ", and at %zu other time%s", gaps.count - 1,
			      gaps.count > 2 ? "s" : "");
	strbuf_puts(out, "\n");
}

/* The list and the newest OOM kill, or the event of --at. */
static int show_table(struct incidents *s)
{
	const struct options *o = s->options;
	struct table_style style = output_style(o, s->out.color, s->out.width);
	size_t event = 0, count = 0;
	int r = o->at ? find_event(s, &event, &count) : show_list(s, &style, &event, &count);

	if (r)
		return r;
	if (!count) {
		show_none(s);
		return 0;
	}
	if (!o->at)
		strbuf_putc(&s->out.buf, '\n');
	return show_one(s, event, &style);
}

static bool is_chosen(struct incidents *s, size_t i)
{
	return i == s->chosen;
}

static int show_json(struct incidents *s)
{
	size_t count = 0;
	int r = s->options->at ? find_event(s, &s->chosen, &count) : 0;

	if (r)
		return r;
	if (!count)
		s->chosen = SIZE_MAX;
	return incidents_write_json(s, NULL, s->options->at ? is_chosen : incidents_in_range);
}

static int show(struct incidents *s)
{
	const struct options *o = s->options;

	if (o->format == FORMAT_HTML && o->at)
		return log_usage(o,
				 "--at cannot be combined with --format html (--since, --until)");
	if (o->format == FORMAT_HTML && s->group)
		return log_usage(o, "--group-by cannot be combined with --format html");
	return o->format == FORMAT_HTML	  ? incidents_write_page(s)
	       : o->format == FORMAT_JSON ? show_json(s)
					  : show_table(s);
}

int command_incidents(const struct options *o)
{
	cleanup(incidents_close) struct incidents s = {
		.options = o,
		.out.file.fd = -1,
		.now_ms = (int64_t)(clock_us(CLOCK_REALTIME) / 1000),
	};
	int r;

	s.group = options_group(o);
	s.incident.group_by = s.group ? s.group->key : NULL;
	r = replay_open(&s.replay, o->word ? o->word : REPLAY_DIR_USUAL, o->quiet);

	if (r == 0)
		r = replay_range(&s.replay, o, &s.range);
	if (r == 0)
		r = secure_loaded(o->output, LATER_READS);
	if (r == 0 && incidents_find_bursts(&s) < 0)
		r = log_errno(-ENOMEM, "reading %s", s.replay.path);
	if (r == 0)
		r = output_open(&s.out, o);
	if (r == 0)
		r = show(&s);
	return r ? r : output_finish(&s.out);
}
