// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Checks what was read against what is known otherwise, and looks again before it speaks. */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "app/pss.h"
#include "base/cleanup.h"

#define CHECK_ROUNDS	3
#define VISITS_THAT_PAY 64

/* The counters of those rows once more, at least. */
static int collect_rows(struct session *s, struct process *const *rows, size_t count,
			struct snapshot *ret)
{
	/* All counters cost less than so many visits; pages would not. */
	bool some = count <= VISITS_THAT_PAY || !source_pss_refusal(s->source);

	return some ? source_collect_some(s->source, rows, count, ret)
		    : source_collect(s->source, ret);
}

static void take_counters(struct process *p, const struct process *from)
{
	for (int c = 0; c < COUNTER_COUNT; c++) {
		if (process_has(from, c) && counter_table[c].origin == ORIGIN_KERNEL)
			process_set(p, c, from->value[c]);
	}
}

/* Takes figures of a moment that fits together. */
static void take_figures(struct process *p, const struct process *counters,
			 const struct pool_result *result)
{
	take_counters(p, counters);
	rollup_apply(p, result);
}

/* Takes back what was read of a process that may have been another. */
static void forget(struct process *p, enum pss_status status)
{
	for (int c = 0; c < COUNTER_COUNT; c++) {
		if (counter_table[c].origin != ORIGIN_KERNEL)
			p->have &= ~COUNTER_BIT(c);
	}
	p->pss_source = PSS_FROM_NOTHING;
	p->pss_status = status;
	process_derive(p);
}

/* Whose smaps_rollup was read, or could not be. */
static bool was_read(const struct process *p)
{
	return p->kind == PROCESS_USER && p->pss_source != PSS_FROM_KERNEL &&
	       p->pss_status != PSS_SKIPPED;
}

int pss_confirm(struct session *s)
{
	cleanup(snapshot_done) struct snapshot after = {};
	cleanup_free struct process **row = calloc(s->rows.count + 1, sizeof(*row));
	size_t count = 0;
	int r;

	if (!row)
		return -ENOMEM;
	for (size_t i = 0; i < s->rows.count; i++) {
		if (was_read(s->rows.item[i]))
			row[count++] = s->rows.item[i];
	}
	if (!count)
		return 0;
	r = collect_rows(s, row, count, &after);
	for (size_t i = 0; r == 0 && i < count; i++) {
		struct process *p = row[i];
		const struct process *again = snapshot_find(&after, p->pid);
		bool there = again && again->start_ns == p->start_ns && again->kind == PROCESS_USER;

		/* We ourselves grow while we read. */
		if (there && p->pid == getpid()) {
			take_counters(p, again);
			process_derive(p);
		}
		if (p->pss_status == PSS_OK && !there)
			forget(p, PSS_GONE);
		else if (p->pss_status == PSS_GONE && there && p->kind == PROCESS_USER)
			p->pss_status = PSS_DENIED;
	}
	return r;
}

enum verdict {
	VERDICT_SAME,
	VERDICT_MOVED,
	VERDICT_DIFFERENT,
	VERDICT_GONE,
};

static bool same_counters(const struct process *a, const struct process *b)
{
	return a->value[COUNTER_RSS] == b->value[COUNTER_RSS] &&
	       a->value[COUNTER_SWAP] == b->value[COUNTER_SWAP];
}

static const struct process *find_again(const struct snapshot *s, const struct process *p)
{
	const struct process *found = snapshot_find(s, p->pid);

	return found && found->start_ns == p->start_ns && process_has(found, COUNTER_RSS) ? found
											  : NULL;
}

static enum verdict judge(struct process *p, const struct pool_result *result,
			  const struct snapshot *before, const struct snapshot *after)
{
	const struct process *b = find_again(before, p), *a = find_again(after, p);

	if (!b || !a || result->status != PSS_OK)
		return VERDICT_GONE;
	if (rollup_agrees(b, &result->figures)) {
		take_figures(p, b, result);
		return VERDICT_SAME;
	}
	if (rollup_agrees(a, &result->figures)) {
		take_figures(p, a, result);
		return VERDICT_SAME;
	}
	/* The newest there is, so that what is shown belongs together as well as it can. */
	take_figures(p, a, result);
	return same_counters(a, b) ? VERDICT_DIFFERENT : VERDICT_MOVED;
}

static void count_verdict(struct cross_check *check, enum verdict verdict)
{
	switch (verdict) {
	case VERDICT_SAME:
		check->same++;
		break;
	case VERDICT_MOVED:
		check->moved++;
		break;
	case VERDICT_DIFFERENT:
		check->different++;
		break;
	case VERDICT_GONE:
		check->gone++;
		break;
	}
}

/* We ourselves are never still. Returns how many are left. */
static size_t drop_self(struct process **rows, size_t count, struct cross_check *check)
{
	pid_t self = getpid();
	size_t left = 0;

	for (size_t i = 0; i < count; i++) {
		if (rows[i]->pid == self)
			check->moved++;
		else
			rows[left++] = rows[i];
	}
	return left;
}

int pss_check_again(struct session *s, struct process **doubtful, size_t count)
{
	struct cross_check *check = &s->snapshot.collection.cross_check;
	cleanup_free struct pool_result *result = calloc(count + 1, sizeof(*result));
	cleanup(snapshot_done) struct snapshot before = {}, after = {};
	int r = 0;

	if (!result)
		return -ENOMEM;
	count = drop_self(doubtful, count, check);
	for (int round = 1; count && round <= CHECK_ROUNDS; round++) {
		size_t left = 0;

		r = collect_rows(s, doubtful, count, &before);
		if (r == 0)
			r = pool_read(s->pool, POOL_ROLLUP, false, doubtful, count, result);
		if (r == 0)
			r = collect_rows(s, doubtful, count, &after);
		if (r < 0)
			return r;
		for (size_t i = 0; i < count; i++) {
			enum verdict v = judge(doubtful[i], &result[i], &before, &after);
			bool final =
				round == CHECK_ROUNDS || v == VERDICT_SAME || v == VERDICT_GONE;

			if (final)
				count_verdict(check, v);
			else
				doubtful[left++] = doubtful[i];
		}
		count = left;
	}
	return 0;
}
