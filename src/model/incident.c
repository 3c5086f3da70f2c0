// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Which cgroups reached a limit before an event, and what of it was not read. */
#include "model/incident.h"

#include <string.h>

#include "base/array.h"
#include "model/memcg.h"

#define MINUTE_MS 60000

const int64_t incident_window_ms[INCIDENT_WINDOWS] = {MINUTE_MS, 10 * MINUTE_MS, 60 * MINUTE_MS, 0};

/* A counter that is lower than before belongs to another cgroup of that name. */
static uint64_t count_since(bool known, uint64_t now, bool before_known, uint64_t before)
{
	if (!known)
		return 0;
	return before_known && before <= now ? now - before : now;
}

static bool is_another(const struct memcg *now, const struct memcg *before)
{
	return (now->oom_kills_known && before->oom_kills_known &&
		now->oom_kills < before->oom_kills) ||
	       (now->max_known && before->max_known && now->max < before->max) ||
	       (now->high_known && before->high_known && now->high < before->high);
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

static uint64_t kills_since(const struct incident *i, const struct memcg *now)
{
	static const struct memcg none;
	const struct memcg *found = snapshot_find_memcg(i->baseline, now->path);
	const struct memcg *was = found ? found : &none;

	return count_since(now->oom_kills_known, now->oom_kills, was->oom_kills_known,
			   was->oom_kills);
}

/* In v1 a cgroup does not count the kills of those below it. */
static uint64_t kills_below(const struct incident *i, const char *path)
{
	uint64_t kills = 0;

	for (size_t n = 0; n < i->during->memcg_count; n++) {
		const struct memcg *now = &i->during->memcg[n];

		kills += is_above(path, now->path) ? kills_since(i, now) : 0;
	}
	return kills;
}

/* The cgroup that reached its limit in v1. NULL: it is of v2, or there is none. */
static const char *limit_of_v1(const struct event_record *e)
{
	return e && event_has(e, EVENT_V2) && !event_number(e, EVENT_V2)
		       ? event_text(e, EVENT_LIMIT_CGROUP)
		       : NULL;
}

size_t incident_limit_events(const struct incident *i, struct limit_events *ret, size_t most)
{
	static const struct memcg none;
	const char *v1 = limit_of_v1(i->event);
	size_t count = 0;

	/* Paths are sorted: from the end, those below come before those above. */
	for (size_t n = i->during && i->baseline ? i->during->memcg_count : 0; n-- > 0;) {
		const struct memcg *now = &i->during->memcg[n];
		const struct memcg *found = snapshot_find_memcg(i->baseline, now->path);
		const struct memcg *was = found ? found : &none;
		struct limit_events e = {.cgroup = now->path,
					 .since_made = !found || is_another(now, found)};
		bool below = false;

		e.oom_kills = kills_since(i, now);
		if (v1 && strcmp(v1, now->path) == 0)
			e.oom_kills += kills_below(i, v1);
		e.max = count_since(now->max_known, now->max, was->max_known, was->max);
		e.high = count_since(now->high_known, now->high, was->high_known, was->high);
		/* Without a limit of its own, it counts those of cgroups below it. */
		if (!memcg_has_own_limit(i->during->memcg, i->during->memcg_count, now))
			e.max = e.oom_kills = 0;
		if (!e.oom_kills && !e.max && !e.high)
			continue;
		for (size_t b = 0; b < count && !below; b++)
			below = is_above(e.cgroup, ret[b].cgroup) && same_events(&e, &ret[b]);
		if (!below)
			insert_events(ret, &count, most, &e);
	}
	return count;
}

/* ---- the cgroup that reached its limit ---- */

#define SMALL (UINT64_C(1) << 20)

const char *incident_part_name(enum incident_part part)
{
	static const char *const name[INCIDENT_PARTS] = {
		[PART_PROCESSES] = "processes", [PART_SHMEM] = "tmpfs and shared memory",
		[PART_FILES] = "files",		[PART_KERNEL] = "kernel",
		[PART_SOCKETS] = "sockets",	[PART_SWAP] = "swap",
		[PART_OTHER] = "other",		[PART_UNREAD] = "not read",
	};

	return name[part];
}

uint64_t incident_shmem_of(const struct incident *i, const struct group_change *group)
{
	for (size_t n = 0; n < i->shmem_inside.count; n++) {
		const struct group_change *g = &i->shmem_inside.item[n];
		bool same = g->group && group->group ? strcmp(g->group, group->group) == 0
						     : g->group == group->group;

		/* Groups by several columns may have one text. */
		if (same && g->member == group->member)
			return g->after;
	}
	return 0;
}

static void add_charge(struct incident_charge *list, size_t *count, enum incident_part part,
		       uint64_t bytes)
{
	size_t at = *count;

	if (!bytes)
		return;
	while (at && list[at - 1].bytes < bytes)
		at--;
	memmove(list + at + 1, list + at, (*count - at) * sizeof(*list));
	list[at] = (struct incident_charge){part, bytes};
	++*count;
}

/* Before Linux 5.18 v2 has no sum of the kernel's memory. */
static uint64_t kernel_part(const struct event_record *e)
{
	return event_has(e, EVENT_PART_KERNEL)
		       ? event_number(e, EVENT_PART_KERNEL)
		       : event_number(e, EVENT_PART_SLAB) + event_number(e, EVENT_PART_PAGETABLES);
}

/* Anonymous memory that processes of the cgroup had at the kill. */
static uint64_t held_inside(const struct incident *i)
{
	uint64_t held = event_number(i->event, EVENT_RSS_ANON), sum = 0;

	for (size_t n = 0; n < i->largest_inside.count; n++)
		sum += i->largest_inside.item[n].after;
	return sum > held ? sum : held;
}

void incident_add_charges(struct incident *i)
{
	const struct event_record *e = i->event;
	const struct event_level *level = event_level_at_limit(e);
	const bool memsw = level && event_limit_is_memsw(e, level);
	const struct incident_charge read[] = {
		{PART_SHMEM, event_number(e, EVENT_PART_SHMEM)},
		{PART_FILES, event_number(e, EVENT_PART_FILE)},
		{PART_KERNEL, kernel_part(e)},
		/* In v1 they have a limit of their own. */
		{PART_SOCKETS, event_number(e, EVENT_V2) ? event_number(e, EVENT_PART_SOCK) : 0},
		{PART_SWAP, memsw ? event_number(e, EVENT_PART_SWAP) : 0},
	};
	uint64_t anon = event_number(e, EVENT_PART_ANON), rest, freed;

	i->charges = 0;
	if (!event_has(e, EVENT_PART_ANON))
		return;
	rest = level ? event_usage_of(e, level) : 0;
	rest -= rest < anon ? rest : anon;
	for (size_t n = 0; n < ARRAY_SIZE(read); n++) {
		rest -= rest < read[n].bytes ? rest : read[n].bytes;
		add_charge(i->charge, &i->charges, read[n].part, read[n].bytes);
	}
	/* When the parts were read, memory of the victim may have been freed already. */
	freed = held_inside(i);
	freed -= freed < anon ? freed : anon;
	freed = freed < rest ? freed : rest;
	add_charge(i->charge, &i->charges, PART_PROCESSES, anon + freed);
	/* Less is what CPUs hold back. */
	if (rest - freed > SMALL)
		add_charge(i->charge, &i->charges,
			   event_number(e, EVENT_TABLE) &&
					   !(i->during && snapshot_is_cut(i->during))
				   ? PART_OTHER
				   : PART_UNREAD,
			   rest - freed);
}

static unsigned count_names(const char *path)
{
	unsigned names = 0;

	for (const char *at = path; *at; at++)
		names += *at == '/' && at[1];
	return names;
}

const char *incident_level_path(const struct event_record *e, unsigned level, char buf[EVENT_TEXT])
{
	const char *limit = event_text(e, EVENT_LIMIT_CGROUP), *own = event_text(e, EVENT_CGROUP);
	unsigned at = (unsigned)event_number(e, EVENT_AT_LEVEL), up;

	if (!limit || !event_has(e, EVENT_AT_LEVEL))
		return NULL;
	if (level == at)
		return limit;
	up = level - at;
	/* Below it, if the victim's own cgroup has a memory controller. */
	if (level < at) {
		if (!own || count_names(own) != count_names(limit) + at)
			return NULL;
		limit = own;
		up = level;
	}
	if (count_names(limit) < up)
		return NULL;
	memcpy(buf, limit, strlen(limit) + 1);
	while (up--)
		*strrchr(buf, '/') = '\0';
	return *buf ? buf : "/";
}

bool incident_unread(const struct incident *i, uint32_t *ret)
{
	const struct collection *c = i->during ? &i->during->collection : NULL;
	uint64_t lost = event_number(i->event, EVENT_LOST);

	*ret = 0;
	if (!c || !event_number(i->event, EVENT_TABLE))
		return false;
	if (event_number(i->event, EVENT_LATE))
		*ret = c->not_seen + c->earlier > lost ? c->not_seen + c->earlier - (uint32_t)lost
						       : 0;
	return !event_number(i->event, EVENT_LATE) || c->not_seen_known;
}
