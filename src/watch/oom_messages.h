/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Makes kills of the messages of bpf/oom_kill.bpf.c (zmem/oom.h). A kill is complete with its end.
 * The kernel may still write its other messages while they are read.
 */
#ifndef ZMEM_WATCH_OOM_MESSAGES_H
#define ZMEM_WATCH_OOM_MESSAGES_H

#include "base/strbuf.h"
#include "source/record_decode.h"
#include "watch/oom_watch.h"

struct oom_messages {
	struct decode_limits limits;
	struct strbuf bytes;	   /* messages that were received: a length, then as many bytes */
	size_t used;		   /* bytes of them that belong to kills that were returned */
	uint32_t kills;		   /* the number of the last kill that was returned */
	struct oom_unread *unread; /* of that kill */
	size_t unread_count, unread_room;
	struct strbuf signals; /* of struct zmem_oom_signal */
	uint32_t signals_over; /* those left out before the last one that was returned */
};

/* Copies a message. Messages without room are dropped; their kills are counted as missed. */
void oom_messages_add(struct oom_messages *m, const void *data, size_t len);
/*
 * The next complete kill, without its line of the log. The snapshot is cleared and has its
 * processes, not finished. Returns 1, 0 if no kill is complete, or a negative errno.
 */
int oom_messages_next(struct oom_messages *m, struct oom_kill *ret, struct snapshot *snapshot);
/* The next signal, likewise: the snapshot has the receiver and, unless it is not known, the sender.
 */
int oom_messages_next_signal(struct oom_messages *m, struct oom_kill *ret,
			     struct snapshot *snapshot);
void oom_messages_done(struct oom_messages *m);

#endif
