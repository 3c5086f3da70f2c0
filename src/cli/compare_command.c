// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* zmem-bpf compare: shows a comparison; what is read for it and when is in compare_run.c. */
#include "cli/balance.h"
#include "cli/commands.h"
#include "cli/compare_run.h"
#include "cli/log.h"
#include "cli/output.h"
#include "cli/session.h"
#include "base/cleanup.h"
#include "render/render.h"

static void render(const struct session *s, const struct compare_report *report, struct output *out)
{
	const struct options *o = s->options;
	const struct table_style style = output_style(o, out->color, out->width);

	if (o->format == FORMAT_JSON)
		render_compare_json(&out->buf, report);
	else
		render_compare_table(&out->buf, report, &style);
}

static int compare(struct session *s, struct output *out)
{
	cleanup(compare_run_done) struct compare_run run = {};
	struct result balance = {.snapshot = &s->snapshot};
	struct compare_report report = {.balance = &balance, .all = s->options->all};
	struct compare_sums sums;
	int r = compare_run(s, &run);

	if (r)
		return r;
	balance_reconcile(&s->snapshot);
	report.comparison = &run.comparison;
	report.cost = run.cost;
	render(s, &report, out);
	r = output_finish(out);
	if (r)
		return r;
	compare_sum(&run.comparison, &sums);
	return sums.verdict[COMPARE_DIFFERENT] ? EXIT_DIFFERENT : s->exit_code;
}

int command_compare(const struct options *o)
{
	cleanup(session_close) struct session session = {.proc.fd = -1};
	cleanup(output_close) struct output out = {.file.fd = -1};
	int r;

	if (o->source == SOURCE_PROC)
		return log_usage("compare: --source proc leaves nothing to compare /proc with");
	r = session_open(&session, o);
	if (r == 0)
		r = compare_possible(&session);
	if (r == 0)
		r = output_open(&out, o);
	if (r == 0)
		r = session_begin(&session);
	return r ? r : compare(&session, &out);
}
