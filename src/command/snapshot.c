// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* zmem-bpf [snapshot]: one snapshot, in any format. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/count.h"
#include "command/table.h"
#include "report/findings.h"
#include "report/head.h"
#include "report/report.h"
#include "report/summary.h"
#include "session/log.h"
#include "session/output.h"
#include "session/query_args.h"
#include "session/session.h"
#include "source/holders_source.h"
#include "source/swap_source.h"

#define HEAD_MOST  13 /* lines of RAM in the head: sums, a bar, headings, parts */
#define HEAD_LEAST 6
#define ROWS_LEAST 8
/* Lines of a terminal that are not rows: header, others, total, summary, a note, a prompt. */
#define LINES_AROUND 8
/* Further ones with a head: swap, a finding, what to type next. */
#define HEAD_AROUND    3
#define FOLDED_COLUMNS 120 /* columns of the summary that may need a line more */

/* Default of --top for metrics: a database keeps every series of every group that it has seen. */
#define METRICS_GROUPS 100

/* The head is of the whole machine: not where processes are chosen. */
static bool has_head(const struct options *o, const struct output *out)
{
	return out->terminal && o->format == FORMAT_TABLE && !o->quiet && !o->no_header &&
	       !o->total && !o->pids && !o->users && !o->filter && !o->cgroup && !o->units;
}

static bool has_findings(const struct options *o, const struct output *out)
{
	return has_head(o, out) || o->format == FORMAT_HTML || o->format == FORMAT_JSON ||
	       options_metrics(o);
}

/* Lines that the rows leave to the head. On a low terminal they come first. */
static unsigned lines_of_head(const struct output *out)
{
	unsigned others = LINES_AROUND + HEAD_AROUND + ROWS_LEAST;

	if (!out->height || out->height >= others + HEAD_MOST)
		return HEAD_MOST + HEAD_AROUND;
	/* A note has no room. */
	return (out->height > others + HEAD_LEAST ? out->height - others : HEAD_LEAST) +
	       HEAD_AROUND - 1;
}

/* Lines of the terminal that the note about a fallback takes. */
static unsigned lines_of_note(const struct session *s, const struct output *out)
{
	return out->width ? (unsigned)(s->fallback_columns + out->width - 1) / out->width : 0;
}

static size_t rows_that_fit(const struct session *s, const struct output *out)
{
	const struct options *o = s->options;
	unsigned lines =
		LINES_AROUND + lines_of_note(s, out) + (has_head(o, out) ? lines_of_head(out) : 0);

	if (o->all)
		return 0;
	if (options_metrics(o))
		return METRICS_GROUPS;
	if (o->format != FORMAT_TABLE)
		return 0;
	return output_rows(out->width, out->height, lines, FOLDED_COLUMNS);
}

static void (*const renderer[])(struct strbuf *out, const struct result *r,
				const struct table_style *style) = {
	[FORMAT_TABLE] = render_table,
	[FORMAT_CSV] = render_csv,
	[FORMAT_TSV] = render_csv,
	[FORMAT_FOLDED] = render_folded,
	[FORMAT_OPENMETRICS] = render_openmetrics,
	[FORMAT_PROMETHEUS] = render_prometheus,
	[FORMAT_HTML] = render_html,
};

static size_t count_lines(const struct strbuf *text)
{
	size_t lines = 0;

	for (size_t i = 0; i < text->len; i++)
		lines += text->data[i] == '\n';
	return lines;
}

/* RAM gets the lines that the table leaves, but for those of swap, findings and a prompt. */
static void render_with_head(const struct session *s, const struct result *result,
			     const struct table_style *style, struct output *out)
{
	const enum finding_level least = result->hints ? FINDING_HINT : FINDING_WARNING;
	cleanup(strbuf_done) struct strbuf table = {}, next = {}, wrong = {};
	cleanup_free struct findings *findings = malloc(sizeof(*findings));
	size_t others, lines = HEAD_MOST;
	struct head head;

	if (!findings) {
		out->buf.error = -ENOMEM;
		return;
	}
	findings_find(result->snapshot, result, findings);
	head_begin(&head, result->snapshot, result->snapshot->system.ram, style);
	render_table(&table, result, style);
	findings_print(&wrong, findings, least, FINDINGS_FIRST, style);
	if (!s->options->replay)
		findings_print_next(&next, findings, least, s->options->self, style->width);
	others = count_lines(&table) + count_lines(&next) + count_lines(&wrong) +
		 lines_of_note(s, out) + 2;
	if (out->height && out->height < others + HEAD_MOST)
		lines = out->height > others + HEAD_LEAST ? out->height - others : HEAD_LEAST;
	strbuf_put(&out->buf, wrong.data, wrong.len);
	head_print(&out->buf, &head, lines);
	strbuf_put(&out->buf, table.data, table.len);
	strbuf_put(&out->buf, next.data, next.len);
	strbuf_take_error(&out->buf, &table);
	strbuf_take_error(&out->buf, &wrong);
	strbuf_take_error(&out->buf, &next);
}

static void render(const struct session *s, const struct result *result, struct output *out)
{
	const struct options *o = s->options;
	struct table_style style = session_style(s, out->color, out->width);

	style.group = query_args_page_group(o);
	style.recorded = o->replay;
	style.head = has_head(o, out);
	if (style.head)
		render_with_head(s, result, &style, out);
	else if (o->format == FORMAT_JSON)
		render_json(&out->buf, result);
	else if (o->format == FORMAT_NDJSON)
		render_ndjson(&out->buf, result);
	else
		renderer[o->format](&out->buf, result, &style);
}

/* The folded format cannot show that a value is missing: says what has no line, and why. */
static void warn_unfolded(const struct session *s)
{
	const struct process_list *processes = &s->collector.rows.matched;
	size_t count[2][PSS_STATUS_COUNT] = {};

	for (size_t i = 0; i < processes->count; i++) {
		const struct process *p = processes->item[i];

		if (!totals_counts(p))
			continue;
		count[0][p->pss_status] += !process_has(p, COUNTER_PSS_ANON);
		count[1][process_status(p, VALUE_SWAP_PSS)] += !process_has(p, COUNTER_SWAP_PSS);
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

/* Without a header the total has no words that say which processes it lacks. */
static void warn_partial(const struct session *s, const struct result *r)
{
	const struct options *o = s->options;

	if (o->format == FORMAT_TABLE && o->total && o->no_header && r->totals.pss_missing &&
	    s->collector.spec.pss != PSS_NONE)
		log_notice(o->quiet, "the total lacks the PSS of %zu %s", r->totals.pss_missing,
			   count_word(r->totals.pss_missing, "process", "processes"));
}

static void print_phase(const char *name, uint64_t us)
{
	fprintf(stderr, "%-8s %8.3f ms\n", name, (double)us / 1000);
}

static void print_timing(const struct collector *c, const struct result *r, uint64_t render_us)
{
	static const char *const name[COLLECT_PHASES] = {
		[COLLECT_PHASE_LOAD] = "load",	   [COLLECT_PHASE_READ] = "collect",
		[COLLECT_PHASE_FILTER] = "filter", [COLLECT_PHASE_PSS] = "pss",
		[COLLECT_PHASE_VERIFY] = "check",  [COLLECT_PHASE_NAMES] = "names"};
	const struct machine_balance *balance = &r->snapshot->balance;
	uint64_t sum = render_us;

	for (int i = 0; i < COLLECT_PHASES; i++) {
		print_phase(name[i], c->phase_us[i]);
		sum += c->phase_us[i];
	}
	print_phase("render", render_us);
	print_phase("all", sum);
	fprintf(stderr, "smaps_rollup reads: %zu\n", c->pool ? pool_rollups(c->pool) : 0);
	fprintf(stderr, "cmdline reads: %zu%s\n", c->pool ? pool_cmdlines(c->pool) : 0,
		c->arguments ? ", others from page tables" : "");
	if (c->snapshot.walk_entries)
		fprintf(stderr, "BPF run: at most %u table entries\n", c->snapshot.walk_entries);
	if (c->swap)
		fprintf(stderr, "BPF run: at most %llu table entries for swap\n",
			(unsigned long long)swap_source_work(c->swap));
	if (c->holders)
		fprintf(stderr, "BPF run: at most %u nodes\n", holders_source_steps(c->holders));
	if (balance->residual_known)
		fprintf(stderr,
			"balance: AnonPages - PSS_ANON %lld kB, Mapped - PSS_FILE - PSS_SHMEM %lld kB\n",
			(long long)balance->anon_residual / 1024,
			(long long)balance->mapped_residual / 1024);
}

static int run(struct session *s, struct output *out)
{
	const struct options *o = s->options;
	struct result result;
	uint64_t start;
	int r;

	s->query.fit = rows_that_fit(s, out);
	r = session_collect(s, &result);
	if (r == 0 && has_findings(o, out))
		r = session_look_closer(s);
	if (r)
		return r;
	start = clock_us(CLOCK_MONOTONIC);
	result.hints = o->verbose;
	render(s, &result, out);
	r = output_finish(out);
	start = clock_us(CLOCK_MONOTONIC) - start;
	if (o->format == FORMAT_FOLDED)
		warn_unfolded(s);
	warn_partial(s, &result);
	if (o->timing)
		print_timing(&s->collector, &result, start);
	return r ? r : s->exit_code;
}

/* Nodes have RAM, and processes are on several: --group-by node is of the machine. */
static int show_nodes(const struct options *o)
{
	struct options system = *o;

	if (o->columns || o->sort || o->top || o->min != MIN_DEFAULT || o->tree || o->total ||
	    o->pids || o->users || o->filter || o->cgroup || o->units || o->replay ||
	    (o->format != FORMAT_TABLE && o->format != FORMAT_JSON))
		return log_usage(o, "--group-by node: it is of the machine (zmem-bpf system --by "
				    "node); -o +nodes shows the nodes of processes");
	system.command = command_find(o->commands, "system");
	system.by = BY_NODE;
	system.group = 0;
	return system.command->run(&system);
}

int command_snapshot(const struct options *o)
{
	cleanup(session_close) struct session session = SESSION_CLOSED;
	cleanup(output_close) struct output out = {.file.fd = -1};
	struct collect_spec spec = session_spec(o);
	struct recent_kills kills = {};
	const char *group = options_group_key(o);
	int r;

	if (group && strcmp(group, "node") == 0)
		return show_nodes(o);
	/* What deleted cgroups hold is only in the page frames. */
	if (o->command->traits & COMMAND_MEMCGS)
		spec.ram = RAM_DETAILS;
	spec.figures_only = o->format == FORMAT_TABLE && !isatty(STDOUT_FILENO);
	/* The first lines of a terminal and of a page name them. */
	spec.largest_named =
		o->format == FORMAT_HTML || (o->format == FORMAT_TABLE && !spec.figures_only);
	/* Later, no file can be opened. */
	if (!o->replay)
		replay_recent_kills(&kills, NULL);
	/* A bad option or file is reported before anything is measured. */
	r = session_open(&session, o, &spec);
	session.collector.kills.before = kills;
	if (r == 0)
		session_note_frame(&session);
	if (r == 0)
		r = output_open(&out, o);
	if (r == 0)
		r = run(&session, &out);
	return r;
}
