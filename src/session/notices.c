// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Puts the notices of a collector into words, each once, and its errors. */
#include "session/notices.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/count.h"
#include "privilege/privilege.h"
#include "query/pattern.h"
#include "session/log.h"
#include "session/query_args.h"
#include "source/pin.h"

/* Whether the notice is to be printed now: it is there, and was not printed before. */
static bool is_new(struct session *s, enum collect_notice notice)
{
	bool now = s->collector.notices & ~s->printed & notice;

	s->printed |= s->collector.notices & notice;
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
	return log_error("opening the source of counters: %s (%s%s)",
			 note && note->reason ? note->reason : strerror(-error),
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

static void warn_denied(struct session *s)
{
	const struct collector *c = &s->collector;
	const unsigned both = COLLECT_NOTICE_PTRACE_MISSING | COLLECT_NOTICE_HIDDEN;
	/* Both messages name the same capability: one is enough. */
	if (!(c->notices & both) || s->printed & both)
		return;
	s->printed |= both;
	if (c->notices & COLLECT_NOTICE_PTRACE_MISSING)
		log_notice(s->options->quiet, "PSS of %u %s is denied: %s",
			   c->snapshot.collection.denied,
			   count_word(c->snapshot.collection.denied, "process", "processes"),
			   session_no_ptrace());
	else
		log_notice(s->options->quiet, "/proc hides processes of others: %s",
			   session_no_ptrace());
}

void notices_alone(struct session *s)
{
	if (is_new(s, COLLECT_NOTICE_ALONE))
		log_notice(s->options->quiet,
			   "no thread could be started (pids.max, ulimit -u, ulimit -v): /proc is "
			   "read without a deadline, and waits for processes that are stuck");
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

void notices_left_out(struct session *s)
{
	const uint32_t *left = s->collector.snapshot.collection.cgroups_left_out;

	if (is_new(s, COLLECT_NOTICE_CGROUPS))
		log_notice(s->options->quiet,
			   "memory cgroups left out: %u (%u below level %d, %u for lack of "
			   "memory, %u for lack of time): their groups have the values of the "
			   "nearest cgroup above",
			   left[MEMCG_BOUND_DEPTH] + left[MEMCG_BOUND_BYTES] +
				   left[MEMCG_BOUND_TIME],
			   left[MEMCG_BOUND_DEPTH], MEMCG_DEPTH_MAX, left[MEMCG_BOUND_BYTES],
			   left[MEMCG_BOUND_TIME]);
}

/* Whether the user named a column that needs this. It allocates: ask it of a new notice only. */
static bool is_named(const struct session *s, unsigned needs)
{
	return query_args_named(&s->query, s->options) & needs;
}

void notices_collected(struct session *s)
{
	const struct collector *c = &s->collector;
	const struct options *o = s->options;

	report_missing(s);
	if (is_new(s, COLLECT_NOTICE_NO_CMDLINES))
		log_notice(o->quiet, "%s: it holds no command lines (record -o +cmdline)",
			   o->replay);
	if (is_new(s, COLLECT_NOTICE_SWAPINS) && is_named(s, NEEDS_SWAPINS))
		log_notice(
			o->quiet,
			"swap-ins are not known: kernel.task_delayacct is 0 (sysctl "
			"kernel.task_delayacct=1 counts those of processes that start after it)");
	if (is_new(s, COLLECT_NOTICE_FREED))
		log_notice(o->quiet, "FREED is not known: %s", c->freed_refusal);
	if (is_new(s, COLLECT_NOTICE_PAGES) &&
	    is_named(s, NEEDS_NODES | NEEDS_LAZYFREE | NEEDS_HUGETLB | NEEDS_THP_REST))
		log_notice(
			o->quiet,
			"LAZYFREE (but from smaps_rollup), HUGETLB_PSS, THP_REST and nodes are not known: "
			"%s",
			c->pages_reason);
	if (c->snapshot.gpu.reason && is_new(s, COLLECT_NOTICE_NO_GPU) && is_named(s, NEEDS_GPU))
		log_notice(o->quiet, "memory of GPUs is not known: %s", c->snapshot.gpu.reason);
	if (is_new(s, COLLECT_NOTICE_UNREADABLE))
		log_notice(o->quiet,
			   "--verify: of %zu of %zu %s smaps_rollup may be read, the "
			   "others are other users'",
			   c->check.verify_readable, c->check.verify_count,
			   count_word(c->check.verify_count, "process", "processes"));
	report_differences(s);
	if (is_new(s, COLLECT_NOTICE_SLOTS))
		log_notice(o->quiet,
			   "SWAP_PSS from swap slots differed from smaps_rollup: swap slots are "
			   "not used any more, and SWAP_RAM is not known");
	if (is_new(s, COLLECT_NOTICE_PSS_LOST))
		log_notice(o->quiet, "PSS %s: %s",
			   c->spec.pss == PSS_KERNEL ? "is not known" : "comes from smaps_rollup",
			   c->snapshot.pss_fallback_reason);
	warn_denied(s);
	notices_left_out(s);
	notices_alone(s);
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
