// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* zmem-bpf compare: reads both sides in turns until every cell is settled; judges nothing itself.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "app/books.h"
#include "app/commands.h"
#include "app/compare_read.h"
#include "app/message.h"
#include "app/output.h"
#include "app/pause.h"
#include "app/session.h"
#include "base/cleanup.h"
#include "zmem/render.h"

/* Processes that are compared, and those that BPF is not shown. */
struct subjects {
	struct process **item;
	size_t count;  /* that BPF has */
	size_t hidden; /* behind them: that only /proc has */
	struct snapshot hidden_ones;
};

static void subjects_done(struct subjects *s)
{
	free(s->item);
	snapshot_done(&s->hidden_ones);
}

static int find_subjects(struct session *s, struct subjects *ret)
{
	int r = compare_find_hidden(s, &ret->hidden_ones);

	if (r < 0)
		return r;
	ret->item = calloc(s->rows.count + ret->hidden_ones.count + 1, sizeof(*ret->item));
	if (!ret->item)
		return -ENOMEM;
	for (size_t i = 0; i < s->rows.count; i++) {
		if (s->rows.item[i]->kind == PROCESS_USER)
			ret->item[ret->count++] = s->rows.item[i];
	}
	for (; ret->hidden < ret->hidden_ones.count; ret->hidden++)
		ret->item[ret->count + ret->hidden] = &ret->hidden_ones.process[ret->hidden];
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

static int run_rounds(struct session *s, struct comparison *c, size_t count,
		      struct compare_cost *cost, size_t *ret_referees)
{
	cleanup(compare_reader_done) struct compare_reader reader = {};
	int r = compare_reader_init(&reader, s, c, count);

	for (unsigned round = 1; r == 0 && reader.left && round <= COMPARE_ROUNDS; round++) {
		pause_before_round(round);
		r = compare_read_round(&reader, round, cost);
	}
	*ret_referees = reader.referees;
	return r;
}

static void render(const struct session *s, const struct compare_report *report, struct output *out)
{
	const struct options *o = s->options;
	const struct table_style style = {
		.bytes = o->bytes,
		.header = !o->no_header,
		.color = out->color,
		.width = o->wide ? 0 : out->width,
	};

	if (o->format == FORMAT_JSON)
		render_compare_json(&out->buf, report);
	else
		render_compare_table(&out->buf, report, &style);
}

static int compare(struct session *s, struct output *out)
{
	cleanup(subjects_done) struct subjects subjects = {};
	cleanup(comparison_done) struct comparison c = {};
	struct result books = {.snapshot = &s->snapshot};
	struct compare_report report = {.comparison = &c, .books = &books, .all = s->options->all};
	struct compare_sums sums;
	size_t referees = 0;
	int r = find_subjects(s, &subjects);

	if (r == 0)
		r = comparison_init(&c, subjects.item, subjects.count + subjects.hidden,
				    measured(&s->snapshot));
	if (r == 0) {
		set_bound(s, &c);
		for (size_t i = 0; i < subjects.hidden; i++)
			compare_settle(&c.row[subjects.count + i], COMPARE_DENIED);
		r = run_rounds(s, &c, subjects.count, &report.cost, &referees);
	}
	if (r < 0)
		return message_error("comparing: %s", strerror(-r));
	compare_finish(&c, referees);
	books_close(&s->snapshot, &books);
	render(s, &report, out);
	r = output_finish(out);
	compare_sum(&c, &sums);
	if (r)
		return r;
	return sums.verdict[COMPARE_DIFFERENT] ? EXIT_DIFFERENT : s->exit_code;
}

int command_compare(const struct options *o)
{
	cleanup(session_close) struct session session = {};
	cleanup(output_done) struct output out = {.file.fd = -1};
	int r;

	if (o->source == SOURCE_PROC)
		return message_usage("compare: --source proc leaves nothing to compare /proc with");
	r = session_open(&session, o, NULL);
	if (r == 0 && source_origin(session.source) != FROM_BPF)
		r = message_error("compare: there is nothing to compare /proc with: %s",
				  session.fallback_reason);
	if (r == 0 && !session.proc.trusted)
		r = message_error(
			"compare: there is no /proc of this pid namespace to compare with "
			"(mount -t proc proc /proc)");
	if (r == 0)
		r = output_open(&out, o);
	if (r == 0)
		r = session_begin(&session);
	return r ? r : compare(&session, &out);
}
