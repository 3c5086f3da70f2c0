// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Knows what is read when; what it means is for src/compare. */
#include "cli/compare_read.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/pause.h"
#include "cli/pss.h"
#include "base/array.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/parse.h"

/* ---- setting up ---- */

/* --verify N: only of some, and the others have no cells for it. */
static int choose(struct compare_reader *r, size_t count)
{
	const struct session *s = r->session;
	cleanup_free struct process **row = calloc(s->rows.count + 1, sizeof(*row));
	size_t chosen = 0;

	if (!row)
		return -ENOMEM;
	if (s->pss == PSS_NONE)
		return 0;
	if (s->options->verify == VERIFY_DEFAULT || s->options->verify == VERIFY_ALL) {
		memset(r->chosen, 1, count);
		return 0;
	}
	if (s->options->verify)
		chosen = pss_choose(s, s->options->verify, row);
	for (size_t i = 0; i < count; i++) {
		for (size_t k = 0; k < chosen && !r->chosen[i]; k++)
			r->chosen[i] = row[k] == r->comparison->row[i].process;
	}
	return 0;
}

int compare_reader_init(struct compare_reader *r, struct session *s, struct comparison *c,
			size_t count)
{
	*r = (struct compare_reader){.session = s, .comparison = c};
	r->row = calloc(count + 1, sizeof(*r->row));
	r->chosen = calloc(count + 1, 1);
	r->process = calloc(count + 1, sizeof(*r->process));
	r->status_before = calloc(count + 1, sizeof(*r->status_before));
	r->status_after = calloc(count + 1, sizeof(*r->status_after));
	r->rollup = calloc(count + 1, sizeof(*r->rollup));
	r->status_result = calloc(count + 1, sizeof(*r->status_result));
	r->rollup_result = calloc(count + 1, sizeof(*r->rollup_result));
	r->result = calloc(count + 1, sizeof(*r->result));
	if (!r->row || !r->chosen || !r->process || !r->status_before || !r->status_after ||
	    !r->rollup || !r->status_result || !r->rollup_result || !r->result)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		r->row[r->left++] = &c->row[i];
	return choose(r, count);
}

void compare_reader_done(struct compare_reader *r)
{
	free(r->row);
	free(r->chosen);
	free(r->process);
	free(r->status_before);
	free(r->status_after);
	free(r->rollup);
	free(r->status_result);
	free(r->rollup_result);
	free(r->result);
}

/* ---- one round ---- */

static void take_status(struct pool_result *result, struct process *ret,
			enum pss_status *ret_result)
{
	struct proc_status status;

	*ret = (struct process){};
	*ret_result = result->status;
	if (result->status != PSS_OK)
		return;
	/* One that is exiting has no values any more. */
	if (proc_status_parse(result->text, result->len, &status) < 0 || !status.have)
		*ret_result = PSS_GONE;
	else
		status_apply(ret, &status);
	free(TAKE_PTR(result->text));
}

static int read_status(struct compare_reader *r, struct process *ret, size_t *files)
{
	int err = pool_read(r->session->pool, POOL_STATUS, false, r->process, r->left, r->result);

	for (size_t i = 0; err == 0 && i < r->left; i++) {
		*files += r->result[i].status == PSS_OK;
		take_status(&r->result[i], &ret[i], &r->status_result[i]);
	}
	return err;
}

static bool wants_rollup(const struct compare_reader *r, size_t i)
{
	return r->chosen[r->row[i] - r->comparison->row];
}

static int read_rollup(struct compare_reader *r, size_t *files)
{
	struct session *s = r->session;
	cleanup_free struct process **process = calloc(r->left + 1, sizeof(*process));
	size_t count = 0, n = 0;
	int err;

	if (!process)
		return -ENOMEM;
	for (size_t i = 0; i < r->left; i++) {
		if (wants_rollup(r, i))
			process[count++] = r->process[i];
	}
	err = pool_read(s->pool, POOL_ROLLUP, false, process, count, r->result);
	for (size_t i = 0; err == 0 && i < r->left; i++) {
		struct process *p = &r->rollup[i];
		const struct pool_result *result = &r->result[n];

		*p = (struct process){};
		r->rollup_result[i] = PSS_SKIPPED;
		if (!wants_rollup(r, i))
			continue;
		n++;
		*files += result->status == PSS_OK;
		r->rollup_result[i] = result->status;
		rollup_apply(p, result);
		if (result->status == PSS_OK && rollup_has(&result->counters, ROLLUP_RSS))
			process_set(p, COUNTER_RSS, result->counters.value[ROLLUP_RSS]);
		/* For the machine's totals, as a snapshot does it. */
		if (r->process[i]->pss_status == PSS_SKIPPED)
			rollup_apply(r->process[i], result);
	}
	return err;
}

/* Calls of read() by this process so far. False if the kernel does not count them. */
static bool count_reads(const struct session *s, uint64_t *ret)
{
	char text[512];
	ssize_t len = file_read(s->proc.fd, "self/io", text, sizeof(text));
	const char *at = len > 0 ? strstr(text, "syscr: ") : NULL;
	size_t digits;

	if (!at)
		return false;
	at += strlen("syscr: ");
	digits = strspn(at, "0123456789");
	return parse_u64(at, digits, UINT64_MAX, ret) == 0;
}

/* A meter for one side: time and reads since it was started. */
struct meter {
	uint64_t us, reads;
	bool known;
};

static struct meter meter_start(const struct session *s)
{
	struct meter m = {};

	m.known = count_reads(s, &m.reads);
	m.us = clock_us(CLOCK_MONOTONIC);
	return m;
}

static void meter_stop(const struct session *s, const struct meter *start, uint64_t *us,
		       uint64_t *reads, bool *known)
{
	uint64_t now = clock_us(CLOCK_MONOTONIC), total = 0;

	*us += now - start->us;
	*known = start->known && count_reads(s, &total);
	/* Two of them are the meter's own: a file is read until there is no more. */
	if (*known && total >= start->reads + 2)
		*reads += total - start->reads - 2;
}

static const struct process *find_again(const struct snapshot *s, const struct process *p)
{
	const struct process *found = snapshot_find_again(s, p);

	return found && found->kind == PROCESS_USER ? found : NULL;
}

static void judge(struct compare_reader *r, const struct snapshot *before,
		  const struct snapshot *after, bool quiet, unsigned round)
{
	size_t left = 0;

	for (size_t i = 0; i < r->left; i++) {
		struct compare_row *row = r->row[i];
		bool status = r->status_result[i] == PSS_OK && r->status_before[i].have;
		struct compare_seen seen = {
			.status_before = status ? &r->status_before[i] : NULL,
			.status_after = status ? &r->status_after[i] : NULL,
			.bpf_before = find_again(before, row->process),
			.bpf_after = find_again(after, row->process),
			.rollup = r->rollup_result[i] == PSS_OK ? &r->rollup[i] : NULL,
			.status_result = r->status_result[i],
			.rollup_result = r->rollup_result[i],
			.quiet = quiet,
		};

		if (!seen.bpf_before || !seen.bpf_after)
			compare_settle(row, COMPARE_GONE);
		/* It lives and is not in /proc: hidepid. */
		if (seen.status_result == PSS_GONE)
			seen.status_result = PSS_DENIED;
		if (seen.rollup_result == PSS_GONE)
			seen.rollup_result = PSS_DENIED;
		compare_judge(row, &seen, round);
		r->referees += seen.rollup && round == 1;
		if (!row->settled)
			r->row[left++] = row;
	}
	r->left = left;
}

int compare_read_round(struct compare_reader *r, unsigned round, struct compare_cost *cost)
{
	cleanup(snapshot_done) struct snapshot before = {}, after = {};
	struct session *s = r->session;
	struct compare_cost now = {};
	struct meter meter;
	uint64_t last_pid;
	size_t files = 0;
	int err;

	pause_before_round(round);
	last_pid = procfs_last_pid(&s->proc);
	for (size_t i = 0; i < r->left; i++)
		r->process[i] = (struct process *)r->row[i]->process;
	meter = meter_start(s);
	err = read_status(r, r->status_before, &files);
	meter_stop(s, &meter, &now.proc_us, &now.proc_reads, &now.reads_known);
	meter = meter_start(s);
	if (err == 0) /* the first time as a snapshot does it, since that is measured */
		err = round == 1 ? source_collect(s->source, &before)
				 : source_collect_some(s->source, r->process, r->left, &before);
	meter_stop(s, &meter, &now.bpf_us, &now.bpf_reads, &now.reads_known);
	pause_between(round);
	meter = meter_start(s);
	if (err == 0)
		err = read_rollup(r, &files);
	meter_stop(s, &meter, &now.proc_us, &now.proc_reads, &now.reads_known);
	now.proc_files = files;
	pause_between(round);
	if (err == 0)
		err = source_collect_some(s->source, r->process, r->left, &after);
	if (err == 0)
		err = read_status(r, r->status_after, &files);
	if (err < 0)
		return err;
	if (round == 1)
		*cost = now;
	judge(r, &before, &after, last_pid == procfs_last_pid(&s->proc), round);
	return 0;
}

/* ---- whom BPF is not shown ---- */

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

/* A name that cannot be read either stays unknown. */
static int read_names(struct session *s, struct snapshot *hidden, struct process *const *row,
		      struct pool_result *result)
{
	int r = pool_read(s->pool, POOL_EXE, false, row, hidden->count, result);

	for (size_t i = 0; r == 0 && i < hidden->count; i++) {
		if (result[i].status == PSS_OK)
			row[i]->name = arena_strndup(&hidden->arena, result[i].text, result[i].len);
		free(TAKE_PTR(result[i].text));
	}
	return r;
}

/* Drops those that BPF has by now, that have no memory, or that nobody asked for. */
static int keep_hidden(struct session *s, struct snapshot *hidden, struct process **row,
		       struct pool_result *result)
{
	cleanup(snapshot_done) struct snapshot now = {};
	size_t kept = 0;
	int r = source_collect_some(s->source, row, hidden->count, &now);

	if (r == 0)
		r = pool_read(s->pool, POOL_STATUS, false, row, hidden->count, result);
	for (size_t i = 0; r == 0 && i < hidden->count; i++) {
		struct process *p = &hidden->process[i];
		struct proc_status status = {};
		bool there = result[i].status == PSS_OK &&
			     proc_status_parse(result[i].text, result[i].len, &status) == 0;

		free(TAKE_PTR(result[i].text));
		p->uid = status.euid;
		if (there && status.have && !snapshot_find(&now, p->pid) && !s->filter.pattern &&
		    filter_matches_id(&s->filter, p))
			hidden->process[kept++] = *p;
	}
	hidden->count = kept;
	return r;
}

int compare_find_hidden(struct session *s, struct snapshot *ret)
{
	struct listing listing = {&s->snapshot, ret};
	cleanup_free struct process **row = NULL;
	cleanup_free struct pool_result *result = NULL;
	int r = procfs_each_pid(&s->proc, add_unseen, &listing);

	if (r < 0 || !ret->count)
		return r;
	row = calloc(ret->count, sizeof(*row));
	result = calloc(ret->count, sizeof(*result));
	if (!row || !result)
		return -ENOMEM;
	for (size_t i = 0; i < ret->count; i++)
		row[i] = &ret->process[i];
	r = keep_hidden(s, ret, row, result);
	return r < 0 || !ret->count ? r : read_names(s, ret, row, result);
}
