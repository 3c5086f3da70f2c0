// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Asks the collector process for documents and keeps the newest. */
#include "serve/snapshot_client.h"

#include <errno.h>
#include <sys/mman.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "model/snapshot_codec.h"

bool snapshot_client_is_fresh(const struct snapshot_client *c, enum document d, uint64_t now_us,
			      uint32_t age_ms)
{
	const struct asked *a = &c->asked[d];

	return a->number && now_us - a->taken_us <= (uint64_t)age_ms * 1000;
}

bool snapshot_client_is_late(const struct snapshot_client *c, enum document d, uint64_t now_us,
			     uint64_t since_us)
{
	const struct asked *a = &c->asked[d];
	uint64_t patience = SNAPSHOT_PATIENCE_US + 2 * a->took_us;

	if (patience > SNAPSHOT_PATIENCE_MAX_US)
		patience = SNAPSHOT_PATIENCE_MAX_US;
	if (a->pending && a->sent_us < since_us)
		since_us = a->sent_us;
	return now_us - since_us > patience;
}

int snapshot_client_ask(struct snapshot_client *c, enum document d, uint64_t now_us,
			uint32_t age_ms)
{
	struct asked *a = &c->asked[d];
	int r;

	if (a->pending)
		return 0;
	r = channel_send_request(c->channel, d, age_ms);
	a->pending = r == 0;
	a->sent_us = now_us;
	return r == -EAGAIN ? 0 : r;
}

static int replace_snapshot(struct snapshot_client *c, const char *bytes, size_t size,
			    const struct recent_kills *kills)
{
	struct snapshot snapshot = {};
	int r = snapshot_decode(bytes, size, NULL, NULL, &snapshot);

	if (r < 0) {
		snapshot_done(&snapshot);
		return r;
	}
	snapshot_done(&c->snapshot);
	c->snapshot = snapshot;
	c->snapshot.system.recent_kills = *kills;
	return 0;
}

static int replace_files(struct snapshot_client *c, const char *bytes, size_t size)
{
	/* Room for this document alone: more would be kept until the end. */
	strbuf_done(&c->files);
	strbuf_put(&c->files, bytes, size);
	if (strbuf_error(&c->files))
		c->asked[DOCUMENT_FILES].number = 0;
	return strbuf_error(&c->files);
}

static int replace(struct snapshot_client *c, const struct answer *answer, int memfd)
{
	struct asked *a = &c->asked[answer->document];
	const char *bytes = NULL;
	int r;

	/* The collector process sent the same document again. */
	if (a->number && answer->taken_us == a->taken_us)
		return 0;
	r = channel_map(memfd, answer->size, &bytes);
	if (r < 0)
		return r;
	r = answer->document == DOCUMENT_FILES
		    ? replace_files(c, bytes, answer->size)
		    : replace_snapshot(c, bytes, answer->size, &answer->kills);
	munmap((void *)bytes, answer->size);
	if (r < 0)
		return r;
	a->taken_us = answer->taken_us;
	a->number++;
	return 0;
}

int snapshot_client_receive(struct snapshot_client *c)
{
	cleanup_close int memfd = -1;
	struct answer answer;
	int r = channel_receive_answer(c->channel, &answer, &memfd, &c->kill);
	struct asked *a;

	if (r < 0)
		return r;
	if (answer.kind == ANSWER_END)
		return -ESHUTDOWN;
	if (answer.kind == ANSWER_KILL)
		return ARRIVED_KILL;
	a = &c->asked[answer.document];
	if (a->pending)
		a->took_us = clock_us(CLOCK_MONOTONIC) - a->sent_us;
	a->pending = false;
	c->last = answer;
	a->failing = answer.kind == ANSWER_FAILED;
	a->error = 0;
	if (a->failing)
		return ARRIVED_DOCUMENT;
	r = memfd < 0 ? -EMFILE : replace(c, &answer, memfd);
	/* Files or memory may be free again for the next document. */
	if (r < 0 && !file_exhausted(r))
		return r;
	a->failing = r < 0;
	a->error = r;
	return ARRIVED_DOCUMENT;
}

void snapshot_client_done(struct snapshot_client *c)
{
	snapshot_done(&c->snapshot);
	strbuf_done(&c->files);
}
