// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* zmem-bpf incidents: OOM kills, signals and times of short memory in a recording. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "command/table.h"
#include "proc/cgroup.h"
#include "query/change.h"
#include "query/group.h"
#include "report/incidents.h"
#include "session/log.h"
#include "session/output.h"
#include "session/query_args.h"
#include "session/secure.h"
#include "session/session.h"

#define ROWS_USUAL 5

struct incidents {
	const struct options *options;
	struct replay replay;
	struct output out;
	struct event_record event, end;
	struct snapshot during, before[INCIDENT_WINDOWS]; /* their texts are borrowed */
	struct incident incident;
	size_t frame;		   /* of incident.during */
	struct arena names;	   /* of incident.file */
	struct arena joined;	   /* texts of groups by several columns */
	const struct field *group; /* of --group-by; NULL: programs */
	struct moment range;
	size_t chosen; /* the event of --at */
};

static void groups_clear(struct incidents *s)
{
	struct incident *i = &s->incident;

	for (int k = 0; k < INCIDENT_KEYS; k++)
		group_changes_done(&i->largest[k]);
	for (int w = 0; w < INCIDENT_WINDOWS; w++) {
		group_changes_done(&i->grew[w]);
		group_changes_done(&i->grew_inside[w]);
	}
	group_changes_done(&i->largest_inside);
	group_changes_done(&i->shmem_inside);
	arena_clear(&s->joined);
}

static void incidents_close(struct incidents *s)
{
	groups_clear(s);
	arena_done(&s->names);
	arena_done(&s->joined);
	snapshot_done(&s->during);
	for (int w = 0; w < INCIDENT_WINDOWS; w++)
		snapshot_done(&s->before[w]);
	output_close(&s->out);
	replay_close(&s->replay);
}

static int frame_failed(const struct incidents *s, int r, const char *why)
{
	return *why ? log_error("%s: %s", s->replay.path, why)
		    : log_errno(r, "reading %s", s->replay.path);
}

/* Reads a copy of a frame. Returns 0, 1 if it is lost (told once), or -1 after a message. */
static int read_frame(struct incidents *s, size_t frame, struct snapshot *ret)
{
	struct recording_reader *r = s->replay.reader;
	char why[RECORDING_REASON] = "";
	int err = recording_reader_copy(r, frame, ret, why);

	if (err == 0)
		return 0;
	if (!recording_reader_lost(r, frame)) {
		frame_failed(s, err, why);
		return -1;
	}
	replay_note_lost(&s->replay, s->options->quiet, why);
	return 1;
}

/* While memory is short there is a snapshot each second, for an hour at most. */
#define DENSE_MOST_MS (60 * 60 * 1000)
#define DENSE_LATE_MS 5000 /* a machine in need may be late */

/*
 * Whether memory was still short when the recording ended, of an event without an end: the recorder
 * did not stop meanwhile, and there is no later event of this kind.
 */
static bool goes_on(struct incidents *s, size_t event)
{
	struct recording_reader *r = s->replay.reader;
	int64_t began = recording_reader_event_time(r, event);
	char why[RECORDING_REASON];

	for (size_t i = recording_reader_event_frame(r, event) + 1; i < s->replay.frames; i++) {
		int64_t time_ms = recording_reader_time(r, i);
		bool dense = time_ms - began < DENSE_MOST_MS;

		if (recording_reader_gap(r, i) ||
		    (dense && time_ms - recording_reader_time(r, i - 1) > DENSE_LATE_MS))
			return false;
	}
	for (size_t i = event + 1; i < recording_reader_info(r)->events; i++) {
		if (recording_reader_event(r, i, &s->end, why) == 0 &&
		    s->end.number[EVENT_KIND] == EVENT_PRESSURE)
			return false;
	}
	return true;
}

/*
 * Reads event i, from 0. Returns 1, 0 if it is of another kind or corrupt, which is said once, or
 * -1 after a message.
 */
static int read_event(struct incidents *s, size_t i)
{
	char why[RECORDING_REASON] = "";
	int r = recording_reader_event(s->replay.reader, i, &s->event, why);
	uint64_t kind = r == 0 ? s->event.number[EVENT_KIND] : 0;

	if (r == 0 && kind == EVENT_PRESSURE)
		r = recording_reader_event_end(s->replay.reader, i, &s->end, why);
	s->incident.end = r > 0 ? &s->end : NULL;
	if (r == -ENOMEM) {
		frame_failed(s, r, why);
		return -1;
	}
	if (r < 0)
		replay_note_lost(&s->replay, s->options->quiet, why);
	s->incident.goes_on = kind == EVENT_PRESSURE && r == 0 && goes_on(s, i);
	s->incident.event = &s->event;
	s->incident.number = recording_reader_event_number(s->replay.reader, i);
	return kind == EVENT_OOM_KILL || kind == EVENT_SIGNAL || kind == EVENT_PRESSURE;
}

/*
 * Whether the clock was set between two frames of one boot: what it says of the time between them
 * is wrong then. `window_ms`: that time.
 */
static bool clock_was_set(const struct snapshot *before, const struct snapshot *during,
			  int64_t window_ms)
{
	int64_t moved = (int64_t)(during->host.boot_ms - before->host.boot_ms);
	int64_t since_boot_ms = (int64_t)((uint64_t)during->time_ms - during->host.boot_ms);

	return since_boot_ms > window_ms && (moved > window_ms / 10 || moved < -window_ms / 10);
}

/* Reads the first frame of the recording since the machine booted. Returns 1, 0 or -1, likewise. */
static int read_first(struct incidents *s, size_t event_frame)
{
	struct recording_reader *r = s->replay.reader;
	struct snapshot *before = &s->before[INCIDENT_RECORDED];
	size_t frame = 0;
	int lost = 1;

	if (recording_reader_time(r, 0) < (int64_t)s->during.host.boot_ms &&
	    !recording_reader_later(r, (int64_t)s->during.host.boot_ms, &frame))
		return 0;
	for (; lost > 0 && frame < event_frame; frame++)
		lost = read_frame(s, frame, before);
	if (lost)
		return lost < 0 ? -1 : 0;
	s->incident.recorded_ms = s->during.time_ms - before->time_ms;
	return s->incident.recorded_ms > 0 &&
	       strcmp(before->host.boot_id, s->during.host.boot_id) == 0;
}

/* Reads the frame of the beginning of a window. Returns 1, 0 if there is none, or -1. */
static int read_before(struct incidents *s, size_t event_frame, int window)
{
	struct recording_reader *r = s->replay.reader;
	const int64_t window_ms = incident_window_ms[window], at_ms = s->during.time_ms - window_ms;
	struct snapshot *before = &s->before[window];
	size_t frame = 0;
	int lost = 1;

	if (window == INCIDENT_RECORDED)
		return s->incident.grew_known[INCIDENT_HOUR] ? 0 : read_first(s, event_frame);
	/* A frame that turns out to be lost is not found again. */
	while (lost > 0) {
		if (!recording_reader_find(r, at_ms, &frame) || frame >= event_frame)
			return 0;
		lost = read_frame(s, frame, before);
	}
	if (lost < 0)
		return -1;
	return recording_reader_covers(r, frame, at_ms) &&
	       !clock_was_set(before, &s->during, window_ms);
}

/* What the processes have in common that rows are made by, beside the lists of names alone. */
static const struct field *group_of(const struct incidents *s)
{
	return s->group ? s->group : process_field("name");
}

/* Makes the texts of groups. What the recording does not call otherwise is called by its name. */
static int join(struct incidents *s, struct snapshot *of)
{
	cleanup(process_list_done) struct process_list all = {};
	int r = s->group ? process_list_reserve(&all, of->count) : 0;

	for (size_t i = 0; s->group && r == 0 && i < of->count; i++) {
		struct process *p = &of->process[i];

		p->app = p->app ? p->app : p->name;
		all.item[all.count++] = p;
	}
	return r < 0 ? r : group_join(s->group, &all, &s->joined);
}

/* The processes of the cgroup that reached its limit, and of those below it. */
static int list_inside(const struct incidents *s, struct snapshot *of, struct process_list *ret)
{
	const char *limit = event_text(&s->event, EVENT_LIMIT_CGROUP);
	int r = process_list_reserve(ret, of->count);

	for (size_t i = 0; r == 0 && i < of->count; i++) {
		if (of->process[i].cgroup && cgroup_below(limit, of->process[i].cgroup))
			ret->item[ret->count++] = &of->process[i];
	}
	return r;
}

/* The groups that the cgroup has in both, or the counters of the later one alone. */
static int compare_inside(struct incidents *s, struct snapshot *before, counter_mask counters,
			  struct group_changes *ret)
{
	cleanup(process_list_done) struct process_list earlier = {}, later = {};
	const struct change_side none = {};
	const struct change_side from = {before, &earlier}, to = {&s->during, &later};
	int r = before ? list_inside(s, before, &earlier) : 0;

	if (r == 0)
		r = list_inside(s, &s->during, &later);
	return r < 0 ? r
		     : group_changes_make(before ? &from : &none, &to, group_of(s), counters, ret);
}

static int read_growth(struct incidents *s, size_t frame, int window)
{
	const struct change_side before = {&s->before[window]}, after = {&s->during};
	struct incident *i = &s->incident;
	int err = read_before(s, frame, window);

	i->grew_known[window] = false;
	if (err <= 0)
		return err < 0 ? EXIT_FAILED : 0;
	err = join(s, &s->before[window]);
	if (err == 0)
		err = group_changes_make(&before, &after, group_of(s), INCIDENT_COUNTERS,
					 &i->grew[window]);
	if (err == 0 && incident_is_of_cgroup(i))
		err = compare_inside(s, &s->before[window], INCIDENT_COUNTERS,
				     &i->grew_inside[window]);
	i->grew_known[window] = err == 0;
	return err < 0 ? log_errno(err, "comparing") : 0;
}

static int read_largest(struct incidents *s, int key)
{
	static const char *const name[INCIDENT_KEYS] = {"name", "unit", "container", NULL};
	const struct change_side none = {}, held = {&s->during};
	const struct field *by = key == INCIDENT_ASKED ? s->group : process_field(name[key]);
	int r;

	if (!by)
		return 0;
	r = group_changes_make(&none, &held, by, INCIDENT_COUNTERS, &s->incident.largest[key]);
	if (r == 0)
		group_changes_by_size(&s->incident.largest[key]);
	return r < 0 ? log_errno(r, "comparing") : 0;
}

/* What held most in the cgroup. */
static int read_inside(struct incidents *s)
{
	struct incident *i = &s->incident;
	int r = 0;

	if (!incident_is_of_cgroup(i))
		return 0;
	r = compare_inside(s, NULL, INCIDENT_COUNTERS, &i->largest_inside);
	if (r == 0)
		r = compare_inside(s, NULL, COUNTER_BIT(COUNTER_RSS_SHMEM), &i->shmem_inside);
	if (r == 0)
		group_changes_by_size(&i->largest_inside);
	return r < 0 ? log_errno(r, "comparing") : 0;
}

/* The snapshot with which the events of cgroups are compared. */
static void choose_baseline(struct incident *i, struct snapshot *before)
{
	i->baseline = i->grew_known[INCIDENT_TEN_MINUTES] ? &before[INCIDENT_TEN_MINUTES]
		      : i->grew_known[INCIDENT_RECORDED]  ? &before[INCIDENT_RECORDED]
							  : NULL;
}

/* Compares the census nearest to the baseline with the one nearest to the event. */
static int read_ram(struct incidents *s, size_t frame)
{
	struct snapshot *baseline =
		&s->before[s->incident.grew_known[INCIDENT_TEN_MINUTES] ? INCIDENT_TEN_MINUTES
									: INCIDENT_RECORDED];
	size_t first = 0;
	int r = 0;

	s->incident.ram = (struct ram_changes){};
	if (!s->incident.baseline ||
	    !recording_reader_find(s->replay.reader, baseline->time_ms, &first))
		return 0;
	r = replay_find_census(&s->replay, first, false, baseline);
	if (r == 0)
		r = replay_find_census(&s->replay, frame, true, &s->during);
	ram_changes_make(baseline->system.ram, s->during.system.ram, &s->incident.ram);
	return r < 0 ? log_errno(r, "reading %s", s->replay.path) : 0;
}

/* ---- files ---- */

/* A list that was made so long after an event still tells of it; the next frame may come later. */
#define FILES_LATE_MS 5000
#define FRAME_LATE_MS 15000

static int copy_file(struct incidents *s, const struct shared_file *from)
{
	struct incident *i = &s->incident;
	struct shared_file *to = &i->file[i->files];
	const char *cgroup = from->cgroup;

	*to = *from;
	to->name = arena_strndup(&s->names, from->name, strlen(from->name));
	to->cgroup = cgroup ? arena_strndup(&s->names, cgroup, strlen(cgroup)) : NULL;
	i->files += to->name != NULL;
	return to->name && (to->cgroup || !cgroup) ? 0 : -ENOMEM;
}

static bool is_larger(const struct shared_file *a, const struct shared_file *b)
{
	return a->resident + a->swapped > b->resident + b->swapped;
}

/* Copies the files of the cgroup; without one, or if no cgroup is known, all. */
static int choose_files(struct incidents *s, const struct shared_files *from)
{
	struct incident *i = &s->incident;
	const char *cgroup = incident_short_cgroup(i);
	bool known = false;
	int r = 0;

	i->files_ms = from->taken_ms;
	for (uint32_t n = 0; n < from->count; n++)
		known |= from->file[n].cgroup != NULL;
	i->files_of_machine = cgroup && !known && from->count;
	for (uint32_t n = 0; r == 0 && n < from->count; n++) {
		const char *of = from->file[n].cgroup;

		if (!cgroup || !known || (of && cgroup_below(cgroup, of)))
			r = copy_file(s, &from->file[n]);
	}
	/* They were listed by their parts of limits. */
	for (size_t n = 1; n < i->files; n++)
		for (size_t at = n; at && is_larger(&i->file[at], &i->file[at - 1]); at--) {
			const struct shared_file f = i->file[at];

			i->file[at] = i->file[at - 1];
			i->file[at - 1] = f;
		}
	return r;
}

/* Whether the recorder lists files because of the event. */
static bool lists_after(const struct event_record *e)
{
	switch (event_number(e, EVENT_KIND)) {
	case EVENT_PRESSURE:
		return true;
	case EVENT_OOM_KILL:
		return !event_has(e, EVENT_PARTS_MS) ||
		       event_number(e, EVENT_PART_SHMEM) >= event_number(e, EVENT_LIMIT) / 16;
	default:
		return false;
	}
}

/*
 * The list in the frame of the event, or before it; else that of the next frame: right after a kill
 * the recorder lists what is left.
 */
static int read_files(struct incidents *s, size_t event)
{
	struct recording_reader *r = s->replay.reader;
	const struct snapshot *after;
	char why[RECORDING_REASON];
	struct incident *i = &s->incident;
	size_t frame = recording_reader_event_frame(r, event);

	arena_clear(&s->names);
	i->files = 0;
	i->files_ms = 0;
	i->files_of_machine = false;
	if (i->during && i->during->system.shared)
		return choose_files(s, i->during->system.shared);
	frame += i->during && frame == s->frame;
	if (!lists_after(i->event) || frame >= s->replay.frames ||
	    recording_reader_time(r, frame) - i->event->time_ms > FRAME_LATE_MS ||
	    recording_reader_frame(r, frame, &after, why) < 0 || !after->system.shared ||
	    after->system.shared->taken_ms - i->event->time_ms > FILES_LATE_MS)
		return 0;
	return choose_files(s, after->system.shared);
}

/* Reads what its snapshots tell of event i. Returns 0 or an exit code after a message. */
static int read_snapshots(struct incidents *s, size_t i)
{
	size_t frame = 0;
	int r;

	if (!replay_event_frame(&s->replay, i, &frame)) {
		groups_clear(s);
		s->incident.during = s->incident.baseline = NULL;
		s->incident.ram = (struct ram_changes){};
		return 0;
	}
	/* Kills of a burst have the same snapshot. */
	if (s->incident.during && s->frame == frame && !incident_is_of_cgroup(&s->incident))
		return 0;
	groups_clear(s);
	s->incident.during = NULL;
	s->frame = frame;
	r = read_frame(s, frame, &s->during);
	if (r) {
		s->incident.baseline = NULL;
		s->incident.ram = (struct ram_changes){};
		return r < 0 ? EXIT_FAILED : 0;
	}
	s->incident.during = &s->during;
	if (join(s, &s->during) < 0)
		return log_errno(-ENOMEM, "comparing");
	for (int key = 0; r == 0 && key < INCIDENT_KEYS; key++)
		r = read_largest(s, key);
	if (r == 0)
		r = read_inside(s);
	for (int window = 0; r == 0 && window < INCIDENT_WINDOWS; window++)
		r = read_growth(s, frame, window);
	choose_baseline(&s->incident, s->before);
	if (r == 0)
		r = read_ram(s, frame);
	if (r == 0)
		s->incident.limits =
			incident_limit_events(&s->incident, s->incident.limit, INCIDENT_LIMITS);
	return r;
}

/* Reads all that is shown of event i. Likewise. */
static int read_incident(struct incidents *s, size_t i)
{
	int r = read_snapshots(s, i);

	if (r == 0 && read_files(s, i) < 0)
		r = log_errno(-ENOMEM, "reading %s", s->replay.path);
	return r;
}

/* ---- what is shown ---- */

static bool in_range(const struct incidents *s, size_t i)
{
	int64_t time_ms = recording_reader_event_time(s->replay.reader, i);

	return time_ms >= s->range.first_ms && time_ms <= s->range.last_ms;
}

/* Writes the array of the events that are `wanted`. `html`: for a page. */
static int put_events(struct incidents *s, bool html,
		      bool (*wanted)(const struct incidents *s, size_t i))
{
	struct incidents_json json = {
		.out = &s->out.buf, .html = html, .group_by = s->incident.group_by};
	size_t events = recording_reader_info(s->replay.reader)->events;
	int r = 0;

	render_incidents_json_begin(&json);
	for (size_t i = 0; r == 0 && i < events; i++) {
		int is = wanted(s, i) ? read_event(s, i) : 0;

		if (is < 0)
			return EXIT_FAILED;
		if (is)
			r = read_incident(s, i);
		if (is && r == 0)
			render_incidents_json(&json, &s->incident);
	}
	render_incidents_json_end(&json);
	return r;
}

/*
 * Finds the first kill of the group of a kill, and sets how many it has. Of an event that is no
 * kill it is the event itself. Reads the event into s->event.
 */
static size_t find_group(struct incidents *s, size_t event)
{
	struct recording_reader *r = s->replay.reader;
	const size_t events = recording_reader_info(r)->events;
	char why[RECORDING_REASON];
	struct event_record *e = &s->event, *other = &s->end;
	size_t last = event;

	s->incident.group_kills = 0;
	while (event && recording_reader_event(r, event, e, why) == 0 &&
	       recording_reader_event(r, event - 1, other, why) == 0 && event_same_group(other, e))
		event--;
	if (recording_reader_event(r, last, e, why) < 0)
		return event;
	while (last + 1 < events && recording_reader_event(r, last + 1, other, why) == 0 &&
	       event_same_group(e, other)) {
		*e = *other;
		last++;
	}
	s->incident.group_kills = last > event ? last - event + 1 : 0;
	return event;
}

/* More equal kills in a row than so many are one line. */
#define EQUAL_MOST 2

static bool is_same_text(const struct event_record *a, const struct event_record *b,
			 enum event_member m)
{
	const char *ta = event_text(a, m), *tb = event_text(b, m);

	return ta && tb ? strcmp(ta, tb) == 0 : ta == tb;
}

/* Finds the kills before this one that are of the same program and cgroup, up to another event. */
static void find_equal(struct incidents *s, size_t event)
{
	struct recording_reader *r = s->replay.reader;
	char why[RECORDING_REASON];
	size_t count = 1;

	s->incident.equal_kills = 0;
	s->incident.equal_missed = event_number(&s->event, EVENT_MISSED);
	if (s->event.number[EVENT_KIND] != EVENT_OOM_KILL)
		return;
	for (size_t i = event;
	     i-- > 0 && in_range(s, i) && recording_reader_event(r, i, &s->end, why) == 0 &&
	     s->end.number[EVENT_KIND] == EVENT_OOM_KILL &&
	     is_same_text(&s->event, &s->end, EVENT_NAME) &&
	     is_same_text(&s->event, &s->end, EVENT_CGROUP);
	     count++) {
		s->incident.equal_since_ms = s->end.time_ms;
		s->incident.equal_missed += event_number(&s->end, EVENT_MISSED);
	}
	s->incident.equal_kills = count > EQUAL_MOST ? count : 0;
}

/*
 * Reads the event of a line: of kills of one call, or of a burst, the first one; of equal kills the
 * newest. Returns as read_event().
 */
static int read_line(struct incidents *s, size_t *event)
{
	size_t first = find_group(s, *event);
	bool called = s->incident.group_kills && event_has(&s->event, EVENT_CALL);
	int is = read_event(s, *event);

	s->incident.equal_kills = 0;
	if (is > 0 && !called)
		find_equal(s, *event);
	if (is <= 0 || s->incident.equal_kills || first == *event) {
		s->incident.group_kills = 0;
		return is;
	}
	*event = first;
	return read_event(s, first);
}

/* A time in UTC is shorter than others; with summer time there may be both. */
static unsigned widest_time(const struct incidents *s)
{
	size_t most = strlen("WHEN");

	for (size_t i = 0; i < recording_reader_info(s->replay.reader)->events; i++) {
		int64_t time_ms = recording_reader_event_time(s->replay.reader, i);
		size_t len = in_range(s, i) ? strlen(moment_text(time_ms).text) : 0;

		most = len > most ? len : most;
	}
	return (unsigned)most;
}

/*
 * The list of events, newest first. Sets the newest OOM kill of it, or the newest event without
 * one.
 */
static int show_list(struct incidents *s, const struct table_style *style, size_t *ret_newest,
		     size_t *ret_count)
{
	const size_t most = s->options->top ? (size_t)s->options->top : SIZE_MAX;
	const struct incident_columns columns = incident_columns(widest_time(s), style);
	size_t lines = 0, earlier = 0;
	bool killed = false, kill;

	*ret_count = 0;
	for (size_t i = recording_reader_info(s->replay.reader)->events; i-- > 0;) {
		int is = in_range(s, i) ? read_line(s, &i) : 0;

		if (is < 0)
			return EXIT_FAILED;
		if (!is)
			continue;
		if (!*ret_count)
			render_incident_heading(&s->out.buf, &columns, style);
		kill = s->event.number[EVENT_KIND] == EVENT_OOM_KILL;
		if (!*ret_count || (kill && !killed))
			*ret_newest = i;
		killed |= kill;
		++*ret_count;
		if (lines == most) {
			earlier++;
			continue;
		}
		render_incident_line(&s->out.buf, &s->incident, &columns, style);
		lines++;
		i -= s->incident.equal_kills ? s->incident.equal_kills - 1 : 0;
	}
	if (earlier)
		strbuf_printf(&s->out.buf, "… and %zu earlier event%s\n", earlier,
			      earlier == 1 ? "" : "s");
	return 0;
}

static int show_one(struct incidents *s, size_t i, const struct table_style *style)
{
	const struct options *o = s->options;
	size_t rows = o->top ? (size_t)o->top : ROWS_USUAL;
	const bool first = find_group(s, i) == i;
	int is = read_event(s, i), r;

	if (is < 0)
		return EXIT_FAILED;
	if (!first)
		s->incident.group_kills = 0;
	r = read_incident(s, i);
	if (r == 0)
		render_incident(&s->out.buf, &s->incident, rows, style);
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
		is = read_event(s, i);
	for (size_t i = later; !is && i < events; i++) {
		is = read_event(s, i);
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
	r = replay_moment(&s->replay, o, "at", o->at, &moment);
	return r ? r : find_nearest(s, moment.last_ms, ret, ret_count);
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
		strbuf_printf(&s->out.buf, "no OOM kill and no shortage of memory was recorded%s\n",
			      o->since || o->until ? " in this time" : "");
		return 0;
	}
	if (!o->at)
		strbuf_putc(&s->out.buf, '\n');
	return show_one(s, event, &style);
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
static bool page_has_event(const struct incidents *s, size_t i)
{
	size_t events = recording_reader_info(s->replay.reader)->events, newer = 0;

	for (size_t k = i + 1; k < events && newer < PAGE_EVENTS; k++)
		newer += in_range(s, k);
	return in_range(s, i) && newer < PAGE_EVENTS;
}

static void use_spread(struct page *p, uint32_t most, uint8_t use)
{
	uint32_t count = count_of(p, most);

	for (uint32_t i = 0; i < count; i++)
		p->use[spread(p, i, count) - p->first] |= use;
}

/* Chooses frames of the whole range, and those of the events. */
static int choose_frames(struct page *p)
{
	const struct incidents *s = p->incidents;

	p->use = calloc(p->last - p->first + 1, sizeof(*p->use));
	if (!p->use)
		return log_error("making the page: out of memory");
	use_spread(p, PAGE_POINTS, PAGE_POINT);
	use_spread(p, PAGE_MOMENTS, PAGE_MOMENT);
	for (size_t i = 0; i < recording_reader_info(s->replay.reader)->events; i++) {
		size_t frame;

		if (!page_has_event(s, i) || !replay_event_frame(&s->replay, i, &frame))
			continue;
		/* At the kill there is no PSS: the snapshot before it has it. */
		for (uint32_t at = (uint32_t)frame; at <= frame + 1; at++) {
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

/* Frames that cannot be read are left out, and those that the clock put outside of the range. */
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

	strbuf_puts(out, "{\"points\":[");
	for (uint32_t frame = p->first; frame <= p->last; frame++) {
		int r = 0;

		if (page_uses(p, frame, PAGE_POINT)) {
			r = page_point(p, frame, first);
			first = false;
		}
		if (r)
			return r;
	}
	strbuf_puts(out, "],\n\"incidents\":");
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
		events = in_range(s, i);
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
	strbuf_puts(out, "{\"points\":[],\n\"incidents\":");
	r = put_events(s, true, page_has_event);
	strbuf_puts(out, ",\"moments\":[]}\n");
	render_past_page_end(out);
	return r;
}

static int show_html(struct incidents *s)
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
	r = open_page(&p);
	if (r == 0)
		r = choose_frames(&p);
	if (r == 0)
		r = page_frame(&p, p.last, &result);
	if (r)
		return r;
	render_past_page_begin(&s->out.buf, &result, &p.style);
	r = page_points(&p);
	if (r == 0)
		r = put_events(s, true, page_has_event);
	if (r == 0)
		r = page_moments(&p);
	render_past_page_end(&s->out.buf);
	return r;
}

static bool is_chosen(const struct incidents *s, size_t i)
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
	return put_events(s, false, s->options->at ? is_chosen : in_range);
}

static int show(struct incidents *s)
{
	const struct options *o = s->options;

	if (o->format == FORMAT_HTML && o->at)
		return log_usage(o,
				 "--at cannot be combined with --format html (--since, --until)");
	if (o->format == FORMAT_HTML && s->group)
		return log_usage(o, "--group-by cannot be combined with --format html");
	return o->format == FORMAT_HTML	  ? show_html(s)
	       : o->format == FORMAT_JSON ? show_json(s)
					  : show_table(s);
}

int command_incidents(const struct options *o)
{
	cleanup(incidents_close) struct incidents s = {
		.options = o,
		.out.file.fd = -1,
	};
	int r;

	s.group = options_group(o);
	s.incident.group_by = s.group ? s.group->key : NULL;
	r = replay_open(&s.replay, o->word ? o->word : REPLAY_DIR_USUAL, o->quiet);

	if (r == 0)
		r = replay_range(&s.replay, o, &s.range);
	if (r == 0)
		r = secure_loaded(o->output, LATER_READS);
	if (r == 0)
		r = output_open(&s.out, o);
	if (r == 0)
		r = show(&s);
	return r ? r : output_finish(&s.out);
}
