// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Runs the iterator of bpf/pages.bpf.c over all processes, again and again: in each pass it walks
 * each process that is still in the map BPF_WANTED, for less than a millisecond, and tells where
 * the next pass goes on. A process leaves the map when the pages found add up to its counters.
 * Where they do not, its walk begins anew, at most TRIES times.
 *
 * The node of a frame is that of its zone (model/zones.h), as in a census of page frames.
 */
#include "source/pages_source.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "load/bpf_diagnose.h"
#include "source/iterator.h"
#include "source/record_decode.h"
#include "source/source_internal.h"

#define SUBJECT	    "pages one by one"
#define NEEDS_PAGES "they need PSS from page tables"
/* How often a process is read before it is given up. */
#define TRIES 4
/* Passes over all processes; in each, a process is walked for less than a millisecond. */
#define PASSES_MAX (1024 * 1024)

_Static_assert(NODES_MAX == ZMEM_NODES, "the program tells as many nodes apart");

/* A process that is read: the sums of its visits so far. */
struct pages_work {
	struct process *process; /* NULL: of pages_source_maps() */
	pid_t pid;
	struct zmem_pages_sum sum;
	__u64 seen[ZMEM_RSS_COUNT];
	__s64 before[ZMEM_RSS_COUNT], after[ZMEM_RSS_COUNT];
	unsigned tries;
	bool visited, done, whole;
};

struct pages_source {
	struct bpf_handle handle;
	const struct source *from;
	struct zmem_pages_visit *visit; /* what a run of the program is asked and answers */
	int link_fd;
	uint32_t page_size;
	const char *refusal;
	struct pages_work *work;
	size_t work_count, pending;
	/* Of pages_source_maps(). */
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
	close_fd(&s->link_fd);
	bpf_handle_close(&s->handle);
	free(s->work);
	free(s->mapping);
	free(s);
}

static int set_up(struct pages_source *s, const struct cpu_ids *cpus)
{
	int r = bpf_handle_map(&s->handle, sizeof(*s->visit));

	if (r < 0)
		return r;
	s->visit = s->handle.answers;
	r = bpf_source_set_up_cpus(s->handle.fd[BPF_SETUP], cpus, false);
	if (r < 0)
		return r;
	s->link_fd = iterator_link(s->handle.fd[BPF_ITER], NULL);
	return s->link_fd < 0 ? s->link_fd : 0;
}

/* The source calibrates again when RAM was added or removed. */
static int follow_layout(struct pages_source *s)
{
	struct zmem_layout layout;
	int r = source_layout(s->from, &layout);

	if (r < 0)
		return r;
	s->visit->at = layout;
	s->visit->at.page_bits = (uint32_t)__builtin_ctz(s->page_size);
	return 0;
}

int pages_source_open(const struct source *from, struct diag *diag, struct pages_source **ret)
{
	struct pages_source *s;
	struct zmem_layout layout;
	const char *step = "loading the program";
	struct bpf_sizes sizes = {};
	struct cpu_ids cpus;
	int r = source_layout(from, &layout);

	if (r < 0) {
		diag_add(diag, SUBJECT, r, NULL, NEEDS_PAGES);
		return r;
	}
	s = calloc(1, sizeof(*s));
	if (!s)
		return -ENOMEM;
	s->from = from;
	s->link_fd = -1;
	s->page_size = (uint32_t)sysconf(_SC_PAGESIZE);
	bpf_source_find_cpus(&cpus);
	sizes.cpus = cpus.count;
	sizes.cpu_numbers = cpus.numbers;
	r = bpf_load(OBJECT_PAGES, LOADER_LIGHT, &sizes, NULL, &s->handle, NULL);
	if (r == 0) {
		step = "setting it up";
		r = set_up(s, &cpus);
	}
	if (r < 0) {
		bpf_diagnose_note(diag, SUBJECT, step, r, NULL);
		pages_source_close(s);
		return r;
	}
	*ret = s;
	return 0;
}

/* ---- walks ---- */

/* Has the next pass visit the process, from the cursor on; `first`: its walk begins. */
static int want_visit(struct pages_source *s, const struct pages_work *w, uint64_t cursor,
		      bool first)
{
	const __s32 pid = w->pid;
	struct zmem_pages_want value = {};

	if (!first && bpf_map_lookup_elem(s->handle.fd[BPF_WANTED], &pid, &value) < 0)
		return -errno;
	value.cursor = cursor;
	return bpf_map_update_elem(s->handle.fd[BPF_WANTED], &pid, &value, 0) < 0 ? -errno : 0;
}

static int end_walk(struct pages_source *s, struct pages_work *w, bool whole)
{
	const __s32 pid = w->pid;

	w->done = true;
	w->whole = whole;
	s->pending--;
	return bpf_map_delete_elem(s->handle.fd[BPF_WANTED], &pid) < 0 && errno != ENOENT ? -errno
											  : 0;
}

/* Begins the walk of a process anew, or gives it up. */
static int repeat_walk(struct pages_source *s, struct pages_work *w)
{
	if (++w->tries >= TRIES)
		return end_walk(s, w, false);
	w->visited = false;
	w->sum = (struct zmem_pages_sum){};
	memset(w->seen, 0, sizeof(w->seen));
	s->mappings = 0;
	return want_visit(s, w, 0, true);
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
}

/*
 * True if the pages found are those that the process has by its counters, and these are the same
 * before and after. A large process rarely stands still. Of hugetlb pages no counter tells.
 */
static bool adds_up(const struct pages_work *w, unsigned asked)
{
	static const enum zmem_rss kinds[] = {ZMEM_RSS_ANON, ZMEM_RSS_FILE, ZMEM_RSS_SHMEM};
	size_t count = asked & ZMEM_PAGES_NODES ? 3 : asked & ZMEM_PAGES_LAZY ? 1 : 0;
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
			if (s->mappings == s->mappings_room) {
				size_t room = s->mappings_room * 2 + ZMEM_PAGES_VMAS;

				m = reallocarray(s->mapping, room, sizeof(*m));
				if (!m)
					return -ENOMEM;
				s->mapping = m;
				s->mappings_room = room;
			}
			m = &s->mapping[s->mappings++];
			*m = (struct pages_mapping){.start = v->start};
		}
		for (int n = 0; n < ZMEM_NODES; n++)
			m->bytes[n] += v->sum.pages[n] * s->page_size;
	}
	return 0;
}

static bool has_lower_pid(const void *item, const void *pid)
{
	const struct pages_work *w = item;

	return w->pid < *(const __s32 *)pid;
}

/* One visit to a process that is wanted. */
static int receive_record(void *arg, const void *record)
{
	struct pages_source *s = arg;
	const struct zmem_pages_record *r = record;
	size_t i = count_before(s->work, s->work_count, sizeof(*s->work), has_lower_pid, &r->pid);
	struct pages_work *w = &s->work[i];
	int error;

	if (i == s->work_count || w->pid != r->pid || w->done)
		return 0;
	if (w->process && w->process->start_ns / 10000000 != r->start_boottime_ns / 10000000)
		return end_walk(s, w, false);
	if (r->flags & (ZMEM_WALK_MOVED | ZMEM_WALK_UNKNOWN))
		return repeat_walk(s, w);
	if (!w->visited)
		memcpy(w->before, r->before, sizeof(w->before));
	w->visited = true;
	memcpy(w->after, r->after, sizeof(w->after));
	add_sum(&w->sum, &r->sum);
	for (int k = 0; k < ZMEM_RSS_COUNT; k++)
		w->seen[k] += r->seen[k];
	error = s->visit->asked & ZMEM_PAGES_BY_VMA ? add_mappings(s) : 0;
	if (error < 0)
		return error;
	if (r->cursor)
		return want_visit(s, w, r->cursor, false);
	return adds_up(w, s->visit->asked) ? end_walk(s, w, true) : repeat_walk(s, w);
}

/* Walks all of s->work. */
static int walk_all(struct pages_source *s)
{
	ssize_t met = 1;

	/* Where a pass meets none of the wanted processes, they have ended. */
	for (int i = 0; met > 0 && s->pending && i < PASSES_MAX; i++) {
		cleanup_close int fd = bpf_iter_create(s->link_fd);

		met = fd < 0 ? fd
			     : iterator_read(fd, sizeof(struct zmem_pages_record), receive_record,
					     s);
	}
	for (size_t i = 0; i < s->work_count; i++) {
		if (!s->work[i].done)
			end_walk(s, &s->work[i], false);
	}
	return met < 0 ? (int)met : 0;
}

/* Makes room for the walks of so many processes. */
static int prepare(struct pages_source *s, size_t count)
{
	free(s->work);
	s->work_count = s->pending = 0;
	s->work = calloc(count + 1, sizeof(*s->work));
	return s->work ? follow_layout(s) : -ENOMEM;
}

static int add_work(struct pages_source *s, pid_t pid, struct process *p)
{
	struct pages_work *w = &s->work[s->work_count++];
	int r;

	w->pid = pid;
	w->process = p;
	s->pending++;
	r = want_visit(s, w, 0, true);
	/* More than the map has room for. */
	return r == -E2BIG ? end_walk(s, w, false) : r;
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

static int set_values(struct pages_source *s, const struct pages_work *w, unsigned asked,
		      struct snapshot *snapshot)
{
	struct process *p = w->process;
	struct node_shares *nodes;

	p->pages_status = w->whole ? PSS_OK : w->visited || w->tries ? PSS_RACED : PSS_GONE;
	if (!w->whole)
		return 0;
	if (asked & (ZMEM_PAGES_LAZY | ZMEM_PAGES_NODES))
		process_set(p, COUNTER_LAZYFREE, w->sum.lazy * s->page_size);
	if (asked & ZMEM_PAGES_HUGETLB)
		process_set(p, COUNTER_HUGETLB_PSS, w->sum.hugetlb >> ZMEM_PSS_SHIFT);
	if (!(asked & ZMEM_PAGES_NODES))
		return 0;
	if (w->sum.strays) {
		p->pages_status = PSS_UNSUPPORTED;
		return 0;
	}
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
	int r = prepare(s, count);

	if (r == 0 && asked & ZMEM_PAGES_NODES && !set_spans(s, zones))
		asked &= ~(unsigned)ZMEM_PAGES_NODES;
	s->visit->asked = asked;
	for (size_t i = 0; r == 0 && i < count; i++) {
		if (process[i]->kind == PROCESS_USER && process_has(process[i], COUNTER_RSS))
			r = add_work(s, process[i]->pid, process[i]);
	}
	if (r == 0 && asked)
		r = walk_all(s);
	for (size_t i = 0; r == 0 && i < s->work_count; i++)
		r = set_values(s, &s->work[i], asked, snapshot);
	return r;
}

ssize_t pages_source_maps(struct pages_source *s, const struct zones *zones, pid_t pid,
			  const struct pages_mapping **ret)
{
	int r = prepare(s, 1);

	if (r == 0 && !set_spans(s, zones))
		r = -ENODATA;
	s->visit->asked = ZMEM_PAGES_NODES | ZMEM_PAGES_BY_VMA;
	s->mappings = 0;
	if (r == 0)
		r = add_work(s, pid, NULL);
	if (r == 0)
		r = walk_all(s);
	if (r < 0)
		return r;
	*ret = s->mapping;
	return s->work[0].whole				? (ssize_t)s->mappings
	       : s->work[0].visited || s->work[0].tries ? -EAGAIN
							: -ESRCH;
}
