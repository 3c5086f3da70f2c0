// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Reads smaps of the chosen processes and sums their mappings. */
#include "collect/maps_read_all.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "proc/mounts.h"
#include "source/pages_source.h"

/* The number of processes that are read before they are summed. */
#define BATCH 64

struct map_file_system {
	uint64_t device; /* as in struct mapping */
	const char *type;
};

/* By device, of all mount namespaces that were read. */
struct map_file_systems {
	struct map_file_system *item;
	size_t count, capacity;
	struct arena arena;
};

static void file_systems_done(struct map_file_systems *fs)
{
	if (!fs)
		return;
	free(fs->item);
	arena_done(&fs->arena);
	free(fs);
}

void maps_read_done(struct maps_read *m, size_t processes)
{
	for (size_t i = 0; m->set && i < processes; i++)
		map_set_free(m->set[i]);
	free(m->set);
	free(m->process);
	free(m->rows);
	map_set_free(m->sums);
	file_systems_done(m->file_systems);
}

/* The status before reading; PSS_OK: to be read. */
static enum pss_status status_before(const struct process *p, bool summed)
{
	if (p->kind == PROCESS_KTHREAD)
		return PSS_KERNEL_THREAD;
	if (p->kind == PROCESS_ZOMBIE)
		return PSS_GONE;
	/* An address space is summed once, with its owner. */
	return summed && !p->mm_owner ? PSS_SKIPPED : PSS_OK;
}

/* ---- types of file systems ---- */

static const char *find_type(const struct map_file_systems *fs, uint64_t device)
{
	for (size_t i = 0; i < fs->count; i++) {
		if (fs->item[i].device == device)
			return fs->item[i].type;
	}
	return NULL;
}

/* Adds those of the mount namespace of a process. What cannot be read stays unknown. */
static int read_types(struct map_file_systems *fs, const struct procfs *proc, pid_t pid)
{
	cleanup(mounts_done) struct mounts mounts = {};
	char path[32];

	snprintf(path, sizeof(path), "%d/mountinfo", (int)pid);
	if (mounts_read(proc->fd, path, &mounts) == -ENOMEM)
		return -ENOMEM;
	for (size_t i = 0; i < mounts.count; i++) {
		const struct mount *m = &mounts.mount[i];
		uint64_t device = (uint64_t)(m->device >> 20) << 32 | (m->device & 0xfffff);
		struct map_file_system *item;

		if (device >> 32 || find_type(fs, device))
			continue;
		if (!array_room(&fs->item, fs->count, &fs->capacity, 64))
			return -ENOMEM;
		item = &fs->item[fs->count];
		*item = (struct map_file_system){
			device, arena_strndup(&fs->arena, m->type, strlen(m->type))};
		if (!item->type)
			return -ENOMEM;
		fs->count++;
	}
	return 0;
}

/* Sets the types that kinds depend on. The mounts of a process are read only if one is missing. */
static int set_types(struct map_file_systems *fs, const struct procfs *proc, pid_t pid,
		     struct map_set *set)
{
	bool read = false;
	int r = 0;

	for (size_t i = 0; r == 0 && i < set->count; i++) {
		struct mapping *m = set->item[i];

		if (!map_kind_needs_fs(m))
			continue;
		m->fs = find_type(fs, m->device);
		if (m->fs || read)
			continue;
		r = read_types(fs, proc, pid);
		read = true;
		m->fs = find_type(fs, m->device);
	}
	return r;
}

/* ---- processes ---- */

static int match(void *pattern, const char *name)
{
	return pattern_match(pattern, name);
}

static int add_sums(const struct procfs *proc, struct maps_read *m,
		    const struct maps_request *request, const struct process *p,
		    struct map_set *set)
{
	int r;

	if (!request->group)
		return map_set_merge(m->sums, set);
	r = set_types(m->file_systems, proc, p->pid, set);
	return r < 0 ? r : map_set_merge_kinds(m->sums, set, request->group->group(p));
}

static int receive_maps(const struct procfs *proc, struct maps_read *m,
			const struct maps_request *request, size_t i, struct pool_result *result)
{
	struct maps_process *p = &m->process[i];
	struct map_set *set = result->maps;
	int r = 0;

	p->status = result->status;
	if (!set)
		return 0;
	if (request->mapping)
		r = map_set_filter(set, match, request->mapping);
	if (r < 0)
		return r;
	p->total = set->total;
	p->total_exact = set->total_exact;
	p->mappings = set->mappings;
	p->counted = p->process->mm_owner;
	if (m->sums) {
		r = add_sums(proc, m, request, p->process, set);
		map_set_free(set);
	} else {
		m->set[i] = set;
	}
	result->maps = NULL;
	return r;
}

static int read_batch(struct collector *c, const struct maps_request *request, struct maps_read *m,
		      const size_t *index, size_t count)
{
	struct process *rows[BATCH] = {};
	struct pool_result results[BATCH] = {};
	int r;

	for (size_t i = 0; i < count; i++)
		rows[i] = c->rows.matched.item[index[i]];
	r = pool_read(c->pool, m->sums ? POOL_NAMES : POOL_MAPS, true, rows, count, results);
	for (size_t i = 0; i < count; i++) {
		if (r == 0)
			r = receive_maps(&c->proc, m, request, index[i], &results[i]);
		map_set_free(results[i].maps);
	}
	return r;
}

static int read_processes(struct collector *c, const struct maps_request *request,
			  struct maps_read *m)
{
	size_t index[BATCH], count = 0;
	int r = 0;

	for (size_t i = 0; r == 0 && i < c->rows.matched.count; i++) {
		struct maps_process *p = &m->process[i];

		p->process = c->rows.matched.item[i];
		p->status = status_before(p->process, m->sums != NULL);
		if (p->status == PSS_OK)
			index[count++] = i;
		if (count < BATCH)
			continue;
		r = read_batch(c, request, m, index, count);
		count = 0;
	}
	return r || !count ? r : read_batch(c, request, m, index, count);
}

static int gather_rows(struct maps_read *m, size_t processes)
{
	size_t count = m->sums ? m->sums->count : 0;

	for (size_t i = 0; i < processes; i++)
		count += m->set[i] ? m->set[i]->count : 0;
	m->rows = calloc(count + 1, sizeof(*m->rows));
	if (!m->rows)
		return -ENOMEM;
	for (size_t i = 0; m->sums && i < m->sums->count; i++)
		m->rows[m->row_count++] = m->sums->item[i];
	for (size_t i = 0; i < processes; i++) {
		for (size_t k = 0; m->set[i] && k < m->set[i]->count; k++)
			m->rows[m->row_count++] = m->set[i]->item[k];
	}
	return 0;
}

static void sum(struct maps_read *m, size_t processes)
{
	bool any = false;

	m->total = MAPS_COUNTERS_ZERO;
	for (size_t i = 0; i < processes; i++) {
		const struct maps_process *p = &m->process[i];

		if (!p->counted)
			continue;
		any = true;
		map_counters_merge(&m->total, &p->total);
		m->mappings += p->mappings;
	}
	/* The sum of no process is 0, but there is none if no process could be read. */
	if (processes && !any)
		m->total.have = 0;
	m->total.have &=
		MAPS_COUNTERS_SMAPS | m->nodes << MAPS_NODE0 | (uint32_t)m->rest << MAPS_THP_REST;
}

int maps_read_all(struct collector *c, const struct maps_request *request, struct maps_read *m)
{
	size_t processes = c->rows.matched.count;
	bool summed = request->rows != MAP_ROWS_EACH;
	int r;

	*m = (struct maps_read){};
	m->process = calloc(processes + 1, sizeof(*m->process));
	m->set = calloc(processes + 1, sizeof(struct map_set *));
	if (summed)
		m->sums = map_set_new(true);
	m->file_systems = calloc(1, sizeof(*m->file_systems));
	if (!m->process || !m->set || (summed && !m->sums) || !m->file_systems)
		return -ENOMEM;
	r = snapshot_own_mm(&c->snapshot, c->rows.matched.item, processes);
	pool_patient(c->pool);
	if (request->mapping)
		pattern_begin(request->mapping);
	if (r == 0)
		r = read_processes(c, request, m);
	if (r == 0)
		r = gather_rows(m, processes);
	if (r == 0)
		sum(m, processes);
	collector_note_alone(c);
	return r;
}

/* ---- pages ---- */

static void set_nodes(struct map_counters *c, uint32_t nodes, const uint64_t *bytes)
{
	for (uint32_t n = 0; n < NODES_MAX; n++) {
		if (!(nodes >> n & 1))
			continue;
		if (bytes)
			c->value[MAPS_NODE0 + n] += bytes[n];
		c->have |= 1U << (MAPS_NODE0 + n);
	}
}

static void set_rest(struct map_counters *c, const struct pages_mapping *found)
{
	if (found && !found->rest_known)
		c->have &= ~(1U << MAPS_THP_REST);
	else if (found)
		c->value[MAPS_THP_REST] += found->rest;
}

/* A mapping without pages may not be in the answer. */
static void set_mappings(const struct maps_read *m, struct map_set *set, struct maps_process *p,
			 const struct pages_mapping *found, size_t count)
{
	const uint32_t rest = (uint32_t)m->rest << MAPS_THP_REST;

	set_nodes(&p->total, m->nodes, NULL);
	p->total.have |= rest;
	for (size_t i = 0; i < set->count; i++) {
		struct mapping *to = set->item[i];
		size_t at = count_before(found, count, sizeof(*found), is_leading_u64_below,
					 &to->start);
		const struct pages_mapping *of =
			at < count && found[at].start == to->start ? &found[at] : NULL;

		set_nodes(&to->counters, m->nodes, of ? of->bytes : NULL);
		set_nodes(&p->total, m->nodes, of ? of->bytes : NULL);
		to->counters.have |= rest;
		if (m->rest) {
			set_rest(&to->counters, of);
			set_rest(&p->total, of);
		}
	}
}

/* Returns why nodes are not known; NULL: they are, or are not asked for. */
static const char *begin_pages(const struct collector *c, unsigned asked, struct zones *zones,
			       struct maps_read *m)
{
	m->rest = asked & ZMEM_PAGES_REST;
	if (!(asked & ZMEM_PAGES_NODES))
		return NULL;
	zones_read(c->proc.fd, zones);
	for (size_t i = 0; i < zones->count; i++) {
		if (zones->zone[i].node < NODES_MAX)
			m->nodes |= 1U << zones->zone[i].node;
	}
	if (pages_source_follow_nodes(c->pages, zones) < 0) {
		m->nodes = 0;
		return pages_source_refusal(c->pages);
	}
	return NULL;
}

int maps_read_pages(struct collector *c, struct maps_read *m)
{
	unsigned asked = (c->spec.pages & NEEDS_NODES ? ZMEM_PAGES_NODES : 0U) |
			 (c->spec.pages & NEEDS_THP_REST ? ZMEM_PAGES_REST : 0U);
	cleanup_free struct zones *zones = calloc(1, sizeof(*zones));
	const char *refusal;
	int r = 0;

	if (!zones)
		return -ENOMEM;
	if (!c->pages)
		return -ENOTSUP;
	refusal = begin_pages(c, asked, zones, m);
	if (refusal)
		asked &= ~(unsigned)ZMEM_PAGES_NODES;
	for (size_t i = 0; r == 0 && asked && i < c->rows.matched.count; i++) {
		struct maps_process *p = &m->process[i];
		const struct pages_mapping *found;
		ssize_t count;

		if (p->status != PSS_OK || !m->set[i])
			continue;
		count = pages_source_maps(c->pages, asked, p->process->pid, &found);
		if (count >= 0)
			set_mappings(m, m->set[i], p, found, (size_t)count);
		else if (count != -EAGAIN && count != -ESRCH)
			r = (int)count;
		else
			m->changed++;
	}
	if (refusal)
		snprintf(c->pages_reason, sizeof(c->pages_reason), "%s", refusal);
	m->mappings = 0;
	sum(m, c->rows.matched.count);
	return r < 0 ? r : refusal ? -ENODATA : 0;
}
