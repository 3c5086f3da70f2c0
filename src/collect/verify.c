// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Chooses the rows to verify, runs the rounds, and counts what came of them. */
#include "collect/verify.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "collect/compare_read.h"
#include "collect/compare_run.h"
#include "privilege/privilege.h"

/* A check may read a process of this size without asking: it holds mmap_lock for under 0.1 ms. */
#define VERIFY_SMALL	   (8ULL << 20)
#define VERIFY_DEADLINE_MS 100

void verify_copy_counters(struct process *p, const struct process *from)
{
	for (int c = 0; c < COUNTER_COUNT; c++) {
		if (process_has(from, c) && counter_table[c].origin == ORIGIN_KERNEL)
			process_set(p, c, from->value[c]);
	}
}

struct verify_rollup verify_rollup_of(const struct process *values,
				      const struct pool_result *result)
{
	const struct smaps_rollup *f = &result->counters;

	return (struct verify_rollup){
		.values = values,
		.rss_known = rollup_has(f, ROLLUP_RSS),
		.swap_known = rollup_has(f, ROLLUP_SWAP) && rollup_has(f, ROLLUP_SWAP_PSS),
		.rss = f->value[ROLLUP_RSS],
		.swap = f->value[ROLLUP_SWAP],
	};
}

bool verify_agrees(const struct process *p, const struct pool_result *result)
{
	const struct verify_rollup rollup = verify_rollup_of(p, result);

	return compare_agrees(p, &rollup);
}

/* ---- rounds ---- */

/* This process never stands still. Returns how many rows are left. */
static size_t drop_self(struct collector *c, struct process **rows, size_t count)
{
	size_t left = 0;

	for (size_t i = 0; i < count; i++) {
		if (rows[i]->pid == c->self)
			c->snapshot.collection.cross_check.moved++;
		else
			rows[left++] = rows[i];
	}
	return left;
}

static int add_difference(struct collector *c, const struct compare_row *row, bool differs)
{
	const struct compare_cell *cell = compare_verify_cell(row);
	struct collect_difference d = {.pid = row->process->pid, .execed = !differs};

	if (!c->difference)
		c->difference = arena_zalloc(&c->snapshot.arena, c->rows.chosen.count,
					     sizeof(*c->difference));
	if (!c->difference)
		return -ENOMEM;
	if (differs) {
		d.counter = cell->counter;
		d.kernel = cell->bpf;
		d.rollup = cell->proc_before;
	}
	c->difference[c->difference_count++] = d;
	return 0;
}

static int count_verdict(struct collector *c, const struct compare_row *row)
{
	struct cross_check *check = &c->snapshot.collection.cross_check;

	switch (compare_verify_verdict(row)) {
	case COMPARE_SAME:
		check->same++;
		return 0;
	case COMPARE_GONE:
		check->gone++;
		return 0;
	case COMPARE_DIFFERENT:
		check->different++;
		/* A difference of PSS is the kernel side's or the kernel's: it has to be seen. */
		return row->process->pss_source == PSS_FROM_KERNEL ? add_difference(c, row, true)
								   : 0;
	default:
		check->moved++;
		return row->execed ? add_difference(c, row, false) : 0;
	}
}

static int run_rounds(struct collector *c, struct process **rows, size_t count)
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
	memset(reader.chosen, 1, count);
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

/* ---- PSS of the kernel ---- */

/* Without capabilities, and so with the pin: the processes of the same user. */
static bool may_read(const struct collector *c, const struct process *p)
{
	return !source_is_pinned(c->source) || privilege_held(PRIVILEGE_PTRACE) ||
	       p->uid == geteuid();
}

static bool may_verify(const struct collector *c, const struct process *p, int how_many)
{
	return p->pss_source == PSS_FROM_KERNEL && p->pid != c->self && may_read(c, p) &&
	       pool_has_next(c->pool, POOL_ROLLUP, p) &&
	       (how_many == VERIFY_ALL || p->value[COUNTER_RSS] <= VERIFY_SMALL);
}

size_t verify_choose(const struct collector *c, int how_many, struct process **ret)
{
	const struct rows *rows = &c->rows.chosen;
	size_t count = 0, start = 0, want = (size_t)how_many;
	uint64_t random = 0;

	for (size_t i = 0; i < rows->count; i++) {
		if (may_verify(c, rows->item[i], how_many))
			ret[count++] = rows->item[i];
	}
	if (how_many == VERIFY_ALL || count <= want)
		return count;
	if (!collector_replays(c) && getrandom(&random, sizeof(random), GRND_NONBLOCK) > 0)
		start = random % count;
	for (size_t i = 0; i < want; i++) {
		struct process *p = ret[i];

		ret[i] = ret[(start + i) % count];
		ret[(start + i) % count] = p;
	}
	return want;
}

/* More was asked for than may be read. */
static void note_unreadable(struct collector *c)
{
	const struct rows *rows = &c->rows.chosen;
	int verify = c->spec.verify;

	c->verify_count = c->verify_readable = 0;
	for (size_t i = 0; i < rows->count; i++) {
		const struct process *p = rows->item[i];

		c->verify_count += p->pss_source == PSS_FROM_KERNEL;
		c->verify_readable += p->pss_source == PSS_FROM_KERNEL && may_read(c, p);
	}
	if (verify == VERIFY_ALL ? c->verify_readable < c->verify_count
				 : verify > VERIFY_USUAL && c->verify_readable < (size_t)verify)
		c->notices |= COLLECT_NOTICE_UNREADABLE;
}

/* Rows whose smaps_rollup does not agree with the snapshot go first. Returns how many, or < 0. */
static int compare_snapshot(struct collector *c, struct process **row, size_t count,
			    size_t *ret_left)
{
	struct cross_check *check = &c->snapshot.collection.cross_check;
	struct pool_result *result = arena_zalloc(&c->snapshot.scratch, count, sizeof(*result));
	size_t left = 0;
	int r;

	if (!result)
		return -ENOMEM;
	/* Waiting is not worth it: the PSS of these processes is known. */
	pool_hurry(c->pool, VERIFY_DEADLINE_MS);
	r = pool_read(c->pool, POOL_ROLLUP, false, row, count, result);
	for (size_t i = 0; r == 0 && i < count; i++) {
		struct process values = {};
		struct verify_rollup rollup;

		/* A process that may not be read, or is gone, tells nothing. */
		if (result[i].status != PSS_OK)
			continue;
		check->checked++;
		rollup_apply(&values, &result[i]);
		rollup = verify_rollup_of(&values, &result[i]);
		if (compare_agrees(row[i], &rollup))
			check->same++;
		else
			row[left++] = row[i];
	}
	*ret_left = left;
	return r;
}

static int verify_kernel(struct collector *c)
{
	struct process **row =
		arena_zalloc(&c->snapshot.scratch, c->rows.chosen.count + 1, sizeof(*row));
	size_t count, left = 0;
	int r;

	if (!row)
		return -ENOMEM;
	note_unreadable(c);
	count = verify_choose(c, c->spec.verify, row);
	if (!count)
		return 0;
	r = compare_snapshot(c, row, count, &left);
	return r < 0 ? r : run_rounds(c, row, left);
}

int verify_rows(struct collector *c, struct process **recheck, size_t count)
{
	int r = run_rounds(c, recheck, count);

	return r < 0 ? r : verify_kernel(c);
}
