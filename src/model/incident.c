// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Which cgroups reached a limit before an event, and what of it was not read. */
#include "model/incident.h"

#include <string.h>

#define MINUTE_MS 60000

const int64_t incident_window_ms[INCIDENT_WINDOWS] = {MINUTE_MS, 10 * MINUTE_MS, 60 * MINUTE_MS};

/* A counter that is lower than before belongs to another cgroup of that name. */
static uint64_t count_since(bool known, uint64_t now, bool before_known, uint64_t before)
{
	if (!known)
		return 0;
	return before_known && before <= now ? now - before : now;
}

static bool ranks_before(const struct limit_events *a, const struct limit_events *b)
{
	if (a->oom_kills != b->oom_kills)
		return a->oom_kills > b->oom_kills;
	return a->max != b->max ? a->max > b->max : a->high > b->high;
}

static bool same_events(const struct limit_events *a, const struct limit_events *b)
{
	return a->oom_kills == b->oom_kills && a->max == b->max && a->high == b->high;
}

/* The events of a cgroup are counted in those above it, too: the lowest one with the same counts is
 * enough. */
static bool is_above(const char *path, const char *below)
{
	size_t len = strlen(path);

	return strncmp(path, below, len) == 0 && below[len] == '/';
}

static void insert_events(struct limit_events *list, size_t *count, size_t most,
			  const struct limit_events *new)
{
	size_t at = *count;

	while (at && ranks_before(new, &list[at - 1]))
		at--;
	if (at == most)
		return;
	if (*count < most)
		(*count)++;
	memmove(list + at + 1, list + at, (*count - at - 1) * sizeof(*list));
	list[at] = *new;
}

size_t incident_limit_events(const struct incident *i, struct limit_events *ret, size_t most)
{
	static const struct memcg none;
	size_t count = 0;

	/* Paths are sorted: from the end, those below come before those above. */
	for (size_t n = i->during && i->baseline ? i->during->memcg_count : 0; n-- > 0;) {
		const struct memcg *now = &i->during->memcg[n];
		const struct memcg *found = snapshot_find_memcg(i->baseline, now->path);
		const struct memcg *was = found ? found : &none;
		struct limit_events e = {.cgroup = now->path};
		bool below = false;

		e.oom_kills = count_since(now->oom_kills_known, now->oom_kills,
					  was->oom_kills_known, was->oom_kills);
		e.max = count_since(now->max_known, now->max, was->max_known, was->max);
		e.high = count_since(now->high_known, now->high, was->high_known, was->high);
		if (!e.oom_kills && !e.max && !e.high)
			continue;
		for (size_t b = 0; b < count && !below; b++)
			below = is_above(e.cgroup, ret[b].cgroup) && same_events(&e, &ret[b]);
		if (!below)
			insert_events(ret, &count, most, &e);
	}
	return count;
}

bool incident_unread(const struct incident *i, uint32_t *ret)
{
	const struct collection *c = i->during ? &i->during->collection : NULL;
	uint64_t lost = event_number(i->event, EVENT_LOST);

	*ret = 0;
	if (!c || !event_number(i->event, EVENT_TABLE))
		return false;
	if (event_number(i->event, EVENT_LATE))
		*ret = c->not_seen > lost ? c->not_seen - (uint32_t)lost : 0;
	return !event_number(i->event, EVENT_LATE) || c->not_seen_known;
}
