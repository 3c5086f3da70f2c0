// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Reads both sides of a comparison, round by round; check/compare.c judges the readings. */
#include "check/compare_read.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/parse.h"

void verify_copy_counters(struct process *p, const struct process *from)
{
	for (int c = 0; c < COUNTERS_OF_PROCESS; c++) {
		if (process_has(from, c) && counter_table[c].origin == ORIGIN_KERNEL)
			process_set(p, c, from->value[c]);
	}
}

/*
 * ---- pauses between readings that did not agree ----
 *
 * On a busy machine the scheduler may run the target just when a reading waits, so each reading
 * meets the target at the same point of its work. With random pauses readings meet it at any point,
 * and in the end they agree.
 */

#define MS_NS	     1000000
#define PAUSE_ROUNDS 5 /* later rounds have the same pause */

static void sleep_up_to(long ns)
{
	struct timespec t = {.tv_nsec = ns / 2};
	uint16_t random = 0;

	if (getrandom(&random, sizeof(random), GRND_NONBLOCK) == sizeof(random))
		t.tv_nsec = ns / UINT16_MAX * random;
	nanosleep(&t, NULL);
}

static void pause_before_round(unsigned round)
{
	if (round > 1)
		sleep_up_to((long)(round < PAUSE_ROUNDS ? round : PAUSE_ROUNDS) * 4 * MS_NS);
}

static void pause_between(unsigned round)
{
	if (round > 1)
		sleep_up_to(2 * MS_NS);
}

/* ---- setting up ---- */

int compare_reader_init(struct compare_reader *r, struct check *c, struct comparison *comparison,
			size_t count)
{
	*r = (struct compare_reader){.check = c, .comparison = comparison};
	r->with_rollup = calloc(count + 1, 1);
	r->reading = calloc(count + 1, sizeof(*r->reading));
	r->process = calloc(count + 1, sizeof(*r->process));
	r->result = calloc(count + 1, sizeof(*r->result));
	if (!r->with_rollup || !r->reading || !r->process || !r->result)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		r->reading[r->left++].row = &comparison->row[i];
	return 0;
}

void compare_reader_done(struct compare_reader *r)
{
	free(r->with_rollup);
	free(r->reading);
	free(r->process);
	free(r->result);
}

/* ---- one round ---- */

static void apply_status(struct pool_result *result, struct process *ret,
			 enum pss_status *ret_result)
{
	struct proc_status status;

	*ret = (struct process){};
	*ret_result = result->status;
	if (result->status != PSS_OK)
		return;
	/* A process that is exiting has no values. */
	if (proc_status_parse(result->text, result->len, &status) < 0 || !status.have)
		*ret_result = PSS_GONE;
	else
		status_apply(ret, &status);
	free(TAKE_PTR(result->text));
}

static int read_status(struct compare_reader *r, bool after, size_t *files)
{
	int err = pool_read(r->check->pool, POOL_STATUS, false, r->process, r->left, r->result);

	for (size_t i = 0; err == 0 && i < r->left; i++) {
		struct compare_reading *reading = &r->reading[i];

		*files += r->result[i].status == PSS_OK;
		apply_status(&r->result[i],
			     after ? &reading->status_after : &reading->status_before,
			     &reading->status_result);
	}
	return err;
}

static bool wants_rollup(const struct compare_reader *r, size_t i)
{
	return r->with_rollup[r->reading[i].row - r->comparison->row];
}

static int read_rollup(struct compare_reader *r, size_t *files)
{
	struct check *c = r->check;
	cleanup_free struct process **process = calloc(r->left + 1, sizeof(*process));
	size_t count = 0, n = 0;
	int err;

	if (!process)
		return -ENOMEM;
	for (size_t i = 0; i < r->left; i++) {
		if (wants_rollup(r, i))
			process[count++] = r->process[i];
	}
	err = pool_read(c->pool, POOL_ROLLUP, false, process, count, r->result);
	for (size_t i = 0; err == 0 && i < r->left; i++) {
		struct process *p = &r->reading[i].rollup;
		struct pool_result *result = &r->reading[i].rollup_result;

		*p = (struct process){};
		*result = (struct pool_result){.status = PSS_SKIPPED};
		if (!wants_rollup(r, i))
			continue;
		*result = r->result[n++];
		*files += result->status == PSS_OK;
		rollup_apply(p, result);
		if (result->status == PSS_OK && rollup_has(&result->counters, SMAPS_RSS))
			process_set(p, COUNTER_RSS, result->counters.value[SMAPS_RSS]);
		/* For the machine's totals, as in a snapshot. */
		if (r->process[i]->pss_status == PSS_SKIPPED)
			rollup_apply(r->process[i], result);
	}
	return err;
}

/* Calls of read() by this process so far. False if the kernel does not count them. */
static bool count_reads(const struct check *c, uint64_t *ret)
{
	return file_number(c->proc->fd, "self/io", "syscr: ", ret);
}

/* Measures one side: time and reads since meter_start(). */
struct meter {
	uint64_t us, reads;
	bool known;
};

static struct meter meter_start(const struct check *c)
{
	struct meter m = {};

	m.known = count_reads(c, &m.reads);
	m.us = clock_us(CLOCK_MONOTONIC);
	return m;
}

static void meter_stop(const struct check *c, const struct meter *start, uint64_t *us,
		       uint64_t *reads, bool *known)
{
	uint64_t now = clock_us(CLOCK_MONOTONIC), total = 0;

	*us += now - start->us;
	*known = start->known && count_reads(c, &total);
	/* Two reads are those of the meter, which reads its file up to the end. */
	if (*known && total >= start->reads + 2)
		*reads += total - start->reads - 2;
}

static const struct process *find_again(const struct snapshot *s, const struct process *p)
{
	const struct process *found = snapshot_find_again(s, p);

	return found && found->kind == PROCESS_USER ? found : NULL;
}

/*
 * Replaces the values of a process with PSS from smaps_rollup by those of one moment: of the
 * reading that agrees with it, else of the newest one. Values of the kernel stay.
 */
static void replace_values(struct process *p, const struct compare_seen *seen,
			   const struct pool_result *result)
{
	if (p->pss_source == PSS_FROM_KERNEL || !seen->bpf_before || !seen->bpf_after ||
	    !seen->rollup)
		return;
	verify_copy_counters(p, compare_agrees(seen->bpf_before, seen->rollup, seen->counters)
					? seen->bpf_before
					: seen->bpf_after);
	rollup_apply(p, result);
}

static bool judge_row(struct compare_row *row, struct compare_seen *seen, unsigned round)
{
	if (!seen->bpf_before || !seen->bpf_after)
		compare_settle(row, COMPARE_GONE);
	/* The process lives and is not in /proc: hidepid. */
	if (seen->status_result == PSS_GONE)
		seen->status_result = PSS_DENIED;
	if (seen->rollup_result == PSS_GONE)
		seen->rollup_result = PSS_DENIED;
	compare_judge(row, seen, round);
	return row->settled;
}

static void judge(struct compare_reader *r, bool undisturbed, unsigned round)
{
	const struct snapshot *again = r->check->again;
	size_t left = 0;

	for (size_t i = 0; i < r->left; i++) {
		const struct compare_reading *reading = &r->reading[i];
		struct compare_row *row = reading->row;
		bool status = reading->status_result == PSS_OK && reading->status_before.have;
		struct compare_seen seen = {
			.status_before = status ? &reading->status_before : NULL,
			.status_after = status ? &reading->status_after : NULL,
			.bpf_before = find_again(&again[0], row->process),
			.bpf_after = find_again(&again[1], row->process),
			.rollup = reading->rollup_result.status == PSS_OK ? &reading->rollup : NULL,
			.counters = &reading->rollup_result.counters,
			.status_result = reading->status_result,
			.rollup_result = reading->rollup_result.status,
			.undisturbed = undisturbed,
		};
		bool done;

		if (r->verifies) {
			replace_values(r->process[i], &seen, &reading->rollup_result);
			done = compare_verify(row, &seen, round);
		} else {
			done = judge_row(row, &seen, round);
		}
		r->referees += seen.rollup && round == 1;
		if (!done)
			r->reading[left++].row = row;
	}
	r->left = left;
}

/* The first BPF reading is measured, so it reads all processes as a snapshot does. */
static int read_bpf(struct compare_reader *r, unsigned round)
{
	struct check *c = r->check;

	if (round == 1 && !r->verifies)
		return source_collect(c->source, &c->again[0]);
	return source_collect_some(c->source, r->process, r->left, &c->again[0]);
}

int compare_read_round(struct compare_reader *r, unsigned round, struct compare_cost *cost)
{
	struct check *c = r->check;
	struct compare_cost now = {};
	struct meter meter;
	struct proc_load before, after;
	size_t files = 0;
	int err;

	pause_before_round(round);
	procfs_load(c->proc, &before);
	for (size_t i = 0; i < r->left; i++)
		r->process[i] = (struct process *)r->reading[i].row->process;
	meter = meter_start(c);
	err = read_status(r, false, &files);
	meter_stop(c, &meter, &now.proc_us, &now.proc_reads, &now.reads_known);
	meter = meter_start(c);
	if (err == 0)
		err = read_bpf(r, round);
	meter_stop(c, &meter, &now.bpf_us, &now.bpf_reads, &now.reads_known);
	pause_between(round);
	meter = meter_start(c);
	if (err == 0)
		err = read_rollup(r, &files);
	meter_stop(c, &meter, &now.proc_us, &now.proc_reads, &now.reads_known);
	now.proc_files = files;
	pause_between(round);
	if (err == 0)
		err = source_collect_some(c->source, r->process, r->left, &c->again[1]);
	if (err == 0)
		err = read_status(r, true, &files);
	if (err < 0)
		return err;
	if (round == 1 && cost)
		*cost = now;
	procfs_load(c->proc, &after);
	judge(r, before.last_pid == after.last_pid, round);
	return 0;
}

/* ---- processes that BPF does not see ---- */

struct listing {
	const struct snapshot *shown;
	struct snapshot *ret;
};

static int add_unseen(void *arg, pid_t pid)
{
	struct listing *l = arg;
	struct process *p;

	if (snapshot_find(l->shown, pid))
		return 0;
	p = snapshot_add(l->ret);
	if (!p)
		return -ENOMEM;
	p->pid = pid;
	return 0;
}

/* A name that cannot be read stays unknown. */
static int read_names(struct check *c, struct snapshot *hidden, struct process *const *row,
		      struct pool_result *result)
{
	int r = pool_read(c->pool, POOL_EXE, false, row, hidden->count, result);

	for (size_t i = 0; r == 0 && i < hidden->count; i++) {
		if (result[i].status == PSS_OK)
			row[i]->name = arena_strndup(&hidden->arena, result[i].text, result[i].len);
		free(TAKE_PTR(result[i].text));
	}
	return r;
}

/* Drops processes that BPF sees by now, that have no memory, or that the filter rejects. */
static int filter_hidden(struct check *c, const struct filter *f, struct snapshot *hidden,
			 struct process **row, struct pool_result *result)
{
	cleanup(snapshot_done) struct snapshot now = {};
	size_t kept = 0;
	int r = source_collect_some(c->source, row, hidden->count, &now);

	if (r == 0)
		r = pool_read(c->pool, POOL_STATUS, false, row, hidden->count, result);
	for (size_t i = 0; r == 0 && i < hidden->count; i++) {
		struct process *p = &hidden->process[i];
		struct proc_status status = {};
		bool there = result[i].status == PSS_OK &&
			     proc_status_parse(result[i].text, result[i].len, &status) == 0;

		free(TAKE_PTR(result[i].text));
		p->uid = status.euid;
		if (there && status.have && !snapshot_find(&now, p->pid) && !f->pattern &&
		    filter_matches_id(f, p))
			hidden->process[kept++] = *p;
	}
	hidden->count = kept;
	return r;
}

int compare_find_hidden(struct check *c, const struct filter *f, struct snapshot *ret)
{
	struct listing listing = {c->snapshot, ret};
	cleanup_free struct process **row = NULL;
	cleanup_free struct pool_result *result = NULL;
	int r = procfs_each_pid(c->proc, add_unseen, &listing);

	if (r < 0 || !ret->count)
		return r;
	row = calloc(ret->count, sizeof(*row));
	result = calloc(ret->count, sizeof(*result));
	if (!row || !result)
		return -ENOMEM;
	for (size_t i = 0; i < ret->count; i++)
		row[i] = &ret->process[i];
	r = filter_hidden(c, f, ret, row, result);
	return r < 0 || !ret->count ? r : read_names(c, ret, row, result);
}
