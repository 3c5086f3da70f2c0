// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* zmem-bpf diff: what grew, began and ended between two snapshots, each recorded or taken now. */
#include <string.h>

#include "base/cleanup.h"
#include "command/table.h"
#include "report/diff.h"
#include "session/log.h"
#include "session/output.h"
#include "session/query_args.h"
#include "session/session.h"

/* Lines of a terminal that are not rows: moments, header, others, total, a note, a prompt. */
#define LINES_AROUND   7
#define FOLDED_COLUMNS 80

#define ANON_SWAP      (COUNTER_BIT(COUNTER_RSS_ANON) | COUNTER_BIT(COUNTER_SWAP))

enum side {
	BEFORE,
	AFTER,
	SIDES,
};

struct diff {
	const struct options *options;
	struct options side[SIDES]; /* the options of each measurement */
	struct session session[SIDES];
	struct result result[SIDES];
	const struct field *group;   /* NULL: rows are processes */
	const struct field *counter; /* of --sort; NULL: not given */
	struct group_changes changes;
	struct diff_report report;
	struct ended_sum ended; /* has the texts of report.ended */
	struct output out;
};

static void diff_close(struct diff *d)
{
	group_changes_done(&d->changes);
	ended_sum_done(&d->ended);
	output_close(&d->out);
	for (int i = 0; i < SIDES; i++)
		session_close(&d->session[i]);
}

static bool is_live(const struct diff *d, enum side side)
{
	return !d->side[side].replay;
}

/* Sets where each side comes from: a recording and its moment, or now. */
static void choose_sides(struct diff *d)
{
	const struct options *o = d->options;
	const char *first = o->word ? o->word : REPLAY_DIR_USUAL;

	for (int i = 0; i < SIDES; i++) {
		struct options *side = &d->side[i];

		*side = *o;
		/* The counter is not an order, and both sides are whole. */
		side->sort = NULL;
		side->top = 0;
		side->output = NULL;
		side->at = i == BEFORE ? o->from : o->to;
		side->at_option = i == BEFORE ? "from" : "to";
	}
	d->side[BEFORE].replay = first;
	d->side[AFTER].replay = o->second ? o->second : o->to ? first : NULL;
	/* Each message once. */
	if (!o->second && o->to)
		d->side[AFTER].opened = &d->session[BEFORE].replay;
	if (!o->second && o->from)
		d->side[AFTER].at_after_ms = &d->session[BEFORE].at_ms;
}

static int find_counter(struct diff *d)
{
	const char *sort = d->options->sort;

	if (!sort)
		return 0;
	d->counter = process_field(sort);
	if (d->counter && d->counter->type == FIELD_BYTES &&
	    d->counter->counter < COUNTERS_OF_PROCESS)
		return 0;
	return log_usage(d->options,
			 "--sort %s: diff compares one column of bytes, such as pss_swap or rss",
			 sort);
}

static int open_side(struct diff *d, enum side side)
{
	struct session *s = &d->session[side];
	struct collect_spec spec = session_spec(&d->side[side]);
	int r;

	spec.ram = RAM_SUMS;
	r = session_open(s, &d->side[side], &spec);
	d->side[side].quiet |= d->side[side].opened != NULL;
	if (r)
		return r;
	s->query.needs |= NEEDS_PROGRAM | NEEDS_USER | (d->group ? d->group->needs : 0);
	/* One recording is compared with its beginning; of two, --replay shows the sides. */
	if (side == BEFORE && !d->options->from && !d->options->second)
		r = session_turn_to(s, session_readable(s, 1, 1));
	if (r == 0)
		r = session_collect(s, &d->result[side]);
	if (r == 0 && !is_live(d, side))
		r = replay_find_census(&s->replay, s->replay.frame - 1, false,
				       &s->collector.snapshot);
	return r < 0 ? log_errno(r, "reading %s", s->replay.path) : r;
}

static const struct snapshot *snapshot_of(const struct diff *d, enum side side)
{
	return &d->session[side].collector.snapshot;
}

/* Whether a snapshot has the counter at all: frames of an OOM kill have no PSS. */
static bool has_counter(const struct snapshot *s, enum counter c)
{
	for (size_t i = 0; i < s->count; i++) {
		if (totals_counts(&s->process[i]) && process_has(&s->process[i], c))
			return true;
	}
	return false;
}

static counter_mask choose_counter(struct diff *d)
{
	struct diff_report *r = &d->report;

	if (d->counter) {
		r->key = d->counter->key;
		r->what = d->counter->heading;
		return COUNTER_BIT(d->counter->counter);
	}
	if (has_counter(snapshot_of(d, BEFORE), COUNTER_PSS_SWAP) &&
	    has_counter(snapshot_of(d, AFTER), COUNTER_PSS_SWAP)) {
		r->key = "pss_swap";
		r->what = "PSS and swap";
		return COUNTER_BIT(COUNTER_PSS_SWAP);
	}
	r->key = "anon_swap";
	r->what = "anonymous memory and swap";
	log_notice(d->options->quiet,
		   "diff: one of the snapshots has no PSS; anonymous memory and swap are compared");
	return ANON_SWAP;
}

static int compare(struct diff *d)
{
	struct change_side side[SIDES];
	counter_mask counters = choose_counter(d);
	int r;

	for (int i = 0; i < SIDES; i++) {
		struct collector *c = &d->session[i].collector;

		side[i] = (struct change_side){&c->snapshot, &c->rows.matched};
		r = group_join(d->group, &c->rows.matched, &c->snapshot.arena);
		if (r < 0)
			return log_errno(r, "comparing");
	}
	d->report.before = side[BEFORE].snapshot;
	d->report.after = side[AFTER].snapshot;
	ram_changes_make(d->report.before->system.ram, d->report.after->system.ram, &d->report.ram);
	d->report.group = d->group;
	d->report.changes = &d->changes;
	r = group_changes_make(&side[BEFORE], &side[AFTER], d->group, counters, &d->changes);
	if (r < 0)
		return log_errno(r, "comparing");
	group_changes_by_amount(&d->changes);
	return 0;
}

/* Two moments of one recording have all snapshots between them. Filters are of processes. */
static int read_ended(struct diff *d)
{
	struct replay *replay = &d->session[AFTER].replay;
	char filters[256];
	size_t first;
	int r;

	if (is_live(d, AFTER) || d->options->second ||
	    query_args_selection(d->options, filters, sizeof(filters)) ||
	    !recording_reader_find(replay->reader, d->report.before->time_ms, &first))
		return 0;
	r = replay_sum_ended(replay, first + 1, replay->frame - 1, false, &d->ended);
	ended_sum_end(&d->ended, &d->report.ended);
	return r < 0 ? log_errno(r, "reading %s", replay->path) : 0;
}

/*
 * Tables leave out rows that did not change, unless all are asked for, and those that changed by
 * less than a page, unless no other changed: PSS is a share of pages, and moves by some bytes
 * whenever another process maps them. Such rows come last.
 */
static size_t rows_changed(struct diff *d)
{
	size_t rows = d->changes.count, large;

	while (rows && group_change_of(&d->changes.item[rows - 1]) == 0)
		rows--;
	large = group_changes_large(&d->changes, rows, d->report.after->host.page_size);
	d->report.small = rows - large;
	return large;
}

#define ENDED_ROWS 10

/* Chooses how many rows are shown of processes that ended. Returns the lines that they take. */
static unsigned lines_ended(struct diff *d)
{
	const struct ended_processes *e = &d->report.ended;
	size_t most = d->options->all ? ENDED_MAX : ENDED_ROWS;

	d->report.ended_shown = e->count < most ? e->count : most;
	return e->over_ms ? (unsigned)d->report.ended_shown + 2 : 0;
}

static size_t rows_shown(struct diff *d)
{
	const struct options *o = d->options;
	bool leaves_out = o->format == FORMAT_TABLE && !o->all;
	size_t rows = leaves_out ? rows_changed(d) : d->changes.count;
	unsigned around = LINES_AROUND + (d->report.small > 0) + lines_ended(d);
	size_t fit = o->all ? 0 : output_rows(d->out.width, d->out.height, around, FOLDED_COLUMNS);

	if (o->top && rows > (size_t)o->top)
		rows = (size_t)o->top;
	else if (o->format == FORMAT_TABLE && fit && !o->top && rows > fit)
		rows = fit;
	return rows;
}

static void render(struct diff *d)
{
	const struct options *o = d->options;
	struct table_style style = output_style(o, d->out.color, d->out.width);

	d->report.shown = rows_shown(d);
	switch (o->format) {
	case FORMAT_JSON:
		render_diff_json(&d->out.buf, &d->report);
		break;
	case FORMAT_NDJSON:
		render_diff_ndjson(&d->out.buf, &d->report);
		break;
	case FORMAT_CSV:
	case FORMAT_TSV:
		render_diff_csv(&d->out.buf, &d->report, &style);
		break;
	default:
		render_diff_table(&d->out.buf, &d->report, &style);
	}
}

static int check_moments(const struct diff *d)
{
	const struct options *o = d->options;

	if (d->report.after->time_ms >= d->report.before->time_ms)
		return 0;
	if (o->second)
		return 0; /* The files are in the order that was asked for. */
	return log_usage(o, "--to %s is before --from", o->to);
}

/* Recordings have the apps of record --apps. */
static int check_apps(const struct diff *d)
{
	return d->options->apps && !is_live(d, AFTER)
		       ? log_usage(d->options, "--apps cannot be combined with two recorded "
					       "snapshots: they have the apps of record --apps")
		       : 0;
}

int command_diff(const struct options *o)
{
	cleanup(diff_close) struct diff d = {
		.options = o,
		.session = {SESSION_CLOSED, SESSION_CLOSED},
		.out.file.fd = -1,
	};
	int r = find_counter(&d);

	d.group = options_group(o);
	choose_sides(&d);
	if (r == 0)
		r = check_apps(&d);
	/* What is taken now needs capabilities, which are given up then. */
	if (r == 0 && is_live(&d, AFTER))
		r = open_side(&d, AFTER);
	if (r == 0)
		r = open_side(&d, BEFORE);
	if (r == 0 && !is_live(&d, AFTER))
		r = open_side(&d, AFTER);
	if (r == 0)
		r = compare(&d);
	if (r == 0)
		r = check_moments(&d);
	if (r == 0)
		r = read_ended(&d);
	if (r == 0)
		r = output_open(&d.out, o);
	if (r)
		return r;
	render(&d);
	r = output_finish(&d.out);
	for (int i = 0; r == 0 && i < SIDES; i++)
		r = d.session[i].exit_code;
	return r;
}
