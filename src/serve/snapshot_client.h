/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Keeps the newest snapshot of the collector process and asks for newer ones. */
#ifndef ZMEM_SERVE_SNAPSHOT_CLIENT_H
#define ZMEM_SERVE_SNAPSHOT_CLIENT_H

#include "serve/channel.h"
#include "model/snapshot.h"

/*
 * How long a request waits for a snapshot: less than the 10 s that Prometheus waits for a response,
 * plus twice the time of the last snapshot, up to the maximum.
 */
#define SNAPSHOT_PATIENCE_US	 UINT64_C(8000000)
#define SNAPSHOT_PATIENCE_MAX_US UINT64_C(30000000)

struct snapshot_client {
	int channel;
	bool pending;	    /* a request has no answer yet */
	uint64_t sent_us;   /* when the last request was sent */
	uint64_t took_us;   /* from the last request to its answer */
	bool failing;	    /* the last answer brought no snapshot */
	int error;	    /* a negative errno if that was for want of files or memory here */
	uint64_t number;    /* snapshots received so far */
	struct answer last; /* the last answer */
	struct event_record kill; /* the last OOM kill */
	struct snapshot snapshot; /* empty while number is 0 */
	uint64_t taken_us;
};

/* Whether the snapshot is at most `age_ms` old. */
bool snapshot_client_is_fresh(const struct snapshot_client *c, uint64_t now_us, uint32_t age_ms);
/*
 * Whether a snapshot is overdue that was waited for since `since_us`, or since the pending request
 * if that is earlier.
 */
bool snapshot_client_is_late(const struct snapshot_client *c, uint64_t now_us, uint64_t since_us);
/*
 * Asks for a snapshot of at most this age, unless a request is pending. Returns 0 or a negative
 * errno.
 */
int snapshot_client_ask(struct snapshot_client *c, uint64_t now_us, uint32_t age_ms);
/*
 * Receives an answer: a new snapshot, which replaces the old one, or a failure. Returns 1, 2 with
 * an OOM kill in c->kill, -EAGAIN without an answer, -ESHUTDOWN if the collector process ends, or
 * another negative errno.
 */
int snapshot_client_receive(struct snapshot_client *c);
void snapshot_client_done(struct snapshot_client *c);

#endif
