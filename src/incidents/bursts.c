// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Which kills belong together: those of one call of the kernel (memory.oom.group), and those of one
 * program in one workload, as of a container that is started again and again. Other kills and
 * signals may be between them, and no time of short memory. And which signals do: those of one
 * sender to one workload.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "incidents/incidents.h"

/* Up to so many equal ones have a line each. */
#define EQUAL_MOST 2

/* So many programs may be killed in turn. */
#define PROGRAMS 64

/* So many senders may send in turn: systemd ends the rest of a unit while systemd-oomd does. */
#define SENDERS 8

/* Signals of one sender to one workload, so far. */
struct row_of_signals {
	bool any;
	size_t first; /* event */
	int64_t last_ms;
	uint64_t sender, signal;
	char name[EVENT_TEXT], workload[EVENT_WORKLOAD];
};

/* Kills of one program in one workload, so far. */
struct row_of_kills {
	size_t calls;  /* 0: there is none */
	size_t newest; /* the first event of the newest call */
	char name[EVENT_TEXT], workload[EVENT_WORKLOAD];
};

struct kills {
	struct burst *all;
	size_t *before; /* of the first event of a call: that of the call before in its row */
	struct row_of_kills row[PROGRAMS];
	size_t newest; /* the first event of the newest call */
	bool any;
};

static void copy_workload(const struct event_record *e, char ret[EVENT_WORKLOAD])
{
	const char *workload = event_workload(e, ret);

	if (workload != ret)
		snprintf(ret, EVENT_WORKLOAD, "%s", workload ? workload : "");
}

static bool is_equal(const struct row_of_kills *row, const struct event_record *e)
{
	const char *name = event_text(e, EVENT_NAME);
	char buf[EVENT_WORKLOAD];
	const char *workload = event_workload(e, buf);

	return row->calls && strcmp(row->name, name ? name : "") == 0 &&
	       strcmp(row->workload, workload ? workload : "") == 0;
}

static void begin_row(struct row_of_kills *row, const struct event_record *e)
{
	const char *name = event_text(e, EVENT_NAME);

	snprintf(row->name, sizeof(row->name), "%s", name ? name : "");
	copy_workload(e, row->workload);
}

/* The newest call stands for all of the row. */
static void end_row(struct kills *k, struct row_of_kills *row)
{
	struct burst sum = {.until_ms = k->all[row->newest].until_ms};

	if (row->calls > EQUAL_MOST) {
		for (size_t n = 0, i = row->newest; n < row->calls; n++, i = k->before[i]) {
			sum.since_ms = k->all[i].since_ms;
			sum.kills += k->all[i].kills;
			sum.calls += k->all[i].calls;
			sum.groups += k->all[i].groups;
			sum.missed += k->all[i].missed;
			k->all[i] = (struct burst){};
		}
		k->all[row->newest] = sum;
	}
	row->calls = 0;
}

static void end_rows(struct kills *k)
{
	for (size_t i = 0; i < PROGRAMS; i++) {
		if (k->row[i].calls)
			end_row(k, &k->row[i]);
	}
	k->any = false;
}

/* The row of the program; else a new one, in place of the one with the oldest kill. */
static struct row_of_kills *find_kills(struct kills *k, const struct event_record *e)
{
	struct row_of_kills *row = k->row;

	for (size_t i = 0; i < PROGRAMS; i++) {
		if (is_equal(&k->row[i], e))
			return &k->row[i];
		if (row->calls && (!k->row[i].calls || k->row[i].newest < row->newest))
			row = &k->row[i];
	}
	if (row->calls)
		end_row(k, row);
	begin_row(row, e);
	return row;
}

static void add_call(struct kills *k, const struct event_record *e, size_t event)
{
	struct row_of_kills *row = find_kills(k, e);

	k->before[event] = row->newest;
	k->newest = row->newest = event;
	k->any = true;
	row->calls++;
	k->all[event] = (struct burst){.kills = 1,
				       .calls = 1,
				       .missed = event_number(e, EVENT_MISSED),
				       .since_ms = e->time_ms,
				       .until_ms = e->time_ms};
}

/* One more process of the newest call. */
static void add_to_call(struct burst *call, const struct event_record *e)
{
	call->kills++;
	call->groups = 1;
	call->missed += event_number(e, EVENT_MISSED);
	call->until_ms = e->time_ms;
}

/* ---- signals ---- */

static bool is_text(const char *kept, const char *text)
{
	return strcmp(kept, text ? text : "") == 0;
}

static bool goes_on(const struct row_of_signals *row, const struct event_record *e)
{
	char buf[EVENT_WORKLOAD];

	return row->any && e->time_ms - row->last_ms <= INCIDENT_SIGNALS_MS &&
	       row->sender == event_number(e, EVENT_SENDER_PID) &&
	       row->signal == event_number(e, EVENT_SIGNAL_NUMBER) &&
	       is_text(row->name, event_text(e, EVENT_SENDER_NAME)) &&
	       is_text(row->workload, event_workload(e, buf));
}

static void begin_signals(struct row_of_signals *row, const struct event_record *e, size_t event)
{
	const char *name = event_text(e, EVENT_SENDER_NAME);

	row->any = true;
	row->first = event;
	row->sender = event_number(e, EVENT_SENDER_PID);
	row->signal = event_number(e, EVENT_SIGNAL_NUMBER);
	snprintf(row->name, sizeof(row->name), "%s", name ? name : "");
	copy_workload(e, row->workload);
}

/* The row of the sender, or the one with the oldest signal, which then begins anew. */
static struct row_of_signals *find_row(struct row_of_signals *rows, const struct event_record *e)
{
	struct row_of_signals *oldest = rows;

	for (size_t i = 0; i < SENDERS; i++) {
		if (goes_on(&rows[i], e))
			return &rows[i];
		if (!rows[i].any || (oldest->any && rows[i].last_ms < oldest->last_ms))
			oldest = &rows[i];
	}
	oldest->any = false;
	return oldest;
}

static void add_signal(struct burst *all, struct row_of_signals *rows, const struct event_record *e,
		       size_t event)
{
	struct row_of_signals *row = find_row(rows, e);
	struct burst *b;

	if (!row->any) {
		begin_signals(row, e, event);
		all[event].since_ms = e->time_ms;
	}
	row->last_ms = e->time_ms;
	b = &all[row->first];
	b->kills += event_has(e, EVENT_RECEIVERS) ? event_number(e, EVENT_RECEIVERS) : 1;
	b->bytes += event_has(e, EVENT_RECEIVERS)
			    ? event_number(e, EVENT_RECEIVERS_BYTES)
			    : event_number(e, EVENT_RSS_ANON) + event_number(e, EVENT_SWAP);
	b->missed += event_number(e, EVENT_SIGNALS_MISSED);
	b->until_ms = e->time_ms;
}

int incidents_find_bursts(struct incidents *s)
{
	struct recording_reader *r = s->replay.reader;
	const size_t events = recording_reader_info(r)->events;
	cleanup_free struct event_record *record = calloc(2, sizeof(*record));
	cleanup_free struct kills *k = calloc(1, sizeof(*k));
	cleanup_free size_t *calls_before = calloc(events + 1, sizeof(*calls_before));
	cleanup_free struct row_of_signals *signals = calloc(SENDERS, sizeof(*signals));
	struct event_record *e = record, *before = record + 1;
	char why[RECORDING_REASON];

	s->burst = calloc(events + 1, sizeof(*s->burst));
	if (!record || !k || !calls_before || !signals || !s->burst)
		return -ENOMEM;
	k->all = s->burst;
	k->before = calls_before;
	for (size_t i = 0; i < events; i++) {
		uint64_t kind;

		if (!incidents_in_range(s, i) || recording_reader_event(r, i, e, why) < 0)
			continue;
		kind = e->number[EVENT_KIND];
		if (kind == EVENT_PRESSURE)
			end_rows(k);
		if (kind == EVENT_SIGNAL)
			add_signal(s->burst, signals, e, i);
		if (kind != EVENT_OOM_KILL)
			continue;
		if (k->any && event_same_group(before, e))
			add_to_call(&s->burst[k->newest], e);
		else
			add_call(k, e, i);
		*before = *e;
	}
	end_rows(k);
	return 0;
}
