// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Rows: filtered, named, grouped or hung in a tree, ordered, cut, summed. Knows what must be known
 * before which step; the steps themselves are for query and enrich.
 */
#include "cli/row_pipeline.h"

#include "cli/balance.h"
#include "cli/log.h"
#include "cli/query_args.h"
#include "enrich/enrich.h"
#include "enrich/memcgs.h"

/* Who is stuck goes by the executable's name: a better one is not worth a second. */
#define NAMES_DEADLINE_MS 100

/* Reads the names that are needed of these rows. */
static int name_rows(struct session *s, unsigned needs, struct rows *rows)
{
	int r = 0;

	/* A recording has all names that it can have. */
	if (session_replays(s))
		return 0;
	if (needs & NEEDS_USER)
		enrich_users(s->users, rows);
	if (needs & NEEDS_CGROUP)
		r = enrich_cgroups(s->pool, &s->snapshot, rows);
	if (r == 0 && needs & NEEDS_CMDLINE)
		r = enrich_cmdlines(s->pool, &s->snapshot, rows);
	if (r == 0 && needs & NEEDS_PROGRAM)
		r = enrich_programs(s->pool, &s->snapshot, rows);
	return r;
}

/* What must be known of all, not only of those that are shown. */
static unsigned needs_of_all(const struct session *s)
{
	unsigned needs = column_list_needs(&s->order.keys);

	/* A group is called what all of it are called. */
	if (s->group)
		needs |= s->group->needs | request_needs(s);
	return needs;
}

/* Without command lines a pattern matches names alone. */
static void warn_no_cmdlines(struct session *s)
{
	const struct options *o = s->options;

	if (s->replay.has_cmdlines || s->warned_cmdlines || !s->rows.count)
		return;
	s->warned_cmdlines = true;
	log_notice(o->quiet, "%s: it holds no command lines (record -o +cmdline)", o->replay);
}

/* Of a recording: command lines are shown where a snapshot would show them. */
static void choose_cmdlines(struct session *s, unsigned needs)
{
	if (needs & NEEDS_CMDLINE) {
		warn_no_cmdlines(s);
		return;
	}
	/* Tables show columns, which may change. */
	for (size_t i = 0; s->options->format != FORMAT_TABLE && i < s->rows.count; i++)
		s->rows.item[i]->cmdline = NULL;
}

int rows_charge(struct session *s, struct rows *groups)
{
	if (!session_replays(s))
		return enrich_memcgs(&s->proc, &s->snapshot, groups);
	memcgs_apply(&s->snapshot, groups);
	return 0;
}

int rows_choose(struct session *s)
{
	unsigned needs = s->lazy_names ? 0 : request_needs(s) & NEEDS_CMDLINE;
	const struct filter *f = &s->filter;
	int r;

	s->filter.self = s->self;
	r = rows_select(&s->snapshot, f, filter_matches_id, &s->rows);
	if (r < 0)
		return r;
	needs |= f->pattern ? NEEDS_CMDLINE | NEEDS_PROGRAM : 0;
	needs |= f->cgroup ? NEEDS_CGROUP : 0;
	r = name_rows(s, needs, &s->rows);
	if (session_replays(s))
		choose_cmdlines(s, needs);
	if (r == 0 && (f->pattern || f->cgroup))
		r = rows_select(&s->snapshot, f, filter_matches, &s->rows);
	if (r < 0)
		return r;
	rows_count_filtered(&s->rows, &s->snapshot.collection);
	/* What rows are sorted by must be there before they are. */
	return name_rows(s, needs_of_all(s), &s->rows);
}

size_t rows_certain(const struct session *s)
{
	const struct options *o = s->options;

	/* A recording has all PSS. How a row changed is known when it is read. */
	if (session_replays(s) || o->changed || o->grow || column_list_changes(&s->order.keys))
		return 0;
	return s->group || o->tree || o->min || o->total ? 0 : (size_t)o->top;
}

static bool grew(const struct process *p)
{
	int64_t by;

	return delta_of_row(p, COUNTER_PSS_SWAP, &by) && by > 0;
}

/* Of a command that stays: what rows were. */
static void join_tracker(struct session *s, struct rows *rows)
{
	s->all = *rows;
	if (s->tracker)
		delta_tracker_join(s->tracker, s->group, &s->snapshot, rows, &s->delta->counts);
}

/* Puts those first that --changed and --grow want to see. Returns how many. */
static size_t wanted_first(const struct options *o, struct rows *rows)
{
	size_t count = 0;

	if (!o->changed && !o->grow)
		return rows->count;
	for (size_t i = 0; i < rows->count; i++) {
		struct process *p = rows->item[i];

		if ((o->changed && !p->changed) || (o->grow && !grew(p)))
			continue;
		rows->item[i] = rows->item[count];
		rows->item[count++] = p;
	}
	return count;
}

/*
 * The rows as they were asked for: processes, groups or a tree; the first *ret_wanted of them are
 * in order and may be shown.
 */
static int make_rows(struct session *s, struct rows **ret, size_t *ret_wanted)
{
	struct rows wanted;

	const struct options *o = s->options;
	struct snapshot *snap = &s->snapshot;
	int r = 0;

	*ret = &s->rows;
	if (o->tree) {
		/* Names are led by branches from then on. */
		r = name_rows(s, request_needs(s), &s->rows);
		if (r == 0)
			r = tree_rows(&s->order, o->min, snap, &s->rows, &s->sums);
		*ret = &s->sums.rows;
		*ret_wanted = s->sums.rows.count;
		return r;
	}
	if (s->group) {
		r = group_rows(s->group, &s->rows, &s->sums);
		*ret = &s->sums.rows;
		/* Those that are shown come later. */
		if (r == 0 && column_list_needs(&s->order.keys) & NEEDS_MEMCG)
			r = rows_charge(s, *ret);
	}
	if (r < 0)
		return r;
	join_tracker(s, *ret);
	if (o->min)
		order_at_least(&s->order, o->min, *ret);
	wanted = (struct rows){(*ret)->item, wanted_first(o, *ret)};
	order_rows(&s->order, snap, &wanted);
	*ret_wanted = wanted.count;
	return 0;
}

static size_t how_many(const struct session *s, size_t count, size_t fit)
{
	const struct options *o = s->options;

	if (o->total)
		return 0;
	if (o->top)
		return (size_t)o->top < count ? (size_t)o->top : count;
	return fit && count > fit && !o->all && !o->tree ? fit : count;
}

int rows_shape(struct session *s, size_t fit, struct result *ret)
{
	bool pruned = rows_certain(s) && s->pss != PSS_NONE;
	struct rows *rows = &s->rows, shown;
	size_t wanted = 0;
	int r;

	*ret = (struct result){.snapshot = &s->snapshot,
			       .pss = rows_pss_source(&s->rows),
			       .group = s->group,
			       .delta = s->delta};
	if (!session_replays(s))
		balance_reconcile(&s->snapshot);
	r = snapshot_own_mm(&s->snapshot, s->rows.item, s->rows.count);
	if (r == 0)
		r = make_rows(s, &rows, &wanted);
	if (r < 0)
		return r;
	shown = (struct rows){rows->item, how_many(s, wanted, fit)};
	if (s->pool)
		pool_hurry(s->pool, NAMES_DEADLINE_MS);
	if (!s->group && !s->options->tree && !s->lazy_names)
		r = name_rows(s, request_needs(s), &shown);
	else if (s->group && request_needs(s) & NEEDS_MEMCG)
		r = rows_charge(s, &shown);
	if (r < 0)
		return r;
	result_cut(ret, &s->snapshot.collection, rows, shown.count, pruned);
	/* The rows of a tree hold one another. */
	if (s->options->tree)
		totals_sum(s->rows.item, s->rows.count, pruned, &ret->totals);
	return 0;
}

int rows_name(struct session *s, struct process **rows, size_t count)
{
	struct rows some = {rows, count};

	/* Groups were named with their processes, and names in a tree have branches before them. */
	return s->group || s->options->tree ? 0 : name_rows(s, request_needs(s), &some);
}
