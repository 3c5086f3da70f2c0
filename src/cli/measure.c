// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Makes a collector and a query of the options, opens the recording of --replay, and prints each
 * notice of the collector once.
 */
#include "cli/measure.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/log.h"
#include "cli/output.h"
#include "cli/query_args.h"
#include "cli/secure.h"
#include "base/cleanup.h"
#include "base/parse.h"
#include "privilege/privilege.h"
#include "query/pattern.h"
#include "recording/recording_ring.h"
#include "source/pin.h"

/* ---- a recording: a file is read frame by frame, a pipe as a whole ---- */

#define CHUNK (64 * 1024)
/* A pipe has no size: a pipe without an end must not use all memory. */
#define PIPE_MIB 256
#define PIPE_MAX ((size_t)PIPE_MIB << 20)

/* Makes room for one more chunk. Returns 0 or a negative errno. */
static int grow(char **data, size_t len, size_t *capacity)
{
	size_t more = *capacity ? *capacity * 2 : CHUNK;
	char *grown;

	if (len + CHUNK <= *capacity)
		return 0;
	if (more > PIPE_MAX)
		return -EFBIG;
	grown = realloc(*data, more);
	if (!grown)
		return -ENOMEM;
	*data = grown;
	*capacity = more;
	return 0;
}

/* Reads to the end, or only the first bytes if they are not those of a recording. */
static int read_whole(int fd, char **data, size_t *ret_len)
{
	size_t len = 0, capacity = 0;

	for (;;) {
		int r = grow(data, len, &capacity);
		ssize_t n;

		if (r < 0)
			return r;
		n = read(fd, *data + len, capacity - len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		len += (size_t)n;
		*ret_len = len;
		if (n == 0 || (len >= 8 && !recording_is_one(*data)))
			return 0;
	}
}

static int open_segment(int dir, const struct segment_name *name)
{
	int fd = privilege_as_caller(true);

	if (fd == 0)
		fd = segment_open(dir, name);
	privilege_as_caller(false);
	return fd;
}

static int open_reader(struct replay *r, int fd, char reason[RECORDING_REASON])
{
	struct stat st;
	size_t len = 0;
	int err;

	if (fstat(fd, &st) < 0)
		return -errno;
	if (S_ISDIR(st.st_mode)) {
		err = recording_reader_open_dir(fd, &r->reader, reason);
		if (err == 0)
			recording_reader_set_open(r->reader, open_segment);
	} else if (S_ISREG(st.st_mode)) {
		err = recording_reader_open(fd, &r->reader, reason);
	} else {
		err = read_whole(fd, &r->data, &len);
		if (err == 0)
			err = recording_reader_open_memory(r->data, len, &r->reader, reason);
		else if (err == -EFBIG)
			snprintf(reason, RECORDING_REASON,
				 "of a pipe, %d MiB are read at most: save the recording to a file",
				 PIPE_MIB);
	}
	return err;
}

/* Where no recording is, people want to know how to make one. */
static int report_unopened(const char *path, int err, const char *reason)
{
	bool usual = strcmp(path, REPLAY_DIR_USUAL) == 0;

	if (err == -ENOENT && (usual || *reason))
		return log_error("%s: %s (start one: zmem-bpf record --keep 7d%s%s)", path,
				 *reason ? reason : "there is no recording", usual ? "" : " ",
				 usual ? "" : path);
	return *reason ? log_error("%s: %s", path, reason) : log_errno(err, "reading %s", path);
}

int replay_open(struct replay *r, const char *path, bool quiet)
{
	cleanup_close int fd = privilege_open(path, O_RDONLY | O_NOCTTY);
	char reason[RECORDING_REASON] = "";
	const struct recording_info *info;
	int err;

	*r = (struct replay){.path = path, .fd = -1};
	/* The segments of a directory are opened by it, too. */
	privilege_as_caller(true);
	err = fd < 0 ? fd : open_reader(r, fd, reason);
	privilege_as_caller(false);
	if (err < 0)
		return report_unopened(path, err, reason);
	r->fd = TAKE_FD(fd);
	info = recording_reader_info(r->reader);
	if (!info->frames)
		return log_error("%s: the recording %s", path,
				 info->torn ? "is cut off in its first snapshot"
					    : "has no snapshots");
	r->frames = r->frame = (uint32_t)info->frames;
	if (info->left_out)
		log_notice(quiet, "%s: %zu of %zu files cannot be read and are left out", path,
			   info->left_out, info->left_out + info->segments);
	if (info->torn)
		log_notice(quiet, "%s: the recording %s after snapshot %u at byte %llu", path,
			   info->ended ? "goes on behind its end" : "is cut off", r->frames,
			   (unsigned long long)info->end);
	return 0;
}

void replay_close(struct replay *r)
{
	recording_reader_free(r->reader);
	free(r->data);
	if (r->reader && r->fd >= 0)
		close(r->fd);
	*r = (struct replay){};
}

/* ---- notices of the collector ---- */

/* Whether the notice is to be printed now: it is there, and was not printed before. */
static bool is_new(struct measure *m, enum collect_notice notice)
{
	bool now = m->collector.notices & ~m->printed & notice;

	m->printed |= m->collector.notices & notice;
	return now;
}

const char *measure_no_proc(const struct measure *m)
{
	static const char *const text[] = {
		[COLLECT_PROC_USABLE] = NULL,
		[COLLECT_PROC_ABSENT] = "there is no /proc",
		[COLLECT_PROC_FOREIGN] = "this /proc is of another pid namespace",
	};

	return text[collector_no_proc(&m->collector)];
}

struct oom_watch *measure_watch_kills(const struct options *o, enum oom_watch_scope scope,
				      const char *what, char ret_reason[MEASURE_REASON])
{
	cleanup(diag_clear) struct diag diag = {};
	struct oom_watch *watch = NULL;
	const char *excluded = o->source == SOURCE_PROC
				       ? "with --source proc no BPF program is loaded"
			       : o->pinned ? "with --pinned no BPF program is loaded"
					   : NULL;
	int r = excluded ? -ENOTSUP : oom_watch_open(scope, &diag, &watch);
	const struct diag_note *note = diag.count ? &diag.note[diag.count - 1] : NULL;
	const char *reason = excluded		    ? excluded
			     : note && note->reason ? note->reason
						    : strerror(-r);

	if (r == 0)
		return watch;
	log_notice(o->quiet, "OOM kills are not %s: %s", what, reason);
	if (ret_reason)
		snprintf(ret_reason, MEASURE_REASON, "%s", reason);
	return NULL;
}

/* Commands that can do without BPF have one more remedy. */
static const char *proc_remedy(const struct measure *m)
{
	return strcmp(m->options->command, "compare") == 0 ? "" : ", or use --source proc";
}

static int report_unopened_source(const struct measure *m, int error)
{
	const struct collector *c = &m->collector;
	const struct diag_note *note = source_reason(&c->diag);

	if (c->step == COLLECT_STARTING)
		return log_error("starting: out of memory");
	if (c->step == COLLECT_OPENING_PROC)
		return log_errno(error, "opening /proc");
	if (note && note->reason && m->options->pinned)
		return log_refusal(note, error);
	return log_error("opening the source of counters: %s (%s%s)",
			 note && note->reason ? note->reason : strerror(-error),
			 note && note->hint ? note->hint : "see zmem-bpf doctor", proc_remedy(m));
}

static void warn_fallback(struct measure *m)
{
	const struct collector *c = &m->collector;
	const struct options *o = m->options;
	const struct diag_note *note = source_reason(&c->diag);

	/* maps shows nothing that BPF reads, and compare fails. */
	if (m->filters_only || strcmp(o->command, "compare") == 0 ||
	    !is_new(m, COLLECT_NOTICE_FALLBACK))
		return;
	/* The message names every missing capability. */
	if (!privilege_held(PRIVILEGE_BPF) || !privilege_held(PRIVILEGE_PERFMON))
		m->printed |= COLLECT_NOTICE_PTRACE_MISSING | COLLECT_NOTICE_HIDDEN;
	log_notice(o->quiet || o->verbose, "counters come from /proc: %s (%s%s)",
		   c->fallback_reason, note && note->hint ? note->hint : "see zmem-bpf doctor",
		   proc_remedy(m));
}

static int notices_opened(struct measure *m, int error)
{
	const struct collector *c = &m->collector;
	const struct options *o = m->options;

	if (collector_replays(c))
		return error < 0 ? log_error("%s: %s", o->replay, c->reason) : 0;
	if (o->verbose)
		log_diag(&c->diag, true);
	if (error < 0 && !c->source)
		return report_unopened_source(m, error);
	if (o->verbose)
		log_notice(false, "counters come from %s", source_name(c->source));
	if (is_new(m, COLLECT_NOTICE_ROLLUP) && o->verbose) {
		m->printed |= COLLECT_NOTICE_PSS_LOST;
		log_notice(false, "PSS comes from smaps_rollup: %s", collector_pss_refusal(c));
	}
	if (error == -ENOMEM)
		return log_error("opening the source of counters: out of memory");
	warn_fallback(m);
	if (error < 0 && error != -ENOTSUP)
		return log_errno(error, "opening the source of counters");
	if (error < 0)
		return log_error("--pss kernel: %s (--pss auto reads smaps_rollup instead)",
				 collector_pss_refusal(c));
	if (is_new(m, COLLECT_NOTICE_NO_PROC))
		log_notice(o->quiet, "PSS is not read: %s (mount -t proc proc /proc)",
			   measure_no_proc(m));
	return 0;
}

static void report_missing(struct measure *m)
{
	static const char *const why[] = {
		[COLLECT_NO_PROCESS] = "there is no such process",
		[COLLECT_NOT_IN_NAMESPACE] =
			("the kernel does not show it to BPF, and there is no /proc of this pid "
			 "namespace (mount -t proc proc /proc)"),
		[COLLECT_NOT_IN_BPF] = "the kernel does not show it to BPF (--source proc does)",
		[COLLECT_NOT_IN_PROC] = "/proc does not let us read it (hidepid; run as root)",
	};
	const struct collector *c = &m->collector;

	for (size_t i = 0; i < c->missing_count && !m->missing_printed; i++) {
		const struct collect_missing *missing = &c->missing[i];

		if (missing->why == COLLECT_THREAD)
			log_error("--pid %d: " COLLECT_THREAD_TEXT, missing->pid, missing->pid,
				  missing->process);
		else
			log_error("--pid %d: %s", missing->pid, why[missing->why]);
		m->exit_code = EXIT_NOT_FOUND;
	}
	m->missing_printed |= c->missing_count > 0;
}

static void report_differences(struct measure *m)
{
	const struct collector *c = &m->collector;

	for (size_t i = 0; i < c->difference_count; i++) {
		const struct collect_difference *d = &c->difference[i];

		if (d->execed) {
			log_notice(m->options->quiet,
				   "--verify: PID %d: it exec'ed meanwhile and could not be "
				   "compared",
				   d->pid);
			continue;
		}
		m->exit_code = EXIT_DIFFERENT;
		log_error("--verify: PID %d: %s %" PRIu64 " bytes from the kernel, %" PRIu64
			  " from smaps_rollup (it did not exec meanwhile)",
			  d->pid, counter_table[d->counter].header, d->kernel, d->rollup);
	}
}

const char *measure_no_ptrace(void)
{
	if (privilege_is_first_namespace())
		return "CAP_SYS_PTRACE is missing (run as root, or with it)";
	return "CAP_SYS_PTRACE has no effect outside of the initial user namespace (run as root "
	       "of the machine, outside of the container)";
}

static void warn_denied(struct measure *m)
{
	const struct collector *c = &m->collector;
	const unsigned both = COLLECT_NOTICE_PTRACE_MISSING | COLLECT_NOTICE_HIDDEN;
	/* Both messages name the same capability: one is enough. */
	if (!(c->notices & both) || m->printed & both)
		return;
	m->printed |= both;
	if (c->notices & COLLECT_NOTICE_PTRACE_MISSING)
		log_notice(m->options->quiet, "PSS of %u processes is denied: %s",
			   c->snapshot.collection.denied, measure_no_ptrace());
	else
		log_notice(m->options->quiet, "/proc hides processes of others: %s",
			   measure_no_ptrace());
}

static void notices_alone(struct measure *m)
{
	if (is_new(m, COLLECT_NOTICE_ALONE))
		log_notice(m->options->quiet,
			   "no thread could be started (pids.max, ulimit -u, ulimit -v): /proc is "
			   "read without a deadline, and waits for processes that are stuck");
}

/* Tables of processes say it themselves. */
static bool tells_no_match(const struct measure *m)
{
	const struct options *o = m->options;

	return o->format == FORMAT_TABLE && !m->filters_only &&
	       !parse_has_item("record compare", o->command);
}

/* Only in the first snapshot: later ones may have other processes. */
static void warn_no_match(struct measure *m)
{
	const struct options *o = m->options;
	bool filters = o->filter || o->cgroup || o->units || o->users;

	if (filters && !m->looked_for_match && !m->collector.rows.chosen.count && !m->exit_code &&
	    !tells_no_match(m))
		log_notice(o->quiet, "%s", m->nothing);
	m->looked_for_match = true;
}

static void warn_left_out(struct measure *m)
{
	const uint32_t *left = m->collector.snapshot.collection.cgroups_left_out;

	if (is_new(m, COLLECT_NOTICE_CGROUPS))
		log_notice(m->options->quiet,
			   "memory cgroups left out: %u (%u below level %d, %u for lack of "
			   "memory, %u for lack of time): their groups have the values of the "
			   "nearest cgroup above",
			   left[MEMCG_BOUND_DEPTH] + left[MEMCG_BOUND_BYTES] +
				   left[MEMCG_BOUND_TIME],
			   left[MEMCG_BOUND_DEPTH], MEMCG_DEPTH_MAX, left[MEMCG_BOUND_BYTES],
			   left[MEMCG_BOUND_TIME]);
}

static void notices_collected(struct measure *m)
{
	const struct collector *c = &m->collector;
	const struct options *o = m->options;

	report_missing(m);
	if (is_new(m, COLLECT_NOTICE_NO_CMDLINES))
		log_notice(o->quiet, "%s: it holds no command lines (record -o +cmdline)",
			   o->replay);
	if (is_new(m, COLLECT_NOTICE_UNREADABLE))
		log_notice(o->quiet,
			   "--verify: of %zu of %zu processes smaps_rollup may be read, the "
			   "others are other users'",
			   c->verify_readable, c->verify_count);
	report_differences(m);
	if (is_new(m, COLLECT_NOTICE_SLOTS))
		log_notice(o->quiet,
			   "SWAP_PSS from swap slots differed from smaps_rollup: swap slots are "
			   "not used any more, and SWAP_RAM is not known");
	if (is_new(m, COLLECT_NOTICE_PSS_LOST))
		log_notice(o->quiet, "PSS %s: %s",
			   c->spec.pss == PSS_KERNEL ? "is not known" : "comes from smaps_rollup",
			   c->snapshot.pss_fallback_reason);
	warn_denied(m);
	warn_left_out(m);
	notices_alone(m);
}

static int notices_failed(const struct measure *m, int error)
{
	const struct collector *c = &m->collector;

	if (error == -E2BIG)
		return log_usage(m->options, "--filter: " PATTERN_EXPENSIVE);
	if (error == -ESTALE && source_is_pinned(c->source))
		return log_error("the pin at " PIN_PLACE " was taken away (zmem-bpf unpin), "
				 "or is another version's now");
	if (collector_replays(c))
		return log_errno(error, "making rows");
	if (c->phase == COLLECT_PHASE_FILTER)
		return log_errno(error, "collecting");
	return log_errno(error, "collecting from %s", source_name(c->source));
}

/* ---- measuring ---- */

/* Documents and the commands about the whole machine have SWAP_SHMEM and what swap costs, tables on
 * request. */
static bool shows_of_swap(const struct options *o, const char *column)
{
	return parse_has_item("system record serve", o->command) || o->format == FORMAT_JSON ||
	       o->format == FORMAT_NDJSON || (o->columns && strcasestr(o->columns, column)) ||
	       (o->sort && strcasestr(o->sort, column));
}

static bool shows_costs(const struct options *o)
{
	/* Beginnings of keys and of headings. */
	return shows_of_swap(o, "swap_ram") || shows_of_swap(o, "swap_ratio") ||
	       shows_of_swap(o, "swap_z") || shows_of_swap(o, "swap_incompr") ||
	       shows_of_swap(o, "swap_filled") || shows_of_swap(o, "swap_disk");
}

struct collect_spec measure_spec(const struct options *o)
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
		.swap_shmem = shows_of_swap(o, "swap_shmem"),
		.swap_ram = shows_costs(o),
		.files = options_metrics(o) ? FILES_SHMEM : FILES_NONE,
	};
}

static int read_query(struct measure *m)
{
	const struct options *o = m->options;
	struct collector *c = &m->collector;
	int *code = &m->exit_code;
	enum pss_choice pss = o->replay ? c->spec.pss : (enum pss_choice)o->pss;

	query_args_nothing(o, m->nothing, sizeof(m->nothing));
	if (!m->filters_only)
		return query_args_read(&m->query, &m->columns, o, pss, c, code);
	query_args_set(&m->query, m->options, QUERY_SORT, "rss", c, code);
	return query_args_filter(&m->query, o, c, code);
}

struct table_style measure_style(const struct measure *m, bool color, unsigned width)
{
	struct table_style style = output_style(m->options, color, width);

	style.columns = &m->columns;
	style.sorted = m->query.order.keys.count ? m->query.order.keys.item[0] : NULL;
	style.nothing = m->nothing;
	return style;
}

/* ---- moments of a recording ---- */

int replay_moment(const struct replay *r, const struct options *o, const char *option,
		  const char *text, struct moment *ret)
{
	int64_t last = r->frames ? recording_reader_time(r->reader, r->frames - 1) : 0;

	if (moment_parse(text, last, ret) == 0)
		return 0;
	return log_usage(o, "--%s %s: not a time (03:14, 2026-11-22T03:14, or -10m before the end)",
			 option, text);
}

int replay_event(const struct replay *r, const char *text, size_t *ret_event)
{
	size_t events = recording_reader_info(r->reader)->events, len = strlen("event:");
	uint64_t number;

	if (strncmp(text, "event:", len) != 0 ||
	    parse_u64(text + len, strlen(text + len), UINT32_MAX, &number) < 0 || !number)
		return -EINVAL;
	if (number > events) {
		log_error("%s: the recording has %zu event%s", text, events,
			  events == 1 ? "" : "s");
		return EXIT_NOT_FOUND;
	}
	*ret_event = events - (size_t)number;
	return 0;
}

bool replay_event_frame(const struct replay *r, size_t event, size_t *ret)
{
	cleanup_free struct event_record *e = calloc(1, sizeof(*e));
	size_t frame = recording_reader_event_frame(r->reader, event);
	char why[RECORDING_REASON];

	if (e && frame < r->frames && recording_reader_event(r->reader, event, e, why) == 0 &&
	    (e->number[EVENT_TABLE] || e->number[EVENT_KIND] == EVENT_PRESSURE)) {
		*ret = frame;
		return true;
	}
	*ret = frame - 1;
	return frame;
}

int measure_find_frame(const struct measure *m, const char *text, size_t *ret, int64_t *ret_ms)
{
	const struct options *o = m->options;
	const char *option = o->at_option ? o->at_option : "at";
	struct recording_reader *reader = m->replay.reader;
	struct moment moment;
	struct moment_text begin, end;
	int64_t first_ms, last_ms;
	size_t event = 0;
	int r = replay_event(&m->replay, text, &event);

	if (r == 0) {
		if (!replay_event_frame(&m->replay, event, ret))
			return log_error("%s: there is no snapshot of the event", m->replay.path);
		*ret_ms = recording_reader_time(reader, *ret);
		return 0;
	}
	if (r > 0)
		return r;
	r = replay_moment(&m->replay, o, option, text, &moment);
	if (r)
		return r;
	*ret_ms = moment.last_ms;
	if (recording_reader_find(reader, moment.last_ms, ret) &&
	    !recording_reader_ended(reader, moment.first_ms))
		return 0;
	recording_reader_range(reader, &first_ms, &last_ms);
	begin = moment_text(first_ms);
	end = moment_text(last_ms);
	log_error("--%s %s: the recording is from %s to %s", option, text, begin.text, end.text);
	return EXIT_NOT_FOUND;
}

/* Says that no frame is near the moment, because the recorder did not run or write. */
static void note_gap(const struct measure *m, size_t frame, int64_t at_ms)
{
	const struct recording_reader *r = m->replay.reader;
	struct moment_text from, to;
	size_t later;

	if (frame + 1 >= m->replay.frames || !recording_reader_gap(r, frame + 1) ||
	    at_ms <= recording_reader_time(r, frame) || !recording_reader_later(r, at_ms, &later))
		return;
	from = moment_text(recording_reader_time(r, frame));
	to = moment_text(recording_reader_time(r, later));
	log_notice(m->options->quiet, "%s: nothing was recorded between %s and %s", m->replay.path,
		   from.text, to.text);
}

void replay_note_lost(struct replay *r, bool quiet, const char *why)
{
	if (!r->noted)
		log_notice(quiet, "%s: %s; what cannot be read is left out", r->path, why);
	r->noted = true;
}

int measure_turn_to(struct measure *m, uint32_t frame)
{
	struct collector *c = &m->collector;

	if (!frame || collector_turn_to(c, frame) < 0)
		return log_error("%s: %s", m->replay.path, c->reason);
	m->replay.frame = frame;
	return 0;
}

static bool is_in_range(const struct measure *m, uint32_t frame)
{
	int64_t time_ms = recording_reader_time(m->replay.reader, frame - 1);

	return time_ms >= m->range.first_ms && time_ms <= m->range.last_ms;
}

/* Whether a frame cannot be read, and why. Without memory that is not known, and reading it says
 * so. */
static bool is_lost(struct measure *m, uint32_t frame, char why[RECORDING_REASON])
{
	struct recording_reader *r = m->replay.reader;
	const struct snapshot *s;

	return recording_reader_frame(r, frame - 1, &s, why) < 0 &&
	       recording_reader_lost(r, frame - 1);
}

uint32_t measure_readable(struct measure *m, uint32_t frame, int direction)
{
	char why[RECORDING_REASON], first[RECORDING_REASON] = "";
	uint32_t last = direction ? (direction > 0 ? m->replay.frames : 1) : frame;

	for (;; frame += (uint32_t)direction) {
		if (is_in_range(m, frame)) {
			if (!is_lost(m, frame, why))
				break;
			if (!*first)
				memcpy(first, why, sizeof(first));
		}
		if (frame == last) {
			memcpy(m->collector.reason, first, sizeof(first));
			return 0;
		}
	}
	if (*first)
		replay_note_lost(&m->replay, m->options->quiet, first);
	return frame;
}

/* Finds the frame of --at. What is lost is said, and the one before it is shown. */
static int find_readable(struct measure *m, size_t *ret)
{
	char why[RECORDING_REASON], first[RECORDING_REASON] = "";
	int64_t at_ms = 0;
	int r = measure_find_frame(m, m->options->at, ret, &at_ms);

	while (r == 0 && is_lost(m, (uint32_t)*ret + 1, why)) {
		if (!*first)
			memcpy(first, why, sizeof(first));
		if (!recording_reader_find(m->replay.reader, at_ms, ret))
			return log_error("%s: %s", m->replay.path, first);
	}
	if (r == 0 && *first)
		replay_note_lost(&m->replay, m->options->quiet, first);
	if (r == 0)
		note_gap(m, *ret, at_ms);
	return r;
}

/* Turns to the frame that is shown first. */
static int turn_to_first(struct measure *m)
{
	bool continuous = m->collector.spec.continuous;
	size_t frame = 0;
	int r;

	if (m->options->at) {
		r = find_readable(m, &frame);
		return r ? r : measure_turn_to(m, (uint32_t)frame + 1);
	}
	return measure_turn_to(m, continuous ? measure_readable(m, 1, 1)
					     : measure_readable(m, m->replay.frames, -1));
}

/* ---- opening ---- */

static int open_replay(struct measure *m, struct collect_spec *spec)
{
	const struct options *o = m->options;
	int r = replay_open(&m->replay, o->replay, o->quiet);

	spec->recording = m->replay.reader;
	if (r == 0)
		r = notices_opened(m, collector_open(&m->collector, spec));
	if (r == 0)
		r = turn_to_first(m);
	if (r)
		return r;
	if (o->verbose)
		log_notice(false, "%s: recorded by zmem-bpf %s", o->replay,
			   recording_reader_info(m->replay.reader)->tool);
	/* The recording has the names of users. */
	return read_query(m);
}

static bool shows_containers(const struct measure *m)
{
	struct query_needs needs;

	query_needs(&m->query, &needs);
	return (needs.filter | needs.group | needs.shown | m->collector.spec.names) & NEEDS_CGROUP;
}

static int open_collector(struct measure *m, const struct collect_spec *asked)
{
	const struct options *o = m->options;
	struct collect_spec spec = *asked;
	unsigned later = 0;
	int r;

	if (o->replay) {
		r = open_replay(m, &spec);
	} else {
		/* A wrong option is reported before anything is opened. */
		r = read_query(m);
		if (r == 0)
			r = notices_opened(m, collector_open(&m->collector, &spec));
	}
	if (spec.continuous && !o->no_lock)
		later |= LATER_LOCKS;
	if (strcmp(o->command, "top") == 0 && !o->replay)
		later |= LATER_LOADS;
	if (o->replay)
		later |= LATER_READS;
	else if (spec.continuous || shows_containers(m))
		later |= LATER_NAMES;
	return r ? r : secure_loaded(o->output ? o->output : o->file, later);
}

int measure_open(struct measure *m, const struct options *o, const struct collect_spec *spec)
{
	*m = MEASURE_CLOSED;
	m->options = o;
	return open_collector(m, spec);
}

int measure_open_filters(struct measure *m, const struct options *o,
			 const struct collect_spec *spec)
{
	*m = MEASURE_CLOSED;
	m->options = o;
	m->filters_only = true;
	return open_collector(m, spec);
}

void measure_note_frame(const struct measure *m)
{
	struct moment_text text;

	if (m->replay.frames <= 1)
		return;
	text = moment_text(recording_reader_time(m->replay.reader, m->replay.frame - 1));
	log_notice(m->options->quiet, "%s: snapshot %u of %u, %s", m->options->replay,
		   m->replay.frame, m->replay.frames, text.text);
}

int measure_range(struct measure *m, uint32_t *ret_first, uint32_t *ret_last)
{
	const struct options *o = m->options;
	struct moment since = {INT64_MIN, INT64_MAX}, until = since;
	int r = 0;

	if (o->since)
		r = replay_moment(&m->replay, o, "since", o->since, &since);
	if (r == 0 && o->until)
		r = replay_moment(&m->replay, o, "until", o->until, &until);
	if (r)
		return r;
	m->range = (struct moment){since.first_ms, until.last_ms};
	*ret_first = measure_readable(m, 1, 1);
	*ret_last = *ret_first ? measure_readable(m, m->replay.frames, -1) : 0;
	if (*ret_last)
		return 0;
	log_error("%s: nothing was recorded in this time", m->replay.path);
	return EXIT_NOT_FOUND;
}

static int report_collected(struct measure *m, int r)
{
	notices_collected(m);
	if (r == 0)
		warn_no_match(m);
	return r < 0 ? notices_failed(m, r) : 0;
}

int measure_begin(struct measure *m)
{
	return report_collected(m, collector_begin(&m->collector, &m->query));
}

int measure_collect(struct measure *m, struct result *ret)
{
	return report_collected(m, collector_collect(&m->collector, &m->query, ret));
}

int measure_requery(struct measure *m, bool filter_changed, struct result *ret)
{
	int r = collector_requery(&m->collector, &m->query, filter_changed, ret);

	if (r < 0 && r != -E2BIG)
		return log_errno(r, "making rows");
	return report_collected(m, r);
}

int measure_read_memcgs(struct measure *m, bool details)
{
	int r = collector_read_memcgs(&m->collector, details);

	warn_left_out(m);
	return r;
}

void measure_close(struct measure *m)
{
	if (m->collector.pool) {
		collector_note_alone(&m->collector);
		notices_alone(m);
	}
	collector_close(&m->collector);
	query_done(&m->query);
	replay_close(&m->replay);
}
