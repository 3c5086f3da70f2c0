// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * zmem-bpf record FILE: snapshots, and everything that was read for them, in a file. With --json
 * they are printed as well.
 */
#include <errno.h>
#include <signal.h>
#include <time.h>

#include "cli/commands.h"
#include "cli/end_signals.h"
#include "cli/log.h"
#include "cli/measure.h"
#include "cli/output.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "collect/compare_run.h"
#include "collect/session_tape.h"
#include "render/render.h"

struct recorder {
	struct options options; /* with the file, and JSON on stdout */
	struct measure measure;
	struct tape *tape;
	struct output file;
	uint32_t chapters;
	int failed; /* why it ends before its time, an exit code */
};

static void recorder_close(struct recorder *r)
{
	measure_close(&r->measure);
	tape_free(r->tape);
	output_close(&r->file);
}

static int recorder_open(struct recorder *r, const struct options *o)
{
	struct collect_spec spec = measure_spec(o);
	int err;

	*r = (struct recorder){.options = *o, .measure = MEASURE_CLOSED};
	r->options.file = o->word_count ? o->words[0] : o->output;
	r->options.output = NULL;
	/* All names that any format shows. */
	spec.names = NEEDS_USER | NEEDS_CGROUP | NEEDS_PROGRAM;
	err = output_open_private(&r->file, r->options.file);
	if (err)
		return err;
	r->tape = tape_blank();
	if (!r->tape)
		return log_error("starting: out of memory");
	recording_begin(&r->file.buf, ZMEM_VERSION);
	spec.tape = r->tape;
	return measure_open(&r->measure, &r->options, &spec);
}

static void write_chapter(struct recorder *r, uint32_t frame, const char *name)
{
	tape_take_chapter(r->tape, frame, name, &r->file.buf);
	r->chapters++;
}

/* ---- when ---- */

/*
 * Waits until a frame is due, counted from the first. False: a signal ends the recording, and what
 * there is by then is kept.
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

/* The readings of compare, where there are two sides. */
static int record_comparison(struct recorder *r, uint32_t frame)
{
	cleanup(compare_run_done) struct compare_run run = {};
	struct collector *c = &r->measure.collector;
	int err;

	if (source_origin(c->source) != FROM_BPF || !c->proc.trusted)
		return 0;
	err = measure_begin(&r->measure);
	if (err == 0 && (err = compare_run(c, &r->measure.query, &run)) < 0)
		err = log_errno(err, "comparing");
	session_tape_end(c);
	if (err == 0)
		write_chapter(r, frame, CHAPTER_COMPARE);
	return err;
}

static int record_frame(struct recorder *r, uint32_t frame, struct output *out)
{
	struct result result;
	int err = measure_collect(&r->measure, &result);

	if (err)
		return err;
	write_chapter(r, frame, CHAPTER_SNAPSHOT);
	if (out)
		render_json(&out->buf, &result);
	err = record_comparison(r, frame);
	if (err)
		return err;
	return out ? output_finish(out) : 0;
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
	write_chapter(r, 0, "session");
	for (uint32_t frame = 1; err == 0 && frame <= count; frame++) {
		if (frame > 1 && !wait_for_frame(o, frame, start)) {
			log_notice(o->quiet, "%s: ends after frame %u of %u", r->options.file,
				   frame - 1, count);
			break;
		}
		err = record_frame(r, frame, out);
		if (err && frame > 1) {
			log_notice(o->quiet, "%s: ends after frame %u of %u", r->options.file,
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
	if (o->word_count && o->output)
		return log_usage("record: a FILE and --output are one too many");
	if (!o->word_count && !o->output)
		return log_usage("record: it needs a FILE");
	return 0;
}

int command_record(const struct options *o)
{
	cleanup(recorder_close) struct recorder recorder = {.file.file.fd = -1,
							    .measure = MEASURE_CLOSED};
	cleanup(output_close) struct output out = {.file.fd = -1};
	bool print = o->format == FORMAT_JSON;
	int r = check_request(o);

	if (r == 0)
		r = recorder_open(&recorder, o);
	if (r == 0 && print)
		r = output_open(&out, &recorder.options);
	if (r == 0)
		r = record_frames(&recorder, o, print ? &out : NULL);
	if (r)
		return r;
	recording_end(&recorder.file.buf, recorder.chapters);
	r = output_finish(&recorder.file);
	if (r == 0)
		r = recorder.failed;
	return r ? r : recorder.measure.notices.exit_code;
}
