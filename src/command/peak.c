// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * zmem-bpf peak: the highest memory that a command and all its descendants ever had at one moment.
 * Like time(1) it leaves stdin, stdout and signals to the command, reports on stderr, and ends with
 * the command's exit code. It also watches processes that run, until they end or a signal comes.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "collect/peak.h"
#include "command/table.h"
#include "command/targets.h"
#include "enrich/enrich.h"
#include "report/peak.h"
#include "session/launch.h"
#include "session/log.h"
#include "session/output.h"
#include "session/progress.h"
#include "session/secure.h"
#include "session/ticker.h"
#include "write/format.h"

#define ROWS_USUAL 10
#define SHOW_US	   200000 /* between lines that say what was measured so far */
#define FIRST_US   10000

struct peak_command {
	const struct options *o;
	struct procfs proc;
	struct peak_meter *meter;
	struct ticker ticker;
	struct output out;
	struct progress progress;
	struct snapshot snapshot; /* the machine */
	uint64_t start_us, wait_us, shown_us;
	int pid_fd; /* of the command; -1: it has none */
};

static void peak_command_done(struct peak_command *c)
{
	peak_meter_close(c->meter);
	ticker_close(&c->ticker);
	output_close(&c->out);
	procfs_close(&c->proc);
	snapshot_done(&c->snapshot);
	if (c->pid_fd >= 0)
		close(c->pid_fd);
}

static int add_pid(void *arg, pid_t pid)
{
	const struct peak_command *c = arg;

	return peak_meter_add(c->meter, pid, c->o->run);
}

static int open_meter(struct peak_command *c)
{
	const struct options *o = c->o;
	cleanup(diag_clear) struct diag diag = {};
	int r = procfs_open(&c->proc, "/proc");

	if (r < 0 || !c->proc.trusted)
		return log_error("peak: %s (mount -t proc proc /proc)",
				 r < 0 ? "/proc is not mounted"
				       : "/proc is of another pid namespace");
	r = peak_meter_open((enum source_choice)o->source, &c->proc, &diag, &c->meter);
	if (o->verbose)
		log_diag(&diag, true);
	if (r < 0)
		return log_refusal(diag.count ? &diag.note[0] : NULL, r);
	if (peak_meter_method(c->meter) == PEAK_SAMPLE && o->source == SOURCE_AUTO && diag.count)
		log_notice(o->quiet, "the peak is sampled from /proc, and may be missed: %s",
			   diag.note[0].reason);
	return 0;
}

static int open_command(struct peak_command *c)
{
	const struct options *o = c->o;
	int r = targets_check(o);

	if (r == 0 && o->columns)
		r = log_usage(o, "peak does not take --columns");
	if (r == 0)
		r = open_meter(c);
	if (r)
		return r;
	if (o->run)
		c->pid_fd = (int)syscall(SYS_pidfd_open, o->run->pid, 0);
	r = ticker_open(&c->ticker, FIRST_US, c->pid_fd);
	if (r < 0)
		return log_errno(r, "waiting");
	/* Ctrl-\ is for the command, as with time(1). */
	if (o->run)
		signal(SIGQUIT, SIG_IGN);
	r = targets_add(o, &c->proc, "measuring", add_pid, c);
	if (r == 0 && !o->run) {
		r = peak_meter_add_descendants(c->meter);
		r = r < 0 ? log_errno(r, "looking for descendants") : 0;
	}
	if (r == 0)
		r = secure_loaded(o->output, 0);
	if (r == 0)
		r = o->run ? output_open_beside(&c->out, o) : output_open(&c->out, o);
	return r;
}

/* "3.2 s: peak 9.82 MiB (Ctrl-C shows it)". */
static void show_progress(struct peak_command *c, uint64_t now_us)
{
	char text[96], size[FORMAT_MAX];
	uint64_t us = now_us - c->start_us;

	if (!c->progress.on || now_us - c->shown_us < SHOW_US)
		return;
	snprintf(text, sizeof(text), "%" PRIu64 ".%" PRIu64 " s: peak %.*s (Ctrl-C shows it)",
		 us / 1000000, us / 100000 % 10,
		 (int)format_size(size, peak_meter_so_far(c->meter)), size);
	progress_show(&c->progress, text);
	c->shown_us = now_us;
}

/* What the terminal sends it has sent to the command, too. */
static void pass_signal(struct peak_command *c)
{
	if (c->ticker.end_sent)
		kill(c->o->run->pid, c->ticker.end_signal);
	c->ticker.end = false;
}

static bool has_ended(struct peak_command *c)
{
	return c->o->run ? launch_wait(c->o->run, WNOHANG) : peak_meter_ended(c->meter);
}

static int measure(struct peak_command *c)
{
	int failed = 0;

	while (!has_ended(c)) {
		uint64_t wait = c->wait_us;
		enum ticker_event event;
		int r = ticker_wait(&c->ticker, &event);

		if (r < 0)
			return log_errno(r, "waiting");
		if (event == TICKER_END && !c->o->run)
			break;
		if (event == TICKER_END)
			pass_signal(c);
		if (event != TICKER_TICK || failed)
			continue;
		r = peak_meter_tick(c->meter, &wait);
		/* The command goes on. */
		if (r < 0)
			failed = log_errno(r, "measuring");
		if (r < 0 && !c->o->run)
			break;
		if (wait != c->wait_us)
			ticker_set_interval(&c->ticker, wait);
		c->wait_us = wait;
		show_progress(c, clock_us(CLOCK_MONOTONIC));
	}
	progress_clear(&c->progress);
	return failed;
}

static int show(struct peak_command *c)
{
	const struct options *o = c->o;
	struct table_style style = output_style(o, c->out.color, c->out.width);
	struct peak peak;
	int r = peak_meter_finish(c->meter, &peak);

	if (r < 0)
		return log_errno(r, "making the report");
	machine_read(&c->proc, &c->snapshot.host, &c->snapshot.system);
	c->snapshot.time_ms = (int64_t)(clock_us(CLOCK_REALTIME) / 1000);
	peak.snapshot = &c->snapshot;
	if (o->run) {
		peak.command = o->run->argv;
		peak.signal = WIFSIGNALED(o->run->status) ? WTERMSIG(o->run->status) : 0;
		peak.exit_code = o->run->exit_code;
	}
	if (o->format == FORMAT_JSON)
		render_peak_json(&c->out.buf, &peak);
	else if (o->format == FORMAT_HTML)
		render_peak_html(&c->out.buf, &peak);
	else
		render_peak_table(&c->out.buf, &peak,
				  o->all   ? SIZE_MAX
				  : o->top ? (size_t)o->top
					   : ROWS_USUAL,
				  &style);
	return output_finish(&c->out);
}

int command_peak(const struct options *o)
{
	cleanup(peak_command_done) struct peak_command c = {
		.o = o,
		.proc.fd = -1,
		.ticker = {.timer_fd = -1, .signal_fd = -1},
		.out.file.fd = -1,
		.pid_fd = -1,
		.wait_us = FIRST_US,
	};
	int r;

	if (!targets_ways(o))
		return log_usage(o, "peak: it needs -- COMMAND, a PID, --name or --cgroup");
	r = open_command(&c);
	if (r)
		return r;
	/* A command writes to the terminal itself. */
	progress_open(&c.progress, o->quiet || o->run);
	peak_meter_begin(c.meter);
	c.start_us = clock_us(CLOCK_MONOTONIC);
	r = o->run ? launch_release(o->run) : 0;
	if (r == 0)
		r = measure(&c);
	return r ? r : show(&c);
}
