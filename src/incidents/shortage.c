// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What the snapshots of a shortage tell: its worst moment, and which cgroups waited for memory. */
#include <errno.h>
#include <string.h>

#include "incidents/incidents.h"
#include "model/memcg.h"
#include "proc/cgroup.h"

/* There is one each second for an hour (keeper_episodes.c); then a longer interval. */
#define WORST_FRAMES 5000

struct worst {
	bool known;
	uint64_t available;
	uint32_t full, some;
};

/*
 * Whether less RAM is available than in all before; where tasks waited while the machine had
 * memory, whether they waited more.
 */
static bool is_worse(const struct snapshot *s, bool plenty, struct worst *w)
{
	const struct system_info *system = &s->system;
	const struct worst now = {
		.known = plenty ? system->pressure.known
				: meminfo_has(&system->meminfo, MEMINFO_AVAILABLE),
		.available = system->meminfo.value[MEMINFO_AVAILABLE],
		.full = system->pressure.full_avg10,
		.some = system->pressure.some_avg10,
	};
	bool worse = plenty ? now.full > w->full || (now.full == w->full && now.some > w->some)
			    : now.available < w->available;

	if (!now.known || (w->known && !worse))
		return false;
	*w = now;
	return true;
}

/* ---- cgroups that waited ---- */

/* Less of ten seconds is no news while memory is short: 5 %. */
#define STALL_LEAST 500

void incidents_clear_stalls(struct incidents *s)
{
	arena_clear(&s->stalls.arena);
	s->stalls.item = NULL;
	s->stalls.count = s->stalls.room = 0;
	s->incident.stalls = 0;
	s->incident.stalls_known = false;
}

/* Adds a cgroup at its place. Returns 0 or -ENOMEM. */
static int add_stall(struct stall_list *l, size_t at, const char *path)
{
	const char *copy = arena_strndup(&l->arena, path, strlen(path));

	if (l->count == l->room) {
		size_t room = l->room ? 2 * l->room : 64;
		struct incident_stall *more = arena_zalloc(&l->arena, room, sizeof(*more));

		if (!more)
			return -ENOMEM;
		if (l->count)
			memcpy(more, l->item, l->count * sizeof(*more));
		l->item = more;
		l->room = room;
	}
	if (!copy)
		return -ENOMEM;
	memmove(l->item + at + 1, l->item + at, (l->count - at) * sizeof(*l->item));
	l->item[at] = (struct incident_stall){.cgroup = copy};
	l->count++;
	return 0;
}

/* Keeps the highest value of each cgroup. Both are sorted by path. Returns 0 or -ENOMEM. */
static int note_stalls(struct incidents *s, const struct snapshot *now)
{
	struct stall_list *l = &s->stalls;

	for (size_t i = 0, at = 0; i < now->memcg_count; i++) {
		const struct memcg *m = &now->memcg[i];
		uint64_t some, full;

		if (!memcg_has(m, COUNTER_PSI_SOME_10) || !memcg_has(m, COUNTER_PSI_FULL_10))
			continue;
		s->incident.stalls_known = true;
		some = memcg_detail(m, COUNTER_PSI_SOME_10);
		full = memcg_detail(m, COUNTER_PSI_FULL_10);
		if (some < STALL_LEAST)
			continue;
		while (at < l->count && strcmp(l->item[at].cgroup, m->path) < 0)
			at++;
		if ((at == l->count || strcmp(l->item[at].cgroup, m->path) != 0) &&
		    add_stall(l, at, m->path) < 0)
			return -ENOMEM;
		l->item[at].some = some > l->item[at].some ? some : l->item[at].some;
		l->item[at].full = full > l->item[at].full ? full : l->item[at].full;
	}
	return 0;
}

/* Whether a cgroup below it waited as much, or nearly: then it says nothing more. */
static bool is_of_below(const struct stall_list *l, size_t at)
{
	const struct incident_stall *of = &l->item[at];

	for (size_t i = at + 1; i < l->count; i++) {
		if (cgroup_below(of->cgroup, l->item[i].cgroup) &&
		    l->item[i].some >= of->some / 4 * 3)
			return true;
	}
	return false;
}

void incidents_choose_stalls(struct incidents *s)
{
	const struct stall_list *l = &s->stalls;
	struct incident *to = &s->incident;

	to->stalls = 0;
	for (size_t i = 0; i < l->count; i++) {
		struct incident_stall stall = l->item[i];
		size_t at = to->stalls;

		if (is_of_below(l, i))
			continue;
		while (at && to->stall[at - 1].some < stall.some)
			at--;
		if (at == INCIDENT_STALLS)
			continue;
		to->stalls += to->stalls < INCIDENT_STALLS;
		memmove(to->stall + at + 1, to->stall + at,
			(to->stalls - at - 1) * sizeof(*to->stall));
		stall.kind = cgroup_owner(&s->during, stall.cgroup, &stall.name);
		to->stall[at] = stall;
	}
}

/* ---- the worst moment ---- */

int incidents_find_worst(struct incidents *s, size_t event, size_t *frame)
{
	struct recording_reader *r = s->replay.reader;
	const int64_t until_ms = incidents_until(s, event);
	const bool plenty = incident_is_plenty(&s->incident);
	const size_t first = *frame, end = first + WORST_FRAMES;
	char why[RECORDING_REASON];
	struct worst w = {};
	int err = 0;

	incidents_clear_stalls(s);
	for (size_t i = first; err == 0 && i < s->replay.frames && i < end; i++) {
		const struct snapshot *now;

		if (recording_reader_time(r, i) > until_ms)
			break;
		/* The moment of a kill has no PSS. */
		if (recording_reader_frame(r, i, &now, why) < 0 || snapshot_is_kill(now))
			continue;
		err = note_stalls(s, now);
		if (is_worse(now, plenty, &w))
			*frame = i;
	}
	return err;
}
