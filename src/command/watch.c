// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Snapshot after snapshot, each compared with an earlier one; and zmem-bpf watch, which renders
 * each of them.
 */
#include "session/session.h"

#include <errno.h>

#include "base/cleanup.h"
#include "command/table.h"
#include "report/report.h"
#include "session/log.h"
#include "session/output.h"
#include "session/query_args.h"
#include "session/ticker.h"
#include "write/grid.h"

/* ---- zmem-bpf watch ---- */

/* Lines of a terminal that are not rows: header, others, total, summary, a note, a prompt. */
#define LINES_AROUND   8
#define FOLDED_COLUMNS 280 /* columns of the tick, which is not cut, and of the folded summary */

struct watching {
	struct session session;
	struct ticker ticker;
	struct append out;
	struct strbuf line; /* of NDJSON */
	bool all_ended;	    /* no process is left of those that were asked for */
	bool once;	    /* the last snapshot alone is shown */
	pid_t leads;	    /* the process to look at next; 0: there is none */
};

static void watching_done(struct watching *w)
{
	append_close(&w->out);
	strbuf_done(&w->line);
	session_close(&w->session);
	ticker_close(&w->ticker);
}

static size_t rows_that_fit(const struct watching *w)
{
	const struct options *o = w->session.options;

	if (o->all || o->format != FORMAT_TABLE)
		return 0;
	return output_rows(w->out.width, w->out.height, LINES_AROUND, FOLDED_COLUMNS);
}

static void put_no_growth(struct watching *w)
{
	struct line line = {.out = &w->out.buf};

	line_printf(&line, "nothing grew by ");
	cell_put(&line, cell_bytes(true, w->session.query.grown_min), false);
	line_printf(&line, " or more since the start");
	line_end(&line);
}

static void render(struct watching *w, const struct result *result)
{
	const struct options *o = w->session.options;
	struct table_style style = session_style(&w->session, w->out.color, w->out.width);

	if (o->format == FORMAT_NDJSON) {
		render_ndjson_with(&w->out.buf, &w->line, result);
		return;
	}
	if (o->format == FORMAT_CSV || o->format == FORMAT_TSV) {
		style.timed = true;
		style.header = !o->no_header && w->session.deltas.delta.tick == 1;
		render_csv(&w->out.buf, result, &style);
		return;
	}
	if (!o->no_header)
		render_tick(&w->out.buf, result, &style);
	render_table(&w->out.buf, result, &style);
	if (o->no_header)
		return;
	if (o->grow && snapshot_is_cut(result->snapshot))
		strbuf_puts(&w->out.buf, "no growth is shown: not all processes were read\n");
	else if (o->grow && !result->delta->known)
		strbuf_puts(&w->out.buf, "growth is shown from the second snapshot on\n");
	else if (o->grow && !result->row_count)
		put_no_growth(w);
	strbuf_putc(&w->out.buf, '\n');
}

/* Processes that end are zombies until their parent has seen it. */
static bool is_there(const struct snapshot *s, pid_t pid)
{
	const struct process *p = snapshot_find(s, pid);

	return p && p->kind != PROCESS_ZOMBIE;
}

/* True if no process that was asked for by its pid is left. A recording may have it later. */
static bool all_ended(const struct watching *w)
{
	const struct session *s = &w->session;
	const struct filter *f = &s->query.filter;

	for (size_t i = 0; i < f->pid_count; i++) {
		if (is_there(&s->collector.snapshot, f->pids[i]))
			return false;
	}
	return f->pid_count && !s->options->replay;
}

/*
 * The row that grows most, of those with a growth that stands out. Processes that began meanwhile
 * do not count, because each one grows at its start; nor does this program in another window.
 */
static pid_t leads_to(const struct result *result)
{
	int64_t growth, most = 0;
	pid_t leads = 0;

	for (size_t i = 0; i < result->row_count; i++) {
		const struct row *r = &result->rows[i];

		if (strcmp(r->process->comm, "zmem-bpf") == 0 ||
		    r->ticks + 1 < result->delta->tick || !row_growth(r, &growth) || growth <= most)
			continue;
		most = growth;
		leads = r->process->pid;
	}
	return leads;
}

static bool is_over(const struct watching *w)
{
	const struct options *o = w->session.options;

	return w->out.ended || w->all_ended ||
	       (o->count && w->session.deltas.delta.tick >= (uint64_t)o->count) ||
	       session_ended(&w->session);
}

/* Writes what was rendered. Without memory, the next tick writes the rest of this one. */
static int flush(struct watching *w)
{
	int r = append_flush(&w->out);

	if (r && strbuf_error(&w->out.buf) == -ENOMEM)
		r = session_failed(&w->session, r);
	return r;
}

static int tick(struct watching *w)
{
	struct result result;
	int r;

	if (w->once)
		strbuf_clear(&w->out.buf);
	append_begin(&w->out);
	r = session_next(&w->session, w->ticker.missed, rows_that_fit(w), &result);
	if (r)
		return session_failed(&w->session, r);
	w->all_ended = all_ended(w);
	w->leads = leads_to(&result);
	/* There is nothing to wait for: the messages say that no pid exists. */
	if (w->all_ended && w->session.deltas.delta.tick == 1 && w->session.exit_code)
		return w->session.exit_code;
	render(w, &result);
	r = w->once && !is_over(w) ? 0 : flush(w);
	if (r == 0)
		r = session_finish_tick(&w->session, &result);
	else
		return r;
	if (r)
		return session_failed(&w->session, r);
	session_succeeded(&w->session);
	return 0;
}

static int run(struct watching *w)
{
	enum ticker_event event = TICKER_TICK;
	int r = 0;

	while (r == 0 && !is_over(w)) {
		r = ticker_wait(&w->ticker, &event);
		if (r < 0)
			return log_errno(r, "waiting");
		if (event == TICKER_RESIZE)
			append_resize(&w->out);
		/* A signal before the first tick: one snapshot is shown. */
		if (event == TICKER_TICK || (event == TICKER_END && !w->session.deltas.delta.tick))
			r = tick(w);
		if (event == TICKER_END && r == 0 && w->once && !is_over(w))
			r = flush(w);
		if (event == TICKER_END)
			break;
	}
	if (r == 0 && w->all_ended && w->session.deltas.delta.tick)
		log_notice(w->session.options->quiet,
			   "watch: no process of --pid is left after snapshot %llu",
			   (unsigned long long)w->session.deltas.delta.tick);
	return r ? r : w->session.exit_code;
}

static int check_request(const struct options *o)
{
	if (o->grow && o->pss == PSS_NONE)
		return log_usage(o, "--grow cannot be combined with --pss none");
	if (o->grow && o->delta == DELTA_LAST)
		return log_usage(o,
				 "--grow cannot be combined with --delta last: it shows the growth "
				 "since the start");
	if (o->total && (o->changed || o->grow))
		return log_usage(o, "--total cannot be combined with --%s",
				 o->changed ? "changed" : "grow");
	return 0;
}

/* A recording has its own times: without --interval it is shown as fast as possible. */
static uint64_t interval_us(const struct options *o)
{
	if (o->interval_ms)
		return (uint64_t)o->interval_ms * 1000;
	return o->replay ? 0 : INTERVAL_USUAL * 1000;
}

/* The command that shows its code. */
static int write_next(struct watching *w)
{
	append_begin(&w->out);
	strbuf_printf(&w->out.buf, "next: zmem-bpf grow %d\n", w->leads);
	return append_flush(&w->out);
}

/* `once`: one table at the end, and the command that comes next. */
static int watch(const struct options *o, bool once)
{
	cleanup(watching_done) struct watching w = {
		.ticker = {.timer_fd = -1, .signal_fd = -1},
		.session = SESSION_CLOSED,
		.out.fd = -1,
		.once = once,
	};
	int r;

	/* Before any thread is started, so that no thread takes the signals. */
	r = ticker_open(&w.ticker, interval_us(o), -1);
	if (r < 0)
		return log_errno(r, "starting");
	r = session_open_series(&w.session, o, false);
	if (r == 0)
		r = append_open(&w.out, o, &w.ticker);
	if (r)
		return r;
	if (o->grow && o->replay && w.session.replay.frames == 1)
		log_notice(o->quiet, "%s: growth takes two snapshots, and it has one", o->replay);
	/* Ticks that came due while all was opened do not count as missed. */
	ticker_now(&w.ticker);
	r = run(&w);
	return r == 0 && once && w.leads && !o->no_header && !w.out.ended ? write_next(&w) : r;
}

int command_watch(const struct options *o)
{
	int r = check_request(o);

	return r ? r : watch(o, false);
}

/* Growth takes as many snapshots: ten seconds, and no fewer than four. */
static long what_grows_count(const struct options *o)
{
	uint64_t interval_ms = interval_us(o) / 1000;
	uint64_t count = interval_ms ? ROW_GROWTH_MS / interval_ms + 2 : LONG_MAX;

	return count < 4 ? 4 : (long)count;
}

int watch_what_grows(const struct options *o)
{
	struct options watched = *o;

	watched.command = command_find(o->commands, "watch");
	watched.grow = watched.continuous = true;
	watched.count = o->count ? o->count : what_grows_count(o);
	log_notice(o->quiet || o->replay, "grow: looks at all processes for %.10g s",
		   (double)(watched.count - 1) * (double)interval_us(o) / 1e6);
	return watch(&watched, true);
}
