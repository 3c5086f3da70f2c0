// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The order in which a snapshot is read, filtered, completed and shaped into rows. */
#include "collect/collector.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "collect/balance.h"
#include "collect/pss_read.h"
#include "collect/session_tape.h"
#include "collect/verify.h"
#include "privilege/privilege.h"

/* What a target gets for its smaps_rollup beyond the time that its size takes. */
#define DEADLINE_MS 1000
/* A process that is stuck keeps its executable's name: a better one is not worth a second. */
#define NAMES_DEADLINE_MS 100

bool collector_replays(const struct collector *c)
{
	return tape_playing(c->proc.tape);
}

/* Adds the time since *since to the current phase and starts the next one. */
static void phase_end(struct collector *c, enum collect_phase next, uint64_t *since)
{
	uint64_t now = clock_us(CLOCK_MONOTONIC);

	c->phase_us[c->phase] += now - *since;
	c->phase = next;
	*since = now;
}

/* ---- opening ---- */

enum collect_no_proc collector_no_proc(const struct collector *c)
{
	if (collector_replays(c) || c->proc.trusted)
		return COLLECT_PROC_USABLE;
	return c->proc.fd < 0 ? COLLECT_PROC_ABSENT : COLLECT_PROC_FOREIGN;
}

const char *collector_pss_refusal(const struct collector *c)
{
	return source_pss_refusal(c->source);
}

/* Why the first choice is not at work, in one line, for every output. */
static int note_fallback(struct collector *c)
{
	const struct diag_note *n = source_reason(&c->diag);

	if (!n || source_origin(c->source) != FROM_PROC)
		return 0;
	c->fallback_reason = strdup(n->reason ? n->reason : strerror(-n->error));
	c->notices |= COLLECT_NOTICE_FALLBACK;
	return c->fallback_reason ? 0 : -ENOMEM;
}

static int open_source(struct collector *c)
{
	const struct collect_spec *spec = &c->spec;
	uint64_t since = clock_us(CLOCK_MONOTONIC);
	const struct source_request request = {
		.choice = spec->source,
		.pin = spec->pin,
		.pss = spec->pss == PSS_AUTO || spec->pss == PSS_KERNEL,
		.readers = spec->readers,
	};
	int r = source_open(&request, &c->proc, &c->diag, &c->source);
	const char *refusal;

	phase_end(c, COLLECT_PHASE_READ, &since);
	if (r == 0)
		r = note_fallback(c);
	if (r < 0)
		return r;
	refusal = source_pss_refusal(c->source);
	if (spec->pss == PSS_AUTO && refusal)
		c->notices |= COLLECT_NOTICE_ROLLUP;
	if (spec->pss == PSS_KERNEL && refusal)
		return -ENOTSUP;
	if (collector_no_proc(c) && spec->pss != PSS_NONE && (spec->pss != PSS_AUTO || refusal))
		c->notices |= COLLECT_NOTICE_NO_PROC;
	return 0;
}

int collector_open(struct collector *c, const struct collect_spec *spec)
{
	bool replays = tape_playing(spec->tape);
	int r;

	*c = COLLECTOR_CLOSED;
	c->spec = *spec;
	c->self = getpid();
	c->users = replays ? user_table_blank() : user_table_new();
	if (spec->continuous && !spec->tape)
		c->names = name_cache_new();
	if (!c->users || (spec->continuous && !spec->tape && !c->names))
		return -ENOMEM;
	if (replays) {
		procfs_replay(&c->proc, spec->tape);
		session_tape_play(c);
	} else {
		c->step = COLLECT_OPENING_PROC;
		r = procfs_open(&c->proc, "/proc");
		/* A machine may have no /proc, but then there are files left to open it with. */
		if (file_exhausted(r))
			return r;
		c->proc.tape = spec->tape;
		session_tape_keep(c);
	}
	c->step = COLLECT_OPENING_SOURCE;
	return open_source(c);
}

struct proc_pool *collector_pool(struct collector *c)
{
	if (!c->pool)
		c->pool = proc_pool_new(&c->proc, 0, DEADLINE_MS);
	return c->pool;
}

/* ---- names ---- */

static int name_rows(struct collector *c, unsigned needs, struct rows *rows)
{
	int r = 0;

	if (needs & NEEDS_USER)
		enrich_users(c->users, rows);
	if (needs & NEEDS_CGROUP)
		r = enrich_cgroups(c->pool, &c->snapshot, rows);
	if (r == 0 && needs & NEEDS_CMDLINE)
		r = enrich_cmdlines(c->pool, &c->snapshot, rows);
	if (r == 0 && needs & NEEDS_PROGRAM)
		r = enrich_programs(c->pool, &c->snapshot, rows);
	return r;
}

/* What must be known for the query, and for what the collector's user wants of each process. */
static void needs_of(const struct collector *c, const struct query *q, struct query_needs *ret)
{
	query_needs(q, ret);
	if (!q->group && !q->tree)
		ret->shown |= c->spec.names;
	else if (q->tree)
		ret->group |= c->spec.names;
	if (!c->spec.lazy_names)
		ret->filter |= (q->needs | c->spec.names) & NEEDS_CMDLINE;
}

int collector_name_rows(struct collector *c, const struct query *q, struct process **rows,
			size_t count)
{
	struct rows some = {rows, count, 0};

	/* Groups were named with their processes, and names in a tree follow its branches. */
	return q->group || q->tree ? 0 : name_rows(c, q->needs | c->spec.names, &some);
}

/* ---- rows ---- */

/* A recording without command lines: a pattern would match names alone. */
static void note_no_cmdlines(struct collector *c, unsigned needs)
{
	const struct rows *rows = &c->rows.chosen;

	if (!(needs & NEEDS_CMDLINE) || !collector_replays(c) || !rows->count)
		return;
	for (size_t i = 0; i < rows->count; i++) {
		if (rows->item[i]->cmdline)
			return;
	}
	c->notices |= COLLECT_NOTICE_NO_CMDLINES;
}

static int choose_rows(struct collector *c, const struct query *query)
{
	struct query own = *query;
	const struct query *q = &own;
	struct query_needs needs;
	int r;

	/* The pattern is on our own command line. */
	own.filter.self = c->self;
	needs_of(c, q, &needs);
	r = query_select_ids(&c->snapshot, q, &c->rows);
	if (r == 0)
		r = name_rows(c, needs.filter, &c->rows.chosen);
	note_no_cmdlines(c, needs.filter);
	if (r == 0)
		r = query_select_text(&c->snapshot, q, &c->rows);
	/* What rows are sorted and grouped by. */
	return r < 0 || q->tree ? r : name_rows(c, needs.group, &c->rows.chosen);
}

static int shape_rows(struct collector *c, const struct query *q, struct result *ret)
{
	bool pruned = query_certain(q) && c->spec.pss != PSS_NONE;
	struct query_needs needs;
	struct rows shown;
	int r;

	needs_of(c, q, &needs);
	balance_reconcile(&c->snapshot);
	r = q->tree ? name_rows(c, needs.group, &c->rows.chosen) : 0;
	if (r == 0)
		r = query_group(&c->snapshot, q, &c->rows);
	if (r == 0 && needs.order)
		r = enrich_memcgs(&c->proc, &c->snapshot, &c->rows.made);
	if (r < 0)
		return r;
	query_show(&c->snapshot, q, &c->rows, pruned, ret);
	shown = (struct rows){(struct process **)ret->rows, ret->row_count, 0};
	pool_hurry(c->pool, NAMES_DEADLINE_MS);
	if (q->group)
		r = needs.shown ? enrich_memcgs(&c->proc, &c->snapshot, &shown) : 0;
	else if (!c->spec.lazy_names)
		r = name_rows(c, needs.shown, &shown);
	return r < 0 ? r : enrich_memcgs_keep(&c->proc, &c->rows.chosen);
}

/* ---- notices ---- */

static enum collect_absence why_missing(const struct collector *c, pid_t pid)
{
	cleanup_close int fd = -1;

	if (collector_no_proc(c) && (kill(pid, 0) == 0 || errno == EPERM))
		return COLLECT_NOT_IN_NAMESPACE;
	if (c->proc.trusted && c->proc.fd >= 0)
		fd = procfs_open_pid(&c->proc, pid);
	if (fd < 0)
		return COLLECT_NO_PROCESS;
	/* A security module may hide a process from BPF and not from /proc. */
	return source_origin(c->source) == FROM_BPF ? COLLECT_NOT_IN_BPF : COLLECT_NOT_IN_PROC;
}

/* In the first snapshot: later, processes may have ended. */
static int look_for_missing(struct collector *c, const struct filter *f)
{
	if (c->looked_for_missing || !f->pid_count)
		return 0;
	c->missing = calloc(f->pid_count, sizeof(*c->missing));
	if (!c->missing)
		return -ENOMEM;
	c->looked_for_missing = true;
	for (size_t i = 0; i < f->pid_count; i++) {
		if ((i && f->pids[i] == f->pids[i - 1]) || snapshot_find(&c->snapshot, f->pids[i]))
			continue;
		c->missing[c->missing_count++] =
			(struct collect_missing){f->pids[i], why_missing(c, f->pids[i])};
	}
	return 0;
}

/* Only a capability is missing to read PSS, or to see the processes of other users. */
static void note_denied(struct collector *c)
{
	const struct collection *found = &c->snapshot.collection;

	if ((!found->denied && !found->hidden) || collector_replays(c) ||
	    privilege_held(PRIVILEGE_PTRACE) || source_is_pinned(c->source))
		return;
	c->notices |= found->denied ? COLLECT_NOTICE_PTRACE_MISSING : COLLECT_NOTICE_HIDDEN;
}

void collector_note_alone(struct collector *c)
{
	if (c->pool && pool_alone(c->pool))
		c->notices |= COLLECT_NOTICE_ALONE;
}

/* ---- a snapshot ---- */

static void count_statuses(struct collector *c)
{
	struct collection *found = &c->snapshot.collection;
	const struct rows *rows = &c->rows.chosen;

	for (size_t i = 0; i < rows->count; i++) {
		const struct process *p = rows->item[i];

		if (p->kind != PROCESS_USER)
			continue;
		found->gone += p->pss_status == PSS_GONE;
		found->denied += p->pss_status == PSS_DENIED;
		found->timeout += p->pss_status == PSS_TIMEOUT;
		found->raced += p->raced || p->pss_status == PSS_RACED;
		found->complete &= p->pss_status != PSS_UNSUPPORTED;
		found->complete &= process_has(p, COUNTER_RSS);
	}
	found->complete &= !found->denied && !found->timeout && !found->raced && !found->hidden;
}

static int read_pss(struct collector *c, const struct query *q, uint64_t *since)
{
	/* What is read of each process is of use until all of them are read. */
	struct arena_mark mark = arena_mark(&c->snapshot.scratch);
	struct process **recheck = NULL;
	size_t count = 0;
	int r;

	if (c->spec.pss == PSS_NONE)
		return 0;
	r = pss_read(c, q, &recheck, &count);
	phase_end(c, COLLECT_PHASE_VERIFY, since);
	if (r == 0 && source_origin(c->source) == FROM_BPF)
		r = pss_confirm(c);
	if (r == 0)
		r = verify_rows(c, recheck, count);
	arena_release(&mark);
	phase_end(c, COLLECT_PHASE_NAMES, since);
	return r;
}

/* Why PSS does not come from the kernel although it could have. */
static const char *pss_fallback_reason(const struct collector *c)
{
	return c->spec.pss == PSS_AUTO ? source_pss_refusal(c->source) : NULL;
}

static int complete_machine(struct collector *c, int64_t time_ms)
{
	struct snapshot *s = &c->snapshot;

	s->time_ms = time_ms;
	user_table_forget(c->users, s->count);
	s->fallback_reason = c->fallback_reason;
	s->pss_fallback_reason = pss_fallback_reason(c);
	s->collection.complete = true;
	machine_read(&c->proc, &s->host, &s->system);
	balance_no_swap(s);
	if (source_origin(c->source) == FROM_BPF && !collector_replays(c)) {
		const struct process *self = snapshot_find(s, c->self);

		if (self)
			procfs_learn_start_offset(&c->proc, self->start_ns);
	}
	if (!collector_pool(c))
		return -ENOMEM;
	pool_patient(c->pool);
	if (c->names)
		name_cache_apply(c->names, s, time_ms);
	return enrich_names(c->pool, s);
}

int collector_begin(struct collector *c, const struct query *q)
{
	uint64_t since = clock_us(CLOCK_MONOTONIC);
	int64_t time_ms = session_tape_time(c);
	int r;

	c->difference = NULL;
	c->difference_count = 0;
	c->phase = COLLECT_PHASE_READ;
	r = source_collect(c->source, &c->snapshot);
	if (r < 0)
		return r;
	phase_end(c, COLLECT_PHASE_READ, &since);
	r = complete_machine(c, time_ms);
	phase_end(c, COLLECT_PHASE_FILTER, &since);
	if (r == 0)
		r = look_for_missing(c, &q->filter);
	if (r == 0)
		r = choose_rows(c, q);
	if (r < 0)
		return r;
	phase_end(c, COLLECT_PHASE_PSS, &since);
	return 0;
}

int collector_collect(struct collector *c, const struct query *q, struct result *ret)
{
	uint64_t start = clock_us(CLOCK_MONOTONIC), since;
	int r = collector_begin(c, q);

	if (r < 0)
		return r;
	since = clock_us(CLOCK_MONOTONIC);
	r = read_pss(c, q, &since);
	if (r == 0) {
		count_statuses(c);
		note_denied(c);
		collector_note_alone(c);
		r = shape_rows(c, q, ret);
	}
	if (r < 0)
		return r;
	phase_end(c, COLLECT_PHASE_NAMES, &since);
	c->snapshot.collection.duration_us = since - start;
	/* Names that could not be kept are read again. */
	if (c->names && !c->spec.lazy_names)
		name_cache_update(c->names, &c->snapshot);
	session_tape_end(c);
	return 0;
}

int collector_requery(struct collector *c, const struct query *q, bool filter_changed,
		      struct result *ret)
{
	int r = 0;

	c->difference_count = 0;
	c->phase = COLLECT_PHASE_FILTER;
	if (filter_changed)
		r = choose_rows(c, q);
	return r < 0 ? r : shape_rows(c, q, ret);
}

void collector_close(struct collector *c)
{
	proc_pool_free(c->pool);
	name_cache_free(c->names);
	query_rows_done(&c->rows);
	source_close(c->source);
	snapshot_done(&c->snapshot);
	for (size_t i = 0; i < ARRAY_SIZE(c->again); i++)
		snapshot_done(&c->again[i]);
	user_table_free(c->users);
	diag_clear(&c->diag);
	free(c->fallback_reason);
	free(c->missing);
	procfs_close(&c->proc);
	*c = COLLECTOR_CLOSED;
}
