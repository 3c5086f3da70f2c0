// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * zmem-bpf grow: which code makes the resident memory of processes grow. It attaches to processes
 * that run, or starts a command, and reports when -c, a signal or their end comes.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/parse.h"
#include "collect/unseen.h"
#include "command/table.h"
#include "command/targets.h"
#include "enrich/enrich.h"
#include "fields/growth_fields.h"
#include "grow/grow.h"
#include "report/growth.h"
#include "session/launch.h"
#include "session/log.h"
#include "session/output.h"
#include "session/progress.h"
#include "session/secure.h"
#include "session/session.h"
#include "session/ticker.h"
#include "write/format.h"

#define SHORT_US 1000000 /* a shorter run has nothing to show */
/* The ring is read so often while messages come, and while none come. */
#define BUSY_US 4000
#define IDLE_US 20000
#define SHOW_US 200000 /* between lines that say what was counted so far */
/* Lines of a terminal that are not rows: header, the others, the total, the next prompt. */
#define LINES_AROUND	  5
#define NOTE_COLUMNS	  320 /* of the text below the total, which is folded */
#define SAMPLE_MOST	  1000000000
#define SAMPLE_BYTES_MOST ((uint64_t)64 << 30)
#define SAMPLE_BYTES	  (16 * 1024) /* of malloc, at low rates */

struct grow_command {
	const struct options *o;
	struct procfs proc;
	struct grow *grow;
	struct ticker ticker;
	struct field_list columns;
	const struct field *folded; /* the column of folded stacks */
	struct growth_view view;
	struct output out;
	struct progress progress;
	struct snapshot snapshot; /* the machine */
};

static void grow_command_done(struct grow_command *c)
{
	grow_close(c->grow);
	ticker_close(&c->ticker);
	output_close(&c->out);
	procfs_close(&c->proc);
	snapshot_done(&c->snapshot);
}

/* "+line" can be had in each format. */
static bool only_adds_lines(const struct options *o)
{
	return !o->columns || strcasecmp(o->columns, "+line") == 0;
}

/* Folded stacks have one number, and perhaps lines. */
static int read_folded(struct grow_command *c)
{
	const struct options *o = c->o;
	const struct field *line = fields_find(&growth_columns, "line", 4);
	struct field_list known = {};
	struct field_error bad;
	unsigned numbers = 0;

	field_list_parse(&known, &growth_columns,
			 o->malloc ? "held,allocated,growth,added" : "growth,added", &bad);
	c->folded = known.item[0];
	if (only_adds_lines(o))
		return 0;
	for (size_t i = 0; i < c->columns.count; i++) {
		const struct field *f = c->columns.item[i];

		if (f == line)
			continue;
		c->folded = f;
		numbers += field_list_has(&known, f) ? 1 : 2;
	}
	if (numbers == 1)
		return 0;
	return log_usage(o,
			 "%s: --columns %s: it has one of growth and added (with --malloc also "
			 "held and allocated), and line",
			 options_format_word(o->format), o->columns);
}

/* Documents have all that is measured: lines alone are to be asked for. */
static int read_columns(struct grow_command *c)
{
	const struct options *o = c->o;
	struct field_error bad;

	growth_list_usual(&c->columns, o->malloc, o->interval_ms);
	if (o->columns && field_list_parse(&c->columns, &growth_columns, o->columns, &bad) < 0)
		return log_usage(o, "--columns: grow has no column '%.*s'", (int)bad.len, bad.name);
	if (o->format == FORMAT_FOLDED)
		return read_folded(c);
	if (o->format != FORMAT_TABLE && !only_adds_lines(o))
		return log_usage(o,
				 "%s: --columns %s: it has all keys, +line alone can be added to "
				 "grow",
				 options_format_word(o->format), o->columns);
	return 0;
}

/* Columns of numbers: the code of a row is long, and made last. */
static int read_order(struct grow_command *c)
{
	const struct options *o = c->o;
	struct field_list *keys = &c->view.keys;
	struct field_error bad;

	keys->item[keys->count++] = o->malloc ? fields_find(&growth_columns, "held_least", 10)
					      : fields_find(&growth_columns, "still", 5);
	if (o->sort && field_list_parse_keys(keys, &growth_columns, o->sort, &bad) < 0)
		return log_usage(o, "--sort: grow has no column '%.*s'", (int)bad.len, bad.name);
	for (size_t i = 0; i < keys->count; i++) {
		if (keys->item[i]->type == FIELD_TEXT)
			return log_usage(o, "--sort %s: it is no number", keys->item[i]->key);
	}
	/* What is usual depends on what is known. */
	if (!o->sort)
		keys->count = 0;
	c->view.reverse = o->reverse;
	c->view.paths = o->paths;
	c->view.chosen = o->columns && *o->columns != '+';
	return 0;
}

/* A number of pages; with --malloc of bytes. */
static int read_sample(const struct options *o, struct grow_spec *spec)
{
	uint64_t n = 0;

	spec->malloc = o->malloc;
	/* A command is measured whatever it costs. */
	spec->heap = (struct heap_spec){.sample_bytes = SAMPLE_BYTES,
					.adapts = !o->sample,
					.any_price = o->malloc > 1 || o->run};
	if (!o->sample)
		return 0;
	if (o->malloc) {
		if (parse_size(o->sample, strlen(o->sample), &n) < 0 || !n || n > SAMPLE_BYTES_MOST)
			return log_usage(o, "--sample %s: not a size up to 64G, such as 512K, or 1",
					 o->sample);
		spec->heap.sample_bytes = n;
		return 0;
	}
	if (parse_u64(o->sample, strlen(o->sample), SAMPLE_MOST, &n) < 0 || !n)
		return log_usage(o,
				 "--sample %s: not a number from 1 to %u (with --malloc, a size)",
				 o->sample, SAMPLE_MOST);
	spec->sample = (unsigned)n;
	return 0;
}

/* Each file of a process stays open; the soft limit is for programs that use select(). */
static void raise_files(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

/* ---- which processes ---- */

static int add_pid(void *arg, pid_t pid)
{
	struct grow_command *c = arg;

	/* Probes of many processes take their time. */
	return ticker_ends(&c->ticker) ? -EINTR : grow_add(c->grow, pid);
}

/* ---- the report ---- */

static size_t rows_shown(const struct grow_command *c)
{
	const struct output *out = &c->out;
	size_t fit = output_rows(out->width, out->height, LINES_AROUND, NOTE_COLUMNS);

	if (c->o->top)
		return (size_t)c->o->top;
	return fit && !c->o->all ? fit : SIZE_MAX;
}

static int show(struct grow_command *c)
{
	const struct options *o = c->o;
	struct table_style style = output_style(o, c->out.color, c->out.width);
	cleanup(diag_clear) struct diag diag = {};
	struct grow_report report;
	int r;

	style.columns = &c->columns;
	c->view.rows = rows_shown(c);
	snapshot_clear(&c->snapshot);
	machine_read(&c->proc, &c->snapshot.host, &c->snapshot.system);
	c->snapshot.time_ms = (int64_t)(clock_us(CLOCK_REALTIME) / 1000);
	grow_diagnose(c->grow, &diag);
	log_diag(&diag, true);
	r = grow_make_report(c->grow, &report);
	report.growth.snapshot = &c->snapshot;
	if (r < 0)
		r = log_errno(r, "making the report");
	else if (o->format == FORMAT_JSON)
		render_growth_json(&c->out.buf, &report.growth);
	else if (o->format == FORMAT_FOLDED)
		render_growth_folded(&c->out.buf, &report.growth, c->folded);
	else if (o->format == FORMAT_HTML)
		render_growth_html(&c->out.buf, &report.growth);
	else if (o->format == FORMAT_PPROF)
		render_growth_pprof(&c->out.buf, &report.growth);
	else
		render_growth_table(&c->out.buf, &report.growth, &c->view, &style);
	grow_report_done(&report);
	return r;
}

/* ---- counting ---- */

static uint64_t interval_us(const struct options *o)
{
	return (uint64_t)(o->interval_ms ? o->interval_ms : INTERVAL_USUAL) * 1000;
}

/* "3.2 s of 60 s: +9.82 MiB, 12 stacks (Ctrl-C shows them)". */
static void show_progress(struct grow_command *c)
{
	struct grow_so_far now = grow_so_far(c->grow);
	uint64_t of_ms = (uint64_t)c->o->count * interval_us(c->o) / 1000;
	uint64_t bytes = (uint64_t)(now.bytes < 0 ? -now.bytes : now.bytes);
	char text[160], size[FORMAT_MAX], of[48] = "";

	if (of_ms)
		snprintf(of, sizeof(of), " of %" PRIu64 ".%" PRIu64 " s", of_ms / 1000,
			 of_ms / 100 % 10);
	snprintf(text, sizeof(text),
		 "%" PRIu64 ".%" PRIu64 " s%s: %s%.*s, %zu stack%s (Ctrl-C shows them)",
		 now.time_us / 1000000, now.time_us / 100000 % 10, of, now.bytes < 0 ? "-" : "+",
		 (int)format_size(size, bytes), size, now.stacks, now.stacks == 1 ? "" : "s");
	progress_show(&c->progress, text);
}

/* The end of an interval: a table, if one was asked for. */
static int step(struct grow_command *c, bool last)
{
	int r;

	if (last || !c->o->interval_ms || c->o->format != FORMAT_TABLE)
		return 0;
	progress_clear(&c->progress);
	r = show(c);
	strbuf_putc(&c->out.buf, '\n');
	return r ? r : output_flush(&c->out);
}

static int count_until_end(struct grow_command *c)
{
	const struct options *o = c->o;
	uint64_t interval = interval_us(o), next = clock_us(CLOCK_MONOTONIC) + interval;
	uint64_t shown = 0;
	bool busy = true, last = false;
	struct heap_slow slow;
	int steps = 0, r = 0;

	while (r == 0 && !last && !grow_ended(c->grow)) {
		uint64_t now;
		enum ticker_event event;
		int n = ticker_wait(&c->ticker, &event);

		if (n == 0)
			n = grow_pump(c->grow);
		if (n < 0) {
			progress_clear(&c->progress);
			return log_errno(n, "counting");
		}
		if (event == TICKER_END || heap_is_slow(grow_heap(c->grow), &slow))
			break;
		if (busy != (n > 0)) {
			busy = n > 0;
			ticker_set_interval(&c->ticker, busy ? BUSY_US : IDLE_US);
		}
		now = clock_us(CLOCK_MONOTONIC);
		if (c->progress.on && now - shown >= SHOW_US) {
			show_progress(c);
			shown = now;
		}
		if (now < next)
			continue;
		next += interval;
		last = o->count && ++steps >= o->count;
		r = step(c, last);
	}
	progress_clear(&c->progress);
	return r;
}

static int open_command(struct grow_command *c, const struct options *o)
{
	struct grow_spec spec = {
		.mode = o->stack == STACK_FP ? GROWTH_FP : GROWTH_DWARF,
		/* New processes of a cgroup are children of its processes. */
		.follow = o->follow || o->cgroup,
		.debuginfod = o->debuginfod,
	};
	cleanup(diag_clear) struct diag diag = {};
	int r = targets_check(o);

	if (r == 0)
		r = read_columns(c);
	if (r == 0)
		r = read_order(c);
	if (r == 0)
		r = read_sample(o, &spec);
	if (r)
		return r;
	spec.lines = field_list_has(&c->columns, fields_find(&growth_columns, "line", 4));
	raise_files();
	r = procfs_open(&c->proc, "/proc");
	if (r < 0 || !c->proc.trusted)
		return log_error("grow: %s (mount -t proc proc /proc)",
				 r < 0 ? "/proc is not mounted"
				       : "/proc is of another pid namespace");
	r = grow_open(&spec, &c->proc, &diag, &c->grow);
	if (o->verbose)
		log_diag(&diag, true);
	if (r < 0)
		return log_refusal(diag.count ? &diag.note[0] : NULL, r);
	r = ticker_open(&c->ticker, BUSY_US, grow_fd(c->grow));
	if (r < 0)
		return log_errno(r, "waiting");
	grow_set_hurry(c->grow, c->ticker.signal_fd);
	return 0;
}

/* Without a target: what grows. What is of stacks needs a target. */
static int what_grows(const struct options *o)
{
	const char *option = o->follow	     ? "follow"
			     : o->debuginfod ? "debuginfod"
			     : o->stack	     ? "stack"
			     : o->malloc     ? "malloc"
			     : o->sample     ? "sample"
			     : o->paths	     ? "paths"
			     : o->sort	     ? "sort"
			     : o->reverse    ? "reverse"
			     : o->columns    ? "columns"
					     : NULL;

	if (o->format != FORMAT_TABLE)
		return log_usage(o,
				 "grow: --format %s needs a PID, --name, --cgroup or -- COMMAND "
				 "(grow alone shows what grows)",
				 options_format_word(o->format));
	if (option)
		return log_usage(o,
				 "grow: --%s needs a PID, --name, --cgroup or -- COMMAND (grow "
				 "alone shows what grows)",
				 option);
	return watch_what_grows(o);
}

static int check_malloc(const struct grow_command *c)
{
	cleanup(diag_clear) struct diag diag = {};
	int r = heap_error(grow_heap(c->grow));

	if (r == 0)
		return 0;
	grow_diagnose(c->grow, &diag);
	return log_refusal(diag.count ? &diag.note[0] : NULL, r);
}

/* What it has done to the processes is over: the probes are gone. */
static int refuse_price(const struct heap_slow *slow)
{
	return log_error(
		"grow --malloc: the allocator is called %" PRIu64
		" times a second, and a probe costs %.1f us each time: the processes would "
		"run at about %u %% of their speed, and are left alone (grow without --malloc "
		"costs little; --malloc=slow accepts any price)",
		slow->rate, (double)slow->price_ns / 1000, slow->percent);
}

/* The report; where the price was too high, of what was counted in some time. */
static int report(struct grow_command *c)
{
	struct heap_slow slow;
	bool refused = heap_is_slow(grow_heap(c->grow), &slow);
	int r = grow_stop(c->grow);

	if (r < 0)
		return log_errno(r, "counting");
	if (!refused || grow_so_far(c->grow).time_us > SHORT_US)
		r = show(c);
	return refused ? refuse_price(&slow) : r;
}

static int count_growth(const struct options *o)
{
	cleanup(grow_command_done) struct grow_command c = {
		.o = o,
		.proc.fd = -1,
		.ticker = {.timer_fd = -1, .signal_fd = -1},
		.out.file.fd = -1,
	};
	int r = open_command(&c, o);

	if (r == 0)
		r = targets_add(o, &c.proc, "counting for", add_pid, &c);
	if (r == 0)
		r = check_malloc(&c);
	if (r == 0)
		r = secure_loaded(o->output, LATER_OPENS | heap_needs_later(grow_heap(c.grow)));
	if (r == 0)
		r = output_open(&c.out, o);
	if (r == 0 && o->run)
		r = launch_release(o->run);
	/* A command writes to the terminal itself. */
	progress_open(&c.progress, o->quiet || o->run);
	if (r == 0)
		r = count_until_end(&c);
	if (r == 0)
		r = report(&c);
	if (o->run)
		launch_end(o->run, c.grow && grow_ended(c.grow), o->quiet);
	return r ? r : output_finish(&c.out);
}

int command_grow(const struct options *o)
{
	return targets_ways(o) ? count_growth(o) : what_grows(o);
}
