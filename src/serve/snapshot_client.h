/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The newest snapshot, and how to come by a newer one. */
#ifndef ZMEM_SERVE_SNAPSHOT_CLIENT_H
#define ZMEM_SERVE_SNAPSHOT_CLIENT_H

#include "serve/channel.h"
#include "model/snapshot.h"

/*
 * How long a request waits for a snapshot: less than the 10 s that Prometheus waits for an answer,
 * and more where the last snapshot took long, too.
 */
#define SNAPSHOT_PATIENCE_US UINT64_C(8000000)
#define FEED_PATIENCE_MAX_US UINT64_C(30000000)

struct snapshot_client {
	int channel;
	bool asked;		  /* and no answer yet */
	uint64_t asked_us;	  /* when */
	uint64_t took_us;	  /* from a question to its answer, the last time */
	bool failing;		  /* the last answer was none */
	int error;		  /* or could not be taken: why, a negative errno */
	uint64_t number;	  /* of snapshots so far */
	struct answer last;	  /* of the last answer */
	struct snapshot snapshot; /* empty while there is no number */
	uint64_t taken_us;
};

bool snapshot_client_is_fresh(const struct snapshot_client *f, uint64_t now_us, uint32_t age_ms);
/* Whether one that has been waited for since then, or that was asked for, is too late. */
bool feed_is_late(const struct snapshot_client *f, uint64_t now_us, uint64_t since_us);
/* Asks for one that is no older; nothing if that is on its way. Returns 0 or a negative errno. */
int snapshot_client_ask(struct snapshot_client *f, uint64_t now_us, uint32_t age_ms);
/*
 * Takes an answer: a new snapshot in place of the old one, or that there is none. Returns 1,
 * -EAGAIN if there is none yet, -ESHUTDOWN if the end was said, or another negative errno.
 */
int snapshot_client_receive(struct snapshot_client *f);
void snapshot_client_done(struct snapshot_client *f);

#endif
