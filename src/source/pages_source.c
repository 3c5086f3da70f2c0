// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Asks bpf/pages.bpf.c. The node of a frame is that of its zone (model/zones.h), as in a census of
 * page frames.
 */
#include "source/pages_source.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "source/record_decode.h"
#include "source/visits.h"

_Static_assert(NODES_MAX == ZMEM_NODES, "the program tells as many nodes apart");

/* A process that is read: the sums of its visits so far. */
struct pages_work {
	struct walk walk; /* without a process: of pages_source_maps() */
	struct zmem_pages_sum sum;
	__u64 seen[ZMEM_RSS_COUNT];
	__s64 before[ZMEM_RSS_COUNT], after[ZMEM_RSS_COUNT];
};

struct pages_source {
	struct visits visits;
	struct zmem_pages_visit *visit; /* what a run of the program is asked and answers */
	const char *refusal;
	/* For pages_source_maps(). */
	struct pages_mapping *mapping;
	size_t mappings, mappings_room;
};

const char *pages_source_refusal(const struct pages_source *s)
{
	return s->refusal;
}

void pages_source_close(struct pages_source *s)
{
	if (!s)
		return;
	visits_close(&s->visits);
	free(s->mapping);
	free(s);
}

static void add_sum(struct zmem_pages_sum *to, const struct zmem_pages_sum *from)
{
	for (int n = 0; n < ZMEM_NODES; n++) {
		to->pages[n] += from->pages[n];
		to->share[n] += from->share[n];
	}
	to->lazy += from->lazy;
	to->hugetlb += from->hugetlb;
	to->strays += from->strays;
	to->rest += from->rest;
	to->rest_unknown += from->rest_unknown;
}

/*
 * True if as many pages were found as the counters of the process have, and the counters are the
 * same before and after. A large process rarely stands still. Hugetlb pages have no counter.
 */
static bool adds_up(const struct visits *v, const struct walk *walk)
{
	const struct pages_work *w = (const struct pages_work *)walk;
	const unsigned asked = ((const struct pages_source *)v)->visit->asked;
	static const enum zmem_rss kinds[] = {ZMEM_RSS_ANON, ZMEM_RSS_FILE, ZMEM_RSS_SHMEM};
	size_t count = asked & ZMEM_PAGES_NODES			     ? 3
		       : asked & (ZMEM_PAGES_LAZY | ZMEM_PAGES_REST) ? 1
								     : 0;
	uint64_t all = 0, room;

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		all += w->after[kinds[i]] > 0 ? (uint64_t)w->after[kinds[i]] : 0;
	room = all < ZMEM_LARGE_PAGES ? 0 : all / ZMEM_CLOSE_PART;
	for (size_t i = 0; i < count; i++) {
		enum zmem_rss k = kinds[i];

		if (pages_apart(w->before[k], w->after[k]) > room ||
		    pages_apart((int64_t)w->seen[k], w->after[k]) > room)
			return false;
	}
	return true;
}

/* Adds what the visit found of each mapping. A mapping may go on in the next visit. */
static int add_mappings(struct pages_source *s)
{
	for (size_t i = 0; i < s->visit->vmas && i < ZMEM_PAGES_VMAS; i++) {
		const struct zmem_pages_vma *v = &s->visit->vma[i];
		struct pages_mapping *m = s->mappings ? &s->mapping[s->mappings - 1] : NULL;

		if (!m || m->start != v->start) {
			if (!array_room(&s->mapping, s->mappings, &s->mappings_room,
					ZMEM_PAGES_VMAS))
				return -ENOMEM;
			m = &s->mapping[s->mappings++];
			*m = (struct pages_mapping){.start = v->start, .rest_known = true};
		}
		for (int n = 0; n < ZMEM_NODES; n++)
			m->bytes[n] += v->sum.pages[n] * s->visits.page_size;
		m->rest += v->sum.rest >> ZMEM_PSS_SHIFT;
		m->rest_known &= !v->sum.rest_unknown;
	}
	return 0;
}

/* Adds one visit to a process. */
static int add_record(struct visits *v, struct walk *walk, const void *record)
{
	struct pages_source *s = (struct pages_source *)v;
	struct pages_work *w = (struct pages_work *)walk;
	const struct zmem_pages_record *r = record;

	if (!walk->visited) {
		memcpy(w->before, r->before, sizeof(w->before));
		s->mappings = 0;
	}
	memcpy(w->after, r->after, sizeof(w->after));
	add_sum(&w->sum, &r->sum);
	for (int k = 0; k < ZMEM_RSS_COUNT; k++)
		w->seen[k] += r->seen[k];
	return s->visit->asked & ZMEM_PAGES_BY_VMA ? add_mappings(s) : 0;
}

static const struct visit_kind kind = {
	.subject = "pages one by one",
	.needs = "they need PSS from page tables",
	.object = OBJECT_PAGES,
	.layout_offset = offsetof(struct zmem_pages_visit, at),
	.walk_size = sizeof(struct pages_work),
	.record_size = sizeof(struct zmem_pages_record),
	.tries = 4,
	.add = add_record,
	.adds_up = adds_up,
};

int pages_source_open(const struct source *from, struct diag *diag, struct pages_source **ret)
{
	struct pages_source *s = calloc(1, sizeof(*s));
	int r = s ? visits_open(&s->visits, &kind, from, 0, diag) : -ENOMEM;

	if (r < 0) {
		pages_source_close(s);
		return r;
	}
	s->visit = s->visits.handle.answers;
	*ret = s;
	return 0;
}

/* Makes room for the walks of so many processes. */
static int prepare(struct pages_source *s, size_t count)
{
	int r = visits_begin(&s->visits, count);

	return r < 0 ? r : visits_follow_layout(&s->visits);
}

/* Sets the nodes of frames. Returns false, and why, if they are not known. */
static bool set_spans(struct pages_source *s, const struct zones *zones)
{
	struct frame_span span[ZONES_MAX];
	bool mixed;
	size_t count = zones_spans(zones, span, &mixed);

	s->refusal = !count || zones->cut      ? "/proc/zoneinfo does not tell the nodes of RAM"
		     : mixed		       ? "the RAM of different nodes overlaps"
		     : count > ZMEM_NODE_SPANS ? "the nodes have too many pieces of RAM"
					       : NULL;
	for (size_t i = 0; i < count && !s->refusal; i++) {
		s->visit->span[i] =
			(struct zmem_node_span){span[i].first, span[i].end, span[i].node};
		if (span[i].node >= NODES_MAX)
			s->refusal = "only the nodes below 16 are told apart";
	}
	s->visit->spans = s->refusal ? 0 : (uint32_t)count;
	return !s->refusal;
}

/* The nodes with RAM, in their order. */
static struct node_shares *nodes_of(const struct pages_source *s, struct snapshot *snapshot)
{
	struct node_shares *n = arena_zalloc(&snapshot->arena, 1, sizeof(*n));

	for (uint32_t number = 0; n && number < NODES_MAX; number++) {
		for (uint32_t i = 0; i < s->visit->spans; i++) {
			if (s->visit->span[i].node == number) {
				n->node[n->count++].node = number;
				break;
			}
		}
	}
	return n;
}

static void set_status(struct process *p, unsigned asked, enum pss_status why)
{
	if (asked & (ZMEM_PAGES_LAZY | ZMEM_PAGES_NODES))
		p->status[VALUE_LAZYFREE] = why;
	if (asked & ZMEM_PAGES_REST)
		p->status[VALUE_THP_REST] = why;
	if (asked & ZMEM_PAGES_HUGETLB)
		p->status[VALUE_HUGETLB_PSS] = why;
	if (asked & ZMEM_PAGES_NODES)
		p->status[VALUE_NODES] = why;
}

static int set_values(struct pages_source *s, const struct pages_work *w, unsigned asked,
		      struct snapshot *snapshot)
{
	struct process *p = w->walk.process;
	struct node_shares *nodes;

	if (!w->walk.whole) {
		set_status(p, asked, w->walk.visited || w->walk.tries ? PSS_RACED : PSS_GONE);
		return 0;
	}
	if (asked & (ZMEM_PAGES_LAZY | ZMEM_PAGES_NODES))
		process_set(p, COUNTER_LAZYFREE, w->sum.lazy * s->visits.page_size);
	if (asked & ZMEM_PAGES_REST && !w->sum.rest_unknown)
		process_set(p, COUNTER_THP_REST, w->sum.rest >> ZMEM_PSS_SHIFT);
	if (asked & ZMEM_PAGES_HUGETLB)
		process_set(p, COUNTER_HUGETLB_PSS, w->sum.hugetlb >> ZMEM_PSS_SHIFT);
	if (!(asked & ZMEM_PAGES_NODES) || w->sum.strays)
		return 0;
	nodes = nodes_of(s, snapshot);
	if (!nodes)
		return -ENOMEM;
	for (uint32_t i = 0; i < nodes->count; i++)
		nodes->node[i].pss = w->sum.share[nodes->node[i].node] >> ZMEM_PSS_SHIFT;
	p->nodes = nodes;
	p->have |= COUNTER_BIT(COUNTER_NODES);
	return 0;
}

int pages_source_read(struct pages_source *s, unsigned asked, const struct zones *zones,
		      struct snapshot *snapshot, struct process *const *process, size_t count)
{
	int r = s ? prepare(s, count) : -EOPNOTSUPP;

	for (size_t i = 0; i < count; i++)
		set_status(process[i], asked, PSS_UNSUPPORTED);
	if (r < 0)
		return r;
	if (asked & ZMEM_PAGES_NODES && !set_spans(s, zones))
		asked &= ~(unsigned)ZMEM_PAGES_NODES;
	s->visit->asked = asked;
	for (size_t i = 0; r == 0 && i < count; i++) {
		if (process[i]->kind == PROCESS_USER && process_has(process[i], COUNTER_RSS))
			r = visits_add(&s->visits, process[i]->pid, process[i]);
	}
	if (r == 0 && asked)
		r = visits_run(&s->visits);
	for (size_t i = 0; r == 0 && i < s->visits.count; i++)
		r = set_values(s, visits_walk(&s->visits, i), asked, snapshot);
	return r;
}

int pages_source_follow_nodes(struct pages_source *s, const struct zones *zones)
{
	return set_spans(s, zones) ? 0 : -ENODATA;
}

ssize_t pages_source_maps(struct pages_source *s, unsigned asked, pid_t pid,
			  const struct pages_mapping **ret)
{
	const struct walk *w;
	int r = prepare(s, 1);

	s->visit->asked = asked | ZMEM_PAGES_BY_VMA;
	s->mappings = 0;
	if (r == 0)
		r = visits_add(&s->visits, pid, NULL);
	if (r == 0)
		r = visits_run(&s->visits);
	if (r < 0)
		return r;
	*ret = s->mapping;
	w = visits_walk(&s->visits, 0);
	return w->whole ? (ssize_t)s->mappings : w->visited || w->tries ? -EAGAIN : -ESRCH;
}
