// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The processes at a kill that has no table of its own: those of the kill or the snapshot before.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "incidents/incidents.h"

/* The kernel side reads all processes at one kill a second (ZMEM_OOM_EPISODE_NS). */
#define TABLE_OLD_MS 1000

static void remove_process(struct snapshot *s, const struct process *p)
{
	const size_t at = (size_t)(p - s->process);

	memmove(s->process + at, s->process + at + 1, (s->count - at - 1) * sizeof(*p));
	s->count--;
}

/*
 * The victims of the table's own kill and of those since, up to the event. In a snapshot those of
 * kills just before it are there, too, until they have ended.
 */
static int remove_victims(struct incidents *s, size_t event)
{
	struct recording_reader *r = s->replay.reader;
	const int64_t since_ms =
		s->during.time_ms - (snapshot_is_kill(&s->during) ? 0 : TABLE_OLD_MS);
	cleanup_free struct event_record *e = calloc(1, sizeof(*e));
	char why[RECORDING_REASON];

	if (!e)
		return -ENOMEM;
	while (event-- > 0 && recording_reader_event_time(r, event) >= since_ms) {
		const struct process *p;

		if (recording_reader_event(r, event, e, why) < 0 ||
		    event_number(e, EVENT_KIND) != EVENT_OOM_KILL || !event_has(e, EVENT_PID))
			continue;
		p = snapshot_find(&s->during, (pid_t)e->number[EVENT_PID]);
		if (p)
			remove_process(&s->during, p);
	}
	return 0;
}

/* A text of the event, for as long as the snapshot lives. */
static const char *copy_text(struct incidents *s, enum event_member m)
{
	const char *text = event_text(&s->event, m);

	return text ? arena_strndup(&s->during.arena, text, strlen(text)) : NULL;
}

/* A victim that began behind the table. */
static struct process *add_victim(struct incidents *s)
{
	const pid_t pid = (pid_t)event_number(&s->event, EVENT_PID);
	struct snapshot *t = &s->during;
	struct process *p = snapshot_add(t), new = {.pid = pid, .kind = PROCESS_USER};
	size_t at = t->count - 1;

	if (!p)
		return NULL;
	new.mm_owner = true;
	new.name = copy_text(s, EVENT_NAME);
	new.user = copy_text(s, EVENT_USER);
	new.cgroup = copy_text(s, EVENT_CGROUP);
	new.unit = copy_text(s, EVENT_UNIT);
	new.container = copy_text(s, EVENT_CONTAINER);
	new.pod = copy_text(s, EVENT_POD);
	new.namespace = copy_text(s, EVENT_NAMESPACE);
	new.uid = (uid_t)event_number(&s->event, EVENT_UID);
	for (; at && t->process[at - 1].pid > pid; at--)
		t->process[at] = t->process[at - 1];
	t->process[at] = new;
	return &t->process[at];
}

/* The victim has the values of its own moment. */
static int set_victim(struct incidents *s)
{
	static const struct {
		enum event_member member;
		enum counter counter;
	} value[] = {{EVENT_RSS_ANON, COUNTER_RSS_ANON},
		     {EVENT_RSS_FILE, COUNTER_RSS_FILE},
		     {EVENT_RSS_SHMEM, COUNTER_RSS_SHMEM},
		     {EVENT_SWAP, COUNTER_SWAP}};
	const struct event_record *e = &s->event;
	struct process *p = event_has(e, EVENT_PID)
				    ? snapshot_find(&s->during, (pid_t)e->number[EVENT_PID])
				    : NULL;

	if (!event_has(e, EVENT_PID))
		return 0;
	if (!p)
		p = add_victim(s);
	for (size_t i = 0; p && i < ARRAY_SIZE(value); i++) {
		if (event_has(e, value[i].member))
			process_set(p, value[i].counter, event_number(e, value[i].member));
	}
	return p ? 0 : -ENOMEM;
}

int incidents_read_table(struct incidents *s, size_t event)
{
	struct incident *i = &s->incident;
	int r;

	i->table_age_ms = 0;
	i->table_known = event_number(&s->event, EVENT_TABLE);
	if (i->table_known || event_number(&s->event, EVENT_KIND) != EVENT_OOM_KILL)
		return 0;
	i->table_age_ms = s->event.time_ms - s->during.time_ms;
	i->table_known = i->table_age_ms >= 0 && i->table_age_ms <= TABLE_OLD_MS;
	if (!i->table_known)
		return 0;
	r = remove_victims(s, event);
	return r < 0 ? r : set_victim(s);
}
