// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* zmem-bpf doctor --compare: what BPF and /proc show of the same processes. */
#include "base/cleanup.h"
#include "check/compare_run.h"
#include "collect/balance.h"
#include "command/table.h"
#include "report/report.h"
#include "session/log.h"
#include "session/output.h"
#include "session/session.h"

static void render(const struct options *o, const struct compare_report *report, struct output *out)
{
	const struct table_style style = output_style(o, out->color, out->width);

	if (o->format == FORMAT_JSON)
		render_compare_json(&out->buf, report);
	else
		render_compare_table(&out->buf, report, &style);
}

static int compare(struct session *s, struct output *out)
{
	cleanup(compare_run_done) struct compare_run run = {};
	struct collector *c = &s->collector;
	struct compare_report report = {.snapshot = &c->snapshot, .all = s->options->all};
	int r = compare_run(&c->check, &s->query.filter, &run);

	if (r < 0)
		return log_errno(r, "comparing");
	balance_reconcile(&c->snapshot);
	report.comparison = &run.comparison;
	report.cost = run.cost;
	compare_sum(&run.comparison, &report.sums);
	render(s->options, &report, out);
	r = output_finish(out);
	if (r)
		return r;
	return report.sums.verdict[COMPARE_DIFFERENT] ? EXIT_DIFFERENT : s->exit_code;
}

/* Whether both BPF and /proc can be read. */
static int check_sides(const struct session *s)
{
	const struct collector *c = &s->collector;
	const char *name = s->options->command->name;
	const struct diag_note *note = source_reason(&c->diag);

	if (source_origin(c->source) != FROM_BPF)
		return log_error("%s: there is nothing to compare /proc with: %s (%s)", name,
				 c->fallback_reason,
				 note && note->hint ? note->hint : "see zmem-bpf doctor");
	if (!c->proc.trusted)
		return log_error("%s: there is no /proc of this pid namespace to compare "
				 "with (mount -t proc proc /proc)",
				 name);
	return 0;
}

int command_compare(const struct options *o)
{
	cleanup(session_close) struct session session = SESSION_CLOSED;
	cleanup(output_close) struct output out = {.file.fd = -1};
	struct collect_spec spec = session_spec(o);
	int r;

	if (o->source == SOURCE_PROC)
		return log_usage(o, "%s: --source proc leaves nothing to compare /proc with",
				 o->command->name);
	if (o->verify == VERIFY_DEFAULT)
		spec.verify = VERIFY_ALL;
	r = session_open(&session, o, &spec);
	if (r == 0)
		r = check_sides(&session);
	if (r == 0)
		r = output_open(&out, o);
	if (r == 0)
		r = session_begin(&session);
	if (r == 0 && !o->compare)
		log_notice(o->quiet, "compare is doctor --compare now");
	return r ? r : compare(&session, &out);
}
