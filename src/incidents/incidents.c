// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The events of a recording: which there are, and which of them are in a range. */
#include "incidents/incidents.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
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
	arena_done(&s->stalls.arena);
	arena_done(&s->names);
	arena_done(&s->joined);
	ended_sum_done(&s->ended);
	snapshot_done(&s->during);
	snapshot_done(&s->just_before);
	for (int w = 0; w < INCIDENT_WINDOWS; w++)
		snapshot_done(&s->before[w]);
	free(s->until_ms);
	free(s->frames);
	free(s->burst);
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
 * The time of the last frame that belongs to an event without an end: the recorder did not stop up
 * to it, and there is no later event of this kind. *ret_end: the recording ended then. `other` is
 * overwritten.
 */
static int64_t last_seen(struct incidents *s, size_t event, struct event_record *other,
			 bool *ret_end)
{
	struct recording_reader *r = s->replay.reader;
	const size_t first = recording_reader_event_frame(r, event);
	int64_t began = recording_reader_event_time(r, event), seen = began;
	char why[RECORDING_REASON];

	*ret_end = false;
	for (size_t i = first; i < s->replay.frames; i++) {
		int64_t time_ms = recording_reader_time(r, i);
		bool dense = time_ms - began < DENSE_MOST_MS;

		if (i > first &&
		    (recording_reader_gap(r, i) ||
		     (dense && time_ms - recording_reader_time(r, i - 1) > DENSE_LATE_MS)))
			return seen;
		seen = time_ms > seen ? time_ms : seen;
	}
	for (size_t i = event + 1; i < recording_reader_info(r)->events; i++) {
		if (recording_reader_event(r, i, other, why) == 0 &&
		    other->number[EVENT_KIND] == EVENT_PRESSURE)
			return recording_reader_event_time(r, i);
	}
	*ret_end = true;
	return seen;
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
	s->incident.goes_on = false;
	if (kind == EVENT_PRESSURE && r == 0)
		last_seen(s, i, &s->end, &s->incident.goes_on);
	s->incident.recorded_now = !recording_reader_ended(s->replay.reader, s->now_ms);
	s->incident.workload = r >= 0 ? event_workload(&s->event, s->workload) : NULL;
	s->incident.event = &s->event;
	s->incident.number = recording_reader_event_number(s->replay.reader, i);
	s->incident.burst = s->burst ? s->burst[i] : (struct burst){};
	return kind >= EVENT_OOM_KILL && kind <= EVENT_NO_VICTIM;
}

/* When the event was over, as far as that was recorded. */
static int64_t find_until(struct incidents *s, size_t i)
{
	cleanup_free struct event_record *e = calloc(1, sizeof(*e));
	struct recording_reader *r = s->replay.reader;
	const int64_t time_ms = recording_reader_event_time(r, i);
	char why[RECORDING_REASON];
	bool end;

	if (!e || recording_reader_event(r, i, e, why) < 0 ||
	    e->number[EVENT_KIND] != EVENT_PRESSURE)
		return time_ms;
	if (recording_reader_event_end(r, i, e, why) > 0)
		return event_has(e, EVENT_ENDED) ? (int64_t)e->number[EVENT_ENDED] : time_ms;
	return last_seen(s, i, e, &end);
}

int64_t incidents_until(struct incidents *s, size_t i)
{
	if (!s->until_ms)
		s->until_ms = calloc(recording_reader_info(s->replay.reader)->events,
				     sizeof(*s->until_ms));
	if (!s->until_ms)
		return recording_reader_event_time(s->replay.reader, i);
	if (!s->until_ms[i])
		s->until_ms[i] = find_until(s, i);
	return s->until_ms[i];
}

bool incidents_in_range(struct incidents *s, size_t i)
{
	int64_t time_ms = recording_reader_event_time(s->replay.reader, i);

	if (time_ms >= s->range.first_ms || time_ms > s->range.last_ms)
		return time_ms >= s->range.first_ms && time_ms <= s->range.last_ms;
	return incidents_until(s, i) >= s->range.first_ms;
}
