// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* zmem-bpf [snapshot] */
#include <stdio.h>

#include "cli/commands.h"
#include "cli/log.h"
#include "cli/output.h"
#include "cli/query_args.h"
#include "cli/session.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "render/render.h"

/* Lines of a terminal that rows cannot have: header, the others, a note, the total, the next
 * prompt. */
#define LINES_AROUND   5
#define TOTAL_COLUMNS  280 /* the total is not cut, so on a narrow terminal it takes some lines */

#define METRICS_GROUPS 100 /* of which each is some series, in a database that keeps them all */

/* On a narrower terminal some columns leave their place to the name. */
#define WIDE_ENOUGH 110

static size_t rows_that_fit(const struct session *s, const struct output *out)
{
	const struct options *o = s->options;
	unsigned around = LINES_AROUND;

	if (options_metrics(o))
		return METRICS_GROUPS;
	if (!out->terminal || !out->height || o->format != FORMAT_TABLE)
		return 0;
	/* Both say the reason, where there is one. */
	if (s->snapshot.fallback_reason)
		around += 2;
	around += out->width ? TOTAL_COLUMNS / out->width : 0;
	return out->height > around ? out->height - around : 1;
}

static void whole_json(struct strbuf *out, const struct result *r, const struct table_style *style)
{
	(void)style;
	render_json(out, r);
}

static void lines_of_json(struct strbuf *out, const struct result *r,
			  const struct table_style *style)
{
	(void)style;
	render_ndjson(out, r);
}

static void (*const renderer[])(struct strbuf *out, const struct result *r,
				const struct table_style *style) = {
	[FORMAT_TABLE] = render_table,		 [FORMAT_JSON] = whole_json,
	[FORMAT_NDJSON] = lines_of_json,	 [FORMAT_CSV] = render_csv,
	[FORMAT_FOLDED] = render_folded,	 [FORMAT_OPENMETRICS] = render_openmetrics,
	[FORMAT_PROMETHEUS] = render_prometheus, [FORMAT_HTML] = render_html,
};

static void render(const struct session *s, const struct result *result, struct output *out)
{
	const struct options *o = s->options;
	struct table_style style = output_style(o, out->color, out->width);

	style.columns = &s->columns;
	style.group = request_page_group(o);
	renderer[o->format](&out->buf, result, &style);
}

/* What has no line in a flame graph, since the format cannot say it: who lacks PSS or swap_pss. */
static void warn_unfolded(const struct session *s)
{
	size_t count[2][PSS_STATUS_COUNT] = {};

	for (size_t i = 0; i < s->rows.count; i++) {
		const struct process *p = s->rows.item[i];

		if (!totals_counts(p))
			continue;
		count[0][p->pss_status] += !process_has(p, COUNTER_PSS_ANON);
		count[1][process_swap_pss_status(p)] += !process_has(p, COUNTER_SWAP_PSS);
	}
	for (int what = 0; what < 2; what++) {
		for (int status = 0; status < PSS_STATUS_COUNT; status++) {
			if (count[what][status])
				log_notice(s->options->quiet,
					   "folded: no %s of %zu process%s in it: %s",
					   what ? "swap" : "anon, file and shmem",
					   count[what][status],
					   count[what][status] == 1 ? "" : "es",
					   pss_status_name((enum pss_status)status));
		}
	}
}

/* What the words beside the total say, where there are none: that it is not all. */
static void warn_partial(const struct session *s, const struct result *r)
{
	const struct options *o = s->options;

	if (o->format == FORMAT_TABLE && o->total && o->no_header && r->totals.pss_missing &&
	    s->pss != PSS_NONE)
		log_notice(o->quiet, "the total is without PSS of %zu processes",
			   r->totals.pss_missing);
}

static void warn_timing(const struct session *s, const struct result *r)
{
	static const char *const name[PHASE_COUNT] = {
		[PHASE_LOAD] = "load",	  [PHASE_COLLECT] = "collect", [PHASE_FILTER] = "filter",
		[PHASE_PSS] = "pss",	  [PHASE_CHECK] = "check",     [PHASE_NAMES] = "names",
		[PHASE_RENDER] = "render"};
	const struct machine_balance *balance = &r->snapshot->balance;
	uint64_t sum = 0;

	for (int i = 0; i < PHASE_COUNT; i++) {
		fprintf(stderr, "%-8s %8.3f ms\n", name[i], (double)s->phase_us[i] / 1000);
		sum += s->phase_us[i];
	}
	fprintf(stderr, "%-8s %8.3f ms\n", "all", (double)sum / 1000);
	fprintf(stderr, "smaps_rollup reads: %zu\n", s->pool ? pool_rollups(s->pool) : 0);
	if (balance->residual_known)
		fprintf(stderr,
			"books: AnonPages - PSS_ANON %lld kB, Mapped - PSS_FILE - PSS_SHMEM %lld kB\n",
			(long long)balance->anon_residual / 1024,
			(long long)balance->mapped_residual / 1024);
}

static int run(struct session *s, struct output *out)
{
	struct result result;
	uint64_t start;
	int r;

	if (s->options->format == FORMAT_TABLE && out->width && out->width < WIDE_ENOUGH &&
	    !s->options->wide)
		column_list_narrow(&s->columns, s->options->columns);
	r = session_collect(s, rows_that_fit(s, out), &result);
	if (r)
		return r;
	start = clock_us(CLOCK_MONOTONIC);
	render(s, &result, out);
	r = output_finish(out);
	s->phase_us[PHASE_RENDER] = clock_us(CLOCK_MONOTONIC) - start;
	if (s->options->format == FORMAT_FOLDED)
		warn_unfolded(s);
	warn_partial(s, &result);
	if (s->options->timing)
		warn_timing(s, &result);
	return r ? r : s->exit_code;
}

int command_snapshot(const struct options *o)
{
	cleanup(session_close) struct session session = {};
	cleanup(output_close) struct output out = {.file.fd = -1};
	int r;

	/* First what costs nothing: a bad request or target is told before anything is measured. */
	r = session_open(&session, o);
	if (r == 0)
		session_note_frame(&session);
	if (r == 0)
		r = output_open(&out, o);
	if (r == 0)
		r = run(&session, &out);
	return r;
}
