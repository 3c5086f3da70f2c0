// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * OOM kills that the recording has not: the kernel counted them while nothing was recorded, or
 * while kills could not be watched.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "recorder/keeper.h"
#include "recording/segments.h"

/* ---- what was counted at a moment ---- */

static void note(struct absence *a, const struct snapshot *s)
{
	a->known = s->system.oom_kills.known;
	a->kills = a->counted = s->system.oom_kills.count;
	a->time_ms = s->time_ms;
	snprintf(a->boot_id, sizeof(a->boot_id), "%s", s->host.boot_id);
	cgroup_counts_take(&a->cgroups, s, cgroup_kills);
}

/* Kills behind the last frame are recorded, and not in its count. */
static uint64_t kills_behind(struct recording_reader *reader)
{
	cleanup_free struct event_record *e = calloc(1, sizeof(*e));
	const struct recording_info *info = recording_reader_info(reader);
	char why[RECORDING_REASON];
	uint64_t kills = 0;

	for (size_t i = info->events; e && i-- > 0;) {
		if (recording_reader_event_frame(reader, i) < info->frames)
			break;
		if (recording_reader_event(reader, i, e, why) == 0 &&
		    event_number(e, EVENT_KIND) == EVENT_OOM_KILL)
			kills += 1 + event_number(e, EVENT_MISSED);
	}
	return kills;
}

/* Notes the last frame of a segment. False: it has none that can be read. */
static bool read_segment(struct absence *a, int dir, uint32_t number)
{
	const struct segment_name name = segment_name(number);
	cleanup_close int fd = segment_open(dir, &name);
	cleanup(snapshot_done) struct snapshot last = {};
	struct recording_reader *reader = NULL;
	char why[RECORDING_REASON];
	bool read = false;

	if (fd < 0 || recording_reader_open(fd, &reader, why) < 0)
		return false;
	for (size_t i = recording_reader_info(reader)->frames; !read && i-- > 0;)
		read = recording_reader_copy(reader, i, &last, why) == 0;
	if (read) {
		note(a, &last);
		a->kills += kills_behind(reader);
	}
	recording_reader_free(reader);
	return read;
}

void keeper_read_last(struct keeper *k)
{
	bool read = false;

	for (size_t i = k->ring.count; !read && i-- > 0;)
		read = read_segment(&k->absence, k->ring.dir, k->ring.segment[i].number);
	/* Since then they are recorded. */
	if (k->oom) {
		k->absence.now = oom_watch_before(k->oom);
		k->absence.now_ms = (int64_t)(clock_us(CLOCK_REALTIME) / 1000);
	}
}

/* ---- the event ---- */

/*
 * The lowest cgroup in which all kills between two snapshots were, also those that were recorded.
 * NULL: there is none, or it is not known.
 */
static const char *find_cgroup(const struct snapshot *s, const struct cgroup_counts *before,
			       uint64_t kills)
{
	const char *found = NULL;

	/* A cgroup is behind those above it. */
	for (size_t i = 0, at = 0; i < s->memcg_count; i++) {
		const struct memcg *m = &s->memcg[i];
		uint64_t was = cgroup_counts_before(before, &at, m->path), now;

		if (cgroup_kills(m, &now) && now - was == kills)
			found = m->path;
	}
	return found;
}

static void record(struct keeper *k, uint64_t kills, int64_t since_ms, int64_t until_ms,
		   const char *cgroup)
{
	struct event_record *e = calloc(1, sizeof(*e));

	if (!e)
		return;
	e->time_ms = until_ms;
	event_set(e, EVENT_KIND, EVENT_UNRECORDED);
	event_set(e, EVENT_KILLS, kills);
	event_set(e, EVENT_SINCE, (uint64_t)since_ms);
	event_set_text(e, EVENT_LIMIT_CGROUP, cgroup);
	keeper_report_written(k, recording_ring_event(&k->ring, keeper_boot_ms(), e));
	free(e);
}

void keeper_record_unrecorded(struct keeper *k)
{
	struct absence *a = &k->absence;
	const struct snapshot *s = &k->recorder.session.collector.snapshot;
	const bool first = a->now_ms, same_boot = strcmp(a->boot_id, s->host.boot_id) == 0;
	/* When kills are watched, those behind the beginning are recorded. */
	const uint64_t now = first ? a->now.count : s->system.oom_kills.count;
	const int64_t until_ms = first ? a->now_ms : s->time_ms;
	const uint64_t was = same_boot ? a->kills : 0;

	/* Of a recording that begins, nothing is missing. */
	if (a->time_ms && a->known && s->system.oom_kills.known && now > was)
		record(k, now - was, same_boot ? a->time_ms : (int64_t)s->host.boot_ms, until_ms,
		       same_boot
			       ? find_cgroup(s, &a->cgroups, s->system.oom_kills.count - a->counted)
			       : NULL);
	a->now_ms = 0;
	/* Without a watch, each snapshot is compared with the one before. */
	if (k->oom)
		a->known = false;
	else
		note(a, s);
}
