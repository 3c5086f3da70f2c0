// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Snapshot after snapshot, each compared with an earlier one; and zmem-bpf watch, which renders
 * each of them.
 */
#include "cli/watch.h"

#include <errno.h>
#include <sys/random.h>

#include "cli/commands.h"
#include "cli/log.h"
#include "cli/output.h"
#include "cli/query_args.h"
#include "cli/ticker.h"
#include "base/cleanup.h"
#include "render/grid.h"
#include "render/render.h"

/* After this many failed ticks in a row, watch and top end. */
#define FAILURES_MAX 10

int watch_open(struct watch *w, const struct options *o, bool interactive)
{
	struct collect_spec spec = measure_spec(o);
	uint64_t seed = 0;
	int r;

	*w = WATCH_CLOSED;
	/* A seed makes hashes hard to predict; without one, hashing still works. */
	if (getrandom(&seed, sizeof(seed), GRND_NONBLOCK) < 0)
		seed = 0;
	delta_set_init(&w->deltas, seed, interactive);
	w->from_start = o->grow || o->delta == DELTA_START;
	spec.lazy_names = interactive;
	r = measure_open(&w->measure, o, &spec);
	if (r)
		return r;
	w->measure.query.deltas = &w->deltas;
	if (o->replay) {
		uint32_t first;

		r = measure_range(&w->measure, &first, &w->last_frame);
		if (r)
			return r;
		w->frame = (o->at ? w->measure.replay.frame : first) - 1;
	}
	background_begin(&w->background, o);
	return 0;
}

bool watch_ended(const struct watch *w)
{
	return w->measure.options->replay && w->frame >= w->last_frame;
}

void watch_begin_delta(struct watch *w, uint64_t missed)
{
	delta_set_begin(&w->deltas, &w->measure.query, w->from_start);
	w->deltas.delta.missed = missed;
	/* Replaying is not measuring. */
	if (!w->measure.options->replay)
		w->deltas.delta.cost = w->background.cost;
}

/* Turns to the next frame that can be read: there is one up to the last frame. */
static int turn_to_next(struct watch *w)
{
	struct measure *m = &w->measure;
	uint32_t frame = measure_readable(m, w->frame + 1, 1);

	w->frame = frame ? frame : w->last_frame;
	return measure_turn_to(m, w->frame);
}

int watch_collect(struct watch *w, uint64_t missed, size_t fit, struct result *ret)
{
	int r = 0;

	watch_begin_delta(w, missed);
	w->deltas.delta.tick++;
	w->measure.query.fit = fit;
	if (w->measure.options->replay)
		r = turn_to_next(w);
	return r ? r : measure_collect(&w->measure, ret);
}

int watch_keep(struct watch *w, const struct result *result)
{
	struct collector *c = &w->measure.collector;
	int r = delta_set_update(&w->deltas, &w->measure.query, &c->snapshot, &c->rows,
				 &result->totals);

	background_tick(&w->background);
	return r < 0 ? log_errno(r, "keeping rows for the next snapshot") : 0;
}

void watch_succeeded(struct watch *w)
{
	w->began = true;
	w->failures = 0;
}

int watch_failed(struct watch *w, int r)
{
	w->failures++;
	return w->began && w->failures < FAILURES_MAX && !w->measure.options->replay ? 0 : r;
}

void watch_close(struct watch *w)
{
	measure_close(&w->measure);
	delta_set_done(&w->deltas);
	background_done(&w->background);
}

/* ---- zmem-bpf watch ---- */

/* Lines of a terminal that are not rows: header, others, total, summary, a note, a prompt. */
#define LINES_AROUND   8
#define FOLDED_COLUMNS 280 /* columns of the tick, which is not cut, and of the folded summary */

struct watching {
	struct watch watch;
	struct ticker ticker;
	struct append out;
	struct strbuf line; /* of NDJSON */
	bool all_ended;	    /* no process is left of those that were asked for */
};

static void watching_done(struct watching *w)
{
	append_close(&w->out);
	strbuf_done(&w->line);
	watch_close(&w->watch);
	ticker_close(&w->ticker);
}

static size_t rows_that_fit(const struct watching *w)
{
	const struct options *o = w->watch.measure.options;

	if (o->all || o->format != FORMAT_TABLE)
		return 0;
	return output_rows(w->out.width, w->out.height, LINES_AROUND, FOLDED_COLUMNS);
}

static void put_no_growth(struct watching *w)
{
	struct line line = {.out = &w->out.buf};

	line_printf(&line, "nothing grew by ");
	cell_put(&line, cell_bytes(true, w->watch.measure.query.grown_min), false);
	line_printf(&line, " or more since the start");
	line_end(&line);
}

static void render(struct watching *w, const struct result *result)
{
	const struct options *o = w->watch.measure.options;
	struct table_style style = measure_style(&w->watch.measure, w->out.color, w->out.width);

	if (o->format == FORMAT_NDJSON) {
		render_ndjson_with(&w->out.buf, &w->line, result);
		return;
	}
	if (o->format == FORMAT_CSV) {
		style.timed = true;
		style.header = !o->no_header && w->watch.deltas.delta.tick == 1;
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
	const struct measure *m = &w->watch.measure;
	const struct filter *f = &m->query.filter;

	for (size_t i = 0; i < f->pid_count; i++) {
		if (is_there(&m->collector.snapshot, f->pids[i]))
			return false;
	}
	return f->pid_count && !m->options->replay;
}

static int tick(struct watching *w)
{
	struct result result;
	int r;

	append_begin(&w->out);
	r = watch_collect(&w->watch, w->ticker.missed, rows_that_fit(w), &result);
	if (r)
		return watch_failed(&w->watch, r);
	w->all_ended = all_ended(w);
	/* There is nothing to wait for: the messages say that no pid exists. */
	if (w->all_ended && w->watch.deltas.delta.tick == 1 && w->watch.measure.exit_code)
		return w->watch.measure.exit_code;
	render(w, &result);
	r = append_flush(&w->out);
	/* Without memory, the next tick writes the rest of this one. */
	if (r && strbuf_error(&w->out.buf) == -ENOMEM)
		r = watch_failed(&w->watch, r);
	if (r == 0)
		r = watch_keep(&w->watch, &result);
	else
		return r;
	if (r)
		return watch_failed(&w->watch, r);
	watch_succeeded(&w->watch);
	return 0;
}

static bool is_over(const struct watching *w)
{
	const struct options *o = w->watch.measure.options;

	return w->out.ended || w->all_ended ||
	       (o->count && w->watch.deltas.delta.tick >= (uint64_t)o->count) ||
	       watch_ended(&w->watch);
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
		if (event == TICKER_TICK || (event == TICKER_END && !w->watch.deltas.delta.tick))
			r = tick(w);
		if (event == TICKER_END)
			break;
	}
	if (r == 0 && w->all_ended && w->watch.deltas.delta.tick)
		log_notice(w->watch.measure.options->quiet,
			   "watch: no process of --pid is left after snapshot %llu",
			   (unsigned long long)w->watch.deltas.delta.tick);
	return r ? r : w->watch.measure.exit_code;
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

int command_watch(const struct options *o)
{
	cleanup(watching_done) struct watching w = {
		.ticker = {.timer_fd = -1, .signal_fd = -1},
		.watch = WATCH_CLOSED,
		.out.fd = -1,
	};
	int r = check_request(o);

	if (r)
		return r;
	/* Before any thread is started, so that no thread takes the signals. */
	r = ticker_open(&w.ticker, interval_us(o), -1);
	if (r < 0)
		return log_errno(r, "starting");
	r = watch_open(&w.watch, o, false);
	if (r == 0)
		r = append_open(&w.out, o, &w.ticker);
	if (r)
		return r;
	if (o->grow && o->replay && w.watch.measure.replay.frames == 1)
		log_notice(o->quiet, "%s: growth takes two snapshots, and it has one", o->replay);
	w.watch.measure.query.needs |= query_args_format_needs(o, w.watch.measure.query.group);
	/* Ticks that came due while all was opened do not count as missed. */
	ticker_now(&w.ticker);
	return run(&w);
}
