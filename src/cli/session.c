// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The pipeline of a snapshot: who is called when, and with what. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/balance.h"
#include "cli/log.h"
#include "cli/pss.h"
#include "cli/query_args.h"
#include "cli/row_pipeline.h"
#include "cli/secure.h"
#include "cli/session.h"
#include "base/array.h"
#include "base/clock.h"
#include "base/file.h"
#include "source/pin.h"
#include "privilege/privilege.h"

/* What a target gets for its smaps_rollup beyond the time its size takes. */
#define DEADLINE_MS 1000

bool session_replays(const struct session *s)
{
	return s->replay.reader;
}

/* Takes back what count_statuses() counted: it counts again, among the rows that are chosen now. */
static void uncount_statuses(struct snapshot *s)
{
	struct collection *c = &s->collection;

	for (size_t i = 0; i < s->count; i++) {
		const struct process *p = &s->process[i];

		if (p->kind != PROCESS_USER)
			continue;
		c->gone -= c->gone && p->pss_status == PSS_GONE;
		c->denied -= c->denied && p->pss_status == PSS_DENIED;
		c->timeout -= c->timeout && p->pss_status == PSS_TIMEOUT;
		c->raced -= c->raced && (p->raced || p->pss_status == PSS_RACED);
	}
	c->complete = true;
}

int session_replay_frame(struct session *s, uint32_t frame)
{
	int r = replay_frame(&s->replay, frame, &s->snapshot);

	if (r == 0)
		uncount_statuses(&s->snapshot);
	return r;
}

void session_note_frame(const struct session *s)
{
	if (s->replay.frames > 1)
		log_notice(s->options->quiet, "%s: frame %u of %u", s->options->replay,
			   s->replay.frames, s->replay.frames);
}

/* Adds the time since *since to the phase and starts the next. */
static void phase_end(struct session *s, enum phase phase, uint64_t *since)
{
	uint64_t now = clock_us(CLOCK_MONOTONIC);

	s->phase_us[phase] += now - *since;
	*since = now;
}

/* Why the first choice is not at work, in one line, for every output. */
static int warn_fallback(struct session *s)
{
	const struct diag_note *n = source_reason(&s->diag);

	if (!n || source_origin(s->source) != FROM_PROC)
		return 0;
	s->fallback_reason = strdup(n->reason ? n->reason : strerror(-n->error));
	if (!s->fallback_reason)
		return log_error("opening the source of counters: out of memory");
	s->snapshot.fallback_reason = s->fallback_reason;
	/* The note that follows names all that are missing. */
	s->warned_ptrace = !privilege_held(PRIVILEGE_BPF) || !privilege_held(PRIVILEGE_PERFMON);
	log_notice(s->options->quiet || s->options->verbose, "counters come from /proc: %s (%s)",
		   s->fallback_reason, n->hint ? n->hint : "zmem-bpf doctor");
	return 0;
}

/* Whose PSS only a capability stands before, once. */
static void warn_denied(struct session *s)
{
	const struct collection *c = &s->snapshot.collection;

	if ((!c->denied && !c->hidden) || s->warned_ptrace || privilege_held(PRIVILEGE_PTRACE) ||
	    source_is_pinned(s->source))
		return;
	s->warned_ptrace = true;
	if (!c->denied) {
		log_notice(
			s->options->quiet,
			"/proc hides processes of others: %s is missing (run as root, or with it)",
			privilege_name(PRIVILEGE_PTRACE));
		return;
	}
	log_notice(s->options->quiet,
		   "PSS of %u processes is denied: %s is missing (run as root, or with it)",
		   c->denied, privilege_name(PRIVILEGE_PTRACE));
}

/* That nothing watches over the reading of /proc, once. */
static void warn_alone(struct session *s)
{
	if (s->warned_alone || !s->pool || !pool_alone(s->pool))
		return;
	s->warned_alone = true;
	log_notice(s->options->quiet,
		   "no thread could be started (pids.max, ulimit -u, ulimit -v): /proc is "
		   "read without a deadline, and waits for who is stuck");
}

static int cannot_collect(const struct session *s, int error)
{
	if (error == -ESTALE && source_is_pinned(s->source))
		return log_error("the pin at " PIN_PLACE " was taken away (zmem-bpf unpin), "
				 "or is another version's now");
	return log_errno(error, "collecting from %s", source_name(s->source));
}

const char *session_no_proc(const struct session *s)
{
	if (session_replays(s) || s->proc.trusted)
		return NULL;
	return s->proc.fd < 0 ? "there is no /proc" : "this /proc is of another pid namespace";
}

/* That there is nothing to read PSS from, where the kernel side has none. */
static void warn_no_proc(const struct session *s)
{
	const char *why = session_no_proc(s);

	if (why && s->pss != PSS_NONE && (s->pss != PSS_AUTO || source_pss_refusal(s->source)))
		log_notice(s->options->quiet, "PSS is not read: %s (mount -t proc proc /proc)",
			   why);
}

static int open_source(struct session *s)
{
	const struct options *o = s->options;
	uint64_t since = clock_us(CLOCK_MONOTONIC);
	const struct source_request request = {
		.choice = (enum source_choice)o->source,
		.pin = o->pinned ? PIN_MUST : PIN_MAY,
		.pss = s->pss == PSS_AUTO || s->pss == PSS_KERNEL,
		/* Who stays is in no hurry, and leaves the other CPUs alone. */
		.readers = o->continuous ? 1 : 0,
	};
	int r = source_open(&request, &s->proc, &s->diag, &s->source);

	phase_end(s, PHASE_LOAD, &since);
	if (o->verbose)
		log_diag(&s->diag, true);
	if (r < 0) {
		const struct diag_note *n = source_reason(&s->diag);

		if (n && n->reason && o->pinned)
			return log_error("%s%s%s%s", n->reason, n->hint ? " (" : "",
					 n->hint ? n->hint : "", n->hint ? ")" : "");
		return log_error("opening the source of counters: %s (%s)",
				 n && n->reason ? n->reason : strerror(-r),
				 n && n->hint ? n->hint : "zmem-bpf doctor");
	}
	if (o->verbose)
		log_notice(false, "counters come from %s", source_name(s->source));
	if (o->verbose && s->pss == PSS_AUTO && source_pss_refusal(s->source))
		log_notice(false, "PSS comes from smaps_rollup: %s", source_pss_refusal(s->source));
	r = warn_fallback(s);
	if (r)
		return r;
	if (s->pss == PSS_KERNEL && source_pss_refusal(s->source))
		return log_error("--pss kernel: %s (--pss auto reads smaps_rollup instead)",
				 source_pss_refusal(s->source));
	warn_no_proc(s);
	return 0;
}

struct proc_pool *session_pool(struct session *s)
{
	if (!s->pool)
		s->pool = proc_pool_new(&s->proc, 0, DEADLINE_MS);
	return s->pool;
}

static bool locks_memory(const struct options *o)
{
	return o->continuous && !o->no_lock;
}

/* Whether the recording was made with PSS. */
static int recorded_pss(const struct snapshot *s)
{
	bool skipped = false;

	for (size_t i = 0; i < s->count; i++) {
		const struct process *p = &s->process[i];

		if (p->kind == PROCESS_USER && p->pss_status != PSS_SKIPPED)
			return PSS_AUTO;
		skipped |= p->kind == PROCESS_USER;
	}
	return skipped ? PSS_NONE : PSS_AUTO;
}

static int open_replay(struct session *s)
{
	const struct options *o = s->options;
	int r = replay_open(&s->replay, o->replay, o->quiet);

	if (r)
		return r;
	s->self = 0;
	/* It has the users that can be asked for by name. Of several frames the last is shown. */
	r = session_replay_frame(s, o->continuous ? 1 : s->replay.frames);
	if (r)
		return r;
	if (o->verbose)
		log_notice(false, "%s: recorded by zmem-bpf %s", o->replay,
			   recording_reader_info(s->replay.reader)->tool);
	s->pss = recorded_pss(&s->snapshot);
	r = request_read(s);
	return r ? r : secure_loaded(o->output, locks_memory(o));
}

int session_open(struct session *s, const struct options *o)
{
	int r;

	*s = (struct session){.options = o, .proc.fd = -1, .pss = o->pss, .self = getpid()};
	if (o->replay)
		return open_replay(s);
	s->users = user_table_new();
	if (o->continuous)
		s->names = name_cache_new();
	if (!s->users || (o->continuous && !s->names))
		return log_error("starting: out of memory");
	r = request_read(s);
	if (r)
		return r;
	r = procfs_open(&s->proc, "/proc");
	/* No /proc is one thing, no file left to see it with another. */
	if (file_exhausted(r))
		return log_errno(r, "opening /proc");
	r = open_source(s);
	return r ? r : secure_loaded(o->output ? o->output : o->file, locks_memory(o));
}

static void count_statuses(struct session *s)
{
	struct collection *c = &s->snapshot.collection;

	for (size_t i = 0; i < s->rows.count; i++) {
		const struct process *p = s->rows.item[i];

		if (p->kind != PROCESS_USER)
			continue;
		c->gone += p->pss_status == PSS_GONE;
		c->denied += p->pss_status == PSS_DENIED;
		c->timeout += p->pss_status == PSS_TIMEOUT;
		c->raced += p->raced || p->pss_status == PSS_RACED;
		c->complete &= p->pss_status != PSS_UNSUPPORTED;
		c->complete &= process_has(p, COUNTER_RSS);
	}
	c->complete &= !c->denied && !c->timeout && !c->raced && !c->hidden;
}

static int read_pss(struct session *s, uint64_t *since)
{
	/* Of whom what is read is of use until all of it is. */
	struct arena_mark mark = arena_mark(&s->snapshot.scratch);
	struct process **recheck = NULL;
	size_t count = 0;
	int r;

	if (s->pss == PSS_NONE)
		return 0;
	r = pss_read(s, rows_certain(s), &recheck, &count);
	phase_end(s, PHASE_PSS, since);
	if (r == 0 && source_origin(s->source) == FROM_BPF)
		r = pss_confirm(s);
	if (r == 0)
		r = pss_check_again(s, recheck, count);
	if (r == 0)
		r = pss_verify(s);
	arena_release(&mark);
	phase_end(s, PHASE_CHECK, since);
	return r;
}

/* Why PSS does not come from the kernel although it could have. */
static const char *pss_fallback_reason(const struct session *s)
{
	return s->pss == PSS_AUTO ? source_pss_refusal(s->source) : NULL;
}

/* All processes of this machine, by their counters, and the machine itself. */
static int read_processes(struct session *s)
{
	int64_t time_ms = (int64_t)(clock_us(CLOCK_REALTIME) / 1000);
	int r = source_collect(s->source, &s->snapshot);

	if (r < 0)
		return cannot_collect(s, r);
	s->snapshot.time_ms = time_ms;
	user_table_forget(s->users, s->snapshot.count);
	s->snapshot.fallback_reason = s->fallback_reason;
	s->snapshot.pss_fallback_reason = pss_fallback_reason(s);
	s->snapshot.collection.complete = true;
	machine_read(&s->proc, &s->snapshot.host, &s->snapshot.system);
	balance_no_swap(&s->snapshot);
	if (source_origin(s->source) == FROM_BPF) {
		const struct process *self = snapshot_find(&s->snapshot, s->self);

		if (self)
			procfs_learn_start_offset(&s->proc, self->start_ns);
	}
	if (!session_pool(s))
		return log_error("collecting: out of memory");
	pool_patient(s->pool);
	if (s->names)
		name_cache_apply(s->names, &s->snapshot, time_ms);
	r = enrich_names(s->pool, &s->snapshot);
	return r < 0 ? log_errno(r, "collecting") : 0;
}

int session_begin(struct session *s)
{
	uint64_t since = clock_us(CLOCK_MONOTONIC);
	int r = session_replays(s) ? 0 : read_processes(s);

	if (r)
		return r;
	phase_end(s, PHASE_COLLECT, &since);
	/* Once: processes of a command that stays may end. */
	if (!s->warned_missing)
		request_report_missing(s);
	s->warned_missing = true;
	r = rows_choose(s);
	phase_end(s, PHASE_FILTER, &since);
	return r < 0 ? request_failed(r, "collecting") : 0;
}

int session_collect(struct session *s, size_t fit, struct result *ret)
{
	uint64_t start = clock_us(CLOCK_MONOTONIC), since;
	int r = session_begin(s);

	if (r)
		return r;
	since = clock_us(CLOCK_MONOTONIC);
	r = session_replays(s) ? 0 : read_pss(s, &since);
	if (r == 0) {
		count_statuses(s);
		if (!session_replays(s))
			warn_denied(s);
		warn_alone(s);
		r = rows_shape(s, fit, ret);
	}
	phase_end(s, PHASE_NAMES, &since);
	if (r < 0)
		return session_replays(s) ? request_failed(r, "making rows") : cannot_collect(s, r);
	if (!session_replays(s))
		s->snapshot.collection.duration_us = since - start;
	/* What could not be kept is read again. */
	if (s->names && !s->lazy_names)
		name_cache_update(s->names, &s->snapshot);
	return 0;
}

void session_close(struct session *s)
{
	warn_alone(s);
	proc_pool_free(s->pool);
	name_cache_free(s->names);
	sums_done(&s->sums);
	source_close(s->source);
	rows_done(&s->rows);
	snapshot_done(&s->snapshot);
	for (size_t i = 0; i < ARRAY_SIZE(s->again); i++)
		snapshot_done(&s->again[i]);
	user_table_free(s->users);
	request_done(s);
	diag_clear(&s->diag);
	free(s->fallback_reason);
	procfs_close(&s->proc);
	replay_close(&s->replay);
}
