// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Checks what was read against what is known otherwise, and looks again before it speaks. */
#include <errno.h>
#include <inttypes.h>
#include <sys/random.h>
#include <unistd.h>

#include "cli/log.h"
#include "cli/pause.h"
#include "cli/pss.h"
#include "cli/pss_judge.h"
#include "privilege/privilege.h"

#define CHECK_ROUNDS 30

static void take_counters(struct process *p, const struct process *from)
{
	for (int c = 0; c < COUNTER_COUNT; c++) {
		if (process_has(from, c) && counter_table[c].origin == ORIGIN_KERNEL)
			process_set(p, c, from->value[c]);
	}
}

/* Takes values of a moment that fits together. */
static void take_values(struct process *p, const struct process *counters,
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
	struct process **row = arena_zalloc(&s->snapshot.scratch, s->rows.count + 1, sizeof(*row));
	struct snapshot *after = &s->again[1];
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
	r = source_collect_some(s->source, row, count, after);
	for (size_t i = 0; r == 0 && i < count; i++) {
		struct process *p = row[i];
		const struct process *again = snapshot_find_again(after, p);
		bool there = again && again->kind == PROCESS_USER;

		/* We ourselves grow while we read. */
		if (there && p->pid == s->self) {
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

static const struct process *find_again(const struct snapshot *s, const struct process *p)
{
	const struct process *found = snapshot_find_again(s, p);

	return found && process_has(found, COUNTER_RSS) ? found : NULL;
}

/*
 * What is shown is of one moment: of that which fits, or the newest there is. Values of the
 * kernel's are not replaced.
 */
static void replace_values(const struct pss_seen *seen, struct process *p)
{
	if (p->pss_source == PSS_FROM_KERNEL)
		return;
	take_values(p,
		    pss_agrees(seen->before, &seen->rollup->counters) ? seen->before : seen->after,
		    seen->rollup);
}

static enum pss_verdict judge_row(struct process *p, const struct pss_seen *seen,
				  struct pss_doubt *doubt)
{
	enum pss_verdict verdict = pss_judge(seen, doubt);

	if (verdict != PSS_VERDICT_GONE)
		replace_values(seen, p);
	return verdict;
}

static void count_verdict(struct cross_check *check, enum pss_verdict verdict)
{
	switch (verdict) {
	case PSS_VERDICT_SAME:
		check->same++;
		break;
	case PSS_VERDICT_MOVED:
		check->moved++;
		break;
	case PSS_VERDICT_DIFFERENT:
		check->different++;
		break;
	case PSS_VERDICT_GONE:
		check->gone++;
		break;
	}
}

/* We ourselves are never still. Returns how many are left. */
static size_t drop_self(pid_t self, struct process **rows, size_t count, struct cross_check *check)
{
	size_t left = 0;

	for (size_t i = 0; i < count; i++) {
		if (rows[i]->pid == self)
			check->moved++;
		else
			rows[left++] = rows[i];
	}
	return left;
}

/*
 * A difference that stayed, in words: it is ours or the kernel's, and has to be seen. Those of a
 * process that execs never stay.
 */
static void warn_difference(struct session *s, const struct process *now,
			    const struct smaps_rollup *counters)
{
	if (!now || now->pss_source != PSS_FROM_KERNEL)
		return;
	s->exit_code = EXIT_DIFFERENT;
	log_error("--verify: PID %d: PSS %" PRIu64 " bytes from the kernel, %" PRIu64
		  " from smaps_rollup (it did not exec meanwhile)",
		  now->pid, now->value[COUNTER_PSS], counters->value[ROLLUP_PSS]);
}

/* Rows that are looked at again. */
struct recheck {
	struct process **row;
	struct pss_doubt *doubt; /* of each */
	struct pool_result *result;
	size_t count;
};

/* One reading of each between two of the counters; keeps those that are not settled. */
static int check_round(struct session *s, struct recheck *d, int round)
{
	struct snapshot *before = &s->again[0], *after = &s->again[1];
	uint64_t last_pid;
	size_t left = 0;
	bool quiet;
	int r;

	pause_before_round((unsigned)round);
	last_pid = procfs_last_pid(&s->proc);
	r = source_collect_some(s->source, d->row, d->count, before);
	pause_between((unsigned)round);
	if (r == 0)
		r = pool_read(s->pool, POOL_ROLLUP, false, d->row, d->count, d->result);
	pause_between((unsigned)round);
	if (r == 0)
		r = source_collect_some(s->source, d->row, d->count, after);
	if (r < 0)
		return r;
	quiet = last_pid == procfs_last_pid(&s->proc);
	for (size_t i = 0; i < d->count; i++) {
		const struct pss_seen seen = {
			.row = d->row[i],
			.before = find_again(before, d->row[i]),
			.after = find_again(after, d->row[i]),
			.rollup = &d->result[i],
			.quiet = quiet,
		};
		enum pss_verdict v = judge_row(d->row[i], &seen, &d->doubt[i]);

		if (v == PSS_VERDICT_MOVED && round < CHECK_ROUNDS) {
			d->doubt[left] = d->doubt[i];
			d->row[left++] = d->row[i];
			continue;
		}
		count_verdict(&s->snapshot.collection.cross_check, v);
		if (v == PSS_VERDICT_DIFFERENT)
			warn_difference(s, seen.after, &d->result[i].counters);
		else if (v == PSS_VERDICT_MOVED && d->doubt[i].execed)
			log_notice(s->options->quiet,
				   "--verify: PID %d: it exec'ed meanwhile and could not be "
				   "compared",
				   d->row[i]->pid);
	}
	d->count = left;
	return 0;
}

int pss_check_again(struct session *s, struct process **recheck, size_t count)
{
	struct arena *a = &s->snapshot.scratch;
	struct pool_result *result = arena_zalloc(a, count + 1, sizeof(*result));
	struct pss_doubt *doubt = arena_zalloc(a, count + 1, sizeof(*doubt));
	struct recheck d = {.row = recheck, .doubt = doubt, .result = result};
	int r = 0;

	if (!result || !doubt)
		return -ENOMEM;
	d.count = drop_self(s->self, recheck, count, &s->snapshot.collection.cross_check);
	for (int round = 1; r == 0 && d.count; round++)
		r = check_round(s, &d, round);
	return r;
}

/* ---- PSS of the kernel against smaps_rollup ---- */

/* What may be read for a check without asking: it takes its mmap_lock for less than 0.1 ms. */
#define VERIFY_SMALL	   (8ULL << 20)
#define VERIFY_DEADLINE_MS 100

/* Without capabilities, and so with the pin: one's own. */
static bool may_read(const struct session *s, const struct process *p)
{
	return !source_is_pinned(s->source) || privilege_held(PRIVILEGE_PTRACE) ||
	       p->uid == geteuid();
}

static bool may_verify(const struct session *s, const struct process *p, int how_many)
{
	return p->pss_source == PSS_FROM_KERNEL && p->pid != s->self && may_read(s, p) &&
	       (how_many == VERIFY_ALL || p->value[COUNTER_RSS] <= VERIFY_SMALL);
}

size_t pss_choose(const struct session *s, int how_many, struct process **ret)
{
	size_t count = 0, start = 0, want = (size_t)how_many;
	uint64_t random = 0;

	for (size_t i = 0; i < s->rows.count; i++) {
		if (may_verify(s, s->rows.item[i], how_many))
			ret[count++] = s->rows.item[i];
	}
	if (how_many == VERIFY_ALL || count <= want)
		return count;
	if (getrandom(&random, sizeof(random), GRND_NONBLOCK) > 0)
		start = random % count;
	for (size_t i = 0; i < want; i++) {
		struct process *p = ret[i];

		ret[i] = ret[(start + i) % count];
		ret[(start + i) % count] = p;
	}
	return want;
}

static int how_many(const struct session *s)
{
	return s->options->verify == VERIFY_DEFAULT ? VERIFY_USUAL : s->options->verify;
}

/* Who asked for more than may be read is told. */
static void warn_readable(const struct session *s)
{
	size_t count = 0, readable = 0;

	for (size_t i = 0; i < s->rows.count; i++) {
		const struct process *p = s->rows.item[i];

		count += p->pss_source == PSS_FROM_KERNEL;
		readable += p->pss_source == PSS_FROM_KERNEL && may_read(s, p);
	}
	if (s->options->verify == VERIFY_ALL
		    ? readable < count
		    : s->options->verify > VERIFY_USUAL && readable < (size_t)s->options->verify)
		log_notice(s->options->quiet,
			   "--verify: of %zu of %zu processes smaps_rollup may be read, the "
			   "others are other users'",
			   readable, count);
}

int pss_verify(struct session *s)
{
	struct cross_check *check = &s->snapshot.collection.cross_check;
	struct arena *a = &s->snapshot.scratch;
	struct process **row = arena_zalloc(a, s->rows.count + 1, sizeof(*row));
	struct pool_result *result;
	size_t count, left = 0;
	int r;

	if (!row)
		return -ENOMEM;
	warn_readable(s);
	count = pss_choose(s, how_many(s), row);
	if (!count)
		return 0;
	result = arena_zalloc(a, count, sizeof(*result));
	if (!result)
		return -ENOMEM;
	/* One that hangs is nothing to wait for: its PSS is known. */
	pool_hurry(s->pool, VERIFY_DEADLINE_MS);
	r = pool_read(s->pool, POOL_ROLLUP, false, row, count, result);
	if (r < 0)
		return r;
	for (size_t i = 0; i < count; i++) {
		/* Who may not be read or is gone says nothing. */
		if (result[i].status != PSS_OK)
			continue;
		check->checked++;
		if (pss_agrees(row[i], &result[i].counters))
			check->same++;
		else
			row[left++] = row[i];
	}
	return pss_check_again(s, row, left);
}
