// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Makes a collector and a query of the options, opens the recording of --replay, and takes one
 * snapshot or one after the other.
 */
#include "session/session.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/parse.h"
#include "session/log.h"
#include "session/notices.h"
#include "session/output.h"
#include "session/query_args.h"
#include "session/secure.h"
#include "write/format.h"

/* After so many failed snapshots in a row, a series ends. */
#define FAILURES_MAX 10

struct oom_watch *session_watch_kills(const struct options *o, enum zmem_oom_scope scope,
				      const char *what, char ret_reason[SESSION_REASON])
{
	cleanup(diag_clear) struct diag diag = {};
	struct oom_watch *watch = NULL;
	const char *excluded = o->source == SOURCE_PROC
				       ? "with --source proc no BPF program is loaded"
			       : o->pinned ? "with --pinned no BPF program is loaded"
					   : NULL;
	const bool signals = scope == ZMEM_OOM_TABLES && !o->no_signals;
	int r = excluded ? -ENOTSUP : oom_watch_open(scope, signals, &diag, &watch);
	const struct diag_note *note = diag_newest(&diag);
	const char *reason = excluded		    ? excluded
			     : note && note->reason ? note->reason
						    : strerror(-r);

	if (r == 0)
		return watch;
	log_notice(o->quiet, "OOM kills are not %s: %s", what, reason);
	if (ret_reason)
		snprintf(ret_reason, SESSION_REASON, "%s", reason);
	return NULL;
}

/* ---- measuring ---- */

struct collect_spec session_spec(const struct options *o)
{
	return (struct collect_spec){
		.pss = (enum pss_choice)o->pss,
		.source = (enum source_choice)o->source,
		.pin = o->pinned ? PIN_MUST : PIN_MAY,
		/* watch, top and serve have time, and leave the other CPUs to others. */
		.readers = o->readers	   ? (unsigned)o->readers
			   : o->continuous ? 1
					   : 0,
		.continuous = o->continuous,
		.verify = o->verify == VERIFY_DEFAULT ? VERIFY_USUAL : o->verify,
		.seldom = o->verify == VERIFY_DEFAULT,
		.swap_shmem = o->command->traits & COMMAND_COSTS,
		.swap_ram = o->command->traits & COMMAND_COSTS,
		.pages = o->command->traits & COMMAND_COSTS ? NEEDS_HUGETLB : 0U,
		.gpu = o->command->traits & COMMAND_COSTS,
		.files = options_metrics(o) ? FILES_SHMEM : FILES_NONE,
	};
}

static int read_query(struct session *s)
{
	const struct options *o = s->options;
	struct collector *c = &s->collector;
	int *code = &s->exit_code;
	enum pss_choice pss = o->replay ? c->spec.pss : (enum pss_choice)o->pss;

	query_args_nothing(o, s->nothing, sizeof(s->nothing));
	if (!s->filters_only)
		return query_args_read(&s->query, &s->columns, o, pss, c, code);
	query_args_set(&s->query, s->options, QUERY_SORT, "rss", c, code);
	return query_args_filter(&s->query, o, c, code);
}

struct table_style session_style(const struct session *s, bool color, unsigned width)
{
	struct table_style style = output_style(s->options, color, width);

	style.columns = &s->columns;
	style.sorted = s->query.order.keys.count ? s->query.order.keys.item[0] : NULL;
	style.nothing = s->nothing;
	return style;
}

/* ---- the frames of a recording ---- */

/*
 * The frame of the beginning of a moment: behind a gap, in which it is, the first one that was
 * recorded while the moment lasts.
 */
static bool find_beginning(const struct recording_reader *reader, const struct moment *m,
			   size_t *ret)
{
	size_t later;
	bool found = recording_reader_find(reader, m->first_ms, ret);

	if (found && recording_reader_covers(reader, *ret, m->first_ms))
		return true;
	if (!recording_reader_later(reader, m->first_ms, &later) ||
	    recording_reader_time(reader, later) > m->last_ms)
		return found;
	*ret = later;
	return true;
}

int session_find_frame(const struct session *s, const char *text, size_t *ret, int64_t *ret_ms)
{
	const struct options *o = s->options;
	const char *option = o->at_option ? o->at_option : "at";
	const bool begins = strcmp(option, "from") == 0;
	struct recording_reader *reader = s->replay.reader;
	struct moment moment;
	int64_t first_ms, last_ms;
	size_t event = 0;
	bool found;
	int r = replay_event(&s->replay, text, &event);

	if (r == 0) {
		if (!replay_event_frame(&s->replay, event, ret))
			return log_error("%s: there is no snapshot of the event", s->replay.path);
		*ret_ms = recording_reader_time(reader, *ret);
		return 0;
	}
	if (r > 0)
		return r;
	r = replay_moment(&s->replay, o, option, text,
			  o->at_after_ms ? *o->at_after_ms : MOMENT_LATEST, &moment);
	if (r)
		return r;
	found = begins ? find_beginning(reader, &moment, ret)
		       : recording_reader_find(reader, moment.last_ms, ret);
	*ret_ms = begins ? moment.first_ms : moment.last_ms;
	/* The end of a range may be later than the recording. */
	if (found && (o->at_after_ms || !recording_reader_ended(reader, moment.first_ms)))
		return 0;
	recording_reader_range(reader, &first_ms, &last_ms);
	log_error("--%s %s: the recording is from %s to %s", option, text, time_text(first_ms).text,
		  time_text(last_ms).text);
	return EXIT_NOT_FOUND;
}

/* Says that no frame is near the moment, because the recorder did not run or write. */
static void note_gap(const struct session *s, size_t frame, int64_t at_ms)
{
	const struct recording_reader *r = s->replay.reader;
	size_t later;

	if (frame + 1 >= s->replay.frames || !recording_reader_gap(r, frame + 1) ||
	    at_ms <= recording_reader_time(r, frame) || !recording_reader_later(r, at_ms, &later))
		return;
	log_notice(s->options->quiet, "%s: nothing was recorded between %s and %s", s->replay.path,
		   time_text(recording_reader_time(r, frame)).text,
		   time_text(recording_reader_time(r, later)).text);
}

int session_turn_to(struct session *s, uint32_t frame)
{
	struct collector *c = &s->collector;

	if (!frame || collector_turn_to(c, frame) < 0)
		return log_error("%s: %s", s->replay.path, c->reason);
	s->replay.frame = frame;
	return 0;
}

static bool is_in_range(const struct session *s, uint32_t frame)
{
	int64_t time_ms = recording_reader_time(s->replay.reader, frame - 1);

	return time_ms >= s->range.first_ms && time_ms <= s->range.last_ms;
}

/* Whether a frame cannot be read, and why. Without memory that is not known, and reading it says
 * so. */
static bool is_lost(struct session *s, uint32_t frame, char why[RECORDING_REASON])
{
	struct recording_reader *r = s->replay.reader;
	const struct snapshot *snapshot;

	return recording_reader_frame(r, frame - 1, &snapshot, why) < 0 &&
	       recording_reader_lost(r, frame - 1);
}

uint32_t session_readable(struct session *s, uint32_t frame, int direction)
{
	char why[RECORDING_REASON], first[RECORDING_REASON] = "";
	uint32_t last = direction ? (direction > 0 ? s->replay.frames : 1) : frame;

	for (;; frame += (uint32_t)direction) {
		if (is_in_range(s, frame)) {
			if (!is_lost(s, frame, why))
				break;
			if (!*first)
				memcpy(first, why, sizeof(first));
		}
		if (frame == last) {
			memcpy(s->collector.reason, first, sizeof(first));
			return 0;
		}
	}
	if (*first)
		replay_note_lost(&s->replay, s->options->quiet, first);
	return frame;
}

/* Finds the frame of --at. What is lost is said, and the nearest one before it is shown, or behind.
 */
static int find_readable(struct session *s, size_t *ret)
{
	char why[RECORDING_REASON], first[RECORDING_REASON] = "";
	int64_t at_ms = 0;
	int r = session_find_frame(s, s->options->at, ret, &at_ms);

	while (r == 0 && is_lost(s, (uint32_t)*ret + 1, why)) {
		uint32_t later;

		if (!*first)
			memcpy(first, why, sizeof(first));
		if (recording_reader_find(s->replay.reader, at_ms, ret))
			continue;
		later = session_readable(s, (uint32_t)*ret + 1, 1);
		if (!later)
			return log_error("%s: %s", s->replay.path, first);
		*ret = later - 1;
	}
	if (r == 0 && *first)
		replay_note_lost(&s->replay, s->options->quiet, first);
	if (r == 0)
		note_gap(s, *ret, at_ms);
	s->at_ms = at_ms;
	return r;
}

/* Turns to the frame that is shown first. */
static int turn_to_first(struct session *s)
{
	bool continuous = s->collector.spec.continuous;
	size_t frame = 0;
	int r;

	if (s->options->at) {
		r = find_readable(s, &frame);
		return r ? r : session_turn_to(s, (uint32_t)frame + 1);
	}
	return session_turn_to(s, continuous ? session_readable(s, 1, 1)
					     : session_readable(s, s->replay.frames, -1));
}

/* ---- opening ---- */

static int open_replay(struct session *s, struct collect_spec *spec)
{
	const struct options *o = s->options;
	int r = replay_open(&s->replay, o->replay, o->quiet || o->opened);

	s->replay.noted = o->opened && o->opened->noted;
	spec->recording = s->replay.reader;
	if (r == 0)
		r = notices_opened(s, collector_open(&s->collector, spec));
	if (r == 0)
		r = turn_to_first(s);
	if (r)
		return r;
	if (o->verbose)
		log_notice(false, "%s: recorded by zmem-bpf %s", o->replay,
			   recording_reader_info(s->replay.reader)->tool);
	/* The recording has the names of users. */
	return read_query(s);
}

static bool shows_containers(const struct session *s)
{
	struct query_needs needs;

	query_needs(&s->query, &needs);
	return (needs.filter | needs.group | needs.shown | s->collector.spec.names) & NEEDS_CGROUP;
}

static bool shows_apps(const struct session *s, const struct collect_spec *spec)
{
	struct query_needs needs;

	/* maps and diff set their groups later, and top has a key for them. */
	if (s->filters_only || s->options->command->traits & (COMMAND_MOMENTS | COMMAND_KEYS))
		return true;
	query_needs(&s->query, &needs);
	return (needs.filter | needs.group | needs.shown | spec->names) & NEEDS_APP;
}

/* Whether it names all processes of the machine, and not only the largest. */
static bool names_all(const struct session *s, const struct collect_spec *spec)
{
	const unsigned names = NEEDS_PROGRAM | NEEDS_APP | NEEDS_CMDLINE;
	const bool cut = s->query.top || s->query.fit || spec->lazy_names;
	struct query_needs needs;

	query_needs(&s->query, &needs);
	return (needs.filter | needs.group | spec->names | (cut ? 0 : needs.shown)) & names;
}

/* The rules of --apps, which only root and the user may write. */
static int read_apps(struct session *s, struct collect_spec *spec)
{
	const char *path = s->options->apps, *why;
	cleanup_free char *text = malloc(APP_RULES_FILE_MAX + 2);
	cleanup_close int fd = -1;
	struct stat st;
	size_t line;
	ssize_t len;
	int r;

	if (!shows_apps(s, spec))
		return log_usage(s->options, "--apps: nothing shows apps (-g app, -o +app)");
	fd = privilege_open(path, O_RDONLY | O_NOCTTY | O_NONBLOCK);
	if (fd < 0)
		return log_errno(fd, "--apps %s", path);
	if (fstat(fd, &st) < 0)
		return log_errno(-errno, "--apps %s", path);
	if (!S_ISREG(st.st_mode))
		return log_error("--apps %s: it is not a regular file", path);
	if ((st.st_uid && st.st_uid != getuid()) || st.st_mode & (S_IWGRP | S_IWOTH))
		return log_error("--apps %s: another user owns it or may write it (chown, "
				 "chmod go-w)",
				 path);
	len = text ? file_read_fd(fd, text, APP_RULES_FILE_MAX + 2) : -ENOMEM;
	if (len < 0)
		return log_errno((int)len, "--apps %s", path);
	if (len > APP_RULES_FILE_MAX)
		return log_error("--apps %s: it has more than 64 KiB", path);
	r = app_rules_parse(text, (size_t)len, &s->apps, &line, &why);
	if (r == -EINVAL)
		return log_error("--apps %s:%zu: %s", path, line, why);
	spec->apps = s->apps;
	return r < 0 ? log_errno(r, "--apps %s", path) : 0;
}

int session_open(struct session *s, const struct options *o, const struct collect_spec *asked)
{
	struct collect_spec spec = *asked;
	unsigned later = 0, needs;
	int r;

	*s = SESSION_CLOSED;
	s->options = o;
	s->filters_only = o->command->traits & COMMAND_FILTERS;
	if (o->replay) {
		r = open_replay(s, &spec);
	} else {
		/* A wrong option is reported before anything is opened. */
		r = read_query(s);
		needs = s->query.needs | field_list_needs(&s->query.order.keys);
		spec.swap_shmem |= needs & NEEDS_SWAP_SHMEM;
		spec.swap_ram |= needs & NEEDS_SWAP_COSTS;
		spec.freed = needs & NEEDS_FREED;
		if (spec.freed && spec.files == FILES_NONE)
			spec.files = FILES_SHMEM;
		if (r == 0 && o->apps)
			r = read_apps(s, &spec);
		spec.pages |=
			needs & (NEEDS_NODES | NEEDS_LAZYFREE | NEEDS_HUGETLB | NEEDS_THP_REST);
		spec.pages_named = query_args_named(&s->query, o) & spec.pages;
		spec.gpu |= needs & NEEDS_GPU;
		spec.kernel |= needs & (NEEDS_KERNEL | NEEDS_FREED);
		/* Columns of top may be added later. */
		spec.waits |= spec.continuous && (needs & (NEEDS_SWAPINS | NEEDS_WAITS) ||
						  o->command->traits & COMMAND_KEYS);
		spec.all_names = r == 0 && names_all(s, &spec);
		if (r == 0)
			r = notices_opened(s, collector_open(&s->collector, &spec));
	}
	if (spec.continuous && !o->no_lock)
		later |= LATER_LOCKS;
	if (o->command->traits & COMMAND_LOADS && !o->replay)
		later |= LATER_LOADS;
	if (o->replay)
		later |= LATER_READS;
	else if (spec.continuous || shows_containers(s))
		later |= LATER_NAMES;
	return r ? r : secure_loaded(o->output ? o->output : o->file, later);
}

void session_note_frame(const struct session *s)
{
	if (s->replay.frames <= 1)
		return;
	log_notice(s->options->quiet, "%s: snapshot %u of %u, %s", s->options->replay,
		   s->replay.frame, s->replay.frames,
		   time_text(recording_reader_time(s->replay.reader, s->replay.frame - 1)).text);
}

int session_range(struct session *s, uint32_t *ret_first, uint32_t *ret_last)
{
	int r = replay_range(&s->replay, s->options, &s->range);

	if (r)
		return r;
	*ret_first = session_readable(s, 1, 1);
	*ret_last = *ret_first ? session_readable(s, s->replay.frames, -1) : 0;
	if (*ret_last)
		return 0;
	log_error("%s: nothing was recorded in this time", s->replay.path);
	return EXIT_NOT_FOUND;
}

static int report_collected(struct session *s, int r)
{
	notices_collected(s);
	if (r == 0)
		notices_no_match(s);
	return r < 0 ? notices_failed(s, r) : 0;
}

int session_begin(struct session *s)
{
	return report_collected(s, collector_begin(&s->collector, &s->query));
}

/* The victim, if the frame that is shown is the moment of a kill. */
static pid_t killed_then(const struct session *s)
{
	struct recording_reader *reader = s->replay.reader;
	size_t events = reader ? recording_reader_info(reader)->events : 0, frame;
	cleanup_free struct event_record *e = events ? calloc(1, sizeof(*e)) : NULL;
	char why[RECORDING_REASON];

	for (size_t i = 0; e && i < events; i++) {
		if (recording_reader_event_frame(reader, i) + 1 == s->replay.frame &&
		    replay_event_frame(&s->replay, i, &frame) && frame + 1 == s->replay.frame &&
		    recording_reader_event(reader, i, e, why) == 0 &&
		    event_number(e, EVENT_KIND) == EVENT_OOM_KILL)
			return (pid_t)event_number(e, EVENT_PID);
	}
	return 0;
}

int session_collect(struct session *s, struct result *ret)
{
	int r = report_collected(s, collector_collect(&s->collector, &s->query, ret));

	ret->killed = killed_then(s);
	return r;
}

int session_requery(struct session *s, bool filter_changed, struct result *ret)
{
	int r = collector_requery(&s->collector, &s->query, filter_changed, ret);

	if (r < 0 && r != -E2BIG)
		return log_errno(r, "making rows");
	ret->killed = killed_then(s);
	return report_collected(s, r);
}

int session_read_memcgs(struct session *s, enum memcgs_asked asked)
{
	int r = collector_read_memcgs(&s->collector, asked);

	notices_say(s, COLLECT_NOTICE_CGROUPS);
	return r;
}

int session_look_closer(struct session *s)
{
	int r = collector_look_closer(&s->collector);

	notices_say(s, COLLECT_NOTICE_CGROUPS);
	return r < 0 ? log_errno(r, "reading memory cgroups") : 0;
}

/* ---- snapshot after snapshot ---- */

int session_open_series(struct session *s, const struct options *o, bool interactive)
{
	struct collect_spec spec = session_spec(o);
	uint64_t seed = 0;
	int r;

	spec.lazy_names = interactive;
	spec.largest_named = interactive;
	r = session_open(s, o, &spec);
	if (r)
		return r;
	/* A seed makes hashes hard to predict; without one, hashing still works. */
	if (getrandom(&seed, sizeof(seed), GRND_NONBLOCK) < 0)
		seed = 0;
	delta_set_init(&s->deltas, seed, interactive);
	s->from_start = o->grow || o->delta == DELTA_START;
	s->query.deltas = &s->deltas;
	if (o->replay) {
		uint32_t first;

		r = session_range(s, &first, &s->last_frame);
		if (r)
			return r;
		s->frame = (o->at ? s->replay.frame : first) - 1;
	}
	background_begin(&s->background, o);
	return 0;
}

bool session_ended(const struct session *s)
{
	return s->options->replay && s->frame >= s->last_frame;
}

void session_begin_delta(struct session *s, uint64_t missed)
{
	delta_set_begin(&s->deltas, &s->query, s->from_start);
	s->deltas.delta.missed = missed;
	/* Replaying is not measuring. */
	if (!s->options->replay)
		s->deltas.delta.cost = s->background.cost;
}

/* Turns to the next frame that can be read: there is one up to the last frame. */
static int turn_to_next(struct session *s)
{
	uint32_t frame = session_readable(s, s->frame + 1, 1);

	s->frame = frame ? frame : s->last_frame;
	return session_turn_to(s, s->frame);
}

int session_next(struct session *s, uint64_t missed, size_t fit, struct result *ret)
{
	int r = 0;

	session_begin_delta(s, missed);
	s->deltas.delta.tick++;
	s->query.fit = fit;
	if (s->options->replay)
		r = turn_to_next(s);
	return r ? r : session_collect(s, ret);
}

int session_finish_tick(struct session *s, const struct result *result)
{
	struct collector *c = &s->collector;
	int r = delta_set_update(&s->deltas, &s->query, &c->snapshot, &c->rows, &result->totals);

	background_tick(&s->background);
	return r < 0 ? log_errno(r, "keeping rows for the next snapshot") : 0;
}

void session_succeeded(struct session *s)
{
	s->began = true;
	s->failures = 0;
}

int session_failed(struct session *s, int r)
{
	s->failures++;
	return s->began && s->failures < FAILURES_MAX && !s->options->replay ? 0 : r;
}

void session_close(struct session *s)
{
	if (s->collector.pool) {
		collector_note_alone(&s->collector);
		notices_say(s, COLLECT_NOTICE_ALONE);
	}
	collector_close(&s->collector);
	app_rules_free(s->apps);
	query_done(&s->query);
	replay_close(&s->replay);
	delta_set_done(&s->deltas);
	background_done(&s->background);
}
