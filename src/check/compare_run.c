// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Runs a comparison: of the command compare (all processes, until every cell is settled), or of
 * --verify (rows of a snapshot, after it was read).
 */
#include "check/compare_run.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/cleanup.h"

#define VERIFY_DEADLINE_MS 100
#define CHEAP		   (8ULL << 20)

/*
 * Sets the bound by which /proc/PID/status may lag behind. Until 6.1 threads have pending counts,
 * and at any time some thread has.
 */
static void compare_set_bound(const struct check *c, struct comparison *comparison)
{
	const struct snapshot *s = c->snapshot;
	const struct host_info *host = &s->host;
	bool per_thread = false;

	for (size_t i = 0; i < s->count && !per_thread; i++) {
		for (int k = 0; k < RSS_COUNTERS; k++)
			per_thread |= s->process[i].rss_delta[k] != 0;
	}
	comparison->per_thread = per_thread;
	comparison->bound = per_thread ? compare_bound_per_thread(host->page_size)
				       : compare_bound_per_cpu(host->cpus, host->page_size);
}

/* Without capabilities, as with the pin, only processes of the same user can be read. */
static bool may_read(const struct check *c, const struct process *p)
{
	return !c->own_only || p->uid == c->uid;
}

/* Entries of swap take as long as pages. */
bool rollup_is_cheap(const struct process *p)
{
	return process_has(p, COUNTER_RSS) && p->value[COUNTER_RSS] <= CHEAP &&
	       process_has(p, COUNTER_SWAP) && p->value[COUNTER_SWAP] <= CHEAP &&
	       p->value[COUNTER_RSS] + p->value[COUNTER_SWAP] <= CHEAP;
}

static bool may_verify(const struct check *c, const struct process *p)
{
	return p->pss_source == PSS_FROM_KERNEL && p->pid != c->self && may_read(c, p) &&
	       (c->verify == VERIFY_ALL || rollup_is_cheap(p));
}

size_t verify_choose(const struct check *c, struct process **ret)
{
	const struct process_list *processes = c->rows;
	size_t count = 0, start = 0, want = (size_t)c->verify;
	uint64_t random = 0;

	for (size_t i = 0; i < processes->count; i++) {
		if (may_verify(c, processes->item[i]))
			ret[count++] = processes->item[i];
	}
	if (c->verify == VERIFY_ALL || count <= want)
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

/* ---- compare ---- */

void compare_run_done(struct compare_run *run)
{
	comparison_done(&run->comparison);
	free(run->subject);
	snapshot_done(&run->hidden);
}

static int find_subjects(struct check *c, const struct filter *f, struct compare_run *run)
{
	int r = compare_find_hidden(c, f, &run->hidden);

	if (r < 0)
		return r;
	run->subject = calloc(c->rows->count + run->hidden.count + 1, sizeof(*run->subject));
	if (!run->subject)
		return -ENOMEM;
	for (size_t i = 0; i < c->rows->count; i++) {
		if (c->rows->item[i]->kind == PROCESS_USER)
			run->subject[run->count++] = c->rows->item[i];
	}
	for (; run->hidden_count < run->hidden.count; run->hidden_count++)
		run->subject[run->count + run->hidden_count] =
			&run->hidden.process[run->hidden_count];
	return 0;
}

/* The counters that BPF has of at least one process; others have no cells. */
static counter_mask measured(const struct snapshot *s)
{
	counter_mask have = 0;

	for (size_t i = 0; i < s->count; i++)
		have |= s->process[i].have;
	return have;
}

/* Chooses the rows of which smaps_rollup is read; others have no cells for it. */
static int choose_rollups(struct check *c, const struct compare_run *run,
			  unsigned char *with_rollup)
{
	cleanup_free struct process **row = NULL;
	size_t count;

	if (!c->verify)
		return 0;
	if (c->verify == VERIFY_ALL) {
		memset(with_rollup, 1, run->count);
		return 0;
	}
	row = calloc(c->rows->count + 1, sizeof(*row));
	if (!row)
		return -ENOMEM;
	count = verify_choose(c, row);
	for (size_t i = 0; i < run->count; i++) {
		for (size_t k = 0; k < count && !with_rollup[i]; k++)
			with_rollup[i] = row[k] == run->subject[i];
	}
	return 0;
}

static int run_rounds(struct check *c, struct compare_run *run, size_t *ret_referees)
{
	cleanup(compare_reader_done) struct compare_reader reader = {};
	int r = compare_reader_init(&reader, c, &run->comparison, run->count);

	if (r == 0)
		r = choose_rollups(c, run, reader.with_rollup);
	for (unsigned round = 1; r == 0 && reader.left && round <= COMPARE_ROUNDS; round++)
		r = compare_read_round(&reader, round, &run->cost);
	*ret_referees = reader.referees;
	return r;
}

int compare_run(struct check *c, const struct filter *f, struct compare_run *ret)
{
	struct comparison *comparison = &ret->comparison;
	size_t referees = 0;
	int r;

	*ret = (struct compare_run){};
	r = find_subjects(c, f, ret);
	if (r == 0)
		r = comparison_init(comparison, ret->subject, ret->count + ret->hidden_count,
				    measured(c->snapshot));
	if (r < 0)
		return r;
	compare_set_bound(c, comparison);
	for (size_t i = 0; i < ret->hidden_count; i++)
		compare_settle(&comparison->row[ret->count + i], COMPARE_DENIED);
	r = run_rounds(c, ret, &referees);
	if (r == 0)
		r = enrich_programs(c->pool, c->snapshot, c->rows);
	if (r == 0)
		compare_finish(comparison, referees);
	return r;
}

/* ---- --verify ---- */

/* Drops this process: its values always move. Returns the number of rows left. */
static size_t drop_self(struct check *c, struct process **rows, size_t count)
{
	size_t left = 0;

	for (size_t i = 0; i < count; i++) {
		if (rows[i]->pid == c->self)
			c->snapshot->collection.cross_check.moved++;
		else
			rows[left++] = rows[i];
	}
	return left;
}

/* `cell`: what differs; NULL: the process executed another program. */
static int add_difference(struct check *c, const struct compare_row *row,
			  const struct compare_cell *cell)
{
	struct check_difference d = {.pid = row->process->pid, .execed = !cell};

	if (!c->difference)
		c->difference =
			arena_zalloc(&c->snapshot->arena, c->rows->count, sizeof(*c->difference));
	if (!c->difference)
		return -ENOMEM;
	if (cell) {
		d.counter = cell->counter;
		d.kernel = cell->bpf;
		d.rollup = cell->proc_before;
	}
	c->difference[c->difference_count++] = d;
	return 0;
}

static int count_verdict(struct check *c, const struct compare_row *row)
{
	struct cross_check *check = &c->snapshot->collection.cross_check;

	switch (compare_verify_verdict(row)) {
	case COMPARE_SAME:
		check->same++;
		return 0;
	case COMPARE_GONE:
		check->gone++;
		return 0;
	case COMPARE_DIFFERENT:
		check->different++;
		/* A difference of PSS is an error of the BPF program or of the kernel, so it is
		 * reported. */
		if (row->process->pss_source != PSS_FROM_KERNEL)
			return 0;
		c->pss_wrong += compare_verify_pss_wrong(row);
		return add_difference(c, row, compare_verify_cell(row));
	default:
		check->moved++;
		return row->execed ? add_difference(c, row, NULL) : 0;
	}
}

int verify_rollups(struct check *c, struct process **rows, size_t count)
{
	cleanup(comparison_done) struct comparison comparison = {};
	cleanup(compare_reader_done) struct compare_reader reader = {};
	int r;

	count = drop_self(c, rows, count);
	if (!count)
		return 0;
	r = comparison_init(&comparison, rows, count, VERIFY_COUNTERS);
	if (r == 0)
		r = compare_reader_init(&reader, c, &comparison, count);
	if (r < 0)
		return r;
	compare_set_bound(c, &comparison);
	reader.verifies = true;
	memset(reader.with_rollup, 1, count);
	for (size_t i = 0; i < count; i++)
		compare_verify_begin(&comparison.row[i]);
	for (unsigned round = 1; r == 0 && reader.left; round++)
		r = compare_read_round(&reader, round, NULL);
	if (r < 0)
		return r;
	compare_finish(&comparison, reader.referees);
	for (size_t i = 0; r == 0 && i < count; i++)
		r = count_verdict(c, &comparison.row[i]);
	return r;
}

static void count_readable(struct check *c)
{
	const struct process_list *processes = c->rows;

	for (size_t i = 0; i < processes->count; i++) {
		const struct process *p = processes->item[i];

		c->verify_count += p->pss_source == PSS_FROM_KERNEL;
		c->verify_readable += p->pss_source == PSS_FROM_KERNEL && may_read(c, p);
	}
	c->unreadable = c->verify == VERIFY_ALL ? c->verify_readable < c->verify_count
						: c->verify > VERIFY_USUAL &&
							  c->verify_readable < (size_t)c->verify;
}

static void count_unchecked(struct cross_check *check, enum pss_status status)
{
	check->ended += status == PSS_GONE;
	check->denied += status == PSS_DENIED;
	check->unread += status != PSS_GONE && status != PSS_DENIED;
}

/* Counts the processes that verify_choose() leaves out. */
static void count_left_out(struct check *c)
{
	struct cross_check *check = &c->snapshot->collection.cross_check;

	check->all = true;
	for (size_t i = 0; i < c->rows->count; i++) {
		const struct process *p = c->rows->item[i];

		/* smaps_rollup of the others was read, and compared. */
		if (p->kind != PROCESS_USER || p->pss_source == PSS_FROM_ROLLUP)
			continue;
		if (p->pss_source == PSS_FROM_NOTHING)
			count_unchecked(check, p->pss_status);
		else if (p->pid == c->self)
			check->self++;
		else
			check->denied += !may_read(c, p);
	}
}

/* Moves rows with a smaps_rollup that differs from the snapshot to the front. *ret_left: how many.
 */
static int compare_snapshot(struct check *c, struct process **row, size_t count, size_t *ret_left)
{
	struct cross_check *check = &c->snapshot->collection.cross_check;
	struct pool_result *result = arena_zalloc(&c->snapshot->scratch, count, sizeof(*result));
	size_t left = 0;
	int r;

	if (!result)
		return -ENOMEM;
	/* --verify all waits for each process. Else the deadline is short: their PSS is known. */
	if (c->verify == VERIFY_ALL)
		pool_patient(c->pool);
	else
		pool_hurry(c->pool, VERIFY_DEADLINE_MS);
	r = pool_read(c->pool, POOL_ROLLUP, false, row, count, result);
	for (size_t i = 0; r == 0 && i < count; i++) {
		struct process values = {};

		if (result[i].status != PSS_OK) {
			count_unchecked(check, result[i].status);
			continue;
		}
		check->checked++;
		rollup_apply(&values, &result[i]);
		if (compare_agrees(row[i], &values, &result[i].counters))
			check->same++;
		else
			row[left++] = row[i];
	}
	*ret_left = left;
	return r;
}

int verify_kernel(struct check *c)
{
	struct process **row =
		arena_zalloc(&c->snapshot->scratch, c->rows->count + 1, sizeof(*row));
	size_t count, left = 0;
	int r;

	if (!row)
		return -ENOMEM;
	count_readable(c);
	if (c->verify == VERIFY_ALL)
		count_left_out(c);
	count = verify_choose(c, row);
	if (!count)
		return 0;
	r = compare_snapshot(c, row, count, &left);
	return r < 0 ? r : verify_rollups(c, row, left);
}
