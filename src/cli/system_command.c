// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* zmem-bpf system: an ordinary snapshot, of which only what it says of the machine is shown. */
#include "cli/balance.h"
#include "cli/commands.h"
#include "cli/log.h"
#include "cli/output.h"
#include "cli/session.h"
#include "base/array.h"
#include "base/cleanup.h"
#include "base/strbuf.h"
#include "render/render.h"

static int show(struct session *s, const struct options *o, struct output *out)
{
	const struct table_style style = output_style(o, out->color, out->width);
	struct system_report report;
	struct result result;
	int r = session_collect(s, 0, &result);

	if (r)
		return r;
	balance_report(&result, &report);
	if (o->format == FORMAT_JSON)
		render_system_json(&out->buf, &report);
	else
		render_system_table(&out->buf, &report, &style);
	r = output_finish(out);
	return r ? r : s->exit_code;
}

int command_system(const struct options *o)
{
	/* No row is shown, so nobody's user or cgroup is looked up. */
	struct options asked = *o;
	cleanup(session_close) struct session session = {.proc.fd = -1};
	cleanup(output_close) struct output out = {.file.fd = -1};
	int r;

	asked.format = FORMAT_TABLE;
	asked.total = true;
	r = session_open(&session, &asked);
	if (r == 0)
		session_note_frame(&session);
	if (r == 0)
		r = output_open(&out, o);
	return r ? r : show(&session, o, &out);
}
