// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Puts the notices of a collector into words, each once, and its errors. */
#include "session/notices.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "fields/notice_said.h"
#include "privilege/privilege.h"
#include "query/pattern.h"
#include "session/log.h"
#include "session/query_args.h"
#include "source/pin.h"
#include "write/say.h"

/* Whether the notice is to be printed now: it is there, and was not printed before. */
static bool is_new(struct session *s, enum collect_notice notice)
{
	const unsigned both = COLLECT_NOTICE_PTRACE_MISSING | COLLECT_NOTICE_HIDDEN;
	bool now = s->collector.notices & ~s->printed & notice;

	s->printed |= s->collector.notices & notice;
	/* They name the same capability: one is enough. */
	if (now && notice & both)
		s->printed |= both;
	return now;
}

const char *session_no_proc(const struct session *s)
{
	static const char *const text[] = {
		[COLLECT_PROC_USABLE] = NULL,
		[COLLECT_PROC_ABSENT] = "there is no /proc",
		[COLLECT_PROC_FOREIGN] = "this /proc is of another pid namespace",
	};

	return text[collector_no_proc(&s->collector)];
}

/* Commands that can do without BPF have one more remedy. */
static const char *proc_remedy(const struct session *s)
{
	return s->options->command->traits & COMMAND_COMPARES ? "" : ", or use --source proc";
}

static int report_unopened_source(const struct session *s, int error)
{
	const struct collector *c = &s->collector;
	const struct diag_note *note = source_reason(&c->diag);

	if (c->step == COLLECT_STARTING)
		return log_error("starting: out of memory");
	if (c->step == COLLECT_OPENING_PROC)
		return log_errno(error, "opening /proc");
	if (note && note->reason && s->options->pinned)
		return log_refusal(note, error);
	return log_error("opening the source of counters: %s (%s%s)", diag_why(note, error),
			 note && note->hint ? note->hint : "see zmem-bpf doctor", proc_remedy(s));
}

static void warn_fallback(struct session *s)
{
	const struct collector *c = &s->collector;
	const struct options *o = s->options;
	const struct diag_note *note = source_reason(&c->diag);
	char text[1024];

	/* maps shows nothing that BPF reads, and compare fails. */
	if (s->filters_only || o->command->traits & COMMAND_COMPARES ||
	    !is_new(s, COLLECT_NOTICE_FALLBACK))
		return;
	/* The message names every missing capability. */
	if (!privilege_held(PRIVILEGE_BPF) || !privilege_held(PRIVILEGE_PERFMON))
		s->printed |= COLLECT_NOTICE_PTRACE_MISSING | COLLECT_NOTICE_HIDDEN;
	if (o->quiet || o->verbose)
		return;
	snprintf(text, sizeof(text), "counters come from /proc: %s (%s%s)", c->fallback_reason,
		 note && note->hint ? note->hint : "see zmem-bpf doctor", proc_remedy(s));
	s->fallback_columns = sizeof("zmem-bpf: ") - 1 + strlen(text);
	log_notice(false, "%s", text);
}

int notices_opened(struct session *s, int error)
{
	const struct collector *c = &s->collector;
	const struct options *o = s->options;

	if (collector_replays(c))
		return error < 0 ? log_error("%s: %s", o->replay, c->reason) : 0;
	if (o->verbose)
		log_diag(&c->diag, true);
	if (error < 0 && !c->source)
		return report_unopened_source(s, error);
	if (o->verbose)
		log_notice(false, "counters come from %s", source_name(c->source));
	if (is_new(s, COLLECT_NOTICE_ROLLUP) && o->verbose) {
		s->printed |= COLLECT_NOTICE_PSS_LOST;
		log_notice(false, "PSS comes from smaps_rollup: %s", source_pss_refusal(c->source));
	}
	if (error == -ENOMEM)
		return log_error("opening the source of counters: out of memory");
	warn_fallback(s);
	if (error < 0 && error != -ENOTSUP)
		return log_errno(error, "opening the source of counters");
	if (error < 0)
		return log_error("--pss kernel: %s (--pss auto reads smaps_rollup instead)",
				 source_pss_refusal(c->source));
	if (is_new(s, COLLECT_NOTICE_NO_PROC))
		log_notice(o->quiet, "PSS is not read: %s (mount -t proc proc /proc)",
			   session_no_proc(s));
	return 0;
}

static void report_missing(struct session *s)
{
	static const char *const why[] = {
		[COLLECT_NO_PROCESS] = "there is no such process",
		[COLLECT_NOT_IN_NAMESPACE] =
			("the kernel does not show it to BPF, and there is no /proc of this pid "
			 "namespace (mount -t proc proc /proc)"),
		[COLLECT_NOT_IN_BPF] = "the kernel does not show it to BPF (--source proc does)",
		[COLLECT_NOT_IN_PROC] = "/proc does not let us read it (hidepid; run as root)",
	};
	const struct collector *c = &s->collector;

	for (size_t i = 0; i < c->missing_count && !s->missing_printed; i++) {
		const struct collect_missing *missing = &c->missing[i];

		if (missing->why == COLLECT_THREAD)
			log_error("--pid %d: " COLLECT_THREAD_TEXT, missing->pid, missing->pid,
				  missing->process);
		else
			log_error("--pid %d: %s", missing->pid, why[missing->why]);
		s->exit_code = EXIT_NOT_FOUND;
	}
	s->missing_printed |= c->missing_count > 0;
}

static void report_differences(struct session *s)
{
	const struct check *c = &s->collector.check;

	for (size_t i = 0; i < c->difference_count; i++) {
		const struct check_difference *d = &c->difference[i];

		if (d->execed) {
			log_notice(s->options->quiet,
				   "--verify: PID %d: it exec'ed meanwhile and could not be "
				   "compared",
				   d->pid);
			continue;
		}
		s->exit_code = EXIT_DIFFERENT;
		log_error("--verify: PID %d: %s %" PRIu64 " bytes from the kernel, %" PRIu64
			  " from smaps_rollup (it did not exec meanwhile)",
			  d->pid, counter_table[d->counter].header, d->kernel, d->rollup);
	}
}

const char *session_no_ptrace(void)
{
	if (privilege_is_first_namespace())
		return "CAP_SYS_PTRACE is missing (run as root, or with it)";
	return "CAP_SYS_PTRACE has no effect outside of the initial user namespace (run as root "
	       "of the machine, outside of the container)";
}

/* Tables of processes say it themselves. */
static bool tells_no_match(const struct session *s)
{
	const struct options *o = s->options;

	return o->format == FORMAT_TABLE && !s->filters_only &&
	       !(o->command->traits & COMMAND_NO_ROWS);
}

/* Only in the first snapshot: later ones may have other processes. */
void notices_no_match(struct session *s)
{
	const struct options *o = s->options;
	bool filters = o->filter || o->cgroup || o->units || o->users;

	size_t matched = o->command->traits & COMMAND_MEMCGS ? s->collector.rows.all.count
							     : s->collector.rows.matched.count;

	if (filters && !s->looked_for_match && !matched && !s->exit_code && !tells_no_match(s))
		log_notice(o->quiet, "%s", s->nothing);
	s->looked_for_match = true;
}

/* Whether the user named a column that needs this. It allocates: ask it of a new notice only. */
static bool is_named(const struct session *s, unsigned needs)
{
	return query_args_named(&s->query, s->options) & needs;
}

#define NEEDS_PAGES (NEEDS_NODES | NEEDS_LAZYFREE | NEEDS_HUGETLB | NEEDS_THP_REST)

/* In the order of notices_said. */
static const struct {
	enum collect_notice notice;
	unsigned needs; /* it is said only if a named column needs one of these; 0: in any case */
} order[] = {
	{COLLECT_NOTICE_NO_CMDLINES, 0},
	{COLLECT_NOTICE_SWAPINS, NEEDS_SWAPINS},
	{COLLECT_NOTICE_WAITS, NEEDS_WAITS},
	{COLLECT_NOTICE_FREED, 0},
	{COLLECT_NOTICE_PAGES, NEEDS_PAGES},
	{COLLECT_NOTICE_NO_GPU, NEEDS_GPU},
	{COLLECT_NOTICE_NO_KERNEL, NEEDS_KERNEL | NEEDS_FREED},
	{COLLECT_NOTICE_UNREADABLE, 0},
	{COLLECT_NOTICE_SLOTS, 0},
	{COLLECT_NOTICE_PSS_LOST, 0},
	{COLLECT_NOTICE_PTRACE_MISSING, 0},
	{COLLECT_NOTICE_HIDDEN, 0},
	{COLLECT_NOTICE_CGROUPS, 0},
	{COLLECT_NOTICE_ALONE, 0},
};

void notices_say(struct session *s, unsigned which)
{
	const struct collector *c = &s->collector;
	struct notice_said row = {
		.snapshot = &c->snapshot,
		.recording = s->options->replay,
		.freed = c->freed_refusal,
		.pages = c->pages_reason,
		.kernel = c->kernel_reason,
		.pss_of_kernel = c->spec.pss == PSS_KERNEL,
		.readable = c->check.verify_readable,
		.verified = c->check.verify_count,
	};
	const struct said said = {.sentences = &notices_said, .row = &row};

	if (!(c->notices & ~s->printed & which))
		return;
	row.ptrace = session_no_ptrace();
	for (size_t i = 0; i < ARRAY_SIZE(order); i++) {
		cleanup(strbuf_done) struct strbuf text = {};
		struct line l = {.out = &text};

		if (order[i].notice & which && is_new(s, order[i].notice) &&
		    (!order[i].needs || is_named(s, order[i].needs)) &&
		    say_sentence(&l, &said, notices_said.text[i]))
			log_notice(s->options->quiet, "%s", strbuf_str(&text));
	}
}

void notices_collected(struct session *s)
{
	report_missing(s);
	report_differences(s);
	notices_say(s, ~0U);
}

int notices_failed(const struct session *s, int error)
{
	const struct collector *c = &s->collector;

	if (error == -E2BIG)
		return log_usage(s->options, "--filter: " PATTERN_EXPENSIVE);
	if (error == -EDQUOT && s->apps)
		return log_error("--apps %s: " PATTERN_EXPENSIVE, s->options->apps);
	if (error == -ESTALE && source_is_pinned(c->source))
		return log_error("the pin at " PIN_PLACE " was taken away (zmem-bpf pin --remove), "
				 "or is another version's now");
	if (collector_replays(c))
		return log_errno(error, "making rows");
	if (c->phase == COLLECT_PHASE_FILTER)
		return log_errno(error, "collecting");
	return log_errno(error, "collecting from %s", source_name(c->source));
}
