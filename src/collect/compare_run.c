// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Runs a comparison: finds the processes, then reads both sides until every cell is settled. */
#include "collect/compare_run.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "collect/compare_read.h"
#include "collect/verify.h"

void compare_run_done(struct compare_run *run)
{
	comparison_done(&run->comparison);
	free(run->subject);
	snapshot_done(&run->hidden);
}

static int find_subjects(struct collector *c, const struct filter *f, struct compare_run *run)
{
	int r = compare_find_hidden(c, f, &run->hidden);

	if (r < 0)
		return r;
	run->subject = calloc(c->rows.chosen.count + run->hidden.count + 1, sizeof(*run->subject));
	if (!run->subject)
		return -ENOMEM;
	for (size_t i = 0; i < c->rows.chosen.count; i++) {
		if (c->rows.chosen.item[i]->kind == PROCESS_USER)
			run->subject[run->count++] = c->rows.chosen.item[i];
	}
	for (; run->hidden_count < run->hidden.count; run->hidden_count++)
		run->subject[run->count + run->hidden_count] =
			&run->hidden.process[run->hidden_count];
	return 0;
}

/* The counters that BPF has of any process; others have no cells. */
static counter_mask measured(const struct snapshot *s)
{
	counter_mask have = 0;

	for (size_t i = 0; i < s->count; i++)
		have |= s->process[i].have;
	return have;
}

/* Until 6.1 threads hold counts back, and some of them always do. */
void compare_set_bound(const struct collector *c, struct comparison *comparison)
{
	const struct snapshot *s = &c->snapshot;
	const struct host_info *host = &s->host;
	bool per_thread = false;

	for (size_t i = 0; i < s->count && !per_thread; i++) {
		for (int k = 0; k < 4; k++)
			per_thread |= s->process[i].rss_delta[k] != 0;
	}
	comparison->per_thread = per_thread;
	comparison->bound = per_thread ? compare_bound_per_thread(host->page_size)
				       : compare_bound_per_cpu(host->cpus, host->page_size);
}

/* The rows whose smaps_rollup is read; the others have no cells for it. */
static int choose(struct collector *c, const struct compare_run *run, unsigned char *chosen)
{
	cleanup_free struct process **row = NULL;
	size_t count;

	if (c->spec.pss == PSS_NONE || !c->spec.verify)
		return 0;
	if (c->spec.verify == VERIFY_ALL) {
		memset(chosen, 1, run->count);
		return 0;
	}
	row = calloc(c->rows.chosen.count + 1, sizeof(*row));
	if (!row)
		return -ENOMEM;
	count = verify_choose(c, c->spec.verify, row);
	for (size_t i = 0; i < run->count; i++) {
		for (size_t k = 0; k < count && !chosen[i]; k++)
			chosen[i] = row[k] == run->subject[i];
	}
	return 0;
}

static int run_rounds(struct collector *c, struct compare_run *run, size_t *ret_referees)
{
	cleanup(compare_reader_done) struct compare_reader reader = {};
	int r = compare_reader_init(&reader, c, &run->comparison, run->count);

	if (r == 0)
		r = choose(c, run, reader.chosen);
	for (unsigned round = 1; r == 0 && reader.left && round <= COMPARE_ROUNDS; round++)
		r = compare_read_round(&reader, round, &run->cost);
	*ret_referees = reader.referees;
	return r;
}

int compare_run(struct collector *c, const struct query *q, struct compare_run *ret)
{
	struct comparison *comparison = &ret->comparison;
	size_t referees = 0;
	int r;

	*ret = (struct compare_run){};
	r = find_subjects(c, &q->filter, ret);
	if (r == 0)
		r = comparison_init(comparison, ret->subject, ret->count + ret->hidden_count,
				    measured(&c->snapshot));
	if (r < 0)
		return r;
	compare_set_bound(c, comparison);
	for (size_t i = 0; i < ret->hidden_count; i++)
		compare_settle(&comparison->row[ret->count + i], COMPARE_DENIED);
	r = run_rounds(c, ret, &referees);
	if (r == 0)
		r = enrich_programs(collector_pool(c), &c->snapshot, &c->rows.chosen);
	if (r == 0)
		compare_finish(comparison, referees);
	return r;
}
