// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The rows of what a snapshot uses, and the verdict. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/count.h"
#include "base/file.h"
#include "collect/unseen.h"
#include "doctor/doctor.h"
#include "enrich/enrich.h"
#include "load/bpf_diagnose.h"
#include "session/log.h"
#include "write/text.h"

void doctor_add(struct part_rows *rows, const char *name, enum state state, const char *fmt, ...)
{
	static const char *const word[] = {[WORKS] = "ok", [FAILS] = "no", [UNUSED] = "-"};
	unsigned indent = (unsigned)rows->width + 4;
	char text[1024];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	strbuf_printf(&rows->text, "%-*s%-2s  ", rows->width, name, word[state]);
	text_put_folded(&rows->text, text, indent, DOCTOR_WIDTH);
	rows->failed += state == FAILS;
}

void doctor_add_failure(struct part_rows *rows, const char *name, const struct diag_note *n,
			int error)
{
	char text[DIAG_TEXT];

	diag_text(text, sizeof(text), n, error);
	doctor_add(rows, name, FAILS, "%s", text);
}

void doctor_add_part(struct part_rows *rows, const char *name, int error, const struct diag *diag,
		     const char *works)
{
	if (error < 0)
		doctor_add_failure(rows, name, diag_newest(diag), error);
	else
		doctor_add(rows, name, WORKS, "%s", works);
}

struct format_text doctor_since(uint64_t start_us)
{
	return span_text((double)(clock_us(CLOCK_MONOTONIC) - start_us) / 1e6);
}

const char *doctor_proc_problem(const struct procfs *proc)
{
	if (proc->fd < 0)
		return "/proc is not mounted";
	return proc->trusted ? NULL : "/proc is of another pid namespace";
}

void doctor_add_kernel(struct doctor *d)
{
	struct snapshot s = {};
	struct stat st;
	char text[256];
	ssize_t len;

	machine_read(&d->proc, &s.host, &s.system);
	doctor_add(&d->rows, "kernel", WORKS, "%s %s, %u %s, pages of %s", s.host.kernel_release,
		   s.host.arch, s.host.cpus, count_word(s.host.cpus, "CPU", "CPUs"),
		   size_text(s.host.page_size, false).text);
	if (stat(BTF_PATH, &st) == 0)
		doctor_add(&d->rows, "BTF", WORKS, "%s, %s", BTF_PATH,
			   size_text((uint64_t)st.st_size, false).text);
	else
		doctor_add(&d->rows, "BTF", FAILS,
			   "%s: %s (a kernel with CONFIG_DEBUG_INFO_BTF has it)", BTF_PATH,
			   strerror(errno));
	len = file_read(-1, "/sys/kernel/security/lockdown", text, sizeof(text));
	if (len > 0)
		doctor_add(&d->rows, "lockdown", WORKS, "%.*s", (int)strcspn(text, "\n"), text);
}

/* `pinned`: the pin is used, which needs no capability to load BPF programs. */
static void add_privileges(struct doctor *d, bool pinned)
{
	const char *how = privilege_is_first_namespace()
				  ? "run as root"
				  : "no effect here: run as root outside of this user namespace";
	static const char *const use[PRIVILEGE_COUNT] = {
		[PRIVILEGE_BPF] = "to load BPF programs",
		[PRIVILEGE_PERFMON] = "to let them read kernel memory",
		[PRIVILEGE_PTRACE] = "to read smaps_rollup of other users",
		[PRIVILEGE_LOCK] = "to lock the memory of watch",
	};

	for (int i = 0; i < PRIVILEGE_COUNT; i++) {
		const char *name = privilege_name(i);

		if (d->held[i])
			doctor_add(&d->rows, name, WORKS, "%s", use[i]);
		else if (pinned && i != PRIVILEGE_PTRACE)
			doctor_add(&d->rows, name, UNUSED, "%s; the pin does not need it", use[i]);
		else
			doctor_add(&d->rows, name, FAILS, "%s (%s)", use[i], how);
	}
}

/* Drops capabilities as every run does once a source is open, and notes which are left. */
static void drop_privileges(struct doctor *d, uint64_t held)
{
	static const char name[] = "capabilities given up";
	uint64_t start = privilege_mask(), now;
	char first[200], loaded[200], left[200];
	int r = privilege_loaded(0, !getauxval(AT_SECURE));

	if (r < 0) {
		doctor_add(&d->dropped, name, FAILS, "%s", strerror(-r));
		return;
	}
	now = privilege_mask();
	privilege_names(held & ~start, first, sizeof(first));
	privilege_names(start & ~now, loaded, sizeof(loaded));
	privilege_names(now, left, sizeof(left));
	doctor_add(&d->dropped, name, WORKS, "at the start %s; once loaded %s; kept to read %s",
		   first, loaded, left);
}

void doctor_try_variant(struct doctor *d, const struct source_variant *variant)
{
	cleanup(diag_clear) struct diag diag = {};
	cleanup(snapshot_done) struct snapshot snapshot = {};
	const char *name = source_variant_name(variant);
	uint64_t start = clock_us(CLOCK_MONOTONIC);
	struct format_text opened;
	struct source *source;
	int r;

	r = source_open_variant(variant, &d->proc, &diag, &source);
	if (r < 0) {
		doctor_add_failure(&d->variants, name, diag.count ? &diag.note[0] : NULL, r);
		source_explain(variant, &diag);
		/* The row has the text of the first note. */
		if (diag.count && (diag.count > 1 || diag.note[0].log))
			log_diag(&diag, true);
		return;
	}
	opened = doctor_since(start);
	start = clock_us(CLOCK_MONOTONIC);
	r = source_collect(source, &snapshot);
	source_close(source);
	if (r < 0)
		doctor_add(&d->variants, name, FAILS, "collecting: %s", strerror(-r));
	else
		doctor_add(&d->variants, name, WORKS, "opened in %s, %zu %s in %s", opened.text,
			   snapshot.count, count_word(snapshot.count, "process", "processes"),
			   doctor_since(start).text);
}

/* The note that has this reason, NULL if none has. */
static const struct diag_note *find_note(const struct diag *diag, const char *reason)
{
	for (int i = 0; i < diag->count; i++) {
		if (diag->note[i].reason && strcmp(diag->note[i].reason, reason) == 0)
			return &diag->note[i];
	}
	return NULL;
}

/* What makes PSS come from page tables, NULL if nothing does. */
static const char *pss_hint(const struct diag *diag, const char *refusal)
{
	const struct diag_note *note = find_note(diag, refusal);

	if (note)
		return note->hint;
	return strstr(refusal, "(Linux 6.2)") ? "use Linux 6.2 or later" : NULL;
}

/* The first sentence: what, and why, which may be "". `hint`: what to do; NULL: nothing. */
static void set_verdict(struct doctor *d, const char *what, const char *why, const char *hint)
{
	snprintf(d->verdict, sizeof(d->verdict), "%s%s%s", what, *why ? ": " : "", why);
	d->hint = hint;
	d->best = false;
}

/* What a snapshot uses here, and what would make it better. */
static void judge(struct doctor *d, const struct source *source)
{
	const struct diag_note *reason = source_reason(&d->diag);
	const char *refusal = source_pss_refusal(source), *problem = doctor_proc_problem(&d->proc);

	if (source_origin(source) == FROM_PROC)
		set_verdict(d, "zmem-bpf reads /proc here", diag_why(reason, -ENOTSUP),
			    reason ? reason->hint : NULL);
	else if (problem)
		set_verdict(d, "PSS is not measured here", problem, "mount -t proc proc /proc");
	else if (refusal)
		set_verdict(d, "PSS comes from smaps_rollup", refusal, pss_hint(&d->diag, refusal));
	else
		set_verdict(d,
			    source_is_pinned(source) ? "PSS comes from page tables, through the pin"
						     : "PSS comes from page tables",
			    "", NULL);
	d->best = source_origin(source) == FROM_BPF && !problem && !refusal;
}

/* PSS, and of which processes. */
static void add_pss(struct doctor *d, const struct source *source, const struct snapshot *s)
{
	const char *refusal = source_pss_refusal(source);
	size_t consistent = 0, users = 0;

	for (size_t i = 0; i < s->count; i++) {
		users += s->process[i].kind == PROCESS_USER;
		consistent += s->process[i].pss_source == PSS_FROM_KERNEL;
	}
	if (!refusal && users && !consistent)
		set_verdict(d, "PSS from page tables adds up for no process", "", NULL);
	if (!refusal)
		doctor_add(&d->rows, "PSS", users && !consistent ? FAILS : WORKS,
			   "from page tables: adds up for %zu of %zu %s", consistent, users,
			   count_word(users, "process", "processes"));
	else if (doctor_proc_problem(&d->proc))
		doctor_add(&d->rows, "PSS", FAILS, "%s", refusal);
	else
		doctor_add(&d->rows, "PSS", WORKS, "from smaps_rollup, of %s: %s",
			   d->held[PRIVILEGE_PTRACE] ? "all processes" : "your own processes alone",
			   refusal);
}

/* Compares BPF with /proc, twice: processes may have begun or ended meanwhile. */
static int find_unseen(struct doctor *d, struct source *source, const struct unseen_start *start,
		       const struct snapshot *s, struct snapshot *unseen)
{
	cleanup(snapshot_done) struct snapshot again = {};
	const struct filter any = {};
	int r = unseen_find(&d->proc, start, s, &any, unseen);

	if (r == 0 && unseen->count)
		r = source_collect(source, &again);
	return r == 0 && unseen->count ? unseen_drop(&d->proc, start, &again, unseen) : r;
}

static void add_unseen(struct doctor *d, struct source *source, const struct unseen_start *start,
		       const struct snapshot *s)
{
	cleanup(snapshot_done) struct snapshot unseen = {};
	char pids[NOT_SEEN_PIDS * 12 + 8] = "";
	size_t len = 0;

	if (find_unseen(d, source, start, s, &unseen) < 0 || !procfs_shows_all(&d->proc))
		return;
	for (size_t i = 0; i < unseen.count && i < NOT_SEEN_PIDS; i++)
		len += (size_t)snprintf(pids + len, sizeof(pids) - len, "%s%d", i ? ", " : "",
					unseen.process[i].pid);
	if (unseen.count > NOT_SEEN_PIDS)
		snprintf(pids + len, sizeof(pids) - len, ", " TEXT_ELLIPSIS);
	if (unseen.count)
		doctor_add(&d->rows, "processes", FAILS,
			   "/proc shows %zu that BPF does not see: %s %s (--source proc shows %s)",
			   unseen.count, count_word(unseen.count, "pid", "pids"), pids,
			   count_word(unseen.count, "it", "them"));
	else
		doctor_add(&d->rows, "processes", WORKS, "BPF sees all that /proc shows");
}

/* The rows of a source that is open. */
static void add_source(struct doctor *d, struct source *source)
{
	cleanup(snapshot_done) struct snapshot snapshot = {};
	const struct diag_note *reason = source_reason(&d->diag);
	bool bpf = source_origin(source) == FROM_BPF,
	     compares = bpf && !doctor_proc_problem(&d->proc);
	struct unseen_start before = {};
	uint64_t start;
	int r;

	if (compares)
		unseen_begin(&d->proc, &before);
	start = clock_us(CLOCK_MONOTONIC);
	r = source_collect(source, &snapshot);
	if (r < 0) {
		doctor_add(&d->rows, "counters", FAILS, "collecting: %s", strerror(-r));
		set_verdict(d, "Counters cannot be collected here", strerror(-r), NULL);
		return;
	}
	d->works = true;
	if (bpf)
		doctor_add(&d->rows, "counters", WORKS, "by BPF%s, %zu %s in %s",
			   source_is_pinned(source) ? ", through the pin" : "", snapshot.count,
			   count_word(snapshot.count, "process", "processes"),
			   doctor_since(start).text);
	else
		doctor_add(&d->rows, "counters", FAILS, "from /proc and not by BPF: %s",
			   diag_why(reason, -ENOTSUP));
	if (compares)
		add_unseen(d, source, &before, &snapshot);
	add_pss(d, source, &snapshot);
}

/* Opens the source that a snapshot would open here. */
void doctor_check_source(struct doctor *d, uint64_t held)
{
	const struct source_request request = {.choice = SOURCE_AUTO, .pss = true};
	struct source *source;
	int r = source_open(&request, &d->proc, &d->diag, &source);

	add_privileges(d, r == 0 && source_is_pinned(source));
	drop_privileges(d, held);
	if (r < 0) {
		const struct diag_note *reason = source_reason(&d->diag);

		doctor_add_failure(&d->rows, "counters", reason, r);
		set_verdict(d, "No source of counters works here", diag_why(reason, r),
			    reason ? reason->hint : NULL);
		return;
	}
	judge(d, source);
	add_source(d, source);
	source_close(source);
}

void doctor_add_proc(struct doctor *d)
{
	const char *problem = doctor_proc_problem(&d->proc);
	bool there;

	if (problem) {
		doctor_add(&d->rows, "/proc", FAILS, "%s: no smaps_rollup, no names of cgroups",
			   problem);
		return;
	}
	doctor_add(&d->rows, "/proc", WORKS, "shows the processes of our pid namespace");
	there = faccessat(d->proc.fd, "self/smaps_rollup", R_OK, 0) == 0;
	doctor_add(&d->rows, "smaps_rollup", there ? WORKS : FAILS, "%s",
		   there ? "is read for the rows that need it" : "needs Linux 4.14");
}

void doctor_done(struct doctor *d)
{
	diag_clear(&d->diag);
	strbuf_done(&d->rows.text);
	strbuf_done(&d->watched.text);
	strbuf_done(&d->variants.text);
	strbuf_done(&d->dropped.text);
	if (d->proc.fd >= 0)
		procfs_close(&d->proc);
}
