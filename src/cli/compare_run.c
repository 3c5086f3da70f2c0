// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A comparison from its subjects to its verdicts: reads in turns until every cell is settled. */
#include "cli/compare_run.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/compare_read.h"
#include "cli/log.h"
#include "base/cleanup.h"

int compare_possible(const struct session *s)
{
	if (source_origin(s->source) != FROM_BPF)
		return log_error("compare: there is nothing to compare /proc with: %s",
				 s->fallback_reason);
	if (!s->proc.trusted)
		return log_error("compare: there is no /proc of this pid namespace to compare "
				 "with (mount -t proc proc /proc)");
	return 0;
}

void compare_run_done(struct compare_run *run)
{
	comparison_done(&run->comparison);
	free(run->subject);
	snapshot_done(&run->hidden);
}

static int find_subjects(struct session *s, struct compare_run *run)
{
	int r = compare_find_hidden(s, &run->hidden);

	if (r < 0)
		return r;
	run->subject = calloc(s->rows.count + run->hidden.count + 1, sizeof(*run->subject));
	if (!run->subject)
		return -ENOMEM;
	for (size_t i = 0; i < s->rows.count; i++) {
		if (s->rows.item[i]->kind == PROCESS_USER)
			run->subject[run->count++] = s->rows.item[i];
	}
	for (; run->hidden_count < run->hidden.count; run->hidden_count++)
		run->subject[run->count + run->hidden_count] =
			&run->hidden.process[run->hidden_count];
	return 0;
}

/* What BPF has of anybody; of what nobody has, there are no cells. */
static counter_mask measured(const struct snapshot *s)
{
	counter_mask have = 0;

	for (size_t i = 0; i < s->count; i++)
		have |= s->process[i].have;
	return have;
}

/* Until 6.1 threads hold counts back, and some always do. */
static void set_bound(const struct session *s, struct comparison *c)
{
	const struct host_info *host = &s->snapshot.host;

	for (size_t i = 0; i < s->snapshot.count && !c->per_thread; i++) {
		for (int k = 0; k < 4; k++)
			c->per_thread |= s->snapshot.process[i].rss_delta[k] != 0;
	}
	c->bound = c->per_thread ? compare_bound_per_thread(host->page_size)
				 : compare_bound_per_cpu(host->cpus, host->page_size);
}

static int run_rounds(struct session *s, struct compare_run *run, size_t *ret_referees)
{
	cleanup(compare_reader_done) struct compare_reader reader = {};
	int r = compare_reader_init(&reader, s, &run->comparison, run->count);

	for (unsigned round = 1; r == 0 && reader.left && round <= COMPARE_ROUNDS; round++)
		r = compare_read_round(&reader, round, &run->cost);
	*ret_referees = reader.referees;
	return r;
}

int compare_run(struct session *s, struct compare_run *ret)
{
	struct comparison *c = &ret->comparison;
	size_t referees = 0;
	int r;

	*ret = (struct compare_run){};
	r = find_subjects(s, ret);
	if (r == 0)
		r = comparison_init(c, ret->subject, ret->count + ret->hidden_count,
				    measured(&s->snapshot));
	if (r == 0) {
		set_bound(s, c);
		for (size_t i = 0; i < ret->hidden_count; i++)
			compare_settle(&c->row[ret->count + i], COMPARE_DENIED);
		r = run_rounds(s, ret, &referees);
	}
	if (r == 0)
		r = enrich_programs(session_pool(s), &s->snapshot, &s->rows);
	if (r < 0)
		return log_errno(r, "comparing");
	compare_finish(c, referees);
	return 0;
}
