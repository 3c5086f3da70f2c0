// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* zmem-bpf system: the machine's part of a snapshot of all processes. */
#include "base/cleanup.h"
#include "collect/balance.h"
#include "command/table.h"
#include "report/report.h"
#include "session/log.h"
#include "session/output.h"
#include "session/session.h"

static int show(struct session *s, struct output *out, const uint64_t *kills_today)
{
	const struct options *o = s->options;
	const struct table_style style = output_style(o, out->color, out->width);
	struct system_report report;
	struct result result;
	int r;

	/* No row is shown, so only the largest processes have names. */
	s->query.total = true;
	s->query.needs = 0;
	r = session_collect(s, &result);
	if (r == 0)
		r = session_look_closer(s);
	if (r)
		return r;
	r = s->replay.reader ? replay_find_census(&s->replay, s->replay.frame - 1, false,
						  &s->collector.snapshot)
			     : 0;
	if (r < 0)
		return log_errno(r, "reading %s", s->replay.path);
	balance_report(&result, &report);
	report.cgroups = o->by == BY_CGROUP;
	report.nodes = o->by == BY_NODE;
	report.all = o->long_table || o->wide;
	report.verbose = o->verbose;
	report.self = o->self;
	report.kills_today = kills_today;
	if (o->format == FORMAT_JSON)
		render_system_json(&out->buf, &report);
	else
		render_system_table(&out->buf, &report, &style);
	r = output_finish(out);
	return r ? r : s->exit_code;
}

int command_system(const struct options *o)
{
	cleanup(session_close) struct session session = SESSION_CLOSED;
	cleanup(output_close) struct output out = {.file.fd = -1};
	struct collect_spec spec = session_spec(o);
	struct recent_kills kills = {};
	uint64_t today;
	/* Later, no file can be opened. */
	const bool recorded = !o->replay && replay_recent_kills(&kills, &today);
	int r;

	spec.files = FILES_ALL;
	spec.ram = RAM_DETAILS;
	spec.kernel = spec.bpf_maps = true;
	spec.largest_named = true;
	spec.census_method = o->exact ? CENSUS_EXACT : CENSUS_AUTO;
	r = session_open(&session, o, &spec);

	session.collector.kills.before = kills;
	if (r == 0)
		session_note_frame(&session);
	if (r == 0)
		r = output_open(&out, o);
	return r ? r : show(&session, &out, recorded ? &today : NULL);
}
