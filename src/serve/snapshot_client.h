/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Keeps the newest documents of the collector process and asks for newer ones. */
#ifndef ZMEM_SERVE_SNAPSHOT_CLIENT_H
#define ZMEM_SERVE_SNAPSHOT_CLIENT_H

#include "model/snapshot.h"
#include "serve/channel.h"

/*
 * How long a request waits for a document: less than the 10 s that Prometheus waits for a response,
 * plus twice the time of the last one, up to the maximum.
 */
#define SNAPSHOT_PATIENCE_US	 UINT64_C(8000000)
#define SNAPSHOT_PATIENCE_MAX_US UINT64_C(30000000)

/* What came of the requests for a document. */
struct asked {
	bool pending;	   /* a request has no answer yet */
	uint64_t sent_us;  /* when the last request was sent */
	uint64_t took_us;  /* from the last request to its answer */
	bool failing;	   /* the last answer brought no document */
	int error;	   /* a negative errno if that was for want of files or memory here */
	uint64_t number;   /* documents received so far */
	uint64_t taken_us; /* when the newest was collected */
};

struct snapshot_client {
	int channel;
	struct asked asked[DOCUMENTS];
	struct answer last;	  /* the last answer */
	struct event_record kill; /* the last OOM kill */
	struct snapshot snapshot; /* empty while its number is 0 */
	struct strbuf files;	  /* the same */
};

/* Whether the document is at most `age_ms` old. */
bool snapshot_client_is_fresh(const struct snapshot_client *c, enum document d, uint64_t now_us,
			      uint32_t age_ms);
/*
 * Whether a document is overdue that was waited for since `since_us`, or since the pending request
 * if that is earlier.
 */
bool snapshot_client_is_late(const struct snapshot_client *c, enum document d, uint64_t now_us,
			     uint64_t since_us);
/*
 * Asks for a document of at most this age, unless a request is pending or the channel is full.
 * Returns 0 or a negative errno.
 */
int snapshot_client_ask(struct snapshot_client *c, enum document d, uint64_t now_us,
			uint32_t age_ms);

enum arrival {
	/* c->last says which: a new one, which replaces the old, or a failure. */
	ARRIVED_DOCUMENT = 1,
	ARRIVED_KILL, /* in c->kill */
};

/*
 * Receives an answer. Returns an enum arrival, -EAGAIN without an answer, -ESHUTDOWN if the
 * collector process ends, or another negative errno.
 */
int snapshot_client_receive(struct snapshot_client *c);
void snapshot_client_done(struct snapshot_client *c);

#endif
