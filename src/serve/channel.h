/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The protocol between the two processes of serve, over a pair of sockets. The HTTP process asks
 * for a document of at most a given age. The collector process answers with the document in a
 * sealed memfd, with a failure, or with the notice that it ends. It sends OOM kills without a
 * request.
 */
#ifndef ZMEM_SERVE_CHANNEL_H
#define ZMEM_SERVE_CHANNEL_H

#include <stdint.h>

#include "base/strbuf.h"
#include "model/event.h"
#include "report/report.h"
#include "session/background.h"
#include "session/session.h"

enum document {
	DOCUMENT_SNAPSHOT, /* as snapshot_encode() writes it */
	DOCUMENT_FILES,	   /* zmem.files, as render_files_page_json() writes it */
	DOCUMENTS,
};

enum answer_kind {
	ANSWER_DOCUMENT,
	ANSWER_FAILED,
	ANSWER_END,
	ANSWER_KILL, /* an event follows, and nothing else is set */
	ANSWER_KINDS,
};

struct answer {
	uint32_t magic;
	uint32_t kind;
	uint32_t document; /* which one was asked for */
	uint64_t size;	   /* of the document in the memfd */
	uint64_t taken_us; /* when its collection began (CLOCK_MONOTONIC) */
	struct collected collected;
	struct cost cost;
	struct recent_kills kills; /* up to the snapshot, which has only their number since boot */
	char kills_unwatched[SESSION_REASON]; /* why OOM kills are not watched; "": they are */
	char failed[SESSION_REASON];	      /* of ANSWER_FAILED: why; "": the log has it */
};

/* Each returns 0 or a negative errno; -EPIPE if the other end is closed. */
int channel_pair(int ret_fds[2]);
int channel_send_request(int fd, enum document document, uint32_t age_ms);
/* Reads a request of the HTTP process. -EAGAIN: none is pending. */
int channel_receive_request(int fd, enum document *ret, uint32_t *ret_age_ms);
/* `memfd`: the document, or -1 to send none. */
int channel_send_answer(int fd, const struct answer *answer, int memfd);
/* Sends an OOM kill. -EAGAIN: it must be sent again when the channel is writable. */
int channel_send_kill(int fd, const struct event_record *kill);
/*
 * Reads an answer of the collector process. -EAGAIN: none is pending. The caller closes *ret_memfd.
 * It is -1 without a document, and also if no descriptor was free to receive one. *ret_kill is set
 * by an answer of ANSWER_KILL.
 */
int channel_receive_answer(int fd, struct answer *ret, int *ret_memfd,
			   struct event_record *ret_kill);

/* Returns a sealed memfd with these bytes, which can no longer change, or a negative errno. */
int channel_seal(const struct strbuf *bytes);
/* Maps the memfd for reading; -EBADMSG if it is not sealed or has another size. */
int channel_map(int memfd, uint64_t size, const char **ret);

/* Reads what this process has used since its start. */
void cost_read(const struct self_usage *usage, struct cost *ret);

#endif
