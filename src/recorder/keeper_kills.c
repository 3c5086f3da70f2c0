// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* OOM kills, and signals that end processes, of record --keep. */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "recorder/keeper.h"
#include "session/log.h"

/* Kills that are recorded before a snapshot that is due: there may always be more. */
#define KILLS_AT_ONCE 16

/* The time of a kill. */
static void set_time(struct keeper *k, const struct oom_kill *kill)
{
	struct snapshot *s = &k->moment.snapshot;

	s->host.boot_ms = (uint64_t)keeper_boot_ms();
	s->time_ms = (int64_t)s->host.boot_ms + (int64_t)(kill->boottime_ns / 1000000);
}

/*
 * Completes the moment of a kill. One that is only counted gets no names of /proc, which cost more
 * than the kill. Returns 0 or a negative errno.
 */
static int complete_kill(struct keeper *k, const struct oom_kill *kill)
{
	const int64_t since_boot_ms = (int64_t)(kill->boottime_ns / 1000000);

	if (recording_ring_room(&k->ring, since_boot_ms) != RING_ROOM_NONE)
		return oom_moment_complete(&k->moment, &k->recorder.session.collector, kill);
	set_time(k, kill);
	return 0;
}

/* Lists the files right after a kill, if there was no sign of it before. */
static void list_files_of_kill(struct keeper *k, const struct event_record *e)
{
	const char *cgroup = event_text(e, EVENT_LIMIT_CGROUP);
	bool worth = cgroup ? shared_is_part(event_number(e, EVENT_PART_SHMEM),
					     event_number(e, EVENT_LIMIT))
			    : shared_is_due(&k->shared) &&
				      shared_is_worth(&k->recorder.session.collector, true);

	keeper_list_files(k, worth, cgroup, &k->moment.snapshot);
}

static int record_kill(struct keeper *k, const struct oom_kill *kill)
{
	struct event_record *e = calloc(1, sizeof(*e));
	struct snapshot *s = &k->moment.snapshot;
	int r = e ? 0 : -ENOMEM, written;

	/* The snapshot of a kill has those that ended since the one before. */
	if (kill->table)
		recorder_turn_ended(&k->recorder);
	if (r == 0)
		r = complete_kill(k, kill);
	s->system.ended = kill->table ? recorder_read_ended(&k->recorder) : NULL;
	if (r == 0) {
		oom_moment_describe(&k->moment, kill, e);
		list_files_of_kill(k, e);
		written = recording_ring_kill(&k->ring, (int64_t)s->host.boot_ms, e,
					      kill->table ? s : NULL);
		k->lost.kills += kill->missed + (written != 0);
		/* Behind it, a frame may have no room yet. */
		if (written < 0)
			keeper_report_written(k, written);
		keeper_report_room(k);
		if (kill->table && (written || !event_number(e, EVENT_TABLE)))
			recorder_keep_ended(&k->recorder);
	} else {
		k->lost.kills++;
	}
	free(e);
	return r;
}

void keeper_record_kills(struct keeper *k)
{
	struct oom_kill kill;
	int r, count = 0;

	while (count < KILLS_AT_ONCE &&
	       (r = oom_watch_next(k->oom, &kill, &k->moment.snapshot)) != 0) {
		if (r > 0)
			r = record_kill(k, &kill);
		if (r < 0)
			log_errno(r, "recording an OOM kill");
		count++;
	}
	k->killed |= count;
	if (count)
		k->recorder.census_in = 0;
	k->episode.kills += (uint64_t)count;
}

/* ---- without a victim ---- */

#define NO_VICTIM_US UINT64_C(60000000)

void keeper_record_no_victim(struct keeper *k)
{
	struct no_victim *n = &k->no_victim;
	const uint64_t now_us = clock_us(CLOCK_MONOTONIC);
	const int64_t now_ms = (int64_t)(clock_us(CLOCK_REALTIME) / 1000);
	struct oom_no_victim new;
	struct event_record *e;

	if (oom_watch_take_no_victim(k->oom, &new)) {
		if (!n->now.times)
			n->first_ms = now_ms;
		new.times += n->now.times;
		n->now = new;
	}
	if (!n->now.times || (n->written_us && now_us - n->written_us < NO_VICTIM_US))
		return;
	e = calloc(1, sizeof(*e));
	if (!e)
		return;
	e->time_ms = now_ms;
	event_set(e, EVENT_KIND, EVENT_NO_VICTIM);
	event_set(e, EVENT_TIMES, n->now.times);
	event_set(e, EVENT_SINCE, (uint64_t)n->first_ms);
	event_set_text(e, EVENT_LIMIT_CGROUP, n->now.cgroup);
	keeper_report_written(k, recording_ring_event(&k->ring, keeper_boot_ms(), e));
	free(e);
	*n = (struct no_victim){.written_us = now_us};
}

/* ---- signals ---- */

static void keep_signal(struct keeper *k, const struct event_record *e, uint64_t cgroup)
{
	const size_t at = k->signals % SIGNALS_KEPT;

	if (!k->signal)
		k->signal = calloc(SIGNALS_KEPT, sizeof(*k->signal));
	if (!k->signal)
		return;
	k->signal[at] = *e;
	k->signal_cgroup[at] = cgroup;
	k->signals++;
}

/* The last signal of that sender to that cgroup; NULL: it is not among them. */
static const struct event_record *find_signal(const struct keeper *k, const struct oom_over *over)
{
	for (size_t i = k->signals; i-- > 0 && i + SIGNALS_KEPT >= k->signals;) {
		const struct event_record *e = &k->signal[i % SIGNALS_KEPT];

		if (k->signal_cgroup[i % SIGNALS_KEPT] == over->cgroup_number &&
		    event_number(e, EVENT_SENDER_PID) == (uint64_t)over->sender)
			return e;
	}
	return NULL;
}

/* Signals that were only counted: of the sender and the cgroup of one that was read. */
static void record_over(struct keeper *k, const struct oom_over *over)
{
	static const enum event_member text[] = {
		EVENT_SENDER_COMM, EVENT_SENDER_NAME, EVENT_SENDER_UNIT, EVENT_SENDER_CONTAINER,
		EVENT_CGROUP,	   EVENT_UNIT,	      EVENT_CONTAINER,	 EVENT_CONTAINER_ID,
		EVENT_POD,	   EVENT_NAMESPACE};
	const struct event_record *like = find_signal(k, over);
	struct event_record *e = calloc(1, sizeof(*e));
	int64_t boot_ms = keeper_boot_ms();
	int written;

	if (!e)
		return;
	e->time_ms = boot_ms + (int64_t)(over->boottime_ns / 1000000);
	event_set(e, EVENT_KIND, EVENT_SIGNAL);
	event_set(e, EVENT_SIGNAL_NUMBER, (uint64_t)over->signal);
	event_set(e, EVENT_RECEIVERS, over->count);
	event_set(e, EVENT_RECEIVERS_BYTES, over->bytes);
	if (over->sender)
		event_set(e, EVENT_SENDER_PID, (uint64_t)over->sender);
	for (size_t i = 0; like && i < ARRAY_SIZE(text); i++)
		event_set_text(e, text[i], event_text(like, text[i]));
	k->lost.signals += over->count;
	written = recording_ring_signal(&k->ring, boot_ms, e);
	if (written <= 0)
		keeper_report_written(k, written);
	free(e);
}

static int record_signal(struct keeper *k, const struct oom_kill *kill)
{
	struct event_record *e = calloc(1, sizeof(*e));
	int r = e ? oom_moment_name(&k->moment, &k->recorder.session.collector, kill) : -ENOMEM;
	int written;

	if (r == 0) {
		set_time(k, kill);
		oom_moment_describe_signal(&k->moment, kill, e);
		keep_signal(k, e, kill->cgroup_number);
		written = recording_ring_signal(&k->ring, (int64_t)k->moment.snapshot.host.boot_ms,
						e);
		k->lost.signals += kill->missed + (written != 0);
		if (written <= 0)
			keeper_report_written(k, written);
	} else {
		k->lost.signals++;
	}
	free(e);
	return r;
}

void keeper_record_signals(struct keeper *k)
{
	struct oom_over over;
	struct oom_kill kill;
	int r = 0, count = 0;

	while (count++ < KILLS_AT_ONCE &&
	       (r = oom_watch_next_signal(k->oom, &kill, &k->moment.snapshot)) != 0) {
		/* Our own end is no news. */
		if (r > 0 && kill.pid != getpid())
			r = record_signal(k, &kill);
		if (r < 0)
			log_errno(r, "recording a signal");
	}
	/* Behind those that were read, which have the names. */
	while (!r && oom_watch_next_over(k->oom, &over))
		record_over(k, &over);
}

bool keeper_takes_survivors(struct keeper *k)
{
	uint64_t now = clock_us(CLOCK_MONOTONIC);
	int64_t since_boot_ms = (int64_t)(clock_us(CLOCK_BOOTTIME) / 1000);

	if (!k->killed || (k->survived_us && now - k->survived_us < DENSE_MS * 1000) ||
	    recording_ring_room(&k->ring, since_boot_ms) != RING_ROOM_ALL)
		return false;
	k->survived_us = now;
	return true;
}
