// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The steps of a query (query/result.h), and reading names between them. */
#include "collect/collect_rows.h"

#include <errno.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "collect/balance.h"
#include "model/memcg.h"
#include "model/overview.h"
#include "source/descriptors_source.h"
#include "source/files_source.h"
#include "source/freed_source.h"
#include "source/swap_source.h"
#include "query/group.h"

/* A stuck process keeps its executable's name: a better one is not worth a second. */
#define NAMES_DEADLINE_MS 100

/*
 * The time for memory cgroups: 5,000 take 0.2 s of a CPU, and on a busy machine seconds. serve
 * answers 503 after SNAPSHOT_PATIENCE_US.
 */
#define MEMCG_TIME_US (4 * 1000000)

/* Homes of users may be on file systems that hang: so long all of them are waited for. */
#define CONTAINERS_US 100000

int collect_names(struct collector *c, struct snapshot *s, unsigned needs, uint64_t containers_us,
		  struct process_list *processes)
{
	struct proc_pool *pool = collector_pool(c);
	int r = 0;

	if (needs & NEEDS_USER)
		enrich_users(c->users, processes);
	if (!pool)
		needs = 0;
	if (needs & NEEDS_CGROUP)
		r = enrich_cgroups(pool, s, processes);
	c->containers.patience_us = containers_us;
	if (r == 0 && containers_us)
		r = enrich_containers(&c->containers, &c->proc, "/", s, processes);
	if (r == 0 && needs & NEEDS_APP)
		r = enrich_apps(pool, c->spec.apps, s, processes);
	if (r == 0 && needs & NEEDS_CMDLINE)
		r = enrich_cmdlines(pool, s, processes);
	if (r == 0 && needs & NEEDS_PROGRAM)
		r = enrich_programs(pool, s, processes);
	return r;
}

static void names_as_apps(struct process_list *processes)
{
	for (size_t i = 0; i < processes->count; i++) {
		struct process *p = processes->item[i];

		if (!p->app)
			p->app = p->name;
	}
}

static int name_rows(struct collector *c, unsigned needs, struct process_list *processes)
{
	/* A recording already has its names; one of an older version has no apps. */
	if (collector_replays(c)) {
		if (needs & NEEDS_APP)
			names_as_apps(processes);
		return 0;
	}
	return collect_names(c, &c->snapshot, needs, needs & NEEDS_CGROUP ? CONTAINERS_US : 0,
			     processes);
}

/* The names that the query needs, and those that the spec asks for. */
static void needs_of(const struct collector *c, const struct query *q, struct query_needs *ret)
{
	query_needs(q, ret);
	if (!q->group && !q->tree)
		ret->shown |= c->spec.names;
	else if (q->tree)
		ret->group |= c->spec.names;
	if (!c->spec.lazy_names)
		ret->filter |= (q->needs | c->spec.names) & NEEDS_CMDLINE;
}

int collector_name_rows(struct collector *c, const struct query *q, const struct row *rows,
			size_t count)
{
	int r;

	/* Groups get names with their processes, and names in a tree follow its branches. */
	if (q->group || q->tree)
		return 0;
	r = rows_processes(rows, count, &c->rows.shown);
	return r < 0 ? r : name_rows(c, q->needs | c->spec.names, &c->rows.shown);
}

int collect_name_largest(struct collector *c)
{
	/* The largest by PSS and, where PSS is not known, by anonymous memory (report/head.h). */
	static const enum counter counters[] = {COUNTER_PSS, COUNTER_RSS_ANON};
	struct process *item[ARRAY_SIZE(counters) * OVERVIEW_HOLDERS];
	struct process_list largest = {.item = item};
	size_t found[OVERVIEW_HOLDERS];

	for (size_t i = 0; i < ARRAY_SIZE(counters); i++) {
		size_t count = overview_holders(&c->snapshot, counters[i], found);

		for (size_t k = 0; k < count; k++)
			item[largest.count++] = &c->snapshot.process[found[k]];
	}
	return collect_names(c, &c->snapshot, NEEDS_PROGRAM, 0, &largest);
}

/* Shows the command lines of a recording only if a snapshot would show them. */
static void choose_cmdlines(struct collector *c, unsigned needs)
{
	const struct process_list *processes = &c->rows.matched;

	if (needs & NEEDS_CMDLINE) {
		/* Without them a pattern matches names alone. */
		if (processes->count &&
		    !(recording_reader_info(c->spec.recording)->flags & RECORDING_CMDLINES))
			c->notices |= COLLECT_NOTICE_NO_CMDLINES;
		return;
	}
	/* The next query of the same frame may ask for them. */
	for (size_t i = 0; !c->spec.lazy_names && i < processes->count; i++)
		processes->item[i]->cmdline = NULL;
}

static void note_left_out(struct collector *c)
{
	if (memcgs_left_out(&c->snapshot.collection))
		c->notices |= COLLECT_NOTICE_CGROUPS;
}

int collector_charge(struct collector *c, struct process_list *processes, unsigned needs)
{
	int r = 0;

	if (c->snapshot.memcg && !c->limits_alone)
		memcgs_apply(&c->snapshot, processes);
	else
		r = enrich_memcgs(&c->proc, &c->snapshot, processes, needs & NEEDS_MEMCG_DETAIL,
				  &c->memcg_rates, &c->memcg_left_us);
	note_left_out(c);
	return r;
}

static int charge_rows(struct collector *c, const struct row *rows, size_t count, unsigned needs)
{
	int r = rows_processes(rows, count, &c->rows.shown);

	return r < 0 ? r : collector_charge(c, &c->rows.shown, needs);
}

int collector_read_memcgs(struct collector *c, enum memcgs_asked asked)
{
	int r = memcgs_read(&c->proc, &c->snapshot, &c->rows.matched, asked, NULL, &c->memcg_rates,
			    &c->memcg_left_us);

	if (r == 0 && asked != MEMCGS_DETAILS)
		r = memcgs_read_near(&c->proc, &c->snapshot, &c->memcg_rates, &c->memcg_left_us);
	note_left_out(c);
	return r;
}

/* ---- a closer look ---- */

/* Between two readings of what happens now. */
#define AGAIN_US 200000

/*
 * Whether tasks wait for memory: one percent of the last ten seconds. Where the kernel does not
 * tell, they may if little is available.
 */
static bool may_wait(const struct system_info *s)
{
	const struct meminfo *m = &s->meminfo;

	if (s->pressure.known)
		return system_waits(s);
	return meminfo_has(m, MEMINFO_AVAILABLE) &&
	       m->value[MEMINFO_AVAILABLE] < m->value[MEMINFO_TOTAL] / 8;
}

/*
 * A single snapshot has no earlier one: where a cgroup is at its limit, or tasks wait, it reads
 * what happens there once more. A series does not wait.
 */
static int look_again(struct collector *c)
{
	struct snapshot *s = &c->snapshot;
	const struct machine_totals before = s->system.totals;
	const bool held = memcgs_are_held(s), waits = before.known && may_wait(&s->system);

	if (c->spec.continuous || (!held && !waits))
		return 0;
	usleep(AGAIN_US);
	if (waits) {
		machine_read_totals(&c->proc, s->host.page_size, &s->system);
		machine_rates_make(&before, &s->system.totals, &s->system.rates);
	}
	return held ? memcgs_read_held(&c->proc, s, &c->memcg_rates, &c->memcg_left_us) : 0;
}

/*
 * Whether a cgroup may be near its limit: the kernel's side told, or it does not know. It does not
 * look at limits of memory and swap (cgroup v1), which differ from others only with swap in use.
 */
static bool may_be_near(struct collector *c)
{
	const struct snapshot *s = &c->snapshot;
	const uint64_t *meminfo = s->system.meminfo.value;

	if (meminfo[MEMINFO_SWAP_FREE] < meminfo[MEMINFO_SWAP_TOTAL] && memcgs_are_v1(&c->proc))
		return true;
	for (size_t i = 0; i < s->count; i++) {
		const struct process *p = &s->process[i];

		if (p->kind == PROCESS_USER && (!p->limit_known || p->near_limit))
			return true;
	}
	return false;
}

static int read_limits(struct collector *c)
{
	cleanup(process_list_done) struct process_list all = {};
	struct snapshot *s = &c->snapshot;
	int r = process_list_reserve(&all, s->count);

	for (size_t i = 0; r == 0 && i < s->count; i++) {
		if (s->process[i].kind == PROCESS_USER)
			all.item[all.count++] = &s->process[i];
	}
	if (r == 0)
		r = collect_names(c, s, NEEDS_CGROUP, 0, &all);
	if (r == 0)
		r = memcgs_read(&c->proc, s, &all, MEMCGS_LIMITS, NULL, NULL, &c->memcg_left_us);
	if (r == 0)
		r = memcgs_read_near(&c->proc, s, &c->memcg_rates, &c->memcg_left_us);
	c->limits_alone = true;
	note_left_out(c);
	return r;
}

/* The names of containers at their limits, for one process of each. */
static int name_held(struct collector *c)
{
	cleanup(process_list_done) struct process_list held = {};
	struct snapshot *s = &c->snapshot;
	int r = process_list_reserve(&held, s->count);

	for (size_t i = 0; r == 0 && i < s->memcg_count; i++) {
		const struct memcg *m = &s->memcg[i];

		if (!memcg_is_near(m))
			continue;
		for (size_t k = 0; k < s->count && held.count < s->count; k++) {
			struct process *p = &s->process[k];

			if (!p->cgroup || !p->controlled || !cgroup_holds(m->path, p->cgroup))
				continue;
			held.item[held.count++] = p;
			break;
		}
	}
	return r < 0 || !held.count ? r : collect_names(c, s, 0, CONTAINERS_US, &held);
}

/* Much shared memory in no page table: that of tmpfs no process needs to hold. */
static int read_tmpfs(struct collector *c)
{
	struct snapshot *s = &c->snapshot;
	const struct machine_balance *b = &s->balance;

	s->system.tmpfs = (struct tmpfs_use){};
	if (!b->shmem_not_in_pss_known ||
	    b->shmem_not_in_pss < s->system.meminfo.value[MEMINFO_TOTAL] / 10)
		return 0;
	return machine_read_tmpfs(&c->proc, &s->arena, &s->system.tmpfs) == -ENOMEM ? -ENOMEM : 0;
}

int collector_look_closer(struct collector *c)
{
	int r = collector_replays(c) ? 0 : read_tmpfs(c);

	if (r < 0 || collector_replays(c))
		return r;
	if (!c->snapshot.memcg && may_be_near(c))
		r = read_limits(c);
	if (r == 0)
		r = look_again(c);
	return r < 0 ? r : name_held(c);
}

int collect_choose_rows(struct collector *c, const struct query *query)
{
	struct query own = *query;
	const struct query *q = &own;
	struct query_needs needs;
	int r;

	/* The pattern is on our own command line. */
	own.filter.self = c->self;
	own.filter.without = q->only_grown ? c->snapshot.self : 0;
	needs_of(c, q, &needs);
	r = query_select_ids(&c->snapshot, q, &c->rows);
	if (r == 0)
		r = name_rows(c, needs.filter, &c->rows.matched);
	if (collector_replays(c))
		choose_cmdlines(c, needs.filter | q->needs | c->spec.names);
	if (r == 0)
		r = query_select_text(&c->snapshot, q, &c->rows);
	/* Names that rows are sorted and grouped by. */
	return r < 0 || q->tree ? r : name_rows(c, needs.group, &c->rows.matched);
}

/* Adds what ends with each group of the kernel memory to FREED of one of its processes. */
static int add_kernel(struct collector *c, struct process_list *rows, const uint32_t *group)
{
	cleanup(arena_release) struct arena_mark mark = arena_mark(&c->snapshot.scratch);
	struct descriptors_asked asked = {rows->item, group, rows->count, NULL, 0};
	uint32_t groups = 0;
	uint64_t *bytes;
	int r;

	if (!c->descriptors || !c->snapshot.kernel.known)
		return 0;
	for (size_t i = 0; i < rows->count; i++)
		groups = group[i] > groups ? group[i] : groups;
	bytes = arena_zalloc(mark.arena, groups + 1, sizeof(*bytes));
	if (!bytes)
		return -ENOMEM;
	asked.mapped = freed_source_mapped(c->freed, &asked.mapped_count);
	r = descriptors_source_freed(c->descriptors, &asked, bytes);
	for (size_t i = 0; r == 0 && i < rows->count; i++) {
		struct process *p = rows->item[i];

		if (!process_has(p, COUNTER_FREED))
			continue;
		/* It was not read: what is known would be too little. */
		if (!p->kernel) {
			p->have &= ~COUNTER_BIT(COUNTER_FREED);
			p->status[VALUE_FREED] = p->status[VALUE_KERNEL];
			continue;
		}
		process_set_sum(p, COUNTER_FREED, p->value[COUNTER_FREED], bytes[group[i]], 0);
		bytes[group[i]] = 0;
	}
	return r;
}

/* What becomes free with each row. A reading that fails leaves it unknown. */
static int read_freed(struct collector *c, const struct query *q)
{
	cleanup(arena_release) struct arena_mark mark = arena_mark(&c->snapshot.scratch);
	struct process_list *rows = &c->rows.matched;
	const struct file_set *tmpfs;
	uint32_t *group;
	int r;

	if (!c->spec.freed || collector_replays(c))
		return 0;
	for (size_t i = 0; i < rows->count; i++) {
		rows->item[i]->have &= ~COUNTER_BIT(COUNTER_FREED);
		rows->item[i]->status[VALUE_FREED] = PSS_UNSUPPORTED;
	}
	group = arena_zalloc(mark.arena, rows->count + 1, sizeof(*group));
	if (!group)
		return -ENOMEM;
	if (!c->freed)
		return 0;
	group_number(q->tree ? NULL : q->group, rows, group);
	tmpfs = c->snapshot.system.files.shmem_known ? files_source_shmem(c->files) : NULL;
	r = freed_source_read(c->freed, tmpfs, c->swap ? swap_source_devices(c->swap) : NULL,
			      &c->snapshot, rows->item, group, rows->count);
	if (r == 0)
		r = add_kernel(c, rows, group);
	return r == -ENOMEM ? r : 0;
}

static int read_all_memcgs(struct collector *c)
{
	int r = memcgs_read(&c->proc, &c->snapshot, &c->rows.matched, MEMCGS_ALL, NULL,
			    &c->memcg_rates, &c->memcg_left_us);

	return r < 0 ? r : look_again(c);
}

int collect_shape_rows(struct collector *c, const struct query *q, struct result *ret)
{
	/* A recording has the PSS of all processes. */
	bool replays = collector_replays(c);
	bool pruned = !replays && query_certain(q) && c->spec.pss != PSS_NONE;
	struct query_needs needs;
	int r;

	needs_of(c, q, &needs);
	c->memcg_left_us = MEMCG_TIME_US;
	if (!replays)
		balance_reconcile(&c->snapshot);
	r = q->tree ? name_rows(c, needs.group, &c->rows.matched) : 0;
	if (r == 0 && query_lists_memcgs(q) && !replays)
		r = read_all_memcgs(c);
	if (r == 0)
		r = read_freed(c, q);
	if (r == 0)
		r = query_group(&c->snapshot, q, &c->rows);
	if (r == 0 && needs.order)
		r = charge_rows(c, c->rows.all.item, c->rows.all.count, needs.order);
	if (r < 0)
		return r;
	query_show(&c->snapshot, q, &c->rows, pruned, ret);
	if (c->pool)
		pool_hurry(c->pool, NAMES_DEADLINE_MS);
	if (q->group)
		return needs.shown ? charge_rows(c, ret->rows, ret->row_count, needs.shown) : 0;
	if (c->spec.lazy_names)
		return 0;
	r = rows_processes(ret->rows, ret->row_count, &c->rows.shown);
	return r < 0 ? r : name_rows(c, needs.shown, &c->rows.shown);
}
