// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* zmem-bpf record --keep TIME DIR: writes snapshots and events without an end, in bounded space. */
#include "command/keep.h"

#include <signal.h>

#include "base/cleanup.h"
#include "base/parse.h"
#include "recorder/keeper.h"
#include "session/log.h"
#include "session/moment.h"

#define KEEP_DIR	"/var/lib/zmem-bpf"
#define KEEP_INTERVAL	10000 /* ms */
#define KEEP_BYTES	(UINT64_C(500) << 20)
#define KEEP_SIZE_USUAL "500M" /* the same */
#define KEEP_LEAST_MS	(60 * 60 * 1000)
#define KEEP_LEAST	(UINT64_C(1) << 20)

/* "7d", "7d,500M". *ret_kept: as it was typed. */
static int parse_keep(const struct options *o, struct ring_options *ring,
		      struct kept_text *ret_kept)
{
	int len = moment_duration(o->keep, &ring->keep_ms);
	const char *size = len > 0 && o->keep[len] ? o->keep + len + 1 : "";

	ring->keep_bytes = KEEP_BYTES;
	*ret_kept = (struct kept_text){len > 0 ? len : 0, *size ? size : KEEP_SIZE_USUAL};
	if (len <= 0 || (o->keep[len] && o->keep[len] != ',') ||
	    (o->keep[len] && parse_size(size, strlen(size), &ring->keep_bytes) < 0))
		return log_usage(o, "--keep %s: not a time and a size (7d, 12h, 7d,500M)", o->keep);
	if (ring->keep_ms < KEEP_LEAST_MS || ring->keep_bytes < KEEP_LEAST)
		return log_usage(o, "--keep %s: at least 1h, and 1M", o->keep);
	return 0;
}

static int keeper_open(struct keeper *k, const struct options *o)
{
	struct recorder *r = &k->recorder;
	int err = parse_keep(o, &k->ring_options, &k->kept);
	unsigned interval;

	if (err)
		return err;
	r->options = *o;
	k->path = o->word ? o->word : KEEP_DIR;
	if (!r->options.interval_ms)
		r->options.interval_ms = KEEP_INTERVAL;
	k->ring_options.recording = recorder_options(o);
	k->ring_options.recording.interval_ms = (uint32_t)r->options.interval_ms;
	err = keeper_open_ring(k);
	if (err)
		return err;
	/* Without it the recording has frames, and no kills. */
	k->oom = session_watch_kills(o, ZMEM_OOM_TABLES, "recorded", NULL);
	keeper_read_last(k);
	interval = keeper_tick_ms(k);
	keeper_watch_pressure(k);
	/* Before any thread is started, so that no thread takes the signals. */
	err = ticker_open(&k->ticker, (uint64_t)interval * 1000,
			  k->oom ? oom_watch_fd(k->oom) : -1);
	if (err < 0)
		return log_errno(err, "starting");
	k->ticker.urgent_fd = k->pressure.fd;
	err = recorder_open(r, &r->options);
	k->moment.log_read = k->oom && oom_watch_reads_log(k->oom);
	k->moment.selection = r->selects ? r->selection : NULL;
	if (err == 0)
		background_begin(&k->background, o);
	return err;
}

static int record_frames(struct keeper *k)
{
	const struct options *o = &k->recorder.options;
	enum ticker_event event = TICKER_TICK;
	int r = 0;

	while (r == 0 && event != TICKER_END &&
	       (!o->count || k->ring.frames < (uint64_t)o->count)) {
		bool due;

		r = ticker_wait(&k->ticker, &event);
		if (r < 0)
			return log_errno(r, "waiting");
		if (k->ticker.urgent_broken)
			pressure_watch_lost(&k->pressure);
		r = keeper_check_ring(k);
		if (r)
			return r;
		/* The names of a kill are those of the snapshot before. */
		if (k->oom && k->ring.frames) {
			keeper_record_kills(k);
			keeper_record_signals(k);
		}
		due = (event == TICKER_TICK || event == TICKER_URGENT) &&
		      keeper_is_due(k, event == TICKER_URGENT && k->pressure.fd >= 0);
		keeper_sync_events(k);
		keeper_report_day(k);
		if (due || (event != TICKER_END && keeper_takes_survivors(k))) {
			r = keeper_record_frame(k, due);
			if (r == 0 && k->ring.frames)
				keeper_record_unrecorded(k);
			if (r == 0 && k->ring.frames && k->oom)
				keeper_record_no_victim(k);
			k->killed = false;
		}
	}
	return r;
}

int record_keep(const struct options *o)
{
	cleanup(keeper_close) struct keeper k = {
		.recorder = {.file.file.fd = -1, .session = SESSION_CLOSED},
		.ring = {.dir = -1, .fd = -1},
		.ticker = {.timer_fd = -1, .signal_fd = -1},
		.pressure.fd = -1,
		.background.own.statm = -1,
	};
	int r = keeper_open(&k, o);

	if (r == 0) {
		/* Ticks that came due while all was opened do not count as missed. */
		ticker_now(&k.ticker);
		r = record_frames(&k);
	}
	return r ? r : k.recorder.session.exit_code;
}
