// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The events of a recording: which there are, and which belong together. */
#include "incidents/incidents.h"

#include <errno.h>
#include <string.h>

#include "query/change.h"
#include "report/incidents.h"
#include "session/log.h"

void incidents_clear_groups(struct incidents *s)
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

void incidents_close(struct incidents *s)
{
	incidents_clear_groups(s);
	arena_done(&s->names);
	arena_done(&s->joined);
	snapshot_done(&s->during);
	snapshot_done(&s->just_before);
	for (int w = 0; w < INCIDENT_WINDOWS; w++)
		snapshot_done(&s->before[w]);
	output_close(&s->out);
	replay_close(&s->replay);
}

int incidents_failed(const struct incidents *s, int r, const char *why)
{
	return *why ? log_error("%s: %s", s->replay.path, why)
		    : log_errno(r, "reading %s", s->replay.path);
}

int incidents_read_frame(struct incidents *s, size_t frame, struct snapshot *ret)
{
	struct recording_reader *r = s->replay.reader;
	char why[RECORDING_REASON] = "";
	int err = recording_reader_copy(r, frame, ret, why);

	if (err == 0)
		return 0;
	if (!recording_reader_lost(r, frame)) {
		incidents_failed(s, err, why);
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

int incidents_read_event(struct incidents *s, size_t i)
{
	char why[RECORDING_REASON] = "";
	int r = recording_reader_event(s->replay.reader, i, &s->event, why);
	uint64_t kind = r == 0 ? s->event.number[EVENT_KIND] : 0;

	if (r == 0 && kind == EVENT_PRESSURE)
		r = recording_reader_event_end(s->replay.reader, i, &s->end, why);
	s->incident.end = r > 0 ? &s->end : NULL;
	if (r == -ENOMEM) {
		incidents_failed(s, r, why);
		return -1;
	}
	if (r < 0)
		replay_note_lost(&s->replay, s->options->quiet, why);
	s->incident.goes_on = kind == EVENT_PRESSURE && r == 0 && goes_on(s, i);
	s->incident.event = &s->event;
	s->incident.number = recording_reader_event_number(s->replay.reader, i);
	return kind == EVENT_OOM_KILL || kind == EVENT_SIGNAL || kind == EVENT_PRESSURE;
}

bool incidents_in_range(const struct incidents *s, size_t i)
{
	int64_t time_ms = recording_reader_event_time(s->replay.reader, i);

	return time_ms >= s->range.first_ms && time_ms <= s->range.last_ms;
}

size_t incidents_find_group(struct incidents *s, size_t event)
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
	for (size_t i = event; i-- > 0 && incidents_in_range(s, i) &&
			       recording_reader_event(r, i, &s->end, why) == 0 &&
			       s->end.number[EVENT_KIND] == EVENT_OOM_KILL &&
			       is_same_text(&s->event, &s->end, EVENT_NAME) &&
			       is_same_text(&s->event, &s->end, EVENT_CGROUP);
	     count++) {
		s->incident.equal_since_ms = s->end.time_ms;
		s->incident.equal_missed += event_number(&s->end, EVENT_MISSED);
	}
	s->incident.equal_kills = count > EQUAL_MOST ? count : 0;
}

int incidents_read_line(struct incidents *s, size_t *event)
{
	size_t first = incidents_find_group(s, *event);
	bool called = s->incident.group_kills && event_has(&s->event, EVENT_CALL);
	int is = incidents_read_event(s, *event);

	s->incident.equal_kills = 0;
	if (is > 0 && !called)
		find_equal(s, *event);
	if (is <= 0 || s->incident.equal_kills || first == *event) {
		s->incident.group_kills = 0;
		return is;
	}
	*event = first;
	return incidents_read_event(s, first);
}
