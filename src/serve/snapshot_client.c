// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Asks the collector process for snapshots and keeps the newest. */
#include "serve/snapshot_client.h"

#include <errno.h>
#include <sys/mman.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "model/snapshot_codec.h"

bool snapshot_client_is_fresh(const struct snapshot_client *f, uint64_t now_us, uint32_t age_ms)
{
	return f->number && now_us - f->taken_us <= (uint64_t)age_ms * 1000;
}

bool feed_is_late(const struct snapshot_client *f, uint64_t now_us, uint64_t since_us)
{
	uint64_t patience = SNAPSHOT_PATIENCE_US + 2 * f->took_us;

	if (patience > FEED_PATIENCE_MAX_US)
		patience = FEED_PATIENCE_MAX_US;
	if (f->asked && f->asked_us < since_us)
		since_us = f->asked_us;
	return now_us - since_us > patience;
}

int snapshot_client_ask(struct snapshot_client *f, uint64_t now_us, uint32_t age_ms)
{
	int r;

	if (f->asked)
		return 0;
	r = channel_ask(f->channel, age_ms);
	f->asked = r == 0;
	f->asked_us = now_us;
	return r;
}

static int replace_snapshot(struct snapshot_client *f, const struct answer *answer, int memfd)
{
	struct snapshot snapshot = {};
	const char *bytes;
	int r;

	/* The collector process sent the same snapshot again. */
	if (f->number && answer->taken_us == f->taken_us)
		return 1;
	r = channel_map(memfd, answer->size, &bytes);
	if (r < 0)
		return r;
	r = snapshot_decode(bytes, answer->size, NULL, &snapshot);
	munmap((void *)bytes, answer->size);
	if (r < 0) {
		snapshot_done(&snapshot);
		return r;
	}
	snapshot_done(&f->snapshot);
	f->snapshot = snapshot;
	f->taken_us = answer->taken_us;
	f->number++;
	return 1;
}

int snapshot_client_receive(struct snapshot_client *f)
{
	cleanup_close int memfd = -1;
	struct answer answer;
	int r = channel_answered(f->channel, &answer, &memfd);

	if (r < 0)
		return r;
	if (answer.kind == ANSWER_END)
		return -ESHUTDOWN;
	if (f->asked)
		f->took_us = clock_us(CLOCK_MONOTONIC) - f->asked_us;
	f->asked = false;
	f->last = answer;
	f->failing = answer.kind == ANSWER_FAILED;
	f->error = 0;
	if (f->failing)
		return 1;
	r = memfd < 0 ? -EMFILE : replace_snapshot(f, &answer, memfd);
	/* Files or memory may be free again for the next snapshot. */
	if (!file_exhausted(r))
		return r;
	f->failing = true;
	f->error = r;
	return 1;
}

void snapshot_client_done(struct snapshot_client *f)
{
	snapshot_done(&f->snapshot);
}
