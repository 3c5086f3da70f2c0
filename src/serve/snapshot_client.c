// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Asks the collector process for snapshots and keeps the newest. */
#include "serve/snapshot_client.h"

#include <errno.h>
#include <sys/mman.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "model/snapshot_codec.h"

bool snapshot_client_is_fresh(const struct snapshot_client *c, uint64_t now_us, uint32_t age_ms)
{
	return c->number && now_us - c->taken_us <= (uint64_t)age_ms * 1000;
}

bool snapshot_client_is_late(const struct snapshot_client *c, uint64_t now_us, uint64_t since_us)
{
	uint64_t patience = SNAPSHOT_PATIENCE_US + 2 * c->took_us;

	if (patience > SNAPSHOT_PATIENCE_MAX_US)
		patience = SNAPSHOT_PATIENCE_MAX_US;
	if (c->pending && c->sent_us < since_us)
		since_us = c->sent_us;
	return now_us - since_us > patience;
}

int snapshot_client_ask(struct snapshot_client *c, uint64_t now_us, uint32_t age_ms)
{
	int r;

	if (c->pending)
		return 0;
	r = channel_send_request(c->channel, age_ms);
	c->pending = r == 0;
	c->sent_us = now_us;
	return r;
}

static int replace_snapshot(struct snapshot_client *c, const struct answer *answer, int memfd)
{
	struct snapshot snapshot = {};
	const char *bytes;
	int r;

	/* The collector process sent the same snapshot again. */
	if (c->number && answer->taken_us == c->taken_us)
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
	snapshot_done(&c->snapshot);
	c->snapshot = snapshot;
	c->taken_us = answer->taken_us;
	c->number++;
	return 1;
}

int snapshot_client_receive(struct snapshot_client *c)
{
	cleanup_close int memfd = -1;
	struct answer answer;
	int r = channel_receive_answer(c->channel, &answer, &memfd, &c->kill);

	if (r < 0)
		return r;
	if (answer.kind == ANSWER_END)
		return -ESHUTDOWN;
	if (answer.kind == ANSWER_KILL)
		return 2;
	if (c->pending)
		c->took_us = clock_us(CLOCK_MONOTONIC) - c->sent_us;
	c->pending = false;
	c->last = answer;
	c->failing = answer.kind == ANSWER_FAILED;
	c->error = 0;
	if (c->failing)
		return 1;
	r = memfd < 0 ? -EMFILE : replace_snapshot(c, &answer, memfd);
	/* Files or memory may be free again for the next snapshot. */
	if (!file_exhausted(r))
		return r;
	c->failing = true;
	c->error = r;
	return 1;
}

void snapshot_client_done(struct snapshot_client *c)
{
	snapshot_done(&c->snapshot);
}
