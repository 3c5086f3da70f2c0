// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Where the machine's RAM was at an event, and which of it nothing can free. */
#include "model/incident.h"
#include "model/memcg.h"

/* The kernel does not choose such a process (oom_badness(), mm/oom_kill.c). */
#define OOM_SCORE_ADJ_MIN -1000

/* Whether less was available in `a`. */
static bool had_less(const struct snapshot *a, const struct snapshot *b)
{
	const struct meminfo *m = &a->system.meminfo, *of = &b->system.meminfo;

	return meminfo_has(m, MEMINFO_AVAILABLE) && meminfo_has(of, MEMINFO_AVAILABLE) &&
	       m->value[MEMINFO_AVAILABLE] < of->value[MEMINFO_AVAILABLE];
}

static uint64_t bytes_of(const struct snapshot *s, enum meminfo_counter c)
{
	return meminfo_has(&s->system.meminfo, c) ? s->system.meminfo.value[c] : 0;
}

/* `cgroup`: NULL: of the machine. */
static void find_exempt(const struct incident *i, const char *cgroup, struct incident_ram *ret)
{
	ret->exempt_known = !snapshot_is_cut(i->during);
	for (size_t n = 0; n < i->during->count; n++) {
		const struct process *p = &i->during->process[n];

		if (p->kind != PROCESS_USER || !p->mm_owner ||
		    (cgroup && !(p->cgroup && cgroup_holds(cgroup, p->cgroup))))
			continue;
		ret->processes++;
		if (p->oom_score_adj != OOM_SCORE_ADJ_MIN)
			continue;
		ret->exempt++;
		ret->exempt_bytes += p->value[COUNTER_RSS_ANON] + p->value[COUNTER_SWAP];
	}
}

void incident_find_ram(struct incident *i, const struct snapshot *just_before)
{
	struct incident_ram *ret = &i->where;
	const struct snapshot *s = i->during;
	const bool kill = event_number(i->event, EVENT_KIND) == EVENT_OOM_KILL;
	struct overview o;

	*ret = (struct incident_ram){};
	if (s && incident_is_no_victim(i) && incident_short_cgroup(i))
		find_exempt(i, incident_short_cgroup(i), ret);
	if (!s || incident_short_cgroup(i) || (!kill && !incident_is_pressure(i)))
		return;
	if (!kill || i->table_known)
		find_exempt(i, NULL, ret);
	/* The victim may have freed memory before the counters were read. */
	if (just_before && had_less(just_before, s))
		s = just_before;
	overview_make(s, NULL, &o);
	ret->time_ms = s->time_ms;
	ret->pool = bytes_of(s, MEMINFO_HUGETLB);
	ret->locked = bytes_of(s, MEMINFO_MLOCKED);
	for (size_t n = 0; o.known && n < o.parts; n++) {
		const enum overview_part part = o.order[n];

		ret->part[ret->parts++] = (struct incident_ram_part){
			overview_part_name(part), overview_part_title(&o, part), o.bytes[part]};
	}
}
