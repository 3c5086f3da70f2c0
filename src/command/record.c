// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* zmem-bpf record FILE: writes snapshots to a file, for --replay. --json prints them as well. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "command/keep.h"
#include "command/table.h"
#include "recorder/recorder.h"
#include "recording/recording_file.h"
#include "report/report.h"
#include "session/log.h"
#include "session/output.h"
#include "session/session.h"
#include "session/ticker.h"

/* Opens the file, then what measures. */
static int recorder_open_file(struct recorder *r, const struct options *o)
{
	const struct recording_options recording = recorder_options(o);
	int err;

	r->options.file = o->word ? o->word : o->output;
	r->options.output = NULL;
	err = output_open_private(&r->file, r->options.file);
	if (err)
		return err;
	if (isatty(r->file.fd))
		return log_usage(o,
				 "record: %s is a terminal, and a recording is not text (name a "
				 "file: record FILE, or record /dev/stdout > FILE)",
				 r->options.file);
	err = recording_writer_init(&r->writer, &recording, &r->file.buf);
	return err < 0 ? log_errno(err, "starting") : recorder_open(r, o);
}

/* ---- a frame ---- */

static int append_frame(struct recorder *r, uint32_t frame)
{
	int err = recorder_complete(r);

	if (err == 0)
		err = recording_writer_append(&r->writer, &r->session.collector.snapshot);
	return err < 0 ? log_errno(err, "recording snapshot %u", frame) : 0;
}

static int record_frame(struct recorder *r, uint32_t frame, struct output *out)
{
	struct result result;
	int err = recorder_collect(r, &result);

	if (err)
		return err;
	recorder_forget_cmdlines(r);
	if (out)
		render_json(&out->buf, &result);
	err = append_frame(r, frame);
	if (err)
		return err;
	return out ? output_finish(out) : 0;
}

/* ---- when ---- */

/*
 * Waits until a frame is due, counted from the first. False: a signal ends the recording, which
 * keeps its frames.
 */
static bool wait_for_frame(const struct options *o, uint32_t frame, uint64_t start_us)
{
	uint64_t interval = (uint64_t)(o->interval_ms ? o->interval_ms : INTERVAL_USUAL) * 1000;
	uint64_t due = start_us + (frame - 1) * interval;
	sigset_t set;
	int signal;

	end_signals(&set);
	do {
		uint64_t now = clock_us(CLOCK_MONOTONIC), left = due > now ? due - now : 0;
		const struct timespec t = {(time_t)(left / 1000000), (long)(left % 1000000) * 1000};

		signal = sigtimedwait(&set, NULL, &t);
	} while (signal < 0 && errno == EINTR);
	return signal < 0;
}

static int record_frames(struct recorder *r, const struct options *o, struct output *out)
{
	uint32_t count = o->count ? (uint32_t)o->count : 1;
	uint64_t start = clock_us(CLOCK_MONOTONIC);
	sigset_t set;
	int err = 0;

	end_signals(&set);
	if (count > 1)
		sigprocmask(SIG_BLOCK, &set, NULL);
	for (uint32_t frame = 1; err == 0 && frame <= count; frame++) {
		bool ended = frame > 1 && !wait_for_frame(o, frame, start);

		if (!ended)
			err = record_frame(r, frame, out);
		if (ended || (err && frame > 1)) {
			log_notice(o->quiet, "%s: ends after snapshot %u of %u", r->options.file,
				   frame - 1, count);
			r->failed = err;
			return 0;
		}
		/* A full disk is reported now, not at the end. */
		if (err == 0)
			err = output_flush(&r->file);
	}
	return err;
}

static int check_request(const struct options *o)
{
	if (o->word && o->output)
		return log_usage(o, "record: FILE and --output cannot be combined");
	if (o->keep && (o->output || o->format != FORMAT_TABLE))
		return log_usage(o, "record: --keep cannot be combined with --%s",
				 o->output ? "output" : "format");
	if (!o->keep && !o->word && !o->output)
		return log_usage(o, "record: it needs a FILE, or --keep 7d");
	if (!o->keep && (o->nice != NICE_DEFAULT || o->no_lock || o->no_signals ||
			 o->dense != DENSE_DEFAULT || o->stall != STALL_DEFAULT))
		return log_usage(o, "record: --%s is for --keep",
				 o->no_lock		     ? "no-lock"
				 : o->no_signals	     ? "no-signals"
				 : o->dense != DENSE_DEFAULT ? "dense"
				 : o->stall != STALL_DEFAULT ? "stall"
							     : "nice");
	return 0;
}

int command_record(const struct options *o)
{
	cleanup(recorder_close) struct recorder recorder = {
		.options = *o, .file.file.fd = -1, .session = SESSION_CLOSED};
	cleanup(output_close) struct output out = {.file.fd = -1};
	bool print = o->format == FORMAT_JSON;
	int r = check_request(o);

	if (r == 0 && o->keep)
		return record_keep(o);
	if (r == 0)
		r = recorder_open_file(&recorder, o);
	if (r == 0 && print)
		r = output_open(&out, &recorder.options);
	if (r == 0)
		r = record_frames(&recorder, o, print ? &out : NULL);
	if (r)
		return r;
	/* The buffer keeps an error until output_finish(). */
	recording_writer_finish(&recorder.writer);
	r = output_finish(&recorder.file);
	if (r == 0)
		r = recorder.failed;
	return r ? r : recorder.session.exit_code;
}
