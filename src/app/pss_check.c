// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Checks what was read against what is known otherwise, and looks again before it speaks. */
#include <errno.h>
#include <inttypes.h>
#include <sys/random.h>
#include <unistd.h>

#include "app/message.h"
#include "app/pause.h"
#include "app/pss.h"
#include "base/array.h"
#include "zmem/privilege.h"

/*
 * Where programs are started without end, those that share libc come and go between two equal
 * readings, by chance and by the order in which the scheduler lets us and them run. So a difference
 * counts only if nothing was started meanwhile, and if it is seen several times.
 */
#define CHECK_ROUNDS	  30
#define QUIET_DIFFERENCES 6

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

enum verdict {
	VERDICT_SAME,
	VERDICT_MOVED,
	VERDICT_DIFFERENT,
	VERDICT_GONE,
};

/* The figures a check compares, and how far apart they may be: smaps_rollup has whole kB. */
static const struct {
	enum counter counter;
	uint64_t tolerance;
} compared[] = {{COUNTER_RSS, 0}, {COUNTER_SWAP, 0}, {COUNTER_PSS, 1024}, {COUNTER_USS, 1024}};

static bool near(uint64_t a, uint64_t b, uint64_t tolerance)
{
	return a > b ? a - b <= tolerance : b - a <= tolerance;
}

/* Whether nothing that is compared moved between two readings. */
static bool stood_still(const struct process *a, const struct process *b)
{
	for (size_t i = 0; i < ARRAY_SIZE(compared); i++) {
		if (a->value[compared[i].counter] != b->value[compared[i].counter])
			return false;
	}
	return true;
}

/* Whether smaps_rollup says what p says: counters, and PSS where it is the kernel's. */
static bool agrees(const struct process *p, const struct smaps_rollup *figures)
{
	struct process rollup = {};
	const struct pool_result result = {.status = PSS_OK, .figures = *figures};

	if (!rollup_agrees(p, figures))
		return false;
	if (p->pss_source != PSS_FROM_KERNEL)
		return true;
	rollup_apply(&rollup, &result);
	for (size_t i = 0; i < ARRAY_SIZE(compared); i++) {
		enum counter c = compared[i].counter;

		if (process_has(&rollup, c) && process_has(p, c) &&
		    !near(rollup.value[c], p->value[c], compared[i].tolerance))
			return false;
	}
	return true;
}

static const struct process *find_again(const struct snapshot *s, const struct process *p)
{
	const struct process *found = snapshot_find_again(s, p);

	return found && process_has(found, COUNTER_RSS) ? found : NULL;
}

/* What is shown is of one moment. Figures of the kernel's are not replaced. */
static void take(struct process *p, const struct process *counters,
		 const struct pool_result *result)
{
	if (p->pss_source != PSS_FROM_KERNEL)
		take_figures(p, counters, result);
}

static enum verdict judge(struct process *p, const struct pool_result *result,
			  const struct snapshot *before, const struct snapshot *after)
{
	const struct process *b = find_again(before, p), *a = find_again(after, p);

	if (!b || !a || result->status != PSS_OK)
		return VERDICT_GONE;
	/* The kernel's walk did not add up this time: there is nothing to compare with. */
	if (p->pss_source == PSS_FROM_KERNEL &&
	    (b->pss_source != PSS_FROM_KERNEL || a->pss_source != PSS_FROM_KERNEL))
		return VERDICT_MOVED;
	if (agrees(b, &result->figures)) {
		take(p, b, result);
		return VERDICT_SAME;
	}
	/* The newest there is, so that what is shown belongs together as well as it can. */
	take(p, a, result);
	if (agrees(a, &result->figures))
		return VERDICT_SAME;
	return stood_still(a, b) && !a->starting && !b->starting ? VERDICT_DIFFERENT
								 : VERDICT_MOVED;
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

/* A difference that stayed, in words: it is ours or the kernel's, and has to be seen. */
static void tell_difference(struct session *s, const struct process *now,
			    const struct smaps_rollup *figures)
{
	if (!now || now->pss_source != PSS_FROM_KERNEL)
		return;
	s->exit_code = EXIT_DIFFERENT;
	message_error("--verify: PID %d: PSS %" PRIu64 " bytes from the kernel, %" PRIu64
		      " from smaps_rollup",
		      now->pid, now->value[COUNTER_PSS], figures->value[ROLLUP_PSS]);
}

/* Rows that are looked at again. */
struct doubt {
	struct process **row;
	unsigned char *quiet; /* how often each differed while nothing was started */
	struct pool_result *result;
	size_t count;
};

/* One reading of each between two of the counters; keeps those that are not settled. */
static int check_round(struct session *s, struct doubt *d, int round)
{
	struct snapshot *before = &s->again[0], *after = &s->again[1];
	/* What was recorded does not move any more. */
	unsigned pauses = session_replays(s) ? 0 : (unsigned)round;
	uint64_t last_pid;
	size_t left = 0;
	bool quiet;
	int r;

	pause_before_round(pauses);
	last_pid = procfs_last_pid(&s->proc);
	r = source_collect_some(s->source, d->row, d->count, before);
	pause_between(pauses);
	if (r == 0)
		r = pool_read(s->pool, POOL_ROLLUP, false, d->row, d->count, d->result);
	pause_between(pauses);
	if (r == 0)
		r = source_collect_some(s->source, d->row, d->count, after);
	if (r < 0)
		return r;
	quiet = last_pid == procfs_last_pid(&s->proc);
	for (size_t i = 0; i < d->count; i++) {
		enum verdict v = judge(d->row[i], &d->result[i], before, after);

		d->quiet[i] += quiet && v == VERDICT_DIFFERENT;
		if (v == VERDICT_DIFFERENT && d->quiet[i] < QUIET_DIFFERENCES)
			v = VERDICT_MOVED;
		/* A recording that has no more of it cannot tell. */
		if (d->result[i].again && v == VERDICT_DIFFERENT)
			v = VERDICT_MOVED;
		if (v == VERDICT_MOVED && round < CHECK_ROUNDS && !d->result[i].again) {
			d->quiet[left] = d->quiet[i];
			d->row[left++] = d->row[i];
			continue;
		}
		count_verdict(&s->snapshot.collection.cross_check, v);
		if (v == VERDICT_DIFFERENT)
			tell_difference(s, find_again(after, d->row[i]), &d->result[i].figures);
	}
	d->count = left;
	return 0;
}

int pss_check_again(struct session *s, struct process **doubtful, size_t count)
{
	struct arena *a = &s->snapshot.scratch;
	struct pool_result *result = arena_zalloc(a, count + 1, sizeof(*result));
	unsigned char *quiet = arena_zalloc(a, count + 1, 1);
	struct doubt d = {.row = doubtful, .quiet = quiet, .result = result};
	int r = 0;

	if (!result || !quiet)
		return -ENOMEM;
	d.count = drop_self(s->self, doubtful, count, &s->snapshot.collection.cross_check);
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
	       pool_has_next(s->pool, POOL_ROLLUP, p) &&
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
	if (!session_replays(s) && getrandom(&random, sizeof(random), GRND_NONBLOCK) > 0)
		start = random % count;
	for (size_t i = 0; i < want; i++) {
		struct process *p = ret[i];

		ret[i] = ret[(start + i) % count];
		ret[(start + i) % count] = p;
	}
	return want;
}

/* Of a recording, those that were compared. */
static int how_many(const struct session *s)
{
	if (s->options->verify != VERIFY_DEFAULT)
		return s->options->verify;
	return session_replays(s) ? VERIFY_ALL : VERIFY_USUAL;
}

/* Who asked for more than may be read is told. */
static void tell_readable(const struct session *s)
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
		message_note(s->options->quiet,
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
	tell_readable(s);
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
		if (agrees(row[i], &result[i].figures))
			check->same++;
		else
			row[left++] = row[i];
	}
	return pss_check_again(s, row, left);
}
