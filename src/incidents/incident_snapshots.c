// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The snapshots around an event: which groups were largest, which grew, which files there were. */
#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "fields/ended_fields.h"
#include "findings/findings.h"
#include "incidents/incidents.h"
#include "model/memcg.h"
#include "proc/cgroup.h"
#include "query/change.h"
#include "query/group.h"
#include "session/log.h"

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
		lost = incidents_read_frame(s, frame, before);
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
		lost = incidents_read_frame(s, frame, before);
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
	if (err == 0 && incident_has_inside(i))
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

	if (!incident_has_inside(i))
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

/* Whether the limit of the cgroup was higher in a snapshot; the newest one that is asked counts. */
static void look_at_limit(struct incident *i, const struct snapshot *before)
{
	const char *cgroup = event_text(i->event, EVENT_LIMIT_CGROUP);
	const struct memcg *m = cgroup ? snapshot_find_memcg(before, cgroup) : NULL;
	const struct event_level *level = event_level_at_limit(i->event);
	uint64_t limit = m && m->limit_known ? m->limit : 0, charged;

	if (m && level && event_limit_is_memsw(i->event, level) &&
	    !memcg_memsw(m, NULL, &limit, &charged))
		return;
	if (i->limit_before || limit <= event_number(i->event, EVENT_LIMIT))
		return;
	i->limit_before = limit;
	i->limit_before_ms = i->event->time_ms - before->time_ms;
}

/* A snapshot so long before a kill still tells what led to it. */
#define JUST_BEFORE_MS (2 * 60 * 1000)

/* So many snapshots before the one of the kill are asked first: a kill may follow at once. */
#define LIMIT_FRAMES 8

static void find_lowered_limit(struct incidents *s, size_t frame)
{
	struct incident *i = &s->incident;
	char why[RECORDING_REASON];

	if (!incident_is_of_cgroup(i) || !event_has(i->event, EVENT_LIMIT))
		return;
	for (size_t n = 1; n <= LIMIT_FRAMES && n <= frame && !i->limit_before; n++) {
		const struct snapshot *before;

		if (i->event->time_ms - recording_reader_time(s->replay.reader, frame - n) <=
			    JUST_BEFORE_MS &&
		    recording_reader_frame(s->replay.reader, frame - n, &before, why) == 0)
			look_at_limit(i, before);
	}
	for (int window = 0; window < INCIDENT_WINDOWS; window++) {
		if (i->grew_known[window])
			look_at_limit(i, &s->before[window]);
	}
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

/* Such a list of files, and a frame that has it, may be so much later than the event. */
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
	/* The files were sorted by their part of a limit: now the largest comes first. */
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

/* What was wrong. At a kill the kernel has freed what was, and cgroups were not read. */
static int find_wrong(struct incidents *s, size_t frame)
{
	const struct snapshot *of = &s->during;

	s->incident.findings = NULL;
	s->just_before_read = false;
	if (snapshot_is_kill(of)) {
		if (!frame || recording_reader_time(s->replay.reader, frame - 1) <
				      of->time_ms - JUST_BEFORE_MS)
			return 0;
		of = &s->just_before;
		switch (incidents_read_frame(s, frame - 1, &s->just_before)) {
		case 0:
			s->just_before_read = true;
			break;
		case 1:
			return 0;
		default:
			return EXIT_FAILED;
		}
	}
	findings_find(of, NULL, &s->findings);
	s->incident.findings = &s->findings;
	return 0;
}

/* ---- processes that ended before ---- */

#define ENDED_OVER_MS 60000

/* Those of the last minute, or since the snapshot before. */
static int read_ended(struct incidents *s, size_t frame)
{
	struct recording_reader *r = s->replay.reader;
	size_t first = 0;
	int err;

	if (recording_reader_find(r, s->during.time_ms - ENDED_OVER_MS, &first))
		first++;
	err = replay_sum_ended(&s->replay, first < frame ? first : frame, frame, true, &s->ended);
	ended_sum_end(&s->ended, &s->incident.ended);
	return err < 0 ? log_errno(err, "reading %s", s->replay.path) : 0;
}

/* Reads what its snapshots tell of event i. Returns 0 or an exit code after a message. */
static int read_snapshots(struct incidents *s, size_t i)
{
	size_t frame = 0;
	int r = 0;

	if (!replay_event_frame(&s->replay, i, &frame)) {
		incidents_clear_groups(s);
		incidents_clear_stalls(s);
		s->incident.during = s->incident.baseline = NULL;
		s->incident.ended = ended_unknown;
		s->incident.findings = NULL;
		s->incident.where = (struct incident_ram){};
		s->incident.ram = (struct ram_changes){};
		return 0;
	}
	if (incident_is_pressure(&s->incident))
		r = incidents_find_worst(s, i, &frame);
	else
		incidents_clear_stalls(s);
	if (r < 0)
		return log_errno(r, "reading %s", s->replay.path);
	incidents_clear_groups(s);
	s->incident.during = NULL;
	s->incident.findings = NULL;
	s->incident.ended = ended_unknown;
	s->incident.limit_before = 0;
	s->frame = frame;
	r = incidents_read_frame(s, frame, &s->during);
	if (r) {
		s->incident.baseline = NULL;
		s->incident.where = (struct incident_ram){};
		s->incident.ram = (struct ram_changes){};
		return r < 0 ? EXIT_FAILED : 0;
	}
	s->incident.during = &s->during;
	if (incidents_read_table(s, i) < 0 || join(s, &s->during) < 0)
		return log_errno(-ENOMEM, "comparing");
	incidents_choose_stalls(s);
	r = find_wrong(s, frame);
	for (int key = 0; r == 0 && key < INCIDENT_KEYS; key++)
		r = read_largest(s, key);
	if (r == 0)
		r = read_inside(s);
	for (int window = 0; r == 0 && window < INCIDENT_WINDOWS; window++)
		r = read_growth(s, frame, window);
	choose_baseline(&s->incident, s->before);
	find_lowered_limit(s, frame);
	incident_find_ram(&s->incident, s->just_before_read ? &s->just_before : NULL);
	if (r == 0)
		r = read_ended(s, frame);
	if (r == 0)
		r = read_ram(s, frame);
	if (r == 0)
		s->incident.limits =
			incident_limit_events(&s->incident, s->incident.limit, INCIDENT_LIMITS);
	return r;
}

int incidents_read(struct incidents *s, size_t i)
{
	int r = read_snapshots(s, i);

	if (r == 0 && read_files(s, i) < 0)
		r = log_errno(-ENOMEM, "reading %s", s->replay.path);
	incident_add_charges(&s->incident);
	return r;
}
