// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The words for what a collector notices. */
#include "cli/notices.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "cli/log.h"
#include "privilege/privilege.h"
#include "source/pin.h"

/* Whether it is to be said now. */
static bool say(struct notices *n, const struct collector *c, enum collect_notice notice)
{
	bool now = c->notices & ~n->said & notice;

	n->said |= c->notices & notice;
	return now;
}

const char *notices_no_proc(const struct collector *c)
{
	static const char *const text[] = {
		[COLLECT_PROC_USABLE] = NULL,
		[COLLECT_PROC_ABSENT] = "there is no /proc",
		[COLLECT_PROC_FOREIGN] = "this /proc is of another pid namespace",
	};

	return text[collector_no_proc(c)];
}

/* ---- opening ---- */

static int say_unopened(const struct notices *n, const struct collector *c, int error)
{
	const struct diag_note *note = source_reason(&c->diag);

	if (c->step == COLLECT_STARTING)
		return log_error("starting: out of memory");
	if (c->step == COLLECT_OPENING_PROC)
		return log_errno(error, "opening /proc");
	if (note && note->reason && n->options->pinned)
		return log_error("%s%s%s%s", note->reason, note->hint ? " (" : "",
				 note->hint ? note->hint : "", note->hint ? ")" : "");
	return log_error("opening the source of counters: %s (%s)",
			 note && note->reason ? note->reason : strerror(-error),
			 note && note->hint ? note->hint : "zmem-bpf doctor");
}

static void say_fallback(struct notices *n, const struct collector *c)
{
	const struct options *o = n->options;
	const struct diag_note *note = source_reason(&c->diag);

	if (!say(n, c, COLLECT_NOTICE_FALLBACK))
		return;
	/* The message names all capabilities that are missing. */
	if (!privilege_held(PRIVILEGE_BPF) || !privilege_held(PRIVILEGE_PERFMON))
		n->said |= COLLECT_NOTICE_PTRACE_MISSING | COLLECT_NOTICE_HIDDEN;
	log_notice(o->quiet || o->verbose, "counters come from /proc: %s (%s)", c->fallback_reason,
		   note && note->hint ? note->hint : "zmem-bpf doctor");
}

int notices_opened(struct notices *n, const struct collector *c, int error)
{
	const struct options *o = n->options;

	if (collector_replays(c))
		return error < 0 ? log_error("%s: %s", o->replay, c->why) : 0;
	if (o->verbose)
		log_diag(&c->diag, true);
	if (error < 0 && !c->source)
		return say_unopened(n, c, error);
	if (o->verbose)
		log_notice(false, "counters come from %s", source_name(c->source));
	if (say(n, c, COLLECT_NOTICE_ROLLUP))
		log_notice(!o->verbose, "PSS comes from smaps_rollup: %s",
			   collector_pss_refusal(c));
	if (error == -ENOMEM)
		return log_error("opening the source of counters: out of memory");
	say_fallback(n, c);
	if (error < 0)
		return log_error("--pss kernel: %s (--pss auto reads smaps_rollup instead)",
				 collector_pss_refusal(c));
	if (say(n, c, COLLECT_NOTICE_NO_PROC))
		log_notice(o->quiet, "PSS is not read: %s (mount -t proc proc /proc)",
			   notices_no_proc(c));
	return 0;
}

/* ---- snapshots ---- */

static void say_missing(struct notices *n, const struct collector *c)
{
	static const char *const why[] = {
		[COLLECT_NO_PROCESS] = "there is no such process",
		[COLLECT_NOT_IN_NAMESPACE] =
			("the kernel does not show it to BPF, and there is no /proc of this pid "
			 "namespace (mount -t proc proc /proc)"),
		[COLLECT_NOT_IN_BPF] = "the kernel does not show it to BPF (--source proc does)",
		[COLLECT_NOT_IN_PROC] = "/proc does not let us read it (hidepid; run as root)",
	};

	for (size_t i = 0; i < c->missing_count && !n->said_missing; i++) {
		log_error("--pid %d: %s", c->missing[i].pid, why[c->missing[i].why]);
		n->exit_code = EXIT_NOT_FOUND;
	}
	n->said_missing |= c->missing_count > 0;
}

static void say_differences(struct notices *n, const struct collector *c)
{
	for (size_t i = 0; i < c->difference_count; i++) {
		const struct collect_difference *d = &c->difference[i];

		if (d->execed) {
			log_notice(n->options->quiet,
				   "--verify: PID %d: it exec'ed meanwhile and could not be "
				   "compared",
				   d->pid);
			continue;
		}
		n->exit_code = EXIT_DIFFERENT;
		log_error("--verify: PID %d: %s %" PRIu64 " bytes from the kernel, %" PRIu64
			  " from smaps_rollup (it did not exec meanwhile)",
			  d->pid, counter_table[d->counter].header, d->kernel, d->rollup);
	}
}

static void say_denied(struct notices *n, const struct collector *c)
{
	const unsigned both = COLLECT_NOTICE_PTRACE_MISSING | COLLECT_NOTICE_HIDDEN;
	const char *ptrace = privilege_name(PRIVILEGE_PTRACE);

	/* Both name the same capability: one of them is enough. */
	if (!(c->notices & both) || n->said & both)
		return;
	n->said |= both;
	if (c->notices & COLLECT_NOTICE_PTRACE_MISSING)
		log_notice(n->options->quiet,
			   "PSS of %u processes is denied: %s is missing (run as root, or with it)",
			   c->snapshot.collection.denied, ptrace);
	else
		log_notice(
			n->options->quiet,
			"/proc hides processes of others: %s is missing (run as root, or with it)",
			ptrace);
}

void notices_collected(struct notices *n, const struct collector *c)
{
	const struct options *o = n->options;

	say_missing(n, c);
	if (say(n, c, COLLECT_NOTICE_NO_CMDLINES))
		log_notice(o->quiet, "%s: it holds no command lines (record -o +cmdline)",
			   o->replay);
	if (say(n, c, COLLECT_NOTICE_UNREADABLE))
		log_notice(o->quiet,
			   "--verify: of %zu of %zu processes smaps_rollup may be read, the "
			   "others are other users'",
			   c->verify_readable, c->verify_count);
	say_differences(n, c);
	say_denied(n, c);
	notices_alone(n, c);
}

void notices_alone(struct notices *n, const struct collector *c)
{
	const struct options *o = n->options;

	if (say(n, c, COLLECT_NOTICE_ALONE))
		log_notice(o->quiet,
			   "no thread could be started (pids.max, ulimit -u, ulimit -v): /proc is "
			   "read without a deadline, and waits for processes that are stuck");
}

int notices_failed(const struct collector *c, int error)
{
	if (error == -E2BIG)
		return log_usage("--filter: " PATTERN_EXPENSIVE);
	if (error == -ESTALE && source_is_pinned(c->source))
		return log_error("the pin at " PIN_PLACE " was taken away (zmem-bpf unpin), "
				 "or is another version's now");
	if (collector_replays(c))
		return log_errno(error, "making rows");
	if (c->phase == COLLECT_PHASE_FILTER)
		return log_errno(error, "collecting");
	return log_errno(error, "collecting from %s", source_name(c->source));
}
